/* arc study gaussians: clones, splits and prunes.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../render/sort.h"
#include "densify.cuh"
#include "train.h"

/* A new block for `to` Gaussians in the place of an old one, which is returned. */
static device_array trainer_swap_block(trainer *t, int block, int to) {
  device_array old = t->blocks[block], fresh = {nullptr, 0};
  device_reserve(&t->memory, &fresh, model_bytes(to), "memory for the Gaussians");
  device_clear(fresh.data, model_bytes(to));
  t->blocks[block] = fresh;
  return old;
}

/* Fates as chosen, places as scanned: everything moves into new blocks. */
static void trainer_repopulate(trainer *t, const int *fates, const int *places, int to,
                               unsigned long long seed) {
  int from = t->count, blocks = line_blocks(from);
  device_release(&t->memory, &t->blocks[BLOCK_GRADIENTS]);
  for (int block = 0; block < BLOCKS; ++block) {
    if (block == BLOCK_GRADIENTS) continue;
    device_array old = trainer_swap_block(t, block, to);
    gaussians before = split_gaussians((float *)old.data, from);
    gaussians after = split_gaussians((float *)t->blocks[block].data, to);
    if (block == BLOCK_PARAMETERS) {
      SIMT_LAUNCH(move_gaussians, blocks, LINE_THREADS, 0, 0, before, from, fates, places, after,
                  seed);
    } else {
      SIMT_LAUNCH(move_moments, blocks, LINE_THREADS, 0, 0, before, from, fates, places, after);
    }
    device_check(cudaDeviceSynchronize(), "densifying");
    device_release(&t->memory, &old);
  }
  t->count = to;
  trainer_reserve_gradients(t);
  device_reserve(&t->memory, &t->statistics, 2 * sizeof(float) * to, "memory for statistics");
  device_clear(t->statistics.data, 2 * sizeof(float) * to);
}

/* How many there will be; fates and places are filled. */
static int trainer_choose(trainer *t, densify_rules rules, int *fates, int *counts, int *places,
                          device_array *scratch) {
  int last[2];
  SIMT_LAUNCH(choose_fates, line_blocks(t->count), LINE_THREADS, 0, 0,
              trainer_block(t, BLOCK_PARAMETERS), t->count, trainer_statistics(t), rules, fates,
              counts);
  if (!scan_counts(counts, places, t->count, scratch->data, scratch->bytes))
    device_check(cudaGetLastError(), "densifying");
  device_to_host(&last[0], counts + t->count - 1, sizeof(int), "densifying");
  device_to_host(&last[1], places + t->count - 1, sizeof(int), "densifying");
  return last[0] + last[1];
}

void trainer_densify(trainer *t) {
  const train_settings *s = &t->settings;
  float extent = t->data->extent;
  bool late = t->iteration + 1 > s->reset_every;
  densify_rules rules = {s->densify_pull, 0.01f * extent, late ? 0.1f * extent : INFINITY,
                         s->seed * 0x9e3779b97f4a7c15ull + (unsigned long long)t->iteration};
  device_array room = {nullptr, 0}, scratch = {nullptr, 0};
  device_reserve(&t->memory, &room, 3 * sizeof(int) * t->count, "memory for densifying");
  device_reserve(&t->memory, &scratch, sort_scratch_bytes(t->count), "memory for densifying");
  int *fates = (int *)room.data, *counts = fates + t->count, *places = counts + t->count;
  int to = trainer_choose(t, rules, fates, counts, places, &scratch);
  if (to > s->most_gaussians) {
    rules.pull = INFINITY;
    to = trainer_choose(t, rules, fates, counts, places, &scratch);
  }
  if (to > 0) trainer_repopulate(t, fates, places, to, rules.seed);
  device_release(&t->memory, &room);
  device_release(&t->memory, &scratch);
}

void trainer_reset_opacity(trainer *t) {
  SIMT_LAUNCH(reset_opacity, line_blocks(t->count), LINE_THREADS, 0, 0,
              trainer_block(t, BLOCK_PARAMETERS).opacity, trainer_block(t, BLOCK_MEANS).opacity,
              trainer_block(t, BLOCK_SQUARES).opacity, t->count);
}
