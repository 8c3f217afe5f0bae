/* arc example gaussians: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common/option_values.h"
#include "arc_policy.cuh"
#include "train/group.h"

static const int MOST_ITERATIONS = 1000000;
static const char PATH_NAMES[] = "plain, serialized, butterfly, cub, shuffles, auto, default";

void options_print_help(FILE *stream) {
  fputs(
      "gaussians: trains a scene of 3D Gaussians from pictures; the gradients are added up "
      "through\n"
      "arc.\n"
      "\n"
      "usage: gaussians [options]\n"
      "\n"
      "what to train on\n"
      "  --scene PATH         a folder that convert.py has made, from NeRF or COLMAP data; with\n"
      "                       --draw its cameras.txt will do\n"
      "  --views N            uses at most N views; of the procedural scene: its views\n"
      "  --hold-out N         every Nth view is for testing only, 0: none; default: 8\n"
      "  --procedural KIND    small, medium or large Gaussians, drawn by the program; the default\n"
      "                       where there is no --scene (small)\n"
      "  --gaussians N        of the procedural scene; with --scene, how many to start from where\n"
      "                       it has no points\n"
      "  --size WxH           of the procedural scene's pictures\n"
      "  --init FILE          starts from the Gaussians of a 3DGS .ply\n"
      "\n"
      "how to train\n"
      "  --iterations N       0 to 1000000; 0 only draws and judges; default: 7000\n"
      "  --seed N             default: 1\n"
      "  --sh-degree N        0 to 3; default: 3\n"
      "  --background COLOUR  black or white; default: black\n"
      "  --densify on|off     clone, split and prune; default: on\n"
      "  --densify-until N    default: half of the iterations\n"
      "  --most-gaussians N   the model grows no further; default: 3000000\n"
      "  --gpus N             1 to 64 processes of this machine, a GPU each, train together; mpi:\n"
      "                       as many as an MPI launcher has started; default: 1\n"
      "  --batch N            views of a step; each counts as an iteration; default: --gpus\n"
      "\n"
      "how to draw without training: pictures, times or both\n"
      "  --draw               the Gaussians of --init, or the procedural scene's, seen by the\n"
      "                       cameras of --scene, whose pictures need not be there, or of an "
      "orbit\n"
      "  --orbit N            N cameras on a ring about the middle of the Gaussians, z up; the\n"
      "                       default for --init where there is no --scene (24)\n"
      "  --city N             a synthetic city of N Gaussians, as long, thin and opaque as those\n"
      "                       of --init, with cameras of its own\n"
      "  --size WxH           of the pictures, whatever the cameras' own\n"
      "\n"
      "how the backward pass adds\n"
      "  --path NAME          plain       an atomicAdd for every value: what arc replaces\n"
      "                       cub         cub::WarpReduce a value (not on the CPU warp)\n"
      "                       shuffles    five shuffles a value, empty warps skipped\n"
      "                       serialized, butterfly, auto\n"
      "                                   that path of arc, threshold chosen at run time\n"
      "                       default     arc as compiled: ARC_PATH, ARC_BALANCE_THRESHOLD\n"
      "  --threshold T        0 to 33, or auto: the least number of lanes to reduce in registers;\n"
      "                       default: auto; given without --path, the path is auto\n"
      "  --tune on|off        arc's tuner picks path and threshold while training; default: off\n"
      "  --rows on|off        sums in one padded row a Gaussian; off: in four arrays; default: on\n"
      "  --reproducible       sums in 64-bit fixed point: every run gives the same model, to the\n"
      "                       last bit\n"
      "  --pixels N           1, 2 or 4: how many pixels a lane adds up by itself, or draws with\n"
      "                       --draw; default: 2\n"
      "  --tiles TEST         exact, box or circle: which tiles get a splat; default: exact\n"
      "\n"
      "what to write; every file appears complete or not at all\n"
      "  --out FILE           the trained Gaussians, a 3DGS .ply\n"
      "  --renders FOLDER     every test view (every view, if none is held out, and with --draw) "
      "as\n"
      "                       .png or .ppm; the folder is made if it is not there\n"
      "  --csv FILE           a line for each iteration: loss, Gaussians, pairs, milliseconds;\n"
      "                       with --bench-backward and --bench-papers, their table; with --draw\n"
      "                       a line for each view: pairs, milliseconds\n"
      "  --cameras FILE       the loss by the 12 numbers of each training camera, .csv\n"
      "  --checkpoint FILE    where to stop and go on from; written at the end\n"
      "  --checkpoint-every N and every N iterations\n"
      "  --resume FILE        goes on from a checkpoint; give the same scene and settings, but "
      "any\n"
      "                       --iterations from where it stands on\n"
      "\n"
      "measuring\n"
      "  --experiment FILE    trains with every implementation and threshold 0, 8, 16, 24, 32 on\n"
      "                       --scene, or on the three procedural ones; one .csv line each\n"
      "  --seeds N            repeats it with N seeds from --seed on, and prints the mean PSNR of\n"
      "                       each implementation; default: 1\n"
      "  --bench-backward     one view, every implementation, threshold and number of pixels a\n"
      "                       lane: medians of the backward pass; without --procedural or "
      "--scene,\n"
      "                       1 million small, 300000 medium and 50000 large Gaussians at "
      "1920x1080\n"
      "  --bench-papers       one view, the kernel that the papers describe: with atomics, SW-S\n"
      "                       and SW-B at every threshold, and arc; medians, all sums compared\n"
      "  --bench-draw         draws as --draw with and without each step that makes it fast, at\n"
      "                       1920x1080 and 3840x2160 or --size; medians, pictures compared\n"
      "  --datasets LIST      what to measure on, of scene (that is, --scene), small, medium and\n"
      "                       large, with commas between; default: --scene or --procedural, or\n"
      "                       small,medium,large\n"
      "  --repeats N          of each measurement, and of each view with --draw; default: 9\n"
      "  --help, -h           this text\n"
      "  --version            the version\n"
      "\n"
      "examples:\n"
      "  gaussians --scene fox --out fox.ply --renders out\n"
      "  gaussians --scene fox --init fox.ply --iterations 0 --renders out\n"
      "  gaussians --draw --init fox.ply --scene fox --size 3840x2160 --renders out\n"
      "  gaussians --bench-backward --csv backward.csv\n"
      "  gaussians --bench-papers --csv papers.csv\n"
      "  gaussians --scene fox --experiment table.csv\n"
      "  gaussians --scene fox --datasets scene,small --densify off --seeds 5 --experiment t.csv\n"
      "\n"
      "Ctrl-C stops after the current iteration and writes the model so far (status 130), then\n"
      "judges and draws it; the next Ctrl-C leaves that out, the third ends the program at once.\n"
      "Status: 0 done, 1 failed, 2 wrong usage or input, 130 interrupted.\n",
      stream);
}

static bool parse_seed(const char *text, unsigned *value, error_line *error) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number > 0xffffffffull)
    return error_set(error, "--seed is '%.100s'; it must be a whole number from 0 to 4294967295",
                     text);
  *value = (unsigned)number;
  return true;
}

/* The place of text among names, which end with a null; negative where it is none of them. */
static int find_name(const char *text, const char *const *names) {
  for (int i = 0; names[i] != nullptr; ++i)
    if (strcmp(text, names[i]) == 0) return i;
  return -1;
}

