# How arc's own programs and tests are built, in the library and in studies/. Apache-2.0.
#
# Set before this file is included: arc_include, the folder with arc.cuh; and there are the targets
# arc::arc and arc::simt, of this tree or of an installed arc.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH arc_root)
cmake_path(GET arc_root PARENT_PATH arc_root)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(ARC_GPU AUTO CACHE STRING "Build GPU programs: AUTO (where nvcc and a device are), ON, OFF")
option(ARC_CPU_TESTS "Build tests of a GPU for the CPU warp, too, where there is a GPU" OFF)
set(ARC_SANITIZE "" CACHE STRING "Sanitizers of the CPU programs: address, undefined, or both by comma")
set_property(CACHE ARC_GPU PROPERTY STRINGS AUTO ON OFF)

# ---- the GPU, where there is one ----------------------------------------------------------------
execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE arc_smi_result OUTPUT_VARIABLE arc_devices
                ERROR_QUIET)
set(arc_has_device FALSE)
if(arc_smi_result EQUAL 0 AND arc_devices MATCHES "GPU 0")
  set(arc_has_device TRUE)
endif()
set(arc_build_gpu FALSE)
if(ARC_GPU STREQUAL "AUTO" AND NOT arc_has_device) # to look for nvcc takes CMake seconds
  message(STATUS "No CUDA device: programs are built for the CPU warp only (ARC_GPU=ON builds the others too)")
