/* sweep_check_workloads.cu - tests of what the workload models draw, of floors and of the clock.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>

#include "sweep.h"
#include "sweep_draw.cuh"
#include "sweep_self_check.h"

/* ---- what is drawn ---- */

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

static void count_update(struct drawn *d, const struct sweep_update *u) {
  int lanes = 0, keys = 0;
  for (int i = 0; i < 32; ++i) {
    int known = 0;
    d->hash = (d->hash ^ (unsigned)(u[i].active ? u[i].key : -1)) * 16777619u;
    if (!u[i].active) continue;
    ++lanes;
    for (int j = 0; j < i; ++j) known |= u[j].active && u[j].key == u[i].key;
    keys += !known;
    int step = i > 0 ? abs(u[i].key - u[i - 1].key) : 0;
    if (step > d->most_step) d->most_step = step;
    d->low_rows += u[i].key < rows / 128;
    if (u[i].key > d->highest_key) d->highest_key = u[i].key;
  }
  d->empty += lanes == 0;
  d->lanes += lanes;
  d->keys += keys;
  d->full += lanes == 32;
  d->one_key += lanes > 1 && keys == 1;
  if (lanes > 0 && lanes < d->fewest_lanes) d->fewest_lanes = lanes;
  if (lanes > d->most_lanes) d->most_lanes = lanes;
  if (lanes == 32 && keys < d->fewest_keys) d->fewest_keys = keys;
  if (lanes == 32 && keys > d->most_keys) d->most_keys = keys;
}

static struct drawn draw(int workload, int lanes, int seed) {
  struct sweep_lane_setup setup[32];
  struct sweep_args a;
  struct sweep_cell c;
  struct sweep_sizes sizes = {rows, 4, 1, 32, updates, seed};
  struct drawn d;
  memset(&d, 0, sizeof d);
  memset(&c, 0, sizeof c);
  c.workload = workload;
  c.width = 4;
  c.lanes = lanes;
  c.shape = lanes == SWEEP_LANES_MODEL ? SWEEP_SHAPE_RANDOM : SWEEP_SHAPE_PREFIX;
  c.call = sweep_workload_call(workload);
  d.fewest_lanes = d.fewest_keys = 33;
  sweep_workload_args(&c, &sizes, &a);
  sweep_workload_lanes(&c, seed, setup);
  a.lanes = setup;
  for (unsigned warp = 0; warp < warps; ++warp) {
    struct sweep_lane lane[32];
    struct sweep_update u[32];
    for (unsigned i = 0; i < 32; ++i) lane[i] = sweep_lane_begin(&a, warp, i, 32);
    for (int n = 0; n < updates; ++n) {
      for (int i = 0; i < 32; ++i)
        u[i] = c.call == SWEEP_CALL_UNIFORM ? sweep_draw_uniform(&a, &lane[i])
                                            : sweep_draw_keyed(&a, &lane[i]);
      count_update(&d, u);
    }
  }
  double some = warps * updates - d.empty;
  d.low_rows /= d.lanes;
  d.empty /= warps * updates;
  d.lanes /= some;
  d.keys /= some;
  d.full /= some;
  d.one_key /= some;
  return d;
}

static void expect_within(struct self_check *s, const char *about, const char *what, double found,
                          double low, double high) {
  char words[128];
  snprintf(words, sizeof words, "%s is %.4g, must be %.4g to %.4g", what, found, low, high);
  self_check_expect(s, found >= low && found <= high, words, about);
}

