/* arc example hashgrid: what each level's gradient costs, and which threshold serves it best.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "../common/program_run.h"
#include "trainer.h"

#include "arc.cuh"

/* Prints the means of active lanes and of keys a warp. */
static void print_counts(trainer *t, int level) {
  unsigned long long n[WORKLOAD_COUNTS];
  double steps = 0.0, lanes = 0.0, keys = 0.0;
  device_clear(workload_counts(), sizeof n);
  trainer_add(t, WAY_COUNT, 0, level, 1);
  device_to_host(n, workload_counts(), sizeof n, "counting lanes");
  for (int i = 1; i <= 32; ++i) {
    steps += (double)n[i];
    lanes += i * (double)n[i];
    keys += i * (double)n[33 + i];
  }
  printf(" %6.1f %6.1f", lanes / steps, keys / steps);
}

#if SIMT_ON_CPU
static float level_ms(trainer *, int, int, int) { return 0.0f; }
#else
/* Median of launches after one that warms up. */
static float level_ms(trainer *t, int way, int threshold, int level) {
  enum { REPEATS = 9 };
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

/* Sets the level's threshold to the fastest; auto, unless another one gains. Block forms may follow
   each other from the coarsest level on. Returns its time. */
static float choose_threshold(trainer *t, int level) {
  static const int candidates[] = {ARC_THRESHOLD_AUTO, 0, 4, 8, 16, ARC_THRESHOLD_NEVER};
  int best = ARC_THRESHOLD_AUTO;
  float least = 1e30f;
  for (int threshold : candidates) {
    t->threshold[level] = threshold;
    const float ms = level_ms(t, WAY_LEVELS, threshold, level);
    if (ms < 0.97f * least) best = threshold, least = ms;
  }
  t->threshold[level] = best;
  if (t->o.half_rows || t->hot_levels != level || !grid_level_fits_block(&t->g, level))
    return least;
  t->hot_levels = level + 1;
  const float ms = level_ms(t, WAY_LEVELS, 0, level);
  if (ms < 0.97f * least) return ms;
  t->hot_levels = level;
  return least;
}

static void print_times(trainer *t, int level, float own_ms) {
  const int own = t->threshold[level];
  const float plain = level_ms(t, WAY_PLAIN, 0, level);
  const float vector = level_ms(t, WAY_VECTOR, ARC_THRESHOLD_NEVER, level);
  const float ours = level_ms(t, WAY_AUTO, ARC_THRESHOLD_AUTO, level);
  char word[16];
  snprintf(word, sizeof word, "%d", own);
  printf(" %9.4f %9.4f %9.4f %7.3f %9.4f %7.3f  %s", plain, vector, ours, ours / plain, own_ms,
         own_ms / plain,
         level < t->hot_levels       ? "block form"
         : own == ARC_THRESHOLD_AUTO ? "auto"
                                     : word);
}

void levels_choose(trainer *t, bool prints) {
  if (prints)
    printf("\nlevel  cells     rows   lanes   keys%s\n",
           SIMT_ON_CPU ? "   # hashed"
                       : "  plain ms    vector      auto x plain    levels x plain  threshold");
  for (int level = 0; level < LEVELS; ++level) {
    const grid_level *l = &t->g.level[level];
    const float own_ms = SIMT_ON_CPU ? 0.0f : choose_threshold(t, level);
    if (!prints) continue;
    printf("%5d %6d %8d%c", level, l->cells, l->rows, l->hashed ? '#' : ' ');
    print_counts(t, level);
    if (!SIMT_ON_CPU) print_times(t, level, own_ms);
    printf("\n");
  }
}
