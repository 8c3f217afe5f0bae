/* arc study gaussians: where the cameras are and what they look at.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <math.h>

static void measure_cameras(scene *s) {
  double sum[3] = {0.0, 0.0, 0.0}, largest2 = 0.0;
  for (const view &v : s->views)
    for (int k = 0; k < 3; ++k) sum[k] += v.camera.position[k];
  for (int k = 0; k < 3; ++k) s->centre[k] = (float)(sum[k] / fmax(1.0, (double)s->views.size()));
  for (const view &v : s->views) {
    double distance2 = 0.0;
    for (int k = 0; k < 3; ++k) {
      double apart = (double)v.camera.position[k] - s->centre[k];
      distance2 += apart * apart;
    }
    largest2 = fmax(largest2, distance2);
  }
  double extent = 1.1 * sqrt(largest2);
  s->extent = extent > 1e-6 ? (float)extent : 1.0f;
}

static void box_start(scene *s) {
  for (int k = 0; k < 3; ++k) {
    s->box_low[k] = INFINITY;
    s->box_high[k] = -INFINITY;
  }
}

static void box_add(scene *s, const float *position) {
  for (int k = 0; k < 3; ++k) {
    s->box_low[k] = fminf(s->box_low[k], position[k]);
    s->box_high[k] = fmaxf(s->box_high[k], position[k]);
  }
}

/* ---- without points: what the cameras have in common ---------------------------------------- */

/* Solves a x = b, a symmetric and positive; false where it is close to singular. */
static bool solve3(const double a[3][3], const double b[3], double x[3]) {
  double minor[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      minor[i][k] = a[i1][k1] * a[i2][k2] - a[i1][k2] * a[i2][k1];
    }
  double determinant = a[0][0] * minor[0][0] + a[0][1] * minor[0][1] + a[0][2] * minor[0][2];
  double mean = (a[0][0] + a[1][1] + a[2][2]) / 3.0;
  if (!(determinant > 1e-6 * mean * mean * mean)) return false;
  for (int i = 0; i < 3; ++i)
    x[i] = (minor[0][i] * b[0] + minor[1][i] * b[1] + minor[2][i] * b[2]) / determinant;
  return true;
}

/* How far in front of the cameras, in the mean, lies the point nearest to all their axes. Where
   there is none, or it is behind them: the extent, four times. */
static double looking_distance(const scene *s) {
  double a[3][3] = {}, b[3] = {}, nearest[3] = {}, sum = 0.0;
  for (const view &v : s->views) {
    const camera *c = &v.camera;
    const float *axis = c->world_to_camera[2];
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 3; ++k) {
        double across = (row == k ? 1.0 : 0.0) - (double)axis[row] * axis[k];
        a[row][k] += across;
        b[row] += across * c->position[k];
      }
  }
  if (!solve3(a, b, nearest)) return 4.0 * s->extent;
  for (const view &v : s->views)
    for (int k = 0; k < 3; ++k)
      sum += v.camera.world_to_camera[2][k] * (nearest[k] - v.camera.position[k]);
  sum /= (double)s->views.size();
  return sum > 0.0 ? sum : 4.0 * s->extent;
}

static bool is_seen(const camera *c, const float *p) {
  float at[3];
  for (int row = 0; row < 3; ++row) {
    const float *m = c->world_to_camera[row];
    at[row] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
  }
  if (!(at[2] > 0.0f)) return false;
  float u = c->fx * at[0] / at[2] + c->cx, v = c->fy * at[1] / at[2] + c->cy;
  return u >= 0.0f && u <= c->width && v >= 0.0f && v <= c->height;
}

/* The place `depth` in front of the camera, behind a place of its picture. */
static void unproject(const camera *c, float u, float v, float depth, float *p) {
  const float at[3] = {(u - c->cx) / c->fx * depth, (v - c->cy) / c->fy * depth, depth};
  for (int k = 0; k < 3; ++k) {
    p[k] = c->position[k];
    for (int row = 0; row < 3; ++row) p[k] += c->world_to_camera[row][k] * at[row];
  }
}

/* Samples what each camera sees; a place belongs to the box if at least `share` of them see it.
   Returns whether any place does. At most 64 of the cameras are sampled. */
static bool box_of_views(scene *s, double distance, double share) {
  enum { MOST_CAMERAS = 64, SIDE = 9, DEPTHS = 8 };
  const size_t views = s->views.size();
  const int cameras = views < MOST_CAMERAS ? (int)views : MOST_CAMERAS;
  bool any = false;
  box_start(s);
  for (int sample = 0; sample < cameras * SIDE * SIDE * DEPTHS; ++sample) {
    int at = sample / (SIDE * SIDE * DEPTHS), seen = 0;
    const camera *c = &s->views[at * views / cameras].camera;
    float depth = (float)(2.0 * distance * (sample % DEPTHS + 1) / DEPTHS), p[3];
    float u = c->width * (sample / DEPTHS % SIDE / (SIDE - 1.0f));
    float v = c->height * (sample / DEPTHS / SIDE % SIDE / (SIDE - 1.0f));
    unproject(c, u, v, depth, p);
    for (int i = 0; i < cameras; ++i) seen += is_seen(&s->views[i * views / cameras].camera, p);
    if (seen < share * cameras) continue;
    box_add(s, p);
    any = true;
  }
  return any;
}

void scene_measure(scene *s) {
  measure_cameras(s);
  box_start(s);
  for (const scene_point &p : s->points) box_add(s, p.position);
  if (!s->points.empty()) return;
  double distance = looking_distance(s);
  /* Cameras that look apart share no place: then what any of them sees. */
  if (!box_of_views(s, distance, 0.5)) box_of_views(s, distance, 0.0);
}
