# policy.cmake - arc_policy.cuh: plain C99, legal values compile, all others are named errors.
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=<repository> -DWORK=<scratch folder> [-DCOMPILERS=gcc;clang] -P policy.cmake
cmake_minimum_required(VERSION 3.20)

file(MAKE_DIRECTORY ${WORK})
if(NOT COMPILERS)
  set(COMPILERS gcc clang)
endif()
set(found)
foreach(name IN LISTS COMPILERS)
  unset(path CACHE)
  find_program(path ${name})
  if(path)
    list(APPEND found ${path})
  else()
    message("skipped: no ${name}")
  endif()
endforeach()
if(NOT found)
  message(FATAL_ERROR "no C compiler: nothing was checked")
endif()

# By macro: what an error must say, legal values, illegal ones. EMPTY: defined to nothing. Names: what
# somebody might think of, or misspell.
set(says_ARC_PATH "ARC_PATH_ATOMIC.*ARC_PATH_SERIALIZED.*ARC_PATH_BUTTERFLY.*ARC_PATH_TRANSPOSED.*\
ARC_PATH_TREE.*ARC_PATH_AUTO")
set(good_ARC_PATH ARC_PATH_ATOMIC ARC_PATH_SERIALIZED ARC_PATH_BUTTERFLY ARC_PATH_TRANSPOSED
    ARC_PATH_TREE ARC_PATH_AUTO 1 6)
set(bad_ARC_PATH 0 7 -1 EMPTY ARC_PATH_ATOMICS ARC_PATH_TRANSPOSE AUTO auto)

set(says_ARC_BALANCE_THRESHOLD "ARC_BALANCE_THRESHOLD must be 0\\.\\.33 or ARC_THRESHOLD_AUTO")
set(good_ARC_BALANCE_THRESHOLD 0 "(0)" 1 12 32 33 34 ARC_THRESHOLD_AUTO)
set(bad_ARC_BALANCE_THRESHOLD -1 "(-1)" 35 1000 EMPTY AUTO ARC_BALANCE_AUTO)

set(says_ARC_SCOPE "ARC_SCOPE must be ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM")
set(good_ARC_SCOPE ARC_SCOPE_DEVICE ARC_SCOPE_SYSTEM 1 2)
set(bad_ARC_SCOPE 0 3 -1 EMPTY ARC_SCOPE_BLOCK SYSTEM)

set(says_ARC_CHECK "ARC_CHECK must be 0, 1 or 2")
set(good_ARC_CHECK 0 1 2 "(0)" "(2)")
set(bad_ARC_CHECK 3 -1 "(3)" "(FULL)" EMPTY FULL ARC_CHECK_NONE)

set(says_ARC_KEY_BITS "ARC_KEY_BITS must be 32 or 64")
set(good_ARC_KEY_BITS 32 64 "(64)")
set(bad_ARC_KEY_BITS 0 16 33 128 -64 EMPTY LONG ARC_KEY_BITS_64)

set(says_ARC_MAX_PIECES "ARC_MAX_PIECES must be 1\\.\\.8")
set(good_ARC_MAX_PIECES 1 4 8 "(8)")
set(bad_ARC_MAX_PIECES 0 9 -1 EMPTY MANY)

set(says_ARC_WIDE_WORDS "ARC_WIDE_WORDS must be 1\\.\\.16")
set(good_ARC_WIDE_WORDS 1 6 16 "(16)")
set(bad_ARC_WIDE_WORDS 0 17 -1 EMPTY ALL)

set(macros ARC_WIDE_WORDS ARC_PATH ARC_BALANCE_THRESHOLD ARC_SCOPE ARC_CHECK ARC_KEY_BITS ARC_MAX_PIECES)
foreach(name VECTOR_ATOMICS EXACT TABLES WIDE)
  set(says_ARC_${name} "ARC_${name} must be 0 or 1")
  set(good_ARC_${name} 0 1 "(0)")
  set(bad_ARC_${name} 2 -1 EMPTY YES ON off)
  list(APPEND macros ARC_${name})
endforeach()
foreach(name INACTIVE_IS_ZERO WARP_IS_ACTIVE ALIGNED_16) # of 0.3
  set(says_ARC_${name} "a promise is an option of a call since arc 0.4")
  set(good_ARC_${name})
  set(bad_ARC_${name} 0 1)
  list(APPEND macros ARC_${name})
endforeach()
foreach(name REDUCE VALUE MATCH MATCH_SHUFFLE REQUEST)
  set(says_ARC_COST_${name} "every ARC_COST_\\.\\.\\. must be 1 or more")
  set(good_ARC_COST_${name} 1 999)
  set(bad_ARC_COST_${name} 0 -1 EMPTY LOW)
  list(APPEND macros ARC_COST_${name})
