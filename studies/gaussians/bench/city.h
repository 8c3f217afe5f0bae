/* studies/gaussians/bench: a synthetic city to render. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../scene/scene.h"

/* Each Gaussian is as long, thin and opaque as one of `like`; the cameras are in the air and in its
   streets. On failure nothing is left to free. */
bool make_city(gaussians_host *g, scene *s, const gaussians_host *like, int count, int views,
               unsigned seed, error_line *error);
/* Into a folder that is there: model.ply and cameras.txt, as a scene's (scene.h). */
bool write_city(const gaussians_host *g, const scene *s, const char *folder, error_line *error);
