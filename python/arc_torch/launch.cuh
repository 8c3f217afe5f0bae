/* launch.cuh - kernels of add_rows.cuh, and how many blocks they get.
   SPDX-License-Identifier: Apache-2.0

   Each type is a file of its own, so that ninja compiles them side by side; none includes PyTorch,
   whose headers take longer than the kernels. */
#include <algorithm>
#include <climits>
#include <type_traits>

#include "add_runs.cuh"
#include "adders.h"

namespace {

/* Of one multiprocessor, at least. Of one column as many as it holds: each warp waits for atomics. */
constexpr int blocks_of(int width) { return width == 1 ? 8 : width ? 1 : 3; }

/* Each blockIdx.y takes a panel of the columns: WIDTH, or j.columns and what is left of them. */
template <class T, class K, int WIDTH, bool FIXED>
__global__ void __launch_bounds__(THREADS, blocks_of(WIDTH)) add(job j) {
  const int first = blockIdx.y * j.columns;
  j.columns = min(j.columns, j.width - first);
  j.values = (const char *)j.values + (long long)first * j.value_bytes;
  if constexpr (FIXED)
    j.sums += first;
  else
    j.out = (char *)j.out + (long long)first * j.value_bytes;
  add_rows<T, K, WIDTH, FIXED, runs_of<T, K, WIDTH, FIXED>>(j);
}

/* As many blocks as run at once, or fewer: a block sets up once for many rows. */
unsigned resident_blocks(void (*kernel)(job), long long wanted, device d) {
  int blocks = 1;
  if (wanted > d.multiprocessors)
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0);
  return (unsigned)std::max(1ll, std::min(wanted, (long long)blocks * d.multiprocessors));
}

long long chunks_of(const job &j) { return (j.n + 31) / 32; }
int panels_of(const job &j) { return (j.width + j.columns - 1) / j.columns; }

cudaError_t launch(void (*kernel)(job), job j, device d) {
  const long long chunks = chunks_of(j), warps = THREADS / 32, panels = panels_of(j);
  long long blocks = resident_blocks(kernel, (chunks + warps - 1) / warps * panels, d) / panels;
  blocks = std::max(1ll, blocks);
  j.chunks = (chunks + blocks * warps - 1) / (blocks * warps);
  blocks = (chunks + j.chunks * warps - 1) / (j.chunks * warps);
  kernel<<<dim3((unsigned)blocks, (unsigned)panels), THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

/* Widths that are compiled as such, into fixed point only those of float. */
// clang-format off
#define EACH_WIDTH(X)                                                                             \
  X(128) X(100) X(96) X(64) X(48) X(32) X(24) X(20) X(16) X(12) X(10) X(9) X(8) X(7) X(6) X(5)    \
  X(4) X(3) X(2) X(1)
// clang-format on
enum { PANEL_COLUMNS = 32, PANEL_BYTES = 32, WARPS = 18, MOST_PANELS = 65535 };

/* Rows are cut into panels of the widest that is compiled and divides them, from PANEL_COLUMNS on;
   where they are so few that there would not be WARPS a multiprocessor, into narrower ones, from
   PANEL_BYTES on. Where none divides them, any width will do. */
template <class T, bool FIXED>
cudaError_t launch_add(job j, device d) {
  const auto has_warps = [&] {
    return chunks_of(j) * panels_of(j) >= (long long)WARPS * d.multiprocessors;
  };
  void (*kernel)(job) = j.rows <= INT_MAX ? add<T, int, 0, FIXED> : add<T, long long, 0, FIXED>;
  const bool may_cut = j.width <= MOST_PANELS;
  bool is_compiled = false;
  j.columns = j.width;
  if constexpr (!FIXED || std::is_same_v<T, float>) {
    const auto suits = [&](int width) {
      if (j.rows > INT_MAX || !may_cut || j.width % width != 0) return false;
      if (is_compiled || width < PANEL_COLUMNS) /* only to have more of them */
        return j.width == width || (width * j.value_bytes >= PANEL_BYTES && !has_warps());
      return true;
    };
#define WIDTH(w) \
  if (suits(w)) kernel = add<T, int, w, FIXED>, j.columns = w, is_compiled = true;
    EACH_WIDTH(WIDTH)
#undef WIDTH
  }
  if (!is_compiled && may_cut && !has_warps()) j.columns = std::min(j.width, +PANEL_COLUMNS);
  return launch(kernel, j, d);
}

}  // namespace