static bool parse_switch(const char *name, const char *text, bool *value, error_line *error) {
  static const char *const names[] = {"off", "on", nullptr};
  int found = find_name(text, names);
  if (found < 0) return error_set(error, "%s is '%.100s'; it must be on or off", name, text);
  *value = found == 1;
  return true;
}

static bool parse_rows(const char *name, const char *text, sum_layout *layout, error_line *error) {
  bool rows = false;
  if (!parse_switch(name, text, &rows, error)) return false;
  *layout = rows ? SUMS_ROWS : SUMS_ARRAYS;
  return true;
}

static bool parse_kind(const char *text, int *kind, error_line *error) {
  static const char *const names[] = {"small", "medium", "large", nullptr};
  int found = find_name(text, names);
  if (found < 0)
    return error_set(error, "--procedural is '%.100s'; it must be small, medium or large", text);
  *kind = SCENE_SMALL + found;
  return true;
}

/* A bit for each of the names between commas; none may come twice or be empty. */
static bool parse_datasets(const char *text, unsigned *datasets, error_line *error) {
  static const char *const names[] = {"scene", "small", "medium", "large", nullptr};
  const char *rest = text;
  do {
    char name[8];
    size_t length = strcspn(rest, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < 7 ? length : 7), rest);
    int found = find_name(name, names);
    if (found < 0 || (*datasets >> found & 1u) != 0u)
      return error_set(error,
                       "--datasets is '%.100s'; it must be some of scene, small, medium and large, "
                       "each once, with commas between",
                       text);
    *datasets |= 1u << found;
    rest += length;
  } while (*rest++ == ',');
  return true;
}

