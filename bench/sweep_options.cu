/* sweep_options.cu - the command line: axes, sizes, outputs; every mistake gets one clear line.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

struct sweep_name {
  int value;
  const char *name;
};

static const struct sweep_name path_names[] = {{SWEEP_PATH_NONE, "none"},
                                               {SWEEP_PATH_PLAIN, "plain"},
                                               {SWEEP_PATH_VECTOR, "vector"},
                                               {SWEEP_PATH_CG, "cg"},
                                               {SWEEP_PATH_CUB, "cub"},
                                               {SWEEP_PATH_CUB_BATCHED, "cub_batched"},
                                               {SWEEP_PATH_SHUFFLE_SKIP, "shuffle_skip"},
                                               {SWEEP_PATH_MATCH_SHARED, "match_shared"},
                                               {SWEEP_PATH_ATOMIC, "atomic"},
                                               {SWEEP_PATH_SERIALIZED, "serialized"},
                                               {SWEEP_PATH_BUTTERFLY, "butterfly"},
                                               {SWEEP_PATH_TRANSPOSED, "transposed"},
                                               {SWEEP_PATH_TREE, "tree"},
                                               {SWEEP_PATH_AUTO, "auto"},
                                               {SWEEP_PATH_BROKEN, "broken"},
                                               {0, NULL}};
static const struct sweep_name shape_names[] = {
    {SWEEP_SHAPE_PREFIX, "prefix"},   {SWEEP_SHAPE_SCATTERED, "scattered"},
    {SWEEP_SHAPE_STRIDED, "strided"}, {SWEEP_SHAPE_RANDOM, "random"},
    {SWEEP_SHAPE_SINGLE, "single"},   {0, NULL}};
static const struct sweep_name layout_names[] = {{SWEEP_LAYOUT_INTERLEAVED, "interleaved"},
                                                 {SWEEP_LAYOUT_CONTIGUOUS, "contiguous"},
                                                 {SWEEP_LAYOUT_RANDOM, "random"},
                                                 {0, NULL}};
static const struct sweep_name call_names[] = {
    {SWEEP_CALL_UNIFORM, "uniform"}, {SWEEP_CALL_KEYED, "keyed"}, {0, NULL}};
static const struct sweep_name lanes_names[] = {
    {SWEEP_LANES_MIXED, "mixed"}, {SWEEP_LANES_MODEL, "model"}, {0, NULL}};
static const struct sweep_name workload_names[] = {
    {SWEEP_WORKLOAD_AXES, "axes"},         {SWEEP_WORKLOAD_TILE, "tile"},
    {SWEEP_WORKLOAD_SPHERES, "spheres"},   {SWEEP_WORKLOAD_CUBEMAP, "cubemap"},
    {SWEEP_WORKLOAD_HASHGRID, "hashgrid"}, {SWEEP_WORKLOAD_PAGERANK, "pagerank"},
    {SWEEP_WORKLOAD_HOT, "hot"},           {0, NULL}};
static const struct sweep_name cache_names[] = {{0, "warm"}, {1, "cold"}, {0, NULL}};
static const struct sweep_name threshold_names[] = {{SWEEP_THRESHOLD_DEFAULT, "auto"}, {0, NULL}};

static const char *name_of(const struct sweep_name *names, int value) {
  for (; names->name; ++names)
    if (names->value == value) return names->name;
  return "?";
}
const char *sweep_path_name(int path) { return name_of(path_names, path); }
const char *sweep_shape_name(int shape) { return name_of(shape_names, shape); }
const char *sweep_layout_name(int layout) {
  return layout == 0 ? "model" : name_of(layout_names, layout);
}
const char *sweep_call_name(int call) { return name_of(call_names, call); }
const char *sweep_workload_name(int workload) { return name_of(workload_names, workload); }

int sweep_path_has_threshold(int path) {
  return path >= SWEEP_PATH_SERIALIZED && path <= SWEEP_PATH_AUTO;
}

/* ---- lists ---- */

static const int widths[] = {
#define WIDTH_ITEM(W) W,
    SWEEP_WIDTHS(WIDTH_ITEM)};

