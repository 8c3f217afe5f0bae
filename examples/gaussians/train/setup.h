/* arc example gaussians: the scene of the options, with its pictures and first model.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../options.h"
#include "train.h"

/* What the procedural scene is where the options leave it open. The CPU warp takes seconds for what
   a GPU does in a millisecond. */
typedef struct procedural_size {
  int gaussians, views, width, height;
} procedural_size;

procedural_size procedural_size_of(const options *o, int kind);
const char *scene_kind_name(int kind);

/* The procedural scene of that kind, its pictures drawn from the truth. */
bool setup_procedural(scene *data, const options *o, int kind, error_line *error);
bool setup_load(scene *data, const options *o, error_line *error);
/* The Gaussians to start from where no checkpoint is resumed. */
bool setup_first_model(gaussians_host *model, const scene *data, const options *o,
                       error_line *error);
