/* arc example spheres: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_spheres_command_line PROGRAM        (spheres, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define SMALL " --spheres 40 --size 24x20 --views 2"
#define OUT " --out @/out.ppm"

static void anywhere(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--scene tiny" OUT, 2, "--scene is 'tiny'; it must be one of small, large");
  check_wrong("--spheres 0" OUT, 2,
              "--spheres is '0'; it must be a whole number from 1 to 4000000");
  check_wrong("--views many" OUT, 2, "from 1 to 100");
  check_wrong("--size 24" OUT, 2, "--size is '24'");
  check_wrong("--camera hot" OUT, 2, "--camera is 'hot'; it must be one of spheres, row");
  check_wrong("--path best" OUT, 2, "auto,");
  check_wrong("--camera" OUT " --views", 2, "--camera is '--out'");
  check_wrong("--views", 2, "--views needs a value");
  check_wrong("--out @/no/folder.ppm", 2, "No such file or directory");
  check_wrong("--out @/out.txt", 2, "out.txt': the name must end in .ppm");
}

static void on_device(void) {
  size_t size;
  check_wrong("--spheres 4 --views 1 --size 8193x1" OUT, 2, "--size is at most 8192 wide");
  check_right("--iterations 2" SMALL OUT, 0, "\nwritten ");
  char *ppm = test_read_file(test_path("out.ppm"), &size);
  CHECK(!strncmp(ppm, "P6\n48 20\n255\n", 13) && size == 13 + 3 * 48 * 20, "%zu bytes", size);
  free(ppm);
  check_right("--iterations 1 --seed 7 --camera row --tune" SMALL, 0, "\ntest       PSNR ");
  check_progress("--iterations 3" SMALL, "\rauto       iteration 1 of 3");
  check_right("--compare-paths --scene large --size 20x20 --views 1", 0, "\nwalk ");
  check_right("--compare-paths --camera row" SMALL, 0, "\ndivergent ");
  check_interrupted("--iterations 100000" SMALL, "scene      ", SIGINT, 0, nullptr,
                    "interrupted after");
}

int main(int argc, char **argv) {
  static const command_line_test test = {
      "test_spheres_command_line", "spheres: ", "--iterations 1" SMALL, true, anywhere, on_device};
  return command_line_main(argc, argv, &test);
}
