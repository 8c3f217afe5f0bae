/* arc example environment: a cube map filtered by a lobe around each of its texels, and the
   adjoint. SPDX-License-Identifier: Apache-2.0

   Filtered texel o, with L and A the directions and solid angles of texels and c = L_o . L_k:

     diffuse    out_o = sum_k max(c, 0) A_k in_k   / the same sum of ones
     specular   out_o = sum_k c D(c) A_k in_k      / the same sum of ones, over k within the lobe

   D is the GGX distribution for a light along L_k seen along L_o with the normal there too: half
   way between them the cosine is sqrt((1 + c) / 2). The lobe ends where 99 % of D's integral
   over the angle is reached. Colours are rows of three floats, as in a tensor of six pictures. */
#ifndef ENVIRONMENT_PREFILTER_H
#define ENVIRONMENT_PREFILTER_H

#include "../common/workload.h"
#include "cube.h"

/* Ways of this program's own. */
enum {
  OWN_GATHER = WAYS, /* a lane owns an input texel and sums what outputs want of it: no atomics */
  OWN_UNION,         /* plain atomics in the walk of the other ways */
  OWN_FOUR           /* auto, four texels of a row in one call of 12 values */
};

typedef struct cube_filter {
  int side;
  bool diffuse;
  float alpha2;   /* roughness to the fourth */
  float farthest; /* of the lobe: the squared distance of two unit vectors */
  float sine;     /* of the angle at which it ends */
} cube_filter;

cube_filter cube_filter_diffuse(int side);
/* roughness: above 0, at most 1 */
cube_filter cube_filter_specular(int side, float roughness);

/* A filter's constants on the device. */
typedef struct prefilter {
  cube_filter filter;
  device_array texels, inverse; /* directions and areas; 1 / sums of weights, by forward() */
} prefilter;

void prefilter_begin(prefilter *p, cube_filter filter, device_memory *memory);
void prefilter_end(prefilter *p, device_memory *memory);
/* filtered: overwritten */
void prefilter_forward(const prefilter *p, const float *light, float *filtered);
/* Adds the gradient by the input, from that by the output; after a prefilter_forward. */
void prefilter_backward(const prefilter *p, int way, int threshold, const float *by_filtered,
                        float *by_light);

/* Each level's light is the mean over four texels of the one before; and the adjoint. */
void pyramid_shrink(cube_pyramid form, float *light);
void pyramid_shrink_backward(cube_pyramid form, float *by_light);

#endif
