/* arc study gaussians: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <vector>

#include "../../bench/common/option_table.h"
#include "scene/scene.h"
#include "settings.h"

/* What has a list of splats when pictures are drawn alone. */
enum { LISTS_AUTO, LISTS_TILES, LISTS_64X32, LISTS_128X64 };
/* In what the harmonics of a model that is drawn are kept. */
enum { HARMONICS_FLOAT, HARMONICS_HALF, HARMONICS_BOTH /* to compare */ };

typedef struct options {
  train_settings train;
  scene_options input; /* path is null: the procedural scene */
  int kind;            /* scene_kind; 0: not given */
  int gaussians; /* of the procedural scene, or at random where there are no points; 0: not given */
  int views;     /* of the procedural scene; 0: not given */
  int size[2];   /* of its pictures; 0: not given */
  const char *init;                                       /* a .ply to start from; null: none */
  const char *resume;                                     /* a checkpoint; null: none */
  const char *out, *renders, *csv, *checkpoint, *cameras; /* null: none */
  int checkpoint_every;                                   /* iterations; 0: only at the end */
  int repeats;                                            /* of each view that is drawn */
  int gpus;
  int lists;           /* LISTS_AUTO... */
  int harmonics;       /* HARMONICS_FLOAT... */
  int orbit;           /* cameras on a ring; 0: not given */
  int tiles, is_white; /* go to train.frame */
  bool draws;
} options;

options options_default(void);

/* Starts from the given defaults; false, with one line, at the first thing that is not legal. */
bool options_parse(options *o, int argc, char **argv, error_line *error);

/* For programs with more to say, the rows of what to train on and how, */
std::vector<option> options_of_training(options *o);
/* and what follows from them, checked together. draws: pictures alone. */
bool options_complete(options *o, const option *table, bool draws, error_line *error);
