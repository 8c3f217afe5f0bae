/* plan.cpp - from axes and presets to groups of cells. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <algorithm>
#include <map>

#include "axes.h"

bool sweep_path_has_threshold(int path) {
  return path >= SWEEP_PATH_SERIALIZED && path <= SWEEP_PATH_AUTO;
}

int sweep_plan_cells(const sweep_plan &plan) {
  int cells = 0;
  for (const auto &group : plan) cells += (int)group.size();
  return cells;
}

/* ---- the product of axes ---- */

/* Makes one cell out of all that mean the same. Returns false where there is none. */
static bool normalise(sweep_cell *c) {
  bool model = c->workload != SWEEP_WORKLOAD_AXES;
  if (c->lanes == (model ? SWEEP_LANES_MIXED : SWEEP_LANES_MODEL)) return false;
  if (!model && c->layout == SWEEP_LAYOUT_MODEL) return false;
  if (sweep_path_has_threshold(c->path) && c->threshold == SWEEP_THRESHOLD_UNUSED) return false;
  if (model) {
    c->keys = 0;
    c->layout = SWEEP_LAYOUT_MODEL;
    c->call = sweep_workload_call(c->workload);
  } else {
    if (c->call == SWEEP_CALL_UNIFORM && c->keys > 1) return false;
    if (c->keys == 1) c->layout = SWEEP_LAYOUT_CONTIGUOUS;
    if (c->keys > 32) c->layout = SWEEP_LAYOUT_RANDOM;
  }
  if (c->lanes == SWEEP_LANES_MODEL)
    c->shape = SWEEP_SHAPE_RANDOM; /* which lanes a model leaves out is drawn as well */
  else if (c->shape == SWEEP_SHAPE_SINGLE)
    c->lanes = 1;
  else if (c->lanes == 0 || c->lanes == 32)
    c->shape = SWEEP_SHAPE_PREFIX; /* every shape is the same mask */
  if (!sweep_path_has_threshold(c->path)) c->threshold = SWEEP_THRESHOLD_UNUSED;
  return true;
}

struct by_bytes {
  bool operator()(const sweep_cell &a, const sweep_cell &b) const {
    return memcmp(&a, &b, sizeof a) < 0; /* all members are ints */
  }
};

class sweep_builder {
 public:
  explicit sweep_builder(sweep_plan *plan) : plan_(plan) {}

  void add(sweep_cell cell) {
    if (!normalise(&cell) || !sweep_why_not(cell).empty()) return;
    sweep_cell key = cell;
    key.path = SWEEP_PATH_NONE;
    key.threshold = SWEEP_THRESHOLD_UNUSED;
    auto found = groups_.emplace(key, plan_->size());
    if (found.second) plan_->push_back({key});
    auto &group = (*plan_)[found.first->second];
    for (const sweep_cell &known : group)
      if (known.path == cell.path && known.threshold == cell.threshold) return;
    group.push_back(cell);
  }

  void sort(void) {
    for (auto &group : *plan_)
      std::stable_sort(group.begin(), group.end(), [](const sweep_cell &a, const sweep_cell &b) {
        return a.path != b.path ? a.path < b.path : a.threshold < b.threshold;
      });
  }

 private:
  sweep_plan *plan_;
  std::map<sweep_cell, size_t, by_bytes> groups_;
};

/* What an axis without values stands for. */
static void fill_in(sweep_cell *c, int axis, std::vector<int> *values) {
  if (!values->empty()) return;
  if (axis == AXIS_LANES)
    *values = {c->workload == SWEEP_WORKLOAD_AXES ? 32 : (int)SWEEP_LANES_MODEL};
  if (axis == AXIS_CALL) *values = {c->keys == 1 ? SWEEP_CALL_UNIFORM : SWEEP_CALL_KEYED};
  if (axis == AXIS_THRESHOLD)
    *values = {c->path == SWEEP_PATH_AUTO ? (int)SWEEP_THRESHOLD_DEFAULT : 0};
  if (axis == AXIS_PATH)
    for (int path = SWEEP_PATH_PLAIN; path <= SWEEP_PATH_AUTO; ++path) values->push_back(path);
}

