/* arc study radiance: light in rooms whose answer is known, the cache on one of them, its
   gradients, and the same bits in every run. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include <vector>

#include "../../bench/common/test_device.h"
#include "radiance.h"

#include "arc.cuh"

typedef std::vector<float> floats;

static const float PI = 3.14159265f;

/* The mean of red over a picture of the room. */
static double mean_light(const room *r, const cache *c, int samples) {
  camera eye;
  film f;
  camera_make(&eye, 0, 24, 16);
  film_begin(&f, 24, 16, c != nullptr && c->o.tensor);
  for (int i = 0; i < samples; ++i) film_add(&f, c, r, &eye, 1000u + (unsigned)i);
  const floats light = device_read<float>(f.light, 3 * 24 * 16);
  double sum = 0.0;
  for (size_t i = 0; i < light.size(); i += 3) sum += light[i] / samples;
  film_end(&f);
  return sum / (24 * 16);
}

/* Every surface emits 1 and reflects `albedo` diffusely, all shines alike: 1 / (1 - albedo) is seen
   everywhere. */
static void make_furnace(room *r, float albedo, float shine) {
  room_make(r, SETTING_DIRECT);
  std::vector<surface *> skins;
  for (surface &s : r->wall) skins.push_back(&s);
  for (box &b : r->boxes) skins.push_back(&b.skin);
  for (ball &b : r->balls) skins.push_back(&b.skin);
  for (surface *s : skins) *s = {{albedo, albedo, albedo}, shine, 30.0f};
  memset(r->emission, 0, sizeof r->emission);
  r->light_half[0] = 0.0f;
  r->glow = 1.0f;
}

static void test_furnace(void) {
  static const float shines[] = {0.5f, 1.0f};
  for (float shine : shines) {
    room r;
    const double kept = (1.0 - shine) * 0.5 + shine * 0.95, wanted = 1.0 / (1.0 - kept);
    make_furnace(&r, 0.5f, shine);
    const double got = mean_light(&r, nullptr, 60);
    CHECK(fabs(got / wanted - 1.0) < 0.02, "shine %g: %g, not %g", shine, got, wanted);
  }
}

/* The floor of an empty, nearly black room: one reflection of the lamp, summed over the lamp. */
static double light_of_lamp(const room *r, double x, double z) {
  const int steps = 64;
  double sum = 0.0;
  for (int i = 0; i < steps * steps; ++i) {
    const double u = (i % steps + 0.5) / steps * 2.0 - 1.0,
                 v = (i / steps + 0.5) / steps * 2.0 - 1.0;
    const double dx = r->light[0] + u * r->light_half[0] - x;
    const double dz = r->light[2] + v * r->light_half[1] - z, dy = r->light[1];
    const double square = dx * dx + dy * dy + dz * dz;
    sum += dy * dy / (square * square) / (steps * steps);
  }
  return sum * 4.0 * r->light_half[0] * r->light_half[1] * r->emission[0] / PI;
}

