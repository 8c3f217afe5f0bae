/* arc study spheres: the picture and the gradient of every number against a serial renderer in
   double precision; every way to add; the camera's row; learning. SPDX-License-Identifier:
   Apache-2.0 */
#include <math.h>
#include <string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "../../bench/common/random.h"
#include "../../bench/common/test_device.h"
#include "../common/arrays.h"
#include "spheres.h"

#include "arc.cuh"

typedef std::vector<double> numbers;

/* ---- the serial renderer: every pixel looks at every sphere ---------------------------------- */

typedef struct reference {
  int spheres, width, height;
  numbers rows, view; /* SPHERE_FLOATS a sphere; the CAMERA_FLOATS */
  numbers target;     /* planes */
} reference;

typedef struct pixel_colour {
  double rgb[3];
  std::vector<int> tracked; /* closest first */
} pixel_colour;

static double dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A sphere is left out where it reaches the plane through the eye, parallel to the picture. */
static bool is_in_front(const reference *r, const double *s) {
  const double *a = &r->view[6], *b = &r->view[9];
  const double offset[3] = {s[0] - r->view[0], s[1] - r->view[1], s[2] - r->view[2]};
  const double forward[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                             a[0] * b[1] - a[1] * b[0]};
  return dot3(offset, forward) > s[SPHERE_RADIUS] * sqrt(dot3(forward, forward));
}

static pixel_colour draw_pixel(const reference *r, int column, int row) {
  const double *eye = &r->view[0], *corner = &r->view[3], *right = &r->view[6], *down = &r->view[9];
  std::vector<std::pair<double, int>> met;
  double ray[3], near_by = exp((BACKGROUND_DEPTH - 1) / SOFTNESS);
  for (int k = 0; k < 3; ++k) ray[k] = corner[k] + (column + .5) * right[k] + (row + .5) * down[k];
  const double length = sqrt(dot3(ray, ray));
  for (int k = 0; k < 3; ++k) ray[k] /= length;
  std::vector<double> square((size_t)r->spheres);
  for (int i = 0; i < r->spheres; ++i) {
    const double *s = &r->rows[(size_t)i * SPHERE_FLOATS];
    const double offset[3] = {s[0] - eye[0], s[1] - eye[1], s[2] - eye[2]};
    const double depth = dot3(offset, ray);
    square[(size_t)i] = dot3(offset, offset) - depth * depth;
    if (square[(size_t)i] < s[SPHERE_RADIUS] * s[SPHERE_RADIUS] && depth > DEPTH_NEAR &&
        depth < DEPTH_FAR && is_in_front(r, s))
      met.push_back(std::make_pair(depth, i));
  }
  std::sort(met.begin(), met.end());
  if (met.size() > TRACKED) met.resize(TRACKED);
  pixel_colour p = {
      {BACKGROUND_COLOUR * near_by, BACKGROUND_COLOUR * near_by, BACKGROUND_COLOUR * near_by}, {}};
  for (const auto &m : met) {
    const double *s = &r->rows[(size_t)m.second * SPHERE_FLOATS];
    const double z = (DEPTH_FAR - m.first) / (DEPTH_FAR - DEPTH_NEAR), o = s[SPHERE_OPACITY];
    const double closeness = 1 - square[(size_t)m.second] / (s[SPHERE_RADIUS] * s[SPHERE_RADIUS]);
    const double u = o * closeness * exp((o * z - 1) / SOFTNESS);
    near_by += u;
    for (int k = 0; k < 3; ++k) p.rgb[k] += u * s[SPHERE_RED + k];
    p.tracked.push_back(m.second);
  }
  for (double &value : p.rgb) value /= near_by;
  return p;
}

/* Of one pixel: half its squared difference. */
static double loss_of_pixel(const reference *r, int column, int row) {
  const pixel_colour p = draw_pixel(r, column, row);
  const size_t plane = (size_t)(r->width * r->height);
  double loss = 0;
  for (size_t k = 0; k < 3; ++k) {
    const double difference = p.rgb[k] - r->target[k * plane + (size_t)(row * r->width + column)];
    loss += .5 * difference * difference;
  }
  return loss;
}

