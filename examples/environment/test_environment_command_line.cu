/* arc example environment: wrong options get their line, right ones do what they say.
   SPDX-License-Identifier: Apache-2.0

   usage: test_environment_command_line PROGRAM        (environment, whichever build) */
#include "simt/simt.cuh"

#include "../common/test_command_line.h"

#define OUT " --out @/out.ppm"
#define SMALL " --size 8 --iterations 1"

static void anywhere(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--side 0" OUT, 2, "--side is '0'; it must be a whole number from 1 to 1024");
  check_wrong("--size 7" OUT, 2, "--size is '7'; it must be a whole number from 8 to 1024");
  check_wrong("--mesh ''" OUT, 2, "--mesh");
  check_wrong("--dataset specular" OUT, 2, "it must be one of diffuse, specular_08, specular_29,");
  check_wrong("--path best" OUT, 2, "it must be one of");
  check_wrong("--out @/no/folder.ppm", 2, "No such file or directory");
  check_wrong("--out @/picture.gif", 2, "must end in .ppm");
}

static void on_device(void) {
  size_t size;
  check_wrong("--side 24" OUT, 2, "--side is '24'; for a scene it must be");
  check_wrong("--dataset diffuse" OUT, 2, "--out is for a scene");
  check_wrong("--mesh @/absent.obj" OUT, 2, "absent.obj' cannot be read");
  test_write_file(test_path("mesh.obj"), "v 0 0 0\nf 1 2 3\n", 16);
  check_wrong("--mesh @/mesh.obj" OUT, 2, "line 2: a corner is no vertex before it");
  test_write_file(test_path("mesh.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 32);
  check_right("--mesh @/mesh.obj" SMALL OUT, 0, " of 8 x 8 pixels, 1 triangles");
  char *picture = test_read_file(test_path("out.ppm"), &size);
  CHECK(strncmp(picture, "P6\n16 12\n255\n", 13) == 0 && size == 13 + 16 * 12 * 3, "picture: %s",
        picture);
  free(picture);
  check_right("--path gather" SMALL, 0, "\ntest       PSNR ");
  check_right("--dataset specular_29 --compare-paths", 0, "\ngather ");
  check_right("--dataset lookup --compare-paths" SMALL, 0, "\nfour ");
  check_progress(SMALL, "\rauto       iteration 1 of 1");
  check_interrupted("--size 8 --iterations 100000" OUT, "views      ", SIGINT, 0, "out.ppm",
                    "interrupted after");
  test_folder_files(true);
}

int main(int argc, char **argv) {
  static const command_line_test test = {
      "test_environment_command_line", "environment: ", SMALL, true, anywhere, on_device};
  return command_line_main(argc, argv, &test);
}
