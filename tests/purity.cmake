# purity.cmake - arc.cuh includes its policy and two files of its folder arc, which include nothing;
# all are plain C in style and leak no name. SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=<repository> -DTESTS=<this folder> -DWORK=<scratch folder> -P purity.cmake
cmake_minimum_required(VERSION 3.20)

file(MAKE_DIRECTORY ${WORK})
set(failures 0)
# Names that a warp calls, in which the CPU warp must tell one call from another.
set(warp_calls "arc_(add|index_add_rows|index_add_end|hot|sum|table|atomred)")

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

# What arc.cuh includes, and the forms: what a user includes behind it.
set(included arc_policy.cuh arc/words.cuh arc/core.cuh)
file(GLOB forms RELATIVE ${ROOT} ${ROOT}/arc/*)
list(REMOVE_ITEM forms ${included} arc/check.cuh arc/wide.cuh)
set(headers arc.cuh ${included} arc/check.cuh arc/wide.cuh ${forms})
list(LENGTH headers count)
if(count LESS 10)
  fail("only ${count} headers seen: this check has gone blind")
endif()

includes_of(arc.cuh found)
list(TRANSFORM included REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE wanted)
if(NOT found STREQUAL wanted)
  fail("arc.cuh includes: ${found}")
endif()
foreach(file IN LISTS included forms)
  includes_of(${file} found)
  if(file STREQUAL "arc/core.cuh") # of ARC_CHECK 2, and of ARC_WIDE 1
    list(REMOVE_ITEM found "#include \"arc/check.cuh\"" "#include \"arc/wide.cuh\"")
  endif()
  if(file STREQUAL "arc/table.cuh") # which adds what two other forms know of
    list(REMOVE_ITEM found "#include \"arc/index_add.cuh\"" "#include \"arc/hot.cuh\"")
  endif()
  if(found)
    fail("${file} includes: ${found}")
  endif()
endforeach()

# Words of C++, of other headers, and types that only an include could define.
set(all_tags 0)
set(banned template class namespace typename using constexpr decltype nullptr static_cast
    reinterpret_cast const_cast dynamic_cast operator new delete try catch virtual std
    uint8_t int32_t uint32_t int64_t uint64_t uintptr_t intptr_t size_t ptrdiff_t
    cooperative_groups __half __half2 __nv_bfloat16 printf malloc getenv)
foreach(file IN LISTS headers)
  read_code(${file} text)
  string(REGEX REPLACE "\"[^\"\n]*\"" "\"\"" text "${text}")
  string(REPLACE ";" "@" text "${text}") # a list's separator is no character
  # The driver's function behind assert(), declared as nvcc's own headers do it.
  string(REGEX REPLACE "void __assertfail\\([^)]*\\)" "" text "${text}")
  string(REPLACE "arc__duty &operator=(" "" text "${text}") # ARC_CHECK 2: a form is begun anew
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
  math(EXPR all_tags "${all_tags} + ${tag_count}")
endforeach()
if(all_tags LESS 15)
  fail("found ${all_tags} structs in all headers: this check has gone blind")
endif()

# The overloads are C++, which no C compiler lists: what defines them is read here.
read_code(arc/overloads.cuh text)
string(REPLACE ";" "@" text "${text}")
string(REGEX MATCHALL "ARC__FN[^{]*{" functions "${text}")
list(FILTER functions EXCLUDE REGEX "^ARC__FN void NAME\\(") # a form of ARC__OVERLOAD_ADD(name, ...
list(LENGTH functions count)
if(count LESS 9)
  fail("only ${count} overloads seen: this check has gone blind")
endif()
foreach(function IN LISTS functions)
  if(NOT function MATCHES "^ARC__FN [^(]*[ *](arc_[a-z_]*)\\(")
    fail("an overload without a name of arc's: ${function}")
  elseif(CMAKE_MATCH_1 MATCHES "^${warp_calls}" AND NOT function MATCHES "ARC__CALLER\\)")
    fail("the CPU warp does not tell calls of an overload apart: ${function}")
  endif()
endforeach()

# Macros that are defined after the include and were not before.
find_program(gxx NAMES g++ clang++)
if(NOT gxx)
  message(FATAL_ERROR "no C++ compiler: the macros were not checked")
endif()
file(WRITE ${WORK}/empty.cpp "")
set(all_forms)
foreach(form IN LISTS forms)
  string(APPEND all_forms "#include \"${form}\"\n")
endforeach()
file(WRITE ${WORK}/once.cpp "#include \"arc.cuh\"\n${all_forms}")
foreach(build "-DSIMT_ON_CPU=1;-DSIMT_ARCH=900" "-DSIMT_ON_CPU=1;-DSIMT_CALLER=...;-DSIMT_CALLED=..."
        "-D__CUDACC__;-D__CUDA_ARCH__=900" "-D__CUDACC__;-DARC_CHECK=2")
  foreach(name empty once)
    execute_process(COMMAND ${gxx} -dM -E -I${ROOT} -DARC_TABLES=1 -DARC_WIDE=1 ${build} ${WORK}/${name}.cpp
                    OUTPUT_VARIABLE ${name} COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "#define [A-Za-z_][A-Za-z0-9_]*" ${name} "${${name}}")
  endforeach()
  list(REMOVE_ITEM once ${empty})
  foreach(file IN LISTS headers) # each guards itself by a macro, so that it has been seen
    string(MAKE_C_IDENTIFIER ${file} guard)
    string(TOUPPER ${guard} guard)
    set(expected TRUE)
    if(file STREQUAL "arc/check.cuh" AND NOT build MATCHES "ARC_CHECK=2")
      set(expected FALSE)
    endif()
    if(expected AND NOT "#define ${guard}" IN_LIST once)
      fail("${file} was not seen, or has no guard ${guard}: this check has gone blind (${build})")
    elseif(NOT expected AND "#define ${guard}" IN_LIST once)
      fail("${file} is included where nothing asks for it (${build})")
    endif()
  endforeach()
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

# A form without arc.cuh in front: the first error says what to do.
foreach(form IN LISTS forms)
  file(WRITE ${WORK}/alone.cpp "#include \"${form}\"\n")
  execute_process(COMMAND ${gxx} -I${ROOT} -DSIMT_ON_CPU=1 -fsyntax-only ${WORK}/alone.cpp
                  ERROR_VARIABLE text)
  string(REGEX MATCH "error:[^\n]*" first "${text}")
  if(NOT first MATCHES "\"?${form}: include arc.cuh first")
    fail("${form} without arc.cuh gets first: ${first}")
  endif()
endforeach()

# A C compiler reads the headers but those of C++, and lists every function in them.
find_program(gcc NAMES gcc)
set(c_forms ${forms})
list(REMOVE_ITEM c_forms arc/overloads.cuh)
set(all_forms)
foreach(form IN LISTS c_forms)
  string(APPEND all_forms "#include \"${form}\"\n#include \"${form}\"\n")
endforeach()
file(WRITE ${WORK}/functions.c "#include \"${TESTS}/purity_prelude.h\"\n"
     "#include \"arc.cuh\"\n#include \"arc.cuh\"\n${all_forms}")
set(pieces_of_a_target 1 4)
if(NOT gcc)
  set(pieces_of_a_target)
  message("skipped: no gcc to list the functions")
endif()
foreach(pieces IN LISTS pieces_of_a_target)
  execute_process(COMMAND ${gcc} -std=gnu99 -DSIMT_ON_CPU=1 -DSIMT_ARCH=900 -DSIMT_CALLER=...;-DSIMT_CALLED=...
                          -DARC_MAX_PIECES=${pieces} -DARC_TABLES=1 -DARC_WIDE=1 -I${ROOT} -fsyntax-only
                          -aux-info ${WORK}/functions.txt ${WORK}/functions.c
                  RESULT_VARIABLE status ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    fail("with ARC_MAX_PIECES ${pieces}, the headers are no C:\n${text}")
    continue()
  endif()
  set(counts)
  foreach(file arc.cuh arc/words.cuh arc/core.cuh arc/wide.cuh ${c_forms})
    string(REPLACE "." "\\." pattern "/${file}:[0-9]+:")
    file(STRINGS ${WORK}/functions.txt lines REGEX "${pattern}")
    list(LENGTH lines count)
    list(APPEND counts "${count} by ${file}")
    if(count LESS 5)
      fail("only ${count} functions of ${file} seen: this check has gone blind")
    endif()
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^/\\*[^*]*\\*/ " "" declaration "${line}")
      # Nobody defines it: it names what to do where targets of several pieces are not asked for.
      string(REGEX REPLACE "^extern ([^(]*_pieces \\(struct arc_set_ARC_MAX_PIECES)" "static \\1"
             declaration "${declaration}")
      if(NOT declaration MATCHES "^static [^(]*[ *](arc_[a-z0-9_]*) \\(")
        fail("not a static function with a name of arc's: ${declaration}")
      elseif(CMAKE_MATCH_1 MATCHES "^${warp_calls}" AND NOT declaration MATCHES ", \\.\\.\\.\\)")
        fail("the CPU warp does not tell its calls apart, for want of ARC__CALLER: ${declaration}")
      endif()
    endforeach()
  endforeach()
  list(JOIN counts ", " counts)
  message("purity: functions declared: ${counts}")
endforeach()

if(failures)
  message(FATAL_ERROR "purity: ${failures} failed")
endif()
message("purity: nothing leaks")
