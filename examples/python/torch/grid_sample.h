/* grid_sample.h - what the kernels of grid_sample.cuh take. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_GRID_SAMPLE_H
#define ARC_GRID_SAMPLE_H

/* A tensor [image][channel][z][y][x], strides in values; of the grid, channel is the axis. */
struct lattice {
  const void *at;
  long long image, channel, z, y, x;
};

enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION }; /* as PyTorch counts them */

struct grid_job {
  lattice gradient, input, grid;
  void *out, *out_grid; /* gradients of both, contiguous; one of them may be null */
  long long *sums;      /* of a launch: [image][channel][pixel], zeros before and after */
  float *parts;      /* the same of the grid: [1 + group][image][sample][axis]; group 0: so far */
  unsigned *largest; /* bits of the largest finite |gradient|; whether something is not finite */
  int size[3], samples[3];                          /* of the input and of the gradient: x, y, z */
  int images, channels, first_image, first_channel; /* of a launch */
  int step;                                         /* lines of samples that a warp walks down */
  int padding;
  bool aligned;       /* align_corners */
  bool counts_others; /* sums count what is not finite, and only that */
};

/* Channels of a group, which is a part of the grid's gradient: eight places leave no registers. */
constexpr int grid_width(int axes, int taps) { return axes == 3 && taps == 2 ? 2 : 4; }

#endif
