/* run_time.cu - a width known at run time only: nothing, plain atomics and auto.
   SPDX-License-Identifier: Apache-2.0

   memory: a lane's values are in a local array of 32 floats, which is indexed at run time, so that
   it lies in memory. chunks: a loop of the caller's computes each value where it is added; to arc
   it gives four a call, and one a call at the end. */
#include "kernel.cuh"

#include "by_hand.cuh"

/* What adds: x times the coefficient of each column, to the row `key`. */
#define ADDER(name)                                                                        \
  static __device__ __forceinline__ void name(const struct sweep_args *a, long long never, \
                                              int key, float x, bool active, int promises)

enum { most_width = SWEEP_RUN_TIME_WIDTH };

/* The values must be made, in every path alike: the compiler believes that they are read. */
static __device__ __forceinline__ void values_in_memory(float *values, int width, float x) {
  for (int i = 0; i < width; ++i) values[i] = x * sweep_coefficient(i);
#if !SIMT_ON_CPU
  asm volatile("" ::"l"(values) : "memory");
#endif
}

static __device__ __forceinline__ void add_auto(arc_target_f32 target, int key, const float *values,
                                                bool active, int promises) {
  arc_options o = arc_options_default();
  o.promises |= promises;
  arc_add_with_f32(target, key, values, active, o);
}

ADDER(none_memory) {
  (void)active, (void)promises;
  float values[most_width];
  values_in_memory(values, a->width, x);
  sweep_add_none(never, key);
}

ADDER(plain_memory) {
  (void)never, (void)promises;
  float values[most_width];
  values_in_memory(values, a->width, x);
  sweep_add_plain(a->rows, a->stride, a->width, key, values, active);
}

ADDER(auto_memory) {
  (void)never;
  float values[most_width];
  values_in_memory(values, a->width, x);
  add_auto(arc_target_f32_dynamic(a->rows, a->stride, a->width), key, values, active, promises);
}

ADDER(none_chunks) {
  (void)active, (void)promises;
  for (int i = 0; i < a->width; ++i) sweep_keep1(never, x * sweep_coefficient(i));
  sweep_add_none(never, key);
}

ADDER(plain_chunks) {
  (void)never, (void)promises;
  if (!active) return;
  float *row = a->rows + (long long)key * a->stride;
  for (int i = 0; i < a->width; ++i) atomicAdd(row + i, x * sweep_coefficient(i));
}

ADDER(auto_chunks) {
  (void)never;
  int i = 0;
  for (; i + 4 <= a->width; i += 4) {
    float values[4];
    for (int k = 0; k < 4; ++k) values[k] = x * sweep_coefficient(i + k);
    add_auto(arc_target_f32_rows(a->rows + i, a->stride, 4), key, values, active, promises);
  }
  for (; i < a->width; ++i) {
    float value = x * sweep_coefficient(i);
    add_auto(arc_target_f32_rows(a->rows + i, a->stride, 1), key, &value, active, promises);
  }
}

#define KERNEL(kind, name, promises)                                                               \
  static __global__ void __launch_bounds__(256) sweep_##kind##_##name(const struct sweep_args a) { \
    struct sweep_lane lane = sweep_lane_begin(&a, blockIdx.x, threadIdx.x, blockDim.x);            \
    SWEEP_LOOP                                                                                     \
    for (int u = 0; u < a.updates; ++u) {                                                          \
      struct sweep_update d = sweep_draw_##kind(&a, &lane);                                        \
      float x = d.active ? d.x : lane.setup.inactive_value;                                        \
      SWEEP_GARBAGE_##kind;                                                                        \
      name(&a, lane.setup.never, d.key, x, d.active, promises);                                    \
      SWEEP_NEXT_UPDATE();                                                                         \
    }                                                                                              \
  }
#define KERNELS(name)                                    \
  KERNEL(uniform, name, ARC_PROMISE_ONE_KEY)             \
  KERNEL(keyed, name, 0)                                 \
  static const struct sweep_kernels name##_kernels[] = { \
      {SWEEP_ANY_WIDTH, sweep_uniform_##name, sweep_keyed_##name}};
KERNELS(none_memory)
KERNELS(plain_memory)
KERNELS(auto_memory)
KERNELS(none_chunks)
KERNELS(plain_chunks)
KERNELS(auto_chunks)

#define TABLES(form, FORM)                                                                        \
  SWEEP_TABLE_OF(none_##form, SWEEP_PATH_NONE, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),       \
      SWEEP_TABLE_OF(plain_##form, SWEEP_PATH_PLAIN, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD), \
      SWEEP_TABLE_OF(auto_##form, SWEEP_PATH_AUTO, FORM, SWEEP_ZEROS_NONE,                        \
                     SWEEP_THRESHOLD_DEFAULT)
SWEEP_FAMILY(run_time, TABLES(memory, SWEEP_FORM_MEMORY), TABLES(chunks, SWEEP_FORM_CHUNKS))