static void add_product(sweep_builder *b, const sweep_axes &axes, sweep_cell cell, int axis) {
  if (axis == AXIS_END) {
    b->add(cell);
    return;
  }
  std::vector<int> values = axes[axis];
  fill_in(&cell, axis, &values);
  for (int value : values) {
    cell.*sweep_axis_table[axis].member = value;
    add_product(b, axes, cell, axis + 1);
  }
}

static void add_product(sweep_builder *b, const sweep_axes &axes) {
  add_product(b, axes, sweep_cell(), 0);
}

/* ---- presets ---- */

static const std::vector<int> all_widths = {1, 2, 3, 4, 6, 8, 9, 10, 12, 14, 16, 20, 32};
static const std::vector<int> arcs_and_atomics = {
    SWEEP_PATH_PLAIN,     SWEEP_PATH_VECTOR,     SWEEP_PATH_ATOMIC, SWEEP_PATH_SERIALIZED,
    SWEEP_PATH_BUTTERFLY, SWEEP_PATH_TRANSPOSED, SWEEP_PATH_TREE,   SWEEP_PATH_AUTO};

/* What the constants of the default need of uniform calls: where all warps are alike, both branches
   of auto; where they differ, its thresholds. */
static void add_thresholds(sweep_builder *b, sweep_axes a, const std::vector<int> &lanes,
                           const std::vector<int> &thresholds) {
  sweep_axes tile = a;
  a[AXIS_PATH] = tile[AXIS_PATH] = {SWEEP_PATH_AUTO};
  a[AXIS_LANES] = lanes;
  a[AXIS_THRESHOLD] = {0, 33, SWEEP_THRESHOLD_DEFAULT};
  if (!lanes.empty()) add_product(b, a);
  a[AXIS_LANES] = {SWEEP_LANES_MIXED};
  a[AXIS_THRESHOLD] = tile[AXIS_THRESHOLD] = thresholds;
  add_product(b, a);
  tile[AXIS_WORKLOAD] = {SWEEP_WORKLOAD_TILE};
  add_product(b, tile);
}

static const std::vector<int> coarse_thresholds = {0,  4,  8,  12,
                                                   16, 24, 33, SWEEP_THRESHOLD_DEFAULT};

static void plan_default(sweep_builder *b, sweep_axes a) {
  sweep_axes start = a;
  a[AXIS_WIDTH] = {1, 3, 4, 9, 10, 16, 32};
  a[AXIS_LANES] = {1, 4, 8, 16, 32, SWEEP_LANES_MIXED};
  add_product(b, a);
  a[AXIS_WIDTH] = {1, 3, 9, 32};
  add_thresholds(b, a, {2, 4, 8}, coarse_thresholds);
  a = start;
  a[AXIS_WIDTH] = {9};
  a[AXIS_LANES] = {8};
  a[AXIS_SHAPE] = {SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_SCATTERED, SWEEP_SHAPE_STRIDED,
                   SWEEP_SHAPE_RANDOM, SWEEP_SHAPE_SINGLE};
  a[AXIS_ZEROS] = {SWEEP_ZEROS_NONE, SWEEP_ZEROS_PROMISED};
  add_product(b, a);
  a = start;
  a[AXIS_KEYS] = {1, 2, 4, 8, 16, 32, 1000};
  a[AXIS_CALL] = {SWEEP_CALL_KEYED};
  add_product(b, a);
}

static void plan_policy(sweep_builder *b, sweep_axes a) {
  const std::vector<int> thresholds = {0,  2,  4,  6,  8,  10, 12,
                                       14, 16, 20, 24, 28, 33, SWEEP_THRESHOLD_DEFAULT};
  a[AXIS_WIDTH] = {1, 3, 4, 9, 16, 32};
  a[AXIS_PADDING] = {4, 0};
  add_thresholds(b, a, {2, 4, 6, 8}, thresholds);
  sweep_axes promised = a;
  promised[AXIS_ZEROS] = {SWEEP_ZEROS_ALL_PROMISED};
  add_thresholds(b, promised, {}, thresholds);
  a[AXIS_PATH] = {SWEEP_PATH_AUTO};
  a[AXIS_WORKLOAD] = {SWEEP_WORKLOAD_SPHERES, SWEEP_WORKLOAD_HASHGRID};
  a[AXIS_LANES] = {2, 4, 6, 8, 12, 16, 24};
  a[AXIS_THRESHOLD] = {0, 33, SWEEP_THRESHOLD_DEFAULT};
  add_product(b, a);
}

