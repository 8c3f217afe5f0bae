/* grid_sample.h - what the kernels of grid_sample.cuh take. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_GRID_SAMPLE_H
#define ARC_GRID_SAMPLE_H

#include <algorithm>

/* A tensor [image][channel][z][y][x], strides in values; of the grid, channel is the axis. */
struct lattice {
  const void *at;
  long long image, channel, z, y, x;
};

enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION }; /* as PyTorch counts them */

struct grid_job {
  lattice gradient, input, grid;
  void *out, *out_grid; /* gradients of both, contiguous; one of them may be null */
  long long *sums;      /* of a launch: [plane][pixel][width] */
  unsigned *largest;    /* bits of the largest finite |gradient|; whether something is not finite */
  int size[3], samples[3]; /* of the input and of the gradient: x, y, z */
  int images, channels, padding;
  bool aligned;    /* align_corners */
  long long words; /* of sums, that slope_samples clears */
  bool clears;     /* whether a launch leaves zeros for the next */
  /* The input's gradient is summed by planes: `width` channels of an image. */
  bool by_sample;     /* a thread takes all channels of a sample; width is 1 */
  int width;          /* lanes of a sample: 1, 2, 4, 8 or 16 */
  int planes, pixels; /* of a launch, at most */
  int first_plane, first_pixel;
  int first_image, first_channel; /* of first_plane, if by sample */
  int tile, step;  /* samples that a warp reads at once; how many tiles down it walks */
  bool walks_down; /* its lanes side by side have samples side by side; else one behind the other */
};

enum { TILE = 64 /* most samples of a tile, which lies in shared memory */, FEW_CHANNELS = 4 };

/* How the input's gradient is summed in `bytes`, or in 8 per pixel. Returns words of sums. */
inline long long plan_sums(grid_job *j, int taps, long long bytes) {
  const long long pixels = (long long)j->size[0] * j->size[1] * j->size[2];
  j->by_sample = taps <= 2 && j->channels <= FEW_CHANNELS;
  if (j->by_sample) {
    const long long all = std::min(j->images, 65535) * (long long)j->channels;
    long long planes = std::min(std::max(bytes / 8 / pixels, 1ll), all);
    if (planes > j->channels) planes -= planes % j->channels;
    j->width = 1, j->pixels = (int)pixels, j->planes = (int)planes;
    return planes * pixels;
  }
  const auto wastes = [&](int width) {
    return (width - j->channels % width) % width >= std::max(1, width / 2);
  };
  int width = 16;
  while (width > 1 && wastes(width)) width /= 2;
  while (width > 4 && 8 * width * pixels > bytes) width /= 2;
  const long long most = std::max(bytes / 8, pixels) / width; /* pixels */
  const long long planes = (j->channels + width - 1) / width * (long long)j->images;
  j->width = width;
  j->pixels = (int)std::min(most, pixels);
  j->planes = (int)std::min(std::max(most / pixels, 1ll), std::min(planes, 65535ll));
  j->tile = std::min(+TILE, 512 / width);
  while (j->tile > 32 && j->tile / 2 >= j->samples[0]) j->tile /= 2;
  j->walks_down = width <= 4 && j->samples[1] * j->samples[2] >= j->tile * width / 32;
  return (long long)j->planes * j->pixels * width;
}

/* A launch by samples, from first_plane on: whole images, or channels of one; at most `most`. */
inline void plan_launch(grid_job *j, int most) {
  const int all = j->images * j->channels;
  j->first_image = j->first_plane / j->channels, j->first_channel = j->first_plane % j->channels;
  const int left = most < j->channels ? j->channels - j->first_channel : all - j->first_plane;
  j->planes = std::min(most, left);
  j->clears = j->first_plane + j->planes < all;
}

#endif
