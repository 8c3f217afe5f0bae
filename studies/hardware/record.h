/* studies/hardware: records warp steps on the CPU warp. SPDX-License-Identifier: Apache-2.0

   A workload's own kernel runs once, on a path that sends every lane's values as plain atomics. The
   record says which lane adds to which row in which step. */
#pragma once

#include <stddef.h>

#include "trace.h"

/* Between the two, atomics on rows of `stride` floats in this array are steps. */
void record_begin(const float *rows, size_t floats, int stride);
/* Writes the trace; returns the exit status. */
int record_end(record_call call, const char *file);