static int has_width(int width) {
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i)
    if (widths[i] == width) return 1;
  return 0;
}

/* What an axis accepts: names, or numbers from low to high, or both. */
struct sweep_axis {
  const char *option;
  const struct sweep_name *names;
  int low, high; /* low > high: no numbers */
  int (*accepts)(int);
  const char *legal;
  struct sweep_list *list;
};

int sweep_list_add(struct sweep_list *list, int value) {
  for (int i = 0; i < list->count; ++i)
    if (list->value[i] == value) return 1;
  if (list->count == SWEEP_LIST_MAX) return 0;
  list->value[list->count++] = value;
  return 1;
}

static int read_number(const char *text, const char **end, int *value) {
  char *stop;
  errno = 0;
  if (*text < '0' || *text > '9') return 0;
  long number = strtol(text, &stop, 10);
  if (errno != 0 || number > INT_MAX) return 0;
  *value = (int)number;
  *end = stop;
  return 1;
}

/* One item: a name, a number, or a range low-high of numbers. Returns 1 when it was legal. */
static int read_item(const struct sweep_axis *axis, const char *item) {
  if (axis->names)
    for (const struct sweep_name *n = axis->names; n->name; ++n)
      if (strcmp(n->name, item) == 0) return sweep_list_add(axis->list, n->value);
  int first, last;
  const char *end;
  if (!read_number(item, &end, &first)) return 0;
  last = first;
  if (*end == '-' && !read_number(end + 1, &end, &last)) return 0;
  if (*end != '\0' || first > last || first < axis->low || last > axis->high) return 0;
  int range = first != last;
  for (int v = first; v <= last; ++v) {
    if (axis->accepts && !axis->accepts(v)) {
      if (range) continue; /* 1-16 means those of them that exist */
      return 0;
    }
    if (!sweep_list_add(axis->list, v)) return 0;
  }
  return axis->list->count > 0;
}

static int read_list(const struct sweep_axis *axis, const char *text, FILE *err) {
  axis->list->count = 0;
  while (1) {
    char item[32];
    size_t length = strcspn(text, ",");
    if (length < sizeof item) {
      memcpy(item, text, length);
      item[length] = '\0';
    }
    if (length >= sizeof item || !read_item(axis, item)) {
      fprintf(err, "arc_sweep: --%s: '%.*s' is not legal; legal: %s\n", axis->option, (int)length,
              text, axis->legal);
      return 2;
    }
    if (text[length] == '\0') return 0;
    text += length + 1;
  }
}

/* ---- options ---- */

struct sweep_number {
  const char *option;
  int low, high;
  int *value;
};
struct sweep_real {
  const char *option;
  double low, high;
  double *value;
};

void sweep_options_default(struct sweep_options *o) {
  memset(o, 0, sizeof *o);
  sweep_list_add(&o->axes.workloads, SWEEP_WORKLOAD_AXES);
  sweep_list_add(&o->axes.widths, 10);
  sweep_list_add(&o->axes.shapes, SWEEP_SHAPE_PREFIX);
  sweep_list_add(&o->axes.keys, 1);
  sweep_list_add(&o->axes.layouts, SWEEP_LAYOUT_RANDOM);
  sweep_list_add(&o->axes.zeros, 0);
  o->sizes.padding = 4;
  o->sizes.seed = 1;
#if SIMT_ON_CPU
  o->sizes.rows = 1000;
  o->sizes.blocks = 2;
  o->sizes.threads = 64;
  o->sizes.updates = 64;
#else
  o->sizes.rows = 100000;
  o->sizes.blocks = 1056;
  o->sizes.threads = 256;
  o->sizes.updates = 256;
#endif
  o->rigour.noise_percent = 1.0;
  o->floors = 1;
}

static int complain(FILE *err, const char *option, const char *what) {
  fprintf(err, "arc_sweep: %s: %s\n", option, what);
  return 2;
}

