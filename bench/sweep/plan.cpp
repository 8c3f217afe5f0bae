/* plan.cpp - from axes and presets to groups of cells. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <algorithm>
#include <map>

#include "sweep.h"

int sweep_plan_cells(const sweep_plan &plan) {
  int cells = 0;
  for (const auto &group : plan) cells += (int)group.size();
  return cells;
}

/* ---- widths ---- */

static bool width_exists(int width, int type) {
  const char *why;
  sweep_cell c = {};
  c.path = type == SWEEP_TYPE_f32 ? SWEEP_PATH_NONE : SWEEP_PATH_PLAIN;
  c.type = type;
  c.form = SWEEP_FORM_LITERAL;
  c.call = SWEEP_CALL_UNIFORM;
  c.width = width;
  c.padding = 4;
  return sweep_kernel_of(&c, &why) != nullptr;
}

/* A user's own kernel has any width: known at run time only, where no kernel has it as a literal. */
static bool takes_any_width(int workload, int width) {
  return workload == SWEEP_WORKLOAD_FILE && width <= SWEEP_RUN_TIME_WIDTH;
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
  if (c->form == SWEEP_FORM_PLANES) c->padding = 4; /* there are no rows to pad */
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
    const char *why;
    if (cell.form == SWEEP_FORM_LITERAL && takes_any_width(cell.workload, cell.width) &&
        !width_exists(cell.width, cell.type))
      cell.form = SWEEP_FORM_MEMORY;
    sweep_kernel kernel = normalise(&cell) ? sweep_kernel_of(&cell, &why) : nullptr;
    if (!kernel) return;
    sweep_cell key = cell;
    key.path = SWEEP_PATH_NONE;
    key.threshold = SWEEP_THRESHOLD_UNUSED;
    auto found = groups_.emplace(key, plan_->size());
    if (found.second) plan_->push_back({{key, sweep_kernel_of(&key, &why)}});
    auto &group = (*plan_)[found.first->second];
    for (const sweep_planned &known : group)
      if (known.cell.path == cell.path && known.cell.threshold == cell.threshold) return;
    group.push_back({cell, kernel});
  }

  void sort(void) {
    for (auto &group : *plan_)
      std::stable_sort(group.begin(), group.end(),
                       [](const sweep_planned &a, const sweep_planned &b) {
                         return a.cell.path != b.cell.path ? a.cell.path < b.cell.path
                                                           : a.cell.threshold < b.cell.threshold;
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

static std::string widths_of(int type) {
  const sweep_axis &a = sweep_axis_table[AXIS_WIDTH];
  std::string widths;
  for (int width = a.low; width <= a.high; ++width)
    if (width_exists(width, type)) widths += (widths.empty() ? "" : ", ") + std::to_string(width);
  return widths;
}

/* Without those between two that a range names, and of which there is no kernel. */
static std::vector<int> without_holes(const std::vector<int> &widths) {
  auto given = [&](int w) { return std::find(widths.begin(), widths.end(), w) != widths.end(); };
  std::vector<int> kept;
  for (int w : widths)
    if (width_exists(w, SWEEP_TYPE_f32) || (!given(w - 1) && !given(w + 1))) kept.push_back(w);
  return kept;
}

static int check_widths(const sweep_axes &axes) {
  for (int type : axes[AXIS_TYPE])
    for (int width : axes[AXIS_WIDTH]) {
      if (width_exists(width, type) || takes_any_width(axes[AXIS_WORKLOAD][0], width)) continue;
      return sweep_complain("--width: '" + sweep_word(AXIS_TYPE, type) +
                            "' has no kernel of width " + std::to_string(width) +
                            "; it has those of width " + widths_of(type) +
                            (takes_any_width(axes[AXIS_WORKLOAD][0], 1) ? ", and all to 32" : ""));
    }
  return 0;
}

/* ---- the plan ---- */

static bool has_cell(const sweep_plan &plan, int axis, int value) {
  for (const auto &group : plan)
    for (const sweep_planned &planned : group)
      if (planned.cell.*sweep_axis_table[axis].member == value) return true;
  return false;
}

/* Why a path of --path, or a type of --type, is in no group, by the first group that was asked
   for. */
static int check_values(const sweep_plan &plan, const sweep_axes &axes, int axis) {
  const sweep_axis &a = sweep_axis_table[axis];
  for (int value : axes[axis]) {
    if (has_cell(plan, axis, value)) continue;
    sweep_cell cell = plan.empty() ? sweep_cell() : plan[0][0].cell;
    const char *why = "has no cell in this sweep";
    cell.type = axes[AXIS_TYPE][0];
    cell.zeros = axes[AXIS_ZEROS][0];
    cell.path = axes[AXIS_PATH].empty() ? (int)SWEEP_PATH_AUTO : axes[AXIS_PATH][0];
    cell.*a.member = value;
    if (!axes[AXIS_THRESHOLD].empty()) cell.threshold = axes[AXIS_THRESHOLD][0];
    sweep_kernel_of(&cell, &why);
    return sweep_complain(std::string(a.option) + ": '" + sweep_word(axis, value) + "' " + why);
  }
  return 0;
}

static int check_plan(const sweep_plan &plan, const sweep_axes &axes) {
  if (check_values(plan, axes, AXIS_PATH)) return 2;
  if (!plan.empty()) return check_values(plan, axes, AXIS_TYPE);
  return sweep_complain(
      "these axes make no cell; --lanes 'mixed' is for the workload axes, 'model' for all others; "
      "--form planes for widths 3 and 12");
}

int sweep_plan_build(sweep_plan *plan, const sweep_options &o) {
  sweep_builder b(plan);
  for (sweep_axes axes : o.products) {
    axes[AXIS_WIDTH] = without_holes(axes[AXIS_WIDTH]);
    if (check_widths(axes)) return 2;
    add_product(&b, axes, sweep_cell(), 0);
  }
  b.sort();
  return o.preset < 0 ? check_plan(*plan, o.products[0]) : 0;
}
