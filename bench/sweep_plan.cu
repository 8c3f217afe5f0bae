/* sweep_plan.cu - from axes and presets to the list of cells, group by group.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"

#include "sweep.h"

int sweep_same_group(const struct sweep_cell *a, const struct sweep_cell *b) {
  return a->workload == b->workload && a->width == b->width && a->lanes == b->lanes &&
         a->shape == b->shape && a->keys == b->keys && a->layout == b->layout &&
         a->call == b->call && a->zeros == b->zeros && a->section == b->section;
}

static void plan_append(struct sweep_plan *plan, const struct sweep_cell *cell) {
  if (plan->count == plan->capacity) {
    plan->capacity = plan->capacity ? 2 * plan->capacity : 256;
    plan->cell =
        (struct sweep_cell *)realloc(plan->cell, (size_t)plan->capacity * sizeof *plan->cell);
    if (!plan->cell) abort();
  }
  plan->cell[plan->count++] = *cell;
}

void sweep_plan_free(struct sweep_plan *plan) {
  free(plan->cell);
  memset(plan, 0, sizeof *plan);
}

static void add_thresholds(struct sweep_plan *plan, struct sweep_cell cell,
                           const struct sweep_list *thresholds) {
  if (!sweep_path_has_threshold(cell.path)) {
    cell.threshold = SWEEP_THRESHOLD_UNUSED;
    plan_append(plan, &cell);
    return;
  }
  for (int i = 0; i < thresholds->count; ++i) {
    cell.threshold = thresholds->value[i];
    /* auto with a run-time threshold and the promise of zeros is not compiled */
    if (cell.path == SWEEP_PATH_AUTO && cell.zeros && cell.threshold != SWEEP_THRESHOLD_DEFAULT)
      continue;
    plan_append(plan, &cell);
  }
  if (thresholds->count == 0) {
    cell.threshold = cell.path == SWEEP_PATH_AUTO ? SWEEP_THRESHOLD_DEFAULT : 0;
    plan_append(plan, &cell);
  }
}

/* `none` first: it is the base of the others. */
static void add_group(struct sweep_plan *plan, struct sweep_cell cell,
                      const struct sweep_axes *axes) {
  cell.path = SWEEP_PATH_NONE;
  add_thresholds(plan, cell, &axes->thresholds);
  for (int path = SWEEP_PATH_PLAIN; path < SWEEP_PATH_END; ++path) {
    cell.path = path;
    if (sweep_list_has(&axes->paths, path)) add_thresholds(plan, cell, &axes->thresholds);
  }
}

static void add_masks(struct sweep_plan *plan, struct sweep_cell cell,
                      const struct sweep_axes *axes) {
  int model = cell.workload != SWEEP_WORKLOAD_AXES;
  struct sweep_list lanes = axes->lanes;
  if (lanes.count == 0) sweep_list_add(&lanes, model ? SWEEP_LANES_MODEL : 32);
  for (int l = 0; l < lanes.count; ++l) {
    if (lanes.value[l] == (model ? SWEEP_LANES_MIXED : SWEEP_LANES_MODEL)) continue;
    for (int s = 0; s < axes->shapes.count; ++s) {
      cell.lanes = lanes.value[l];
      cell.shape = axes->shapes.value[s];
      if (cell.lanes == SWEEP_LANES_MODEL) {
        if (s > 0) continue;
        cell.shape = SWEEP_SHAPE_RANDOM; /* which lanes a model leaves out is drawn as well */
      } else if (cell.shape == SWEEP_SHAPE_SINGLE) {
        if (l > 0) continue;
        cell.lanes = 1;
      } else if ((cell.lanes == 0 || cell.lanes == 32) && s > 0) {
        continue; /* no lane or all lanes: every shape is the same mask */
      }
      add_group(plan, cell, axes);
    }
  }
}

static void add_widths(struct sweep_plan *plan, struct sweep_cell cell,
                       const struct sweep_axes *axes) {
  for (int w = 0; w < axes->widths.count; ++w) {
    cell.width = axes->widths.value[w];
    for (int z = 0; z < axes->zeros.count; ++z) {
      cell.zeros = axes->zeros.value[z];
      add_masks(plan, cell, axes);
    }
  }
}