/* Straight down, too, where a ray has components of 0. */
static void test_lamp(void) {
  static const float places[2][2] = {{0.55f, 0.3f}, {0.5f, 0.5f}};
  room r;
  film f;
  room_make(&r, SETTING_DIRECT);
  room_move(&r, MOVES_LAMP, 0.1f);
  r.box_count = r.ball_count = 0;
  for (surface &s : r.wall) s = {{0.001f, 0.001f, 0.001f}, 0.0f, 1.0f};
  film_begin(&f, 1, 1, false);
  for (const float *at : places) {
    const float ahead[3] = {at[0] - 0.5f, -0.5f, at[1] - 0.5f};
    camera eye = {};
    eye.eye[0] = eye.eye[1] = eye.eye[2] = 0.5f;
    memcpy(eye.corner, ahead, sizeof ahead); /* one pixel of no size */
    eye.width = eye.height = 1;
    film_clear(&f);
    for (int i = 0; i < 2000; ++i) film_add(&f, nullptr, &r, &eye, (unsigned)i);
    const double got = device_read<float>(f.light, 1)[0] / 2000.0;
    const double wanted = 0.001 * light_of_lamp(&r, at[0], at[1]);
    CHECK(fabs(got / wanted - 1.0) < 0.02, "the lamp on the floor: %g, not %g", got, wanted);
  }
  film_end(&f);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static cache_options make_options(bool reproducible, bool tensor) {
  const cache_options o = {SIMT_ON_CPU ? 64 : 128, 7, tensor, reproducible, 3ull};
  return o;
}

static void learn(cache *c, const room *r, int frames) {
  camera eye;
  camera_make(&eye, 0, 64, 36);
  for (int i = 0; i < frames; ++i) cache_learn(c, r, &eye, (unsigned)i);
}

/* The mean of the red targets of many paths. */
static double mean_target(cache *c, const room *r) {
  const size_t n = (size_t)c->batch[0].samples;
  double sum = 0.0, count = 0.0;
  camera eye;
  camera_make(&eye, 0, 64, 36);
  for (unsigned frame = 1000u; frame < 1016u; ++frame) {
    cache_trace(c, r, &eye, frame);
    const floats targets = device_read<float>(c->targets, 3 * BATCHES * n);
    const floats counts = device_read<float>(c->losses, BATCHES * n);
    for (size_t i = 0; i < counts.size(); ++i) {
      sum += counts[i] * targets[i / n * 3 * n + i % n];
      count += counts[i];
    }
  }
  return sum / count;
}

/* A furnace's surfaces send 2 everywhere, and reflect half of it: the answer is 2. */
static void test_learning(bool tensor) {
  room r;
  cache c;
  const cache_options o = make_options(false, tensor);
  make_furnace(&r, 0.5f, 0.0f);
  cache_begin(&c, &o);
  cache_reset(&c);
  const double before = mean_light(&r, &c, 4);
  learn(&c, &r, SIMT_ON_CPU ? 25 : 40);
  const double after = mean_light(&r, &c, 4);
  CHECK(fabs(before - 2.0) > 0.1 && fabs(after - 2.0) < 0.1, "%s: %g before, %g after",
        tensor ? "halves" : "floats", before, after);
  const double target = mean_target(&c, &r);
  CHECK(fabs(target / 2.0 - 1.0) < 0.08, "targets of %g", target);
  cache_end(&c);
}

/* Gradients of one batch: losses that count, plain and reproducible sums. */
typedef struct gradients {
  floats net, table;
} gradients;

static gradients take_gradients(cache *c) {
  const size_t count = (size_t)parameter_count(64), numbers = (size_t)c->g.rows * FEATURES;
  cache_forward(c, 1);
  cache_add(c, 1, WAY_AUTO, ARC_THRESHOLD_AUTO);
  if (c->o.reproducible) grid_take_wide(&c->g, c->wide_sums, c->table_sums);
  const gradients g = {device_read<float>(c->trained.sums, count),
                       device_read<float>(c->table_sums, numbers)};
  return g;
}

static double distance(const floats &a, const floats &b) {
  double difference = 0.0, whole = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    whole += (double)a[i] * a[i];
  }
  return sqrt(difference / whole);
}

static void test_gradients(bool tensor) {
  room r;
  cache plain, exact;
  camera eye;
  const cache_options o = make_options(false, tensor), e = make_options(true, tensor);
  room_make(&r, SETTING_DIRECT);
  camera_make(&eye, 0, 64, 36);
  cache_begin(&plain, &o);
  cache_begin(&exact, &e);
  cache_reset(&plain);
  cache_reset(&exact);
  cache_trace(&plain, &r, &eye, 0u);
  cache_trace(&exact, &r, &eye, 0u);
  const gradients a = take_gradients(&plain), b = take_gradients(&exact);
  CHECK(distance(a.net, b.net) < 1e-5 && distance(a.table, b.table) < 1e-5,
        "plain and reproducible gradients differ by %g, %g", distance(a.net, b.net),
        distance(a.table, b.table));
  const gradients none = take_gradients(&plain); /* losses were divided once already */
  CHECK(distance(a.net, none.net) > 1e-2, "losses do not count");
  cache_end(&plain);
  cache_end(&exact);
}

/* Two trainings, in another order of warps and lanes. */
static void test_repeats(bool tensor) {
  room r;
  floats first;
  room_make(&r, SETTING_INDIRECT);
  for (int run = 0; run < 2; ++run) {
    cache c;
    const cache_options o = make_options(true, tensor);
#if SIMT_ON_CPU
    simt_seed(7u + (unsigned)run);
#endif
    cache_begin(&c, &o);
    cache_reset(&c);
    learn(&c, &r, 2);
    floats all = device_read<float>(c.table, (size_t)c.g.rows * FEATURES);
    const floats net = device_read<float>(c.trained.parameters, (size_t)parameter_count(64));
    all.insert(all.end(), net.begin(), net.end());
    if (run == 0) first = all;
    CHECK(!memcmp(all.data(), first.data(), all.size() * sizeof(float)),
          "two reproducible trainings differ");
    cache_end(&c);
  }
}

int main(void) {
  if (!test_has_device("test_radiance")) return TEST_SKIPPED;
  test_furnace();
  test_lamp();
  for (int tensor = 0; tensor <= (int)perceptron_has_tensor(); ++tensor) {
    test_learning(tensor != 0);
    test_gradients(tensor != 0);
    test_repeats(tensor != 0);
  }
  return test_end("test_radiance");
}
