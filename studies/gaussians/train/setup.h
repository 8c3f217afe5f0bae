/* arc study gaussians: the scene of the options, with its pictures and first model.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../options.h"
#include "train.h"

const char *scene_kind_name(int kind);

/* The procedural scene of that kind, 0: small, without pictures; and the Gaussians it shows. */
bool setup_truth(scene *data, gaussians_host *truth, const options *o, int kind, error_line *error);
/* The procedural scene of that kind, its pictures drawn from the truth. */
bool setup_procedural(scene *data, const options *o, int kind, error_line *error);
bool setup_load(scene *data, const options *o, error_line *error);
/* The Gaussians to start from where no checkpoint is resumed. */
bool setup_first_model(gaussians_host *model, const scene *data, const options *o,
                       error_line *error);
