/* arc example fit_image: Adam, and the loss falls whatever the path.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "simt/simt.cuh"

#include "test_scene.cuh"

/* Adam against the published formulas in double precision, over a few steps. */
static void test_adam(void) {
  enum { COUNT = 300, STEPS = 5 };
  static const size_t bytes = sizeof(float) * COUNT;
  float parameters[COUNT], gradients[COUNT];
  double wanted[COUNT], first[COUNT], second[COUNT];
  unsigned long long seed = 21;
  float *device[4];
  for (int a = 0; a < 4; ++a) device[a] = (float *)test_device_array(bytes, "adam");
  for (int i = 0; i < COUNT; ++i) {
    wanted[i] = parameters[i] = (float)(2.0 * test_random(&seed) - 1.0);
    first[i] = second[i] = 0.0;
  }
  device_check(cudaMemcpy(device[0], parameters, bytes, cudaMemcpyHostToDevice), "adam");
  for (int step = 1; step <= STEPS; ++step) {
    for (int i = 0; i < COUNT; ++i) gradients[i] = (float)(20.0 * test_random(&seed) - 10.0);
    device_check(cudaMemcpy(device[1], gradients, bytes, cudaMemcpyHostToDevice), "adam");
    adam_step settings = {0.3f, -1.1f, 1.2f, adam_decay_at(0.9, 0.999, 1, step)};
    fit_adam(device[0], device[1], device[2], device[3], COUNT, settings);
    for (int i = 0; i < COUNT; ++i) {
      first[i] = 0.9 * first[i] + 0.1 * gradients[i];
      second[i] = 0.999 * second[i] + 0.001 * gradients[i] * gradients[i];
      wanted[i] -= 0.3 * (first[i] / (1.0 - pow(0.9, step))) /
                   (sqrt(second[i] / (1.0 - pow(0.999, step))) + 1e-8);
      wanted[i] = fmin(fmax(wanted[i], -1.1), 1.2);
    }
  }
  device_check(cudaMemcpy(parameters, device[0], bytes, cudaMemcpyDeviceToHost), "adam");
  device_check(cudaMemcpy(gradients, device[1], bytes, cudaMemcpyDeviceToHost), "adam");
  for (int i = 0; i < COUNT; ++i) {
    CHECK(fabs(parameters[i] - wanted[i]) < 1e-4, "parameter %d is %.7g, not %.7g", i,
          parameters[i], wanted[i]);
    CHECK(gradients[i] == 0.0f, "gradient %d is left at %g", i, gradients[i]);
  }
  for (int a = 0; a < 4; ++a) cudaFree(device[a]);
}

/* The loss at the start and after `steps` steps. */
static void descend(const image *picture, const fit_settings *settings, double *before,
                    double *after) {
  fit f;
  fit_begin(&f, picture, settings);
  *before = fit_loss(&f);
  for (int i = 0; i < settings->steps; ++i) fit_step(&f);
  *after = fit_loss(&f);
  CHECK(f.steps_done == settings->steps, "%d steps done", f.steps_done);
  fit_read_times(&f, settings->steps - 1);
  for (int i = 0; i < settings->steps; ++i)
    CHECK(f.times.whole[i] >= 0.0f && f.times.forward[i] >= 0.0f && f.times.backward[i] >= 0.0f &&
              f.times.forward[i] + f.times.backward[i] <= f.times.whole[i] + 1e-3f,
          "times of step %d: %g, forward %g, backward %g", i, f.times.whole[i], f.times.forward[i],
          f.times.backward[i]);
  fit_end(&f);
}

/* 25 steps bring the loss below a quarter, and all ways to the same place within 0.1 dB. */
static void test_descent(void) {
  image picture;
  error_line error;
  fit_settings settings = test_settings(90, 25);
  double losses[FIT_WAYS], before;
  CHECK(image_procedural(&picture, 45, 37, &error), "%s", error.text);
  for (int way = 0; way < FIT_WAYS; ++way) {
    settings.way = (fit_way)way;
    descend(&picture, &settings, &before, &losses[way]);
    CHECK(losses[way] < 0.25 * before, "%s: loss %g at first, %g after 25 steps",
          fit_way_name(settings.way), before, losses[way]);
    double apart = fabs(10.0 * log10(losses[way] / losses[0]));
    CHECK(apart < 0.1, "%s: %g dB from plain", fit_way_name(settings.way), apart);
  }
  image_free(&picture);
}

/* The picture read back is the one whose loss was told. */
static void test_read_picture(void) {
  image picture, fitted;
  error_line error;
  fit f;
  fit_settings settings = test_settings(60, 3);
  double sum = 0.0;
  CHECK(image_procedural(&picture, 33, 21, &error), "%s", error.text);
  CHECK(image_allocate(&fitted, 33, 21, &error), "%s", error.text);
  fit_begin(&f, &picture, &settings);
  for (int i = 0; i < 3; ++i) fit_step(&f);
  double loss = fit_loss(&f);
  fit_read_picture(&f, &picture, &fitted);
  for (int i = 0; i < 3 * 33 * 21; ++i) sum += pow(fitted.rgb[i] - picture.rgb[i], 2.0);
  CHECK(fabs(sum - loss) < 1e-4 * loss, "the picture's loss is %g, the one told %g", sum, loss);
  CHECK(fabs(fit_psnr(&f, loss) + 10.0 * log10(sum / (3.0 * 33 * 21))) < 1e-3, "PSNR %g",
        fit_psnr(&f, loss));
  fit_end(&f);
  image_free(&picture);
  image_free(&fitted);
}

/* A bound of the scales holds, and a rate of 0 leaves its parameters where they are. */
static void test_bounds(void) {
  image picture;
  error_line error;
  fit f;
  fit_settings settings = test_settings(20, 4);
  float scales[40];
  settings.rates[RATE_SCALE] = 1000.0f;
  CHECK(image_procedural(&picture, 32, 24, &error), "%s", error.text);
  fit_begin(&f, &picture, &settings);
  for (int i = 0; i < 4; ++i) fit_step(&f);
  device_check(cudaMemcpy(scales, f.parameters.log_scales, sizeof scales, cudaMemcpyDeviceToHost),
               "scales");
  for (int i = 0; i < 40; ++i)
    CHECK(scales[i] >= logf(SMALLEST_SCALE) - 1e-5f && scales[i] <= logf(32.0f) + 1e-5f,
          "log scale %d is %g", i, scales[i]);
  fit_end(&f);

  for (int rate = 0; rate < FIT_RATES; ++rate) settings.rates[rate] = 0.0f;
  double before, after;
  descend(&picture, &settings, &before, &after);
  CHECK(fabs(before - after) < 1e-6 * before, "rates of 0: loss %.9g, then %.9g", before, after);
  image_free(&picture);
}

int main(void) {
  if (!test_has_device("test_fit_descent")) return TEST_SKIPPED;
  test_adam();
  test_descent();
  test_read_picture();
  test_bounds();
  return test_end("test_fit_descent");
}
