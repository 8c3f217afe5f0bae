/* machine_code.cuh - what the kernels of machine_code.py are written with.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_MAX_PIECES 4
#include "arc/wide.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"

/* FROM: value k of a thread, in the caller's memory. */
#define FROM(k) from[(k)*1024 + threadIdx.x]
#define KERNEL(name, path_, promises_, ...)                                                   \
  extern "C" __global__ void name(float *sums, int stride, int width, float *const *pointers, \
                                  const float *from, const int *keys, unsigned mask) {        \
    int key = keys[threadIdx.x];                                                              \
    bool active = key >= 0;                                                                   \
    arc_options o = arc_options_default();                                                    \
    o.path = path_;                                                                           \
    o.promises |= promises_;                                                                  \
    (void)width, (void)pointers, (void)mask, (void)active;                                    \
    __VA_ARGS__                                                                               \
  }
#define LITERAL(name, path, promises, n, ...)                                                    \
  KERNEL(name, path, promises, float values[n]; for (int k = 0; k < n; ++k) values[k] = FROM(k); \
         arc_target_f32 target = arc_target_f32_rows(sums, stride, n); (void)target; __VA_ARGS__)
typedef float f32;
typedef double f64;
typedef long long i64;
#define TO_f64(n) arc_target_f64_rows((f64 *)sums, stride, n)
#define TO_i64(n) arc_target_i64_rows((i64 *)sums, stride, n)
#define TO_f32(n) arc_target_f32_rows(sums, stride, n)
#define TO_f32_to_f64(n) arc_target_f32_to_f64_rows((f64 *)sums, stride, n)
#define TO_f16(n) arc_target_f16_rows(sums, stride, n)
#define TO_bf16(n) arc_target_bf16_rows(sums, stride, n)
#define TO_fixed(n) arc_target_fixed_rows((i64 *)sums, stride, n, 20)
#define TO_wide(n) arc_target_wide_rows((i64 *)sums, stride, n)
#define TYPED(name, path, promises, n, T, S, exact_)                                        \
  KERNEL(name, path, promises, T values[n];                                                 \
         for (int k = 0; k < n; ++k) values[k] = ((const T *)from)[k * 1024 + threadIdx.x]; \
         arc_target_##S target = TO_##S(n); o.exact = exact_;                               \
         arc_add_with_##S(target, key, values, active, o);)
#define ADD arc_add_with_f32(target, key, values, active, o);
#define MASKED        \
  o.lane_mask = mask; \
  ADD
#define THRESHOLD      \
  o.threshold = width; \
  ADD
#define POINTERS(n) \
  arc_add_pointers_with_f32(pointers + threadIdx.x * n, n, key, values, active, o);
#define IN_MEMORY                                                   \
  const float *values = from + threadIdx.x * (unsigned)width;       \
  arc_target_f32 target = arc_target_f32_rows(sums, stride, width); \
  ADD
/* Rows in memory, of type T or, with FROM_TYPE, of another one; S: suffix of the target. */
#define ROWS(n, T, FROM_TYPE, S)                                                     \
  const T *values = (const T *)(const void *)from;                                   \
  arc_index_add_##S rows = arc_index_add_begin_##S##FROM_TYPE(TO_##S(n), values, n); \
  for (int row = (int)threadIdx.x; row < stride; row += 32)                          \
    arc_index_add_rows_##S(&rows, keys[row], row, active);                           \
  arc_index_add_end_##S(&rows);
#define ROWS_DYNAMIC                                                     \
  arc_target_f32 target = arc_target_f32_dynamic(sums, stride, width);   \
  arc_index_add_f32 rows = arc_index_add_begin_f32(target, from, width); \
  arc_index_add_rows_f32(&rows, key, (int)threadIdx.x, active);          \
  arc_index_add_end_f32(&rows);
/* Sums that are halved, hot rows, four pieces and one that may be missing. */
#define SUMS(n)                                                             \
  arc_sum_f32 sum = arc_sum_begin_with_f32(target, key, values, active, o); \
  while (arc_sum_next_f32(&sum)) sum.value *= 0.5f, arc_sum_add_f32(&sum);
#define HOT(n)                                               \
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 4, n, 128) / sizeof(float)];          \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4); \
  arc_hot_add_with_f32(&hot, key, values, active, o);        \
  arc_hot_end_f32(&hot);
#define HOT_HERE(n)                                             \
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 4, n, 128) / sizeof(float)];             \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4);    \
  o.lane_mask = ARC_LANES_HERE;                                 \
  if (active) arc_hot_add_with_f32(&hot, key, values, true, o); \
  arc_hot_end_warp_f32(&hot);
#define MISSING                                                                            \
  const arc_piece_f32 pieces[] = {{sums, 3, 3}, {pointers[0], 4, 4}, {pointers[1], 2, 2}}; \
  float values[9];                                                                         \
  for (int k = 0; k < 9; ++k) values[k] = FROM(k);                                         \
  arc_target_f32 target = arc_target_f32_pieces(pieces, 3);                                \
  ADD
#define ATOMRED \
  if (active) arc_atomred_f32(sums + key, FROM(0));
/* A width known at run time only: the values lie in memory. */
#define DYNAMIC(...)                                                   \
  const float *values = from + threadIdx.x * (unsigned)width;          \
  arc_target_f32 target = arc_target_f32_dynamic(sums, stride, width); \
  __VA_ARGS__
#define HOT_DYNAMIC                                          \
  extern __shared__ float shared[];                          \
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, 4); \
  arc_hot_add_with_f32(&hot, key, values, active, o);        \
  arc_hot_end_f32(&hot);
/* The scope is that of all atomics of a call, the compare-and-swaps of half sums too. */
#define SCOPE_OF_ADDS(scope_)                          \
  f32 v[3] = {FROM(0), FROM(1), FROM(2)};              \
  f64 d[3] = {v[0], v[1], v[2]};                       \
  o.scope = scope_;                                    \
  arc_add_with_bf16(TO_bf16(3), key, v, active, o);    \
  arc_add_with_f32(TO_f32(3), key, v, active, o);      \
  arc_add_with_f64(TO_f64(3), key, d, active, o);
/* And of what a form adds at its end. */
#define SCOPE_OF_FORMS(scope_)                                         \
  __shared__ float sums_of_hot[ARC_HOT_BYTES(sizeof(float), 4, 3, 128) / sizeof(float)]; \
  arc_target_f32 t = TO_f32(3);                                        \
  arc_hot_f32 hot = arc_hot_begin_f32(t, sums_of_hot, 0, 4);           \
  arc_index_add_f32 gather = arc_index_add_begin_f32(t, from, 3);      \
  o.scope = scope_;                                                    \
  arc_hot_add_with_f32(&hot, key, from, active, o);                    \
  arc_index_add_rows_with_f32(&gather, key, width, active, o);         \
  arc_hot_end_with_f32(&hot, o);                                 \
  arc_index_add_end_f32(&gather);