/* The central difference of the loss by a number of r, and the sum of its magnitudes over pixels.
   The step is short, as the loss jumps where a sphere is the sixth to reach a pixel. */
static void differentiate(reference *r, double *number, double *value, double *magnitude) {
  const double step = 1e-8, kept = *number;
  *value = *magnitude = 0;
  for (int row = 0; row < r->height; ++row)
    for (int column = 0; column < r->width; ++column) {
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        *number = kept + (side ? step : -step);
        loss[side] = loss_of_pixel(r, column, row);
      }
      *value += (loss[1] - loss[0]) / (2 * step);
      *magnitude += fabs(loss[1] - loss[0]) / (2 * step);
    }
  *number = kept;
}

/* ---- the renderer under test ---------------------------------------------------------------- */

typedef struct fixture {
  scene s;
  renderer r;
  std::vector<float> rows; /* disturbed, of many colours */
  reference serial;
  float *target; /* on the device */
  char what[96];
} fixture;

static void fixture_begin(fixture *f, int spheres, int width, int height, int seed) {
  snprintf(f->what, sizeof f->what, "%d spheres, %d x %d, seed %d", spheres, width, height, seed);
  f->s = scene_make(spheres, 3, width, height, seed);
  f->rows = f->s.first;
  for (int i = 0; i < spheres; ++i)
    for (int k = SPHERE_RED; k <= SPHERE_OPACITY; ++k)
      f->rows[(size_t)(i * SPHERE_FLOATS + k)] =
          .3f + .6f * hashed_random(7u + (unsigned)seed, (unsigned)(i * SPHERE_FLOATS + k));
  renderer_begin(&f->r, spheres, width, height);
  renderer_set(&f->r, f->rows.data());
  reference *r = &f->serial;
  r->spheres = spheres;
  r->width = width;
  r->height = height;
  r->rows.assign(f->rows.begin(), f->rows.end());
  const float *view = (const float *)&f->s.cameras[(size_t)seed % 4];
  r->view.assign(view, view + CAMERA_FLOATS);
  std::vector<float> target(picture_floats(&f->r));
  for (size_t i = 0; i < target.size(); ++i) target[i] = hashed_random(11u + (unsigned)seed, i);
  r->target.assign(target.begin(), target.end());
  f->target = take_copy(&f->r.arrays, target, "a picture");
  renderer_draw(&f->r, &f->s.cameras[(size_t)seed % 4]);
}

static void fixture_end(fixture *f) { renderer_end(&f->r); }

