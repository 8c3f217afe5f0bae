/* sweep_compare.h - arc_sweep compare A.csv B.csv: is B faster?
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_SWEEP_COMPARE_H
#define ARC_BENCH_SWEEP_COMPARE_H

#include <stdio.h>

/* argv[0] is not looked at. Returns 0; 1: a cell is slower and --fail-if-slower was given; 2 after
   a line on `err`: bad options, damaged files, or no cell in common. */
int sweep_compare(int argc, char **argv, FILE *out, FILE *err);

#endif
