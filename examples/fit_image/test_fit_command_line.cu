/* arc example fit_image: every wrong option gets its line, every right one does what it says.
   SPDX-License-Identifier: Apache-2.0

   usage: test_fit_command_line PROGRAM        (fit_image, whichever build) */
#include <math.h>

#include "simt/simt.cuh"

#include "../common/image_io.h"
#include "../common/test_command_line.h"

#define OUT " --out @/out.ppm --csv @/out.csv"

static void test_wrong_options(void) {
  check_wrong("--nonsense" OUT, 2, "'--nonsense' is not an option; see --help");
  check_wrong("--a-very-long-option-that-does-not-exist 3", 2, "is not an option");
  check_wrong("photo.jpg" OUT, 2, "'photo.jpg' is not an option; see --help");
  check_wrong("--steps", 2, "--steps needs a value");
  check_wrong("--steps 0" OUT, 2, "--steps is '0'; it must be a whole number from 1 to 1000000");
  check_wrong("--steps -4" OUT, 2, "--steps is '-4'; it must be");
  check_wrong("--steps 3.5" OUT, 2, "--steps is '3.5'; it must be");
  check_wrong("--steps 99999999999999999999" OUT, 2, "it must be a whole number from 1");
  check_wrong("--steps=ten" OUT, 2, "--steps is 'ten'; it must be");
  check_wrong("--steps ''" OUT, 2, "--steps is ''; it must be");
  check_wrong("--gaussians 0" OUT, 2, "--gaussians is '0'; it must be a whole number from 1 to");
  check_wrong("--gaussians 10000001" OUT, 2, "from 1 to 10000000");
  check_wrong("--seed -1" OUT, 2, "--seed is '-1'; it must be a whole number from 0 to");
  check_wrong("--seed 99999999999999999999" OUT, 2, "18446744073709551615");
  check_wrong("--size 64" OUT, 2, "--size is '64'; it must be WIDTHxHEIGHT");
  check_wrong("--size 64x" OUT, 2, "--size is '64x'; it must be");
  check_wrong("--size x64" OUT, 2, "--size is 'x64'; it must be");
  check_wrong("--size 0x64" OUT, 2, "each 1 to 16384");
  check_wrong("--size 64x99999" OUT, 2, "each 1 to 16384");
  check_wrong("--size 64x64x3" OUT, 2, "--size is '64x64x3'; it must be");
  check_wrong("--path warp" OUT, 2, "--path is 'warp'; it must be plain, butterfly or default");
  check_wrong("--lr-mean -0.1" OUT, 2, "--lr-mean is '-0.1'; it must be a number from 0 to 1000");
  check_wrong("--lr-scale nan" OUT, 2, "--lr-scale is 'nan'; it must be a number from 0 to 1000");
  check_wrong("--lr-angle inf" OUT, 2, "--lr-angle is 'inf'; it must be");
  check_wrong("--lr-colour 1e9" OUT, 2, "--lr-colour is '1e9'; it must be");
  check_wrong("--compare-paths=yes" OUT, 2, "--compare-paths takes no value");
  check_wrong("--compare-paths --path plain" OUT, 2, "runs every path; leave --path out");
  check_wrong("--out ''", 2, "--out is empty; it must name a file");
  check_wrong("--out @/x.ppm --csv @/x.ppm", 2, "--out and --csv name the same file");
}

static void test_wrong_files(void) {
  check_wrong("--image @/absent.ppm" OUT, 2, "absent.ppm': No such file or directory");
  check_wrong("--image @" OUT, 2, "cannot read");
  check_wrong("--out @/picture.gif --csv @/out.csv", 2, "must end in .ppm");
  check_wrong("--out @/no/folder.ppm --csv @/out.csv", 2, "No such file or directory");
  check_wrong("--csv @/no/folder.csv --out @/out.ppm", 2, "No such file or directory");
  check_wrong("--csv @", 2, "exists and is not a plain file");
  test_write_file(test_path("in.ppm"), "P6 9 9 255\nshort", 16);
  check_wrong("--image @/in.ppm" OUT, 2, "PPM is cut short");
  test_write_file(test_path("in.ppm"), "P6 1 1 255\nabc", 14);
  check_wrong("--image @/in.ppm --size 2x2" OUT, 2, "cannot enlarge the picture of 1 x 1 pixels");
  test_folder_files(true);
}

