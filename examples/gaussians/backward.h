/* arc example gaussians: the ways to add up the picture's gradient, one source file each.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_BACKWARD_H
#define GAUSSIANS_BACKWARD_H

#include "paths.h"
#include "pixels.cuh"

typedef struct backward_arguments {
  render_arguments render;
  picture_planes planes;         /* as the forward pass has left them */
  const float *slope;            /* the loss by the picture, three planes */
  splat_sums sums;               /* added to */
  unsigned long long *histogram; /* backward_count only: warp steps by hit lanes, 33 */
  int threshold;
} backward_arguments;

/* Launches one block a tile. asks, pixels: pixels.cuh. */
typedef void (*backward_function)(int tiles, const backward_arguments *a, bool asks, int pixels);

void backward_plain(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_atomic(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_serialized(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_butterfly(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_cub(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_shuffles(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_transposed(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_tree(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_auto(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_default(int tiles, const backward_arguments *a, bool asks, int pixels);
void backward_none(int tiles, const backward_arguments *a, bool asks, int pixels);
/* Counts instead of adding: how many lanes are hit at each step of each warp. */
void backward_count(int tiles, const backward_arguments *a, bool asks, int pixels);

/* What backward_default is compiled with. */
const char *backward_default_policy(void);
int backward_default_threshold(void);

/* In the order of add_path; null where this build has none. */
static inline backward_function backward_of_path(add_path path) {
  static const backward_function functions[ADD_PATHS] = {
    backward_plain,
    backward_atomic,
    backward_serialized,
    backward_butterfly,
#if SIMT_ON_CPU
    nullptr,
#else
    backward_cub,
#endif
    backward_shuffles,
    backward_transposed,
    backward_tree,
    backward_auto,
    backward_default,
    backward_none
  };
  return functions[path];
}

#endif
