# presets.cmake - the build presets use all cores with make, too; and what builds the studies leaves
# the library's build folder alone. SPDX-License-Identifier: Apache-2.0
#
#   cmake -DROOT=<repository> -DWORK=<scratch folder> -P presets.cmake
file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/CMakePresets.json DESTINATION ${WORK})
file(WRITE ${WORK}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(flags LANGUAGES NONE)
foreach(target flags paper)
  add_custom_target(${target} ALL COMMAND sh -c "echo flags: $MAKEFLAGS, studies: ${ARC_STUDIES}." VERBATIM)
endforeach()
]])
execute_process(COMMAND nproc OUTPUT_VARIABLE cores OUTPUT_STRIP_TRAILING_WHITESPACE)
function(build preset configured studies)
  execute_process(COMMAND ${CMAKE_COMMAND} --preset ${configured} -G "Unix Makefiles"
                  WORKING_DIRECTORY ${WORK} OUTPUT_QUIET ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build --preset ${preset}
                  WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(cores GREATER 1 AND NOT output MATCHES "flags: [^\n]*-j${cores} ")
    message(FATAL_ERROR "${preset}: not ${cores} jobs: ${output}")
  endif()
  if(NOT output MATCHES "studies: ${studies}\\.")
    message(FATAL_ERROR "${preset}: studies are not '${studies}': ${output}")
  endif()
endfunction()
build(studies studies ON)
build(paper studies ON)
build(default default "")
