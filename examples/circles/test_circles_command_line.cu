/* arc example circles: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_circles_command_line PROGRAM        (circles, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --size 40x30 --circles 20 --iterations 2"
#define OUT " --out @/out.ppm"

static void anywhere(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--size 40" OUT, 2, "--size is '40'; it must be WIDTHxHEIGHT");
  check_wrong("--scene 5" OUT, 2, "--scene is '5'; it must be one of 3, fit, 10k, 100k, biglittle");
  check_wrong("--circles 0" OUT, 2,
              "--circles is '0'; it must be a whole number from 1 to 1000000");
  check_wrong("--path best" OUT, 2, "it must be one of plain, serialized, butterfly,");
  check_wrong("--out @/picture.gif", 2, "must end in .ppm");
}

static void on_device(void) {
  size_t size;
  check_wrong("--picture @/absent.ppm" OUT, 2, "absent.ppm");
  check_wrong("--size 4097x2" OUT, 2, "4097 x 2 pixels are too many; --size: at most 4096x4096");
  test_write_file(test_path("wrong.ppm"), "P6 4 4 255\nxyz", 14);
  check_wrong("--picture @/wrong.ppm" OUT, 2, "cut short");
  test_write_file(test_path("right.ppm"), "P6 2 1 255\nabcdef", 17);
  check_wrong("--picture @/right.ppm --size 3x1" OUT, 2, "cannot enlarge the picture of 2 x 1");
  check_right("--picture @/right.ppm --circles 1 --iterations 1", 0, "1 circles, 2 x 1 pixels");
  check_right("--scene biglittle --tune" SMALL OUT, 0, "\ntrain      PSNR ");
  char *picture = test_read_file(test_path("out.ppm"), &size);
  CHECK(size == 13 + 40 * 30 * 3 && !memcmp(picture, "P6\n40 30\n255\n", 13), "%zu bytes", size);
  free(picture);
  check_right("--compare-paths" SMALL, 0, "\ntransposed ");
  check_progress("--path plain" SMALL, "\rplain      iteration 1 of 2");
  test_folder_files(true);
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_circles_command_line",
                                         "circles: ",
                                         "--size 8x8 --circles 2 --iterations 1",
                                         true,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
