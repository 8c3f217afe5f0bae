/* arc example fit_image: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef FIT_OPTIONS_H
#define FIT_OPTIONS_H

#include "../common/image_io.h"

/* How the backward kernel adds. */
typedef enum fit_way {
  FIT_PLAIN,     /* an atomicAdd for every value: what arc replaces */
  FIT_BUTTERFLY, /* the papers' SW-B, through arc */
  FIT_DEFAULT,   /* arc as compiled: the kernel to copy from */
  FIT_WAYS       /* how many */
} fit_way;

const char *fit_way_name(fit_way way);

/* Each array of parameters has its own learning rate. */
enum { RATE_MEAN, RATE_SCALE, RATE_ANGLE, RATE_COLOUR, FIT_RATES };

typedef struct fit_settings {
  int gaussians;
  int steps;
  unsigned long long seed;
  fit_way way;
  float rates[FIT_RATES]; /* pixels, natural logarithm, radians, colour (0..1): per step at first */
} fit_settings;

typedef struct fit_options {
  fit_settings fit;  /* gaussians is 0 where it follows from the picture */
  const char *image; /* null: the procedural picture */
  const char *out;   /* null: none written */
  const char *csv;   /* null: none written */
  int width, height; /* 0: not given */
  bool compare_paths;
  bool help;
} fit_options;

/* Starts from the given defaults; false, with one line, at the first thing that is not legal. */
bool options_parse(fit_options *options, int argc, char **argv, error_line *error);
void options_print_help(FILE *stream);

#endif