endforeach()

set(strict -std=c99 -pedantic -Wall -Wextra -Wundef -Werror)
set(source ${WORK}/policy.c)
file(WRITE ${source} "#include \"arc_policy.cuh\"\n#include \"arc_policy.cuh\"\n"
     "typedef int policy_version_is_positive[ARC_VERSION > 0 ? 1 : -1];\n"
     "extern const char policy[];\nconst char policy[] = ARC_POLICY_STRING;\n")
set(failures 0)
set(checks 0)

function(compile compiler result output)
  execute_process(COMMAND ${compiler} ${ARGN} -I${ROOT} -fsyntax-only ${source}
                  RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_QUIET)
  set(${result} ${status} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# must(<what went wrong, if it did> <condition as for if()>)
macro(must message)
  math(EXPR checks "${checks} + 1")
  if(NOT (${ARGN}))
    math(EXPR failures "${failures} + 1")
    message("FAILED: ${message}")
  endif()
endmacro()

foreach(compiler IN LISTS found)
  compile(${compiler} status text ${strict})
  must("${compiler}: the defaults do not compile as C99:\n${text}" status EQUAL 0)
  foreach(macro IN LISTS macros)
    foreach(value IN LISTS good_${macro})
      compile(${compiler} status text ${strict} -D${macro}=${value})
      must("${compiler}: ${macro}=${value} is legal, but:\n${text}" status EQUAL 0)
    endforeach()
    foreach(value IN LISTS bad_${macro})
      string(REPLACE EMPTY "" spelt "${value}")
      compile(${compiler} status text -std=c99 -D${macro}=${spelt})
      must("${compiler}: ${macro}=${value} was accepted" NOT status EQUAL 0)
      must("${compiler}: ${macro}=${value}: the error does not name the legal values:\n${text}"
           text MATCHES "error:[^\n]*${says_${macro}}")
    endforeach()
  endforeach()
  # Legal one by one, contradictory together.
  compile(${compiler} status text -std=c99 -DARC_PATH=ARC_PATH_ATOMIC -DARC_BALANCE_THRESHOLD=0)
  must("${compiler}: path atomic with threshold 0 was accepted" NOT status EQUAL 0)
  must("${compiler}: path atomic with threshold 0: says ${text}"
       text MATCHES "error:[^\n]*ARC_BALANCE_THRESHOLD[^\n]*1\\.\\.33 or ARC_THRESHOLD_AUTO")
endforeach()

# The policy in words.
file(WRITE ${WORK}/policy_main.c "#include <stdio.h>\n#include \"arc_policy.cuh\"\n"
     "int main(void) { printf(\"%s|%d\", ARC_POLICY_STRING, ARC_VERSION); return 0; }\n")
function(string_of result)
  list(GET found 0 compiler)
  execute_process(COMMAND ${compiler} ${strict} ${ARGN} -I${ROOT} ${WORK}/policy_main.c
                          -o ${WORK}/policy_main COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${WORK}/policy_main OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

string_of(text)
set(wanted "arc 0.4.0 path=auto threshold=auto vector_atomics=1 scope=device check=0 key_bits=32 exact=0|400")
must("the policy reads '${text}', must be '${wanted}'" text STREQUAL wanted)
string_of(text -DARC_PATH=ARC_PATH_TREE -DARC_BALANCE_THRESHOLD=12 -DARC_VECTOR_ATOMICS=0
          -DARC_SCOPE=ARC_SCOPE_SYSTEM -DARC_CHECK=2 -DARC_KEY_BITS=64 -DARC_EXACT=1)
set(wanted "arc 0.4.0 path=tree threshold=12 vector_atomics=0 scope=system check=2 key_bits=64 exact=1|400")
must("the policy reads '${text}', must be '${wanted}'" text STREQUAL wanted)
foreach(path atomic serialized butterfly transposed tree auto)
  string(TOUPPER ${path} upper)
  string_of(text -DARC_PATH=ARC_PATH_${upper})
  must("path ${path} reads '${text}'" text MATCHES " path=${path} ")
endforeach()

# No macro is left out: each default stands behind an #ifndef.
file(STRINGS ${ROOT}/arc_policy.cuh defaults REGEX "^#ifndef ARC_[A-Z0-9_]*$")
foreach(line IN LISTS defaults)
  string(REPLACE "#ifndef " "" macro ${line})
  must("${macro} is not checked here" macro IN_LIST macros OR macro STREQUAL ARC_POLICY_CUH)
endforeach()

message("policy: ${checks} checks, ${failures} failed")
if(failures)
  message(FATAL_ERROR "arc_policy.cuh does not keep its word")
endif()
