/* arc example spheres: the spheres and cameras. SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "../common/random.h"

static const float PI = 3.14159265f;
static const float RING = 1.0f, TUBE = 0.38f, BALL = 0.4f; /* radii */
static const float IN_BALL = 0.12f;                        /* of all spheres */
static const float LAYERS = 4.0f; /* how often the spheres' discs cover the surface */
static const float DISTANCE = 3.0f;

/* Number i of a sequence that covers the unit square evenly. */
static void even_point(int i, float *u, float *v) {
  *u = (float)fmod(0.5 + i * 0.7548776662466927, 1.0);
  *v = (float)fmod(0.5 + i * 0.5698402909980532, 1.0);
}

static void place(int i, int in_ball, float position[3]) {
  float u, v;
  even_point(i, &u, &v);
  if (i < in_ball) {
    const float z = 2 * v - 1, across = sqrtf(1 - z * z);
    position[0] = BALL * across * cosf(2 * PI * u);
    position[1] = BALL * z;
    position[2] = BALL * across * sinf(2 * PI * u);
  } else {
    const float from_axis = RING + TUBE * cosf(2 * PI * v);
    position[0] = from_axis * cosf(2 * PI * u);
    position[1] = TUBE * sinf(2 * PI * v);
    position[2] = from_axis * sinf(2 * PI * u);
  }
}

static void normalise(float v[3]) {
  const float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; ++k) v[k] /= length;
}

static void cross(const float a[3], const float b[3], float product[3]) {
  for (int k = 0; k < 3; ++k)
    product[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Looks at the origin; angles in radians. The shorter side of the picture spans all spheres. */
static camera look(float azimuth, float elevation, int width, int height) {
  const float up[3] = {0, 1, 0};
  const float pixel = 1.0f / (float)std::min(width, height);
  float forward[3], right[3], down[3];
  camera c;
  c.eye[0] = DISTANCE * cosf(elevation) * cosf(azimuth);
  c.eye[1] = DISTANCE * sinf(elevation);
  c.eye[2] = DISTANCE * cosf(elevation) * sinf(azimuth);
  for (int k = 0; k < 3; ++k) forward[k] = -c.eye[k];
  normalise(forward);
  cross(forward, up, right);
  normalise(right);
  cross(forward, right, down);
  for (int k = 0; k < 3; ++k) {
    c.right[k] = pixel * right[k];
    c.down[k] = pixel * down[k];
    c.corner[k] = forward[k] - 0.5f * ((float)width * c.right[k] + (float)height * c.down[k]);
  }
  return c;
}

void scene_make(scene *s, int spheres, int views, int width, int height, int seed) {
  const float surface = 4 * PI * (PI * RING * TUBE + BALL * BALL);
  const int in_ball = (int)(IN_BALL * (float)spheres);
  const float radius = sqrtf(LAYERS * surface / (PI * (float)spheres));
  *s = {spheres, views, width, height, std::min(radius, TUBE), nullptr, nullptr};
  s->rows = new float[(size_t)spheres * SPHERE_FLOATS];
  s->cameras = new camera[(size_t)views + 1];
  for (int i = 0; i < spheres; ++i) {
    float *row = s->rows + (size_t)i * SPHERE_FLOATS;
    const unsigned long long drawn = 2ull * (unsigned)i;
    place(i, in_ball, row);
    row[SPHERE_RADIUS] = s->radius * (0.75f + 0.5f * hashed_random((unsigned)seed, drawn));
    row[SPHERE_OPACITY] = 0.8f + 0.2f * hashed_random((unsigned)seed, drawn + 1);
    for (int k = 0; k < 3; ++k)
      row[SPHERE_RED + k] = 0.5f + 0.45f * sinf(6 * row[(k + 1) % 3] + 4 * row[k] + (float)k);
  }
  for (int v = 0; v <= views; ++v) {
    const float turn = (float)v + (v == views ? 0.5f : 0.0f);
    s->cameras[v] =
        look(2 * PI * turn / (float)views, 0.7f + 0.3f * sinf(2.4f * turn), width, height);
  }
}

void scene_disturb(const scene *s, int seed, float *rows) {
  memcpy(rows, s->rows, (size_t)s->spheres * SPHERE_FLOATS * sizeof(float));
  for (int i = 0; i < s->spheres; ++i) {
    float *row = rows + (size_t)i * SPHERE_FLOATS, random[4];
    for (int k = 0; k < 4; ++k)
      random[k] = 2 * hashed_random((unsigned)seed + 1u, 4ull * (unsigned)i + (unsigned)k) - 1;
    for (int k = 0; k < 3; ++k) row[k] += 0.5f * s->radius * random[k];
    row[SPHERE_RADIUS] *= 1 + 0.2f * random[3];
    for (int k = SPHERE_RED; k <= SPHERE_BLUE; ++k) row[k] = 0.5f;
    row[SPHERE_OPACITY] = 0.7f;
  }
}

void scene_free(scene *s) {
  delete[] s->rows;
  delete[] s->cameras;
  *s = {};
}
