/* arc studies: pictures in, pictures out.
   SPDX-License-Identifier: Apache-2.0

   PPM (P6, 8 or 16 bits) always works; PNG works if the build found libpng (IMAGE_HAVE_PNG).
   Numbers are taken as stored: 16 bits mean the same as 8, and a PNG's gamma or profile does not
   change them. Transparent pixels are laid on black: colour as stored, times alpha. Loaders of NeRF
   data and gaussians/convert.py do the same. A failure is reported in one line that says what was
   wrong. */
#pragma once

#include <math.h>

#include <vector>

#include "../../bench/common/output_file.h"

/* Red, green and blue of each pixel, row by row from the top, 0 to 1 as stored. */
typedef struct image {
  int width, height;
  std::vector<float> rgb;
} image;

enum { IMAGE_MAX_SIDE = 16384 };

/* A black one. */
static inline image image_of(int width, int height) {
  return {width, height, std::vector<float>((size_t)width * height * 3)};
}

/* The format is told by the file's first bytes, not by its name. */
bool image_read(image *picture, const char *path, error_line *error);

/* By extension: .ppm, or .png where libpng was found. Values outside 0..1 are clamped. */
bool image_write(const image *picture, const char *path, error_line *error);

typedef std::vector<unsigned char> byte_block;

/* For pictures, where it is not there. */
bool make_folder(const char *folder, error_line *error);

/* Whether image_write could write this name at all: extension, folder, permission. */
bool image_write_probe(const char *path, error_line *error);

/* Box filter: each new pixel is the mean of the area it covers. Never enlarges. Up to an interrupt,
   as the next. */
bool image_shrink(image *picture, int width, int height, error_line *error);

/* PSNR in dB of so many numbers from 0 to 1; squares: the sum of their squared differences. */
static inline double image_psnr(double squares, double numbers) {
  return -10.0 * log10(squares / numbers);
}

/* By how much numbers that were learnt are off, summed up. */
typedef struct image_error {
  double squares = 0.0, absolute = 0.0, numbers = 0.0;
} image_error;

static inline void image_error_add(image_error *e, const std::vector<float> &got,
                                   const std::vector<float> &wanted) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = (double)got[i] - wanted[i];
    e->squares += error * error;
    e->absolute += fabs(error);
  }
  e->numbers += (double)got.size();
}

/* The built-in picture: slow gradients, discs, stripes of rising frequency, single-pixel grain. */
image image_procedural(int width, int height);

/* What a program is to fit: the file's picture, or where path is null the built-in one. size: of
   the result; 0: as the file's, or as built_in says. */
bool image_load(image *picture, const char *path, const int size[2], const int built_in[2],
                error_line *error);
