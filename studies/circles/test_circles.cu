/* arc study circles: lists, pictures and gradients against serial ones, by every way and size.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../../bench/common/test_device.h"
#include "../common/workload.h"
#include "circles.h"

#include "arc.cuh"

/* A scene to test with, and what a failure prints of it. */
typedef struct tested_scene {
  scene s;
  char what[96];
} tested_scene;

static tested_scene make(int kind, int width, int height, int circles, int seed) {
  tested_scene t;
  t.s = scene_make(kind, width, height, circles, seed);
  snprintf(t.what, sizeof t.what, "%s, %d x %d, %d circles, seed %d", scene_names[kind], width,
           height, circles, seed);
  return t;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static bool reaches(const circle *c, double x0, double y0, double x1, double y1) {
  double dx = fmax(fmax(x0 - c->x, c->x - x1), 0.0), dy = fmax(fmax(y0 - c->y, c->y - y1), 0.0);
  return dx * dx + dy * dy < ((double)c->radius + 0.5) * ((double)c->radius + 0.5);
}

static void test_lists(const tested_scene *t) {
  const int side = BOX_SIDE;
  renderer r;
  renderer_begin(&r, &t->s, nullptr);
  renderer_lists(&r);
  box_lists l = r.levels[LEVEL_FINE];
  std::vector<int> offsets = device_read<int>(l.offsets, (size_t)l.boxes * l.parts + 1);
  std::vector<int> list = device_read<int>(l.list, (size_t)offsets.back());
  for (int box = 0; box < l.boxes; ++box) {
    std::vector<int> wanted;
    double x = box % l.columns * side + 0.5, y = box / l.columns * side + 0.5;
    for (int i = 0; i < r.count; ++i)
      if (reaches(&t->s.circles[(size_t)i], x, y, x + side - 1, y + side - 1)) wanted.push_back(i);
    std::vector<int> found(list.begin() + offsets[(size_t)box * l.parts],
                           list.begin() + offsets[(size_t)(box + 1) * l.parts]);
    CHECK(found == wanted, "%s: box %d: %zu circles, must be %zu, ascending", t->what, box,
          found.size(), wanted.size());
  }
  renderer_end(&r);
}

/* ---- pictures ------------------------------------------------------------------------------- */

static void test_pictures(const tested_scene *t) {
  std::vector<double> wanted = scene_draw_serially(&t->s);
  double worst = 0.0;
  renderer r;
  renderer_begin(&r, &t->s, nullptr);
  renderer_lists(&r);
  renderer_pass(&r, PASS_DRAW, 0, nullptr);
  const std::vector<float> rgb = renderer_read(&r);
  for (size_t i = 0; i < rgb.size(); ++i) worst = fmax(worst, fabs(rgb[i] - wanted[i]));
  CHECK(255.0 * worst <= 0.3, "%s: differs by %g", t->what, worst);
  renderer_end(&r);
}

/* Circles over each other at three places, a batch and more: the last one leaves 1 % to see. */
static void test_order(void) {
  tested_scene t = make(SCENE_3, 19, 9, 900, 1);
  renderer r;
  for (int i = 0; i < 900; ++i)
    t.s.circles[(size_t)i] = {3.5f + (float)(i % 3) * 6.0f, 4.5f, 3.0f, LARGEST_OPACITY,
                              i >= 897 ? 1.0f : 0.0f,       0.5f, 0.0f, 0};
  renderer_begin(&r, &t.s, nullptr);
  renderer_lists(&r);
  renderer_pass(&r, PASS_DRAW, 0, nullptr);
  const std::vector<float> rgb = renderer_read(&r);
  for (size_t at = 3 * (4 * 19 + 3); at < 3 * (5 * 19); at += 18)
    CHECK(fabsf(rgb[at] - 0.9901f) < 1e-5f, "order: float %zu is %.6f, must be 0.9901", at,
          rgb[at]);
  renderer_end(&r);
}

/* ---- gradients ------------------------------------------------------------------------------ */

static double serial_loss(const scene *s, const image *target) {
  std::vector<double> rgb = scene_draw_serially(s);
  double loss = 0.0;
  for (size_t i = 0; i < rgb.size(); ++i)
    loss += (rgb[i] - target->rgb[i]) * (rgb[i] - target->rgb[i]);
  return loss;
}

/* Central differences: a row of CIRCLE_ROW for each of the first `count` circles. */
static std::vector<double> serial_gradients(scene s, const image *target, int count) {
  std::vector<double> sums((size_t)count * CIRCLE_ROW, 0.0);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i % CIRCLE_ROW >= CIRCLE_WIDTH) continue;
    float *parameter = &s.circles[i / CIRCLE_ROW].x + i % CIRCLE_ROW, was = *parameter;
    float above = was + 1.0f / 4096.0f, below = was - 1.0f / 4096.0f;
    *parameter = above;
    double rise = serial_loss(&s, target);
    *parameter = below;
    rise -= serial_loss(&s, target);
    *parameter = was;
    sums[i] = rise / ((double)above - (double)below);
  }
  return sums;
}

