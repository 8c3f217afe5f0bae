/* arc study gaussians: the picture, and the gradient of every kind of number, against the
   reference in double precision; with each kind of sums.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "test_frame.cuh"

/* Relative to the sum of magnitudes over pixels: single precision through a chain of products. */
static const double TOLERANCE = 1e-4;
static const double STEP = 1e-6;

enum { FEW = 8 };

typedef struct derivatives {
  std::vector<double> value, magnitude; /* REF_WIDTH a Gaussian */
  double camera[12], camera_magnitude[12];
} derivatives;

static void differentiate(reference *r, derivatives *d) {
  size_t count = (size_t)r->count * REF_WIDTH;
  d->value.resize(count);
  d->magnitude.resize(count);
  for (size_t i = 0; i < count; ++i)
    reference_difference(r, &r->gaussian[i], STEP, &d->value[i], &d->magnitude[i]);
  for (int k = 0; k < 12; ++k)
    reference_difference(r, &r->camera[k], STEP, &d->camera[k], &d->camera_magnitude[k]);
}

static void check_number(const char *what, int i, int k, double got, double wanted,
                         double magnitude) {
  double room = TOLERANCE * magnitude + 1e-6;
  CHECK(fabs(got - wanted) <= room, "%s: number %d of Gaussian %d is %.9g, not %.9g +- %.2g", what,
        k, i, got, wanted, room);
}

/* Clears the sums, adds them up as settings say, and goes on to every gradient. */
static void run_backward(test_frame *t) {
  gradient_sums gradients = {GRADIENTS_SET, 0, t->count, t->gradients.data};
  device_clear(t->by_camera.data, t->by_camera.bytes);
  frame_clear_sums(&t->f);
  frame_backward(&t->f);
  frame_project_backward(&t->f, gradients);
  frame_camera_backward(&t->f, 1, (long long *)t->by_camera.data);
  device_check(cudaGetLastError(), "backward");
}

static void check_gradients(test_frame *t, const reference *r, const derivatives *d,
                            const char *what) {
  std::vector<float> gradients =
      device_read<float>(t->gradients.data, (size_t)GRADIENT_FLOATS * t->count);
  const float *statistics = &gradients[(size_t)GAUSSIAN_FLOATS * t->count];
  const std::vector<long long> by_camera =
      device_read<long long>(t->by_camera.data, 3 * CAMERA_FLOATS);
  for (int i = 0; i < t->count; ++i) {
    const double *value = &d->value[REF_WIDTH * i], *magnitude = &d->magnitude[REF_WIDTH * i];
    for (int k = 0; k < GAUSSIAN_FLOATS; ++k)
      check_number(what, i, k, *test_number(split_gaussians(gradients.data(), t->count), i, k),
                   value[k], magnitude[k]);
    double x = 0.5 * r->width * value[REF_SHIFT], y = 0.5 * r->height * value[REF_SHIFT + 1];
    check_number("pull", i, 0, statistics[i], sqrt(x * x + y * y),
                 0.5 * r->width * (magnitude[REF_SHIFT] + magnitude[REF_SHIFT + 1]));
  }
  for (int k = 0; k < 12; ++k) {
    check_number("camera", -1, k, arc_fixed_to_f32(by_camera[12 + k], CAMERA_SCALE_LOG2),
                 d->camera[k], d->camera_magnitude[k]);
    CHECK(by_camera[k] == 0 && by_camera[24 + k] == 0, "another camera's row was written");
  }
}

static void check_picture(test_frame *t, const reference *r) {
  reference_margin m;
  const std::vector<double> wanted = reference_render(r, &m);
  const std::vector<float> got = device_read<float>(t->f.colour.data, wanted.size());
  CHECK(m.hit > 2e-5 && m.opaque > 2e-5 && m.clamp > 1e-6,
        "a decision is too close (%g, %g, %g): choose another seed", m.hit, m.opaque, m.clamp);
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(fabs(got[i] - wanted[i]) <= 1e-5, "value %zu of the picture is %.8g, not %.8g", i, got[i],
          wanted[i]);
}

/* Every kind of number must be there to be tested, and no two alike, lest a swap go unseen. */
static void check_telling_apart(const reference *r, const derivatives *d) {
  for (int k = 0; k < GAUSSIAN_FLOATS; ++k) {
    bool beyond = k >= REF_SH + 3 * (r->degree + 1) * (r->degree + 1);
    int telling = 0;
    for (int i = 0; i < r->count; ++i) {
      double value = d->value[REF_WIDTH * i + k], room = 100.0 * TOLERANCE;
      telling += fabs(value) > room * d->magnitude[REF_WIDTH * i + k] && fabs(value) > 1e-3;
    }
    CHECK(beyond ? telling == 0 : telling >= r->count / 2, "number %d: %d of %d tell", k, telling,
          r->count);
  }
}

static void test_differences(int degree, unsigned long long seed) {
  reference r;
  derivatives d;
  test_frame t;
  char what[64];
  reference_make(&r, 40, 24, FEW, degree, 5.0, seed);
  differentiate(&r, &d);
  check_telling_apart(&r, &d);
  test_frame_begin(&t, &r);
  test_frame_forward(&t);
  check_picture(&t, &r);
  for (int k = 0; k < 6; ++k) {
    static const int thresholds[] = {ARC_BALANCE_THRESHOLD, 8, 33};
    t.f.settings.reproducible = k % 2 != 0;
    t.f.settings.threshold = thresholds[k / 2];
    run_backward(&t);
    snprintf(what, sizeof what, "degree %d, seed %llu, threshold %d, %s", degree, seed,
             t.f.settings.threshold, k % 2 != 0 ? "reproducible" : "floats");
    check_gradients(&t, &r, &d, what);
  }
  test_frame_end(&t);
}

