# NCCL, where it is: NCCL_ROOT, CUDA's own folders, the system's, or the Python wheel
# nvidia-nccl-cu13. Sets NCCL_FOUND and NCCL_VERSION and defines NCCL::NCCL.
# SPDX-License-Identifier: Apache-2.0
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND AND NOT DEFINED NCCL_WHEEL)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c
                          "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])"
                  OUTPUT_VARIABLE nccl_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(NCCL_WHEEL "${nccl_wheel}" CACHE PATH "The folder of the Python wheel nvidia-nccl-cu13")
  mark_as_advanced(NCCL_WHEEL)
endif()
find_path(NCCL_INCLUDE_DIR nccl.h
          HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ${NCCL_WHEEL} PATH_SUFFIXES include)
# The wheel has the library under its run-time name only.
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
             HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}/.. ${NCCL_WHEEL}
             PATH_SUFFIXES lib lib64)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
if(NCCL_INCLUDE_DIR)
  set(NCCL_VERSION)
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h line REGEX "^#define NCCL_${part} ")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND NCCL_VERSION "${number}")
  endforeach()
  list(JOIN NCCL_VERSION "." NCCL_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
                                  VERSION_VAR NCCL_VERSION)
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
endif()
