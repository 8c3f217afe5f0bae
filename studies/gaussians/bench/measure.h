/* studies/gaussians/bench: what measures the trainer of studies/gaussians, in one program.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <vector>

#include "../program.h"
#include "ways.h"

#include "../../common/table_program.h" /* which has arc's policy: after what sets it */

typedef struct bench_options {
  options o;
  bool backward, papers, draw;
  const char *experiment; /* null: not asked for */
  unsigned datasets;      /* to measure on: bit 0 --scene, bit k scene_kind k; 0: not given */
  int seeds;              /* of --experiment, as the next */
  unsigned ways;          /* bit i: the i-th of experiment_ways(); 0: all */
  int city;               /* Gaussians of a synthetic city to draw; 0: none */
  const char *write;      /* a folder for the city, which is not drawn then; null: not asked for */
} bench_options;

/* They return the exit status. */
int run_backward(const bench_options *b); /* --papers, too */
int run_draws(const bench_options *b);
int run_experiment(const bench_options *b);
const char *const *experiment_ways(void); /* their names; the last is null */

unsigned datasets_of(const bench_options *b);
const char *dataset_name(const options *o, int kind);

/* One view of a dataset, drawn or not yet. */
typedef void (*measure_view)(trainer *t, const char *dataset, int repeats, void *state);
/* Calls for the first view of each dataset, with the model that --scene starts from or, of a
   procedural scene, its truth. After an interrupt the datasets left are skipped. */
bool measure_datasets(const bench_options *b, measure_view function, void *state,
                      error_line *error);

/* Slopes as training might give them: of any sign, about one over the number of values. */
void measure_slope(trainer *t);

/* Of a program that has measured what it was asked for, or was interrupted, which it says. */
int measure_status(void);

/* "-" of a way that takes no threshold. */
std::string threshold_of_way(add_way way, int threshold);

/* One launch of the backward pass; clearing the sums, in room for either layout, is not timed. */
float measure_backward(trainer *t, backward_launcher launcher, int threshold);

/* What the sums of the view just drawn should be, and how far off rounding may leave each: by the
   magnitudes that it is the sum of, and by those of its whole array, since each of them is a
   difference itself. SPLAT_WIDTH a splat. */
typedef struct sums_oracle {
  std::vector<float> wanted, room;
} sums_oracle;

sums_oracle oracle_of(trainer *t);
/* Of the last launch: the largest difference of a sum over its room; above 1 is an error. */
double sums_difference(const trainer *t, sum_layout layout, const sums_oracle *o);

enum { LANE_COUNTS = 33 };

/* Adds to histogram: warp steps of the backward pass by hit lanes, those with a pixel that is hit,
   for the view just drawn. */
void count_lanes_of_frame(trainer *t, int pixels, unsigned long long *histogram);
