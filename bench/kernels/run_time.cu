/* run_time.cu - a width known at run time only: plain atomics and auto.
   SPDX-License-Identifier: Apache-2.0

   A lane's values are in a local array of 32 floats. memory: the array is indexed
   at run time, so it lies in memory. bounded: every index of the kernel's own is a literal below a
   literal bound; with plain atomics it lies in registers. */
#include "kernel.cuh"

#include "by_hand.cuh"

enum { most_width = SWEEP_RUN_TIME_WIDTH };

/* The values must be made, in every path alike: the compiler believes that they are read. */
static __device__ __forceinline__ void keep_in_memory(const float *values) {
#if SIMT_ON_CPU
  (void)values;
#else
  asm volatile("" ::"l"(values) : "memory");
#endif
}

static __device__ __forceinline__ void values_memory(float *values, int width, float x,
                                                     long long never) {
  (void)never;
  for (int i = 0; i < width; ++i) values[i] = x * sweep_coefficient(i);
  keep_in_memory(values);
}

static __device__ __forceinline__ void values_bounded(float *values, int width, float x,
                                                      long long never) {
  SWEEP_UNROLL
  for (int i = 0; i < most_width; ++i) values[i] = i < width ? x * sweep_coefficient(i) : 0.0f;
  SWEEP_UNROLL
  for (int i = 0; i < most_width; i += 4)
    if (i < width) sweep_keep4(never, values + i);
}

static __device__ __forceinline__ void plain_memory(float *rows, int stride, int width, int key,
                                                    const float *values, bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  for (int i = 0; i < width; ++i) atomicAdd(row + i, values[i]);
}

static __device__ __forceinline__ void plain_bounded(float *rows, int stride, int width, int key,
                                                     const float *values, bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < most_width; ++i)
    if (i < width) atomicAdd(row + i, values[i]);
}

static __device__ __forceinline__ void add_auto(arc_target_f32 target, int key, const float *values,
                                                bool active, int promises) {
  arc_options o = arc_options_default();
  o.promises |= promises;
  arc_add_with_f32(target, key, values, active, o);
}

#define KERNEL(kind, form, name, ...)                                                   \
  static __global__ void __launch_bounds__(256)                                         \
      sweep_##kind##_##name##_##form(const struct sweep_args a) {                       \
    struct sweep_lane lane = sweep_lane_begin(&a, blockIdx.x, threadIdx.x, blockDim.x); \
    arc_target_f32 target = arc_target_f32_dynamic(a.rows, a.stride, a.width);          \
    (void)target;                                                                       \
    SWEEP_LOOP                                                                          \
    for (int u = 0; u < a.updates; ++u) {                                               \
      struct sweep_update d = sweep_draw_##kind(&a, &lane);                             \
      float values[most_width];                                                         \
      values_##form(values, a.width, d.active ? d.x : lane.setup.inactive_value,        \
                    lane.setup.never);                                                  \
      SWEEP_GARBAGE_##kind;                                                             \
      __VA_ARGS__;                                                                      \
      SWEEP_NEXT_UPDATE();                                                              \
    }                                                                                   \
  }
#define TABLE(form, name)                                         \
  static const struct sweep_kernels name##_##form##_kernels[] = { \
      {SWEEP_ANY_WIDTH, sweep_uniform_##name##_##form, sweep_keyed_##name##_##form}};
#define KERNELS(form)                                                                         \
  KERNEL(uniform, form, none, sweep_add_none(lane.setup.never, d.key))                        \
  KERNEL(keyed, form, none, sweep_add_none(lane.setup.never, d.key))                          \
  KERNEL(uniform, form, plain, SWEEP_BY_HAND(a.width, plain_##form))                          \
  KERNEL(keyed, form, plain, SWEEP_BY_HAND(a.width, plain_##form))                            \
  KERNEL(uniform, form, auto, add_auto(target, d.key, values, d.active, ARC_PROMISE_ONE_KEY)) \
  KERNEL(keyed, form, auto, add_auto(target, d.key, values, d.active, 0))                     \
  TABLE(form, none) TABLE(form, plain) TABLE(form, auto)
KERNELS(memory)
KERNELS(bounded)

#define TABLES(form, FORM)                                                                        \
  SWEEP_TABLE_OF(none_##form, SWEEP_PATH_NONE, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),       \
      SWEEP_TABLE_OF(plain_##form, SWEEP_PATH_PLAIN, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD), \
      SWEEP_TABLE_OF(auto_##form, SWEEP_PATH_AUTO, FORM, SWEEP_ZEROS_NONE,                        \
                     SWEEP_THRESHOLD_DEFAULT)
SWEEP_FAMILY(run_time, TABLES(memory, SWEEP_FORM_MEMORY), TABLES(bounded, SWEEP_FORM_BOUNDED))
