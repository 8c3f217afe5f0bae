/* arc example hashgrid: what each level's gradient costs, and which form serves it best.
   SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <stdio.h>

#include "../common/program_run.h"

#include "arc.cuh"

/* Of a level's counted steps: the mean of active lanes and of keys a warp. */
typedef struct level_counts {
  double lanes, keys;
} level_counts;

static level_counts count_level(trainer *t, int level) {
  unsigned long long n[66];
  double steps = 0.0;
  level_counts c = {0.0, 0.0};
  device_clear(workload_counts(), sizeof n);
  trainer_add(t, WAY_COUNT, 0, level, 1);
  device_to_host(n, workload_counts(), sizeof n, "counting lanes");
  for (int i = 1; i <= 32; ++i) {
    steps += (double)n[i];
    c.lanes += i * (double)n[i];
    c.keys += i * (double)n[33 + i];
  }
  c.lanes /= steps;
  c.keys /= steps;
  return c;
}

#if SIMT_ON_CPU
static float level_ms(trainer *, int, int, int) { return 0.0f; }
#else
/* Median of launches after one that warms up. */
static float level_ms(trainer *t, int way, int threshold, int level) {
  enum { REPEATS = 7 };
  float ms[REPEATS];
  cudaEvent_t events[2];
  for (cudaEvent_t &event : events) device_check(cudaEventCreate(&event), "an event");
  trainer_add(t, way, threshold, level, 1);
  for (float &time : ms) {
    device_check(cudaEventRecord(events[0], 0), "an event");
    trainer_add(t, way, threshold, level, 1);
    device_check(cudaEventRecord(events[1], 0), "an event");
    device_check(cudaEventSynchronize(events[1]), "a level");
    device_check(cudaEventElapsedTime(&time, events[0], events[1]), "a time");
  }
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return median(ms, REPEATS);
}
#endif

static const char *form_name(int form) {
  return form == ADD_CORNERS ? "corners" : form == ADD_CELLS ? "cells" : "hot";
}

static bool form_fits(const trainer *t, int form, int level) {
  if (form == ADD_CORNERS) return true;
  if (t->o.half_rows) return false;
  return form == ADD_CELLS ? !t->g.level[level].hashed : grid_level_fits_block(&t->g, level);
}

/* Sets the level's policy to the fastest. Returns its time. */
static float choose_policy(trainer *t, int level) {
  static const int thresholds[] = {ARC_THRESHOLD_AUTO, 0, 4, 8, 16, ARC_THRESHOLD_NEVER};
  level_policy best = t->policy[level];
  float least = 1e30f;
  for (int form = 0; form < ADD_FORMS; ++form)
    for (int threshold : thresholds) {
      if (!form_fits(t, form, level) || (form == ADD_HOT && threshold != ARC_THRESHOLD_AUTO))
        continue;
      t->policy[level] = {form, threshold};
      const float ms = level_ms(t, WAY_LEVELS, 0, level);
      if (ms < least) best = t->policy[level], least = ms;
    }
  t->policy[level] = best;
  return least;
}

static void print_level(trainer *t, int level, float best_ms) {
  const grid_level *l = &t->g.level[level];
  const level_policy p = t->policy[level];
  const level_counts c = count_level(t, level);
  printf("%5d %6d %8d%c %6.1f %6.1f", level, l->cells, l->rows, l->hashed ? '#' : ' ', c.lanes,
         c.keys);
  if (!SIMT_ON_CPU) {
    const float plain = level_ms(t, WAY_PLAIN, 0, level);
    const float vector = t->o.half_rows ? plain : level_ms(t, WAY_VECTOR, 0, level);
    const float ours = level_ms(t, WAY_AUTO, ARC_THRESHOLD_AUTO, level);
    printf(" %9.4f %9.4f %9.4f %9.4f %7.3f %7.3f", plain, vector, ours, best_ms, ours / plain,
           best_ms / plain);
  }
  printf("  %s", form_name(p.form));
  if (p.threshold != ARC_THRESHOLD_AUTO) printf(" %d", p.threshold);
  printf("\n");
}

void levels_choose(trainer *t, bool prints) {
  if (prints)
    printf("\nlevel  cells     rows   lanes   keys%s  own path; # hashed\n",
           SIMT_ON_CPU ? "" : "  plain ms    vector      auto       own  a/pl    o/pl  ");
  for (int level = 0; level < LEVELS; ++level) {
    const float best = SIMT_ON_CPU ? 0.0f : choose_policy(t, level);
    if (prints) print_level(t, level, best);
  }
}
