# The default reporter leaves the process with code 3. Apache-2.0.
execute_process(COMMAND "${program}" stale_mask default RESULT_VARIABLE code ERROR_VARIABLE text)
if(NOT code EQUAL 3)
  message(FATAL_ERROR "exit code ${code}, must be 3; stderr:\n${text}")
endif()