/* arc's paths against the papers' and atomics. */
static void plan_paths(sweep_builder *b, sweep_axes start) {
  start[AXIS_PATH] = arcs_and_atomics;
  start[AXIS_SECTION] = {SWEEP_SECTION_A}; /* one key, all lanes */
  sweep_axes a = start;
  a[AXIS_WIDTH] = {1, 2, 3, 4, 8, 9, 10, 12, 16, 20, 32};
  a[AXIS_ZEROS] = {SWEEP_ZEROS_PROMISED, SWEEP_ZEROS_NONE};
  add_product(b, a);

  a = start;
  a[AXIS_SECTION] = {SWEEP_SECTION_B}; /* mixed occupancy, every threshold */
  a[AXIS_WIDTH] = {9, 10};
  a[AXIS_LANES] = {SWEEP_LANES_MIXED};
  a[AXIS_SHAPE] = {SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_RANDOM};
  a[AXIS_THRESHOLD] = {0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 33};
  add_product(b, a);
  a[AXIS_PATH] = {SWEEP_PATH_AUTO};
  a[AXIS_THRESHOLD] = {SWEEP_THRESHOLD_DEFAULT};
  add_product(b, a);

  a = start;
  a[AXIS_SECTION] = {
      SWEEP_SECTION_C}; /* fixed numbers of lanes: 0 and 33 are all the thresholds there are */
  a[AXIS_WIDTH] = {1, 2, 3, 4, 8, 9, 10, 16, 32};
  a[AXIS_LANES] = {0, 1, 2, 4, 8, 16, 24, 32};
  a[AXIS_SHAPE] = {SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_SCATTERED};
  add_product(b, a);
  a[AXIS_PATH] = {SWEEP_PATH_SERIALIZED, SWEEP_PATH_BUTTERFLY};
  a[AXIS_THRESHOLD] = {0, 33};
  add_product(b, a);

  a = start;
  a[AXIS_SECTION] = {SWEEP_SECTION_D}; /* several keys in a warp */
  a[AXIS_KEYS] = {1, 2, 4, 8, 16, 32, 1000};
  a[AXIS_CALL] = {SWEEP_CALL_KEYED};
  a[AXIS_LAYOUT] = {SWEEP_LAYOUT_RANDOM, SWEEP_LAYOUT_INTERLEAVED, SWEEP_LAYOUT_CONTIGUOUS};
  add_product(b, a);
  a[AXIS_PATH] = {SWEEP_PATH_SERIALIZED};
  a[AXIS_THRESHOLD] = {1};
  add_product(b, a);

  a = start;
  a[AXIS_SECTION] = {SWEEP_SECTION_E}; /* from how many lanes on a reduction pays */
  a[AXIS_WIDTH] = all_widths;
  a[AXIS_LANES] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
  a[AXIS_PATH] = {SWEEP_PATH_ATOMIC, SWEEP_PATH_TRANSPOSED, SWEEP_PATH_AUTO};
  add_product(b, a);
}

/* Everybody on every workload. The papers' paths at the thresholds that suit them best as well, and
   auto on hot rows as callers who know that their rows are hot would call it. */