static bool parse_pixels(const char *text, int *pixels, error_line *error) {
  static const char *const names[] = {"1", "2", "4", nullptr};
  int found = find_name(text, names);
  if (found < 0) return error_set(error, "--pixels is '%.100s'; it must be 1, 2 or 4", text);
  *pixels = 1 << found;
  return true;
}

static bool parse_tiles(const char *text, tile_test *test, error_line *error) {
  static const char *const names[] = {"circle", "box", "exact", nullptr};
  int found = find_name(text, names);
  if (found < 0)
    return error_set(error, "--tiles is '%.100s'; it must be exact, box or circle", text);
  *test = (tile_test)(TILE_CIRCLE + found);
  return true;
}

static bool parse_background(const char *text, float *background, error_line *error) {
  static const char *const names[] = {"black", "white", nullptr};
  int found = find_name(text, names);
  if (found < 0)
    return error_set(error, "--background is '%.100s'; it must be black or white", text);
  for (int k = 0; k < 3; ++k) background[k] = (float)found;
  return true;
}

static bool parse_path(const char *text, add_way *way, error_line *error) {
  for (int w = 0; w < ADD_NONE; ++w) {
    if (strcmp(text, add_way_name((add_way)w)) != 0) continue;
    *way = (add_way)w;
    return true;
  }
  return error_set(error, "--path is '%.100s'; it must be one of: %s", text, PATH_NAMES);
}

static bool parse_gpus(const char *text, int *gpus, error_line *error) {
  error_line other;
  if (strcmp(text, "mpi") == 0)
    *gpus = GROUP_BY_MPI;
  else if (!parse_integer("--gpus", text, 1, GROUP_MOST, gpus, &other))
    return error_set(error, "--gpus is '%.100s'; it must be a whole number from 1 to %d, or mpi",
                     text, (int)GROUP_MOST);
  return true;
}

/* Files in and out; *known is false where the option is none of them. */
static bool parse_file_option(options *o, const char *name, const char *value, bool *known,
                              error_line *error) {
  *known = true;
  if (!strcmp(name, "--scene")) return parse_file(name, value, &o->input.path, error);
  if (!strcmp(name, "--init")) return parse_file(name, value, &o->init, error);
  if (!strcmp(name, "--resume")) return parse_file(name, value, &o->resume, error);
  if (!strcmp(name, "--out")) return parse_file(name, value, &o->out, error);
  if (!strcmp(name, "--renders")) return parse_file(name, value, &o->renders, error);
  if (!strcmp(name, "--csv")) return parse_file(name, value, &o->csv, error);
  if (!strcmp(name, "--cameras")) return parse_file(name, value, &o->cameras, error);
  if (!strcmp(name, "--checkpoint")) return parse_file(name, value, &o->checkpoint, error);
  if (!strcmp(name, "--experiment")) return parse_file(name, value, &o->experiment, error);
  *known = false;
  return true;
}

static bool parse_number_option(options *o, const char *name, const char *value, bool *known,
                                error_line *error) {
  train_settings *t = &o->train;
  const struct {
    const char *name;
    int least, most, *value;
  } numbers[] = {{"--views", 1, 100000, &o->views},
                 {"--hold-out", 0, 100000, &o->input.hold_out},
                 {"--gaussians", 1, 20000000, &o->gaussians},
                 {"--iterations", 0, MOST_ITERATIONS, &t->iterations},
                 {"--sh-degree", 0, 3, &t->sh_degree},
                 {"--densify-until", 0, MOST_ITERATIONS, &t->densify_until},
                 {"--most-gaussians", 1, 20000000, &t->most_gaussians},
                 {"--checkpoint-every", 1, MOST_ITERATIONS, &o->checkpoint_every},
                 {"--batch", 1, 1024, &t->batch},
                 {"--orbit", 1, 100000, &o->orbit},
                 {"--city", 1, 50000000, &o->city},
                 {"--repeats", 1, 1000, &o->repeats},
                 {"--seeds", 1, 1000, &o->seeds}};
  *known = true;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    if (!strcmp(name, numbers[i].name))
      return parse_integer(name, value, numbers[i].least, numbers[i].most, numbers[i].value, error);
  *known = false;
  return true;
}

