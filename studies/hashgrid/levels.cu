/* arc study hashgrid: what each level's gradient costs, and which threshold serves it best.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "../../bench/common/program_run.h"
#include "trainer.h"

#include "arc.cuh"

/* Prints the means of active lanes and of keys per warp. */
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
static float levels_ms(trainer *, int, int, int, int) { return 0.0f; }
#else
static float levels_ms(trainer *t, int way, int threshold, int first_level, int levels) {
  return median_time(9, [&] { trainer_add(t, way, threshold, first_level, levels); });
}
#endif

/* Whether the policy as it is takes 1 % less than the least so far: of all levels together, since
   they share what atomics are limited by, and one alone prefers what costs the others more. */
static bool gains(trainer *t, float *least_ms) {
  const float ms = levels_ms(t, WAY_LEVELS, 0, 0, LEVELS);
  const bool is_less = ms < 0.99f * *least_ms;
  if (is_less) *least_ms = ms;
  return is_less;
}

/* Block forms follow each other from the coarsest level on; other levels try thresholds. */
static void choose(trainer *t) {
  static const int candidates[] = {0, 4, 8, 16, ARC_THRESHOLD_NEVER};
  float least_ms = levels_ms(t, WAY_LEVELS, 0, 0, LEVELS);
  while (grid_level_fits_block(&t->g, t->hot_levels) && !interrupts) {
    t->hot_levels += 1;
    if (gains(t, &least_ms)) continue;
    t->hot_levels -= 1;
    break;
  }
  for (int level = t->hot_levels; level < LEVELS; ++level)
    for (int threshold : candidates) {
      if (interrupts) return;
      const int before = t->threshold[level];
      t->threshold[level] = threshold;
      if (!gains(t, &least_ms)) t->threshold[level] = before;
    }
}

static void print_level(trainer *t, int level) {
  const grid_level *l = &t->g.level[level];
  const int own = t->threshold[level];
  char word[16];
  snprintf(word, sizeof word, "%d", own);
  printf("%5d %6d %8d%c", level, l->cells, l->rows, l->hashed ? '#' : ' ');
  print_counts(t, level);
  const float plain = levels_ms(t, WAY_PLAIN, 0, level, 1);
  const float vector = levels_ms(t, WAY_VECTOR, ARC_THRESHOLD_NEVER, level, 1);
  const float ours = levels_ms(t, WAY_AUTO, ARC_THRESHOLD_AUTO, level, 1);
  if (!SIMT_ON_CPU) printf(" %9.4f %9.4f %9.4f %7.3f", plain, vector, ours, ours / plain);
  printf("  %s\n", level < t->hot_levels       ? "block form"
                   : own == ARC_THRESHOLD_AUTO ? "auto"
                                               : word);
}

void levels_choose(trainer *t, bool prints) {
  if (!SIMT_ON_CPU && !t->o.half_rows) choose(t);
  if (prints)
    printf("\nlevel  cells     rows   lanes   keys%s  own threshold; # hashed\n",
           SIMT_ON_CPU ? "" : "  plain ms    vector      auto x plain");
  for (int level = 0; prints && level < LEVELS && !interrupts; ++level) print_level(t, level);
}
