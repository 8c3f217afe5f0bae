/* arc study gaussians: the model once more in double precision, on the host, for its tests.
   SPDX-License-Identifier: Apache-2.0

   Written from the formulas, without tiles, lists or derivatives: every pixel visits every
   Gaussian, and gradients are central differences. */
#ifndef GAUSSIANS_TEST_REFERENCE_H
#define GAUSSIANS_TEST_REFERENCE_H

#include <math.h>
#include <string.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../../bench/common/test_check.h"
#include "../scene/scene.h"

/* One Gaussian: the numbers that are trained, then a shift of its centre in pixels, which is 0. */
enum {
  REF_POSITION = 0,
  REF_SCALE = 3,
  REF_ROTATION = 6,
  REF_OPACITY = 10,
  REF_SH = 11,
  REF_SHIFT = 59,
  REF_WIDTH = 61
};

typedef struct reference {
  int width, height, count, degree;
  double fx, fy, cx, cy;
  double camera[12]; /* world_to_camera, row by row */
  double background[3];
  std::vector<double> gaussian; /* REF_WIDTH each */
  std::vector<double> slope;    /* the loss is the sum of slope * picture: three planes */
} reference;

typedef struct reference_splat {
  double x, y, a, b, c, opacity, depth, colour[3];
  bool seen;
} reference_splat;

/* How near a decision (hit or not, opaque or not) came to going the other way, and how many went
   which way. */
typedef struct reference_margin {
  double hit, opaque, clamp;
  long hits;
} reference_margin;

static inline void reference_basis(const double d[3], double basis[16]) {
  double x = d[0], y = d[1], z = d[2], pi = 3.14159265358979323846;
  double c1 = sqrt(3.0 / (4.0 * pi)), c2 = 0.5 * sqrt(15.0 / pi), c20 = 0.25 * sqrt(5.0 / pi);
  double c33 = 0.25 * sqrt(35.0 / (2.0 * pi)), c32 = 0.5 * sqrt(105.0 / pi);
  double c31 = 0.25 * sqrt(21.0 / (2.0 * pi)), c30 = 0.25 * sqrt(7.0 / pi);
  basis[0] = 0.5 / sqrt(pi);
  basis[1] = -c1 * y, basis[2] = c1 * z, basis[3] = -c1 * x;
  basis[4] = c2 * x * y, basis[5] = -c2 * y * z, basis[7] = -c2 * x * z;
  basis[6] = c20 * (2 * z * z - x * x - y * y);
  basis[8] = 0.5 * c2 * (x * x - y * y);
  basis[9] = -c33 * y * (3 * x * x - y * y);
  basis[10] = c32 * x * y * z;
  basis[11] = -c31 * y * (4 * z * z - x * x - y * y);
  basis[12] = c30 * z * (2 * z * z - 3 * x * x - 3 * y * y);
  basis[13] = -c31 * x * (4 * z * z - x * x - y * y);
  basis[14] = 0.5 * c32 * z * (x * x - y * y);
  basis[15] = -c33 * x * (x * x - 3 * y * y);
}

static inline void reference_colour(const reference *r, const double *g, double colour[3]) {
  double direction[3], length = 0.0, basis[16];
  for (int j = 0; j < 3; ++j) {
    double eye = 0.0;
    for (int i = 0; i < 3; ++i) eye -= r->camera[4 * i + j] * r->camera[4 * i + 3];
    direction[j] = g[REF_POSITION + j] - eye;
    length += direction[j] * direction[j];
  }
  for (int j = 0; j < 3; ++j) direction[j] /= sqrt(length);
  reference_basis(direction, basis);
  for (int j = 0; j < 3; ++j) {
    colour[j] = 0.5;
    for (int k = 0; k < (r->degree + 1) * (r->degree + 1); ++k)
      colour[j] += basis[k] * g[REF_SH + 3 * k + j];
    if (colour[j] < 0.0) colour[j] = 0.0;
  }
}

/* world covariance = R diag(s^2) R', built entry by entry from the rotated axes. */
static inline void reference_covariance(const double *g, double cov[3][3]) {
  double q[4], norm = 0.0, axis[3][3];
  for (int k = 0; k < 4; ++k) norm += g[REF_ROTATION + k] * g[REF_ROTATION + k];
  for (int k = 0; k < 4; ++k) q[k] = g[REF_ROTATION + k] / sqrt(norm);
  for (int k = 0; k < 3; ++k) { /* rotate the unit vector k: v + 2 w (u x v) + 2 u x (u x v) */
    double v[3] = {0.0, 0.0, 0.0}, u[3] = {q[1], q[2], q[3]}, c[3], cc[3];
    v[k] = 1.0;
    for (int i = 0; i < 3; ++i)
      c[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    for (int i = 0; i < 3; ++i)
      cc[i] = u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3];
    for (int i = 0; i < 3; ++i) axis[k][i] = v[i] + 2.0 * q[0] * c[i] + 2.0 * cc[i];
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      cov[i][j] = 0.0;
      for (int k = 0; k < 3; ++k)
        cov[i][j] += exp(2.0 * g[REF_SCALE + k]) * axis[k][i] * axis[k][j];
    }
}

