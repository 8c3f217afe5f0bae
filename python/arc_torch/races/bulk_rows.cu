/* bulk_rows.cu - index_add by bulk loads and bulk reductions, which bench_index_add.py measures.
   SPDX-License-Identifier: Apache-2.0

   The design is PyTorch's newer one (pytorch/pytorch #182675, #183950 in CuTe, #183479 several
   rows per warp), the code is ours. A warp takes consecutive rows of values, STEP at a time: one
   bulk copy loads them into a stage of the warp's ring in shared memory, one bulk reduction per row
   adds them to out. Nothing looks whether keys are equal. sm_90 and newer; rows of whole 16 bytes,
   at most 16 KB a step, without gaps.

   Lane 0 loads, lane r reduces row r of the step. Stages are touched by bulk operations alone, that
   is by the asynchronous proxy, so that only the barriers need a proxy fence. A stage is loaded
   again when its reductions have been read, LAG steps later. */
#include <cuda_runtime_api.h>
#include <algorithm>

struct bulk_job {
  const char *values;
  const long long *index;
  char *out;
  long long n, rows; /* of values; of out */
  int row_bytes, stages;
};

namespace {

/* Shared memory: at least LAG + 1 stages per warp of up to 16 KB, WARPS rings a block: 192 KB of
   the 227 that a block may have. With steps of less than 2.7 KB a ring has RING_BYTES, and 28 warps
   run on a multiprocessor. */
enum { WARPS = 4, LAG = 2, MAX_STAGES = 16, RING_BYTES = 8192, MAX_STEP_BYTES = 16384 };

struct f32;
struct bf16;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void init_barrier(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/* The barrier's phase ends when all bytes are there. */
__device__ void load(unsigned stage, const char *from, int bytes, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(stage),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ void wait_for_load(unsigned barrier, int parity) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}

__device__ void reduce(f32 *, char *to, unsigned row, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(row), "r"(bytes)
               : "memory");
}

__device__ void reduce(bf16 *, char *to, unsigned row, int bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(
          __cvta_generic_to_global(to)),
      "r"(row), "r"(bytes)
      : "memory");
}

__device__ void commit_reductions() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* Until this lane's reductions, but for those of the last `steps` steps, have left their stages. */
template <int steps>
__device__ void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(steps) : "memory");
}

/* Consecutive rows of a warp, and the ring that they pass through. */
template <int STEP>
struct warp_rows {
  const bulk_job &j;
  long long first;
  int count;
  unsigned ring, barriers;

  __device__ unsigned stage(int s) const { return ring + s * STEP * j.row_bytes; }
  __device__ unsigned barrier(int s) const { return barriers + s * 8; }
  __device__ void load_step(int row, int s) const {
    if (row >= count) return;
    load(stage(s), j.values + (first + row) * j.row_bytes, min(STEP, count - row) * j.row_bytes,
         barrier(s));
  }
  __device__ long long key_of(int row) const { return row < count ? j.index[first + row] : 0; }
};

template <int STEP>
__device__ warp_rows<STEP> rows_of_warp(const bulk_job &j, char *rings,
                                        unsigned long long (*barriers)[MAX_STAGES]) {
  const long long warps = (long long)gridDim.x * WARPS, steps = (j.n + STEP - 1) / STEP;
  const int warp = threadIdx.x / 32;
  const long long most = (steps + warps - 1) / warps * STEP;
  const long long first = (blockIdx.x * (long long)WARPS + warp) * most;
  return {j, first, (int)max(0ll, min(most, j.n - first)),
          shared_address(rings) + warp * j.stages * STEP * j.row_bytes,
          shared_address(barriers[warp])};
}

template <class T, int STEP>
__device__ void add_step(const warp_rows<STEP> &w, int row, long long key, int stage) {
  const int lane = threadIdx.x % 32;
  if (lane < STEP && row + lane < w.count) {
    if ((unsigned long long)key >= (unsigned long long)w.j.rows) __trap();
    reduce((T *)nullptr, w.j.out + key * w.j.row_bytes, w.stage(stage) + lane * w.j.row_bytes,
           w.j.row_bytes);
  }
  commit_reductions(); /* by all lanes, so that all count the same steps */
}

template <class T, int STEP>
__global__ void __launch_bounds__(WARPS * 32) add(bulk_job j) {
  static_assert(32 % STEP == 0, "a step's keys are among 32 that were loaded together");
  extern __shared__ __align__(16) char rings[];
  __shared__ unsigned long long barriers[WARPS][MAX_STAGES];
  const warp_rows<STEP> w = rows_of_warp<STEP>(j, rings, barriers);
  const int lane = threadIdx.x % 32;
  if (lane < j.stages) init_barrier(w.barrier(lane));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (lane == 0)
    for (int s = 0; s < j.stages; ++s) w.load_step(s * STEP, s);

  long long keys = 0, next = w.key_of(lane);
  int stage = 0, parity = 0;
  for (int row = 0; row < w.count; row += STEP) {
    if (row % 32 == 0) {
      keys = next;
      next = w.key_of(row + 32 + lane);
    }
    const long long key = __shfl_sync(~0u, keys, row % 32 + lane);
    wait_for_load(w.barrier(stage), parity);
    add_step<T>(w, row, key, stage);
    if (row >= LAG * STEP) {
      wait_until_read<LAG>();
      __syncwarp();
      const int free = stage >= LAG ? stage - LAG : stage - LAG + j.stages;
      if (lane == 0) w.load_step(row + (j.stages - LAG) * STEP, free);
    }
    if (++stage == j.stages) stage = 0, parity ^= 1;
  }
  wait_until_read<0>();
}

int multiprocessors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

/* As many blocks as run at once, or fewer. */
template <class T, int STEP>
cudaError_t launch(bulk_job j, cudaStream_t stream) {
  const int step_bytes = STEP * j.row_bytes;
  if (step_bytes > MAX_STEP_BYTES || j.row_bytes % 16) return cudaErrorInvalidValue;
  j.stages = std::max<int>(LAG + 1, std::min<int>(MAX_STAGES, RING_BYTES / step_bytes));
  const int bytes = WARPS * j.stages * step_bytes;
  cudaError_t error =
      cudaFuncSetAttribute(add<T, STEP>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  int resident = 1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, add<T, STEP>, WARPS * 32, bytes);
  const long long wanted = (j.n + STEP * WARPS - 1) / (STEP * WARPS);
  const long long blocks = std::min(wanted, (long long)resident * multiprocessors());
  add<T, STEP><<<(unsigned)blocks, WARPS * 32, bytes, stream>>>(j);
  return cudaGetLastError();
}

}  // namespace

/* For bulk_rows.py; `stages` is set here. n > 0. */
extern "C" int bulk_rows(const bulk_job *j, int is_bf16, int step, cudaStream_t stream) {
#define STEP(rows) \
  if (step == rows) return is_bf16 ? launch<bf16, rows>(*j, stream) : launch<f32, rows>(*j, stream);
  STEP(1)
  STEP(4)
  STEP(16)
#undef STEP
  return cudaErrorInvalidValue;
}
