/* test_each_form.cu - every form and type once, in one kernel. SPDX-License-Identifier: Apache-2.0
 *
 * Small enough for builds in which other tests would take minutes: machine_code.py has it compiled for
 * debuggers, without optimisation, to relocatable code, to an older C++. Each form adds the same
 * values to rows of its own, so that all rows must hold what the host adds up.
 */
#include "../bench/common/test_device.h"
#include "../bench/common/test_memory.h"

#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"

#include <string.h>

enum { WIDTH = 3, KEYS = 4, THREADS = 64, FLOATS = KEYS * WIDTH };
/* clang-format off */
#define EACH_FORM(X)                                                           \
  X(KEYED) X(UNIFORM) X(MASKED) X(DIVERGENT) X(POINTERS) X(HALVES) X(HOT)       \
  X(IN_MEMORY) X(IN_SHARED) X(ATOMRED) X(F64) X(I64) X(F16) X(BF16) X(FIXED)   \
  X(HOT_MIXED)
/* clang-format on */
#define NUMBER(form) form,
#define NAME(form) #form,
enum { EACH_FORM(NUMBER) FORMS };
static const char *const form_names[FORMS] = {EACH_FORM(NAME)};

static __host__ __device__ int key_of(int thread) { return thread * 7 % 32 % KEYS; }
static __host__ __device__ bool is_active(int thread) { return thread % 5 != 2; }
static __host__ __device__ int value_of(int thread, int i) { return thread % 8 + 8 * i - 5; }

/* Rows of one form, as 64-bit words whatever the type. */
typedef struct form_rows {
  long long words[FLOATS];
} form_rows;

#define ROWS(form) arc_target_f32_rows((float *)all[form].words, WIDTH, WIDTH)

static __global__ void every_form(form_rows *all, const float *memory) {
  const int thread = (int)threadIdx.x, key = key_of(thread);
  const bool active = is_active(thread);
  float v[WIDTH], *pointers[WIDTH];
  double doubles[WIDTH];
  long long integers[WIDTH];
  for (int i = 0; i < WIDTH; ++i) {
    doubles[i] = (double)(integers[i] = value_of(thread, i));
    v[i] = (float)doubles[i];
    pointers[i] = (float *)all[POINTERS].words + WIDTH * key + i;
  }
  arc_add_f32(ROWS(KEYED), key, v, active);
  for (int k = 0; k < KEYS; ++k) arc_add_uniform_f32(ROWS(UNIFORM), k, v, active && key == k);
  const unsigned even = 0x55555555u;
  arc_add_masked_f32(ROWS(MASKED), key, v, active, thread % 2 ? ~even : even);
  if (active) arc_add_divergent_f32(ROWS(DIVERGENT), key, v);
  arc_add_pointers_f32(pointers, WIDTH, key, v, active);
  arc_sum_f32 sum = arc_sum_begin_f32(ROWS(HALVES), key, v, active);
  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 2, WIDTH, THREADS) / sizeof(float)];
  arc_hot_f32 hot = arc_hot_begin_f32(ROWS(HOT), shared, 1, 2);
  arc_hot_add_f32(&hot, key, v, active);
  arc_hot_end_f32(&hot);
  arc_index_add_f32 rows = arc_index_add_begin_f32(ROWS(IN_MEMORY), memory, WIDTH);
  arc_index_add_rows_f32(&rows, key, thread, active);
  arc_index_add_end_f32(&rows);
  for (int i = 0; active && i < WIDTH; ++i)
    arc_atomred_f32((float *)all[ATOMRED].words + WIDTH * key + i, v[i]);
  arc_add_f64(arc_target_f64_rows((double *)all[F64].words, WIDTH, WIDTH), key, doubles, active);
  arc_add_i64(arc_target_i64_rows(all[I64].words, WIDTH, WIDTH), key, integers, active);
  arc_add_f16(arc_target_f16_rows(all[F16].words, WIDTH, WIDTH), key, v, active);
  arc_add_bf16(arc_target_bf16_rows(all[BF16].words, WIDTH, WIDTH), key, v, active);
  arc_add_fixed(arc_target_fixed_rows(all[FIXED].words, WIDTH, WIDTH, 20), key, v, active);
}

