/* arc example gaussians: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <limits.h>

#include <vector>

#include "../common/option_table.h"
#include "arc_policy.cuh"
#include "train/group.h"

static const int MOST_ITERATIONS = 1000000;

static const char *const switch_names[] = {"off", "on", nullptr};
static const char *const kind_names[] = {"small", "medium", "large", nullptr};
static const char *const dataset_names[] = {"scene", "small", "medium", "large", nullptr};
static const char *const background_names[] = {"black", "white", nullptr};
static const char *const pixels_names[] = {"1", "2", "4", nullptr};
static const char *const tiles_names[] = {"circle", "box", "exact", nullptr};
static const char *const threshold_names[] = {"auto", nullptr};
static const char *const gpus_names[] = {"mpi", nullptr};

/* What is not the settings' own type yet. */
typedef struct choices {
  int densifies, tunes, rows, pixels, tiles, way, background; /* places among the names */
  std::vector<int> datasets;
} choices;

/* Programs other than training. */
#define MEASURES "--experiment --bench-backward --bench-papers --bench-draw"
#define ON_ONE_VIEW "--draw --bench-backward --bench-papers --bench-draw"

static std::vector<option> make_table(options *o, choices *c, const char *const *way_names) {
  train_settings *t = &o->train;
  return {
      {"gaussians: trains a scene of 3D Gaussians from pictures; the gradients are added up "
       "through\n"
       "arc.\n\nusage: gaussians [options]\n\nwhat to train on"},
      {"--scene", OPTION_INPUT, &o->input.path,
       "a folder that convert.py has made, from NeRF or COLMAP data; with --draw its cameras.txt "
       "will do"},
      {"--views", OPTION_INT, &o->views, "uses at most so many; of the procedural scene: its views",
       1, 100000},
      {"--hold-out", OPTION_INT, &o->input.hold_out, "every Nth view is for testing only, 0: none",
       0, 100000},
      {"--procedural", OPTION_NAME, &o->kind,
       "the Gaussians of a scene that the program draws; without it and --scene, small", 1, 0,
       kind_names},
      {"--gaussians", OPTION_INT, &o->gaussians,
       "of the procedural scene; with --scene, how many to start from where it has no points", 1,
       20000000},
      {"--size", OPTION_SIZE, o->size, "of the procedural scene's pictures", 1, IMAGE_MAX_SIDE},
      {"--init", OPTION_INPUT, &o->init, "starts from the Gaussians of a 3DGS .ply"},

      {"\nhow to train"},
      {"--iterations", OPTION_INT, &t->iterations, "0 only draws and judges", 0, MOST_ITERATIONS},
      {"--seed", OPTION_INT, &t->seed, "", 0, INT_MAX},
      {"--sh-degree", OPTION_INT, &t->sh_degree, "", 0, 3},
      {"--background", OPTION_NAME, &c->background, "", 0, -1, background_names},
      {"--densify", OPTION_NAME, &c->densifies, "clone, split and prune", 0, -1, switch_names},
      {"--densify-until", OPTION_INT, &t->densify_until, "without it, half of the iterations", 1,
       MOST_ITERATIONS},
      {"--most-gaussians", OPTION_INT, &t->most_gaussians, "the model grows no further", 1,
       20000000},
      {"--gpus", OPTION_INT, &o->gpus,
       "processes of this machine, a GPU each, that train together; mpi: as many as an MPI "
       "launcher has started",
       1, GROUP_MOST, gpus_names},
      {"--batch", OPTION_INT, &t->batch,
       "views of a step; each counts as an iteration; without it, as --gpus", 1, 1024},

      {"\nhow to draw without training: pictures, times or both"},
      {"--draw", OPTION_FLAG, &o->draws,
       "the Gaussians of --init, or the procedural scene's, seen by the cameras of --scene, whose "
       "pictures need not be there, or of an orbit; --size then is that of the pictures, whatever "
       "the cameras' own"},
      {"--orbit", OPTION_INT, &o->orbit,
       "so many cameras on a ring about the middle of the Gaussians, z up; without it and --scene, "
       "24 for --init",
       1, 100000},
      {"--city", OPTION_INT, &o->city,
       "a synthetic city of so many Gaussians, as long, thin and opaque as those of --init, with "
       "cameras of its own",
       1, 50000000},

      {"\nhow the backward pass adds"},
      {"--path", OPTION_NAME, &c->way,
       "plain: an atomicAdd for every value, what arc replaces; cub: cub::WarpReduce a value (not "
       "on the CPU warp); shuffles: five shuffles a value, empty warps skipped; default: arc as "
       "compiled, ARC_PATH and ARC_BALANCE_THRESHOLD; the others: that path of arc, threshold "
       "chosen at run time",
       0, -1, way_names},
      {"--threshold", OPTION_INT, &t->frame.threshold,
       "the least number of lanes to reduce in registers; given without --path, the path is auto",
       0, 33, threshold_names},
      {"--tune", OPTION_NAME, &c->tunes, "arc's tuner picks path and threshold while training", 0,
       -1, switch_names},
      {"--rows", OPTION_NAME, &c->rows, "sums in one padded row a Gaussian; off: in four arrays", 0,
       -1, switch_names},
      {"--reproducible", OPTION_FLAG, &o->reproducible,
       "sums in 64-bit fixed point: every run gives the same model, to the last bit"},
      {"--pixels", OPTION_NAME, &c->pixels,
       "how many a lane adds up by itself, or draws with --draw", 0, -1, pixels_names},
      {"--tiles", OPTION_NAME, &c->tiles, "which tiles get a splat", 0, -1, tiles_names},

      {"\nwhat to write; every file appears complete or not at all"},
      {"--out", OPTION_OUTPUT, &o->out, "the trained Gaussians, a 3DGS .ply"},
      {"--renders", OPTION_INPUT, &o->renders,
       "every test view (every view, if none is held out, and with --draw) as .png or .ppm, into "
       "this folder, which is made if it is not there"},
      {"--csv", OPTION_OUTPUT, &o->csv,
       "a line for each iteration: loss, Gaussians, pairs, milliseconds; with --bench-backward, "
       "--bench-papers and --bench-draw, their table; with --draw a line for each view: pairs, "
       "milliseconds"},
      {"--cameras", OPTION_OUTPUT, &o->cameras,
       "the loss by the 12 numbers of each training camera, .csv"},
      {"--checkpoint", OPTION_OUTPUT, &o->checkpoint,
       "where to stop and go on from; written at the end"},
      {"--checkpoint-every", OPTION_INT, &o->checkpoint_every, "and every N iterations", 1,
       MOST_ITERATIONS},
      {"--resume", OPTION_INPUT, &o->resume,
       "goes on from a checkpoint; give the same scene and settings, but any --iterations from "
       "where it stands on"},

      {"\nmeasuring"},
      {"--experiment", OPTION_OUTPUT, &o->experiment,
       "trains with every implementation and threshold 0, 8, 16, 24, 32 on --scene, or on the "
       "three procedural ones; one .csv line each"},
      {"--seeds", OPTION_INT, &o->seeds,
       "repeats it with N seeds from --seed on, and prints the mean PSNR of each implementation", 1,
       1000},
      {"--bench-backward", OPTION_FLAG, &o->bench_backward,
       "one view, every implementation, threshold and number of pixels a lane: medians of the "
       "backward pass; without --procedural or --scene, 1 million small, 300000 medium and 50000 "
       "large Gaussians at 1920x1080"},
      {"--bench-papers", OPTION_FLAG, &o->bench_papers,
       "one view, the kernel that the papers describe: with atomics, SW-S and SW-B at every "
       "threshold, and arc; medians, all sums compared"},
      {"--bench-draw", OPTION_FLAG, &o->bench_draw,
       "draws as --draw with and without each step that makes it fast, at 1920x1080 and 3840x2160 "
       "or --size; medians, pictures compared"},
      {"--datasets", OPTION_LIST, &c->datasets,
       "what to measure on, scene being --scene; without it, --scene or --procedural, or "
       "small,medium,large",
       0, -1, dataset_names},
      {"--repeats", OPTION_INT, &o->repeats, "of each measurement, and of each view with --draw", 1,
       1000},
      {"  --help, -h            this text\n"
       "  --version             the version\n\n"
       "examples:\n"
       "  gaussians --scene fox --out fox.ply --renders out\n"
       "  gaussians --scene fox --init fox.ply --iterations 0 --renders out\n"
       "  gaussians --draw --init fox.ply --scene fox --size 3840x2160 --renders out\n"
       "  gaussians --bench-backward --csv backward.csv\n"
       "  gaussians --bench-papers --csv papers.csv\n"
       "  gaussians --scene fox --experiment table.csv\n"
       "  gaussians --scene fox --datasets scene,small --densify off --seeds 5 --experiment "
       "t.csv\n\n"
       "Ctrl-C ends the training and writes the model so far, which is neither judged nor drawn\n"
       "(status 130); the third Ctrl-C ends the program at once.\n"
       "Status: 0 done, 1 failed, 2 wrong usage or input, 130 interrupted."},

      {"--bench-backward --bench-papers --bench-draw --draw", OPTION_WITHOUT, nullptr,
       "--experiment"},
      {"--bench-papers --bench-draw --draw", OPTION_WITHOUT, nullptr, "--bench-backward"},
      {"--bench-draw --draw", OPTION_WITHOUT, nullptr, "--bench-papers"},
      {"--draw", OPTION_WITHOUT, nullptr, "--bench-draw"},
      {"--orbit --city", OPTION_NEEDS, nullptr, "--draw or --bench-draw"},
      {"--city", OPTION_NEEDS, nullptr, "--init"},
      {"--seeds", OPTION_NEEDS, nullptr, "--experiment"},
      {"--datasets", OPTION_NEEDS, nullptr, "--experiment, --bench-backward or --bench-papers"},
      {"--repeats", OPTION_NEEDS, nullptr,
       "--draw, --bench-backward, --bench-papers or --bench-draw"},
      {"--checkpoint-every", OPTION_NEEDS, nullptr, "--checkpoint"},
      {"--procedural", OPTION_WITHOUT, nullptr, "--scene --datasets --city"},
      {"--orbit", OPTION_WITHOUT, nullptr, "--scene --city"},
      {"--city", OPTION_WITHOUT, nullptr, "--scene"},
      {"--init", OPTION_WITHOUT, nullptr, "--resume"},
      {"--out --cameras --checkpoint --resume --gpus --batch --tune --reproducible --path "
       "--threshold",
       OPTION_WITHOUT, nullptr, "--draw " MEASURES},
      {"--iterations --hold-out --densify --densify-until --most-gaussians --rows", OPTION_WITHOUT,
       nullptr, ON_ONE_VIEW},
      {"--sh-degree", OPTION_WITHOUT, nullptr, "--draw --bench-draw"},
      {"--renders", OPTION_WITHOUT, nullptr, MEASURES},
      {"--csv", OPTION_WITHOUT, nullptr, "--experiment"},
      {"--pixels --tiles", OPTION_WITHOUT, nullptr, "--bench-backward --bench-papers --bench-draw"},
      {"--tune", OPTION_WITHOUT, nullptr, "--reproducible"},
      {}};
}

