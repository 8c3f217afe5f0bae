# Without a reporter of its own a program prints the report and leaves with code 3. Apache-2.0.
execute_process(COMMAND "${program}" --default stale_mask RESULT_VARIABLE code ERROR_VARIABLE text)
if(NOT code EQUAL 3 OR NOT text MATCHES "^simt: misuse: named lanes never arrive")
  message(FATAL_ERROR "exit code ${code}, must be 3; stderr:\n${text}")
endif()
