/* arc study spheres: what is learnt, and the renderer: a picture, its gradient, a step along it.
   SPDX-License-Identifier: Apache-2.0

   At a pixel, spheres 1 to TRACKED are the closest ones whose centre the ray passes within their
   radius. With q the ray's distance from the centre, t the centre's depth along the ray, R the
   radius and o the opacity, sphere i weighs

       u = o (1 - q^2 / R^2) exp((o z - 1) / SOFTNESS),     z = (DEPTH_FAR - t) / (far - near),

   and the pixel is (sum of u_i colour_i + b background) / (sum of u_i + b), where b is the
   exponential for o z = BACKGROUND_DEPTH. This is Pulsar's blending (Lassner and Zollhoefer, CVPR
   2021), but for 1 - q^2 / R^2, where theirs is 1 - q / R: smooth at the centre, no root. */
#pragma once

#include <vector>

#include "../common/device.h"
#include "../common/tiles.cuh"
#include "../common/workload.h"

/* ---- what is to be learnt, and who looks at it ---------------------------------------------- */

/* A sphere's row: position, radius, colour, opacity. */
enum { SPHERE_X, SPHERE_RADIUS = 3, SPHERE_RED, SPHERE_OPACITY = 7, SPHERE_FLOATS };

/* The ray through the point x, y of the picture, in pixels from its upper left corner, starts at
   eye and goes along corner + x right + y down, of any length. right and down: of equal length,
   perpendicular to each other. */
typedef struct camera {
  float eye[3], corner[3], right[3], down[3];
} camera;
enum { CAMERA_FLOATS = sizeof(camera) / sizeof(float) };

/* Spheres are drawn whose centre is so far away, along a pixel's ray. */
#define DEPTH_NEAR 1.0f
#define DEPTH_FAR 6.0f

typedef struct scene {
  float radius;                /* the mean */
  std::vector<float> rows;     /* SPHERE_FLOATS a sphere */
  std::vector<float> first;    /* where learning starts: moved, resized, grey, less opaque */
  std::vector<camera> cameras; /* one more than views: the last view is not learnt from */
} scene;

/* All of it depends on the numbers given only. After an interrupt it is incomplete. */
scene scene_make(int spheres, int views, int width, int height, int seed);

/* ---- the renderer ---------------------------------------------------------------------------- */

enum { TRACKED = 5 };
#define SOFTNESS 0.03f
#define BACKGROUND_DEPTH 0.15f
#define BACKGROUND_COLOUR 0.1f /* red, green and blue */

/* A gradient's row: a sphere's, then its part of the camera's, as in the original; 80 bytes, so
   that rows are aligned to 16. The row behind the last sphere's is the camera's. */
enum { ROW_FLOATS = SPHERE_FLOATS + CAMERA_FLOATS };

/* Where the camera's gradient goes: a part to each sphere's row, or all of it to its own row. */
enum { CAMERA_BY_SPHERE, CAMERA_ROW, CAMERA_LAYOUTS };

/* Ways of this program:
   divergent  only the lanes that have a sphere call, inside the branch
   sorted     auto, but a lane visits its spheres by number: neighbours agree more often
   walk       the warp visits the spheres that any lane tracks, by number: one key per step */
enum { WAY_DIVERGENT = WAYS, WAY_SORTED, WAY_WALK, ALL_WAYS };

/* What the kernels see: the spheres, and the picture of them that was drawn last. */
typedef struct picture {
  camera view;
  int spheres, width, height, tiles_x;
  float4 *rows;   /* two a sphere */
  float *colour;  /* all red, all green, all blue */
  float *total;   /* of a pixel's weights, the background's among them */
  int *tracked;   /* a plane for the closest spheres, one for the second; behind the last: -1 */
  float *sums;    /* rows of gradients */
  unsigned *seen; /* of each sphere: pixels that track it; the original's integer count */
} picture;

typedef struct renderer {
  picture p;
  int tiles;
  float *moments; /* Adam's means of each float, then its squares */
  int2 *ranges;   /* of each tile, in the list; behind the last tile the list's length */
  device_memory memory;
  device_array list;
  device_pool arrays; /* what the pointers point to */
} renderer;

void renderer_begin(renderer *r, int spheres, int width, int height);
void renderer_end(renderer *r);
/* Sets the spheres, from the host, and forgets the steps taken. */
void renderer_set(renderer *r, const float *rows);
void renderer_draw(renderer *r, const camera *view);
void renderer_clear_sums(renderer *r);

/* Adds to sums the gradient of half the squared difference of the picture and the target (planes,
   on the device), and to seen. threshold: of the ways that take one. counts: of WAY_COUNT. Launches
   one kernel, and does not wait. */
void renderer_gradient(renderer *r, const float *target, int way, int threshold, int camera_layout,
                       unsigned long long *counts);

/* A step of Adam, of the spheres that were seen. radius: what lengths are measured in. */
void renderer_step(renderer *r, int step, float radius);

static inline size_t picture_floats(const renderer *r) {
  return (size_t)3 * (size_t)r->p.width * (size_t)r->p.height;
}
