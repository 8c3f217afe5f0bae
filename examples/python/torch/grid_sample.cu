/* grid_sample.cu - a call of the kernels of grid_sample.cuh, by chunks of images and channels.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "adders.h"
#include "floats.cuh"
#include "grid_sample.cuh"

namespace {

enum { MOST_LINES = 16, WARPS_WANTED = 48 /* of a multiprocessor */ };

/* Lines that a warp walks down: many, but not so many that the GPU is left empty. */
int lines_of(long long warps_of_a_line, int lines, device d) {
  const long long most = warps_of_a_line * lines / ((long long)WARPS_WANTED * d.multiprocessors);
  return (int)std::max(1ll, std::min((long long)MOST_LINES, most));
}

template <class T, int AXES, int TAPS, int WIDTH>
cudaError_t run(grid_job j, device d, long long planes) {
  const long long samples = grid_samples(j), pixels = grid_pixels(j);
  const int images = j.images, channels = j.channels, across = (j.samples[0] + 31) / 32;
  const int lines = j.samples[1] * j.samples[2];
  const int images_once = (int)std::max(1ll, std::min(planes / channels, 65535ll));
  const int channels_once = (int)std::min((long long)channels, planes);
  T *const out = (T *)j.out, *const out_grid = (T *)j.out_grid;
  const auto blocks_for = [&](long long count) {
    return (unsigned)std::max(1ll,
                              std::min((count + THREADS - 1) / THREADS, 16ll * d.multiprocessors));
  };
  for (int n = 0; n < images; n += images_once)
    for (int c = 0; c < channels; c += channels_once) {
      j.first_image = n, j.images = std::min(images_once, images - n);
      j.first_channel = c, j.channels = std::min(channels_once, channels - c);
      if (out != nullptr) j.out = out + ((long long)n * channels + c) * pixels;
      if (out_grid != nullptr) j.out_grid = out_grid + n * samples * AXES;
      const int groups = (j.channels + WIDTH - 1) / WIDTH;
      j.step = lines_of((long long)across * groups * j.images, lines, d);
      const long long warps = (long long)across * ((lines + j.step - 1) / j.step);
      const dim3 blocks((unsigned)((warps * 32 + THREADS - 1) / THREADS), groups, j.images);
      for (int others = 0; others < (out != nullptr ? 2 : 1); ++others) {
        j.counts_others = others;
        sample<T, AXES, TAPS, WIDTH><<<blocks, THREADS, 0, d.stream>>>(j);
        if (out != nullptr)
          finish_input<T><<<blocks_for(j.images * j.channels * pixels), THREADS, 0, d.stream>>>(j);
      }
      if (out_grid != nullptr)
        finish_grid<T><<<blocks_for(j.images * samples * AXES), THREADS, 0, d.stream>>>(
            j, AXES, groups, c + j.channels == channels);
    }
  return cudaGetLastError();
}

template <class T>
cudaError_t run_any(grid_job j, device d, int axes, int taps, long long planes) {
#define RUN(axes, taps) run<T, axes, taps, grid_width(axes, taps)>(j, d, planes)
  if (axes == 3) return taps == 1 ? RUN(3, 1) : RUN(3, 2);
  return taps == 1 ? RUN(2, 1) : taps == 2 ? RUN(2, 2) : RUN(2, 4);
#undef RUN
}

}  // namespace

#define SAMPLER(name, T)                                                         \
  cudaError_t name(grid_job j, device d, int axes, int taps, long long planes) { \
    return run_any<T>(j, d, axes, taps, planes);                                 \
  }
SAMPLER(sample_f32, float)
SAMPLER(sample_f16, __half)
SAMPLER(sample_bf16, __nv_bfloat16)
