/* options.cpp - presets and the command line; every mistake gets one line with what is legal.
   SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <iterator>

#include "../common/option_table.h"
#include "sweep.h"

/* ---- presets ---- */

#define OWN_PATHS "plain,vector,atomic,serialized,butterfly,transposed,tree,auto "
/* What the constants of the default need: where all warps are alike, both branches of auto; where
   they differ, its thresholds. */
#define BOTH_BRANCHES "--path auto --threshold 0,33,auto "
#define THRESHOLDS "--path auto --threshold 0,2,4,6,8,10,12,14,16,20,24,28,33,auto "
#define POLICY "--width 1,2,3,4,8,9,16,32 --padding 4,0 "
#define PROMISES "--promise-zeros none,0,all,aligned "
#define TYPES "--type f32,f64,i64,f16,bf16,fixed,exact,wide --path plain,auto --threshold 0,auto "

struct preset {
  const char *name, *meaning;
  int repeat;
  float cell_ms;
  std::vector<const char *> products; /* each a command line */
};

// clang-format off
static const std::vector<preset> presets = {
    {"default", "every path over a few widths, lanes and keys", 7, 20.0,
     {"--width 1,3,4,9,10,16,32 --lanes 1,4,8,16,32,mixed",
      "--width 1,3,9,32 --lanes 2,4,8 " BOTH_BRANCHES,
      "--width 1,3,9,32 --workload axes,tile --lanes mixed,model " THRESHOLDS,
      "--width 9 --lanes 8 --shape prefix,scattered,strided,random,single --promise-zeros 0,1",
      "--keys 1,2,4,8,16,32,1000 --call keyed"}},
    {"policy", "what the constants of arc's default decision need", 5, 8.0,
     {POLICY PROMISES "--lanes 1-10,12,16,32 " BOTH_BRANCHES,
      POLICY PROMISES "--workload axes,tile --lanes mixed,model " THRESHOLDS,
      POLICY "--workload spheres,hashgrid --lanes 2,4,6,8,12,16,24 " BOTH_BRANCHES}},
    {"paths", "arc's paths against the papers' and atomics", 7, 20.0,
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
    {"peers", "every workload and width against every alternative", 3, 10.0,
     {"--section p --width 1-32 --workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot "
      "--lanes 1,2,4,8,16,24,32,model",
      "--section p --width 1-32 --workload tile,spheres,cubemap,hashgrid,pagerank,hot "
      "--path serialized,butterfly --threshold 8,16",
      /* as a caller sets it for rows that the whole grid adds to: 1 */
      "--section p --width 1-32 --workload hot --lanes 1,2,4,8,16,24,32,model --path auto "
      "--threshold 1"}},
    {"widths", "widths known at run time only, and a wide one", 7, 20.0,
     {"--width 3,8,20,32 --form literal,memory,chunks --lanes 1-4,8,16,32 --path plain,auto",
      "--width 3,8,20,32 --form literal,memory,chunks --lanes 1-4,8,16,32 --path plain,auto "
      "--call keyed --keys 1,4,32",
      "--width 70 --padding 4,0 --lanes 1-4,8,16,32,mixed"}},
    {"types", "values and memory of other types against f32 and against plain atomics", 7, 20.0,
     {TYPES "--width 1-4,9,16 --lanes 1,2,4,8,16,32,mixed",
      TYPES "--width 3,9,16 --workload tile --promise-zeros 0,all",
      TYPES "--width 2,4 --padding 2 --keys 1,2,4,32 --layout interleaved,contiguous --call keyed",
      TYPES "--width 2,4 --padding 2 --workload hashgrid"}},
    {"forms",
     "hot rows, sums in two steps, atomred, each against the nearest alternative",
     7, 20.0,
     {"--width 1,3,9,16,32 --workload hot --lanes 1,2,4,8,16,24,32,model --path "
      "none,plain,vector,auto,hot --threshold 1,auto",
      "--width 9 --keys 1,4,1000 --call keyed --path none,plain,auto,hot",
      "--width 1,3 --keys 1,2,4,8,16,32,1000 --call keyed --layout random,interleaved,contiguous "
      "--path none,plain,auto,atomred",
      "--width 1,3 --lanes 1,2,4,8,16,32 --path none,plain,auto,atomred",
      "--width 1,3,9,16,32 --lanes 8,16,32 --path none,transposed,auto,sums --threshold 0",
      "--width 9 --keys 1,2,4,8,16,32 --call keyed --path none,transposed,auto,sums --threshold 0",
      "--width 1,3 --workload cubemap,hashgrid,pagerank --path none,plain,auto,"
      "atomred"}},
};
// clang-format on

/* ---- the table of options ---- */

int sweep_complain(const std::string &what) {
  fprintf(stderr, "arc_sweep: %s\n", printable(what.c_str()));
  return 2;
}

static void add_axes(std::vector<option> *table, sweep_axes *axes) {
  for (int axis = 0; axis < AXIS_END; ++axis) {
    const sweep_axis &a = sweep_axis_table[axis];
    (*axes)[axis] = a.start;
    table->push_back({a.option, OPTION_LIST, &(*axes)[axis], a.meaning, (double)a.low,
                      (double)a.high, a.names.data()});
  }
}

static std::vector<option> whole_table(sweep_options *o, sweep_axes *axes) {
  static const char *const cache_names[] = {"warm", "cold", nullptr};
  static std::vector<const char *> preset_names;
  static std::string preset_help = "the axes for one purpose";
  for (const preset &p : presets) {
    preset_names.push_back(p.name);
    preset_help += std::string("; ") + p.name + ": " + p.meaning;
  }
  preset_names.push_back(nullptr);
  const option others[] = {
      {"\nSizes and rigour"},
      {"--rows", OPTION_INT, &o->rows, "rows of parameters; keys are random ones", 1, 100000000},
      {"--blocks", OPTION_INT, &o->blocks, "per launch", 1, 1000000},
      {"--threads", OPTION_INT, &o->threads, "per block, a multiple of 32", 32, 256},
      {"--updates", OPTION_INT, &o->updates, "per thread", 1, 1000000},
      {"--seed", OPTION_INT, &o->seed, "for keys, masks and values", 0, INT_MAX},
      {"--repeat", OPTION_INT, &o->repeat,
       "least number of timed launches per cell; default: the preset's", 1, 100},
      {"--noise", OPTION_REAL, &o->noise_percent,
       "launch until the quartiles are this close, in percent of the median", 0.01, 100},
      {"--cell-ms", OPTION_REAL, &o->cell_ms,
       "or until this much time is measured; default: the preset's", 0.1, 100000},
      {"--cache", OPTION_NAME, &o->cold, "cold: the L2 cache is overwritten before each launch", 0,
       -1, cache_names},
      {"--test-throttle", OPTION_INT, &o->throttle_after, nullptr, 1, 1000000},
      {"\nPresets and output"},
      {"--preset", OPTION_NAME, &o->preset, preset_help.c_str(), 0, -1, preset_names.data()},
      {"--workload-file", OPTION_INPUT, &o->workload_file,
       "masks.csv of arc/profile.cuh; sets --workload file, and every path and threshold in one "
       "table"},
      {"--csv", OPTION_OUTPUT, &o->csv, "one row per cell; FILE.partial until the sweep has ended"},
      {"--html", OPTION_OUTPUT, &o->html,
       "one page for any browser: summary, charts and all cells; written when the sweep has ended"},
      {"--policy-header", OPTION_OUTPUT, &o->policy_header,
       "the constants that suit this sweep, as a header"},
      {"--tables", OPTION_FLAG, &o->tables, "prints the tables of all cells before the summary"},
      {"--quiet", OPTION_FLAG, &o->quiet, "no progress line, no table and no summary"},
      {"  --help, -h            this text\n"
       "  --version             the version\n\n"
       "Exit status: 0 done, 1 a sum was wrong, a launch or a write failed, 2 bad option,\n"
       "3 out of memory, 77 no GPU, 128 + signal interrupted.\n\n"
       "Example: which threshold suits 9 values a primitive on this machine?\n"
       "  arc_sweep --width 9 --lanes mixed --shape random --path plain,transposed,auto "
       "--threshold 0-33 --csv nine.csv"},
      {"--workload-file", OPTION_WITHOUT, nullptr, "--preset --workload --lanes"},
      {"--tables", OPTION_WITHOUT, nullptr, "--quiet"}};
  std::vector<option> table = {
      {"arc_sweep: what adding from many lanes costs, path by path.\n\n"
       "usage: arc_sweep [options]    without any axis: --preset default\n\n"
       "Axes; the sweep is their product"}};
  add_axes(&table, axes);
  table.insert(table.end(), std::begin(others), std::end(others));
  for (const sweep_axis &a : sweep_axis_table)
    table.push_back({a.option, OPTION_WITHOUT, nullptr, "--preset"});
  if (sweep_on_cpu_warp())
    table.push_back({"--repeat --noise --cell-ms --cache", OPTION_NEEDS, nullptr,
                     "arc_sweep_gpu: the CPU warp counts and takes no times"});
  table.push_back({});
  return table;
}

/* Of a preset's product. */
static sweep_axes read_product(const char *product) {
  std::string line(product);
  std::vector<char *> words = {nullptr};
  sweep_axes axes;
  error_line error;
  std::vector<option> table;
  add_axes(&table, &axes);
  table.push_back({});
  for (char *word = strtok(&line[0], " "); word != nullptr; word = strtok(nullptr, " "))
    words.push_back(word);
  if (!options_read(table.data(), (int)words.size(), words.data(), &error)) abort();
  return axes;
}

/* ---- what goes together ---- */

static bool has(const std::vector<int> &list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

static int check_axes(const sweep_axes &a, int rows, bool has_file) {
  bool axes = has(a[AXIS_WORKLOAD], SWEEP_WORKLOAD_AXES);
  if (has(a[AXIS_WORKLOAD], SWEEP_WORKLOAD_FILE) && !has_file)
    return sweep_complain("--workload: 'file' needs --workload-file");
  bool threshold_fits = a[AXIS_THRESHOLD].empty() || a[AXIS_PATH].empty();
  for (int path : a[AXIS_PATH]) threshold_fits |= sweep_path_has_threshold(path);
  if (!threshold_fits)
    return sweep_complain(
        "--threshold: none of the chosen paths has a threshold; those that have: serialized, "
        "butterfly, transposed, tree, auto");
  if (!axes && (a[AXIS_KEYS] != sweep_axis_table[AXIS_KEYS].start || !a[AXIS_CALL].empty() ||
                a[AXIS_LAYOUT] != sweep_axis_table[AXIS_LAYOUT].start))
    return sweep_complain(
        "--workload: a model generates its own keys; --keys, --layout and --call are for axes");
  if (has(a[AXIS_CALL], SWEEP_CALL_UNIFORM) && !has(a[AXIS_KEYS], 1))
    return sweep_complain("--call: 'uniform' promises one key per warp; add 1 to --keys");
  for (int workload : a[AXIS_WORKLOAD])
    if (rows < sweep_workload_rows(workload))
      return sweep_complain("--rows: the workload '" + sweep_word(AXIS_WORKLOAD, workload) +
                            "' needs at least " + std::to_string(sweep_workload_rows(workload)));
  return 0;
}

static int check_options(const sweep_options &o) {
  if (o.threads % 32 != 0)
    return sweep_complain(
        "--threads: must be a multiple of 32: every path here adds from whole warps");
  for (const sweep_axes &axes : o.products)
    if (check_axes(axes, o.rows, !o.masks.empty())) return 2;
  return 0;
}

static sweep_options start_options(void) {
  sweep_options o = {};
  bool cpu = sweep_on_cpu_warp();
  o.preset = -1;
  o.rows = cpu ? 1000 : 100000;
  o.blocks = cpu ? 2 : 1056;
  o.threads = cpu ? 64 : 256;
  o.updates = cpu ? 64 : 256;
  o.seed = 1;
  o.noise_percent = 1.0f;
  return o;
}

/* What is not given: each path, and for arc's own choice all thresholds. */
static void read_file_axes(sweep_options *o, sweep_axes *axes) {
  const bool every = (*axes)[AXIS_PATH].empty() && (*axes)[AXIS_THRESHOLD].empty();
  (*axes)[AXIS_WORKLOAD] = {SWEEP_WORKLOAD_FILE};
  o->tables = !o->quiet;
  for (int threshold = 0; every && threshold <= 34; ++threshold)
    (*axes)[AXIS_THRESHOLD].push_back(threshold);
}

int sweep_options_read(sweep_options *o, int argc, char **argv) {
  sweep_axes axes;
  error_line error;
  *o = start_options();
  std::vector<option> table = whole_table(o, &axes);
  if (!options_read(table.data(), argc, argv, &error)) return sweep_complain(error.text);
  if (o->workload_file && sweep_workload_read(o->workload_file, &o->masks)) return 2;
  if (o->workload_file) read_file_axes(o, &axes);
  bool axes_given = o->workload_file;
  for (int axis = 0; axis < AXIS_END; ++axis) axes_given |= table[1 + axis].given;
  const preset &p = presets[o->preset < 0 ? 0 : o->preset];
  if (o->repeat == 0) o->repeat = p.repeat;
  if (o->cell_ms == 0.0f) o->cell_ms = p.cell_ms;
  if (axes_given) {
    o->products.push_back(axes);
  } else {
    o->preset = (int)(&p - presets.data());
    for (const char *product : p.products) o->products.push_back(read_product(product));
  }
  return check_options(*o);
}
