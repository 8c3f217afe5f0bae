/* options.cpp - the axes and the command line; every mistake gets one line that says what is legal.
   SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "axes.h"

/* ---- axes ---- */

// clang-format off
const sweep_axis sweep_axis_table[AXIS_END] = {
    {"section", &sweep_cell::section, nullptr, 1, 0, {"-", "a", "b", "c", "d", "e", "p"},
     {SWEEP_SECTION_NONE}, "part of the preset that asked for the cell"},
    {"workload", &sweep_cell::workload, "workload", 1, 0,
     {"axes", "tile", "spheres", "cubemap", "hashgrid", "pagerank", "hot"}, {SWEEP_WORKLOAD_AXES},
     "which lanes are active and which keys coincide: axes, as lanes to call say; or a model"},
    {"width", &sweep_cell::width, "width", 1, 128, {}, {10}, "values per update"},
    {"form", &sweep_cell::form, "form", 1, 0, {"literal", "memory", "bounded"},
     {SWEEP_FORM_LITERAL},
     "literal: the width is one; memory, bounded: known at run time only, two ways to keep values"},
    {"lanes", &sweep_cell::lanes, "lanes", 0, 32, {"mixed", "model"}, {},
     "active lanes; mixed: half of the updates have 1-4, half 1-32; model: what the workload draws"},
    {"shape", &sweep_cell::shape, "shape", 1, 0,
     {"prefix", "scattered", "strided", "random", "single"}, {SWEEP_SHAPE_PREFIX},
     "which lanes; random: drawn in every update; single: lane 31 alone"},
    {"keys", &sweep_cell::keys, "keys", 1, 1000, {}, {1},
     "different keys per warp; 0 in files: the workload's"},
    {"layout", &sweep_cell::layout, "layout", 1, 0,
     {"interleaved", "contiguous", "random", "model"}, {SWEEP_LAYOUT_RANDOM},
     "which lanes share a key; model in files: the workload's"},
    {"call", &sweep_cell::call, "call", 1, 0, {"uniform", "keyed"}, {},
     "uniform: one key per block, promised; keyed: keys drawn by every warp"},
    {"zeros", &sweep_cell::zeros, "promise-zeros", 0, 1, {"all"}, {SWEEP_ZEROS_NONE},
     "0: inactive lanes hold garbage; 1: zeros, as arc is promised; all: and all other promises"},
    {"padding", &sweep_cell::padding, "padding", 0, 1024, {}, {4},
     "rows are padded to a multiple of so many floats; 0: to an odd number, so that no vector fits"},
    {"path", &sweep_cell::path, "path", 1, 0,
     {"none", "plain", "vector", "cg", "cub", "cub_batched", "shuffle_skip", "match_shared",
      "atomic", "serialized", "butterfly", "transposed", "tree", "auto", "broken"}, {},
     "what adds; none: nothing, the base of net; broken: wrong, a test of the check"},
    {"threshold", &sweep_cell::threshold, "threshold", 0, 33, {"auto", "-"}, {},
     "balancing threshold; auto: arc's own; - in files: the path has none"},
};
// clang-format on

std::string sweep_word(int axis, int value) {
  const sweep_axis &a = sweep_axis_table[axis];
  return value <= a.high ? std::to_string(value) : a.names[(size_t)(value - a.high - 1)];
}

std::string sweep_word_of(int axis, const sweep_cell &cell) {
  return sweep_word(axis, cell.*sweep_axis_table[axis].member);
}

/* ---- values ---- */

static int complain(const std::string &option, const std::string &what) {
  fprintf(stderr, "arc_sweep: --%s: %s\n", option.c_str(), what.c_str());
  return 2;
}

static int illegal(const std::string &option, const std::string &value, const std::string &legal) {
  return complain(option, "'" + value + "' is not legal; legal: " + legal);
}