/* On lists longer than a batch: with each kind of sums and any threshold as with the default. */
static void test_kinds(void) {
  enum { NUMBERS = GAUSSIAN_FLOATS * TEST_CROWD };
  reference r;
  test_frame t;
  std::vector<float> wanted;
  float largest[5] = {0.0f};
  test_frame_begin_crowd(&t, &r);
  CHECK(test_longest_list(&t) > TILE_PIXELS, "no list is longer than a batch");
  for (int k = 0; k < 10; ++k) {
    static const int thresholds[] = {ARC_BALANCE_THRESHOLD, 0, 8, 33, ARC_THRESHOLD_AUTO};
    t.f.settings.threshold = thresholds[k / 2];
    t.f.settings.reproducible = k % 2 != 0;
    run_backward(&t);
    const std::vector<float> got = device_read<float>(t.gradients.data, NUMBERS);
    for (int i = 0; i < NUMBERS; ++i) {
      static const int ends[] = {4, 52, 55, 58, 59};
      int array = 0;
      while (i >= ends[array] * TEST_CROWD) array += 1;
      if (k == 0) largest[array] = fmaxf(largest[array], fabsf(got[i]));
      CHECK(k == 0 || fabsf(got[i] - wanted[i]) <= 1e-5f * largest[array],
            "threshold %d, kind %d: number %d is %.8g, not %.8g", thresholds[k / 2], k % 2, i,
            got[i], wanted[i]);
    }
    if (k == 0) wanted = got;
  }
  test_frame_end(&t);
}

/* Number k of Gaussian i in the order of the sums, in those of two parts. */
static size_t place_of(int i, int k, int cut, int count) {
  static const int first[] = {0, 4, 52, 55, 58, 59, 60, 61}; /* of the arrays */
  int array = 0, begin = i < cut ? 0 : cut, size = i < cut ? cut : count - cut;
  while (k >= first[array + 1]) array += 1;
  int width = first[array + 1] - first[array];
  return (size_t)GRADIENT_FLOATS * begin + (size_t)first[array] * size +
         (size_t)width * (i - begin) + (k - first[array]);
}

static double read_gradient(const test_frame *t, gradient_mode mode, const void *values, int i,
                            int k, int cut) {
  size_t at = place_of(i, k, cut, t->count);
  bool is_position = k >= 52 && k < 55, is_statistic = k >= 59;
  if (mode != GRADIENTS_ADD_FIXED) return ((const float *)values)[at];
  return arc_fixed_to_f64(((const long long *)values)[at], is_position || is_statistic
                                                               ? (int)POSITION_SCALE_LOG2
                                                               : (int)GRADIENT_SCALE_LOG2);
}

/* A view that is added twice counts twice, in every mode, whole or in two parts. */
static void test_sums_of_views(void) {
  enum { CUT = 32 };
  reference r;
  test_frame t;
  size_t numbers;
  test_frame_begin_crowd(&t, &r);
  run_backward(&t);
  numbers = (size_t)GRADIENT_FLOATS * t.count;
  const std::vector<float> once = device_read<float>(t.gradients.data, numbers);
  for (int mode = GRADIENTS_ADD; mode <= GRADIENTS_ADD_FIXED; ++mode) {
    size_t width = mode == GRADIENTS_ADD_FIXED ? sizeof(long long) : sizeof(float);
    device_clear(t.gradients.data, width * numbers);
    for (int view = 0; view < 2; ++view)
      for (int part = 0; part < 2; ++part) {
        char *values = (char *)t.gradients.data + part * width * GRADIENT_FLOATS * CUT;
        bool sets = mode == GRADIENTS_ADD && view == 0;
        gradient_sums sums = {sets ? GRADIENTS_SET : (gradient_mode)mode, part * CUT,
                              part == 0 ? (int)CUT : t.count - CUT, values};
        frame_project_backward(&t.f, sums);
      }
    const std::vector<long long> twice = /* room for floats, too */
        device_read<long long>(t.gradients.data, numbers);
    for (int i = 0; i < t.count; ++i)
      for (int k = 0; k < GRADIENT_FLOATS; ++k) {
        double wanted = 2.0 * once[place_of(i, k, t.count, t.count)];
        double got = read_gradient(&t, (gradient_mode)mode, twice.data(), i, k, CUT);
        CHECK(fabs(got - wanted) <= 1e-6 * fabs(wanted) + ldexp(2.0, -40),
              "mode %d: number %d of Gaussian %d is %.9g, not %.9g", mode, k, i, got, wanted);
      }
  }
  test_frame_end(&t);
}

int main(void) {
  if (!test_has_device("test_gaussians_gradients")) return TEST_SKIPPED;
  for (int degree = 0; degree <= 3; ++degree) test_differences(degree, 1);
  test_differences(3, 2);
  test_kinds();
  test_sums_of_views();
  return test_end("test_gaussians_gradients");
}
