/* slices.h - recorded steps (../trace.h) as a kernel carries them out: what kernels, the host and
   the two ways to launch share.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if defined(__CUDACC__)
#define SLICE_ONE_BY_ONE _Pragma("unroll 1")
#define SLICE_UNROLL _Pragma("unroll")
#else
#define SLICE_ONE_BY_ONE
#define SLICE_UNROLL
#endif

/* keys: 32 per step; of a lane that is not active ~KEY, of a lane that is. first: each warp's first
   step, and the end. table: what kernels load beside their keys. */
struct slice {
  float *rows;
  const int *keys;
  const unsigned *first;
  const float *table;
  unsigned warps;
  int threshold;
};

enum { SLICE_THREADS = 256, SLICE_TABLE = 128 };

/* Whole numbers, so that sums of floats are exact. */
#define SLICE_VALUE(lane, step, i) ((float)((lane) + (step) % 8 + 1) + (float)(i))

/* name, width, stride, promises of the call, instructions and loads a step (../README.md). */
// clang-format off
#define SLICES(X) \
  X(gaussians, 9, 12, ARC_PROMISE_RENDERER | ARC_PROMISE_ONE_KEY, 47, 3) \
  X(specular, 3, 3, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO, 33, 1) \
  X(diffuse, 3, 3, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO, 24, 1) \
  X(spheres, 20, 20, ARC_PROMISE_RENDERER | ARC_PROMISE_ALIGNED_16, 130, 2) \
  X(pagerank, 1, 1, 0, 32, 3)
#define SLICE_PATHS(X, ...) \
  X(plain, __VA_ARGS__) X(none, __VA_ARGS__) X(serialized, __VA_ARGS__) \
  X(butterfly, __VA_ARGS__) X(automatic, __VA_ARGS__)
// clang-format on

/* Launches a kernel by name, and waits for it. launch_here.cu links the kernels; launch_ptx.cpp
   loads slices.ptx through the driver, as GPGPU-Sim needs it. */
void slice_launch(const char *kernel, int blocks, struct slice s);