static std::string joined(const std::vector<std::string> &words) {
  std::string all;
  for (const std::string &word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

static std::string legal_values(int axis) {
  const sweep_axis &a = sweep_axis_table[axis];
  std::vector<std::string> legal(a.names.begin(), a.names.end());
  if (axis == AXIS_WIDTH) {
    for (int width = a.low; width <= a.high; ++width)
      if (sweep_width_exists(width)) legal.push_back(std::to_string(width));
  } else if (a.low <= a.high) {
    legal.push_back(std::to_string(a.low) + " to " + std::to_string(a.high));
  }
  if (a.low <= a.high) legal.push_back("ranges such as 1-4");
  return joined(legal);
}

static bool read_whole(const std::string &text, int low, int high, int *value) {
  char *end;
  errno = 0;
  long number = strtol(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end || errno) return false;
  if (number < low || number > high) return false;
  *value = (int)number;
  return true;
}

/* A name, a number, or a range low-high of numbers, of which those count that exist. */
static bool read_item(int axis, const std::string &item, std::vector<int> *list) {
  const sweep_axis &a = sweep_axis_table[axis];
  for (size_t i = 0; i < a.names.size(); ++i) {
    if (item != a.names[i]) continue;
    list->push_back(a.high + 1 + (int)i);
    return true;
  }
  int first, last;
  size_t dash = item.find('-');
  if (!read_whole(item.substr(0, dash), a.low, a.high, &first)) return false;
  if (dash == std::string::npos)
    last = first;
  else if (!read_whole(item.substr(dash + 1), first, a.high, &last))
    return false;
  bool any = false;
  for (int value = first; value <= last; ++value) {
    if (axis == AXIS_WIDTH && !sweep_width_exists(value)) continue;
    list->push_back(value);
    any = true;
  }
  return any;
}

static int read_list(int axis, const std::string &text, std::vector<int> *list) {
  list->clear();
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, comma - at);
    if (!read_item(axis, item, list))
      return illegal(sweep_axis_table[axis].option, item, legal_values(axis));
    at = comma + 1;
  }
  return 0;
}

/* ---- options that are no axes ---- */

struct number {
  const char *option;
  int low, high;
  int sweep_options::*value;
  const char *meaning; /* null: for tests only */
};
static const number numbers[] = {
    {"rows", 1, 100000000, &sweep_options::rows, "rows of parameters, drawn at random"},
    {"blocks", 1, 1000000, &sweep_options::blocks, "blocks"},
    {"threads", 32, 256, &sweep_options::threads, "threads a block, a multiple of 32"},
    {"updates", 1, 1000000, &sweep_options::updates, "updates a thread"},
    {"seed", 0, INT_MAX, &sweep_options::seed, "of keys, masks and values"},
    {"repeat", 1, 100, &sweep_options::repeat, "timed launches a cell, at least"},
    {"energy", 0, 1, &sweep_options::energy, "1: nanojoules per update by NVML, 0.1 to 1 s a cell"},
    {"test-interrupt", 1, 1000000, &sweep_options::interrupt_after, nullptr},
    {"test-wrong-oracle", 0, 1, &sweep_options::wrong_oracle, nullptr},
    {"test-throttle", 1, 1000000, &sweep_options::throttle_after, nullptr},
};
struct real {
  const char *option;
  double low, high;
  double sweep_options::*value;
  const char *meaning;
};
static const real reals[] = {
    {"noise", 0.01, 100.0, &sweep_options::noise_percent,
     "more launches until the quartiles are this close, in percent of the median"},
    {"cell-ms", 0.1, 100000.0, &sweep_options::cell_ms, "or this much time is measured"},
};
struct text {
  const char *option;
  std::string sweep_options::*value;
  const char *meaning; /* null: told elsewhere */
};
static const text texts[] = {
    {"preset", &sweep_options::preset, nullptr},
    {"csv", &sweep_options::csv, "one row a cell; FILE.partial until the sweep has ended"},
    {"policy-header", &sweep_options::policy_header,
     "writes the constants that suit this sweep as a header"},
};

static int read_number(const number &n, const std::string &value, sweep_options *o) {
  if (read_whole(value, n.low, n.high, &(o->*n.value))) return 0;
  return illegal(n.option, value, std::to_string(n.low) + " to " + std::to_string(n.high));
}

