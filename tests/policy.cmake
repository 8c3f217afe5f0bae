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

# What an error must say, by macro.
set(says_ARC_PATH "ARC_PATH_ATOMIC.*ARC_PATH_SERIALIZED.*ARC_PATH_BUTTERFLY.*ARC_PATH_TRANSPOSED.*\
ARC_PATH_TREE.*ARC_PATH_AUTO")
set(says_ARC_BALANCE_THRESHOLD "ARC_BALANCE_THRESHOLD must be 0\\.\\.33 or ARC_THRESHOLD_AUTO")
set(says_ARC_INACTIVE_IS_ZERO "ARC_INACTIVE_IS_ZERO must be 0 or 1")
set(says_ARC_INACTIVE_HAS_KEY "ARC_INACTIVE_HAS_KEY must be 0 or 1")
set(says_ARC_WARP_IS_ACTIVE "ARC_WARP_IS_ACTIVE must be 0 or 1")
set(says_ARC_VECTOR_ATOMICS "ARC_VECTOR_ATOMICS must be 0 or 1")
set(says_ARC_SCOPE "ARC_SCOPE must be ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM")
set(says_ARC_CHECK "ARC_CHECK must be 0, 1 or 2")

set(good_ARC_PATH ARC_PATH_ATOMIC ARC_PATH_SERIALIZED ARC_PATH_BUTTERFLY ARC_PATH_TRANSPOSED
    ARC_PATH_TREE ARC_PATH_AUTO 1 6)
set(good_ARC_BALANCE_THRESHOLD 0 1 12 32 33 34 ARC_THRESHOLD_AUTO)
set(good_ARC_INACTIVE_IS_ZERO 0 1)
set(good_ARC_INACTIVE_HAS_KEY 0 1)
set(good_ARC_WARP_IS_ACTIVE 0 1)
set(good_ARC_VECTOR_ATOMICS 0 1)
set(good_ARC_SCOPE ARC_SCOPE_DEVICE ARC_SCOPE_SYSTEM 1 2)
set(good_ARC_CHECK 0 1 2)

# EMPTY: defined to nothing. Names: what somebody might think of, or misspell.
set(bad_ARC_PATH 0 7 -1 EMPTY ARC_PATH_ATOMICS ARC_PATH_TRANSPOSE AUTO auto)
set(bad_ARC_BALANCE_THRESHOLD -1 35 1000 EMPTY AUTO ARC_BALANCE_AUTO)
set(bad_ARC_INACTIVE_IS_ZERO 2 -1 EMPTY YES ON off)
set(bad_ARC_INACTIVE_HAS_KEY 2 -1 EMPTY YES off)
set(bad_ARC_WARP_IS_ACTIVE 2 -1 EMPTY YES off)
set(bad_ARC_VECTOR_ATOMICS 2 4 -1 EMPTY NO OFF)
set(bad_ARC_SCOPE 0 3 -1 EMPTY ARC_SCOPE_BLOCK SYSTEM)
set(bad_ARC_CHECK 3 -1 EMPTY FULL ARC_CHECK_NONE)

set(macros ARC_PATH ARC_BALANCE_THRESHOLD ARC_INACTIVE_IS_ZERO ARC_INACTIVE_HAS_KEY
    ARC_WARP_IS_ACTIVE ARC_VECTOR_ATOMICS ARC_SCOPE ARC_CHECK)
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
set(wanted "arc 0.1.0 path=auto threshold=auto inactive_is_zero=0 inactive_has_key=0 \
warp_is_active=0 vector_atomics=1 scope=device check=0|100")
must("the policy reads '${text}', must be '${wanted}'" text STREQUAL wanted)
string_of(text -DARC_PATH=ARC_PATH_TREE -DARC_BALANCE_THRESHOLD=12 -DARC_INACTIVE_IS_ZERO=1
          -DARC_INACTIVE_HAS_KEY=1 -DARC_WARP_IS_ACTIVE=1 -DARC_VECTOR_ATOMICS=0
          -DARC_SCOPE=ARC_SCOPE_SYSTEM -DARC_CHECK=2)
set(wanted "arc 0.1.0 path=tree threshold=12 inactive_is_zero=1 inactive_has_key=1 \
warp_is_active=1 vector_atomics=0 scope=system check=2|100")
must("the policy reads '${text}', must be '${wanted}'" text STREQUAL wanted)
foreach(path atomic serialized butterfly transposed tree auto)
  string(TOUPPER ${path} upper)
  string_of(text -DARC_PATH=ARC_PATH_${upper})
  must("path ${path} reads '${text}'" text MATCHES " path=${path} ")
endforeach()

message("policy: ${checks} checks, ${failures} failed")
if(failures)
  message(FATAL_ERROR "arc_policy.cuh does not keep its word")
endif()