/* The figures that README.md gives for the models. */
static void check_models(struct self_check *s) {
  struct drawn tile = draw(SWEEP_WORKLOAD_TILE, SWEEP_LANES_MODEL, 1);
  expect_within(s, "tile", "the share of empty steps", tile.empty, 0.47, 0.53);
  expect_within(s, "tile", "the mean of active lanes in the others", tile.lanes, 21, 23.5);
  expect_within(s, "tile", "the share of full warps", tile.full, 0.35, 0.43);
  expect_within(s, "tile", "keys a warp", tile.keys, 1, 1);
  struct drawn spheres = draw(SWEEP_WORKLOAD_SPHERES, SWEEP_LANES_MODEL, 1);
  expect_within(s, "spheres", "keys a full warp, fewest", spheres.fewest_keys, 2, 2);
  expect_within(s, "spheres", "keys a full warp, most", spheres.most_keys, 6, 6);
  expect_within(s, "spheres", "the mean of active lanes", spheres.lanes, 18, 22);
  expect_within(s, "spheres", "the fewest active lanes", spheres.fewest_lanes, 1, 1);
  struct drawn cubemap = draw(SWEEP_WORKLOAD_CUBEMAP, 32, 1);
  expect_within(s, "cubemap", "the step from lane to lane", cubemap.most_step, 1, 1);
  expect_within(s, "cubemap", "the mean of keys a warp", cubemap.keys, 5, 6.5);
  cubemap = draw(SWEEP_WORKLOAD_CUBEMAP, SWEEP_LANES_MODEL, 1);
  expect_within(s, "cubemap", "the mean of active lanes", cubemap.lanes, 13.5, 15.5);
  struct drawn hashgrid = draw(SWEEP_WORKLOAD_HASHGRID, SWEEP_LANES_MODEL, 1);
  expect_within(s, "hashgrid", "keys a warp, fewest", hashgrid.fewest_keys, 1, 1);
  expect_within(s, "hashgrid", "keys a warp, most", hashgrid.most_keys, 31, 32);
  expect_within(s, "hashgrid", "the share of full warps", hashgrid.full, 1, 1);
  struct drawn pagerank = draw(SWEEP_WORKLOAD_PAGERANK, SWEEP_LANES_MODEL, 1);
  expect_within(s, "pagerank", "the mean of active lanes", pagerank.lanes, 11.5, 13.5);
  expect_within(s, "pagerank", "the share of warps on one address", pagerank.one_key, 0, 0.001);
  expect_within(s, "pagerank", "the share of the first 1/128 of the rows", pagerank.low_rows, 0.15,
                0.35);
  struct drawn hot = draw(SWEEP_WORKLOAD_HOT, SWEEP_LANES_MODEL, 1);
  expect_within(s, "hot", "the highest key", hot.highest_key, 3, 3);
  expect_within(s, "hot", "the share of full warps", hot.full, 0.7, 0.8);
}

/* --lanes N with the keys of a model, and seeds. */
static void check_lanes(struct self_check *s) {
  for (int workload = SWEEP_WORKLOAD_TILE; workload < SWEEP_WORKLOAD_END; ++workload) {
    const char *name = sweep_workload_name(workload);
    struct drawn eight = draw(workload, 8, 1);
    expect_within(s, name, "the fewest of 8 lanes", eight.fewest_lanes, 8, 8);
    expect_within(s, name, "the most of 8 lanes", eight.most_lanes, 8, 8);
    struct drawn again = draw(workload, 8, 1), other = draw(workload, 8, 2);
    self_check_expect(s, again.hash == eight.hash, "a seed must draw the same again", name);
    self_check_expect(s, other.hash != eight.hash, "another seed must draw others", name);
  }
}

/* ---- sums, floors and the clock ---- */

/* Every path adds right under every model: the counts of rows, and no ERROR. */
static void check_sums(struct self_check *s) {
  const char *about = "every workload";
  int errors;
  self_check_run(s,
                 "--workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot --width 1,4,9,32 "
                 "--lanes 1,7,32,model --promise-zeros 0,1 --blocks 2 --threads 64 --updates 8 "
                 "--rows 70 --repeat 1 --quiet --csv @");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", about);
  int cells = self_check_rows(s, about, &errors);
  self_check_expect(s, cells == (3 + 6 * 4) * 4 * 2 * self_check_paths(), "the number of rows",
                    about);
  self_check_expect(s, errors == 0, "no row may be an ERROR", about);
  self_check_forget(s);
}

/* Field `column` of a row, as a number; -1 where it is empty. */
static double field_of(const char *row, int column) {
  for (; column > 0; --column) row += strcspn(row, ",") + 1;
  return *row == ',' ? -1.0 : strtod(row, NULL);
}

static int column_of(const char *head, const char *name) {
  int column = 0;
  for (; *head && *head != '\n'; ++column) {
    size_t length = strcspn(head, ",\n");
    if (strlen(name) == length && strncmp(head, name, length) == 0) return column;
    head += length + (head[length] == ',');
  }
  return -1;
}

static const char *next_line(const char *line) { return line + strcspn(line, "\n") + 1; }

/* The least and the greatest figure of a column of s->text, rows of `none` left out; an empty field
   counts as -1. */
static void range_of(struct self_check *s, const char *name, double *low, double *high) {
  const char *row = s->text;
  while (*row == '#') row = next_line(row);
  int column = column_of(row, name);
  *low = 1e30;
  *high = -1e30;
  for (row = next_line(row); *row && column >= 0; row = next_line(row)) {
    const char *none = strstr(row, ",none,");
    if (none && none < next_line(row)) continue;
    double value = field_of(row, column);
    if (value < *low) *low = value;
    if (value > *high) *high = value;
  }
}