static int read_size(const struct sweep_number *n, const char *text, FILE *err) {
  const char *end;
  int value;
  if (!read_number(text, &end, &value) || *end != '\0' || value < n->low || value > n->high) {
    fprintf(err, "arc_sweep: --%s: '%s' is not legal; legal: %d to %d\n", n->option, text, n->low,
            n->high);
    return 2;
  }
  *n->value = value;
  return 0;
}

static int read_real(const struct sweep_real *n, const char *text, FILE *err) {
  char *end;
  double value = strtod(text, &end);
  if (*text < '0' || *text > '9' || *end != '\0' || !(value >= n->low && value <= n->high)) {
    fprintf(err, "arc_sweep: --%s: '%s' is not legal; legal: %g to %g\n", n->option, text, n->low,
            n->high);
    return 2;
  }
  *n->value = value;
  return 0;
}

int sweep_list_has(const struct sweep_list *list, int value) {
  for (int i = 0; i < list->count; ++i)
    if (list->value[i] == value) return 1;
  return 0;
}

static int check_preset(const struct sweep_options *o, FILE *err) {
  static const char *const presets[] = {"default", "issue", "peers"};
  int known = 0;
  for (const char *preset : presets) known |= strcmp(o->preset, preset) == 0;
  if (!known) {
    fprintf(err, "arc_sweep: --preset: '%s' is not legal; legal: default, issue, peers\n",
            o->preset);
    return 2;
  }
  if (o->axes_given)
    return complain(err, "--preset", "a preset fixes the axes; leave out either it or the axes");
  return 0;
}

/* What models take from the axes, and what they draw themselves. */
static int check_workloads(const struct sweep_options *o, FILE *err) {
  const struct sweep_axes *a = &o->axes;
  int axes = sweep_list_has(&a->workloads, SWEEP_WORKLOAD_AXES);
  int models = a->workloads.count - axes;
  if (!axes && o->key_axes_given)
    return complain(err, "--workload",
                    "a model draws its own keys: --keys, --layout and --call are for axes");
  if (!axes && sweep_list_has(&a->lanes, SWEEP_LANES_MIXED))
    return complain(err, "--lanes", "'mixed' is for --workload axes; a model has 'model'");
  if (!models && sweep_list_has(&a->lanes, SWEEP_LANES_MODEL))
    return complain(err, "--lanes", "'model' needs a --workload other than axes");
  for (int i = 0; i < a->workloads.count; ++i) {
    int workload = a->workloads.value[i];
    if (o->sizes.rows >= sweep_workload_rows(workload)) continue;
    fprintf(err, "arc_sweep: --rows: the workload '%s' needs at least %d rows\n",
            sweep_workload_name(workload), sweep_workload_rows(workload));
    return 2;
  }
  return 0;
}

static int check_paths(const struct sweep_options *o, FILE *err) {
  for (int i = 0; i < o->axes.paths.count; ++i) {
    int path = o->axes.paths.value[i];
    if (!sweep_path_missing(path)) continue;
    fprintf(err, "arc_sweep: --path: '%s' is unavailable: %s\n", sweep_path_name(path),
            sweep_path_missing(path));
    return 2;
  }
  if (sweep_list_has(&o->axes.paths, SWEEP_PATH_VECTOR) && o->sizes.padding % 4 != 0)
    return complain(err, "--padding",
                    "the path 'vector' needs rows of whole 16 bytes: a multiple of 4, or --path "
                    "without it");
  return 0;
}

static int check_thresholds(const struct sweep_options *o, FILE *err) {
  const struct sweep_list *thresholds = &o->axes.thresholds;
  if (thresholds->count > 0 && !sweep_list_has(thresholds, SWEEP_THRESHOLD_DEFAULT) &&
      sweep_list_has(&o->axes.paths, SWEEP_PATH_AUTO) && !sweep_list_has(&o->axes.zeros, 0))
    return complain(err, "--threshold",
                    "with --promise-zeros 1 the path 'auto' is compiled with threshold auto only; "
                    "add auto, or --path without auto");
  int thresholded = 0;
  for (int i = 0; i < o->axes.paths.count; ++i)
    thresholded |= sweep_path_has_threshold(o->axes.paths.value[i]);
  if (thresholds->count > 0 && !thresholded)
    return complain(err, "--threshold",
                    "none of the chosen paths has a threshold; those that have: serialized, "
                    "butterfly, transposed, tree, auto");
  return 0;
}