static void plan_peers(sweep_builder *b, sweep_axes a) {
  a[AXIS_SECTION] = {SWEEP_SECTION_PEERS};
  for (int workload = 1; workload < SWEEP_WORKLOAD_END; ++workload)
    if (workload != SWEEP_WORKLOAD_AXES) a[AXIS_WORKLOAD].push_back(workload);
  a[AXIS_WIDTH] = all_widths;
  a[AXIS_LANES] = {1, 2, 4, 8, 16, 24, 32, SWEEP_LANES_MODEL};
  add_product(b, a);
  sweep_axes hot = a;
  a[AXIS_LANES] = {SWEEP_LANES_MODEL};
  a[AXIS_PATH] = {SWEEP_PATH_SERIALIZED, SWEEP_PATH_BUTTERFLY};
  a[AXIS_THRESHOLD] = {8, 16};
  add_product(b, a);
  hot[AXIS_WORKLOAD] = {SWEEP_WORKLOAD_HOT};
  hot[AXIS_PATH] = {SWEEP_PATH_AUTO};
  hot[AXIS_THRESHOLD] = {1}; /* ARC_THRESHOLD_CONTENDED */
  add_product(b, hot);
}

/* Widths known at run time only, beside literal ones; and a wide one against five shuffles. */
static void plan_widths(sweep_builder *b, sweep_axes start) {
  sweep_axes a = start;
  a[AXIS_WIDTH] = {3, 8, 20};
  a[AXIS_FORM] = {SWEEP_FORM_LITERAL, SWEEP_FORM_MEMORY, SWEEP_FORM_BOUNDED};
  a[AXIS_LANES] = {1, 2, 3, 4, 8, 16, 32};
  a[AXIS_PATH] = {SWEEP_PATH_PLAIN, SWEEP_PATH_AUTO};
  add_product(b, a);
  a[AXIS_CALL] = {SWEEP_CALL_KEYED};
  a[AXIS_KEYS] = {1, 4};
  add_product(b, a);
  a = start;
  a[AXIS_WIDTH] = {70};
  a[AXIS_LANES] = {1, 2, 3, 4, 8, 16, 32, SWEEP_LANES_MIXED};
  a[AXIS_PADDING] = {4, 0};
  add_product(b, a);
}

const std::vector<sweep_preset> sweep_presets = {
    {"default", plan_default, 7, 20.0, "every path over a few widths, lanes and keys"},
    {"policy", plan_policy, 5, 8.0, "what the constants of arc's default decision need"},
    {"paths", plan_paths, 7, 20.0, "arc's paths against the papers' and atomics"},
    {"peers", plan_peers, 3, 10.0, "every workload and width against every peer"},
    {"widths", plan_widths, 7, 20.0, "widths known at run time only, and a wide one"},
};

const sweep_preset *sweep_preset_of(const std::string &name) {
  for (const sweep_preset &preset : sweep_presets)
    if (name == preset.name) return &preset;
  return nullptr;
}

/* ---- the plan ---- */

static bool has_path(const sweep_plan &plan, int path) {
  for (const auto &group : plan)
    for (const sweep_cell &cell : group)
      if (cell.path == path) return true;
  return false;
}

/* Where a path that was asked for by name is in no group: why, in the first one that was. */
static int check_paths(const sweep_plan &plan, const sweep_options &o) {
  for (int path : o.axes[AXIS_PATH]) {
    if (has_path(plan, path)) continue;
    sweep_cell cell = plan.empty() ? sweep_cell() : plan[0][0];
    cell.path = path;
    if (!o.axes[AXIS_THRESHOLD].empty()) cell.threshold = o.axes[AXIS_THRESHOLD][0];
    std::string why = sweep_why_not(cell);
    fprintf(stderr, "arc_sweep: --path: '%s' %s\n", sweep_word(AXIS_PATH, path).c_str(),
            why.empty() ? "has no cell in this sweep" : why.c_str());
    return 2;
  }
  if (!plan.empty()) return 0;
  fprintf(stderr, "arc_sweep: these axes make no cell\n");
  return 2;
}

int sweep_plan_build(sweep_plan *plan, const sweep_options &o) {
  sweep_builder b(plan);
  const sweep_preset *preset = sweep_preset_of(o.preset);
  if (preset)
    preset->build(&b, o.axes);
  else
    add_product(&b, o.axes);
  b.sort();
  return preset ? 0 : check_paths(*plan, o);
}
