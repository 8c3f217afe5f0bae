/* studies/gaussians/bench: ways to add up the sums of the trainer's backward pass, to compare arc
   with. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../render/backward.h"

typedef enum add_way {
  ADD_PLAIN,            /* an atomicAdd for every value: what arc replaces */
  ADD_SERIALIZED,       /* the papers' SW-S, through arc */
  ADD_BUTTERFLY,        /* the papers' SW-B, through arc */
  ADD_CUB,              /* cub::WarpReduce a value */
  ADD_SHUFFLES,         /* five shuffles per value, as rasterizers do it by hand */
  ADD_AUTO,             /* arc decides, the threshold is known at run time */
  ADD_DEFAULT,          /* arc as compiled: the trainer's own */
  ADD_NONE,             /* adds nothing: the limit, no way to train */
  ADD_WAYS,             /* how many */
  ADD_COUNT = ADD_WAYS, /* counts warp steps by hit lanes instead, into 33 integers: sums.words */
  ADD_MAGNITUDES        /* plain, of magnitudes: what rounding may make of a sum */
} add_way;

/* Where the sums lie. */
typedef enum sum_layout {
  SUMS_ARRAYS, /* four arrays, as rasterizers have them, in the memory of the rows */
  SUMS_ROWS    /* the trainer's padded rows */
} sum_layout;

enum { MOST_PIXELS = 2 }; /* of a lane */

static inline const char *add_way_name(add_way way) {
  static const char *const names[ADD_WAYS] = {"plain",    "serialized", "butterfly", "cub",
                                              "shuffles", "auto",       "default",   "none"};
  return names[way];
}

/* Whether it takes the balancing threshold at run time. */
static inline bool add_way_has_threshold(add_way way) {
  return way == ADD_SERIALIZED || way == ADD_BUTTERFLY || way == ADD_AUTO;
}

/* Null: it needs the CUDA toolkit, on the CPU warp. Each number of pixels has a file. */
backward_launcher way_launcher_1(add_way way, sum_layout layout);
backward_launcher way_launcher_2(add_way way, sum_layout layout);
static inline backward_launcher way_launcher(add_way way, sum_layout layout, int pixels) {
  return pixels == 1 ? way_launcher_1(way, layout) : way_launcher_2(way, layout);
}

/* A kernel to measure. */
typedef struct bench_kernel {
  const char *name;
  add_way like; /* of the same threshold: none, at run time, the default */
  sum_layout layout;
  int pixels;
  backward_launcher launch;
} bench_kernel;

/* The papers' own kernel, papers.cu. */
enum { PAPERS_KERNELS = 6 };
extern const bench_kernel papers_kernels[PAPERS_KERNELS];

/* Each of the four arrays starts at a multiple of 16 bytes. */
static __host__ __device__ __forceinline__ size_t sums_of_array(int count) {
  return ((size_t)count + 3) / 4 * 4;
}

typedef struct way_arguments : backward_arguments {
  float *means, *conics, *opacities, *colours; /* SUMS_ARRAYS */
} way_arguments;

static inline way_arguments way_arguments_of(const backward_arguments *a) {
  const size_t n = sums_of_array(a->sums.count);
  float *block = a->sums.rows;
  return {*a, block, block + 2 * n, block + 5 * n, block + 6 * n};
}

/* layout is a literal, and i once loops are unrolled. */
static __host__ __device__ __forceinline__ float *sum_address(const way_arguments *a, int layout,
                                                              int key, int i) {
  size_t k = (size_t)key;
  if (layout == SUMS_ROWS) return a->sums.rows + SPLAT_ROW * k + i;
  if (i < SUM_XX) return a->means + 2 * k + i;
  if (i < SUM_U) return a->conics + 3 * k + (i - SUM_XX);
  if (i < SUM_RED) return a->opacities + k;
  return a->colours + 3 * k + (i - SUM_RED);
}
