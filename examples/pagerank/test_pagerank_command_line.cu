/* arc example pagerank: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_pagerank_command_line PROGRAM        (pagerank, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --scale 5 --degree 4 --iterations 2"
#define OUT " --csv @/out.csv"

static void anywhere(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--scale 27" OUT, 2, "--scale is '27'; it must be a whole number from 1 to 26");
  check_wrong("--degree 0" OUT, 2, "from 1 to 256");
  check_wrong("--iterations ten" OUT, 2, "from 1 to 100000");
  check_wrong("--by lane" OUT, 2, "--by is 'lane'; it must be one of edge, vertex");
  check_wrong("--path best" OUT, 2, "it must be one of plain, serialized, butterfly, tree, auto,");
  check_wrong("--threshold 34" OUT, 2, "--threshold is '34'");
  check_wrong("--tune --path tree" OUT, 2, "--tune is for --path auto");
  check_wrong("--compare-paths --path tree" OUT, 2, "leave --path out");
}

static void on_device(void) {
  size_t size;
  check_wrong("--graph @/absent.txt" OUT, 1, "absent.txt' cannot be read");
  check_wrong("--csv @/no/folder.csv", 1, "No such file or directory");
  test_write_file(test_path("edges.txt"), "0 1\n1\n", 6);
  check_wrong("--graph @/edges.txt" OUT, 1, "line 2: must be two whole numbers");
  test_write_file(test_path("edges.txt"), "# three\n0 1\n1 2\n2 0\n", 20);
  check_right("--graph @/edges.txt --by vertex --tune", 0, "3 vertices, 3 edges");
  check_progress("--compare-paths" SMALL, "\rplain      iteration 1 of 2");
  check_right("--compare-paths" SMALL OUT, 0, "\natomred ");
  char *csv = test_read_file(test_path("out.csv"), &size);
  CHECK(strstr(csv, "\nvertices,edges,by,path,threshold,") != nullptr, "csv: %s", csv);
  CHECK(strstr(csv, "\n32,128,edge,tree,auto,2,") != nullptr, "csv: %s", csv);
  free(csv);
  check_interrupted("--scale 8 --iterations 100000" OUT, "warps      ", SIGINT, 0, "out.csv",
                    "ms of a push");
  test_folder_files(true);
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_pagerank_command_line",
                                         "pagerank: ",
                                         "--scale 3 --iterations 1",
                                         false,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
