/* workload.cpp - which lanes are active and which keys coincide: arguments for the generator.
   SPDX-License-Identifier: Apache-2.0

   bench/README.md says where the distribution of each model comes from. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <utility>

#include "../common/program_run.h"
#include "../kernels/draw_args.h"
#include "sweep.h"

/* Every other update has 1 + (0..many) active lanes, the others 1 + (0..few), both masks; what
   exceeds 32 is a full warp. */
struct model {
  int workload, call;
  unsigned seed;
  int many, few, half_empty;
  int rate_base, rate_add_mask, rate_shift_mask; /* of the keys along the lanes, keyed call only */
  int ragged, neighbours;                        /* runs of uneven length; keys in a row */
  int key_shift_mask;                            /* octaves of a power law */
  int rows;                                      /* > 0: so few */
  int updates_divisor;
};

static const struct model models[] = {
    {SWEEP_WORKLOAD_TILE, SWEEP_CALL_UNIFORM, 101, 127, 31, 1, 0, 0, 0, 0, 0, 0, 0, 1},
    {SWEEP_WORKLOAD_SPHERES, SWEEP_CALL_KEYED, 202, 63, 31, 0, 5, 15, 0, 1, 0, 0, 0, 1},
    {SWEEP_WORKLOAD_CUBEMAP, SWEEP_CALL_KEYED, 303, 63, 7, 0, 4, 3, 3, 0, 1, 0, 0, 1},
    {SWEEP_WORKLOAD_HASHGRID, SWEEP_CALL_KEYED, 404, 0, 0, 0, 1, 0, 7, 0, 0, 0, 0, 1},
    {SWEEP_WORKLOAD_PAGERANK, SWEEP_CALL_KEYED, 505, 31, 15, 0, 128, 0, 0, 0, 0, 7, 0, 1},
    {SWEEP_WORKLOAD_HOT, SWEEP_CALL_UNIFORM, 606, 127, 127, 0, 0, 0, 0, 0, 0, 0, 4, 8},
    {SWEEP_WORKLOAD_COALESCED, SWEEP_CALL_KEYED, 808, 0, 0, 0, 128, 0, 0, 0, 1, 0, 0, 1},
    {SWEEP_WORKLOAD_FILE, SWEEP_CALL_KEYED, 707, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
};
enum {
  neighbour_keys = 32, /* a warp's keys span at most so many rows */
  unit_rate = 128      /* a key a position */
};

static const struct model *model_of(int workload) {
  for (const struct model &m : models)
    if (m.workload == workload) return &m;
  return NULL;
}

int sweep_workload_call(int workload) { return model_of(workload)->call; }

int sweep_workload_rows(int workload) {
  const struct model *m = model_of(workload);
  return m && m->neighbours ? 2 * neighbour_keys : 1;
}

static int updates_of(const sweep_cell &c, const sweep_options &o) {
  const struct model *m = model_of(c.workload);
  int updates = m ? o.updates / m->updates_divisor : o.updates;
  return updates > 0 ? updates : 1;
}

double sweep_warp_updates(const sweep_cell &c, const sweep_options &o) {
  return (double)o.blocks * (o.threads / 32) * updates_of(c, o);
}

/* ---- a file of masks ---- */

/* So many of all updates get each pair of lanes and addresses as it has of the calls. The active
   lanes are the first ones; along them the key changes at positions `128 / rate` apart. */
int sweep_workload_read(const char *name, std::vector<sweep_mask> *masks) {
  std::string at = "--workload-file: '" + std::string(name) + "'";
  char line[256];
  int number = 0;
  double calls[33][33] = {}, all = 0, before = 0;
  FILE *in = text_open(name);
  if (!in) return sweep_complain(at + " cannot be read");
  while (fgets(line, sizeof line, in)) {
    int lanes = 0, addresses = 0, end = 0;
    unsigned long long count = 0, place = 0;
    const char *must = number == 0 ? "# arc masks\n" : "place,lanes,addresses,calls\n";
    number += 1;
    if (char *end_of_line = strstr(line, "\r\n")) strcpy(end_of_line, "\n");
    bool right = number <= 2 ? !strcmp(line, must)
                             : sscanf(line, "%llu,%d,%d,%llu%n", &place, &lanes, &addresses, &count,
                                      &end) == 4 &&
                                   !strcmp(line + end, "\n") && !strchr(line, '-') && lanes <= 32 &&
                                   addresses >= 1 && addresses <= lanes;
    if (!right) {
      fclose(in);
      return sweep_complain(at + ", line " + std::to_string(number) + ": must be " +
                            (number > 2 ? "a number, lanes 1..32, addresses 1..lanes, calls"
                                        : std::string(must, strlen(must) - 1)));
    }
    calls[lanes][addresses] += (double)count;
    all += (double)count;
  }
  fclose(in);
  if (all <= 0)
    return sweep_complain(at + ", line " + std::to_string(number) +
                          ": its calls add up to nothing");
  for (int lanes = 1; lanes <= 32; ++lanes)
    for (int addresses = 1; addresses <= lanes; ++addresses) {
      before += calls[lanes][addresses];
      int rate = lanes > 1 ? (unit_rate * (addresses - 1) + lanes - 2) / (lanes - 1) : 0;
      while ((double)masks->size() < before / all * SWEEP_MASKS - 0.5)
        masks->push_back({lanes, rate});
    }
  while (masks->size() < SWEEP_MASKS) masks->push_back(masks->back());
  return 0;
}

/* ---- lanes ---- */

static int draw_below(unsigned random, int bound) {
  return (int)((uint64_t)random * (uint64_t)bound >> 32);
}

static void shuffle_ranks(struct sweep_lane_setup *lanes, unsigned seed) {
  for (int i = 31; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    std::swap(lanes[i].rank, lanes[draw_below(seed, i + 1)].rank);
  }
}

/* The first `count` ranks on evenly spaced lanes; for drawn counts a bit reversal, whose every
   prefix is nearly even. */
static void spread_ranks(struct sweep_lane_setup *lanes, int count) {
  if (count > 32) {
    for (int lane = 0; lane < 32; ++lane)
      lanes[lane].rank =
          (lane & 1) << 4 | (lane & 2) << 2 | (lane & 4) | (lane & 8) >> 2 | (lane & 16) >> 4;
    return;
  }
  int next = 0, other = count;
  for (int lane = 0; lane < 32; ++lane) {
    int chosen = next < count && lane == next * 32 / count;
    lanes[lane].rank = chosen ? next++ : other++;
  }
}

/* Steps of 0, 1 and 2 positions from lane to lane, a third of each: runs of the same key get
   lengths that differ severalfold. */
static void ragged_positions(struct sweep_lane_setup *lanes, unsigned seed) {
  int step[31];
  for (int i = 0; i < 31; ++i) step[i] = i < 10 ? 0 : i < 20 ? 2 : 1;
  for (int i = 30; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    std::swap(step[i], step[draw_below(seed, i + 1)]);
  }
  lanes[0].position = 0;
  for (int lane = 1; lane < 32; ++lane)
    lanes[lane].position = lanes[lane - 1].position + step[lane - 1];
}

void sweep_workload_lanes(const sweep_cell &c, int seed, struct sweep_lane_setup *lanes) {
  const struct model *m = model_of(c.workload);
  for (int lane = 0; lane < 32; ++lane) {
    struct sweep_lane_setup *l = &lanes[lane];
    l->rank = c.shape == SWEEP_SHAPE_SINGLE ? 31 - lane : lane;
    l->position = m ? lane : 0;
    if (c.layout == SWEEP_LAYOUT_INTERLEAVED) l->position = lane % c.keys;
    if (c.layout == SWEEP_LAYOUT_CONTIGUOUS) l->position = lane * c.keys / 32;
    l->never = 0;
  }
  if (m && m->ragged) ragged_positions(lanes, (unsigned)seed + m->seed);
  if (c.shape == SWEEP_SHAPE_SCATTERED) shuffle_ranks(lanes, (unsigned)seed);
  if (c.shape == SWEEP_SHAPE_STRIDED) spread_ranks(lanes, c.lanes);
}

/* ---- arguments ---- */

static void axes_args(const sweep_cell &c, struct sweep_args *a) {
  a->rate_base = unit_rate;
  if (c.lanes == SWEEP_LANES_MIXED) {
    a->count_base = 1;
    a->count_mask_many = 31;
    a->count_mask_flip = 31 ^ 3;
  }
  if (c.layout == SWEEP_LAYOUT_RANDOM && c.call == SWEEP_CALL_KEYED)
    a->random_groups = (unsigned)c.keys;
}

static void model_args(const struct model *m, const sweep_cell &c, struct sweep_args *a) {
  a->seed += m->seed;
  if (c.lanes == SWEEP_LANES_MODEL) {
    a->count_base = m->many ? 1 : 32;
    a->count_mask_many = m->many;
    a->count_mask_flip = m->many ^ m->few;
  }
  if (m->half_empty) a->empty_mask = 1u << 30;
  a->rate_base = m->rate_base;
  a->rate_add_mask = m->rate_add_mask;
  a->rate_shift_mask = m->rate_shift_mask;
  a->phase_mask = m->workload == SWEEP_WORKLOAD_FILE ? 0 : unit_rate - 1;
  a->key_shift_mask = (unsigned)m->key_shift_mask;
  if (m->rows > 0 && m->rows < a->key_count) a->key_count = m->rows;
  if (m->neighbours) {
    a->key_count -= neighbour_keys;
    a->group_spread = 0;
    a->group_step = 1;
  }
}

void sweep_workload_args(const sweep_cell &c, const sweep_options &o, struct sweep_args *a) {
  const struct model *m = model_of(c.workload);
  memset(a, 0, sizeof *a);
  a->stride = sweep_stride(&c);
  a->width = c.width;
  a->row_count = a->key_count = o.rows;
  a->updates = updates_of(c, o);
  a->threshold = c.threshold;
  a->seed = (unsigned)o.seed;
  a->count_base = c.lanes;
  a->group_spread = 0x9E3779B9u;
  if (c.shape == SWEEP_SHAPE_RANDOM && c.workload != SWEEP_WORKLOAD_FILE) {
    a->rank_step_mask = 30;
    a->rank_shift_mask = 31;
  }
  if (m)
    model_args(m, c, a);
  else
    axes_args(c, a);
}
