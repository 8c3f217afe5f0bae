/* arc example gaussians: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_OPTIONS_H
#define GAUSSIANS_OPTIONS_H

#include "scene/scene.h"
#include "train/settings.h"

typedef struct options {
  train_settings train;
  scene_options input; /* path is null: the procedural scene */
  int kind;            /* scene_kind; 0: not given */
  unsigned datasets;   /* to measure on: bit 0 --scene, bit k scene_kind k; 0: not given */
  int gaussians; /* of the procedural scene, or at random where there are no points; 0: not given */
  int views;     /* of the procedural scene; 0: not given */
  int size[2];   /* of its pictures; 0: not given */
  const char *init;   /* a .ply to start from; null: none */
  const char *resume; /* a checkpoint; null: none */
  const char *out, *renders, *csv, *checkpoint, *cameras, *experiment; /* null: none */
  int checkpoint_every; /* iterations; 0: only at the end */
  int repeats;          /* of --draw and what measures but --experiment */
  int seeds;            /* of --experiment */
  int gpus;             /* GROUP_BY_MPI: as the launcher says */
  int orbit;            /* cameras of --draw on a ring; 0: not given */
  int city;             /* Gaussians of a synthetic city for --draw; 0: none */
  bool draws, reproducible, bench_backward, bench_papers, bench_draw;
} options;

/* Starts from the given defaults; false, with one line, at the first thing that is not legal. */
bool options_parse(options *o, int argc, char **argv, error_line *error);
/* The option that asks for measuring in place of a training or --draw; null: none does. */
const char *options_measuring(const options *o);

/* Of bench/gaussians, where it is built: a synthetic city, each Gaussian as long, thin and opaque as
   one of `like`, and cameras in the air and in its streets. On failure nothing is left to free. */
bool make_city(gaussians_host *g, scene *s, const gaussians_host *like, int count, int views,
               unsigned seed, error_line *error);

#endif
