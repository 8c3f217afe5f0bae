# presets.cmake - the build presets use all cores with make, too. SPDX-License-Identifier: Apache-2.0
#
#   cmake -DROOT=<repository> -DWORK=<scratch folder> -P presets.cmake
file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/CMakePresets.json DESTINATION ${WORK})
file(WRITE ${WORK}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(flags LANGUAGES NONE)
add_custom_target(flags ALL COMMAND sh -c "echo flags: $MAKEFLAGS" VERBATIM)
]])
execute_process(COMMAND nproc OUTPUT_VARIABLE cores OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_COMMAND} --preset default -G "Unix Makefiles"
                WORKING_DIRECTORY ${WORK} OUTPUT_QUIET ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build --preset default
                WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(cores GREATER 1 AND NOT output MATCHES "flags: [^\n]*-j${cores} ")
  message(FATAL_ERROR "not ${cores} jobs: ${output}")
endif()