/* Orders of memory, for racecheck, which sees those of values: each lane writes the row of another
   one, and overwrites it at once. */
static __global__ void in_shared_memory(form_rows *all) {
  __shared__ float values[THREADS * WIDTH];
  const int thread = (int)threadIdx.x, other = thread ^ 1;
  arc_index_add_f32 rows = arc_index_add_begin_f32(ROWS(IN_SHARED), values, WIDTH);
  ARC__NO_UNROLL for (int parity = 0; parity < 2; ++parity) {
    for (int i = 0; i < WIDTH; ++i) values[other * WIDTH + i] = (float)value_of(other, i);
    __syncwarp();
    const bool active = is_active(thread) && thread % 2 == parity;
    arc_index_add_rows_f32(&rows, key_of(thread), thread, active);
    __syncwarp();
  }
  arc_index_add_end_f32(&rows);
}

/* Some lanes add by atomics, then all by loads and stores, twice; half of them leave. */
static __global__ void hot_mixed(form_rows *all) {
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 2, WIDTH, THREADS) / sizeof(float)];
  const int thread = (int)threadIdx.x, key = key_of(thread);
  float v[WIDTH];
  for (int i = 0; i < WIDTH; ++i) v[i] = (float)value_of(thread, i);
  arc_options here = arc_options_default();
  here.lane_mask = ARC_LANES_HERE;
  arc_hot_f32 hot = arc_hot_begin_f32(ROWS(HOT_MIXED), shared, 1, 2);
  ARC__NO_UNROLL for (int turn = 0; turn < 4; turn += 2) {
    const bool active = is_active(thread);
    if (active && thread % 4 == turn) arc_hot_add_with_f32(&hot, key, v, true, here);
    arc_hot_add_f32(&hot, key, v, active && thread % 4 == turn + 1);
  }
  if (thread % 2 == 0) arc_hot_end_warp_f32(&hot);
}

/* Number i of a form's rows. */
static double number(const form_rows *rows, int form, int i) {
  float f32;
  double f64;
  unsigned short half;
  if (form == I64) return (double)rows->words[i];
  if (form == FIXED) return arc_fixed_to_f64(rows->words[i], 20);
  memcpy(&f64, (const double *)rows->words + i, sizeof f64);
  if (form == F64) return f64;
  if (form == F16 || form == BF16) {
    memcpy(&half, (const char *)rows->words + 2 * i, sizeof half);
    const unsigned drop = form == F16 ? 13 : 16; /* bits of a float's fraction that it lacks */
    const unsigned bits = (half & 0x8000u) << 16 | (half & 0x7fffu) << drop;
    memcpy(&f32, &bits, sizeof f32);
    return form == F16 ? f32 * 0x1p112 : f32;
  }
  memcpy(&f32, (const char *)rows->words + 4 * i, sizeof f32);
  return f32;
}

int main(void) {
  float memory[THREADS * WIDTH];
  double wanted[FLOATS] = {0};
  if (!test_has_device("test_each_form")) return TEST_SKIPPED;
  for (int t = 0; t < THREADS; ++t)
    for (int i = 0; i < WIDTH; ++i) {
      memory[t * WIDTH + i] = (float)value_of(t, i);
      if (is_active(t)) wanted[key_of(t) * WIDTH + i] += value_of(t, i);
    }
  const test_memory<form_rows> device_rows(FORMS);
  const test_memory<float> device_memory(memory);
  SIMT_LAUNCH(every_form, dim3(1), dim3(THREADS), 0, 0, device_rows.at, device_memory.at);
  SIMT_LAUNCH(in_shared_memory, dim3(1), dim3(THREADS), 0, 0, device_rows.at);
  SIMT_LAUNCH(hot_mixed, dim3(1), dim3(THREADS), 0, 0, device_rows.at);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<form_rows> rows = device_rows.read();
  for (int form = 0; form < FORMS; ++form)
    for (int i = 0; i < FLOATS; ++i) {
      const double got = number(&rows[form], form, i);
      CHECK(got == wanted[i], "%s: key %d, parameter %d: %g, must be %g", form_names[form],
            i / WIDTH, i % WIDTH, got, wanted[i]);
    }
  return test_end("test_each_form");
}
