/* bench/hardware: recorded warp steps: what the CPU warp saw of one call that adds.
   SPDX-License-Identifier: Apache-2.0

   A file holds one workload: warps, their steps, and for each step what every path executes. The
   two paths of the papers depend on the threshold: a step has one form for each range of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TRACE_PLAIN, TRACE_SERIALIZED, TRACE_BUTTERFLY, TRACE_AUTO, TRACE_PATHS };
enum { TRACE_ANY, TRACE_SAME, TRACE_RUN }; /* addresses of an instruction's lanes */
enum { THRESHOLDS = 34 };                  /* 0 to 33 */

/* Warp instructions that read, add and write memory, without a result: `repeats` of them, each at
   addresses 4 bytes above the one before. words: of the lanes in `mask`, in units of 4 bytes,
   lowest lane first; one for all if they are the same. */
typedef struct trace_request {
  uint32_t mask;
  uint16_t repeats;
  uint8_t words_per_lane; /* 1, 2 or 4 */
  bool same;
  uint32_t *words;
} trace_request;

/* One path's form of a step. */
typedef struct trace_form {
  uint16_t shuffles, votes, matches, scans;
  int request_count;
  trace_request *requests;
} trace_form;

typedef struct trace_step {
  uint8_t lanes; /* that are active */
  trace_form *forms[TRACE_PATHS];
  uint8_t form_at[TRACE_PATHS][THRESHOLDS];
} trace_step;

typedef struct trace_warp {
  int step_count;
  trace_step *steps;
} trace_warp;

typedef struct trace {
  char name[24];
  int width; /* values a lane adds in a step */
  int warp_count;
  trace_warp *warps;
  struct trace *before; /* the one read before it */
} trace;

/* NULL, after one line on stderr, if the file is missing or damaged. Lives to the program's end. */
trace *trace_read(const char *file);

static inline const trace_form *trace_form_of(const trace_step *s, int path, int threshold) {
  return &s->forms[path][s->form_at[path][threshold]];
}
