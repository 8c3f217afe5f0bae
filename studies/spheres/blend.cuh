/* arc study spheres: pixels, rays, and the weight of a sphere at a pixel; the same for both
   directions. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../common/vectors.cuh"
#include "spheres.h"

#define DEPTH_SCALE (1.0f / (DEPTH_FAR - DEPTH_NEAR))

typedef struct pixel {
  float x, y; /* its centre */
  size_t index;
  bool inside;   /* the last tiles of a row or column stick out of the picture */
  float3 ray;    /* of length 1 */
  float inverse; /* 1 / the length of the direction that the camera gives */
} pixel;

/* One block a tile; a warp has 8 x 4 of its pixels, which share more spheres than a line would. */
DEVICE pixel pixel_of_thread(const picture *p) {
  const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5, tile = (int)blockIdx.x;
  const int column = tile % p->tiles_x * TILE_SIDE + (warp & 1) * 8 + (lane & 7);
  const int row = tile / p->tiles_x * TILE_SIDE + (warp >> 1) * 4 + (lane >> 3);
  const bool inside = column < p->width && row < p->height;
  const float x = (float)column + 0.5f, y = (float)row + 0.5f;
  const float3 along =
      add_scaled(add_scaled(from(p->view.corner), from(p->view.right), x), from(p->view.down), y);
  const float inverse = rsqrtf(dot(along, along));
  const size_t index = inside ? (size_t)row * p->width + column : 0;
  return {x, y, index, inside, scale(along, inverse), inverse};
}

DEVICE size_t plane_of(const picture *p) { return (size_t)p->width * p->height; }

typedef struct sphere {
  float3 offset; /* of the centre from the eye */
  float3 colour;
  float radius, opacity;
} sphere;

DEVICE sphere load_sphere(const picture *p, int i) {
  const float4 a = p->rows[2 * i], b = p->rows[2 * i + 1];
  const float3 centre = make_float3(a.x, a.y, a.z);
  return {add_scaled(centre, from(p->view.eye), -1.0f), make_float3(b.x, b.y, b.z), a.w, b.w};
}

/* What a ray makes of a sphere: the letters of spheres.h. */
typedef struct share {
  float3 across;             /* from the ray to the centre, perpendicular to the ray */
  float depth, square;       /* t, q^2 */
  float closeness, z, front; /* the factors of u but for the opacity, and what is in the last */
  float u;
} share;

DEVICE float front_of(float opacity_z) {
  return exp2f((opacity_z - 1.0f) * (1.44269504f / SOFTNESS));
}

DEVICE share share_of(const sphere *s, float3 ray) {
  share a;
  a.depth = dot(s->offset, ray);
  a.across = add_scaled(s->offset, ray, -a.depth);
  a.square = dot(a.across, a.across);
  a.closeness = 1.0f - a.square / (s->radius * s->radius);
  a.z = (DEPTH_FAR - a.depth) * DEPTH_SCALE;
  a.front = front_of(s->opacity * a.z);
  a.u = s->opacity * a.closeness * a.front;
  return a;
}
