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
static const struct sweep_name lanes_names[] = {{SWEEP_LANES_MIXED, "mixed"}, {0, NULL}};
static const struct sweep_name threshold_names[] = {{SWEEP_THRESHOLD_DEFAULT, "auto"}, {0, NULL}};

static const char *name_of(const struct sweep_name *names, int value) {
  for (; names->name; ++names)
    if (names->value == value) return names->name;
  return "?";
}
const char *sweep_path_name(int path) { return name_of(path_names, path); }
const char *sweep_shape_name(int shape) { return name_of(shape_names, shape); }
const char *sweep_layout_name(int layout) { return name_of(layout_names, layout); }
const char *sweep_call_name(int call) { return name_of(call_names, call); }

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

static void options_default(struct sweep_options *o) {
  memset(o, 0, sizeof *o);
  sweep_list_add(&o->axes.widths, 10);
  sweep_list_add(&o->axes.lanes, 32);
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
  o->sizes.repeat = 7;
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

int sweep_list_has(const struct sweep_list *list, int value) {
  for (int i = 0; i < list->count; ++i)
    if (list->value[i] == value) return 1;
  return 0;
}

/* Combinations that no kernel can serve. */
static int check_together(const struct sweep_options *o, FILE *err) {
  if (o->preset && strcmp(o->preset, "default") != 0 && strcmp(o->preset, "issue") != 0) {
    fprintf(err, "arc_sweep: --preset: '%s' is not legal; legal: default, issue\n", o->preset);
    return 2;
  }
  if (o->preset && o->axes_given)
    return complain(err, "--preset", "a preset fixes the axes; leave out either it or the axes");
  if (o->sizes.threads % 32 != 0)
    return complain(err, "--threads", "must be a multiple of 32: every add here takes whole warps");
  if (sweep_list_has(&o->axes.paths, SWEEP_PATH_VECTOR) && o->sizes.padding % 4 != 0)
    return complain(err, "--padding",
                    "the path 'vector' needs rows of whole 16 bytes: a multiple of 4, or --path "
                    "without it");
  if (sweep_list_has(&o->axes.calls, SWEEP_CALL_UNIFORM) && !sweep_list_has(&o->axes.keys, 1))
    return complain(err, "--call", "'uniform' promises one key per warp; add 1 to --keys");
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

/* Every path that the rows allow. */
static void all_paths(struct sweep_list *paths, int padding) {
  for (int path = SWEEP_PATH_PLAIN; path <= SWEEP_PATH_AUTO; ++path)
    if (path != SWEEP_PATH_VECTOR || padding % 4 == 0) sweep_list_add(paths, path);
}

/* Fills one axis, size or name from the word after its option. Returns 0, 2 after a complaint, or
   unknown_option. Without a value: only whether the option is known. */
enum { unknown_option = -1 };
static int read_value(struct sweep_options *o, const char *option, const char *value, FILE *err) {
  const struct sweep_axis axes[] = {
      {"width", NULL, 1, SWEEP_MAX_WIDTH, has_width,
       "1,2,3,4,6,8,9,10,12,14,16,20,32, ranges such as 1-4", &o->axes.widths},
      {"lanes", lanes_names, 0, 32, NULL, "0 to 32, ranges such as 1-32, mixed", &o->axes.lanes},
      {"shape", shape_names, 1, 0, NULL, "prefix, scattered, strided, random, single",
       &o->axes.shapes},
      {"keys", NULL, 1, 1000, NULL, "1 to 1000, ranges such as 1-32", &o->axes.keys},
      {"layout", layout_names, 1, 0, NULL, "interleaved, contiguous, random", &o->axes.layouts},
      {"call", call_names, 1, 0, NULL, "uniform, keyed", &o->axes.calls},
      {"threshold", threshold_names, 0, 33, NULL, "0 to 33, ranges such as 0-33, auto",
       &o->axes.thresholds},
      {"path", path_names, 1, 0, NULL,
       "none, plain, vector, atomic, serialized, butterfly, transposed, tree, auto",
       &o->axes.paths},
      {"promise-zeros", NULL, 0, 1, NULL, "0, 1", &o->axes.zeros},
  };
  const struct sweep_number numbers[] = {
      {"rows", 1, 100000000, &o->sizes.rows},
      {"padding", 1, 1024, &o->sizes.padding},
      {"blocks", 1, 1000000, &o->sizes.blocks},
      {"threads", 32, 256, &o->sizes.threads},
      {"updates", 1, 1000000, &o->sizes.updates},
      {"repeat", 1, 1000, &o->sizes.repeat},
      {"seed", 0, INT_MAX, &o->sizes.seed},
      {"test-interrupt", 1, 1000000, &o->interrupt_after},
      {"test-wrong-oracle", 0, 1, &o->wrong_oracle},
  };
  for (const struct sweep_axis &axis : axes) {
    if (strcmp(option, axis.option) != 0) continue;
    o->axes_given = 1;
    return value ? read_list(&axis, value, err) : 0;
  }
  for (const struct sweep_number &number : numbers)
    if (strcmp(option, number.option) == 0) return value ? read_size(&number, value, err) : 0;
  const char **name = strcmp(option, "csv") == 0      ? &o->csv
                      : strcmp(option, "preset") == 0 ? &o->preset
                                                      : NULL;
  if (!name) return unknown_option;
  *name = value;
  return 0;
}

int sweep_options_read(struct sweep_options *o, int argc, char **argv, FILE *err) {
  options_default(o);
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    const char *option = strncmp(word, "--", 2) == 0 ? word + 2 : "";
    if (strcmp(option, "help") == 0 || strcmp(word, "-h") == 0) {
      o->help = 1;
    } else if (strcmp(option, "quiet") == 0) {
      o->quiet = 1;
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
  if (o->axes.paths.count == 0) all_paths(&o->axes.paths, o->sizes.padding);
  if (!o->preset && !o->axes_given) o->preset = "default";
  return o->help ? 0 : check_together(o, err);
}

static const char help_text[] =
    "arc_sweep - what adding from many lanes costs, path by path\n"
    "built for %s\n"
    "\n"
    "usage: arc_sweep [options]      without any axis: --preset default\n"
    "\n"
    "Axes. A list is separated by commas; numbers may be ranges. The sweep is their product.\n"
    "  --width LIST          values per update: 1,2,3,4,6,8,9,10,12,14,16,20,32 (10)\n"
    "                          e.g. --width 9,10\n"
    "  --lanes LIST          active lanes, 0 to 32 (32); mixed: half of the updates have 1-4\n"
    "                        active lanes, half 1-32\n"
    "                          e.g. --lanes 1-32 or --lanes 1,4,mixed\n"
    "  --shape LIST          which lanes are active (prefix): prefix; scattered, a fixed draw;\n"
    "                        strided, evenly spread; random, drawn in every update; single,\n"
    "                        lane 31 alone whatever --lanes says\n"
    "                          e.g. --shape prefix,random\n"
    "  --keys LIST           different keys per warp, 1 to 1000 (1)\n"
    "                          e.g. --keys 1,2,4,8,16,32,1000\n"
    "  --layout LIST         which lanes share a key, for 2 keys and more (random):\n"
    "                        interleaved, lane %% keys; contiguous; random, drawn in every\n"
    "                        update (always for more than 32 keys)\n"
    "                          e.g. --layout interleaved,contiguous\n"
    "  --call LIST           the function called: uniform, arc_add_uniform_f32, one key for a\n"
    "                        whole block; keyed, arc_add_f32, keys drawn by every warp\n"
    "                        (uniform where keys is 1, else keyed)\n"
    "                          e.g. --keys 1 --call uniform,keyed\n"
    "  --threshold LIST      balancing threshold, 0 to 33, or auto, arc's own (0 for paths\n"
    "                        called by name, auto for auto; with --promise-zeros 1 the path\n"
    "                        auto has threshold auto only)\n"
    "                          e.g. --threshold 0-33 or --threshold 0,8,16,auto\n"
    "  --path LIST           plain: a scalar atomicAdd a value; vector: 16-byte reductions by\n"
    "                        hand; arc's atomic, serialized, butterfly, transposed, tree and\n"
    "                        auto; none: the kernel without adding (always measured)\n"
    "                          e.g. --path plain,auto\n"
    "  --promise-zeros LIST  0: inactive lanes hold garbage (0); 1: they hold zeros and arc is\n"
    "                        compiled with ARC_INACTIVE_IS_ZERO=1\n"
    "                          e.g. --promise-zeros 0,1\n"
    "\n"
    "Sizes\n"
    "  --rows N              rows of parameters, drawn at random (%d); e.g. --rows 32\n"
    "  --padding N           rows padded to a multiple of N floats (%d); e.g. --padding 1\n"
    "  --blocks N            blocks (%d); e.g. --blocks 528\n"
    "  --threads N           threads a block, a multiple of 32 up to 256 (%d); e.g. --threads 128\n"
    "  --updates N           updates a thread (%d); e.g. --updates 1024\n"
    "  --repeat N            timed launches a cell, at least (%d); no effect on the CPU warp;\n"
    "                        e.g. --repeat 15\n"
    "  --seed N              of keys, masks and values (%d); e.g. --seed 7\n"
    "\n"
    "Presets\n"
    "  --preset default      every path over a few widths, lanes and keys: a minute or two\n"
    "  --preset issue        every figure the project promises, with a verdict; meant for a GPU:\n"
    "                        about two minutes there; e.g. --preset issue --csv issue.csv\n"
    "\n"
    "Output\n"
    "  --csv FILE            one row a cell, columns explained in its head; FILE.partial until\n"
    "                        the sweep has ended; e.g. --csv sweep.csv\n"
    "  --quiet               no table and no progress line; errors and verdicts remain\n"
    "  --self-check          a small run that tests the program itself\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 0 done, 1 a sum was wrong or a launch failed, 2 bad option, 130 interrupted,\n"
    "77 no GPU.\n"
    "\n"
    "Example: which threshold suits 9 values a primitive on this machine?\n"
    "  arc_sweep --width 9 --lanes mixed --shape random --path plain,transposed,auto --threshold "
    "0-33 --csv nine.csv\n";

void sweep_options_help(FILE *out) {
  struct sweep_options o;
  options_default(&o);
  const struct sweep_sizes *s = &o.sizes;
  fprintf(out, help_text,
          SIMT_ON_CPU ? "the CPU warp: counts and *model* clocks, no times" : "the GPU", s->rows,
          s->padding, s->blocks, s->threads, s->updates, s->repeat, s->seed);
}
