/* each_call.cu - a kernel for each call of arc, for clang (clang_cuda.sh), which takes minutes for
   many in one, and NVRTC (nvrtc.py). KEY is the type of keys. DYNAMIC: the call of a width known at
   run time alone; ONE: the keyed add alone.
   SPDX-License-Identifier: Apache-2.0 */
#include "arc/wide.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"
#include "arc/overloads.cuh"
#define KERNEL(name, S, T, M, TARGET, ...)                                                   \
  extern "C" __global__ void name(M *sums, T *const *pointers, const T *from, unsigned mask, \
                                  const KEY *keys) {                                         \
    const T values[3] = {from[threadIdx.x], from[threadIdx.x + 32], from[threadIdx.x + 64]}; \
    const KEY key = keys[threadIdx.x];                                                       \
    const bool active = values[0] > 0;                                                       \
    const arc_target_##S t = TARGET;                                                         \
    arc_options o = arc_options_default();                                                   \
    (void)pointers, (void)mask, (void)key, (void)active, (void)t, (void)o;                   \
    __VA_ARGS__;                                                                             \
  }
#define F32(name, ...) \
  KERNEL(name, f32, float, float, arc_target_f32_rows(sums, 4, 3), __VA_ARGS__)
#ifdef DYNAMIC
F32(dynamic, arc_add(arc_target_dynamic(sums, 4, (int)mask), key, from, active))
#else
F32(keyed, arc_add_f32(t, key, values, active))
#endif
#if !defined(ONE) && !defined(DYNAMIC)
F32(uniform, arc_add_uniform_f32(t, 7, values, active))
F32(masked, arc_add_masked_f32(t, key, values, active, mask))
F32(divergent, if (active) arc_add_divergent_f32(t, key, values))
#ifndef __OPTIMIZE__ /* of clang, which takes a minute for all of these; the others call the same */
F32(wide_keys, o.key_bits = 64; arc_add_with_f32(t, key * 0x100000000ll, values, active, o))
#define PATH(P) F32(P, o.path = ARC_PATH_##P; arc_add_with_f32(t, key, values, active, o))
PATH(ATOMIC) PATH(SERIALIZED) PATH(BUTTERFLY) PATH(TRANSPOSED) PATH(TREE)
F32(pointers_masked, arc_add_pointers_masked_f32(pointers, 3, key, values, active, mask))
F32(pointers_divergent, if (active) arc_add_pointers_divergent_f32(pointers, 3, key, values))
#endif
F32(pointers_keyed, arc_add_pointers_f32(pointers, 3, key, values, active))
F32(sums_in_halves, arc_sum_f32 sum = arc_sum_begin_f32(t, key, values, active);
    while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum))
#define ROWS(name, from_memory) \
  F32(name, arc_index_add_f32 rows = from_memory(t, from, 3); \
      arc_index_add_rows_f32(&rows, key, threadIdx.x, active); arc_index_add_end_f32(&rows))
ROWS(rows, arc_index_add_begin_f32) ROWS(rows_f16, arc_index_add_begin_f32_from_f16)
F32(hot, __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 2, 3, 128) / sizeof(float)];
    arc_hot_f32 hot = arc_hot_begin_f32(t, shared, 0, 2);
    arc_hot_add_f32(&hot, key, values, active); arc_hot_end_f32(&hot))
F32(atomred, arc_atomred_f32(sums, values[0]); arc_atomic_add_f32(sums, values[1]))
#define ADD(name, S, T, M, ...) \
  KERNEL(name, S, T, M, (__VA_ARGS__), arc_add(t, key, values, active))
#define ROWS_OF(S, T) ADD(S, S, T, T, arc_target_rows(sums, 4, 3))
#ifndef __OPTIMIZE__
ROWS_OF(i32, int) ROWS_OF(u32, unsigned) ROWS_OF(i64, long long)
ADD(f32_to_f64, f32_to_f64, float, double, arc_target_f32_to_f64_rows(sums, 4, 3))
ADD(bf16, bf16, float, void, arc_target_bf16_rows(sums, 4, 3))
#endif
ROWS_OF(f64, double)
ADD(f16, f16, float, void, arc_target_f16_rows(sums, 4, 3))
ADD(fixed, fixed, float, long long, arc_target_fixed_rows(sums, 4, 3, 20))
ADD(wide, wide, float, long long, arc_target_wide_rows(sums, ARC_WIDE_ROW(3), 3))
extern "C" __global__ void read_wide(long long *row, float *sums) {
  sums[threadIdx.x] = arc_wide_take_f32(row, 3, (int)threadIdx.x);
  arc_wide_normalise(row, 3, (int)threadIdx.x);
}
#if __cplusplus >= 201103L /* CUDA 11's NVRTC is asked for it */
#include "arc/drop_in.cuh"
F32(drop_in, atomicAdd(&sums[key], values[0]); if (active) sums[0] = atomicAdd(sums, values[1]))
#endif
#endif