/* Without what they are for, or beside what excludes them, options would be ignored. */
static bool check_together(const options *o, const choices *c, const option *table,
                           error_line *error) {
  const bool draws = o->draws || o->bench_draw, scene = o->input.path != nullptr;
  const bool benches = o->bench_backward || o->bench_papers, other_model = o->init || o->resume;
  const bool threshold = options_given(table, "--threshold") != nullptr;
  const struct {
    bool applies;
    const char *text;
  } rules[] = {
      {scene && o->size[0] > 0 && !draws && o->datasets <= 1u,
       "--size is for the procedural scene; convert.py makes other pictures of --scene"},
      {draws && scene && o->init == nullptr,
       "drawing a --scene needs a trained model; give one with --init FILE"},
      {draws && o->init != nullptr && o->kind != 0,
       "--init and --procedural are two models; give one"},
      {o->gaussians > 0 && other_model && (scene || draws),
       "--gaussians is not for a model that is read; leave it out"},
      {benches && o->init != nullptr && !scene,
       "--init is for --scene; procedural scenes have a model"},
      {(o->datasets & 1u) != 0u && !scene, "--datasets names scene; give it with --scene PATH"},
      {scene && o->datasets != 0u && (o->datasets & 1u) == 0u,
       "--datasets names no scene; leave --scene out"},
      {o->experiment != nullptr && o->init != nullptr && o->datasets > 1u,
       "--init is a model of one scene, and --datasets names others"},
      {!c->densifies && options_given(table, "--densify-until, --most-gaussians"),
       "--densify-until and --most-gaussians are not for --densify off"},
      {c->tunes && options_given(table, "--path, --threshold"),
       "--tune picks path and threshold; leave --path and --threshold out"},
      {o->reproducible && !c->rows, "--reproducible has its sums in rows; leave --rows off out"}};
  for (const auto &rule : rules)
    if (rule.applies) return error_set(error, "%s", rule.text);
  const add_way way = o->train.frame.way;
  if (threshold && !add_way_has_threshold(way))
    return error_set(error, "--path %s has no threshold to choose; leave --threshold out",
                     add_way_name(way));
  if (o->reproducible && !add_way_is_arc(way))
    return error_set(error,
                     "--path %s adds in an order that differs from run to run; with "
                     "--reproducible it must be serialized, butterfly, auto or default",
                     add_way_name(way));
  return o->train.batch == 0 || o->gpus == GROUP_BY_MPI || o->train.batch >= o->gpus ||
         error_set(error, "--batch is %d; with --gpus %d it must be that or more", o->train.batch,
                   o->gpus);
}

