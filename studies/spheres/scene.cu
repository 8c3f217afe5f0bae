/* arc study spheres: the spheres of a torus, and the cameras around it.
   SPDX-License-Identifier: Apache-2.0 */
#include "spheres.h"

#include <math.h>

#include <algorithm>

#include "../../bench/common/random.h"

static const float PI = 3.14159265f;
static const float RING = 1.0f, TUBE = 0.38f; /* the torus's radii */
static const float LAYERS = 4.0f;             /* how often the spheres' discs cover the torus */
static const float DISTANCE = 3.0f;
static const float COLD[3] = {0.08f, 0.25f, 0.42f}, WARM[3] = {0.97f, 0.76f, 0.45f};

/* Number i of a sequence that covers the torus evenly. */
static void place(int i, float position[3]) {
  const float u = 2 * PI * (float)fmod(i * 0.7548776662466927, 1.0);
  const float v = 2 * PI * (float)fmod(i * 0.5698402909980532, 1.0);
  position[0] = (RING + TUBE * cosf(v)) * cosf(u);
  position[1] = TUBE * sinf(v);
  position[2] = (RING + TUBE * cosf(v)) * sinf(u);
}

/* Looks at the origin. The shorter side of the picture spans all spheres. */
static camera look(float azimuth, float elevation, int width, int height) {
  const float ca = cosf(azimuth), sa = sinf(azimuth), ce = cosf(elevation), se = sinf(elevation);
  const float back[3] = {ce * ca, se, ce * sa}, right[3] = {sa, 0, -ca};
  const float down[3] = {se * ca, -ce, se * sa};
  const float pixel = 1.0f / (float)std::min(width, height);
  camera c;
  for (int k = 0; k < 3; ++k) {
    c.eye[k] = DISTANCE * back[k];
    c.right[k] = pixel * right[k];
    c.down[k] = pixel * down[k];
    c.corner[k] = -back[k] - 0.5f * ((float)width * c.right[k] + (float)height * c.down[k]);
  }
  return c;
}

/* Between -1 and 1: number k of sphere i. */
static float random_of(int seed, int i, int k) {
  return 2 * hashed_random((unsigned)seed, 8ull * (unsigned)i + (unsigned)k) - 1;
}

static void disturb(float *row, float radius, int seed, int i) {
  for (int k = 0; k < 3; ++k) row[k] += 0.5f * radius * random_of(seed, i, 2 + k);
  row[SPHERE_RADIUS] *= 1 + 0.2f * random_of(seed, i, 5);
  for (int k = 0; k < 3; ++k) row[SPHERE_RED + k] = 0.5f;
  row[SPHERE_OPACITY] = 0.7f;
}

scene scene_make(int spheres, int views, int width, int height, int seed) {
  scene s;
  s.radius = std::min(TUBE, sqrtf(LAYERS * 4 * PI * RING * TUBE / (float)spheres));
  s.rows.resize((size_t)spheres * SPHERE_FLOATS);
  for (int i = 0; i < spheres && !interrupts; ++i) {
    float *row = &s.rows[(size_t)i * SPHERE_FLOATS];
    place(i, row);
    row[SPHERE_RADIUS] = s.radius * (1 + 0.25f * random_of(seed, i, 0));
    row[SPHERE_OPACITY] = 0.9f + 0.1f * random_of(seed, i, 1);
    const float warm =
        0.5f + 0.4f * sinf(4 * row[0] + 5 * row[1] + 3 * row[2]) + 0.1f * random_of(seed, i, 6);
    for (int k = 0; k < 3; ++k) row[SPHERE_RED + k] = COLD[k] + warm * (WARM[k] - COLD[k]);
  }
  s.first = s.rows;
  for (int i = 0; i < spheres && !interrupts; ++i)
    disturb(&s.first[(size_t)i * SPHERE_FLOATS], s.radius, seed, i);
  for (int v = 0; v <= views; ++v) { /* the last one between the first two */
    const float turn = v == views ? 0.5f : (float)v;
    const float elevation = 0.7f + 0.3f * sinf(2.4f * turn);
    s.cameras.push_back(look(2 * PI * turn / (float)views, elevation, width, height));
  }
  return s;
}