/* Nobody is faster than the floor, and somebody comes close. What is sampled differs a little from
   what is launched; on a GPU there is noise besides. */
static void check_floors(struct self_check *s) {
  const char *about = "floors";
  double low, high;
  self_check_run(s,
                 "--workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot --width 2,9 --lanes "
                 "2,32 --path plain,vector,transposed,tree,auto --blocks 16 --quiet --csv @");
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", about);
  range_of(s, "to_floor", &low, &high);
  if (SIMT_ON_CPU) expect_within(s, about, "the least distance", low, 0.97, 1.1);
  if (SIMT_ON_CPU) expect_within(s, about, "the greatest distance", high, 10, 1000);
  self_check_expect(s, low > 0.0, "every row must have its distance", about);
  self_check_run(s, "--floors 0 --path plain --blocks 1 --updates 2 --rows 9 --quiet --csv @");
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", "--floors 0");
  range_of(s, "to_floor", &low, &high);
  self_check_expect(s, low == -1.0, "the column must be empty", "--floors 0");
  self_check_forget(s);
}

static void check_clock(struct self_check *s) {
  const char *about = "a clock that falls";
  self_check_run(s, "--width 1,2,3 --test-throttle 1 --blocks 1 --updates 2 --rows 9 --quiet");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  self_check_expect(s, strncmp(s->run.err, "WARNING: ", 9) == 0, "there must be a WARNING", about);
  self_check_expect(s, strstr(s->run.err, "2 of 3 groups") != NULL, "2 of 3 groups", about);
}

static void check_peers(struct self_check *s) {
  static const char *const parts[] = {"(1) ", "(2) ", "(3) ", "(4) ", "figures fall short"};
  const char *about = "--preset peers";
  self_check_run(s,
                 "--preset peers --blocks 1 --threads 32 --updates 2 --rows 70 --repeat 1 --quiet");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  for (const char *part : parts)
    self_check_expect(s, strstr(s->run.out, part) != NULL, part, about);
}

#if SIMT_ON_CPU
/* Peers must cost what the originals do, not only add right. */
static void check_costs(struct self_check *s) {
  static const struct {
    const char *row, *column;
    double count;
  } costs[] = {
    {",0,prefix,1,contiguous,uniform,0,shuffle_skip,", "shuffles", 0},
    {",0,prefix,1,contiguous,uniform,0,shuffle_skip,", "votes", 1},
    {",7,prefix,1,contiguous,uniform,0,shuffle_skip,", "shuffles", 5 * 9},
    {",7,prefix,1,contiguous,uniform,0,shuffle_skip,", "lane_adds", 9},
    {",7,prefix,1,contiguous,keyed,0,shuffle_skip,", "shuffles", 5 * 9 + 2},
    {",7,prefix,7,contiguous,keyed,0,shuffle_skip,", "lane_adds", 7 * 9},
    {",7,prefix,1,contiguous,uniform,0,match_shared,", "matches", 1},
#if SIMT_SHARED_SECTION /* else the CPU warp takes shared memory for global */
    {",7,prefix,1,contiguous,uniform,0,match_shared,", "lane_adds", 9},
#endif
    {",7,prefix,1,contiguous,uniform,0,match_shared,", "shuffles", 0},
  };
  self_check_run(s,
                 "--width 9 --lanes 0,7 --keys 1,7 --layout contiguous --call uniform,keyed --path "
                 "shuffle_skip,match_shared --blocks 1 --updates 4 --rows 70000 --quiet --csv @");
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", "peers' costs");
  const char *head = s->text;
  while (*head == '#') head = next_line(head);
  for (const auto &c : costs) {
    const char *row = strstr(s->text, c.row);
    while (row && row > s->text && row[-1] != '\n') --row;
    expect_within(s, c.row, c.column, row ? field_of(row, column_of(head, c.column)) : -1.0,
                  c.count, c.count);
  }
  self_check_forget(s);
}
#else
/* A noise that is always reached ends a cell after --repeat launches. */
static void check_launches(struct self_check *s) {
  const char *about = "--noise 100 --repeat 4";
  double low, high;
  self_check_run(s, "--path plain --noise 100 --repeat 4 --blocks 132 --quiet --csv @");
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", about);
  range_of(s, "launches", &low, &high);
  expect_within(s, about, "the number of launches", high, 4, 4);
  self_check_forget(s);
}
#endif

void self_check_workloads(struct self_check *s) {
  check_models(s);
  check_lanes(s);
  check_sums(s);
  check_floors(s);
  check_clock(s);
  check_peers(s);
#if SIMT_ON_CPU
  check_costs(s);
#else
  check_launches(s);
#endif
}