static std::vector<float> add_up(fixture *f, int way, int threshold, int layout) {
  renderer_clear_sums(&f->r);
  renderer_gradient(&f->r, f->target, way, threshold, layout, nullptr);
  return device_read<float>(f->r.p.sums, ((size_t)f->r.p.spheres + 1) * ROW_FLOATS);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Every pixel: its colour, and which spheres it tracks, in order. Returns pixels a sphere. */
static std::vector<unsigned> check_picture(const fixture *f) {
  const reference *r = &f->serial;
  const size_t plane = (size_t)(r->width * r->height);
  const std::vector<float> colour = device_read<float>(f->r.p.colour, 3 * plane);
  const std::vector<int> tracked = device_read<int>(f->r.p.tracked, TRACKED * plane);
  std::vector<unsigned> seen((size_t)r->spheres);
  for (size_t i = 0; i < plane; ++i) {
    const pixel_colour p = draw_pixel(r, (int)i % r->width, (int)i / r->width);
    for (size_t k = 0; k < 3; ++k)
      CHECK(fabs(colour[k * plane + i] - p.rgb[k]) < 2e-4,
            "%s: pixel %zu, colour %zu: %.8g, not %.8g", f->what, i, k, colour[k * plane + i],
            p.rgb[k]);
    for (size_t k = 0; k < TRACKED; ++k) {
      const int wanted = k < p.tracked.size() ? p.tracked[k] : -1;
      CHECK(tracked[k * plane + i] == wanted, "%s: pixel %zu tracks %d as %zu, not %d", f->what, i,
            tracked[k * plane + i], k, wanted);
      if (wanted >= 0) seen[(size_t)wanted] += 1;
    }
  }
  return seen;
}

static void check_number(const fixture *f, int row, int k, double got, double value,
                         double magnitude) {
  const double room = 1e-3 * magnitude + 1e-5;
  CHECK(fabs(got - value) <= room, "%s: row %d, number %d: %.8g, not %.8g +- %.2g", f->what, row, k,
        got, value, room);
}

/* Every number of every sphere, and the camera's. */
static void check_gradient(fixture *f) {
  const std::vector<float> by_sphere = add_up(f, WAY_PLAIN, 0, CAMERA_BY_SPHERE);
  const std::vector<float> with_row = add_up(f, WAY_AUTO, ARC_THRESHOLD_AUTO, CAMERA_ROW);
  const size_t n = (size_t)f->r.p.spheres;
  int telling[SPHERE_FLOATS] = {};
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < SPHERE_FLOATS; ++k) {
      double value, magnitude;
      differentiate(&f->serial, &f->serial.rows[i * SPHERE_FLOATS + k], &value, &magnitude);
      check_number(f, (int)i, (int)k, by_sphere[i * ROW_FLOATS + k], value, magnitude);
      check_number(f, (int)i, (int)k, with_row[i * ROW_FLOATS + k], value, magnitude);
      telling[k] += fabs(value) > 1e-2 * magnitude && magnitude > 1e-2;
    }
  for (int k = 0; k < SPHERE_FLOATS; ++k)
    CHECK(2 * telling[k] >= (int)n, "%s: number %d tells in %d spheres only", f->what, k,
          telling[k]);
  for (size_t k = 0; k < CAMERA_FLOATS; ++k) {
    double value, magnitude, parts = 0;
    differentiate(&f->serial, &f->serial.view[k], &value, &magnitude);
    for (size_t i = 0; i < n; ++i) parts += by_sphere[i * ROW_FLOATS + SPHERE_FLOATS + k];
    check_number(f, (int)n, (int)k, parts, value, magnitude);
    check_number(f, (int)n, (int)k, with_row[n * ROW_FLOATS + SPHERE_FLOATS + k], value, magnitude);
  }
}

/* Every way against plain, within rounding; counts exactly. */
static void check_ways(fixture *f, const std::vector<unsigned> *seen) {
  const int thresholds[] = {0, 8, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};
  const size_t n = (size_t)f->r.p.spheres;
  for (int layout = 0; layout < CAMERA_LAYOUTS; ++layout) {
    const std::vector<float> wanted = add_up(f, WAY_PLAIN, 0, layout);
    for (int way = 0; way < ALL_WAYS; ++way)
      for (int threshold : thresholds) {
        if (!way_runs_here(way)) continue;
        if (threshold != 0 && way < WAYS && !way_has_threshold(way)) continue;
        const std::vector<float> got = add_up(f, way, threshold, layout);
        for (size_t i = 0; i < got.size(); ++i) {
          float most = 0; /* of the same number: of one that is nearly 0 little can be said */
          for (size_t row = 0; row <= n; ++row)
            most = std::max(most, fabsf(wanted[row * ROW_FLOATS + i % ROW_FLOATS]));
          CHECK(fabsf(got[i] - wanted[i]) <= 2e-5f * most,
                "%s, layout %d, way %d, threshold %d: row %zu, number %zu: %.8g, not %.8g", f->what,
                layout, way, threshold, i / ROW_FLOATS, i % ROW_FLOATS, got[i], wanted[i]);
        }
        CHECK(device_read<unsigned>(f->r.p.seen, n) == *seen,
              "%s, layout %d, way %d, threshold %d: counts", f->what, layout, way, threshold);
      }
  }
}

static void test_one(int spheres, int width, int height, int seed) {
  fixture f;
  fixture_begin(&f, spheres, width, height, seed);
  const std::vector<unsigned> seen = check_picture(&f);
  check_gradient(&f);
  check_ways(&f, &seen);
  fixture_end(&f);
}

/* Spheres that are not drawn: behind the eye, around it, too close, across its plane, too far. And
   pixels that track nothing. */
