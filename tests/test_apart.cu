/* test_apart.cu - lanes that part and add, where a loop of the caller's stands near.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   test_apart [--blocks N] [--seed N]
 *
 * Such a loop lets lanes of one subset run ahead of the others, so that lanes with different masks
 * may run together behind it; see arc__make_mask_of_lane. With a loop in arc's hot rows, and one mask
 * for what they add to memory and to shared memory, 4 of 5 launches were wrong on an H200. Every
 * block is an experiment of its own: it draws keys and subsets, and adds the same integers by
 * integer atomics. With TEST_DROP_IN, arc/drop_in.cuh adds, while what it has learnt changes.
 */
#include "../bench/common/test_device.h"
#include "../bench/common/test_memory.h"

/* Where the oracle adds: above the drop-in, which leaves it as it is. */
static __device__ __forceinline__ void plain_add(int *address, int value) {
  atomicAdd(address, value);
}
#ifdef TEST_DROP_IN
#include "arc/drop_in.cuh"
#endif

#include "arc.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, FIRST_HOT = 2, HOT_ROWS = 4, MAX_WIDTH = 33, STRIDE = MAX_WIDTH + 1 };
enum { BLOCKS = SIMT_ON_CPU ? 2 : 4096 }; /* of a launch */

typedef struct experiment {
  unsigned seed;
  int width, updates, threshold; /* width: of dynamic targets */
  float *rows;                   /* of each block ROWS x STRIDE, as all that follow */
  int *wanted;                   /* what the integer atomics added up */
  int *wrong;                    /* blocks; one counter */
} experiment;

static __host__ __device__ unsigned mix(unsigned a, unsigned b) {
  unsigned h = a * 0x9e3779b1u + b * 0x85ebca77u;
  h = (h ^ h >> 15) * 0xc2b2ae3du;
  h = (h ^ h >> 13) * 0x27d4eb2fu;
  return h ^ h >> 16;
}

/* Loops beside the add, by a word of shared memory: a maximum of floats by compare-and-swap, a sum
   by exchanges, a lock, and none. */
static __device__ __forceinline__ void swaps(unsigned *word, float x) {
  unsigned seen = *word, old;
  do {
    old = seen;
    if (__uint_as_float(old) >= x) break;
    seen = atomicCAS(word, old, __float_as_uint(x));
  } while (seen != old);
}

static __device__ __forceinline__ void exchanges(unsigned *word, float x) {
  float sum = x;
  do {
    sum += __uint_as_float(atomicExch(word, 0u));
    sum = __uint_as_float(atomicExch(word, __float_as_uint(sum)));
  } while (sum != 0.0f);
}

static __device__ __forceinline__ void locks(unsigned *word, float) {
  for (bool done = false; !done;)
    if (atomicExch(word, 1u) == 0u) {
      atomicExch(word, 0u);
      done = true;
    }
}

static __device__ __forceinline__ void nothing(unsigned *, float) {}

/* What lanes do once they have parted: ADD stands here, inlined, once for each subset. */
#define PART_AND(ADD, LOOP)        \
  if (drawn >> 20 & 1u) {          \
    ADD;                           \
    LOOP(&beside[key], values[0]); \
  } else {                         \
    LOOP(&beside[key], values[0]); \
    ADD;                           \
  }

