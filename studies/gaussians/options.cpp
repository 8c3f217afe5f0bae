/* arc study gaussians: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <limits.h>

#include "arc_policy.cuh"
#include "train/group.h"

static const int MOST_ITERATIONS = 1000000;

static const char *const switch_names[] = {"off", "on", nullptr};
static const char *const kind_names[] = {"small", "medium", "large", nullptr};
static const char *const background_names[] = {"black", "white", nullptr};
static const char *const tiles_names[] = {"circle", "box", "exact", nullptr};
static const char *const lists_names[] = {"auto", "tiles", "64x32", "128x64", nullptr};
static const char *const harmonics_names[] = {"float", "half", nullptr};
static const char *const threshold_names[] = {"auto", nullptr};

options options_default(void) {
  options o = {};
  o.input.hold_out = 8;
  o.gpus = 1;
  o.tiles = TILE_EXACT;
  o.train.sh_degree = 3;
  o.train.seed = 1;
  o.train.densifies = 1;
  o.train.densify_from = 500;
  o.train.densify_every = 100;
  o.train.reset_every = 3000;
  o.train.densify_pull = 0.0002f;
  o.train.most_gaussians = 3000000;
  o.train.frame.test = TILE_EXACT;
  o.train.frame.threshold = ARC_BALANCE_THRESHOLD;
  return o;
}

std::vector<option> options_of_training(options *o) {
  train_settings *t = &o->train;
  return {
      {"\nwhat to train on"},
      {"--scene", OPTION_INPUT, &o->input.path,
       "a folder that convert.py has made, from NeRF or COLMAP data; with --draw its cameras.txt "
       "will do"},
      {"--views", OPTION_INT, &o->views,
       "how many views of the scene to use, at most; how many the procedural scene has", 1, 100000},
      {"--hold-out", OPTION_INT, &o->input.hold_out,
       "keeps every Nth view for testing only; 0: none", 0, 100000},
      {"--procedural", OPTION_NAME, &o->kind,
       "a scene that the program generates; default, without --scene: small", 1, 0, kind_names},
      {"--gaussians", OPTION_INT, &o->gaussians,
       "how many the procedural scene has; with --scene, how many to start from if it has no "
       "points",
       1, 20000000},
      {"--size", OPTION_SIZE, o->size, "size of the procedural scene's pictures", 1,
       IMAGE_MAX_SIDE},
      {"--init", OPTION_INPUT, &o->init, "starts from the Gaussians of a 3DGS .ply"},

      {"\nhow to train"},
      {"--iterations", OPTION_INT, &t->iterations, "0: only renders and judges", 0,
       MOST_ITERATIONS},
      {"--seed", OPTION_INT, &t->seed, "", 0, INT_MAX},
      {"--sh-degree", OPTION_INT, &t->sh_degree, "", 0, 3},
      {"--background", OPTION_NAME, &o->is_white, "", 0, -1, background_names},
      {"--tiles", OPTION_NAME, &o->tiles, "how to find the tiles that a splat touches", 1, 0,
       tiles_names},
      {"--densify", OPTION_NAME, &t->densifies, "whether to clone, split and prune Gaussians", 0,
       -1, switch_names},
      {"--densify-until", OPTION_INT, &t->densify_until, "default: half of the iterations", 1,
       MOST_ITERATIONS},
      {"--most-gaussians", OPTION_INT, &t->most_gaussians, "stops --densify at so many", 1,
       20000000}};
}

static std::vector<option> make_table(options *o) {
  train_settings *t = &o->train;
  std::vector<option> table = options_of_training(o);
  table.insert(table.begin(),
               {"gaussians: trains a scene of 3D Gaussians from pictures; the "
                "gradients are added up\nthrough arc.\n\nusage: gaussians [options]"});
  table.insert(
      table.end(),
      {{"--gpus", OPTION_INT, &o->gpus,
        "how many processes of this machine train together, with one GPU each", 1, GROUP_MOST},
       {"--batch", OPTION_INT, &t->batch,
        "views per step; each counts as an iteration; default: as --gpus", 1, 1024},
       {"\nhow to render without training: pictures, times or both"},
       {"--draw", OPTION_FLAG, &o->draws,
        "renders the Gaussians of --init, or the procedural scene's, as seen by the cameras of "
        "--scene, which needs no pictures here, or of --orbit; --size sets the size of the "
        "pictures"},
       {"--orbit", OPTION_INT, &o->orbit,
        "so many cameras on a ring about the middle of the Gaussians, z up; default with --init "
        "and "
        "without --scene: 24",
        1, 100000},
       {"--repeats", OPTION_INT, &o->repeats, "how often to render each view", 1, 1000},
       {"--lists", OPTION_NAME, &o->lists,
        "what has a list of splats: each tile of 16x16 pixels, each macro tile of so many tiles, "
        "or "
        "(auto) macro tiles of the size that suits the last picture",
        0, -1, lists_names},
       {"--harmonics", OPTION_NAME, &o->harmonics,
        "how to keep the model's harmonics; half: 140 bytes per Gaussian in place of 236", 0, -1,
        harmonics_names},

       {"\nhow the backward pass adds"},
       {"--threshold", OPTION_INT, &t->frame.threshold,
        "reduces groups of so many lanes or more in registers", 0, 33, threshold_names},
       {"--tune", OPTION_NAME, &t->search, "arc's tuner picks the threshold while training", 0, -1,
        switch_names},
       {"--reproducible", OPTION_FLAG, &t->frame.reproducible,
        "sums in whole numbers: every run gives the same model, to the last bit"},

       {"\nwhat to write; every file appears complete or not at all"},
       {"--out", OPTION_OUTPUT, &o->out, "the trained Gaussians, a 3DGS .ply"},
       {"--renders", OPTION_INPUT, &o->renders,
        "every test view (with --draw, or if none is held out, every view) as .png or .ppm, into "
        "this folder, which the program makes if it is missing"},
       {"--csv", OPTION_OUTPUT, &o->csv,
        "a line for each iteration: loss, Gaussians, pairs, milliseconds; with --draw a line for "
        "each view: pairs, milliseconds"},
       {"--cameras", OPTION_OUTPUT, &o->cameras,
        "the gradient of the loss by the 12 numbers of each training camera, .csv"},
       {"--checkpoint", OPTION_OUTPUT, &o->checkpoint,
        "a file from which --resume goes on; written at the end"},
       {"--checkpoint-every", OPTION_INT, &o->checkpoint_every,
        "writes --checkpoint also every N iterations", 1, MOST_ITERATIONS},
       {"--resume", OPTION_INPUT, &o->resume,
        "goes on from a checkpoint; give the same scene and settings, and --iterations of at least "
        "those that the checkpoint has done"},

       {"  --help, -h            this text\n"
        "  --version             the version\n\n"
        "examples:\n"
        "  gaussians --scene fox --out fox.ply --renders out\n"
        "  gaussians --scene fox --init fox.ply --iterations 0 --renders out\n"
        "  gaussians --draw --init fox.ply --scene fox --size 3840x2160 --renders out\n\n"
        "Ctrl-C ends the training and writes the model so far, which is neither judged nor\n"
        "rendered (status 130); the third Ctrl-C ends the program at once.\n"
        "Status: 0 done, 1 failed, 2 wrong usage or input, 128 + signal interrupted."},

       {"--orbit --repeats --lists --harmonics", OPTION_NEEDS, nullptr, "--draw"},
       {"--checkpoint-every", OPTION_NEEDS, nullptr, "--checkpoint"},
       {"--procedural --orbit", OPTION_WITHOUT, nullptr, "--scene"},
       {"--init", OPTION_WITHOUT, nullptr, "--resume"},
       {"--out --cameras --checkpoint --resume --gpus --batch --tune --reproducible --threshold "
        "--iterations --hold-out --densify --densify-until --most-gaussians --sh-degree",
        OPTION_WITHOUT, nullptr, "--draw"},
       {"--tune", OPTION_WITHOUT, nullptr, "--reproducible --threshold"},
       {}});
  return table;
}

/* Without what they are for, or beside what excludes them, options would be ignored. */
bool options_complete(options *o, const option *table, bool draws, error_line *error) {
  const bool scene = o->input.path != nullptr;
  const struct {
    bool applies;
    const char *text;
  } rules[] = {{draws && scene && o->init == nullptr,
                "--draw with --scene needs a trained model; give one with --init FILE"},
               {draws && o->init != nullptr && o->kind != 0,
                "--init and --procedural are two models; give only one"},
               {o->gaussians > 0 && (o->init || o->resume) && (scene || draws),
                "--gaussians is not for a model that is read; leave it out"},
               {!o->train.densifies && options_given(table, "--densify-until, --most-gaussians"),
                "--densify-until and --most-gaussians are not for --densify off"}};
  for (const auto &rule : rules)
    if (rule.applies) return error_set(error, "%s", rule.text);
  o->train.frame.test = (tile_test)o->tiles;
  for (float &channel : o->train.frame.background) channel = (float)o->is_white;
  if (o->train.densify_until == 0) o->train.densify_until = o->train.iterations / 2;
  o->train.full_degree = o->init != nullptr;
  return true;
}

bool options_parse(options *o, int argc, char **argv, error_line *error) {
  std::vector<option> table = make_table(o);
  if (!options_read(table.data(), argc, argv, error)) return false;
  if (o->input.path != nullptr && o->size[0] > 0 && !o->draws)
    return error_set(error,
                     "--size is for the procedural scene; convert.py makes other pictures "
                     "of --scene");
  if (o->train.batch != 0 && o->train.batch < o->gpus)
    return error_set(error, "--batch is %d; with --gpus %d it must be %d or more", o->train.batch,
                     o->gpus, o->gpus);
  return options_complete(o, table.data(), o->draws, error);
}
