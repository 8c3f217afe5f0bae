/* run_time.cu - a width known at run time only: nothing, plain atomics and auto.
   SPDX-License-Identifier: Apache-2.0

   memory: a lane's values are in a local array of 32 floats, which is indexed at run time, so that
   it lies in memory. chunks: a loop of the caller's computes each value where it is added; to arc
   it gives four per call, and one per call at the end. */
#define SWEEP_ROWS(W) arc_target_f32_dynamic(a.rows, a.stride, a.width)
#include "kernel.cuh"

#include "by_hand.cuh"

enum { most_width = SWEEP_RUN_TIME_WIDTH };

/* The values must be made, in every path alike: the compiler believes that they are read. */
SWEEP_FN void values_in_memory(float *values, int width, float x) {
  for (int i = 0; i < width; ++i) values[i] = x * sweep_coefficient(i);
#if !SIMT_ON_CPU
  asm volatile("" ::"l"(values) : "memory");
#endif
}

SWEEP_FN void add_auto(arc_target_f32 target, int key, const float *values, bool active,
                       int promises) {
  arc_options o = arc_options_default();
  o.promises |= promises;
  arc_add_with_f32(target, key, values, active, o);
}

SWEEP_FN void none_chunks(long long never, int width, int key, float x) {
  for (int i = 0; i < width; ++i) sweep_keep1(never, x * sweep_coefficient(i));
  sweep_add_none(never, key);
}

SWEEP_FN void plain_chunks(const struct sweep_args *a, int key, float x, bool active) {
  if (!active) return;
  float *row = a->rows + (long long)key * a->stride;
  for (int i = 0; i < a->width; ++i) atomicAdd(row + i, x * sweep_coefficient(i));
}

SWEEP_FN void auto_chunks(const struct sweep_args *a, int key, float x, bool active, int promises) {
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

#undef SWEEP_WIDTH
#define SWEEP_WIDTH(W) a.width
#undef SWEEP_VALUES
#define SWEEP_VALUES(W) const float x = d.active ? d.x : lane.setup.inactive_value
#define ANY_WIDTH(X, ...) X(SWEEP_ANY_WIDTH, __VA_ARGS__)
#define IN_MEMORY(...)                \
  float values[most_width];           \
  values_in_memory(values, width, x); \
  __VA_ARGS__
SWEEP_PATH(ANY_WIDTH, none_memory, IN_MEMORY(sweep_add_none(lane.setup.never, d.key)))
SWEEP_PATH(ANY_WIDTH, plain_memory, IN_MEMORY(SWEEP_BY_HAND(sweep_add_plain)))
SWEEP_PATH(ANY_WIDTH, auto_memory, IN_MEMORY(add_auto(target, d.key, values, d.active, one_key)))
SWEEP_PATH(ANY_WIDTH, none_chunks, none_chunks(lane.setup.never, width, d.key, x))
SWEEP_PATH(ANY_WIDTH, plain_chunks, plain_chunks(&a, d.key, x, d.active))
SWEEP_PATH(ANY_WIDTH, auto_chunks, auto_chunks(&a, d.key, x, d.active, one_key))

#define TABLES(form, FORM)                                                                        \
  SWEEP_TABLE_OF(none_##form, SWEEP_PATH_NONE, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),       \
      SWEEP_TABLE_OF(plain_##form, SWEEP_PATH_PLAIN, FORM, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD), \
      SWEEP_TABLE_OF(auto_##form, SWEEP_PATH_AUTO, FORM, SWEEP_ZEROS_NONE,                        \
                     SWEEP_THRESHOLD_DEFAULT)
SWEEP_FAMILY(run_time, TABLES(memory, SWEEP_FORM_MEMORY), TABLES(chunks, SWEEP_FORM_CHUNKS))
