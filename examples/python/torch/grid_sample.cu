/* grid_sample.cu - a call of the kernels of grid_sample.cuh, by chunks of images and channels.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "adders.h"
#include "floats.cuh"
#include "grid_sample.cuh"

namespace {

enum { MOST_TILES = 16, WARPS_WANTED = 48 /* of a multiprocessor */ };

long long parts_of(long long count, long long part) { return (count + part - 1) / part; }

template <class T, int AXES, int TAPS>
void add_by_samples(grid_job j, device d) {
  const int all = j.images * j.channels, most = j.planes;
  for (; j.first_plane < all; j.first_plane += j.planes) {
    plan_launch(&j, most);
    const dim3 blocks((unsigned)parts_of(grid_samples(j), sample_adder<AXES, TAPS>::OF_BLOCK),
                      (unsigned)parts_of(j.planes, j.channels));
    add_by_sample<T, AXES, TAPS><<<blocks, THREADS, 0, d.stream>>>(j);
    const long long parts = parts_of((long long)j.planes * j.pixels, FINISHED);
    finish_planes<T><<<(unsigned)parts, THREADS, 0, d.stream>>>(j);
  }
}

template <class T, int AXES, int TAPS>
void add_by_walks(grid_job j, device d) {
  const int length = j.tile * j.width / 32, planes = j.images * (int)parts_of(j.channels, j.width);
  const int most_planes = j.planes, most_pixels = j.pixels;
  const long long across = parts_of(j.samples[0], j.walks_down ? 32 / j.width : j.tile);
  const long long down =
      parts_of((long long)j.samples[1] * j.samples[2], j.walks_down ? length : 1);
  const long long wanted = (long long)WARPS_WANTED * d.multiprocessors;
  for (j.first_plane = 0; j.first_plane < planes; j.first_plane += most_planes) {
    j.planes = std::min(most_planes, planes - j.first_plane);
    if (j.step == 0)
      j.step = (int)std::clamp(across * down * j.planes / wanted, 1ll, (long long)MOST_TILES);
    const long long warps = across * parts_of(down, j.step);
    for (long long first = 0; first < grid_pixels(j); first += most_pixels) {
      j.first_pixel = (int)first;
      j.pixels = (int)std::min((long long)most_pixels, grid_pixels(j) - first);
      j.clears = j.first_plane + j.planes < planes || first + j.pixels < grid_pixels(j);
      const dim3 blocks((unsigned)parts_of(warps, WALKERS), j.planes);
      add_samples<T, AXES, TAPS><<<blocks, 32 * WALKERS, 0, d.stream>>>(j);
      const dim3 tiles((unsigned)parts_of(j.pixels, WALKERS * SUMS / j.width), j.planes);
      finish_input<T><<<tiles, 32 * WALKERS, 0, d.stream>>>(j);
    }
  }
}

template <class T, int AXES, int TAPS>
cudaError_t run(grid_job j, device d) {
  const unsigned by_sample = (unsigned)(parts_of(grid_samples(j), THREADS) * j.images);
  if constexpr (TAPS > 1)
    if (j.out_grid != nullptr && !j.by_sample)
      slope_samples<T, AXES, TAPS><<<by_sample, THREADS, 0, d.stream>>>(j);
  if (j.out == nullptr) return cudaGetLastError();
  if constexpr (TAPS < 4)
    if (j.by_sample) add_by_samples<T, AXES, TAPS>(j, d);
  if (!j.by_sample) add_by_walks<T, AXES, TAPS>(j, d);
  add_others<T, AXES, TAPS>
      <<<std::min(by_sample, 4u * d.multiprocessors), THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

template <class T>
cudaError_t run_any(grid_job j, device d, int axes, int taps) {
  if (axes == 3) return taps == 1 ? run<T, 3, 1>(j, d) : run<T, 3, 2>(j, d);
  return taps == 1 ? run<T, 2, 1>(j, d) : taps == 2 ? run<T, 2, 2>(j, d) : run<T, 2, 4>(j, d);
}

}  // namespace

#define SAMPLER(name, T)                                       \
  cudaError_t name(grid_job j, device d, int axes, int taps) { \
    return run_any<T>(j, d, axes, taps);                       \
  }
SAMPLER(sample_f32, float)
SAMPLER(sample_f16, __half)
SAMPLER(sample_bf16, __nv_bfloat16)
