/* arc example gaussians: the picture, and the gradient of every kind of number, against the
   reference in double precision; by every way to add.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "test_frame.cuh"

/* Relative to the sum of magnitudes over pixels: single precision through a chain of products. */
static const double TOLERANCE = 1e-4;
static const double STEP = 1e-6;

enum { FEW = 8, MANY = 300 };

typedef struct derivatives {
  double *value, *magnitude; /* REF_WIDTH a Gaussian */
  double camera[12], camera_magnitude[12];
} derivatives;

static void differentiate(reference *r, derivatives *d) {
  size_t count = (size_t)r->count * REF_WIDTH;
  d->value = (double *)calloc(count, sizeof(double));
  d->magnitude = (double *)calloc(count, sizeof(double));
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
static void run_backward(test_frame *t, int camera_threshold) {
  gradient_sums gradients = {GRADIENTS_SET, 0, t->count, t->gradients.data};
  device_clear(t->by_camera.data, t->by_camera.bytes);
  frame_clear_sums(&t->f);
  frame_backward(&t->f);
  frame_project_backward(&t->f, gradients);
  frame_camera_backward(&t->f, 1, (long long *)t->by_camera.data, camera_threshold);
  device_check(cudaGetLastError(), "backward");
}

static void check_gradients(test_frame *t, const reference *r, const derivatives *d,
                            const char *what) {
  float *gradients = test_read(&t->gradients, (size_t)GRADIENT_FLOATS * t->count);
  const float *statistics = gradients + (size_t)GAUSSIAN_FLOATS * t->count;
  long long *by_camera = test_read_fixed(&t->by_camera, 3 * CAMERA_FLOATS);
  for (int i = 0; i < t->count; ++i) {
    const double *value = d->value + REF_WIDTH * i, *magnitude = d->magnitude + REF_WIDTH * i;
    for (int k = 0; k < GAUSSIAN_FLOATS; ++k)
      check_number(what, i, k, *test_number(split_gaussians(gradients, t->count), i, k), value[k],
                   magnitude[k]);
    double x = 0.5 * r->width * value[REF_SHIFT], y = 0.5 * r->height * value[REF_SHIFT + 1];
    check_number("pull", i, 0, statistics[i], sqrt(x * x + y * y),
                 0.5 * r->width * (magnitude[REF_SHIFT] + magnitude[REF_SHIFT + 1]));
  }
  for (int k = 0; k < 12; ++k) {
    check_number("camera", -1, k, arc_fixed_to_f32(by_camera[12 + k], CAMERA_SCALE_LOG2),
                 d->camera[k], d->camera_magnitude[k]);
    CHECK(by_camera[k] == 0 && by_camera[24 + k] == 0, "another camera's row was written");
  }
  free(gradients);
  free(by_camera);
}

static void check_picture(test_frame *t, const reference *r) {
  int values = 3 * r->width * r->height;
  double *wanted = (double *)calloc((size_t)values, sizeof(double));
  float *got = test_read(&t->f.colour, (size_t)values);
  reference_margin m;
  reference_render(r, wanted, &m);
  CHECK(m.hit > 2e-5 && m.opaque > 2e-5 && m.clamp > 1e-6,
        "a decision is too close (%g, %g, %g): choose another seed", m.hit, m.opaque, m.clamp);
  for (int i = 0; i < values; ++i)
    CHECK(fabs(got[i] - wanted[i]) <= 1e-5, "value %d of the picture is %.8g, not %.8g", i, got[i],
          wanted[i]);
  free(wanted);
  free(got);
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
  for (int layout = SUMS_ARRAYS; layout <= SUMS_FIXED; ++layout) {
    int threshold = layout == SUMS_FIXED  ? CAMERA_BY_BLOCK
                    : layout == SUMS_ROWS ? ARC_THRESHOLD_AUTO
                                          : 0; /* of the camera's gradient */
    t.f.settings.layout = (sum_layout)layout;
    run_backward(&t, threshold);
    snprintf(what, sizeof what, "degree %d, seed %llu, layout %d", degree, seed, layout);
    check_gradients(&t, &r, &d, what);
  }
  test_frame_end(&t);
  reference_free(&r);
  free(d.value);
  free(d.magnitude);
}

/* ---- every way to add ----------------------------------------------------------------------- */

typedef struct way {
  add_way add;
  int threshold, pixels;
  sum_layout layout;
} way;

static void read_rows(const test_frame *t, float *values) {
  float *rows = test_read(&t->f.sums, (size_t)SPLAT_ROW * t->count);
  for (int i = 0; i < t->count; ++i)
    memcpy(values + SPLAT_WIDTH * i, rows + SPLAT_ROW * i, SPLAT_WIDTH * sizeof(float));
  free(rows);
}

static void read_fixed(const test_frame *t, float *values) {
  long long *rows = test_read_fixed(&t->f.sums, (size_t)SPLAT_ROW * t->count);
  splat *splats = test_read_splats(t);
  for (int i = 0; i < t->count; ++i)
    for (int k = 0; k < SPLAT_WIDTH; ++k) {
      float unit = k < SUM_XX ? splats[i].unit : k < SUM_U ? powf(splats[i].unit, 2.0f) : 1.0f;
      float sum = arc_fixed_to_f32(rows[SPLAT_ROW * i + k], SUM_SCALE_LOG2);
      values[SPLAT_WIDTH * i + k] = splats[i].limit < 0.0f ? sum : sum / unit;
    }
  free(rows);
  free(splats);
}

static void read_arrays(const test_frame *t, float *values) {
  splat_sums s = frame_sums(&t->f);
  float *block = test_read(&t->f.sums, (size_t)SPLAT_WIDTH * ((t->count + 3) / 4 * 4));
  float *base = (float *)t->f.sums.data;
  for (int i = 0; i < t->count; ++i)
    for (int k = 0; k < SPLAT_WIDTH; ++k) {
      size_t place = k < SUM_XX    ? (size_t)(s.means - base) + 2 * i + k
                     : k < SUM_U   ? (size_t)(s.conics - base) + 3 * i + k - SUM_XX
                     : k < SUM_RED ? (size_t)(s.opacities - base) + i
                                   : (size_t)(s.colours - base) + 3 * i + k - SUM_RED;
      values[SPLAT_WIDTH * i + k] = block[place];
    }
  free(block);
}

/* The sums of all splats, SPLAT_WIDTH each; to be freed. */
static float *sums_of(test_frame *t, way w) {
  float *values = (float *)host_memory(sizeof(float) * SPLAT_WIDTH * t->count);
  t->f.settings.way = w.add;
  t->f.settings.threshold = w.threshold;
  t->f.settings.pixels = w.pixels;
  t->f.settings.layout = w.layout;
  run_backward(t, ARC_THRESHOLD_CONTENDED);
  if (w.layout == SUMS_ARRAYS) read_arrays(t, values);
  if (w.layout == SUMS_ROWS) read_rows(t, values);
  if (w.layout == SUMS_FIXED) read_fixed(t, values);
  return values;
}

static void check_same_sums(const float *got, const float *wanted, int count, const char *what) {
  float largest[SPLAT_WIDTH] = {0.0f};
  for (int i = 0; i < count * SPLAT_WIDTH; ++i)
    largest[i % SPLAT_WIDTH] = fmaxf(largest[i % SPLAT_WIDTH], fabsf(wanted[i]));
  for (int i = 0; i < count * SPLAT_WIDTH; ++i)
    CHECK(fabsf(got[i] - wanted[i]) <= 1e-5f * largest[i % SPLAT_WIDTH],
          "%s: sum %d of splat %d is %.8g, not %.8g", what, i % SPLAT_WIDTH, i / SPLAT_WIDTH,
          got[i], wanted[i]);
  for (int k = 0; k < SPLAT_WIDTH; ++k) CHECK(largest[k] > 0.0f, "sum %d is 0 everywhere", k);
}

/* With 1, 2 and 4 pixels a lane, all layouts: each of the nine kernels once with each of two
   thresholds, which take turns. */
static void check_way(test_frame *t, add_way add, const float *wanted) {
  static const int thresholds[] = {0, 8, 33, ARC_THRESHOLD_AUTO};
  for (int k = 0; k < 18; ++k) {
    int threshold = thresholds[(k + k / 6) % 4];
    way w = {add, threshold, 1 << k / 6, (sum_layout)(k % 3)};
    char what[96];
    if (w.layout == SUMS_FIXED && !add_way_is_arc(add)) continue;
    if (k % 6 >= 3 && !add_way_has_threshold(add)) continue;
    snprintf(what, sizeof what, "%s, threshold %d, pixels %d, layout %d", add_way_name(add),
             threshold, w.pixels, w.layout);
    float *got = sums_of(t, w);
    check_same_sums(got, wanted, MANY, what);
    free(got);
  }
}

static void check_none(test_frame *t) {
  for (int pixels = 1; pixels <= MOST_PIXELS; pixels *= 2) {
    way w = {ADD_NONE, 0, pixels, SUMS_ARRAYS};
    float *nothing = sums_of(t, w);
    for (int i = 0; i < MANY * SPLAT_WIDTH; ++i) CHECK(nothing[i] == 0.0f, "none has added %d", i);
    free(nothing);
  }
}

/* Lists longer than a batch, tiles cut by the picture's edge. */
static void make_crowd(reference *r, test_frame *t) {
  reference_make(r, 39, 23, MANY, 3, 8.0, 11);
  for (int i = 0; i < MANY; ++i) r->gaussian[REF_WIDTH * i + REF_OPACITY] -= 3.0;
  test_frame_begin(t, r);
  test_frame_forward(t);
}

static void test_ways(void) {
  reference r;
  test_frame t;
  make_crowd(&r, &t);
  int *first = (int *)test_read(&t.f.first, (size_t)t.f.tiles + 1), longest = 0;
  for (int i = 0; i < t.f.tiles; ++i) longest = max(longest, first[i + 1] - first[i]);
  CHECK(longest > TILE_PIXELS, "no list is longer than a batch: %d", longest);
  way simplest = {ADD_PLAIN, 0, 1, SUMS_ARRAYS};
  float *wanted = sums_of(&t, simplest);
  for (int add = 0; add < ADD_NONE; ++add)
    if (backward_has((add_way)add)) check_way(&t, (add_way)add, wanted);
  check_none(&t);
  free(wanted);
  free(first);
  test_frame_end(&t);
  reference_free(&r);
}

/* ---- the histogram of lanes ----------------------------------------------------------------- */

static bool hits_on_host(const splat *s, float x, float y) {
  float dx = s->x - x, dy = s->y - y;
  float q = fmaf(dx, fmaf(s->a, dx, s->b * dy), s->c * dy * dy);
  return !signbit(q) && q <= s->limit;
}

/* What the kernel must count, from the splats, the lists and how far each pixel has looked. */
static void count_on_host(const test_frame *t, int pixels, unsigned long long *histogram) {
  const device_camera *c = &t->camera;
  int *first = (int *)test_read(&t->f.first, (size_t)t->f.tiles + 1);
  int *list = test_read_list(t);
  int *drawn = (int *)test_read(&t->f.drawn, (size_t)c->width * c->height);
  splat *splats = test_read_splats(t);
  for (int warp = 0; warp < t->f.tiles * TILE_WARPS / pixels; ++warp) {
    int tile = warp / (TILE_WARPS / pixels), in_tile = warp % (TILE_WARPS / pixels), last = 0;
    int x0 = tile % c->tiles_x * TILE_SIDE + in_tile % 2 * WARP_COLUMNS;
    int y0 = tile / c->tiles_x * TILE_SIDE + in_tile / 2 * WARP_ROWS * pixels;
    int x1 = min(x0 + WARP_COLUMNS, c->width), y1 = min(y0 + WARP_ROWS * pixels, c->height);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) last = max(last, drawn[y * c->width + x]);
    for (int k = 0; k < last; ++k) {
      const splat *s = &splats[list[first[tile] + k]];
      bool hit[32] = {false};
      int lanes = 0;
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
          if (k < drawn[y * c->width + x] && hits_on_host(s, (float)x + 0.5f, (float)y + 0.5f))
            hit[(y - y0) % WARP_ROWS * WARP_COLUMNS + x - x0] = true;
      for (int i = 0; i < 32; ++i) lanes += hit[i];
      histogram[lanes] += 1;
    }
  }
  free(first);
  free(list);
  free(drawn);
  free(splats);
}

