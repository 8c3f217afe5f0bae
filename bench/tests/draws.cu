/* draws.cu - what the workload models draw is what ../README.md says of them.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "../kernels/draw.cuh"
#include "../sweep/sweep.h"

enum { warps = 200, updates = 50, rows = 1000 };

/* Of 10 000 warp updates drawn on the host, as the kernels draw them. */
struct drawn {
  double empty;                 /* share of updates without an active lane */
  double lanes, full;           /* active lanes, share of full warps; of the others */
  double keys;                  /* different ones per update; of the others */
  int fewest_keys, most_keys;   /* in an update with all lanes active */
  int fewest_lanes, most_lanes; /* of the others */
  double one_key;               /* share of updates of two lanes and more that hold one key */
  int most_step;                /* between keys of neighbouring lanes */
  double low_rows;              /* share of lanes whose key is among the first 1/128 of the rows */
  int highest_key;
  unsigned hash; /* of everything */
};

static void count_update(drawn *d, const sweep_update *u) {
  int lanes = 0, keys = 0;
  for (int i = 0; i < 32; ++i) {
    bool known = false;
    d->hash = (d->hash ^ (unsigned)(u[i].active ? u[i].key : -1)) * 16777619u;
    if (!u[i].active) continue;
    ++lanes;
    for (int j = 0; j < i; ++j) known = known || (u[j].active && u[j].key == u[i].key);
    keys += !known;
    if (i > 0) d->most_step = std::max(d->most_step, abs(u[i].key - u[i - 1].key));
    d->low_rows += u[i].key < rows / 128;
    d->highest_key = std::max(d->highest_key, u[i].key);
  }
  d->empty += lanes == 0;
  d->lanes += lanes;
  d->keys += keys;
  d->full += lanes == 32;
  d->one_key += lanes > 1 && keys == 1;
  if (lanes > 0) d->fewest_lanes = std::min(d->fewest_lanes, lanes);
  d->most_lanes = std::max(d->most_lanes, lanes);
  if (lanes == 32) d->fewest_keys = std::min(d->fewest_keys, keys);
  if (lanes == 32) d->most_keys = std::max(d->most_keys, keys);
}

static drawn draw(int workload, int lanes, int seed) {
  sweep_lane_setup setup[32];
  sweep_args a;
  sweep_cell c = {};
  sweep_options o = {};
  drawn d = {};
  o.rows = rows;
  o.updates = updates;
  o.seed = seed;
  c.workload = workload;
  c.width = 4;
  c.lanes = lanes;
  c.shape = lanes == SWEEP_LANES_MODEL ? SWEEP_SHAPE_RANDOM : SWEEP_SHAPE_PREFIX;
  c.call = sweep_workload_call(workload);
  d.fewest_lanes = d.fewest_keys = 33;
  sweep_workload_args(c, o, &a);
  sweep_workload_lanes(c, seed, setup);
  a.lanes = setup;
  for (unsigned warp = 0; warp < warps; ++warp) {
    sweep_lane lane[32];
    sweep_update u[32];
    for (unsigned i = 0; i < 32; ++i) lane[i] = sweep_lane_begin(&a, warp, i, 32);
    for (int n = 0; n < a.updates; ++n) {
      for (int i = 0; i < 32; ++i)
        u[i] = c.call == SWEEP_CALL_UNIFORM ? sweep_draw_uniform(&a, &lane[i])
                                            : sweep_draw_keyed(&a, &lane[i]);
      count_update(&d, u);
    }
  }
  double all = warps * a.updates, some = all - d.empty;
  d.low_rows /= d.lanes;
  d.empty /= all;
  d.lanes /= some;
  d.keys /= some;
  d.full /= some;
  d.one_key /= some;
  return d;
}

static int failures;

static void expect(const char *what, double found, double low, double high) {
  if (found >= low && found <= high) return;
  printf("FAILED: %s is %.4g, must be %.4g to %.4g\n", what, found, low, high);
  ++failures;
}

static void check_models(void) {
  drawn tile = draw(SWEEP_WORKLOAD_TILE, SWEEP_LANES_MODEL, 1);
  expect("tile: share of empty steps", tile.empty, 0.47, 0.53);
  expect("tile: active lanes in the others", tile.lanes, 21, 23.5);
  expect("tile: share of full warps", tile.full, 0.35, 0.43);
  expect("tile: keys a warp", tile.keys, 1, 1);
  drawn spheres = draw(SWEEP_WORKLOAD_SPHERES, SWEEP_LANES_MODEL, 1);
  expect("spheres: fewest keys of a full warp", spheres.fewest_keys, 2, 2);
  expect("spheres: most keys of a full warp", spheres.most_keys, 6, 6);
  expect("spheres: active lanes", spheres.lanes, 18, 22);
  expect("spheres: fewest active lanes", spheres.fewest_lanes, 1, 1);
  expect("cubemap: step from lane to lane", draw(SWEEP_WORKLOAD_CUBEMAP, 32, 1).most_step, 1, 1);
  expect("cubemap: keys a warp", draw(SWEEP_WORKLOAD_CUBEMAP, 32, 1).keys, 5, 6.5);
  expect("cubemap: active lanes", draw(SWEEP_WORKLOAD_CUBEMAP, SWEEP_LANES_MODEL, 1).lanes, 13.5,
         15.5);
  drawn hashgrid = draw(SWEEP_WORKLOAD_HASHGRID, SWEEP_LANES_MODEL, 1);
  expect("hashgrid: fewest keys a warp", hashgrid.fewest_keys, 1, 1);
  expect("hashgrid: most keys a warp", hashgrid.most_keys, 31, 32);
  expect("hashgrid: share of full warps", hashgrid.full, 1, 1);
  drawn pagerank = draw(SWEEP_WORKLOAD_PAGERANK, SWEEP_LANES_MODEL, 1);
  expect("pagerank: active lanes", pagerank.lanes, 11.5, 13.5);
  expect("pagerank: share of warps on one address", pagerank.one_key, 0, 0.001);
  expect("pagerank: share of the first 1/128 of the rows", pagerank.low_rows, 0.15, 0.35);
  drawn hot = draw(SWEEP_WORKLOAD_HOT, SWEEP_LANES_MODEL, 1);
  expect("hot: highest key", hot.highest_key, 3, 3);
  expect("hot: share of full warps", hot.full, 0.7, 0.8);
}

static void check_lanes_and_seeds(void) {
  for (int workload = SWEEP_WORKLOAD_TILE; workload < SWEEP_WORKLOAD_END; ++workload) {
    drawn eight = draw(workload, 8, 1);
    expect("fewest of 8 lanes", eight.fewest_lanes, 8, 8);
    expect("most of 8 lanes", eight.most_lanes, 8, 8);
    expect("the same seed draws the same", draw(workload, 8, 1).hash == eight.hash, 1, 1);
    expect("another seed draws others", draw(workload, 8, 2).hash != eight.hash, 1, 1);
  }
}

int main(void) {
  check_models();
  check_lanes_and_seeds();
  printf("draws: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
