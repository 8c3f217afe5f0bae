/* arc example fit_image: random scenes for its tests, and the model once more in double precision.
   SPDX-License-Identifier: Apache-2.0

   Written from the formulas in model.cuh's first comment, not from its code. */
#ifndef FIT_TEST_SCENE_CUH
#define FIT_TEST_SCENE_CUH

#include "fit.h"
#include "../common/test_device.h"

/* Zeros on the device. */
static inline void *test_device_array(size_t bytes, const char *what) {
  void *array = nullptr;
  device_check(cudaMalloc(&array, bytes), what);
  device_check(cudaMemset(array, 0, bytes), what);
  return array;
}

/* Parameters as 8 doubles a Gaussian, in the order of MEAN_X .. BLUE, and the wanted picture. */
typedef struct scene {
  int width, height, count;
  double *gaussian;
  double *wanted; /* 3 a pixel */
} scene;

static inline void scene_make(scene *s, int width, int height, int count, double largest_scale,
                              unsigned long long seed) {
  s->width = width;
  s->height = height;
  s->count = count;
  s->gaussian = (double *)malloc(sizeof(double) * GAUSSIAN_WIDTH * count);
  s->wanted = (double *)malloc(sizeof(double) * 3 * width * height);
  for (int i = 0; i < count; ++i) {
    double *g = s->gaussian + GAUSSIAN_WIDTH * i;
    g[MEAN_X] = (1.2 * test_random(&seed) - 0.1) * width; /* some centres lie outside */
    g[MEAN_Y] = (1.2 * test_random(&seed) - 0.1) * height;
    g[LOG_SCALE_U] = log(0.8 + (largest_scale - 0.8) * test_random(&seed));
    g[LOG_SCALE_V] = log(0.8 + (largest_scale - 0.8) * test_random(&seed));
    g[ANGLE] = 6.0 * test_random(&seed) - 3.0;
    for (int k = 0; k < 3; ++k) g[RED + k] = 1.5 * test_random(&seed) - 0.5;
    for (int k = 0; k < GAUSSIAN_WIDTH; ++k) g[k] = (float)g[k]; /* what the device can hold */
  }
  for (int i = 0; i < 3 * width * height; ++i) s->wanted[i] = (float)test_random(&seed);
}

static inline void scene_free(scene *s) {
  free(s->gaussian);
  free(s->wanted);
}

static inline double scene_distance(const double *g, double x, double y) {
  double dx = x - g[MEAN_X], dy = y - g[MEAN_Y];
  double u = (cos(g[ANGLE]) * dx + sin(g[ANGLE]) * dy) / exp(g[LOG_SCALE_U]);
  double v = (-sin(g[ANGLE]) * dx + cos(g[ANGLE]) * dy) / exp(g[LOG_SCALE_V]);
  return u * u + v * v;
}

/* The loss of each pixel. hits: how many (Gaussian, pixel) pairs touch. nearest: how close any
   pair comes to the limit between touching and not. */
static inline double scene_losses(const scene *s, double *losses, int *hits, double *nearest) {
  double whole = 0.0;
  *hits = 0;
  for (int row = 0; row < s->height; ++row) {
    for (int column = 0; column < s->width; ++column) {
      int pixel = row * s->width + column;
      double sum[3] = {0.0, 0.0, 0.0};
      for (int i = 0; i < s->count; ++i) {
        const double *g = s->gaussian + GAUSSIAN_WIDTH * i;
        double distance = scene_distance(g, column + 0.5, row + 0.5);
        *nearest = fmin(*nearest, fabs(distance - (double)HIT_LIMIT));
        if (!(distance < (double)HIT_LIMIT)) continue;
        *hits += 1;
        for (int k = 0; k < 3; ++k) sum[k] += exp(-0.5 * distance) * g[RED + k];
      }
      losses[pixel] = 0.0;
      for (int k = 0; k < 3; ++k) losses[pixel] += pow(sum[k] - s->wanted[3 * pixel + k], 2.0);
      whole += losses[pixel];
    }
  }
  return whole;
}

/* Central differences of the loss by every parameter, and the sum of their magnitudes over the
   pixels, which is what rounding errors scale with. */
static inline void scene_differences(scene *s, double *derivative, double *magnitude) {
  const double step = 1e-6;
  int pixels = s->width * s->height;
  double *above = (double *)malloc(sizeof(double) * pixels);
  double *below = (double *)malloc(sizeof(double) * pixels);
  double nearest = 1e30;
  for (int i = 0; i < GAUSSIAN_WIDTH * s->count; ++i) {
    int hits_above, hits_below;
    double kept = s->gaussian[i];
    s->gaussian[i] = kept + step;
    scene_losses(s, above, &hits_above, &nearest);
    s->gaussian[i] = kept - step;
    scene_losses(s, below, &hits_below, &nearest);
    s->gaussian[i] = kept;
    derivative[i] = magnitude[i] = 0.0;
    for (int p = 0; p < pixels; ++p) {
      double slope = (above[p] - below[p]) / (2.0 * step);
      derivative[i] += slope;
      magnitude[i] += fabs(slope);
    }
    CHECK(hits_above == hits_below, "parameter %d: choose another seed, a pixel enters or leaves",
          i);
  }
  CHECK(nearest > 1e-4, "a pixel is within %g of the limit: choose another seed", nearest);
  free(above);
  free(below);
}