#define EXPERIMENT(name, MOST, WIDTH, TARGET, LOOP, BEGIN, ADD, END)                     \
  static __global__ void name(experiment e) {                                            \
    __shared__ unsigned beside[ROWS];                                                    \
    const int thread = (int)(threadIdx.x + blockDim.x * threadIdx.y);                    \
    const unsigned mine = mix(mix(e.seed, blockIdx.x), (unsigned)thread);                \
    const unsigned of_warp = mix(mix(e.seed + 1u, blockIdx.x), (unsigned)thread / 32);   \
    float *rows = e.rows + (size_t)blockIdx.x * ROWS * STRIDE, values[MOST];             \
    int *wanted = e.wanted + (size_t)blockIdx.x * ROWS * STRIDE;                         \
    if (thread < ROWS) beside[thread] = 0u;                                              \
    __syncthreads();                                                                     \
    const arc_target_f32 target = TARGET(rows, STRIDE, WIDTH);                           \
    arc_options o = arc_options_default();                                               \
    o.lane_mask = ARC_LANES_HERE;                                                        \
    o.threshold = e.threshold;                                                           \
    (void)target, (void)o;                                                               \
    BEGIN;                                                                               \
    for (int update = 0; update < e.updates; ++update) {                                 \
      const unsigned drawn = mix(mine, (unsigned)update);                                \
      const unsigned shape = mix(of_warp, (unsigned)update) % 3u;                        \
      const int key = (int)(shape == 0 ? of_warp % ROWS : (drawn >> 5) % (2u << shape)); \
      if (drawn >> 29 == 0u) continue;                                                   \
      for (int i = 0; i < WIDTH; ++i) {                                                  \
        const int value = (int)(mix(drawn, (unsigned)i) % 15u) - 7;                      \
        values[i] = (float)value;                                                        \
        plain_add(&wanted[key * STRIDE + i], value);                                     \
      }                                                                                  \
      PART_AND(ADD, LOOP)                                                                \
    }                                                                                    \
    END;                                                                                 \
  }

#define ADDS(name, MOST, WIDTH, TARGET, LOOP) \
  EXPERIMENT(name, MOST, WIDTH, TARGET, LOOP, , arc_add_with_f32(target, key, values, true, o), )
#define ADDS_HOT(name, MOST, WIDTH, TARGET, LOOP)                                            \
  EXPERIMENT(name, MOST, WIDTH, TARGET, LOOP, SIMT_DYNAMIC_SHARED(float, shared);            \
             const arc_hot_f32 hot = arc_hot_begin_f32(target, shared, FIRST_HOT, HOT_ROWS), \
             arc_hot_add_with_f32(&hot, key, values, true, o), arc_hot_end_warp_f32(&hot))

#ifdef TEST_WIDE_PATH /* for machine_code.py: that of all paths is most of this file's code */
#define WIDE_PATH o.path = TEST_WIDE_PATH
#else
#define WIDE_PATH
#endif

#ifdef TEST_DROP_IN
static __device__ __forceinline__ void drops(float *row, const float *values, unsigned drawn) {
  *(volatile unsigned *)&arc__learnt_here.sums[drawn % ARC__WORDS] = mix(drawn, 1u);
  for (int i = 0; i < 9; ++i) arc__drop_in(&row[i], values[i]);
}
#define DROPS(LOOP)                                               \
  EXPERIMENT(drops_and_##LOOP, 9, 9, arc_target_f32_rows, LOOP, , \
             drops(&rows[key * STRIDE], values, drawn), )
DROPS(nothing)
DROPS(swaps)
DROPS(exchanges)
DROPS(locks)
#else
EXPERIMENT(add, 9, 9, arc_target_f32_rows, nothing, , arc_add_divergent_f32(target, key, values), )
ADDS(add_and_exchanges, 9, 9, arc_target_f32_rows, exchanges)
ADDS(add_and_locks, 9, 9, arc_target_f32_rows, locks)
EXPERIMENT(wide_and_swaps, MAX_WIDTH, MAX_WIDTH, arc_target_f32_rows, swaps, WIDE_PATH,
           arc_add_with_f32(target, key, values, true, o), )
ADDS(dynamic_and_swaps, MAX_WIDTH, e.width, arc_target_f32_dynamic, swaps)
ADDS_HOT(hot_and_exchanges, 9, 9, arc_target_f32_rows, exchanges)
ADDS_HOT(hot_dynamic_and_swaps, MAX_WIDTH, e.width, arc_target_f32_dynamic, swaps)
EXPERIMENT(atomred_and_exchanges, 1, 1, arc_target_f32_rows, exchanges, ,
           arc_atomred_f32(&rows[key * STRIDE], values[0]), )