static inline reference_splat reference_project(const reference *r, const double *g,
                                                reference_margin *m) {
  reference_splat s;
  double p[3], cov[3][3], j[2][3], jw[2][3] = {{0}}, flat[2][2] = {{0}};
  memset(&s, 0, sizeof s);
  for (int i = 0; i < 3; ++i) {
    p[i] = r->camera[4 * i + 3];
    for (int k = 0; k < 3; ++k) p[i] += r->camera[4 * i + k] * g[REF_POSITION + k];
  }
  s.depth = p[2];
  s.opacity = 1.0 / (1.0 + exp(-g[REF_OPACITY]));
  if (p[2] < 0.2 || s.opacity < 1.0 / 255.0) return s;
  s.seen = true;
  double u = p[0] / p[2], v = p[1] / p[2];
  s.x = r->fx * u + r->cx + g[REF_SHIFT];
  s.y = r->fy * v + r->cy + g[REF_SHIFT + 1];
  double low_x = (-r->cx - 0.15 * r->width) / r->fx, high_x = (1.15 * r->width - r->cx) / r->fx;
  double low_y = (-r->cy - 0.15 * r->height) / r->fy, high_y = (1.15 * r->height - r->cy) / r->fy;
  u = fmin(fmax(u, low_x), high_x);
  v = fmin(fmax(v, low_y), high_y);
  j[0][0] = r->fx / p[2], j[0][1] = 0.0, j[0][2] = -r->fx * u / p[2];
  j[1][0] = 0.0, j[1][1] = r->fy / p[2], j[1][2] = -r->fy * v / p[2];
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) jw[i][k] += j[i][l] * r->camera[4 * l + k];
  reference_covariance(g, cov);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      for (int l = 0; l < 3; ++l)
        for (int n = 0; n < 3; ++n) flat[i][k] += jw[i][l] * cov[l][n] * jw[k][n];
  flat[0][0] += 0.3, flat[1][1] += 0.3;
  double determinant = flat[0][0] * flat[1][1] - flat[0][1] * flat[0][1];
  s.a = flat[1][1] / determinant, s.b = -flat[0][1] / determinant, s.c = flat[0][0] / determinant;
  reference_colour(r, g, s.colour);
  for (int k = 0; k < 3; ++k) m->hits += s.colour[k] > 0.0;
  return s;
}

static inline void reference_pixel(const reference *r, const reference_splat *splats,
                                   const int *order, double x, double y, double colour[3],
                                   reference_margin *m) {
  double left = 1.0;
  for (int k = 0; k < 3; ++k) colour[k] = 0.0;
  for (int i = 0; i < r->count; ++i) {
    const reference_splat *s = &splats[order[i]];
    if (!s->seen) continue;
    double dx = x - s->x, dy = y - s->y;
    double full = s->opacity * exp(-0.5 * (s->a * dx * dx + s->c * dy * dy) - s->b * dx * dy);
    m->hit = fmin(m->hit, fabs(log(255.0 * full)));
    if (full < 1.0 / 255.0) continue;
    m->clamp = fmin(m->clamp, fabs(full - 0.99));
    double alpha = fmin(full, 0.99), rest = left * (1.0 - alpha);
    m->opaque = fmin(m->opaque, fabs(log(rest / 1e-4)));
    if (rest < 1e-4) break;
    m->hits += 1 + (full > 0.99);
    for (int k = 0; k < 3; ++k) colour[k] += left * alpha * s->colour[k];
    left = rest;
  }
  for (int k = 0; k < 3; ++k) colour[k] += left * r->background[k];
}

/* Three planes. */
static inline std::vector<double> reference_render(const reference *r, reference_margin *m) {
  std::vector<reference_splat> splats;
  std::vector<int> order((size_t)r->count);
  std::vector<double> picture((size_t)3 * r->width * r->height);
  m->hit = m->opaque = m->clamp = 1e30;
  m->hits = 0;
  for (int i = 0; i < r->count; ++i)
    splats.push_back(reference_project(r, &r->gaussian[REF_WIDTH * i], m));
  std::iota(order.begin(), order.end(), 0); /* then from front to back */
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return splats[a].depth < splats[b].depth; });
  for (int row = 0; row < r->height; ++row)
    for (int column = 0; column < r->width; ++column) {
      double colour[3];
      reference_pixel(r, splats.data(), order.data(), column + 0.5, row + 0.5, colour, m);
      for (int k = 0; k < 3; ++k) picture[(k * r->height + row) * r->width + column] = colour[k];
    }
  return picture;
}

