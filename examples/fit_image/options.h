/* arc example fit_image: what the command line asks for.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef FIT_OPTIONS_H
#define FIT_OPTIONS_H

#include "arc_policy.cuh"
#include "../common/image_io.h"

/* How the backward kernel adds. Plain is what arc replaces; default is the kernel people copy,
   bound to arc's path and threshold macros; the rest name a path and take the threshold at run
   time. */
typedef enum fit_path {
  FIT_PLAIN,
  FIT_ATOMIC,
  FIT_SERIALIZED,
  FIT_BUTTERFLY,
  FIT_TRANSPOSED,
  FIT_TREE,
  FIT_AUTO,
  FIT_DEFAULT,
  FIT_PATHS /* how many */
} fit_path;

const char *fit_path_name(fit_path path);

/* Each array of parameters has its own learning rate. */
enum { RATE_MEAN, RATE_SCALE, RATE_ANGLE, RATE_COLOUR, FIT_RATES };

typedef struct fit_settings {
  int gaussians;
  int steps;
  unsigned long long seed;
  fit_path path;
  int threshold;
  bool tune; /* path and threshold are picked step by step */
  float rates[FIT_RATES]; /* pixels, natural logarithm, radians, colour (0..1): per step at first */
} fit_settings;

typedef struct fit_options {
  fit_settings fit; /* gaussians is 0 where it follows from the picture */
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