static int read_real(const real &r, const std::string &value, sweep_options *o) {
  char *end, legal[48];
  double found = strtod(value.c_str(), &end);
  snprintf(legal, sizeof legal, "%g to %g", r.low, r.high);
  if (value[0] < '0' || value[0] > '9' || *end || !(found >= r.low && found <= r.high))
    return illegal(r.option, value, legal);
  o->*r.value = found;
  return 0;
}

enum { unknown_option = -1 };

static int read_option(sweep_options *o, const std::string &option, const std::string &value) {
  for (int axis = 0; axis < AXIS_END; ++axis) {
    const char *name = sweep_axis_table[axis].option;
    if (!name || option != name) continue;
    o->axes_given = true;
    return read_list(axis, value, &o->axes[axis]);
  }
  for (const number &n : numbers)
    if (option == n.option) return read_number(n, value, o);
  for (const real &r : reals)
    if (option == r.option) return read_real(r, value, o);
  for (const text &t : texts) {
    if (option != t.option) continue;
    o->*t.value = value;
    return 0;
  }
  if (option != "cache") return unknown_option;
  if (value != "warm" && value != "cold") return illegal(option, value, "warm, cold");
  o->cold = value == "cold";
  return 0;
}

/* ---- what goes together ---- */

static bool has(const std::vector<int> &list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

static int check_workloads(const sweep_options &o) {
  const sweep_axes &a = o.axes;
  bool axes = has(a[AXIS_WORKLOAD], SWEEP_WORKLOAD_AXES);
  bool models = a[AXIS_WORKLOAD].size() > (size_t)axes;
  if (!axes && (a[AXIS_KEYS] != sweep_axis_table[AXIS_KEYS].start || !a[AXIS_CALL].empty() ||
                a[AXIS_LAYOUT] != sweep_axis_table[AXIS_LAYOUT].start))
    return complain("workload",
                    "a model draws its own keys: --keys, --layout and --call are for axes");
  if (!axes && has(a[AXIS_LANES], SWEEP_LANES_MIXED))
    return complain("lanes", "'mixed' is for --workload axes; a model has 'model'");
  if (!models && has(a[AXIS_LANES], SWEEP_LANES_MODEL))
    return complain("lanes", "'model' needs a --workload other than axes");
  for (int workload : a[AXIS_WORKLOAD])
    if (o.rows < sweep_workload_rows(workload))
      return complain("rows", "the workload '" + sweep_word(AXIS_WORKLOAD, workload) +
                                  "' needs at least " +
                                  std::to_string(sweep_workload_rows(workload)));
  return 0;
}

static std::string preset_names(void) {
  std::vector<std::string> names;
  for (const sweep_preset &p : sweep_presets) names.push_back(p.name);
  return joined(names);
}

static int check_together(const sweep_options &o) {
  const sweep_axes &a = o.axes;
  bool threshold_fits = a[AXIS_THRESHOLD].empty() || a[AXIS_PATH].empty();
  for (int path : a[AXIS_PATH]) threshold_fits |= sweep_path_has_threshold(path);
  if (!o.preset.empty() && !sweep_preset_of(o.preset))
    return illegal("preset", o.preset, preset_names());
  if (!o.preset.empty() && o.axes_given)
    return complain("preset", "a preset fixes the axes; leave out either it or the axes");
  if (o.threads % 32 != 0)
    return complain("threads", "must be a multiple of 32: every add here takes whole warps");
  if (has(a[AXIS_CALL], SWEEP_CALL_UNIFORM) && !has(a[AXIS_KEYS], 1))
    return complain("call", "'uniform' promises one key per warp; add 1 to --keys");
  if (sweep_on_cpu_warp() && o.energy)
    return complain("energy", "the CPU warp has no energy counter; arc_sweep_gpu has");
  if (!threshold_fits)
    return complain("threshold",
                    "none of the chosen paths has a threshold; those that have: serialized, "
                    "butterfly, transposed, tree, auto");
  return check_workloads(o);
}

static sweep_options start_options(void) {
  sweep_options o = {};
  for (int axis = 0; axis < AXIS_END; ++axis) o.axes[axis] = sweep_axis_table[axis].start;
  bool cpu = sweep_on_cpu_warp();
  o.rows = cpu ? 1000 : 100000;
  o.blocks = cpu ? 2 : 1056;
  o.threads = cpu ? 64 : 256;
  o.updates = cpu ? 64 : 256;
  o.seed = 1;
  o.noise_percent = 1.0;
  return o;
}

/* Where the preset, or a sweep without one, has its own. */
static void fill_in_rigour(sweep_options *o) {
  const sweep_preset *preset = sweep_preset_of(o->preset);
  if (!preset) preset = &sweep_presets[0];
  if (o->repeat == 0) o->repeat = preset->repeat;
  if (o->cell_ms == 0.0) o->cell_ms = preset->cell_ms;
}

int sweep_options_read(sweep_options *o, int argc, char **argv) {
  *o = start_options();
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], option = word.substr(0, 2) == "--" ? word.substr(2) : "";
    if (option == "help" || word == "-h") {
      o->help = true;
    } else if (option == "quiet") {
      o->quiet = true;
    } else {
      std::string value = i + 1 < argc ? argv[++i] : "";
      int bad = value.empty() && !option.empty() ? complain(option, "needs a value")
                                                 : read_option(o, option, value);
      if (bad == unknown_option)
        fprintf(stderr, "arc_sweep: '%s' is not an option; arc_sweep --help lists them\n",
                word.c_str());
      if (bad) return 2;
    }
  }
  if (o->help) return 0;
  if (o->preset.empty() && !o->axes_given) o->preset = "default";
  fill_in_rigour(o);
  return check_together(*o);
}