/* The loss by one number, and the sum over values of the picture of its magnitudes, which is what
   rounding errors scale with. */
static inline void reference_difference(const reference *r, double *number, double step,
                                        double *derivative, double *magnitude) {
  const double kept = *number;
  reference_margin up, down;
  *number = kept + step;
  const std::vector<double> above = reference_render(r, &up);
  *number = kept - step;
  const std::vector<double> below = reference_render(r, &down);
  *number = kept;
  *derivative = *magnitude = 0.0;
  for (size_t i = 0; i < above.size(); ++i) {
    double change = r->slope[i] * (above[i] - below[i]) / (2.0 * step);
    *derivative += change;
    *magnitude += fabs(change);
  }
  CHECK(up.hits == down.hits, "a pixel enters or leaves: choose another seed");
}

/* A number the device can hold. */
static inline double reference_random(unsigned long long *seed, double low, double high) {
  return (float)(low + (high - low) * test_random(seed));
}

/* A camera that looks down the world's z axis, a little turned, at a cloud 3 to 6 away. */
static inline void reference_make_camera(reference *r, unsigned long long *seed) {
  double a = reference_random(seed, -0.3, 0.3), b = reference_random(seed, -0.3, 0.3);
  double turn[3][3] = {{cos(a), -sin(a) * cos(b), sin(a) * sin(b)},
                       {sin(a), cos(a) * cos(b), -cos(a) * sin(b)},
                       {0.0, sin(b), cos(b)}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) r->camera[4 * i + j] = (float)turn[i][j];
    r->camera[4 * i + 3] = reference_random(seed, -0.2, 0.2) + (i == 2 ? 1.0 : 0.0);
    r->camera[4 * i + 3] = (float)r->camera[4 * i + 3];
    r->background[i] = reference_random(seed, 0.0, 1.0);
  }
  r->fx = (float)(1.1 * r->width), r->fy = (float)(1.2 * r->width);
  r->cx = (float)(0.47 * r->width), r->cy = (float)(0.55 * r->height);
}

/* Places a Gaussian `depth` in front of the camera at u, v of its picture (0 to 1 within it). */
static inline void reference_place(reference *r, double *g, double u, double v, double depth) {
  double c[3] = {(u * r->width - r->cx) / r->fx * depth, (v * r->height - r->cy) / r->fy * depth,
                 depth};
  for (int j = 0; j < 3; ++j) {
    double p = 0.0;
    for (int i = 0; i < 3; ++i) p += r->camera[4 * i + j] * (c[i] - r->camera[4 * i + 3]);
    g[REF_POSITION + j] = (float)p;
  }
}

static inline void reference_make(reference *r, int width, int height, int count, int degree,
                                  double pixels, unsigned long long seed) {
  r->width = width, r->height = height, r->count = count, r->degree = degree;
  r->gaussian.assign((size_t)count * REF_WIDTH, 0.0);
  reference_make_camera(r, &seed);
  for (int i = 0; i < count; ++i) {
    double *g = &r->gaussian[REF_WIDTH * i];
    double depth = reference_random(&seed, 2.0, 5.0), size = pixels * depth / r->fx;
    double u = reference_random(&seed, 0.05, 0.95), v = reference_random(&seed, 0.05, 0.95);
    if (i % 8 == 1) u = -0.2; /* beyond where J is taken, reaching in */
    if (i % 8 == 2) v = 1.2;
    reference_place(r, g, u, v, depth);
    for (int k = 0; k < 3; ++k)
      g[REF_SCALE + k] = (float)log(size * reference_random(&seed, 0.3, i % 8 < 3 ? 2.0 : 1.0));
    for (int k = 0; k < 4; ++k) g[REF_ROTATION + k] = reference_random(&seed, -1.0, 1.0);
    g[REF_OPACITY] = i % 8 == 4 ? 6.0 : reference_random(&seed, -1.5, 1.0);
    for (int k = 0; k < 48; ++k)
      g[REF_SH + k] = reference_random(&seed, -0.3, 0.3) + (k < 3 ? 0.6 : 0.0);
    for (int k = 0; k < 3; ++k) g[REF_SH + k] = (float)g[REF_SH + k];
    if (i % 8 == 5) g[REF_SH + 1] = -4.0; /* no green: cut off at 0 */
  }
  r->slope.resize((size_t)3 * width * height);
  for (double &slope : r->slope) slope = reference_random(&seed, -1.0, 1.0);
}

#endif
