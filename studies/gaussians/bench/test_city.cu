/* The synthetic city: every Gaussian has the shape and opacity of a trained one and lies where
   streets, houses or trees are, and along them; the same in every run, as dense at any size.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <functional>

#include "simt/simt.cuh"

#include "../../../bench/common/random.h"
#include "../../common/test_files.h"
#include "city.h"

enum { KINDS = 5, COUNT = 60000, VIEWS = 6 };

static gaussians_host make_like(void) {
  gaussians_host like;
  CHECK(gaussians_allocate(&like, KINDS, 2, &error), "no memory");
  for (int i = 0; i < KINDS; ++i) {
    like.opacity[i] = (float)(i - 2);
    like.rotation[4 * i] = 1.0f;
    for (int k = 0; k < 3; ++k) like.scale[3 * i + k] = -4.0f + 0.1f * (float)(i * ((k + i) % 3));
    for (int k = 0; k < 27; ++k) like.sh[48 * i + k] = (float)(100 * i + k);
  }
  return like;
}

static bool make(gaussians_host *g, scene *s, const gaussians_host *like, int count,
                 unsigned seed) {
  bool made = make_city(g, s, like, count, VIEWS, seed, &error);
  CHECK(made, "%s", error.text);
  return made;
}

/* Axis z, turned. */
static void thin_axis(const float *q, double *axis) {
  double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  axis[0] = 2.0 * (q[1] * q[3] + q[0] * q[2]) / n;
  axis[1] = 2.0 * (q[2] * q[3] - q[0] * q[1]) / n;
  axis[2] = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]) / n;
}

/* Of one of the trained Gaussians, told by the opacity: all differ in it. Each comes as often. */
static void check_likeness(const gaussians_host *g, const gaussians_host *like) {
  int found[KINDS] = {0};
  for (int i = 0; i < g->count; ++i) {
    int kind = (int)g->opacity[i] + 2;
    float wanted[3], got[3];
    memcpy(wanted, &like->scale[3 * kind], sizeof wanted);
    memcpy(got, &g->scale[3 * i], sizeof got);
    std::sort(wanted, wanted + 3, std::greater<float>());
    CHECK(got[0] >= got[1] && got[1] >= got[2], "Gaussian %d: the thinnest axis is not the last",
          i);
    CHECK(fabsf(got[0] - got[1] - wanted[0] + wanted[1]) < 1e-5f &&
              fabsf(got[1] - got[2] - wanted[1] + wanted[2]) < 1e-5f,
          "Gaussian %d: shape %g %g %g of kind %d", i, got[0], got[1], got[2], kind);
    CHECK(memcmp(&g->sh[48 * i + 3], &like->sh[48 * kind + 3], 45 * sizeof(float)) == 0 &&
              fabsf(g->sh[48 * i]) < 2.5f,
          "Gaussian %d: harmonics", i);
    found[kind] += 1;
  }
  for (int k = 0; k < KINDS; ++k)
    CHECK(abs(found[k] - COUNT / KINDS) < 600, "%d of kind %d", found[k], k);
}

/* Flat on the ground and on roofs, upright on facades. */
static void check_places(const gaussians_host *g, double side) {
  int flat = 0, upright = 0;
  for (int i = 0; i < g->count; ++i) {
    const float *p = &g->position[3 * i];
    double axis[3], x = fmod(p[0] + side / 2, 100.0) - 50.0,
                    y = fmod(p[1] + side / 2, 100.0) - 50.0;
    thin_axis(&g->rotation[4 * i], axis);
    CHECK(fabs(p[0]) < side / 2 + 4.0 && fabs(p[1]) < side / 2 + 4.0 && p[2] > -0.1 && p[2] < 70.0,
          "Gaussian %d at %g %g %g", i, p[0], p[1], p[2]);
    if (p[2] == 0.0f) {
      flat += 1;
      CHECK(axis[2] > 0.999, "Gaussian %d of the ground", i);
    } else if (p[2] > 8.5 && axis[2] < 0.5 && fabs(fmax(fabs(x), fabs(y)) - 40.0) < 1e-3) {
      double out = fabs(x) > fabs(y) ? axis[0] * x : axis[1] * y;
      upright += 1;
      CHECK(out > 39.9, "Gaussian %d of a facade", i);
    }
  }
  CHECK(abs(flat - 3 * COUNT / 10) < 1000 && upright > COUNT / 10,
        "%d on the ground, %d on facades", flat, upright);
}

static void check_views(const scene *s, double side) {
  CHECK(s->views.size() == VIEWS, "%zu views", s->views.size());
  for (int i = 0; i < (int)s->views.size(); ++i) {
    const camera *c = &s->views[i].camera;
    const float *m = c->world_to_camera[0];
    double street = fmod(c->position[1] + side, 100.0), depth = c->world_to_camera[2][3];
    CHECK(m[2] == 0.0f && c->world_to_camera[1][2] < -0.5f, "view %d is not level", i);
    if (i % 2 == 0)
      CHECK(fabs(m[3]) < 1e-3 && fabs(c->world_to_camera[1][3]) < 1e-3 && depth > side / 2,
            "view %d does not look at the middle", i);
    else
      CHECK(c->position[2] == 2.0f && fmin(street, 100.0 - street) < 5.0 + 50.0 * (side < 150.0),
            "view %d stands at %g", i, c->position[1]);
  }
}

/* What is written is read as the same model and cameras. */
static void check_files(const gaussians_host *g, const scene *s) {
  gaussians_host read;
  scene cameras;
  scene_options input = {test_folder, 0, 0, true};
  test_folder_make();
  bool done = write_city(g, s, test_folder, &error) &&
              ply_read(&read, test_path("model.ply"), &error) &&
              scene_read(&cameras, &input, &error);
  test_folder_remove();
  CHECK(done && cameras.views.size() == VIEWS, "%s", error.text);
  if (!done) return;
  CHECK(read.position == g->position && read.sh == g->sh && read.scale == g->scale &&
            read.rotation == g->rotation && read.opacity == g->opacity,
        "another model is read");
  for (int i = 0; i < VIEWS; ++i) {
    const view *got = &cameras.views[i], *wanted = &s->views[i];
    CHECK(memcmp(&got->camera, &wanted->camera, offsetof(camera, position)) == 0 &&
              strcmp(got->name, wanted->name) == 0,
          "view %d is read as another", i);
  }
}

int main(void) {
  gaussians_host like = make_like(), g, other;
  scene s, other_s;
  if (!make(&g, &s, &like, COUNT, 3)) return test_end("test_city");
  check_likeness(&g, &like);
  check_places(&g, 100.0);
  check_views(&s, 100.0);
  check_files(&g, &s);
  if (make(&other, &other_s, &like, COUNT, 3))
    CHECK(g.position == other.position, "two runs differ");
  if (make(&other, &other_s, &like, COUNT, 4))
    CHECK(g.position != other.position, "one city for all");
  if (make(&other, &other_s, &like, 4 * COUNT, 3)) {
    int inner = 0;
    for (int i = 0; i < other.count; ++i)
      inner += other.position[3 * i] < 0.0f && other.position[3 * i + 1] < 0.0f;
    CHECK(abs(inner - COUNT) < 2000, "%d in a quarter of four blocks", inner);
    check_views(&other_s, 200.0);
  }
  /* All 24 bits of this one are set; as 1, it would choose a Gaussian behind the last. */
  CHECK(hashed_random(1, 13985623) < 1.0f, "a random number is 1");
  return test_end("test_city");
}
