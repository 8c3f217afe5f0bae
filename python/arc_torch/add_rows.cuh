/* add_rows.cuh - index_add along the first dimension, by arc's form for rows in memory.
   SPDX-License-Identifier: Apache-2.0

   Nothing here is PyTorch's: cupy_index_add.py compiles the same by NVRTC. */
#define ARC_KEY_BITS 64
#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/overloads.cuh"
#include "job.cuh"

struct __half; /* here only their pointers are in use */
struct __nv_bfloat16;

namespace {

/* The target of out and the rows of values, by the type of both; and these values into fixed point.
   Halves are any pointers to arc, so that they have names of their own. */
#define HALVES(T, S)                                                                              \
  __device__ __forceinline__ arc_target_##S target_of(const job &j, T *, int width) {             \
    return arc_target_##S##_rows(j.out, j.out_stride, width);                                     \
  }                                                                                               \
  __device__ __forceinline__ arc_index_add_##S rows_of(const job &j, T *, arc_target_##S t) {     \
    return arc_index_add_begin_##S##_from_##S(t, j.values, j.values_stride);                      \
  }                                                                                               \
  __device__ __forceinline__ arc_index_add_fixed rows_of(const job &j, T *, arc_target_fixed t) { \
    return arc_index_add_begin_fixed_from_##S(t, j.values, j.values_stride);                      \
  }
HALVES(__half, f16)
HALVES(__nv_bfloat16, bf16)
#undef HALVES

template <class T>
__device__ __forceinline__ auto target_of(const job &j, T *, int width) {
  return arc_target_rows((T *)j.out, j.out_stride, width);
}

template <class T, class Target>
__device__ __forceinline__ auto rows_of(const job &j, T *, Target target) {
  return arc_index_add_begin(target, (const T *)j.values, j.values_stride);
}

/* In place of add_runs.cuh. */
struct no_runs {
  enum { ROWS = 1 };
  __device__ __forceinline__ no_runs(const job &) {}
  __device__ __forceinline__ bool take(const job &, long long) { return false; }
  __device__ __forceinline__ void end() {}
};

/* A warp takes consecutive rows, as long as they come in runs by Runs; then the next keys are on
   their way while it adds. K: of keys, int where the rows of out can be counted so. */
template <class K, class Runs = no_runs, class Rows>
__device__ __forceinline__ void add_rows_by(Rows rows, const job &j) {
  long long warp = (blockIdx.x * (long long)blockDim.x + threadIdx.x) >> 5;
  long long first = warp * j.chunks * 32;
  int lane = threadIdx.x & 31, count = (int)min(j.chunks * 32, max(j.n - first, 0ll));
  Runs runs(j);
  for (; count >= Runs::ROWS && runs.take(j, first); count -= Runs::ROWS) first += Runs::ROWS;
  runs.end();
  arc_options o = arc_options_default();
  o.key_bits = 8 * (int)sizeof(K);
  long long next = lane < count ? key_of(j, first + lane) : 0;
  for (int at = lane; at - lane < count; at += 32) {
    long long key = next;
    if (at + 32 < count) next = key_of(j, first + at + 32);
    const bool adds = has_row(j, &key) && at < count;
    arc_index_add_rows_with(&rows, (K)key, first + at, adds, o);
  }
  arc_index_add_end(&rows);
}

/* FIXED: into sums in fixed point, the same bits in every run. */
template <class T, class K, int WIDTH, bool FIXED, class Runs = no_runs>
__device__ __forceinline__ void add_rows(const job &j) {
  const int width = WIDTH ? WIDTH : j.columns;
  T *type = nullptr;
  if constexpr (FIXED)
    add_rows_by<K, Runs>(
        rows_of(j, type, arc_target_fixed_rows(j.sums, j.width, width, scale_log2(j.largest, j.n))),
        j);
  else
    add_rows_by<K, Runs>(rows_of(j, type, target_of(j, type, width)), j);
}

}  // namespace
