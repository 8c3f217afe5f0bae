/* arc example fit_image: gradients by both paths against finite differences in double precision;
   the picture; tile lists; Adam; the loss falls. SPDX-License-Identifier: Apache-2.0 */
#define main fit_image_main
#include "fit_image.cu"
#undef main

#include "../../bench/common/test_device.h"

/* Single precision, sums of up to a few hundred terms: relative to the sum of magnitudes. */
static const double TOLERANCE = 2e-5;

typedef struct scene {
  int width, height, count;
  std::vector<double> gaussian; /* 8 each */
  std::vector<double> wanted;   /* the picture, 3 per pixel */
} scene;

static scene scene_make(int width, int height, int count, double largest_scale,
                        unsigned long long seed) {
  scene s = {width, height, count, {}, {}};
  for (int i = 0; i < count; ++i) {
    double g[GAUSSIAN_WIDTH];
    g[MEAN_X] = (1.2 * test_random(&seed) - 0.1) * width; /* some centres lie outside */
    g[MEAN_Y] = (1.2 * test_random(&seed) - 0.1) * height;
    for (int k = LOG_SCALE_U; k <= LOG_SCALE_V; ++k)
      g[k] = log(0.8 + (largest_scale - 0.8) * test_random(&seed));
    g[ANGLE] = 6.0 * test_random(&seed) - 3.0;
    for (int k = RED; k <= BLUE; ++k) g[k] = 1.5 * test_random(&seed) - 0.5;
    for (double x : g) s.gaussian.push_back((float)x); /* what the device can hold */
  }
  for (int i = 0; i < 3 * width * height; ++i) s.wanted.push_back((float)test_random(&seed));
  return s;
}

static void set_parameters(fit *f, const scene *s) {
  const std::vector<float> numbers(s->gaussian.begin(), s->gaussian.end());
  host_to_device(f->b.parameters, numbers.data(), numbers.size() * sizeof(float), "a scene");
}

/* A fit of the scene's picture that begins with the scene's Gaussians. */
static void begin_scene(fit *f, const scene *s) {
  const image picture = {s->width, s->height, {s->wanted.begin(), s->wanted.end()}};
  *f = fit();
  fit_begin(f, &picture, s->count, 1);
  set_parameters(f, s);
}

/* ---- gradients ------------------------------------------------------------------------------ */

static double distance_of(const double *g, double x, double y) {
  const double dx = x - g[MEAN_X], dy = y - g[MEAN_Y], c = cos(g[ANGLE]), s = sin(g[ANGLE]);
  const double u = (c * dx + s * dy) / exp(g[LOG_SCALE_U]);
  const double v = (c * dy - s * dx) / exp(g[LOG_SCALE_V]);
  return u * u + v * v;
}

/* The loss of each pixel; hits: how many pairs of Gaussian and pixel touch. */
static std::vector<double> losses_of(const scene *s, int *hits) {
  std::vector<double> losses;
  *hits = 0;
  for (int pixel = 0; pixel < s->width * s->height; ++pixel) {
    double sum[3] = {0.0, 0.0, 0.0}, loss = 0.0;
    for (int i = 0; i < s->count; ++i) {
      const double *g = &s->gaussian[(size_t)GAUSSIAN_WIDTH * i];
      const double distance = distance_of(g, pixel % s->width + 0.5, pixel / s->width + 0.5);
      if (!(distance < (double)HIT_LIMIT)) continue;
      *hits += 1;
      for (int k = 0; k < 3; ++k) sum[k] += exp(-0.5 * distance) * g[RED + k];
    }
    for (int k = 0; k < 3; ++k) loss += pow(sum[k] - s->wanted[3 * (size_t)pixel + k], 2.0);
    losses.push_back(loss);
  }
  return losses;
}

/* Central difference of the loss by a parameter, and the sum of its magnitudes over the pixels,
   which is what rounding errors scale with. False where a pixel enters or leaves a Gaussian. */
static bool difference(scene *s, int parameter, double *derivative, double *magnitude) {
  const double step = 1e-6, kept = s->gaussian[parameter];
  int hits_above, hits_below;
  s->gaussian[parameter] = kept + step;
  const std::vector<double> above = losses_of(s, &hits_above);
  s->gaussian[parameter] = kept - step;
  const std::vector<double> below = losses_of(s, &hits_below);
  s->gaussian[parameter] = kept;
  *derivative = *magnitude = 0.0;
  for (size_t p = 0; p < above.size(); ++p) {
    *derivative += (above[p] - below[p]) / (2.0 * step);
    *magnitude += fabs(above[p] - below[p]) / (2.0 * step);
  }
  return hits_above == hits_below;
}