static void test_counts(void) {
  reference r;
  test_frame t;
  device_array device = {nullptr, 0};
  make_crowd(&r, &t);
  device_reserve(&t.memory, &device, 33 * sizeof(unsigned long long), "test");
  frame_clear_sums(&t.f);
  for (int pixels = 1; pixels <= MOST_PIXELS; pixels *= 2) {
    unsigned long long wanted[33] = {0}, got[33];
    backward_arguments a = frame_backward_arguments(&t.f);
    a.histogram = (unsigned long long *)device.data;
    device_clear(device.data, device.bytes);
    backward_launch(ADD_COUNT, t.f.tiles, &a, pixels);
    device_to_host(got, device.data, sizeof got, "test");
    count_on_host(&t, pixels, wanted);
    for (int i = 0; i < 33; ++i)
      CHECK(got[i] == wanted[i], "pixels %d: %llu steps of %d lanes, not %llu", pixels, got[i], i,
            wanted[i]);
  }
  device_release(&t.memory, &device);
  test_frame_end(&t);
  reference_free(&r);
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
  make_crowd(&r, &t);
  run_backward(&t, CAMERA_BY_BLOCK);
  numbers = (size_t)GRADIENT_FLOATS * t.count;
  float *once = test_read(&t.gradients, numbers);
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
    long long *twice = test_read_fixed(&t.gradients, numbers); /* room for floats, too */
    for (int i = 0; i < t.count; ++i)
      for (int k = 0; k < GRADIENT_FLOATS; ++k) {
        double wanted = 2.0 * once[place_of(i, k, t.count, t.count)];
        double got = read_gradient(&t, (gradient_mode)mode, twice, i, k, CUT);
        CHECK(fabs(got - wanted) <= 1e-6 * fabs(wanted) + ldexp(2.0, -40),
              "mode %d: number %d of Gaussian %d is %.9g, not %.9g", mode, k, i, got, wanted);
      }
    free(twice);
  }
  free(once);
  test_frame_end(&t);
  reference_free(&r);
}

int main(void) {
  if (!test_has_device("test_gaussians_gradients")) return TEST_SKIPPED;
  for (int degree = 0; degree <= 3; ++degree) test_differences(degree, 1);
  test_differences(3, 2);
  test_ways();
  test_counts();
  test_sums_of_views();
  return test_end("test_gaussians_gradients");
}