static bool parse_other_option(options *o, const char *name, const char *value, bool *known,
                               error_line *error) {
  frame_settings *f = &o->train.frame;
  *known = true;
  if (!strcmp(name, "--procedural")) return parse_kind(value, &o->kind, error);
  if (!strcmp(name, "--size")) return parse_size(value, &o->width, &o->height, error);
  if (!strcmp(name, "--gpus")) return parse_gpus(value, &o->gpus, error);
  if (!strcmp(name, "--seed")) return parse_seed(value, &o->train.seed, error);
  if (!strcmp(name, "--background")) return parse_background(value, f->background, error);
  if (!strcmp(name, "--densify")) return parse_switch(name, value, &o->train.densifies, error);
  if (!strcmp(name, "--path")) return parse_path(value, &f->way, error);
  if (!strcmp(name, "--threshold")) return parse_threshold(value, &f->threshold, error);
  if (!strcmp(name, "--tune")) return parse_switch(name, value, &o->train.tunes, error);
  if (!strcmp(name, "--rows")) return parse_rows(name, value, &f->layout, error);
  if (!strcmp(name, "--pixels")) return parse_pixels(value, &f->pixels, error);
  if (!strcmp(name, "--datasets")) return parse_datasets(value, &o->datasets, error);
  if (!strcmp(name, "--tiles")) return parse_tiles(value, &f->test, error);
  *known = false;
  return true;
}

static bool parse_valued(options *o, const char *name, const char *value, bool *known,
                         error_line *error) {
  bool legal = parse_file_option(o, name, value, known, error);
  if (!*known) legal = parse_number_option(o, name, value, known, error);
  if (!*known) legal = parse_other_option(o, name, value, known, error);
  return legal;
}

/* Two outputs of one name would overwrite each other. */
static bool check_outputs(const options *o, error_line *error) {
  const char *names[] = {"--out", "--csv", "--cameras", "--checkpoint", "--experiment"};
  const char *files[] = {o->out, o->csv, o->cameras, o->checkpoint, o->experiment};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < i; ++j)
      if (files[i] != nullptr && files[j] != nullptr && strcmp(files[i], files[j]) == 0)
        return error_set(error, "%s and %s name the same file '%.300s'", names[j], names[i],
                         files[i]);
  return true;
}

const char *options_measuring(const options *o) {
  if (o->bench_backward) return "--bench-backward";
  if (o->bench_papers) return "--bench-papers";
  if (o->bench_draw) return "--bench-draw";
  return o->experiment != nullptr ? "--experiment" : nullptr;
}

static bool check_measuring(const options *o, bool path_given, error_line *error) {
  const char *mode = options_measuring(o);
  if (o->seeds > 1 && o->experiment == nullptr)
    return error_set(error, "--seeds is for --experiment; use --seed for one training");
  if ((o->datasets & 1u) != 0u && o->input.path == nullptr)
    return error_set(error, "--datasets names scene; give it with --scene PATH");
  if (o->datasets != 0u && o->kind != 0)
    return error_set(error, "--datasets and --procedural both choose scenes; give one");
  if (o->datasets != 0u && mode == nullptr)
    return error_set(error, "--datasets is for --bench-backward, --bench-papers and --experiment");
  if (mode == nullptr) return true;
  if (o->bench_backward + o->bench_papers + o->bench_draw + (o->experiment != nullptr) > 1)
    return error_set(error,
                     "--bench-backward, --bench-papers, --bench-draw and --experiment are four "
                     "programs; ask for one");
  if (path_given || o->train.tunes)
    return error_set(error, "%s runs every path; leave --path, --threshold and --tune out", mode);
  if (o->resume || o->out || o->renders || o->cameras || o->checkpoint)
    return error_set(error,
                     "%s writes a table only; leave --resume, --out, --renders, --cameras "
                     "and --checkpoint out",
                     mode);
  if (o->experiment != nullptr && o->init != nullptr && o->datasets > 1u)
    return error_set(error, "--init is a model of one scene, and --datasets names others");
  if (o->experiment != nullptr && o->csv != nullptr)
    return error_set(error, "--experiment writes its table to its own file; leave --csv out");
  return true;
}

static bool check_group(const options *o, error_line *error) {
  const char *mode = options_measuring(o);
  if (mode != nullptr && (o->gpus != 1 || o->train.batch > 1))
    return error_set(
        error, "--gpus and --batch are for one training; %s runs every path on one GPU", mode);
  return o->train.batch == 0 || o->train.batch >= o->gpus ||
         error_set(error, "--batch is %d; with --gpus %d it must be that or more", o->train.batch,
                   o->gpus);
}