/* The same derivatives by formula: quick enough for many Gaussians. */
static inline void scene_derivatives(const scene *s, double *derivative, double *magnitude) {
  for (int i = 0; i < GAUSSIAN_WIDTH * s->count; ++i) derivative[i] = magnitude[i] = 0.0;
  for (int row = 0; row < s->height; ++row) {
    for (int column = 0; column < s->width; ++column) {
      double slope[3], x = column + 0.5, y = row + 0.5;
      for (int k = 0; k < 3; ++k) slope[k] = -2.0 * s->wanted[3 * (row * s->width + column) + k];
      for (int i = 0; i < s->count; ++i) {
        const double *g = s->gaussian + GAUSSIAN_WIDTH * i;
        double distance = scene_distance(g, x, y);
        if (!(distance < (double)HIT_LIMIT)) continue;
        for (int k = 0; k < 3; ++k) slope[k] += 2.0 * exp(-0.5 * distance) * g[RED + k];
      }
      for (int i = 0; i < s->count; ++i) {
        const double *g = s->gaussian + GAUSSIAN_WIDTH * i;
        double distance = scene_distance(g, x, y);
        if (!(distance < (double)HIT_LIMIT)) continue;
        double weight = exp(-0.5 * distance), dx = x - g[MEAN_X], dy = y - g[MEAN_Y];
        double c = cos(g[ANGLE]), n = sin(g[ANGLE]);
        double a = c * dx + n * dy, b = -n * dx + c * dy; /* along the axes, in pixels */
        double p = exp(-2.0 * g[LOG_SCALE_U]), q = exp(-2.0 * g[LOG_SCALE_V]);
        double whole = 0.0, d[GAUSSIAN_WIDTH];
        for (int k = 0; k < 3; ++k) whole += slope[k] * g[RED + k] * weight;
        d[MEAN_X] = whole * (p * a * c - q * b * n);
        d[MEAN_Y] = whole * (p * a * n + q * b * c);
        d[LOG_SCALE_U] = whole * p * a * a;
        d[LOG_SCALE_V] = whole * q * b * b;
        d[ANGLE] = whole * (q - p) * a * b;
        for (int k = 0; k < 3; ++k) d[RED + k] = slope[k] * weight;
        for (int k = 0; k < GAUSSIAN_WIDTH; ++k) {
          derivative[GAUSSIAN_WIDTH * i + k] += d[k];
          magnitude[GAUSSIAN_WIDTH * i + k] += fabs(d[k]);
        }
      }
    }
  }
}

static inline fit_settings test_settings(int gaussians, int steps) {
  fit_settings settings = {gaussians, steps, 1, FIT_DEFAULT, {0.4f, 0.06f, 0.06f, 0.01f}};
  return settings;
}

/* Parameter k of Gaussian i in the four arrays that begin with the means. */
static inline float *test_parameter(gaussians g, int i, int k) {
  if (k < LOG_SCALE_U) return &g.means[2 * i + k];
  if (k < ANGLE) return &g.log_scales[2 * i + k - LOG_SCALE_U];
  if (k < RED) return &g.angles[i];
  return &g.colours[3 * i + k - RED];
}

/* Puts a scene in the place of the fit's own first guess. */
static inline void test_begin_scene(fit *f, const scene *s) {
  image picture;
  error_line error;
  fit_settings settings = test_settings(s->count, 1);
  size_t bytes = sizeof(float) * GAUSSIAN_WIDTH * s->count;
  float *block = (float *)malloc(bytes);
  CHECK(image_allocate(&picture, s->width, s->height, &error), "%s", error.text);
  for (int i = 0; i < 3 * s->width * s->height; ++i) picture.rgb[i] = (float)s->wanted[i];
  fit_begin(f, &picture, &settings);
  for (int i = 0; i < s->count; ++i)
    for (int k = 0; k < GAUSSIAN_WIDTH; ++k)
      *test_parameter(split_gaussians(block, s->count), i, k) =
          (float)s->gaussian[GAUSSIAN_WIDTH * i + k];
  device_check(cudaMemcpy(f->parameters.means, block, bytes, cudaMemcpyHostToDevice), "scene");
  free(block);
  image_free(&picture);
}

#endif
