// studies/hardware: records warp steps on the CPU warp. SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <string.h>

#include <map>

#include "simt/simt.cuh"

enum { MOST_WARPS = 384, MOST_STEPS = 12 };

struct step {
  unsigned phase;
  recorded_step its;
};
typedef std::vector<step> steps;

static struct {
  const float *rows;
  size_t floats, stride;
  std::map<unsigned, steps> warps;  // by block and warp
} the;

static recorded_step *next_step_of(steps *all, unsigned warp, unsigned lane, unsigned phase) {
  size_t i = all->size();
  while (i > 0 && (*all)[i - 1].phase == phase) --i;
  while (i < all->size() && ((*all)[i].phase != phase || (*all)[i].its.keys[lane] >= 0)) ++i;
  if (i == all->size()) {
    all->push_back({phase, {(int)warp, {}}});
    memset(all->back().its.keys, -1, sizeof all->back().its.keys);
  }
  return &(*all)[i].its;
}

static void on_atomic(const struct simt_atomic *a, void *) {
  const size_t at = (size_t)((const float *)a->address - the.rows);
  if ((const float *)a->address < the.rows || at >= the.floats || at % the.stride) return;
  const unsigned lane = threadIdx.x % 32,
                 warp = (blockIdx.y * gridDim.x + blockIdx.x) * 32 + threadIdx.x / 32;
  steps *all = &the.warps[warp];
  if (all->size() > 4 * MOST_STEPS) return;
  next_step_of(all, warp, lane, a->phase)->keys[lane] = (int)(at / the.stride);
}

void record_begin(const float *rows, size_t floats, int stride) {
  the.rows = rows;
  the.floats = floats;
  the.stride = (size_t)stride;
  simt_set_atomic_trace(on_atomic, NULL);
}

// Whole blocks, evenly spread: their warps run side by side.
static std::vector<const steps *> sample(void) {
  std::map<unsigned, std::vector<const steps *>> blocks;
  std::vector<const steps *> list;
  size_t number = 0;
  for (const auto &w : the.warps) blocks[w.first / 32].push_back(&w.second);
  const size_t every = (the.warps.size() + MOST_WARPS - 1) / MOST_WARPS;
  for (const auto &b : blocks)
    if (number++ % every == 0) list.insert(list.end(), b.second.begin(), b.second.end());
  if (list.size() > MOST_WARPS) list.resize(MOST_WARPS);
  return list;
}

int record_end(record_call call, const char *file) {
  recording r = {call, {}};
  error_line error;
  simt_set_atomic_trace(NULL, NULL);
  for (const steps *warp : sample())
    for (size_t i = 0; i < warp->size() && i < MOST_STEPS; ++i) r.steps.push_back((*warp)[i].its);
  if (recording_write(&r, file, &error)) return printf("written    %s\n", file), 0;
  fprintf(stderr, "hardware: %s\n", error.text);
  return 1;
}
