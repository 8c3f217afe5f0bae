/* What --bench-backward and --experiment of examples/gaussians share.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_GAUSSIANS_MEASURE_H
#define ARC_BENCH_GAUSSIANS_MEASURE_H

#include "examples/gaussians/program.h"

/* What to measure on: bit 0 is --scene, bit k the procedural scene_kind k. */
unsigned datasets_of(const options *o);
const char *dataset_name(const options *o, int kind);

enum { LANE_COUNTS = 33 };

/* Adds to histogram: warp steps of the backward pass by hit lanes, those with a pixel that is hit,
   for the view just drawn. */
void count_lanes_of_frame(trainer *t, unsigned long long *histogram);
void print_lanes(const unsigned long long *histogram);

#endif