/* What is read back is the sum of the Gaussians, and its loss. */
static void check_picture(const fit *f, const scene *s) {
  int hits;
  double wanted = 0.0;
  image got = {s->width, s->height, {s->wanted.begin(), s->wanted.end()}};
  for (double loss : losses_of(s, &hits)) wanted += loss;
  const double loss = fit_read(f, &got);
  CHECK(fabs(loss - wanted) < TOLERANCE * wanted, "the loss is %.9g, not %.9g", loss, wanted);
  for (int i = 0; i < 3 * s->width * s->height; ++i) {
    const int x = i / 3 % s->width, y = i / 3 / s->width;
    double sum = 0.0;
    for (const double *g = s->gaussian.data(); g < &s->gaussian.back(); g += GAUSSIAN_WIDTH) {
      const double distance = distance_of(g, x + 0.5, y + 0.5);
      if (distance < (double)HIT_LIMIT) sum += exp(-0.5 * distance) * g[RED + i % 3];
    }
    CHECK(fabs(got.rgb[i] - sum) < 1e-4, "number %d of the picture is %.7g, not %.7g", i,
          got.rgb[i], sum);
  }
}

/* Every `stride`-th parameter, by both paths; the picture. No two derivatives may be about the
   same, so that no swap goes unseen. */
static void test_gradients(int width, int height, int count, double largest_scale, int stride,
                           unsigned long long seed) {
  scene s = scene_make(width, height, count, largest_scale, seed);
  std::vector<double> derivative, magnitude;
  fit f = fit();
  begin_scene(&f, &s);
  for (int i = 0; i < count * GAUSSIAN_WIDTH; i += stride) {
    double d, m;
    CHECK(difference(&s, i, &d, &m), "parameter %d: choose another seed", i);
    for (size_t j = 0; j < derivative.size() && stride == 1; ++j)
      CHECK(fabs(d - derivative[j]) > TOLERANCE * (m + magnitude[j]), "%d is as %zu", i, j);
    derivative.push_back(d), magnitude.push_back(m);
  }
  for (bool with_arc : {false, true}) {
    fit_forward(&f);
    fit_backward(&f, with_arc);
    const std::vector<float> got = device_read<float>(f.b.gradients, s.gaussian.size());
    for (size_t j = 0; j < derivative.size(); ++j)
      CHECK(fabs(got[j * stride] - derivative[j]) <= TOLERANCE * magnitude[j] + 1e-6,
            "arc %d: parameter %zu is %.9g, not %.9g", with_arc, j * stride, got[j * stride],
            derivative[j]);
  }
  check_picture(&f, &s);
  fit_end(&f);
}

/* ---- tile lists ----------------------------------------------------------------------------- */

/* Whether a Gaussian's box, grown by `margin` pixels, overlaps a tile. */
static bool overlaps(const double *g, double margin, int tile_x, int tile_y) {
  const double c = cos(g[ANGLE]), s = sin(g[ANGLE]);
  const double p = exp(2.0 * g[LOG_SCALE_U]), q = exp(2.0 * g[LOG_SCALE_V]);
  const double half_x = sqrt((double)HIT_LIMIT * (p * c * c + q * s * s)) + margin;
  const double half_y = sqrt((double)HIT_LIMIT * (p * s * s + q * c * c)) + margin;
  const double x = g[MEAN_X] - TILE_SIDE * tile_x, y = g[MEAN_Y] - TILE_SIDE * tile_y;
  return x + half_x >= 0.0 && x - half_x < TILE_SIDE && y + half_y >= 0.0 && y - half_y < TILE_SIDE;
}

/* Every Gaussian stands once in each tile that its box surely overlaps, and nowhere far off. */
static void check_lists(const fit *f, const scene *s) {
  const int total = f->begin.back();
  CHECK(f->begin[0] == 0 && total <= f->b.capacity, "%d keys in room for %d", total, f->b.capacity);
  std::vector<int> keys(total + 1), seen(s->count);
  device_to_host(keys.data(), f->b.keys, (size_t)total * sizeof(int), "keys");
  for (int t = 0; t < f->tiles; ++t) {
    const int tile_x = t % f->b.tiles_x, tile_y = t / f->b.tiles_x;
    for (int &times : seen) times = 0;
    for (int k = f->begin[t]; k < f->begin[t + 1]; ++k) {
      const bool legal = keys[k] >= 0 && keys[k] < s->count;
      CHECK(legal, "tile %d holds key %d", t, keys[k]);
      if (legal) seen[keys[k]] += 1;
    }
    for (int i = 0; i < s->count; ++i) {
      const double *g = &s->gaussian[(size_t)GAUSSIAN_WIDTH * i];
      CHECK(seen[i] <= 1, "tile %d holds Gaussian %d %d times", t, i, seen[i]);
      CHECK(seen[i] == 1 || !overlaps(g, -0.01, tile_x, tile_y), "tile %d lacks Gaussian %d", t, i);
      CHECK(seen[i] == 0 || overlaps(g, 0.01, tile_x, tile_y), "tile %d needs no %d", t, i);
    }
  }
}