#define SMALL " --size 32x24 --gaussians 40 --steps 4"

static void test_runs(void) {
  check_progress("--steps 1" SMALL, "\rdefault     step 1 of 4 ");
  check_right("--help", 0, "--compare-paths");
  check_right("--path butterfly" SMALL, 0, "path       butterfly\n");
  check_right("--path=plain" SMALL, 0, "path       plain\n");
  check_right("--size 1x1 --gaussians 1 --steps 2", 0, "PSNR");
  check_right("--size 17x1 --gaussians 300 --steps 2", 0, "PSNR");
  CHECK(test_folder_files(true) == 0, "a run without --out left a file");
}

static void test_outputs(void) {
  image picture;
  error_line error;
  size_t size;
  check_right("--path butterfly --seed 7" SMALL OUT, 0, "written");
  char *csv = test_read_file(test_path("out.csv"), &size);
  CHECK(lines_in(csv) == 2, "csv: %s", csv);
  CHECK(strncmp(csv, "path,values,gaussians,width,height,steps,loss,psnr_db,", 54) == 0, "csv: %s",
        csv);
  CHECK(strstr(csv, "\nbutterfly,8,40,32,24,4,") != nullptr, "csv: %s", csv);
  free(csv);
  bool read = image_read(&picture, test_path("out.ppm"), &error);
  CHECK(read && picture.width == 32 && picture.height == 24, "%s", read ? "size" : error.text);
  if (read) image_free(&picture);
  CHECK(test_folder_files(false) == 2, "%d files", test_folder_files(false));
  check_right("--image @/out.ppm --size 16x12 --gaussians 9 --steps 2 --out @/again.ppm", 0,
              "16 x 12 pixels");
  test_folder_files(true);
}

static void test_compare_paths(void) {
  size_t size;
  check_right("--compare-paths" SMALL OUT, 0, "PSNR spread");
  char *csv = test_read_file(test_path("out.csv"), &size);
  CHECK(lines_in(csv) == 4, "one line for each of 3 paths: %s", csv);
  free(csv);
  test_folder_files(true);
}

/* The ends of what is legal: nothing overflows, and a perfect fit has an infinite PSNR. */
static void test_extremes(void) {
  check_right("--lr-colour 1000 --lr-mean 1000 --lr-scale 1000 --lr-angle 1000" SMALL, 0, "PSNR");
  check_right("--lr-colour 0 --lr-mean 0 --lr-scale 0 --lr-angle 0" SMALL, 0, "PSNR");
  test_write_file(test_path("black.ppm"), "P6 1 2 255\n\0\0\0\0\0\0", 17);
  check_right("--image @/black.ppm --steps 2 --compare-paths", 0, "PSNR spread 0.0000 dB");
  test_folder_files(true);
}

/* Ctrl-C, or `kill`: the current step ends, the picture so far is written, status 130. */
static void test_interrupt(int signal_number) {
  image picture;
  error_line error;
  check_interrupted("--size 32x32 --gaussians 60 --steps 1000000" OUT, "gaussians  60",
                    signal_number, 0, "out.ppm", "interrupted after ");
  bool read = image_read(&picture, test_path("out.ppm"), &error);
  CHECK(read, "%s", error.text);
  if (read) image_free(&picture);
  CHECK(test_folder_files(true) == 2, "not exactly the two files asked for");
}

/* Between the picture and the first step there is nothing to write yet. */
static void test_interrupt_of_setup(void) {
  double seconds = check_interrupted("--gaussians 10000000", "picture    ", SIGINT, 0, nullptr,
                                     "interrupted before the first step");
  CHECK(seconds < 2.0, "ended after %.1f s", seconds);
}

static void anywhere(void) {
  test_wrong_options();
  test_wrong_files();
}

static void on_device(void) {
  test_runs();
  test_outputs();
  test_compare_paths();
  test_extremes();
  test_interrupt(SIGINT);
  test_interrupt(SIGTERM);
  test_interrupt_of_setup();
}

int main(int argc, char **argv) {
  static const command_line_test test = {"test_fit_command_line",
                                         "fit_image: ",
                                         "--size 8x8 --gaussians 2 --steps 1",
                                         false,
                                         anywhere,
                                         on_device};
  return command_line_main(argc, argv, &test);
}