static void test_edges(void) {
  enum { HIDDEN = 5 };
  static const float at[HIDDEN] = {2, 1, .85f, .5f, -1.2f}, radius[HIDDEN] = {.4f, .4f, .3f, 2, 1};
  static const float aside[HIDDEN] = {0, 0, 0, 1.9f, 0}; /* the eye is outside, too */
  fixture f;
  fixture_begin(&f, HIDDEN + 1, 33, 7, 2);
  for (size_t i = 0; i < HIDDEN; ++i) {
    float *row = &f.rows[i * SPHERE_FLOATS];
    for (int k = 0; k < 3; ++k)
      row[k] = at[i] * f.s.cameras[2].eye[k] + aside[i] * 7 * f.s.cameras[2].right[k];
    row[SPHERE_RADIUS] = radius[i];
  }
  f.serial.rows.assign(f.rows.begin(), f.rows.end());
  renderer_set(&f.r, f.rows.data());
  renderer_draw(&f.r, &f.s.cameras[2]);
  const std::vector<unsigned> seen = check_picture(&f);
  for (size_t i = 0; i <= HIDDEN; ++i)
    CHECK((seen[i] == 0) == (i < HIDDEN), "%s: sphere %zu, %u pixels", f.what, i, seen[i]);
  check_ways(&f, &seen);
  fixture_end(&f);
}

/* Spheres that are small beside a tile, and spheres that no pixel tracks any more stay. */
static void test_small_spheres(int spheres, int width, int height, int seed) {
  fixture f;
  const size_t floats = (size_t)spheres * SPHERE_FLOATS;
  fixture_begin(&f, spheres, width, height, seed);
  check_picture(&f);
  add_up(&f, WAY_AUTO, ARC_THRESHOLD_AUTO, CAMERA_BY_SPHERE);
  renderer_step(&f.r, 0, f.s.radius);
  const std::vector<float> before = device_read<float>(f.r.p.rows, floats);
  CHECK(before != f.rows, "%s: nothing moved", f.what);
  renderer_clear_sums(&f.r);
  renderer_step(&f.r, 1, f.s.radius);
  CHECK(device_read<float>(f.r.p.rows, floats) == before, "%s: unseen spheres moved", f.what);
  fixture_end(&f);
}

static double learn(fixture *f, int way, int steps) {
  const size_t floats = picture_floats(&f->r);
  double square = 0;
  renderer_set(&f->r, f->s.rows.data());
  renderer_draw(&f->r, &f->s.cameras[0]);
  device_check(
      cudaMemcpy(f->target, f->r.p.colour, floats * sizeof(float), cudaMemcpyDeviceToDevice),
      "a picture");
  renderer_set(&f->r, f->s.first.data());
  for (int i = 0; i <= steps; ++i) {
    renderer_draw(&f->r, &f->s.cameras[0]);
    if (i == steps) break;
    renderer_clear_sums(&f->r);
    renderer_gradient(&f->r, f->target, way, ARC_THRESHOLD_AUTO, CAMERA_BY_SPHERE, nullptr);
    renderer_step(&f->r, i, f->s.radius);
  }
  const std::vector<float> drawn = device_read<float>(f->r.p.colour, floats);
  const std::vector<float> target = device_read<float>(f->target, floats);
  for (size_t i = 0; i < floats; ++i)
    square += ((double)drawn[i] - target[i]) * ((double)drawn[i] - target[i]);
  return square;
}

static void test_learning(void) {
  fixture f;
  fixture_begin(&f, 60, 40, 32, 3);
  const double before = learn(&f, WAY_AUTO, 0), after = learn(&f, WAY_AUTO, 25);
  CHECK(after < .3 * before, "the squared difference went from %g to %g only", before, after);
  fixture_end(&f);
}

int main(void) {
  if (!test_has_device("test_spheres")) return TEST_SKIPPED;
  test_one(24, 29, 19, 1);
  test_one(12, 16, 16, 5);
  test_one(1, 5, 3, 6);
  test_edges();
  test_small_spheres(1000, 83, 70, 4);
  test_learning();
  return test_end("test_spheres");
}