elseif(NOT ARC_GPU STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      if(arc_has_device)
        set(CMAKE_CUDA_ARCHITECTURES native)
      else()
        set(CMAKE_CUDA_ARCHITECTURES 90)
      endif()
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(arc_build_gpu TRUE)
    message(STATUS "GPU programs are built for architecture ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(ARC_GPU STREQUAL "AUTO")
    message(STATUS "No CUDA compiler: programs are built for the CPU warp only")
  else()
    message(FATAL_ERROR "ARC_GPU=${ARC_GPU}, but there is no CUDA compiler: put nvcc on the PATH, "
                        "set CMAKE_CUDA_COMPILER, or take ARC_GPU=OFF")
  endif()
endif()

# ---- the headers of this build: programs that name them link arc_described ----------------------
file(GLOB arc_header_files CONFIGURE_DEPENDS ${arc_include}/arc.cuh ${arc_include}/arc_policy.cuh
     ${arc_include}/arc/*.cuh)
set(arc_headers_hash)
foreach(file IN LISTS arc_header_files)
  file(SHA256 ${file} hash)
  string(APPEND arc_headers_hash ${hash})
endforeach()
string(SHA256 arc_headers_hash "${arc_headers_hash}")
string(SUBSTRING ${arc_headers_hash} 0 12 arc_headers_hash)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arc_header_files})
add_library(arc_described INTERFACE)
target_compile_definitions(arc_described INTERFACE ARC_HEADERS_HASH="${arc_headers_hash}")

# ---- warnings and sanitizers --------------------------------------------------------------------
add_library(arc_warnings INTERFACE)
target_compile_options(arc_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wundef>
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
# Switching fibers takes the time, in a library of its own: more would only compile longer. What a
# sanitizer adds takes as long at -O0.
set(arc_fast -Og)
add_library(arc_sanitizers INTERFACE)
if(ARC_SANITIZE) # with CXXFLAGS=-g1 reports name lines, and building takes a quarter longer
  set(arc_fast -O0)
  target_compile_options(arc_sanitizers INTERFACE
    -fsanitize=${ARC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(arc_sanitizers INTERFACE -fsanitize=${ARC_SANITIZE})
endif()

# ---- the CPU warp as a static library, for arc's own programs; others link arc::simt -------------
add_library(arc_simt_library STATIC $<TARGET_PROPERTY:arc::simt,INTERFACE_SOURCES>)
target_link_libraries(arc_simt_library PUBLIC arc::arc PRIVATE arc_warnings arc_sanitizers)
target_compile_features(arc_simt_library PUBLIC cxx_std_17)

# What most programs begin with, precompiled; those of another SIMT_ARCH read it as it is. Not where
# a launcher caches what it compiles: ccache leaves such units alone.
set(CMAKE_PCH_WARN_INVALID OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(arc_precompiled arc_precompiled) # a folder may set another one
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/arc_precompiled.cpp CONTENT "")
  add_library(arc_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/arc_precompiled.cpp)
  target_precompile_headers(arc_precompiled PRIVATE ${arc_include}/simt/simt.cuh <stdint.h> <stdio.h>
    <stdlib.h> <string.h> <math.h> <algorithm> <map> <string> <vector>)
  target_link_libraries(arc_precompiled PRIVATE arc::arc arc_warnings arc_sanitizers)
  target_compile_options(arc_precompiled PRIVATE $<$<CONFIG:Release>:${arc_fast}>)
endif()

# ---- programs -----------------------------------------------------------------------------------
# arc_program(<name> SOURCES a.cu ... [DEFINITIONS X=1 ...] [LIBRARIES ...] [CPU_ONLY | GPU_ONLY])
# builds <name>_simt for the CPU warp and, where the GPU is on, <name>_gpu. arc_library takes the same
# and builds two static libraries; where LIBRARIES names one, each program links the one of its kind.
set(arc_flags CPU_ONLY GPU_ONLY)
set(arc_lists SOURCES DEFINITIONS LIBRARIES ARGS LABELS)

# A source file has one language a folder; .cu files are compiled as C++ through a wrapper.
function(arc_wrap_sources name result)
  set(wrapped)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    if(path MATCHES "\\.cu$")
      get_filename_component(stem ${path} NAME_WE)
      set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${name}_${stem}.cpp)
      file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"@path@\"\n" @ONLY)
      set(path ${wrapper})
    endif()
    list(APPEND wrapped ${path})
  endforeach()
  set(${result} ${wrapped} PARENT_SCOPE)
endfunction()

function(arc_link target build)
  set(libraries)
  foreach(library IN LISTS ARGN)
    if(TARGET ${library}_${build})
      set(library ${library}_${build})
    endif()
    list(APPEND libraries ${library})
  endforeach()
  target_link_libraries(${target} PUBLIC arc::arc ${libraries} PRIVATE arc_warnings)
  if(build STREQUAL simt)
    target_link_libraries(${target} PUBLIC arc_simt_library PRIVATE arc_sanitizers)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${arc_fast}>)
    if(arc_precompiled) # a target whose precompiled headers those of this folder share
      target_precompile_headers(${target} REUSE_FROM ${arc_precompiled})
    endif()
  else() # nvcc would take long for several files at once
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# Adds the same, in sources of this folder, to both builds of a program or library.
function(arc_extend name)
  cmake_parse_arguments(arg "${arc_flags}" "" "${arc_lists}" ${ARGN})
  arc_wrap_sources(${name}_simt simt_sources ${arg_SOURCES})
  set(gpu_sources ${arg_SOURCES})
  foreach(build simt gpu)
    if(TARGET ${name}_${build})
      target_sources(${name}_${build} PRIVATE ${${build}_sources})
      target_compile_definitions(${name}_${build} PRIVATE ${arg_DEFINITIONS})
      arc_link(${name}_${build} ${build} ${arg_LIBRARIES})
    endif()
  endforeach()
endfunction()

function(arc_program name)
  cmake_parse_arguments(arg "${arc_flags}" "" "${arc_lists}" ${ARGN})
  if(NOT arg_GPU_ONLY)
    add_executable(${name}_simt)
  endif()
  if(arc_build_gpu AND NOT arg_CPU_ONLY)
    add_executable(${name}_gpu)
  endif()
  arc_extend(${ARGV})
endfunction()

function(arc_library name)
  add_library(${name}_simt STATIC)
  if(arc_build_gpu)
    add_library(${name}_gpu STATIC)
  endif()
  arc_extend(${ARGV})
endfunction()

# ---- tests: arc_house, "studies" in studies/, is a label of all ----------------------------------
# A test that exits with 77 was skipped and has said why.
function(script_test name labels timeout)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${labels};${arc_house}" TIMEOUT ${timeout}
                       SKIP_RETURN_CODE 77)
endfunction()

# python_test(<name> <labels> <timeout> <arguments of Python>)
find_package(Python3 COMPONENTS Interpreter QUIET)
function(python_test name labels timeout)
  if(Python3_Interpreter_FOUND)
    script_test(${name} "${labels}" ${timeout} ${Python3_EXECUTABLE} -B ${ARGN})
  else()
    script_test(${name} "${labels}" 60 sh -c "echo 'skipped: no Python 3'; exit 77")
  endif()
endfunction()

# arc_test(<name> <arguments of arc_program> [ARGS ...] [LABELS ...] [ON_BOTH]) adds the tests <name>_simt
# and <name>_gpu; where there is a GPU the latter alone, without ON_BOTH or ARC_CPU_TESTS.
function(arc_test name)
  cmake_parse_arguments(arg "${arc_flags};ON_BOTH" "" "${arc_lists}" ${ARGN})
  list(REMOVE_ITEM ARGV ON_BOTH)
  if(arc_build_gpu AND arc_has_device AND NOT (arg_CPU_ONLY OR arg_ON_BOTH OR ARC_CPU_TESTS))
    list(APPEND ARGV GPU_ONLY)
  endif()
  arc_program(${ARGV})
  foreach(build simt gpu)
    if(TARGET ${name}_${build})
      script_test(${name}_${build} "${build};${arg_LABELS}" 600 ${name}_${build} ${arg_ARGS})
    endif()
  endforeach()
endfunction()

# Tests the command line of each build of a program, by the script of the house.
set(arc_command_lines_script ${arc_root}/bench/common/test_command_lines.py)
function(arc_command_lines program)
  foreach(build simt gpu)
    if(TARGET ${program}_${build})
      set(test test_command_lines_${program}_${build})
      python_test(${test} ${build} 600 ${arc_command_lines_script} $<TARGET_FILE:${program}_${build}>)
      # Each starts many programs, which takes a GPU long: these begin first.
      set_tests_properties(${test} PROPERTIES COST $<IF:$<STREQUAL:${build},gpu>,50,30>)
    endif()
  endforeach()
endfunction()