/* Combinations that no kernel can serve. */
static int check_together(const struct sweep_options *o, FILE *err) {
  if (o->preset && check_preset(o, err)) return 2;
  if (o->sizes.threads % 32 != 0)
    return complain(err, "--threads", "must be a multiple of 32: every add here takes whole warps");
  if (sweep_list_has(&o->axes.calls, SWEEP_CALL_UNIFORM) && !sweep_list_has(&o->axes.keys, 1))
    return complain(err, "--call", "'uniform' promises one key per warp; add 1 to --keys");
  if (o->resume && !o->csv)
    return complain(err, "--resume", "needs --csv FILE, the file of the sweep that goes on");
  if (SIMT_ON_CPU && o->rigour.energy)
    return complain(err, "--energy", "the CPU warp has no energy counter; arc_sweep_gpu has");
  return check_paths(o, err) || check_workloads(o, err) || check_thresholds(o, err) ? 2 : 0;
}

/* Every path that this build has and the rows allow. */
static void all_paths(struct sweep_list *paths, int padding) {
  for (int path = SWEEP_PATH_PLAIN; path <= SWEEP_PATH_AUTO; ++path)
    if (!sweep_path_missing(path) && (path != SWEEP_PATH_VECTOR || padding % 4 == 0))
      sweep_list_add(paths, path);
}

/* Preset `issue` compares arc with the papers' paths, as it always has. */
static void without_peers(struct sweep_list *paths) {
  int kept = 0;
  for (int i = 0; i < paths->count; ++i)
    if (paths->value[i] < SWEEP_PATH_CG || paths->value[i] > SWEEP_PATH_MATCH_SHARED)
      paths->value[kept++] = paths->value[i];
  paths->count = kept;
}

/* What the options leave open. */
static void fill_in(struct sweep_options *o) {
  if (!o->preset && !o->axes_given) o->preset = "default";
  int peers = o->preset && strcmp(o->preset, "peers") == 0;
  if (o->axes.paths.count == 0) {
    all_paths(&o->axes.paths, o->sizes.padding);
    if (o->preset && strcmp(o->preset, "issue") == 0) without_peers(&o->axes.paths);
  }
  if (peers) {
    for (int workload = 1; workload < SWEEP_WORKLOAD_END; ++workload)
      sweep_list_add(&o->axes.workloads, workload);
    o->floors = 1;
  }
  if (o->rigour.repeat == 0) o->rigour.repeat = peers ? 3 : 7;
  if (o->rigour.cell_ms == 0.0) o->rigour.cell_ms = peers ? 10.0 : 20.0;
}

static int read_cache(struct sweep_options *o, const char *value, FILE *err) {
  for (const struct sweep_name *n = cache_names; n->name; ++n) {
    if (strcmp(n->name, value) != 0) continue;
    o->rigour.cold = n->value;
    return 0;
  }
  fprintf(err, "arc_sweep: --cache: '%s' is not legal; legal: warm, cold\n", value);
  return 2;
}

/* Fills one axis, size or name from the word after its option. Returns 0, 2 after a complaint, or
   unknown_option. Without a value: only whether the option is known. */
