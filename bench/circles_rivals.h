/* circles_rivals.h - how else circles can be drawn: the measurement behind examples/circles
   --compare-renderers.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_CIRCLES_RIVALS_H
#define ARC_BENCH_CIRCLES_RIVALS_H

#include "examples/circles/circles.h"

/* Paints circle after circle, in double precision: 3 numbers a pixel. */
std::vector<double> rivals_draw_serially(const scene *s);

/* One of rivals_count() renderers. */
typedef struct rivals_result {
  const char *name;
  float lists_ms, draw_ms; /* medians */
  double worst;            /* difference of a colour from the serial renderer's, of 255 */
} rivals_result;

int rivals_count(void);
rivals_result rivals_run(const scene *s, int renderer, const std::vector<double> *wanted,
                         int repeats);

/* The program with --compare-renderers: every scene by every renderer. Returns its exit status. */
int rivals_main(int argc, char **argv);

#endif
