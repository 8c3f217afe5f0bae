/* arc example hashgrid: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_hashgrid_command_line PROGRAM        (hashgrid, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --batch 6 --iterations 1"

static void anywhere(void) {
  check_wrong("--nonsense", 2, "'--nonsense' is not an option; see --help");
  check_wrong("--scene sphere", 2, "--scene is 'sphere'; it must be one of picture, distance");
  check_wrong("--order sorted", 2, "it must be one of random, rays");
  check_wrong("--batch 23", 2, "--batch is '23'; it must be a whole number from 5 to 22");
  check_wrong("--width 65", 2, "it must be one of 64, 128");
  check_wrong("--rows double", 2, "it must be one of half, float");
  check_wrong("--levels=3", 2, "--levels takes no value");
  check_wrong("--path best", 2, "--path is 'best'; it must be one of plain, ");
  check_wrong("--out @/no/folder.ppm", 2, "No such file or directory");
  check_wrong("--out @/picture.gif", 2, "must end in .ppm");
}

static void check_picture(void) {
  size_t size;
  check_right("--scene distance --path levels --out @/slice.ppm" SMALL, 0, "\nwritten ");
  char *ppm = test_read_file(test_path("slice.ppm"), &size);
  CHECK(size > 11 && !strncmp(ppm, "P6\n", 3), "%zu bytes", size);
  free(ppm);
}

static void on_device(void) {
  check_wrong("--image @/absent.ppm", 2, "absent.ppm");
  check_wrong("--image @/absent.ppm --scene distance", 2, "--image is for --scene picture");
  check_wrong("--rows half --compare-paths", 2, "--rows half is for training and --levels");
  test_write_file(test_path("tiny.ppm"), "P6\n2 1\n255\nabcdef", 17);
  check_right("--image @/tiny.ppm --rows half --levels" SMALL, 0,
              "\nlevel  cells     rows   lanes   keys");
  check_right("--compare-paths --order rays" SMALL, 0, "\nvector ");
  check_right("--experiment @/out.csv --dataset distance_rays --iterations 0 --batch 5", 0,
              "\nwritten ");
  CHECK(file_holds("out.csv", "\nhashgrid,SW-S,24,distance_rays,"), "no row of rays");
  check_right("--dataset distance_rays" SMALL, 0, "64 a batch, rays, of a distance");
  check_picture();
  check_interrupted("--batch 6 --iterations 1000000", "samples    ", SIGINT, 0, nullptr,
                    "interrupted after");
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_hashgrid_command_line",
                                         "hashgrid: ",
                                         "--batch 5 --iterations 1",
                                         true,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
