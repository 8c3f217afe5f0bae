/* bench/hardware: records warp steps on the CPU warp. SPDX-License-Identifier: Apache-2.0

   Two passes. A workload's own kernel runs once, with a path that sends every lane's values as
   plain atomics: who adds to which row in which step is written down. Then arc carries out those
   steps one by one, by each path and at each threshold that changes something, and what the CPU
   warp counts of each becomes the trace. */
#pragma once

#include <stddef.h>

/* Calls of arc as the workload's kernel makes them: its literals. */
typedef enum record_call {
  CALL_GAUSSIANS,
  CALL_FILTER,
  CALL_LOOKUP,
  CALL_SPHERES,
  CALL_EDGES,
  CALL_SWEEP /* and those that follow it, by width: 1, 3, 4, 9, 10, 16, 32 */
} record_call;

/* Between the two, atomics on rows of `stride` floats in this array are steps. */
void record_begin(const float *rows, size_t floats, int stride);
/* One step of one warp, of a workload that has no kernel to run; keys: of lanes, -1: not active. */
void record_step(int warp, const int keys[32]);
/* Writes the trace; returns the exit status. */
int record_end(record_call call, const char *name, const char *file);
