/* What --bench-backward, --bench-papers and --experiment of examples/gaussians share.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_GAUSSIANS_MEASURE_H
#define ARC_BENCH_GAUSSIANS_MEASURE_H

#include "examples/common/output_file.h"
#include "examples/gaussians/program.h"

/* What to measure on: bit 0 is --scene, bit k the procedural scene_kind k. */
unsigned datasets_of(const options *o);
const char *dataset_name(const options *o, int kind);

/* One view of a dataset, drawn or not yet. */
typedef void (*measure_view)(trainer *t, const char *dataset, int repeats, void *state);
/* Calls for the first view of each dataset, with the model that --scene starts from or, of a
   procedural scene, its truth. After an interrupt the datasets left are skipped. */
bool measure_datasets(const options *o, measure_view function, void *state, error_line *error);

/* Slopes as training might give them: of any sign, about one over the number of values. */
void measure_slope(trainer *t);

/* Of a program that has measured what it was asked for, or was interrupted, which it says. */
int measure_status(void);

void measure_start(trainer *t);
/* Milliseconds since measure_start, on the device. */
float measure_stop(trainer *t);

/* Opens a table of results, and writes its head and the names of its columns. */
bool measure_open_csv(output_file *file, const char *path, const char *columns, error_line *error);

enum { LANE_COUNTS = 33 };

/* Adds to histogram: warp steps of the backward pass by hit lanes, those with a pixel that is hit,
   for the view just drawn. */
void count_lanes_of_frame(trainer *t, unsigned long long *histogram);
void print_lanes(const unsigned long long *histogram);

#endif
