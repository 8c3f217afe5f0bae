/* peer_scope_kernels.cuh - the kernels of peer_scope.h for the ARC_SCOPE of whoever includes this.
   SPDX-License-Identifier: Apache-2.0 */
#include "peer_scope.h"

#include "arc.cuh"

static __device__ __forceinline__ unsigned drawn_row(unsigned run, int update, peer_work work) {
  unsigned x = run * 0x9e3779b9u + (unsigned)update * 0x85ebca6bu + work.seed;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return (unsigned)((unsigned long long)(x ^ x >> 16) * (unsigned)work.row_count >> 32);
}

template <int width, int stride, int path>
static __global__ void add_to_rows(peer_work work) {
  const unsigned run = (blockIdx.x * blockDim.x + threadIdx.x) / 8u;
  const arc_target_f32 target = arc_target_f32_rows(work.rows, stride, width);
  arc_options options = arc_options_default();
  float values[width];
  options.path = path;
  for (int i = 0; i < width; ++i) values[i] = work.one * (float)(i % 3 + 1);
  for (int u = 0; u < work.updates; ++u)
    arc_add_with_f32(target, (int)drawn_row(run, u, work), values, true, options);
}

template <int width, int stride>
static void launch_width(const peer_work *work, cudaStream_t stream) {
  if (work->is_auto)
    add_to_rows<width, stride, ARC_PATH_AUTO><<<PEER_BLOCKS, PEER_THREADS, 0, stream>>>(*work);
  else
    add_to_rows<width, stride, ARC_PATH_ATOMIC><<<PEER_BLOCKS, PEER_THREADS, 0, stream>>>(*work);
}

static void launch_any(const peer_work *work, cudaStream_t stream) {
  if (work->width == 1) launch_width<1, 1>(work, stream);
  if (work->width == 4) launch_width<4, 4>(work, stream);
  if (work->width == 9) launch_width<9, 12>(work, stream);
  if (work->width == 16) launch_width<16, 16>(work, stream);
}