#endif

static __global__ void compare(experiment e) {
  const size_t begin = (size_t)blockIdx.x * ROWS * STRIDE;
  int differs = 0;
  for (int i = (int)threadIdx.x; i < ROWS * STRIDE; i += (int)blockDim.x)
    differs |= e.rows[begin + i] != (float)e.wanted[begin + i];
  if (__syncthreads_or(differs) && threadIdx.x == 0) plain_add(e.wrong, 1);
}

static int number(int argc, char **argv, const char *name, int standard) {
  for (int i = 1; i + 1 < argc; ++i)
    if (!strcmp(argv[i], name)) return atoi(argv[i + 1]);
  return standard;
}

/* clang-format off */
#ifdef TEST_DROP_IN
#define EACH_EXPERIMENT(X)                                                                    \
  X(drops_and_nothing) X(drops_and_swaps) X(drops_and_exchanges) X(drops_and_locks)
#else
#define EACH_EXPERIMENT(X)                                                                    \
  X(add) X(add_and_exchanges) X(add_and_locks) X(wide_and_swaps) X(dynamic_and_swaps)         \
  X(hot_and_exchanges) X(hot_dynamic_and_swaps) X(atomred_and_exchanges)
#endif
#define NAMED(kernel) {#kernel, kernel},
/* clang-format on */
static const struct {
  const char *name;
  void (*kernel)(experiment e);
} experiments[] = {EACH_EXPERIMENT(NAMED)};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

int main(int argc, char **argv) {
  int wrong = 0, bad_launches = 0;
  if (!test_has_device("test_apart")) return TEST_SKIPPED;
  const int blocks = number(argc, argv, "--blocks", SIMT_ON_CPU ? 200 : 10000000);
  const unsigned seed = (unsigned)number(argc, argv, "--seed", 1);
  const size_t cells = (size_t)BLOCKS * ROWS * STRIDE;
  const test_memory<float> rows(cells);
  const test_memory<int> wanted(cells), wrong_blocks(1);
  experiment e = {0, 0, 0, 0, rows.at, wanted.at, wrong_blocks.at};
  for (int launch = 0; launch * BLOCKS < blocks; ++launch) {
    static const int thresholds[] = {0, 1, 2, 8, 31, 33, ARC_THRESHOLD_AUTO};
    const unsigned drawn = mix(seed, (unsigned)launch);
    const dim3 block = drawn % 3u == 0 ? dim3(150) : drawn % 3u == 1 ? dim3(13, 7) : dim3(32);
    e.seed = drawn;
    e.width = 1 + (int)(mix(drawn, 1) % MAX_WIDTH);
    e.updates = 1 + (int)(mix(drawn, 2) % 6u);
    e.threshold = thresholds[mix(drawn, 4) % 7u];
    cudaMemset(e.rows, 0, cells * sizeof(float));
    cudaMemset(e.wanted, 0, cells * sizeof(int));
    const size_t bytes = ARC_HOT_BYTES(sizeof(float), HOT_ROWS, MAX_WIDTH, block.x * block.y);
    const int which = launch % EXPERIMENTS;
    SIMT_LAUNCH(experiments[which].kernel, dim3(BLOCKS), block, bytes, 0, e);
    SIMT_LAUNCH(compare, dim3(BLOCKS), dim3(64), 0, 0, e);
    const int before = wrong;
    const cudaError_t status = cudaMemcpy(&wrong, e.wrong, sizeof wrong, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) {
      printf("FAILED: %s: launch %d of seed %u: %s\n", experiments[which].name, launch, seed,
             cudaGetErrorString(status));
      return 1;
    }
    if (wrong != before && bad_launches++ < 5)
      printf("FAILED: %s: launch %d of seed %u: %d of %d blocks wrong\n", experiments[which].name,
             launch, seed, wrong - before, BLOCKS);
  }
  printf("%d blocks, %d wrong, in %d launches (seed %u)\n", blocks, wrong, bad_launches, seed);
  return wrong != 0;
}
