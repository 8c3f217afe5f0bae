/* arc study hashgrid: features, gradients and the perceptron against serial ones in double
   precision, every way to add against a serial sum, tensor cores against floats.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <vector>

#include "../../bench/common/test_device.h"
#include "../common/arrays.h"
#include "trainer.h"

#include "arc.cuh"

typedef std::vector<double> doubles;
typedef std::vector<float> floats;

static unsigned long long state = 20260101ull;

static double random_sign(void) { return 2.0 * test_random(&state) - 1.0; }

static floats read_floats(const void *device, size_t count) {
  return device_read<float>(device, count);
}

static double relative_error(const floats &got, const doubles &wanted) {
  double difference = 0.0, whole = 0.0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    difference += (got[i] - wanted[i]) * (got[i] - wanted[i]);
    whole += wanted[i] * wanted[i];
  }
  return whole > 0.0 ? sqrt(difference / whole) : difference;
}

/* ---- the grid, serially ---------------------------------------------------------------------- */

/* Row of a corner, by the paper's formula, in 64 bits. */
static size_t serial_row(const grid_level *l, int axes, const long long corner[3]) {
  static const unsigned long long primes[3] = {1ull, 2654435761ull, 805459861ull};
  unsigned long long hash = 0ull, row = 0ull;
  for (int a = axes - 1; a >= 0; --a) {
    hash ^= (unsigned long long)corner[a] * primes[a];
    row = row * (unsigned long long)(l->cells + 1) + (unsigned long long)corner[a];
  }
  return (size_t)l->first + (size_t)(l->hashed ? hash % (unsigned long long)l->rows : row);
}

/* Corner `which` of the cell around a point: its row, and the weight it has. */
static size_t serial_corner(const grid *g, int level, const float *p, int n, int i, int which,
                            double *weight) {
  const grid_level *l = &g->level[level];
  long long corner[3];
  *weight = 1.0;
  for (int a = 0; a < g->axes; ++a) {
    const float place = p[a * n + i] * (float)l->cells; /* floats decide which cell it is */
    const long long low = (long long)place < l->cells ? (long long)place : l->cells - 1;
    const double part = (double)place - (double)low;
    const bool high = (which >> a & 1) != 0;
    corner[a] = low + high;
    *weight *= high ? part : 1.0 - part;
  }
  return serial_row(l, g->axes, corner);
}

/* Visits each number of each row that a sample meets: visit(number of the table, number of the
   features, weight). */
template <class function>
static void each_corner(const grid *g, const floats &positions, int n, function visit) {
  for (int level = 0; level < LEVELS; ++level)
    for (int i = 0; i < n; ++i)
      for (int which = 0; which < 1 << g->axes; ++which) {
        double weight;
        const size_t row = serial_corner(g, level, positions.data(), n, i, which, &weight);
        for (size_t f = 0; f < FEATURES; ++f)
          visit(row * FEATURES + f, (size_t)(level * n + i) * FEATURES + f, weight);
      }
}

/* ---- the perceptron, serially ---------------------------------------------------------------- */

static double serial_bias(const doubles &p, int width, int m, int i) {
  return p[(size_t)(bias_first(width, m) + bias_place(i))];
}

/* ---- a trainer with numbers that all differ -------------------------------------------------- */

typedef struct setting {
  int axes, width, samples, order;
  bool tensor, half_rows;
} setting;

static const char *describe(const setting *s) {
  static char text[200];
  snprintf(text, sizeof text, "%d axes, width %d, %d samples, %s, %s, %s rows", s->axes, s->width,
           s->samples, s->order == ORDER_RAYS ? "rays" : "random", s->tensor ? "tensor" : "floats",
           s->half_rows ? "half" : "float");
  return text;
}

/* After trainer_forward; any number of samples. */
static void begin(trainer *t, const setting *s, const float *rgb) {
  const scene picture = {SCENE_PICTURE, 2, 3, 5, 4, rgb};
  const scene distance = {SCENE_DISTANCE, 3, 1, 8, 8, nullptr};
  const trainer_options o = {s->order, 10, 13, s->width, s->tensor, s->half_rows, 7ull};
  trainer_begin(t, s->axes == 2 ? &picture : &distance, &o);
  t->samples = s->samples;
  trainer_reset(t);
  floats table((size_t)(t->g.rows * FEATURES));
  floats net = read_floats(t->net.parameters, (size_t)parameter_count(s->width));
  for (float &x : table) x = (float)random_sign();
  for (size_t i = (size_t)bias_first(s->width, 0); i < net.size(); ++i)
    net[i] = 0.1f * (float)random_sign();
  host_to_device(t->table, table.data(), table.size() * sizeof(float), "the grid");
  host_to_device(t->net.parameters, net.data(), net.size() * sizeof(float), "the perceptron");
  perceptron_pack(&t->net, 0);
  trainer_forward(t, 3);
}

static doubles widened(const void *device, size_t count) {
  const floats v = read_floats(device, count);
  return doubles(v.begin(), v.end());
}