static void add_keys(struct sweep_plan *plan, struct sweep_cell cell, const struct sweep_axes *axes,
                     int call) {
  cell.call = call;
  if (call == SWEEP_CALL_UNIFORM && cell.keys > 1) return;
  for (int l = 0; l < axes->layouts.count; ++l) {
    cell.layout = axes->layouts.value[l];
    if (l > 0 && (cell.keys == 1 || cell.keys > 32)) break; /* there is but one layout */
    if (cell.keys == 1) cell.layout = SWEEP_LAYOUT_CONTIGUOUS;
    if (cell.keys > 32) cell.layout = SWEEP_LAYOUT_RANDOM;
    add_widths(plan, cell, axes);
  }
}

static void add_axes(struct sweep_plan *plan, struct sweep_cell cell,
                     const struct sweep_axes *axes) {
  for (int k = 0; k < axes->keys.count; ++k) {
    cell.keys = axes->keys.value[k];
    if (axes->calls.count == 0)
      add_keys(plan, cell, axes, cell.keys == 1 ? SWEEP_CALL_UNIFORM : SWEEP_CALL_KEYED);
    for (int c = 0; c < axes->calls.count; ++c) add_keys(plan, cell, axes, axes->calls.value[c]);
  }
}

static void add_product(struct sweep_plan *plan, const struct sweep_axes *axes, char section) {
  struct sweep_cell cell;
  memset(&cell, 0, sizeof cell);
  cell.section = section;
  for (int w = 0; w < axes->workloads.count; ++w) {
    cell.workload = axes->workloads.value[w];
    if (cell.workload == SWEEP_WORKLOAD_AXES) {
      add_axes(plan, cell, axes);
    } else {
      cell.call = sweep_workload_call(cell.workload);
      add_widths(plan, cell, axes);
    }
  }
}

/* Presets ask for some cells twice and for some groups in two parts. Brings the cells of each group
   together, in the order in which groups were asked for first, each cell once. */
static void plan_regroup(struct sweep_plan *plan) {
  struct sweep_plan sorted;
  memset(&sorted, 0, sizeof sorted);
  for (int i = 0; i < plan->count; ++i) {
    if (plan->cell[i].path == 0) continue; /* taken */
    int first = sorted.count;
    struct sweep_cell group = plan->cell[i];
    for (int j = i; j < plan->count; ++j) {
      struct sweep_cell *cell = &plan->cell[j];
      if (cell->path == 0 || !sweep_same_group(&group, cell)) continue;
      int known = 0;
      for (int k = first; k < sorted.count; ++k)
        known |= sorted.cell[k].path == cell->path && sorted.cell[k].threshold == cell->threshold;
      if (!known) plan_append(&sorted, cell);
      cell->path = 0;
    }
  }
  sweep_plan_free(plan);
  *plan = sorted;
}

/* ---- presets ---- */

static struct sweep_list list_of(int count, ...) {
  struct sweep_list list;
  memset(&list, 0, sizeof list);
  va_list arguments;
  va_start(arguments, count);
  for (int i = 0; i < count; ++i) sweep_list_add(&list, va_arg(arguments, int));
  va_end(arguments);
  return list;
}

static void plan_default(struct sweep_plan *plan, const struct sweep_axes *start) {
  struct sweep_axes a = *start;
  a.widths = list_of(7, 1, 3, 4, 9, 10, 16, 32);
  a.lanes = list_of(6, 1, 4, 8, 16, 32, SWEEP_LANES_MIXED);
  add_product(plan, &a, '-');
  a.widths = list_of(1, 9);
  a.lanes = list_of(1, 8);
  a.shapes = list_of(5, SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_SCATTERED, SWEEP_SHAPE_STRIDED,
                     SWEEP_SHAPE_RANDOM, SWEEP_SHAPE_SINGLE);
  a.zeros = list_of(2, 0, 1);
  add_product(plan, &a, '-');
  a = *start;
  a.keys = list_of(7, 1, 2, 4, 8, 16, 32, 1000);
  a.calls = list_of(1, SWEEP_CALL_KEYED);
  add_product(plan, &a, '-');
}

/* (a) one key, all lanes: the paths against each other, width by width */
static void plan_full_warps(struct sweep_plan *plan, struct sweep_axes a) {
  a.widths = list_of(11, 1, 2, 3, 4, 8, 9, 10, 12, 16, 20, 32);
  a.zeros = list_of(2, 1, 0);
  add_product(plan, &a, 'a');
}

