/* arc example pagerank: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_pagerank_command_line PROGRAM        (pagerank, whichever build) */
#include <sys/resource.h>

#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --scale 5 --degree 4 --iterations 2"
#define OUT " --experiment @/out.csv"

static void anywhere(void) {
  check_wrong("--nonsense", 2, "'--nonsense' is not an option; see --help");
  check_wrong("--scale 27" OUT, 2, "--scale is '27'; it must be a whole number from 1 to 26");
  check_wrong("--degree 0" OUT, 2, "from 1 to 256");
  check_wrong("--iterations ten" OUT, 2, "from 0 to 1000000");
  check_wrong("--by lane" OUT, 2, "--by is 'lane'; it must be one of edge, vertex");
  check_wrong("--path best", 2, "it must be one of plain, serialized, butterfly, tree, auto,");
  check_wrong("--threshold 34", 2, "--threshold is '34'");
  check_wrong("--tune --path tree", 2, "--tune is for --path auto");
  check_wrong("--tune=yes", 2, "--tune takes no value");
  check_wrong("--scale", 2, "--scale needs a value");
  check_wrong("--compare-paths --path tree", 2, "leave --path, --tune, --out out");
  check_wrong("--path tree" OUT, 2, "--experiment runs every path and threshold");
  check_wrong("--threshold 3" OUT, 2, "--experiment runs every path and threshold");
  check_wrong("--out @/x.png", 2, "'--out' is not an option");
  check_wrong("--experiment @/no/folder.csv", 2, "No such file or directory");
}

/* Rows are added behind those that are there; a file that is no such table stays as it is. */
static void check_table(void) {
  size_t size, longer;
  check_right("--experiment @/out.csv" SMALL, 0, "\nwritten ");
  char *csv = test_read_file(test_path("out.csv"), &size);
  CHECK(strstr(csv, "\nworkload,BW implementation,balance threshold,dataset,") != nullptr, "%s",
        csv);
  CHECK(strstr(csv, "\npagerank,SW-S,24,vertex,,,,,") != nullptr, "%s", csv);
  CHECK(strstr(csv, "\npagerank,tuned,") != nullptr, "%s", csv);
  check_right("--experiment @/out.csv" SMALL, 0, "\nwritten ");
  char *twice = test_read_file(test_path("out.csv"), &longer);
  CHECK(!strncmp(csv, twice, size) && longer > size + size / 2, "%zu bytes after %zu", longer,
        size);
  free(csv);
  free(twice);
  test_write_file(test_path("out.csv"), "text\n", 5);
  check_wrong("--experiment @/out.csv" SMALL, 2, "is no table of this device, compiler and policy");
  csv = test_read_file(test_path("out.csv"), &size);
  CHECK(!strcmp(csv, "text\n"), "the other file is now '%s'", csv);
  free(csv);
}

/* Numbers of vertices that are legal, and too large for the memory there is. On a GPU the limit
   would stop its driver before. */
static void check_memory(void) {
  const rlim_t most = (rlim_t)1 << 30;
  struct rlimit before, limit;
  if (strstr(program, "_simt") == nullptr) return;
  test_write_file(test_path("edges.txt"), "0 2147483646\n", 13);
  getrlimit(RLIMIT_AS, &before);
  limit = before;
  limit.rlim_cur = most;
  setrlimit(RLIMIT_AS, &limit);
  check_wrong("--graph @/edges.txt", 1, "not enough memory on the host");
  setrlimit(RLIMIT_AS, &before);
}

static void check_interrupted_setup(void) {
  double seconds = check_interrupted("--scale 22 --degree 64", "policy     ", SIGINT, 0, nullptr,
                                     "interrupted before the graph was complete");
  CHECK(seconds < 2.0, "ended after %.1f s", seconds);
  remove(test_path("out.csv"));
  check_interrupted("--scale 22 --degree 64" OUT, "policy     ", SIGTERM, 0, "out.csv", "written ");
}

static void on_device(void) {
  check_wrong("--graph @/absent.txt", 2, "absent.txt' cannot be read");
  test_write_file(test_path("edges.txt"), "0 1\n1\n", 6);
  check_wrong("--graph @/edges.txt", 2, "line 2: must be two whole numbers");
  check_wrong("--graph @/edges.txt" OUT, 2, "line 2: must be two whole numbers");
  check_memory();
  test_write_file(test_path("edges.txt"), "# three\n0 1\n1 2\n2 0\n", 20);
  check_right("--graph @/edges.txt --by vertex --tune", 0, "3 vertices, 3 edges");
  check_progress("" SMALL, "\rauto       iteration 1 of 2");
  check_right("--compare-paths" SMALL, 0, "\natomred ");
  check_right("--path atomred" SMALL, 0, "path       atomred, threshold -");
  check_table();
  check_interrupted("--scale 8 --iterations 100000", "graph      ", SIGINT, 0, nullptr,
                    "interrupted after");
  check_interrupted_setup();
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_pagerank_command_line",
                                         "pagerank: ",
                                         "--scale 3 --iterations 1",
                                         true,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