/* Every way and threshold against the serial sums. Some samples lie on the border. */
static void check_adds(trainer *t, const setting *s) {
  static const int thresholds[] = {0, 7, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};
  const int n = s->samples;
  floats positions = read_floats(t->positions, (size_t)(s->axes * n));
  const floats slopes = read_floats(t->slopes, (size_t)(INPUTS * n));
  for (size_t i = 0; i < positions.size(); i += 7) positions[i] = i % 2 ? 1.0f : 0.0f;
  host_to_device(t->positions, positions.data(), positions.size() * sizeof(float), "samples");
  doubles wanted((size_t)(t->g.rows * FEATURES), 0.0);
  each_corner(&t->g, positions, n, [&](size_t number, size_t feature, double weight) {
    wanted[number] += weight * slopes[feature];
  });
  for (int way = 0; way < GRID_WAYS; ++way)
    for (int threshold : thresholds) {
      if (!way_runs_here(way)) continue;
      if (threshold != 0 && way != WAY_LEVELS && !way_has_threshold(way)) continue;
      if (s->half_rows && way != WAY_PLAIN && way != WAY_AUTO && way != WAY_LEVELS) continue;
      for (int l = 0; l < LEVELS; ++l) t->threshold[l] = l % 5 == 4 ? 3 : threshold;
      while (threshold == 7 && grid_level_fits_block(&t->g, t->hot_levels)) ++t->hot_levels;
      trainer_clear_sums(t);
      trainer_add(t, way, threshold, 0, 2);
      trainer_add(t, way, threshold, 2, LEVELS - 2);
      const floats got = read_floats(trainer_sums(t), wanted.size());
      const double error = relative_error(got, wanted);
      CHECK(error < (s->half_rows ? 4e-3 : 2e-6), "%s: way %d, threshold %d: %g", describe(s), way,
            threshold, error);
    }
  trainer_forward(t, 3);
}

static double rounded(double x, bool half) {
  int exponent;
  frexp(x, &exponent);
  if (exponent < -13) exponent = -13; /* subnormal */
  return half ? ldexp(rint(ldexp(x, 11 - exponent)), exponent - 11) : x;
}

/* Outputs, gradients and slopes of one sample; what is stored as halves is rounded. */
typedef struct serial_network {
  int width, outputs, samples;
  bool half;
  doubles parameters, features, results, sums, slopes;
  floats targets;
} serial_network;

static void serial_backward(serial_network *s, int sample, const std::vector<doubles> &layers,
                            doubles slopes) {
  for (int m = HIDDEN; m >= 0; --m) {
    const int in = matrix_in(s->width, m);
    doubles before((size_t)in, 0.0);
    for (int i = 0; i < (int)slopes.size(); ++i) {
      const double slope = rounded(slopes[(size_t)i], s->half);
      s->sums[(size_t)(bias_first(s->width, m) + bias_place(i))] += slope;
      for (int k = 0; k < in; ++k) {
        const size_t weight = (size_t)(matrix_first(s->width, m) + i * in + k);
        s->sums[weight] += slope * layers[(size_t)m][(size_t)k];
        before[(size_t)k] += slope * rounded(s->parameters[weight], s->half);
      }
    }
    for (int k = 0; k < in && m > 0; ++k)
      if (layers[(size_t)m][(size_t)k] <= 0.0) before[(size_t)k] = 0.0;
    slopes = before;
  }
  for (int k = 0; k < INPUTS; ++k)
    s->slopes[(size_t)((k / 2 * s->samples + sample) * 2 + k % 2)] = slopes[(size_t)k];
}

static void serial_train(serial_network *s, int sample) {
  std::vector<doubles> layers(1, doubles((size_t)INPUTS));
  for (int k = 0; k < INPUTS; ++k)
    layers[0][(size_t)k] =
        rounded(s->features[(size_t)((k / 2 * s->samples + sample) * 2 + k % 2)], s->half);
  for (int m = 0; m < MATRICES; ++m) {
    doubles next((size_t)matrix_out(s->width, m));
    for (int i = 0; i < matrix_out(s->width, m); ++i) {
      double sum = serial_bias(s->parameters, s->width, m, i);
      const int first = matrix_first(s->width, m) + i * matrix_in(s->width, m);
      for (int k = 0; k < matrix_in(s->width, m); ++k)
        sum += rounded(s->parameters[(size_t)(first + k)], s->half) * layers[(size_t)m][(size_t)k];
      next[(size_t)i] = m == HIDDEN ? sum : sum > 0.0 ? rounded(sum, s->half) : 0.0;
    }
    layers.push_back(next);
  }
  doubles slopes((size_t)OUTPUTS, 0.0);
  for (int o = 0; o < s->outputs; ++o) {
    const size_t i = (size_t)(o * s->samples + sample);
    s->results[i] = layers[MATRICES][(size_t)o];
    slopes[(size_t)o] = s->results[i] - (double)s->targets[i];
  }
  serial_backward(s, sample, layers, slopes);
}

