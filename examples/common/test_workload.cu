/* arc examples: what goes wrong in a workload is found, and leaves no table.
   SPDX-License-Identifier: Apache-2.0

   usage: test_workload PROGRAM        (toy_workload, whichever build) */
#include "simt/simt.cuh"

#include "test_command_line.h"

static void anywhere(void) {
  check_wrong("--dataset none", 2, "--dataset is 'none'; it must be one of values, zeros");
  check_right("--help", 0, "--dataset NAME     one of its datasets: values zeros\n  --iter");
  check_wrong("--nan=1", 2, "--nan takes no value");
  check_wrong("--seed -1", 2, "from 0 to 1000000");
}

static void on_device(void) {
  check_wrong("--compare-paths", 1, "path broken: sums differ by 0.0");
  check_wrong("--compare-paths --nan", 1, "path broken: sums differ by nan");
  check_wrong("--compare-paths --dataset zeros", 1, "plain atomics: all sums are 0");
  check_wrong("--experiment @/t.csv", 1, "path broken: sums differ by 0.0");
  check_wrong("--experiment @/t.csv --dataset zeros", 1, "plain atomics: all sums are 0");
  check_wrong("--experiment @/t.csv --wrong", 1, "wrong after 2 iterations");
  check_wrong("--wrong --iterations 0", 1, "wrong after 0 iterations");
  check_right("--path broken", 0, "train      PSNR 30.000 dB, L1 0.50000");
  check_right("--tune --iterations 40", 0, ", tuned\ntrained    40 iterations");
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_workload", "toy_workload: ", "--iterations 1", true,
                                         anywhere,        on_device};
  return command_line_main(argc, argv, &test);
}
