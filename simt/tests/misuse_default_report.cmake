# Without a reporter of its own a program prints the report, with launch and seed, and leaves with
# code 3; so do misuses that leave nothing to go on with. Apache-2.0.
execute_process(COMMAND "${program}" --default where_it_happened RESULT_VARIABLE code
                ERROR_VARIABLE text)
if(NOT code EQUAL 3 OR NOT text MATCHES "^simt: misuse: named lanes never arrive\n.*\n  \
launch     misuse at [^\n]*misuse_collectives.cu:[0-9]+, grid .2,3,1., block .96,1,1.\n  \
seed       [0-9]+, launch 0")
  message(FATAL_ERROR "exit code ${code}, must be 3; stderr:\n${text}")
endif()

foreach(misuse IN ITEMS "outside_a_kernel;__syncwarp at [^\n]*misuse.cu:[0-9]+ is executed outside a kernel"
        "launched_by_a_kernel;kernel synchronises is launched by a kernel"
        "no_address_space;no address space for the poison pointer")
  list(GET misuse 0 name)
  list(GET misuse 1 line)
  if(sanitized AND name STREQUAL no_address_space) # AddressSanitizer ends itself there
    continue()
  endif()
  execute_process(COMMAND "${program}" --default ${name} RESULT_VARIABLE code ERROR_VARIABLE text)
  if(NOT code EQUAL 3 OR NOT text MATCHES "^simt: ${line}\n$")
    message(FATAL_ERROR "${name}: exit code ${code}, must be 3; stderr:\n${text}")
  endif()
endforeach()