/* (b) mixed occupancy: auto's default against every threshold of the papers' paths */
static void plan_mixed(struct sweep_plan *plan, struct sweep_axes a) {
  a.widths = list_of(2, 9, 10);
  a.lanes = list_of(1, SWEEP_LANES_MIXED);
  a.shapes = list_of(2, SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_RANDOM);
  a.thresholds = list_of(15, 0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 33);
  add_product(plan, &a, 'b');
  a.paths = list_of(1, SWEEP_PATH_AUTO);
  a.thresholds = list_of(1, SWEEP_THRESHOLD_DEFAULT);
  add_product(plan, &a, 'b');
}

/* (c) fixed numbers of lanes: 0 (reduce) and 33 (do not) are all the thresholds there are */
static void plan_cells(struct sweep_plan *plan, struct sweep_axes a) {
  a.widths = list_of(9, 1, 2, 3, 4, 8, 9, 10, 16, 32);
  a.lanes = list_of(8, 0, 1, 2, 4, 8, 16, 24, 32);
  a.shapes = list_of(2, SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_SCATTERED);
  struct sweep_axes papers = a;
  papers.paths = list_of(2, SWEEP_PATH_SERIALIZED, SWEEP_PATH_BUTTERFLY);
  papers.thresholds = list_of(2, 0, 33);
  add_product(plan, &a, 'c');
  add_product(plan, &papers, 'c');
}

/* (d) several keys in a warp */
static void plan_keyed(struct sweep_plan *plan, struct sweep_axes a) {
  a.keys = list_of(7, 1, 2, 4, 8, 16, 32, 1000);
  a.calls = list_of(1, SWEEP_CALL_KEYED);
  a.layouts = list_of(3, SWEEP_LAYOUT_RANDOM, SWEEP_LAYOUT_INTERLEAVED, SWEEP_LAYOUT_CONTIGUOUS);
  struct sweep_axes serialized = a;
  serialized.paths = list_of(1, SWEEP_PATH_SERIALIZED);
  serialized.thresholds = list_of(1, 1);
  add_product(plan, &a, 'd');
  add_product(plan, &serialized, 'd');
}

/* (e) from how many lanes on a reduction pays: the source of default thresholds */
static void plan_crossover(struct sweep_plan *plan, struct sweep_axes a) {
  a.widths.count = 0;
#define ADD_WIDTH(W) sweep_list_add(&a.widths, W);
  SWEEP_WIDTHS(ADD_WIDTH)
  a.lanes = list_of(12, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32);
  a.paths = list_of(3, SWEEP_PATH_ATOMIC, SWEEP_PATH_TRANSPOSED, SWEEP_PATH_AUTO);
  add_product(plan, &a, 'e');
}

/* Everybody against everybody. Papers' paths at the thresholds that suit them best as well, and
   auto on hot rows as callers who know that their rows are hot would call it. */
static void plan_peers(struct sweep_plan *plan, struct sweep_axes a) {
  a.widths.count = 0;
  SWEEP_WIDTHS(ADD_WIDTH)
#undef ADD_WIDTH
  a.lanes = list_of(8, 1, 2, 4, 8, 16, 24, 32, SWEEP_LANES_MODEL);
  struct sweep_axes papers = a;
  papers.lanes = list_of(1, SWEEP_LANES_MODEL);
  papers.paths = list_of(2, SWEEP_PATH_SERIALIZED, SWEEP_PATH_BUTTERFLY);
  papers.thresholds = list_of(2, 8, 16);
  struct sweep_axes hot = a;
  hot.workloads = list_of(1, SWEEP_WORKLOAD_HOT);
  hot.paths = list_of(1, SWEEP_PATH_AUTO);
  hot.thresholds = list_of(1, ARC_THRESHOLD_CONTENDED);
  add_product(plan, &a, 'p');
  add_product(plan, &papers, 'p');
  add_product(plan, &hot, 'p');
}

void sweep_plan_build(struct sweep_plan *plan, const struct sweep_options *o) {
  memset(plan, 0, sizeof *plan);
  if (!o->preset) {
    add_product(plan, &o->axes, '-');
  } else if (strcmp(o->preset, "default") == 0) {
    plan_default(plan, &o->axes);
  } else if (strcmp(o->preset, "peers") == 0) {
    plan_peers(plan, o->axes);
  } else {
    plan_full_warps(plan, o->axes);
    plan_mixed(plan, o->axes);
    plan_cells(plan, o->axes);
    plan_keyed(plan, o->axes);
    plan_crossover(plan, o->axes);
  }
  if (o->preset) plan_regroup(plan);
}
