/* The papers' table of results, one for all workloads.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "examples/common/output_file.h"

enum { PAPER_COUNTS = 33 };

/* Not-a-number: was not measured, the field stays empty. */
typedef struct paper_row {
  const char *workload, *implementation, *dataset;
  int threshold; /* 0 to 33, ARC_THRESHOLD_AUTO; negative and else: takes none */
  double train_psnr, train_l1, test_psnr, test_l1; /* dB, 0..1 */
  double training_s;                               /* end to end */
  double backward_ms, backward_mj;                 /* one gradient step */
  double backward_error; /* of the sums against those of plain atomics, relative L2 */
  int iterations, seed;
  const unsigned long long *lanes; /* warp steps by active lanes, 0..32; null: not counted */
  const unsigned long long *keys;  /* and by different keys */
} paper_row;

/* Opens FILE for rows: after those that it has, if it is such a table of the same device, compiler
   and policy; else it says why not. Nothing of FILE changes before the commit. */
bool paper_table_open(output_file *table, const char *path, error_line *error);
void paper_table_add(output_file *table, const paper_row *row);
