/* arc example groups: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_groups_command_line PROGRAM        (groups, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --rows 1000 --keys 50 --runs 1"
#define CSV " --csv @/out.csv"

static void anywhere(void) {
  check_wrong("--nonsense", 2, "'--nonsense' is not an option; see --help");
  check_wrong("--what means" CSV, 2, "--what is 'means'; it must be one of sums, counts, weights");
  check_wrong("--by chance", 2, "one of uniform, zipf-1.05, zipf-1.2, sorted, half, all");
  check_wrong("--rows 999" CSV, 2, "from 1000 to 100000000");
  check_wrong("--keys 0", 2, "from 1 to 100000000");
  check_wrong("--columns 9", 2, "from 1 to 8");
  check_wrong("--columns 2 --what counts", 2, "--columns is for --what sums; counts have one");
  check_wrong("--table-rows 257", 2, "from 1 to 256");
  check_wrong("--runs", 2, "--runs needs a value");
  check_wrong("--sweep --keys 10", 2, "--sweep goes through numbers of keys; leave --keys out");
  check_wrong("--sweep=yes", 2, "--sweep takes no value");
  check_wrong("--csv @/no/folder.csv", 2, "No such file or directory");
}

/* A line for each adder, and the options that were given. */
static void check_table(void) {
  size_t size;
  check_right("--what weights --by half --table-rows 9" SMALL CSV, 0, "\nwritten ");
  char *csv = test_read_file(test_path("out.csv"), &size);
  CHECK(strstr(csv, "\nwhat,keys_by,rows,keys,columns,table_rows,adder,ms\n") != nullptr, "%s",
        csv);
  CHECK(strstr(csv, "\nweights,half,1000,50,1,9,plain,") != nullptr, "%s", csv);
  CHECK(strstr(csv, "\nweights,half,1000,50,1,9,arc,") != nullptr, "%s", csv);
  CHECK(strstr(csv, "\nweights,half,1000,50,1,9,table,") != nullptr, "%s", csv);
  free(csv);
}

static void on_device(void) {
  check_right("--columns 8" SMALL, 0, "\nhalf              50 ");
  check_right("--what counts --by uniform" SMALL, 0, "\nuniform           50 ");
  check_right("--sweep --by sorted --rows 2000 --columns 1 --runs 1", 0, "\nsorted          2000 ");
  check_progress("--by half" SMALL, "plain of 50 keys");
  check_table();
  remove(test_path("out.csv"));
  check_interrupted("--rows 1000 --keys 1000 --runs 300 --columns 8" CSV, "\nuniform ", SIGINT, 0,
                    nullptr, "\ninterrupted\n");
  CHECK(file_holds("out.csv", "\nsums,uniform,1000,1000,8,64,table,"), "what was measured is lost");
}

int main(int argc, char **argv) {
  static const command_line_test test = {
      "test_groups_command_line", "groups: ", "--by half" SMALL, true, anywhere, on_device};
  return command_line_main(argc, argv, &test);
}
