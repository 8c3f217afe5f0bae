/* arc example fit_image: gradients of every parameter, by every way to add.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "simt/simt.cuh"

#include "test_scene.cuh"

/* Single precision, sums of up to a few hundred terms: relative to the sum of magnitudes. */
static const double TOLERANCE = 2e-5;

static void check_gradients(fit *f, const scene *s, const double *derivative,
                            const double *magnitude, fit_way way) {
  size_t bytes = sizeof(float) * GAUSSIAN_WIDTH * s->count;
  float *block = (float *)malloc(bytes);
  f->settings.way = way;
  device_check(cudaMemset(f->gradients.means, 0, bytes), "clearing gradients");
  fit_backward(f);
  device_check(cudaMemcpy(block, f->gradients.means, bytes, cudaMemcpyDeviceToHost), "gradients");
  for (int i = 0; i < s->count; ++i) {
    for (int k = 0; k < GAUSSIAN_WIDTH; ++k) {
      double got = *test_parameter(split_gaussians(block, s->count), i, k);
      double wanted = derivative[GAUSSIAN_WIDTH * i + k];
      double room = TOLERANCE * magnitude[GAUSSIAN_WIDTH * i + k] + 1e-7;
      CHECK(fabs(got - wanted) <= room, "%s: parameter %d of Gaussian %d is %.9g, not %.9g +- %.2g",
            fit_way_name(way), k, i, got, wanted, room);
    }
  }
  free(block);
}

static void check_all_ways(const scene *s, const double *derivative, const double *magnitude) {
  fit f;
  test_begin_scene(&f, s);
  fit_build_lists(&f);
  fit_forward(&f);
  for (int way = 0; way < FIT_WAYS; ++way)
    check_gradients(&f, s, derivative, magnitude, (fit_way)way);
  fit_end(&f);
}

/* A swap of two parameters must not go unseen: no two derivatives may be about the same. */
static void check_telling_apart(const double *derivative, const double *magnitude, int count) {
  for (int i = 0; i < count; ++i) {
    CHECK(fabs(derivative[i]) > 100.0 * TOLERANCE * magnitude[i], "derivative %d is about 0", i);
    for (int j = 0; j < i; ++j) {
      double room = TOLERANCE * (magnitude[i] + magnitude[j]);
      CHECK(fabs(derivative[i] - derivative[j]) > room, "derivatives %d and %d are the same", i, j);
    }
  }
}

/* 3 x 2 tiles, the outer ones cut by the picture's edge. */
static void test_finite_differences(void) {
  scene s;
  scene_make(&s, 40, 24, 6, 7.0, 3);
  double derivative[6 * GAUSSIAN_WIDTH], magnitude[6 * GAUSSIAN_WIDTH];
  double formula[6 * GAUSSIAN_WIDTH], formula_magnitude[6 * GAUSSIAN_WIDTH];
  scene_differences(&s, derivative, magnitude);
  check_telling_apart(derivative, magnitude, 6 * GAUSSIAN_WIDTH);
  check_all_ways(&s, derivative, magnitude);

  scene_derivatives(&s, formula, formula_magnitude);
  for (int i = 0; i < 6 * GAUSSIAN_WIDTH; ++i)
    CHECK(fabs(formula[i] - derivative[i]) <= 1e-7 * magnitude[i] + 1e-8,
          "the test's own formula for parameter %d: %.12g, not %.12g", i, formula[i],
          derivative[i]);
  scene_free(&s);
}

/* Lists longer than one batch of 256, on tiles cut on both sides. */
static void test_many_gaussians(void) {
  enum { COUNT = 700 };
  scene s;
  double *derivative = (double *)malloc(sizeof(double) * COUNT * GAUSSIAN_WIDTH);
  double *magnitude = (double *)malloc(sizeof(double) * COUNT * GAUSSIAN_WIDTH);
  scene_make(&s, 27, 19, COUNT, 2.5, 5);
  scene_derivatives(&s, derivative, magnitude);
  check_all_ways(&s, derivative, magnitude);
  scene_free(&s);
  free(derivative);
  free(magnitude);
}

int main(void) {
  if (!test_has_device("test_fit_gradients")) return TEST_SKIPPED;
  test_finite_differences();
  test_many_gaussians();
  return test_end("test_fit_gradients");
}