/* Lists of small Gaussians, then of wide ones: they grow, and nothing is lost. */
static void test_lists(void) {
  const scene small = scene_make(90, 60, 50, 2.0, 12), wide = scene_make(90, 60, 50, 30.0, 12);
  fit f = fit();
  begin_scene(&f, &small);
  for (const scene *s : {&small, &small, &wide}) {
    const int capacity = f.b.capacity;
    set_parameters(&f, s);
    fit_lists(&f);
    check_lists(&f, s);
    CHECK(s != &wide || f.b.capacity > capacity, "room for %d keys, as before", capacity);
  }
  /* A capacity that is wrong: list_splats stays inside it. */
  const int room = 10;
  std::vector<int> keys(f.b.capacity);
  device_check(cudaMemset(f.b.keys, 0x5a, keys.size() * sizeof(int)), "canaries");
  host_to_device(f.b.cursors, f.begin.data(), f.tiles * sizeof(int), "cursors");
  f.b.capacity = room;
  SIMT_LAUNCH(list_splats, line_blocks(f.b.gaussians), LINE_THREADS, 0, 0, f.b);
  device_to_host(keys.data(), f.b.keys, keys.size() * sizeof(int), "canaries");
  for (size_t i = room; i < keys.size(); ++i)
    CHECK(keys[i] == 0x5a5a5a5a, "position %zu of %d was written", i, room);
  fit_end(&f);
}

/* Not a number, infinite, far away: no tile, and above all no fault. */
static void test_wild_parameters(void) {
  static const double wild[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30};
  scene s = scene_make(40, 40, 5, 3.0, 14);
  fit f = fit();
  for (int i = 0; i < 5; ++i) s.gaussian[(size_t)GAUSSIAN_WIDTH * i + MEAN_X] = wild[i];
  begin_scene(&f, &s);
  fit_forward(&f);
  CHECK(f.begin.back() == 0, "%d tiles are touched by Gaussians that are nowhere", f.begin.back());
  image picture = {40, 40, {s.wanted.begin(), s.wanted.end()}};
  CHECK(isfinite(fit_read(&f, &picture)), "the loss is not finite");
  fit_end(&f);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Adam against the published formulas in double precision, each parameter at its own rate; scales
   stay in their bounds. */
static void test_adam(void) {
  enum { COUNT = 40, STEPS = 5 };
  static const double rates[GAUSSIAN_WIDTH] = {0.3, 0.3, 0.5, 0.5, 0.2, 0.1, 0.1, 0.1};
  static const float given[4] = {0.6f, 1.0f, 0.4f, 0.2f}; /* twice that, at half their length */
  const scene s = scene_make(40, 24, COUNT, 9.0, 3);
  std::vector<double> wanted = s.gaussian, first(wanted.size()), second(wanted.size());
  unsigned long long seed = 21;
  fit f = fit();
  begin_scene(&f, &s);
  for (int step = 1; step <= STEPS; ++step) {
    std::vector<float> gradients;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double g = (float)(20.0 * test_random(&seed) - 10.0);
      gradients.push_back((float)g);
      first[i] = 0.9 * first[i] + 0.1 * g;
      second[i] = 0.999 * second[i] + 0.001 * g * g;
      const int k = (int)(i % GAUSSIAN_WIDTH);
      wanted[i] -= rates[k] * (first[i] / (1.0 - pow(0.9, step))) /
                   (sqrt(second[i] / (1.0 - pow(0.999, step))) + 1e-8);
      if (k == LOG_SCALE_U || k == LOG_SCALE_V)
        wanted[i] = fmin(fmax(wanted[i], log((double)SMALLEST_SCALE)), log(40.0));
    }
    host_to_device(f.b.gradients, gradients.data(), gradients.size() * sizeof(float), "gradients");
    fit_update(&f, step, given, 0.5f);
  }
  const std::vector<float> got = device_read<float>(f.b.parameters, s.gaussian.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(fabs(got[i] - wanted[i]) < 1e-4, "parameter %zu is %.7g, not %.7g", i, got[i], wanted[i]);
  fit_end(&f);
}

/* 25 steps bring the loss below a quarter, by either path. */
static void test_descent(bool with_arc) {
  const image picture = built_in_picture(45, 37);
  double losses[2];
  fit f = fit();
  fit_begin(&f, &picture, 90, 1);
  for (int step = 0; step <= 25; ++step) {
    image drawn = picture;
    if (step > 0) fit_backward(&f, with_arc), fit_update(&f, step, rates, powf(0.1f, step / 25.0f));
    fit_forward(&f);
    losses[step > 0] = fit_read(&f, &drawn);
  }
  CHECK(losses[1] < 0.25 * losses[0], "loss %g at first, %g after 25 steps", losses[0], losses[1]);
  fit_end(&f);
}

int main(void) {
  if (!test_has_device("test_fit_image")) return TEST_SKIPPED;
  test_gradients(40, 24, 6, 7.0, 1, 3);     /* 3 x 2 tiles, the outer ones cut by the edge */
  test_gradients(27, 19, 700, 2.5, 311, 5); /* lists longer than a batch of 256 */
  test_lists();
  test_wild_parameters();
  test_adam();
  test_descent(false);
  test_descent(true);
  return test_end("test_fit_image");
}