enum { unknown_option = -1 };
static int read_value(struct sweep_options *o, const char *option, const char *value, FILE *err) {
  const struct sweep_axis axes[] = {
      {"workload", workload_names, 1, 0, NULL,
       "axes, tile, spheres, cubemap, hashgrid, pagerank, hot", &o->axes.workloads},
      {"width", NULL, 1, SWEEP_MAX_WIDTH, has_width,
       "1,2,3,4,6,8,9,10,12,14,16,20,32, ranges such as 1-4", &o->axes.widths},
      {"lanes", lanes_names, 0, 32, NULL, "0 to 32, ranges such as 1-32, mixed, model",
       &o->axes.lanes},
      {"shape", shape_names, 1, 0, NULL, "prefix, scattered, strided, random, single",
       &o->axes.shapes},
      {"keys", NULL, 1, 1000, NULL, "1 to 1000, ranges such as 1-32", &o->axes.keys},
      {"layout", layout_names, 1, 0, NULL, "interleaved, contiguous, random", &o->axes.layouts},
      {"call", call_names, 1, 0, NULL, "uniform, keyed", &o->axes.calls},
      {"threshold", threshold_names, 0, 33, NULL, "0 to 33, ranges such as 0-33, auto",
       &o->axes.thresholds},
      {"path", path_names, 1, 0, NULL,
       "none, plain, vector, cg, cub, cub_batched, shuffle_skip, match_shared, atomic, "
       "serialized, butterfly, transposed, tree, auto",
       &o->axes.paths},
      {"promise-zeros", NULL, 0, 1, NULL, "0, 1", &o->axes.zeros},
  };
  const struct sweep_number numbers[] = {
      {"rows", 1, 100000000, &o->sizes.rows},
      {"padding", 1, 1024, &o->sizes.padding},
      {"blocks", 1, 1000000, &o->sizes.blocks},
      {"threads", 32, 256, &o->sizes.threads},
      {"updates", 1, 1000000, &o->sizes.updates},
      {"repeat", 1, 100, &o->rigour.repeat},
      {"energy", 0, 1, &o->rigour.energy},
      {"floors", 0, 1, &o->floors},
      {"seed", 0, INT_MAX, &o->sizes.seed},
      {"test-interrupt", 1, 1000000, &o->interrupt_after},
      {"test-wrong-oracle", 0, 1, &o->wrong_oracle},
      {"test-throttle", 1, 1000000, &o->throttle_after},
  };
  const struct sweep_real reals[] = {
      {"noise", 0.01, 100.0, &o->rigour.noise_percent},
      {"cell-ms", 0.1, 100000.0, &o->rigour.cell_ms},
  };
  for (const struct sweep_axis &axis : axes) {
    if (strcmp(option, axis.option) != 0) continue;
    o->axes_given = 1;
    o->key_axes_given |=
        axis.list == &o->axes.keys || axis.list == &o->axes.layouts || axis.list == &o->axes.calls;
    return value ? read_list(&axis, value, err) : 0;
  }
  for (const struct sweep_number &number : numbers)
    if (strcmp(option, number.option) == 0) return value ? read_size(&number, value, err) : 0;
  for (const struct sweep_real &real : reals)
    if (strcmp(option, real.option) == 0) return value ? read_real(&real, value, err) : 0;
  if (strcmp(option, "cache") == 0) return value ? read_cache(o, value, err) : 0;
  const char **name = strcmp(option, "csv") == 0      ? &o->csv
                      : strcmp(option, "json") == 0   ? &o->json
                      : strcmp(option, "preset") == 0 ? &o->preset
                                                      : NULL;
  if (!name) return unknown_option;
  *name = value;
  return 0;
}

int sweep_options_read(struct sweep_options *o, int argc, char **argv, FILE *err) {
  sweep_options_default(o);
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    const char *option = strncmp(word, "--", 2) == 0 ? word + 2 : "";
    if (strcmp(option, "help") == 0 || strcmp(word, "-h") == 0) {
      o->help = 1;
    } else if (strcmp(option, "quiet") == 0) {
      o->quiet = 1;
    } else if (strcmp(option, "resume") == 0) {
      o->resume = 1;
    } else if (strcmp(option, "self-check") == 0) {
      o->self_check = 1;
    } else if (read_value(o, option, NULL, err) == unknown_option) {
      fprintf(err, "arc_sweep: '%s' is not an option; arc_sweep --help lists them\n", word);
      return 2;
    } else if (i + 1 == argc || argv[i + 1][0] == '\0') {
      return complain(err, word, "needs a value");
    } else if (read_value(o, option, argv[++i], err)) {
      return 2;
    }
  }
  fill_in(o);
  return o->help ? 0 : check_together(o, err);
}
