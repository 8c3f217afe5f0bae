/* studies/hardware: warp steps: who adds to which row, as recorded, and what arc executes of it.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include <vector>

#include "../../bench/common/output_file.h"

/* ---- recorded: a file for each workload (trace.cpp) ------------------------------------------ */

/* Calls of arc as the workload's kernel makes them: its literals. */
typedef enum record_call {
  CALL_GAUSSIANS,
  CALL_FILTER,
  CALL_LOOKUP,
  CALL_SPHERES,
  CALL_EDGES,
  CALL_SWEEP, /* and those that follow it, by width: 1, 3, 9, 10, 16, 32 */
  CALL_END = CALL_SWEEP + 6
} record_call;

/* keys: of lanes, -1: not active. Steps of a warp follow each other. */
typedef struct recorded_step {
  int warp, keys[32];
} recorded_step;

typedef struct recording {
  record_call call;
  std::vector<recorded_step> steps;
} recording;

bool recording_write(const recording *r, const char *path, error_line *error);
bool recording_read(recording *r, const char *path, error_line *error);

/* ---- carried out on the CPU warp (replay.cu) ------------------------------------------------- */

enum { TRACE_PLAIN, TRACE_SERIALIZED, TRACE_BUTTERFLY, TRACE_AUTO, TRACE_PATHS };
enum { THRESHOLDS = 34 }; /* 0 to 33 */

/* Warp instructions that read, add and write memory, without a result: `repeats` of them, each at
   addresses 4 bytes above the one before. words: of the lanes in `mask`, in units of 4 bytes,
   lowest lane first. */
typedef struct trace_request {
  uint32_t mask;
  int repeats, words_per_lane; /* 1, 2 or 4 */
  std::vector<uint32_t> words;
} trace_request;

/* One path's form of a step. */
typedef struct trace_form {
  int shuffles, votes, matches, scans;
  std::vector<trace_request> requests;
} trace_form;

/* The two paths of the papers depend on the threshold: a form for each range of them. */
typedef struct trace_step {
  std::vector<trace_form> forms[TRACE_PATHS];
  int form_at[TRACE_PATHS][THRESHOLDS];
} trace_step;

typedef std::vector<trace_step> trace_warp;

typedef struct trace {
  int width; /* values per lane adds in a step */
  std::vector<trace_warp> warps;
} trace;

/* What arc executes of each step, by each path and at each threshold that changes something. */
trace trace_of(const recording *r);

static inline const trace_form *trace_form_of(const trace_step *s, int path, int threshold) {
  return &s->forms[path][(size_t)s->form_at[path][threshold]];
}