const char *options_measuring(const options *o) {
  if (o->bench_backward) return "--bench-backward";
  if (o->bench_papers) return "--bench-papers";
  if (o->bench_draw) return "--bench-draw";
  return o->experiment != nullptr ? "--experiment" : nullptr;
}

bool options_parse(options *o, int argc, char **argv, error_line *error) {
  frame_settings *f = &o->train.frame;
  const char *way_names[ADD_NONE + 1] = {nullptr};
  choices c = {o->train.densifies,    o->train.tunes, f->layout == SUMS_ROWS,  f->pixels / 2,
               f->test - TILE_CIRCLE, f->way,         f->background[0] > 0.0f, {}};
  for (int way = 0; way < ADD_NONE; ++way) way_names[way] = add_way_name((add_way)way);
  std::vector<option> table = make_table(o, &c, way_names);
  if (!options_read(table.data(), argc, argv, error)) return false;
  const bool threshold_alone =
      options_given(table.data(), "--threshold") && !options_given(table.data(), "--path");
  o->train.densifies = c.densifies != 0;
  o->train.tunes = c.tunes != 0;
  f->pixels = 1 << c.pixels;
  f->test = (tile_test)(TILE_CIRCLE + c.tiles);
  f->way = threshold_alone ? ADD_AUTO : (add_way)c.way;
  f->layout = o->reproducible ? SUMS_FIXED : c.rows ? SUMS_ROWS : SUMS_ARRAYS;
  for (float &channel : f->background) channel = (float)c.background;
  for (int dataset : c.datasets) o->datasets |= 1u << dataset;
  return check_together(o, &c, table.data(), error);
}
