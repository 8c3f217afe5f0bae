# Without a reporter of its own a program prints the report, with launch and seed, and leaves with
# code 3. Apache-2.0.
execute_process(COMMAND "${program}" --default where_it_happened RESULT_VARIABLE code
                ERROR_VARIABLE text)
if(NOT code EQUAL 3 OR NOT text MATCHES "^simt: misuse: named lanes never arrive\n.*\n  \
launch     misuse at [^\n]*misuse_collectives.cu:[0-9]+, grid .2,3,1., block .96,1,1.\n  \
seed       [0-9]+, launch 0")
  message(FATAL_ERROR "exit code ${code}, must be 3; stderr:\n${text}")
endif()