static std::vector<float> device_gradients(renderer *r, int way, int threshold) {
  renderer_clear_sums(r);
  renderer_pass(r, way, threshold, nullptr);
  return device_read<float>(r->sums, (size_t)r->count * CIRCLE_ROW);
}

/* accepted: relative to the largest of a parameter's gradients. */
static void check_gradients(const char *what, const char *how, int threshold,
                            const std::vector<float> &sums, const std::vector<double> &wanted,
                            double accepted) {
  double largest[CIRCLE_ROW] = {0};
  for (size_t i = 0; i < wanted.size(); ++i)
    largest[i % CIRCLE_ROW] = fmax(largest[i % CIRCLE_ROW], fabs(wanted[i]));
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(fabs(sums[i] - wanted[i]) <= accepted * largest[i % CIRCLE_ROW],
          "%s, %s, threshold %d: circle %zu, parameter %zu has %.9g, must have %.9g, of at most %g",
          what, how, threshold, i / CIRCLE_ROW, i % CIRCLE_ROW, sums[i], wanted[i],
          largest[i % CIRCLE_ROW]);
}

/* Every way against central differences of the serial loss. */
static void test_gradients(const tested_scene *t, int count, double accepted) {
  const int thresholds[] = {0, 8, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};
  const workload names = {};
  const image target = image_procedural(t->s.width, t->s.height);
  renderer r;
  std::vector<double> wanted = serial_gradients(t->s, &target, count);
  renderer_begin(&r, &t->s, &target);
  renderer_lists(&r);
  renderer_pass(&r, PASS_DRAW, 0, nullptr);
  for (int way = 0; way < WAYS; ++way) {
    if (!way_runs_here(way)) continue;
    for (int threshold : thresholds)
      if (threshold == 0 || way_has_threshold(way))
        check_gradients(t->what, workload_way_name(&names, way), threshold,
                        device_gradients(&r, way, threshold), wanted, accepted);
  }
  renderer_end(&r);
}

/* ---- fitting -------------------------------------------------------------------------------- */

static double mean_square(renderer *r, const image *target) {
  size_t count = (size_t)target->width * target->height * 3;
  double sum = 0.0;
  renderer_lists(r);
  renderer_pass(r, PASS_DRAW, 0, nullptr);
  const std::vector<float> rgb = renderer_read(r);
  for (size_t i = 0; i < count; ++i) sum += pow(rgb[i] - target->rgb[i], 2);
  return sum / (double)count;
}

static void test_fit(void) {
  tested_scene t = make(SCENE_FIT, 49, 35, 60, 4);
  const image target = image_procedural(49, 35);
  renderer r;
  renderer_begin(&r, &t.s, &target);
  double before = mean_square(&r, &target);
  for (int i = 0; i < 20; ++i) {
    renderer_clear_sums(&r);
    renderer_pass(&r, WAY_AUTO, ARC_THRESHOLD_AUTO, nullptr);
    renderer_update(&r, 2.0f);
    mean_square(&r, &target);
  }
  double after = mean_square(&r, &target);
  CHECK(after < 0.25 * before, "%s: 20 steps from %g to %g", t.what, before, after);
  renderer_reset(&r, &t.s);
  CHECK(mean_square(&r, &target) == before, "%s: reset", t.what);
  renderer_end(&r);
}

int main(void) {
  if (!test_has_device("test_circles")) return TEST_SKIPPED;
  const tested_scene one = make(SCENE_10K, 7, 3, 1, 1), odd = make(SCENE_10K, 101, 67, 333, 2),
                     big = make(SCENE_BIGLITTLE, 130, 70, 700, 3);
  for (const tested_scene *scene : {&one, &odd, &big}) {
    test_lists(scene);
    test_pictures(scene);
  }
  test_order();
  const tested_scene few = make(SCENE_3, 45, 37, 5, 5), fit = make(SCENE_FIT, 37, 29, 40, 6),
                     deep = make(SCENE_FIT, 21, 19, 300, 7);
  test_gradients(&few, 5, 2e-4);
  test_gradients(&fit, 40, 2e-4);
  test_gradients(&deep, 40, 1e-3); /* hidden circles are left out */
  test_fit();
  return test_end("test_circles");
}