static bool check_drawing(const options *o, error_line *error) {
  if (!o->draws && !o->bench_draw) {
    if (o->orbit > 0) return error_set(error, "--orbit is for --draw and --bench-draw");
    if (o->city > 0) return error_set(error, "--city is for --draw and --bench-draw");
    return true;
  }
  if (o->draws && options_measuring(o) != nullptr)
    return error_set(error, "--draw and %s are two programs; ask for one", options_measuring(o));
  if ((o->orbit > 0) + (o->city > 0) + (o->input.path != nullptr) > 1)
    return error_set(error, "--orbit, --city and --scene each have cameras; give one");
  if ((o->input.path != nullptr || o->city > 0) && o->init == nullptr)
    return error_set(error, "%s needs a trained model; give one with --init FILE",
                     o->city > 0 ? "--city" : "drawing a --scene");
  if (o->init != nullptr && o->kind != 0)
    return error_set(error, "--init and --procedural are two models; give one");
  if (o->datasets != 0u) return error_set(error, "--datasets is not for --draw and --bench-draw");
  if (o->resume || o->out || o->cameras || o->checkpoint || o->gpus != 1)
    return error_set(error,
                     "--draw writes pictures and times on one GPU; leave --resume, --out, "
                     "--cameras, --checkpoint and --gpus out");
  return true;
}

/* Sets the layout that makes a training reproducible. */
static bool check_reproducible(options *o, error_line *error) {
  frame_settings *f = &o->train.frame;
  if (!o->reproducible) return true;
  if (options_measuring(o) != nullptr)
    return error_set(error, "--reproducible is for one training; %s runs every path",
                     options_measuring(o));
  if (o->train.tunes)
    return error_set(error,
                     "--tune picks by times, which differ from run to run; with --reproducible "
                     "choose --path, --threshold and --pixels instead");
  if (!add_way_is_arc(f->way))
    return error_set(error,
                     "--path %s adds in an order that differs from run to run; with "
                     "--reproducible it must be serialized, butterfly, auto or default",
                     add_way_name(f->way));
  if (f->layout != SUMS_ROWS)
    return error_set(error, "--reproducible has its sums in rows; leave --rows off out");
  f->layout = SUMS_FIXED;
  return true;
}

/* What no single option can tell. */
static bool check_together(options *o, bool path_given, bool threshold_given, error_line *error) {
  if (o->input.path != nullptr && o->kind != 0)
    return error_set(error, "--scene and --procedural are two scenes; give one");
  if (o->input.path != nullptr && o->width > 0 && o->datasets <= 1u && !o->draws && !o->bench_draw)
    return error_set(
        error, "--size is for the procedural scene; convert.py makes other pictures of --scene");
  if (o->init != nullptr && o->resume != nullptr)
    return error_set(error, "--init and --resume are two models; give one");
  if (o->train.tunes && (path_given || threshold_given))
    return error_set(error, "--tune picks path and threshold; leave --path and --threshold out");
  if (threshold_given && path_given && !add_way_has_threshold(o->train.frame.way))
    return error_set(error,
                     "--path %s has no threshold to choose; leave --threshold out or name "
                     "another path",
                     add_way_name(o->train.frame.way));
  if (o->checkpoint_every > 0 && o->checkpoint == nullptr)
    return error_set(error, "--checkpoint-every needs --checkpoint FILE");
  if (!check_measuring(o, path_given || threshold_given, error)) return false;
  if (!check_drawing(o, error)) return false;
  if (threshold_given && !path_given) o->train.frame.way = ADD_AUTO;
  return check_reproducible(o, error) && check_group(o, error) && check_outputs(o, error);
}

/* Accepts "--option value" and "--option=value". */
bool options_parse(options *o, int argc, char **argv, error_line *error) {
  bool path_given = false, threshold_given = false;
  for (int i = 1; i < argc; ++i) {
    option_given given;
    bool known, *flag = nullptr;
    if (!option_read(&given, argc, argv, i, error)) return false;
    if (strcmp(given.name, "--help") == 0) flag = &o->help;
    if (strcmp(given.name, "--bench-backward") == 0) flag = &o->bench_backward;
    if (strcmp(given.name, "--bench-papers") == 0) flag = &o->bench_papers;
    if (strcmp(given.name, "--reproducible") == 0) flag = &o->reproducible;
    if (strcmp(given.name, "--draw") == 0) flag = &o->draws;
    if (strcmp(given.name, "--bench-draw") == 0) flag = &o->bench_draw;
    if (flag != nullptr) {
      if (!option_set_flag(&given, flag, error)) return false;
      continue;
    }
    bool legal = parse_valued(o, given.name, given.value, &known, error);
    if (!option_accept(&given, known, legal, &i, error)) return false;
    path_given = path_given || strcmp(given.name, "--path") == 0;
    threshold_given = threshold_given || strcmp(given.name, "--threshold") == 0;
  }
  return o->help || check_together(o, path_given, threshold_given, error);
}
