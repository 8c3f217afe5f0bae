/* arc example gaussians: settings of training.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../render/settings.h"

typedef struct train_settings {
  frame_settings frame;
  int tunes; /* 1: picks the threshold while training, in place of the frame's */
  int iterations, sh_degree;
  int batch;        /* views of a step, which counts as so many iterations */
  bool full_degree; /* from the start, for a model that has been trained before */
  unsigned seed;
  int densifies;                                               /* 0, 1 */
  int densify_from, densify_until, densify_every, reset_every; /* iterations */
  float densify_pull; /* the mean pull, in halves of the picture's sides, from which it is cloned */
  int most_gaussians;
} train_settings;