static serial_network serial_run(trainer *t, const setting *s) {
  const size_t n = (size_t)s->samples, parameters = (size_t)parameter_count(s->width);
  const floats positions = read_floats(t->positions, (size_t)s->axes * n);
  const doubles table = widened(t->table, (size_t)(t->g.rows * FEATURES));
  serial_network r = {s->width, t->its.outputs, s->samples, s->tensor, {}, {}, {}, {}, {}, {}};
  r.parameters = widened(t->net.parameters, parameters);
  r.features.assign(INPUTS * n, 0.0);
  each_corner(&t->g, positions, s->samples, [&](size_t number, size_t feature, double weight) {
    r.features[feature] += weight * table[number];
  });
  r.targets = read_floats(t->targets, (size_t)r.outputs * n);
  r.results.assign((size_t)r.outputs * n, 0.0);
  r.sums.assign(parameters, 0.0);
  r.slopes.assign(INPUTS * n, 0.0);
  for (int i = 0; i < s->samples; ++i) serial_train(&r, i);
  return r;
}

/* One batch trained, another one run, against the serial network. */
static void check_network(trainer *t, const setting *s) {
  const double most = s->tensor ? 1e-2 : 1e-5;
  const sample_draw d = {s->order, s->samples, 0, 99ull};
  const serial_network trained = serial_run(t, s);
  const double sums = relative_error(read_floats(t->net.sums, trained.sums.size()), trained.sums);
  const double slopes =
      relative_error(read_floats(t->slopes, trained.slopes.size()), trained.slopes);
  CHECK(sums < most, "%s: gradient of the perceptron: %g", describe(s), sums);
  CHECK(slopes < most, "%s: slopes of features: %g", describe(s), slopes);
  trainer_evaluate(t, &d);
  const serial_network ran = serial_run(t, s);
  const double outputs = relative_error(read_floats(t->outputs, ran.results.size()), ran.results);
  CHECK(outputs < most, "%s: outputs: %g", describe(s), outputs);
  printf("%s: errors %.2g (weights), %.2g (features), %.2g (outputs)\n", describe(s), sums, slopes,
         outputs);
}

/* Half precision against floats. Slopes of single samples differ by more: where rounding takes a
   neuron across zero. */
static void check_tensor(const setting *s, const float *rgb) {
  setting plain = *s;
  trainer half, whole;
  const unsigned long long before = state;
  const size_t parameters = (size_t)parameter_count(s->width);
  plain.tensor = false;
  begin(&whole, &plain, rgb);
  state = before;
  begin(&half, s, rgb);
  const double error =
      relative_error(read_floats(half.net.sums, parameters), widened(whole.net.sums, parameters));
  CHECK(error < 1e-2 || s->samples < 100, "%s: weights differ from floats' by %g", describe(s),
        error);
  check_network(&half, s);
  trainer_end(&half);
  trainer_end(&whole);
}

static void check_setting(const setting *s, const float *rgb) {
  trainer t;
  if (s->tensor) {
    if (perceptron_has_tensor()) check_tensor(s, rgb);
    return;
  }
  begin(&t, s, rgb);
  check_adds(&t, s);
  check_network(&t, s);
  trainer_end(&t);
}

/* A network learns what it is shown. */
static void check_training(const float *rgb) {
  const setting s = {2, 64, SIMT_ON_CPU ? 100 : 256, ORDER_RANDOM, perceptron_has_tensor(), false};
  const sample_draw d = {ORDER_RANDOM, s.samples, 0, 5ull};
  double before = 0.0, after = 0.0;
  trainer t;
  begin(&t, &s, rgb);
  trainer_reset(&t);
  for (int i = 0; i <= 30; ++i) {
    if (i == 0 || i == 30) {
      trainer_evaluate(&t, &d);
      const doubles wanted = widened(t.targets, (size_t)(3 * s.samples));
      (i == 0 ? before : after) = relative_error(read_floats(t.outputs, wanted.size()), wanted);
    }
    trainer_forward(&t, i);
    trainer_add(&t, WAY_AUTO, ARC_THRESHOLD_AUTO, 0, LEVELS);
    trainer_update(&t, i);
  }
  CHECK(before > 0.5 && after < 0.3, "errors %g before, %g after 30 steps", before, after);
  trainer_end(&t);
}

int main(void) {
  static const setting settings[] = {
      {2, 64, 1, ORDER_RANDOM, false, false},   {2, 64, 131, ORDER_RAYS, false, false},
      {2, 64, 300, ORDER_RANDOM, false, false}, {3, 64, 70, ORDER_RANDOM, false, false},
      {3, 128, 37, ORDER_RAYS, false, false},   {2, 64, 90, ORDER_RANDOM, false, true},
      {3, 64, 33, ORDER_RAYS, false, true},     {2, 64, 500, ORDER_RANDOM, true, false},
      {3, 64, 1, ORDER_RAYS, true, false},      {3, 128, 333, ORDER_RAYS, true, false}};
  device_pool arrays;
  floats picture(5 * 4 * 3);
  if (!test_has_device("test_hashgrid")) return TEST_SKIPPED;
  for (float &x : picture) x = (float)test_random(&state);
  const float *rgb = take_copy(&arrays, picture, "a picture");
  for (const setting &s : settings) check_setting(&s, rgb);
  check_training(rgb);
  device_give_back(&arrays);
  return test_end("test_hashgrid");
}
