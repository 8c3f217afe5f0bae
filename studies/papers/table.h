/* The papers' table of results, one for all workloads.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <math.h>

#include <vector>

#include "../../bench/common/output_file.h"

enum { PAPER_COUNTS = 33 };

/* Not-a-number: was not measured, the field stays empty. */
typedef struct paper_row {
  const char *workload, *implementation, *dataset;
  int threshold;                   /* 0 to 33, ARC_THRESHOLD_AUTO; negative and else: takes none */
  int iterations, seed;            /* iterations 0: a gradient step alone, before any training */
  const unsigned long long *lanes; /* warp steps by active lanes, 0..32; null: not counted */
  const unsigned long long *keys;  /* and by different keys */
  double train_psnr = NAN, train_l1 = NAN, test_psnr = NAN, test_l1 = NAN; /* dB, 0..1 */
  double training_s = NAN;                                                 /* end to end */
  double forward_ms = NAN;                     /* what comes before a step, the loss included */
  double backward_ms = NAN, backward_mj = NAN; /* one gradient step */
  double backward_error = NAN; /* of the sums against those of plain atomics, relative L2 */
} paper_row;

/* Opens FILE for rows: after those that it has, if it is such a table of the same device, compiler
   and policy; else it says why not. Nothing of FILE changes before the commit. */
bool paper_table_open(output_file *table, const char *path, error_line *error);
/* Prints it, too. */
void paper_table_add(output_file *table, const paper_row *row);

/* At which to measure the step of a way: one of the papers', or one that has arc's own, too. */
std::vector<int> paper_thresholds(bool has_threshold, bool papers);