/* ---- help ---- */

static void print_option(const char *option, const std::string &value, const char *meaning,
                         const std::string &start) {
  printf("  --%s %s\n      %s%s\n", option, value.c_str(), meaning,
         start.empty() ? "" : (" (" + start + ")").c_str());
}

void sweep_options_help(void) {
  sweep_options o = start_options();
  fill_in_rigour(&o);
  printf(
      "arc_sweep - what adding from many lanes costs, path by path; built for %s\n\n"
      "usage: arc_sweep [options]        without any axis: --preset default\n\n"
      "Axes. A LIST is separated by commas; the sweep is their product.\n",
      sweep_on_cpu_warp() ? "the CPU warp: counts and *model* clocks, no times" : "the GPU");
  for (int axis = 0; axis < AXIS_END; ++axis) {
    const sweep_axis &a = sweep_axis_table[axis];
    if (!a.option) continue;
    print_option(a.option, "LIST", a.meaning, a.start.empty() ? "" : sweep_word(axis, a.start[0]));
    printf("      legal: %s\n", legal_values(axis).c_str());
  }
  printf("\nSizes and rigour; from --repeat on for the GPU only\n");
  for (const number &n : numbers)
    if (n.meaning) print_option(n.option, "N", n.meaning, std::to_string(o.*n.value));
  for (const real &r : reals)
    print_option(r.option, "X", r.meaning, std::to_string(o.*r.value).substr(0, 4));
  print_option("cache", "warm|cold", "cold: the L2 cache is overwritten before each launch",
               "warm");
  printf("\nPresets and output\n");
  for (const sweep_preset &p : sweep_presets) print_option("preset", p.name, p.meaning, "");
  for (const text &t : texts)
    if (t.meaning) print_option(t.option, "FILE", t.meaning, "");
  printf(
      "  --quiet\n      no table, no progress line and no summary\n\n"
      "Exit status: 0 done, 1 a sum was wrong or a launch failed, 2 bad option, 77 no GPU,\n"
      "130 interrupted.\n\n"
      "Example: which threshold suits 9 values a primitive on this machine?\n"
      "  arc_sweep --width 9 --lanes mixed --shape random --path plain,transposed,auto "
      "--threshold 0-33 --csv nine.csv\n");
}
