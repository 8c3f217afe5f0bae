/* arc example environment: pixels shaded by filtered cube maps, and the gradient by those.
   SPDX-License-Identifier: Apache-2.0

   colour = diffuse(normal) * albedo + specular(reflection, roughness) * gloss: the split sum.
   Levels of the specular map are parted by roughness as a pyramid; a lookup is bilinear on two. */
#ifndef ENVIRONMENT_SHADE_H
#define ENVIRONMENT_SHADE_H

#include "../common/workload.h"
#include "cube.h"
#include "scene.h"

enum { TAPS = 12 };

/* A view's pixels on the device; what they should look like; and the taps sorted by texel, by which
   a texel can gather: of texel t those from first[t] to first[t + 1] - 1. */
typedef struct shaded_view {
  int side, count; /* count: of the pixels that show the mesh */
  device_array pixels, target, first, taps;
} shaded_view;

/* pixels: side x side; form: of the maps, two levels or more; target: filled by a shade_view
   with the true maps */
void shaded_view_begin(shaded_view *v, const surface_pixel *pixels, int side, cube_pyramid form,
                       device_memory *memory);
void shaded_view_end(shaded_view *v, device_memory *memory);

/* Colours, three floats a pixel; and what the loss, half the mean square of the differences,
   changes by, unless by_colour is null. */
void shade_view(const shaded_view *v, cube_pyramid form, const float *maps, float *colours,
                float *by_colour);
/* Adds to by_maps. */
void shade_backward(const shaded_view *v, cube_pyramid form, int way, int threshold,
                    const float *by_colour, float *by_maps);

#endif
