/* arc examples: pictures in, pictures out.
   SPDX-License-Identifier: Apache-2.0

   PPM (P6, 8 or 16 bits) always works, PNG where the build found libpng: IMAGE_HAVE_PNG. Every
   failure is one line that says what was wrong. */
#pragma once

#include <math.h>

#include "output_file.h"

/* Red, green and blue of each pixel, row by row from the top, 0 to 1 as stored (no gamma undone).
   Own it with image_free. */
typedef struct image {
  int width, height;
  float *rgb;
} image;

enum { IMAGE_MAX_SIDE = 16384 };

bool image_allocate(image *picture, int width, int height, error_line *error);
void image_free(image *picture);

/* The format is told by the file's first bytes, not by its name. */
bool image_read(image *picture, const char *path, error_line *error);

/* By extension: .ppm, or .png where libpng was found. Values outside 0..1 are clamped. */
bool image_write(const image *picture, const char *path, error_line *error);

/* Whether image_write could write this name at all: extension, folder, permission. */
bool image_write_probe(const char *path, error_line *error);

/* Box filter: each new pixel is the mean of the area it covers. Never enlarges. Up to an interrupt,
   as the next. */
bool image_shrink(image *picture, int width, int height, error_line *error);

/* PSNR in dB of so many numbers from 0 to 1; squares: the sum of their squared differences. */
static inline double image_psnr(double squares, double numbers) {
  return -10.0 * log10(squares / numbers);
}

/* The built-in picture: slow gradients, discs, stripes of rising frequency, single-pixel grain. */
bool image_procedural(image *picture, int width, int height, error_line *error);
