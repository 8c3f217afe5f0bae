# purity.cmake - arc.cuh includes its policy and nothing else, is plain C in style, leaks no name.
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=<repository> -DTESTS=<this folder> -DWORK=<scratch folder> -P purity.cmake
cmake_minimum_required(VERSION 3.20)

file(MAKE_DIRECTORY ${WORK})
set(failures 0)

macro(fail message)
  math(EXPR failures "${failures} + 1")
  message("FAILED: ${message}")
endmacro()

# The text, without comments: first /* */, then //.
function(read_code file result)
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" " " text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(includes_of file result)
  read_code(${file} text)
  string(REGEX MATCHALL "#[ \t]*include[^\n]*" found "${text}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

includes_of(arc.cuh found)
if(NOT found STREQUAL "#include \"arc_policy.cuh\"")
  fail("arc.cuh includes: ${found}")
endif()
includes_of(arc_policy.cuh found)
if(found)
  fail("arc_policy.cuh includes: ${found}")
endif()

# Words of C++, of other headers, and types that only an include could define.
set(banned template class namespace typename using constexpr decltype nullptr static_cast
    reinterpret_cast const_cast dynamic_cast operator new delete try catch virtual std
    uint8_t int32_t uint32_t int64_t uint64_t uintptr_t intptr_t size_t ptrdiff_t
    cooperative_groups __half __half2 __nv_bfloat16 printf malloc getenv)
foreach(file arc.cuh arc_policy.cuh)
  read_code(${file} text)
  string(REGEX REPLACE "\"[^\"\n]*\"" "\"\"" text "${text}")
  string(REPLACE ";" "@" text "${text}") # a list's separator is no character
  # The driver's function behind assert(), declared as nvcc's own headers do it.
  string(REGEX REPLACE "void __assertfail\\([^)]*\\)" "" text "${text}")
  foreach(word IN LISTS banned)
    if("${text}" MATCHES "[^A-Za-z0-9_](${word})[^A-Za-z0-9_]")
      fail("${file} uses the word ${word}")
    endif()
  endforeach()
  # Tags, typedef names and enumerators.
  string(REGEX MATCHALL "(struct|union|enum)[ \t\n]+[A-Za-z_][A-Za-z0-9_]*" tags "${text}")
  string(REGEX MATCHALL "}[ \t\n]*[A-Za-z_][A-Za-z0-9_]*[ \t\n]*@" names "${text}")
  list(LENGTH tags tag_count)
  foreach(name IN LISTS tags names)
    string(REGEX REPLACE "^(struct|union|enum|})[ \t\n]*|@" "" name "${name}")
    if(NOT name MATCHES "^(arc_|ARC_)")
      fail("${file} declares ${name}")
    endif()
  endforeach()
  if(file STREQUAL "arc.cuh" AND tag_count LESS 2)
    fail("found ${tag_count} structs in arc.cuh: this check has gone blind")
  endif()
endforeach()

# Macros that are defined after the include and were not before.
find_program(gxx NAMES g++ clang++)
if(NOT gxx)
  message(FATAL_ERROR "no C++ compiler: the macros were not checked")
endif()
file(WRITE ${WORK}/empty.cpp "")
file(WRITE ${WORK}/once.cpp "#include \"arc.cuh\"\n")
foreach(build "-DSIMT_ON_CPU=1;-DSIMT_ARCH=900" "-DSIMT_ON_CPU=1;-DSIMT_CALLER=..."
        "-D__CUDACC__;-D__CUDA_ARCH__=900" "-D__CUDACC__;-DARC_CHECK=2")
  foreach(name empty once)
    execute_process(COMMAND ${gxx} -dM -E -I${ROOT} ${build} ${WORK}/${name}.cpp
                    OUTPUT_VARIABLE ${name} COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "#define [A-Za-z_][A-Za-z0-9_]*" ${name} "${${name}}")
  endforeach()
  list(REMOVE_ITEM once ${empty})
  list(LENGTH once count)
  if(count LESS 30)
    fail("only ${count} macros seen: this check has gone blind")
  endif()
  foreach(define IN LISTS once)
    if(NOT define MATCHES "^#define (ARC|arc)_")
      fail("a macro leaks (${build}): ${define}")
    endif()
  endforeach()
endforeach()

# A file that is neither CUDA nor for the CPU warp: one error, which says what to do.
file(WRITE ${WORK}/neither.cpp "#include \"arc.cuh\"\n#include \"arc.cuh\"\n")
execute_process(COMMAND ${gxx} -I${ROOT} -fsyntax-only ${WORK}/neither.cpp ERROR_VARIABLE text)
string(REGEX MATCHALL "error:" errors "${text}")
if(NOT errors STREQUAL "error:" OR NOT text MATCHES "this file as CUDA.*include simt/simt.cuh first")
  fail("a file without CUDA gets:\n${text}")
endif()

# A C compiler reads the header, and lists every function in it.
find_program(gcc NAMES gcc)
if(gcc)
  file(WRITE ${WORK}/functions.c
       "#include \"${TESTS}/purity_prelude.h\"\n#include \"arc.cuh\"\n#include \"arc.cuh\"\n")
  execute_process(COMMAND ${gcc} -std=gnu99 -DSIMT_ON_CPU=1 -DSIMT_ARCH=900 -DSIMT_CALLER=...
                          -I${ROOT} -fsyntax-only -aux-info ${WORK}/functions.txt
                          ${WORK}/functions.c
                  RESULT_VARIABLE status ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    fail("arc.cuh is no C:\n${text}")
  else()
    file(STRINGS ${WORK}/functions.txt lines REGEX "arc\\.cuh:[0-9]+:")
    list(LENGTH lines count)
    if(count LESS 60)
      fail("only ${count} functions seen: this check has gone blind")
    endif()
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^/\\*[^*]*\\*/ " "" declaration "${line}")
      if(NOT declaration MATCHES "^static [^(]*[ *]arc_[a-z0-9_]* \\(")
        fail("not a static function with a name of arc's: ${declaration}")
      endif()
      if(declaration MATCHES "arc_add_" AND NOT declaration MATCHES ", \\.\\.\\.\\)")
        fail("the CPU warp does not tell its calls apart, for want of ARC__CALLER: ${declaration}")
      endif()
    endforeach()
    message("purity: ${count} functions declared by arc.cuh")
  endif()
else()
  message("skipped: no gcc to list the functions")
endif()

if(failures)
  message(FATAL_ERROR "purity: ${failures} failed")
endif()
message("purity: nothing leaks")
