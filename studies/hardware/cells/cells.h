/* cells.h - cells of the sweep, small enough for a simulator of other GPUs (../README.md): what
   kernels add, and what the host and the two ways to launch share.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if defined(__CUDACC__)
#define CELL_LOOP _Pragma("unroll 1")
#define CELL_UNROLL _Pragma("unroll")
#else
#define CELL_LOOP
#define CELL_UNROLL
#endif

struct cell {
  int width, lanes, keys; /* the first lanes are active, neighbours hold different keys */
  int rows, updates;      /* rows: a power of two; updates of a warp */
};

enum { CELL_THREADS = 128 };

#define CELL_KEY(c, warp, update, lane) \
  (((warp)*37 + (update)*101 + (lane) % (c).keys) & ((c).rows - 1))
/* Whole numbers, so that sums of floats are exact. */
#define CELL_VALUE(lane, update, i) ((float)((lane) + (update) + 1) + 3.0f * (float)(i))

/* A path has a kernel for one key per warp, promised, and one for any keys: one_automatic_9. */
// clang-format off
#define CELL_PATHS(X, ...) \
  X(plain, __VA_ARGS__) X(shuffles, __VA_ARGS__) X(serialized, __VA_ARGS__) \
  X(butterfly, __VA_ARGS__) X(transposed, __VA_ARGS__) X(tree, __VA_ARGS__) \
  X(automatic, __VA_ARGS__)
// clang-format on

/* Launches a kernel by name, and waits for it. launch_here.cu links the kernels; launch_ptx.cpp
   loads cells.ptx through the driver, as GPGPU-Sim needs it. */
void cell_launch(const char *kernel, int blocks, float *rows, struct cell c);
