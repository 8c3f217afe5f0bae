/* options.cpp - the axes and the command line; every mistake gets one line with what is legal.
   SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sweep.h"

/* ---- axes ---- */

#define NAME(name, bytes) #name,

// clang-format off
const sweep_axis sweep_axis_table[AXIS_END] = {
    {"section", &sweep_cell::section, "section", 1, 0, {"-", "a", "b", "c", "d", "e", "p"},
     {SWEEP_SECTION_NONE}, "a label, the part of a preset that asked for the cell"},
    {"workload", &sweep_cell::workload, "workload", 1, 0,
     {"axes", "tile", "spheres", "cubemap", "hashgrid", "pagerank", "hot"}, {SWEEP_WORKLOAD_AXES},
     "which lanes are active and which keys coincide: axes, as lanes to call say; or a model"},
    {"width", &sweep_cell::width, "width", 1, 128, {}, {10}, "values per update"},
    {"form", &sweep_cell::form, "form", 1, 0, {"literal", "memory", "chunks"},
     {SWEEP_FORM_LITERAL},
     "literal: the width is one; memory, chunks: known at run time only, two ways to give values"},
    {"lanes", &sweep_cell::lanes, "lanes", 0, 32, {"mixed", "model"}, {},
     "active lanes; mixed: half of the updates have 1-4, half 1-32; model: as the workload draws"},
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
     "rows are padded to a multiple of so many values; 0: to an odd number, that no vector fits"},
    {"type", &sweep_cell::type, "type", 1, 0, {SWEEP_TYPES(NAME)}, {SWEEP_TYPE_f32},
     "of values and memory; f16, bf16, fixed, exact: floats into halves, into 64-bit fixed point, "
     "and with exact sums"},
    {"path", &sweep_cell::path, "path", 1, 0,
     {"none", "plain", "vector", "cg", "cub", "cub_batched", "shuffle_skip", "match_shared",
      "atomic", "serialized", "butterfly", "transposed", "tree", "auto", "sums",
      "atomred", "hot", "table", "broken"}, {},
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

/* ---- presets ---- */

#define OWN_PATHS "plain,vector,atomic,serialized,butterfly,transposed,tree,auto "
/* What the constants of the default need: where all warps are alike, both branches of auto; where
   they differ, its thresholds. */
#define BOTH_BRANCHES "--path auto --threshold 0,33,auto "
#define THRESHOLDS "--path auto --threshold 0,2,4,6,8,10,12,14,16,20,24,28,33,auto "
#define POLICY "--width 1,3,4,9,16,32 --padding 4,0 "

struct preset {
  const char *name, *meaning;
  int repeat;
  double cell_ms;
  std::vector<const char *> products; /* each a command line */
};
#define TYPES "--type f32,f64,i64,f16,bf16,fixed,exact --path plain,auto --threshold 0,auto "

static const std::vector<preset> presets = {
    {"default",
     "every path over a few widths, lanes and keys",
     7,
     20.0,
     {"--width 1,3,4,9,10,16,32 --lanes 1,4,8,16,32,mixed",
      "--width 1,3,9,32 --lanes 2,4,8 " BOTH_BRANCHES,
      "--width 1,3,9,32 --workload axes,tile --lanes mixed,model " THRESHOLDS,
      "--width 9 --lanes 8 --shape prefix,scattered,strided,random,single --promise-zeros 0,1",
      "--keys 1,2,4,8,16,32,1000 --call keyed"}},
    {"policy",
     "what the constants of arc's default decision need",
     5,
     8.0,
     {POLICY "--lanes 2,4,6,8 " BOTH_BRANCHES,
      POLICY "--workload axes,tile --lanes mixed,model --promise-zeros 0,all " THRESHOLDS,
      POLICY "--workload spheres,hashgrid --lanes 2,4,6,8,12,16,24 " BOTH_BRANCHES}},
    {"paths",
     "arc's paths against the papers' and atomics",
     7,
     20.0,
     {"--section a --width 1-4,8-10,12,16,20,32 --promise-zeros 0,1 --path " OWN_PATHS,
      "--section b --width 9,10 --lanes mixed --shape prefix,random --path " OWN_PATHS
      "--threshold 0,1,2,4,6,8,10,12,14,16,20,24,28,32,33",
      "--section b --width 9,10 --lanes mixed --shape prefix,random --path auto",
      "--section c --width 1-4,8-10,16,32 --lanes 0,1,2,4,8,16,24,32 --shape prefix,scattered "
      "--path " OWN_PATHS,
      "--section c --width 1-4,8-10,16,32 --lanes 0,1,2,4,8,16,24,32 --shape prefix,scattered "
      "--path serialized,butterfly --threshold 33",
      "--section d --keys 1,2,4,8,16,32,1000 --call keyed --layout random,interleaved,contiguous "
      "--path " OWN_PATHS,
      "--section d --keys 1,2,4,8,16,32,1000 --call keyed --layout random,interleaved,contiguous "
      "--path serialized --threshold 1",
      "--section e --width 1-32 --lanes 1-6,8,10,12,16,24,32 --path atomic,transposed,auto"}},
    {"peers",
     "every workload and width against every peer",
     3,
     10.0,
     {"--section p --width 1-32 --workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot "
      "--lanes 1,2,4,8,16,24,32,model",
      "--section p --width 1-32 --workload tile,spheres,cubemap,hashgrid,pagerank,hot "
      "--path serialized,butterfly --threshold 8,16",
      /* as a caller sets it for hot rows: ARC_THRESHOLD_CONTENDED */
      "--section p --width 1-32 --workload hot --lanes 1,2,4,8,16,24,32,model --path auto "
      "--threshold 1"}},
    {"widths",
     "widths known at run time only, and a wide one",
     7,
     20.0,
     {"--width 3,8,20,32 --form literal,memory,chunks --lanes 1-4,8,16,32 --path plain,auto",
      "--width 3,8,20,32 --form literal,memory,chunks --lanes 1-4,8,16,32 --path plain,auto "
      "--call keyed --keys 1,4,32",
      "--width 70 --padding 4,0 --lanes 1-4,8,16,32,mixed"}},
    {"types",
     "values and memory of other types against f32 and against plain atomics",
     7,
     20.0,
     {TYPES "--width 1-4,9,16 --lanes 1,2,4,8,16,32,mixed",
      TYPES "--width 3,9,16 --workload tile --promise-zeros 0,all",
      TYPES "--width 2,4 --padding 2 --keys 1,2,4,32 --layout interleaved,contiguous --call keyed",
      TYPES "--width 2,4 --padding 2 --workload hashgrid"}},
    {"forms",
     "rows that the block sums, adding in two halves and as one instruction, against the nearest",
     7,
     20.0,
     {"--width 1,3,9,16,32 --workload hot --lanes 1,2,4,8,16,24,32,model --path "
      "none,plain,vector,cub_batched,auto,hot --threshold 1,auto",
      "--width 9 --keys 1,4,1000 --call keyed --path none,plain,auto,hot",
      "--width 1,3,9,16,32 --workload hashgrid,pagerank,hot --path none,plain,auto,table",
      "--width 1,3,9,16,32 --keys 1,4,32,1000 --call keyed --path none,plain,auto,table",
      "--width 1,3 --keys 1,2,4,8,16,32,1000 --call keyed --layout random,interleaved,contiguous "
      "--path none,plain,match_shared,auto,atomred",
      "--width 1,3 --lanes 1,2,4,8,16,32 --path none,plain,match_shared,auto,atomred",
      "--width 1,3,9,16,32 --lanes 8,16,32 --path none,transposed,auto,sums --threshold 0",
      "--width 9 --keys 1,2,4,8,16,32 --call keyed --path none,transposed,auto,sums --threshold 0",
      "--width 1,3 --workload cubemap,hashgrid,pagerank --path none,plain,match_shared,auto,"
      "atomred"}},
};

static const preset *preset_of(const std::string &name) {
  for (const preset &p : presets)
    if (name == p.name) return &p;
  return nullptr;
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

static std::vector<std::string> widths_of(int type) {
  const sweep_axis &a = sweep_axis_table[AXIS_WIDTH];
  std::vector<std::string> widths;
  for (int width = a.low; width <= a.high; ++width)
    if (sweep_width_exists(width, type)) widths.push_back(std::to_string(width));
  return widths;
}

static std::string legal_values(int axis) {
  const sweep_axis &a = sweep_axis_table[axis];
  std::vector<std::string> legal(a.names.begin(), a.names.end());
  if (axis == AXIS_WIDTH) {
    legal = widths_of(SWEEP_TYPE_f32);
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
    if (axis == AXIS_WIDTH && !sweep_width_exists(value, SWEEP_TYPE_f32)) continue;
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

static sweep_axes start_axes(void) {
  sweep_axes a;
  for (int axis = 0; axis < AXIS_END; ++axis) a[axis] = sweep_axis_table[axis].start;
  return a;
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
    if (o->products.empty()) o->products.push_back(start_axes());
    return read_list(axis, value, &o->products.back()[axis]);
  }
  for (const number &n : numbers)
    if (option == n.option) return read_number(n, value, o);
  for (const real &r : reals)
    if (option == r.option) return read_real(r, value, o);
  for (const text &t : texts) {
    if (option != t.option) continue;
    if (value.empty()) return complain(option, "needs a value");
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

static int check_axes(const sweep_axes &a, int rows) {
  bool axes = has(a[AXIS_WORKLOAD], SWEEP_WORKLOAD_AXES);
  bool threshold_fits = a[AXIS_THRESHOLD].empty() || a[AXIS_PATH].empty();
  for (int path : a[AXIS_PATH]) threshold_fits |= sweep_path_has_threshold(path);
  if (!threshold_fits)
    return complain("threshold",
                    "none of the chosen paths has a threshold; those that have: serialized, "
                    "butterfly, transposed, tree, auto");
  if (!axes && (a[AXIS_KEYS] != sweep_axis_table[AXIS_KEYS].start || !a[AXIS_CALL].empty() ||
                a[AXIS_LAYOUT] != sweep_axis_table[AXIS_LAYOUT].start))
    return complain("workload",
                    "a model draws its own keys: --keys, --layout and --call are for axes");
  if (has(a[AXIS_CALL], SWEEP_CALL_UNIFORM) && !has(a[AXIS_KEYS], 1))
    return complain("call", "'uniform' promises one key per warp; add 1 to --keys");
  for (int type : a[AXIS_TYPE])
    for (int width : a[AXIS_WIDTH])
      if (!sweep_width_exists(width, type))
        return complain("type", "'" + sweep_word(AXIS_TYPE, type) + "' has no kernel of width " +
                                    std::to_string(width) + "; it has those of width " +
                                    joined(widths_of(type)));
  for (int workload : a[AXIS_WORKLOAD])
    if (rows < sweep_workload_rows(workload))
      return complain("rows", "the workload '" + sweep_word(AXIS_WORKLOAD, workload) +
                                  "' needs at least " +
                                  std::to_string(sweep_workload_rows(workload)));
  return 0;
}

static int check_options(const sweep_options &o) {
  if (o.threads % 32 != 0)
    return complain("threads", "must be a multiple of 32: every add here takes whole warps");
  if (!o.csv.empty() && o.csv == o.policy_header)
    return complain("policy-header", "names the same file as --csv: '" + o.csv + "'");
  if (sweep_on_cpu_warp() && o.energy)
    return complain("energy", "the CPU warp has no energy counter; arc_sweep_gpu has");
  for (const sweep_axes &axes : o.products)
    if (check_axes(axes, o.rows)) return 2;
  return 0;
}

static sweep_options start_options(void) {
  sweep_options o = {};
  bool cpu = sweep_on_cpu_warp();
  o.rows = cpu ? 1000 : 100000;
  o.blocks = cpu ? 2 : 1056;
  o.threads = cpu ? 64 : 256;
  o.updates = cpu ? 64 : 256;
  o.seed = 1;
  o.noise_percent = 1.0;
  return o;
}

static int read_words(sweep_options *o, const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string option = words[i].substr(0, 2) == "--" ? words[i].substr(2) : "";
    bool *flag = option == "help" || words[i] == "-h" ? &o->help
                 : option == "quiet"                  ? &o->quiet
                 : option == "tables"                 ? &o->tables
                                                      : nullptr;
    if (flag) {
      *flag = true;
      continue;
    }
    int bad = read_option(o, option, i + 1 < words.size() ? words[i + 1] : "");
    if (bad == unknown_option)
      fprintf(stderr, "arc_sweep: '%s' is not an option; arc_sweep --help lists them\n",
              words[i].c_str());
    if (bad) return 2;
    ++i;
  }
  return 0;
}

/* The axes of a preset, and what it leaves open of the rigour. */
static int read_preset(sweep_options *o) {
  std::vector<std::string> names;
  for (const preset &p : presets) names.push_back(p.name);
  if (o->preset.empty() && o->products.empty()) o->preset = presets[0].name;
  const preset *p = preset_of(o->preset.empty() ? presets[0].name : o->preset);
  if (!p) return illegal("preset", o->preset, joined(names));
  if (!o->preset.empty() && !o->products.empty())
    return complain("preset", "a preset fixes the axes; leave out either it or the axes");
  if (o->repeat == 0) o->repeat = p->repeat;
  if (o->cell_ms == 0.0) o->cell_ms = p->cell_ms;
  if (o->preset.empty()) return 0;
  for (const char *product : p->products) {
    std::istringstream line(product);
    std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
    o->products.push_back(start_axes());
    if (read_words(o, words)) return 2;
  }
  return 0;
}

int sweep_options_read(sweep_options *o, int argc, char **argv) {
  *o = start_options();
  int bad = read_words(o, std::vector<std::string>(argv + 1, argv + argc));
  if (bad || o->help) return bad;
  bad = read_preset(o);
  return bad ? bad : check_options(*o);
}

/* ---- help ---- */

static void print_option(const char *option, const std::string &value, const char *meaning,
                         const std::string &start) {
  printf("  --%s %s\n      %s%s\n", option, value.c_str(), meaning,
         start.empty() ? "" : (" (" + start + ")").c_str());
}

void sweep_options_help(void) {
  sweep_options o = start_options();
  read_preset(&o);
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
  for (const preset &p : presets) print_option("preset", p.name, p.meaning, "");
  for (const text &t : texts)
    if (t.meaning) print_option(t.option, "FILE", t.meaning, "");
  printf(
      "  --tables\n      prints the tables of all cells before the summary\n"
      "  --quiet\n      no progress line, no table and no summary\n"
      "  --help, -h\n      prints this text\n"
      "  --version\n      prints the version\n\n"
      "Exit status: 0 done, 1 a sum was wrong, a launch or a write failed, 2 bad option, 3 out of\n"
      "memory, 77 no GPU, 130 interrupted.\n\n"
      "Example: which threshold suits 9 values a primitive on this machine?\n"
      "  arc_sweep --width 9 --lanes mixed --shape random --path plain,transposed,auto "
      "--threshold 0-33 --csv nine.csv\n");
}
