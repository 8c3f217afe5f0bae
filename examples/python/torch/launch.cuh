/* launch.cuh - kernels of add_rows.cuh, and how many blocks they get.
   SPDX-License-Identifier: Apache-2.0

   Each type is a file of its own, so that ninja compiles them side by side; none includes PyTorch,
   whose headers take longer than the kernels. */
#include <algorithm>
#include <climits>
#include <type_traits>

#include "add_rows.cuh"

namespace {

template <class T, class K, int WIDTH, bool FIXED>
__global__ void __launch_bounds__(THREADS, WIDTH ? 1 : 3) add(job j) {
  add_rows<T, K, WIDTH, FIXED>(j);
}

/* As many blocks as run at once, or fewer: what a block sets up pays for many rows. */
unsigned resident_blocks(void (*kernel)(job), long long wanted, device d) {
  int blocks = 1;
  if (wanted > d.multiprocessors)
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0);
  return (unsigned)std::max(1ll, std::min(wanted, (long long)blocks * d.multiprocessors));
}

cudaError_t launch(void (*kernel)(job), job j, device d) {
  const long long chunks = (j.n + 31) / 32, warps = THREADS / 32;
  long long blocks = resident_blocks(kernel, (chunks + warps - 1) / warps, d);
  j.chunks = (chunks + blocks * warps - 1) / (blocks * warps);
  blocks = (chunks + j.chunks * warps - 1) / (j.chunks * warps);
  kernel<<<(unsigned)blocks, THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

/* Widths that are compiled as such, into fixed point only those of float; others are known at run
   time only. */
#define EACH_WIDTH(X) X(1) X(2) X(3) X(4) X(8) X(9) X(16) X(32) X(64) X(128)

template <class T, bool FIXED>
cudaError_t launch_add(const job &j, device d) {
  if constexpr (!FIXED || std::is_same_v<T, float>) {
#define WIDTH(w) \
  if (j.width == w && j.rows <= INT_MAX) return launch(add<T, int, w, FIXED>, j, d);
    EACH_WIDTH(WIDTH)
#undef WIDTH
  }
  return launch(j.rows <= INT_MAX ? add<T, int, 0, FIXED> : add<T, long long, 0, FIXED>, j, d);
}

}  // namespace
