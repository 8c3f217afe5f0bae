/* launch.cuh - kernels of add_rows.cuh, and how many blocks they get.
   SPDX-License-Identifier: Apache-2.0

   Each type is a file of its own, so that ninja compiles them side by side; none includes PyTorch,
   whose headers take longer than the kernels. */
#include <algorithm>
#include <climits>
#include <type_traits>

#include "add_rows.cuh"

namespace {

/* Of rows that are a multiple of WIDTH wide, each blockIdx.y takes its panel of WIDTH columns. */
template <class T, class K, int WIDTH, bool FIXED>
__global__ void __launch_bounds__(THREADS, WIDTH ? 1 : 3) add(job j) {
  const long long first = (long long)blockIdx.y * WIDTH;
  j.values = (const char *)j.values + first * j.value_bytes;
  if constexpr (FIXED)
    j.sums += first;
  else
    j.out = (char *)j.out + first * j.value_bytes;
  add_rows<T, K, WIDTH, FIXED>(j);
}

/* As many blocks as run at once, or fewer: what a block sets up pays for many rows. */
unsigned resident_blocks(void (*kernel)(job), long long wanted, device d) {
  int blocks = 1;
  if (wanted > d.multiprocessors)
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0);
  return (unsigned)std::max(1ll, std::min(wanted, (long long)blocks * d.multiprocessors));
}

cudaError_t launch(void (*kernel)(job), job j, int panels, device d) {
  const long long chunks = (j.n + 31) / 32, warps = THREADS / 32;
  long long wanted = (chunks + warps - 1) / warps * panels;
  long long blocks = std::max(1ll, resident_blocks(kernel, wanted, d) / (long long)panels);
  j.chunks = (chunks + blocks * warps - 1) / (blocks * warps);
  blocks = (chunks + j.chunks * warps - 1) / (j.chunks * warps);
  kernel<<<dim3((unsigned)blocks, (unsigned)panels), THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

/* Widths that are compiled as such, into fixed point only those of float. Wider rows are panels of
   the widest that divides them, of at least 32 columns; others are known at run time only. */
#define EACH_WIDTH(X)                                                                           \
  X(128)                                                                                        \
  X(96) X(64) X(48) X(32) X(24) X(20) X(16) X(12) X(10) X(9) X(8) X(7) X(6) X(5) X(4) X(3) X(2) \
      X(1)
enum { LEAST_PANEL = 32, MOST_PANELS = 65535 };

template <class T, bool FIXED>
cudaError_t launch_add(const job &j, device d) {
  if constexpr (!FIXED || std::is_same_v<T, float>) {
    if (j.rows <= INT_MAX && j.width / LEAST_PANEL <= MOST_PANELS) {
#define WIDTH(w)                                              \
  if (j.width == w || (w >= LEAST_PANEL && j.width % w == 0)) \
    return launch(add<T, int, w, FIXED>, j, j.width / w, d);
      EACH_WIDTH(WIDTH)
#undef WIDTH
    }
  }
  return launch(j.rows <= INT_MAX ? add<T, int, 0, FIXED> : add<T, long long, 0, FIXED>, j, 1, d);
}

}  // namespace
