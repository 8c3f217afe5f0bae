/* arc study hashgrid: a grid and a perceptron, trained together. SPDX-License-Identifier:
   Apache-2.0 */
#include "trainer.h"

#include "../common/adam.h"
#include "../common/arrays.h"
#include "../common/numbers.cuh"

#include "arc.cuh"

/* ---- kernels --------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(LINE_THREADS)
    widen(const unsigned *pairs, float *numbers, size_t count) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float2 v = half_pair(pairs[i]);
  store_pair(numbers + 2 * i, v.x, v.y);
}

/* ---- host ------------------------------------------------------------------------------------ */

static size_t table_numbers(const trainer *t) { return (size_t)t->g.rows * FEATURES; }

static float *take_floats(trainer *t, size_t count) {
  return take_zeros<float>(&t->arrays, count, "the trainer");
}

void trainer_begin(trainer *t, const scene *s, const trainer_options *o) {
  const size_t n = (size_t)1 << o->batch_log2, inputs = INPUTS * n;
  *t = {};
  t->o = *o;
  t->its = *s;
  t->g = grid_make(s->axes, LEVELS, o->table_log2, 16, SIMT_ON_CPU ? 256 : 2048);
  t->samples = (int)n;
  t->positions = take_floats(t, MOST_AXES * n);
  t->targets = take_floats(t, OUTPUTS * n);
  t->outputs = take_floats(t, OUTPUTS * n);
  t->features = take_floats(t, o->tensor ? inputs / 2 : inputs);
  t->slopes = take_floats(t, inputs);
  t->table = take_floats(t, table_numbers(t));
  t->table_sums = take_floats(t, table_numbers(t));
  if (o->half_rows) t->half_sums = take_floats(t, table_numbers(t) / 2);
  t->table_moments = take_floats(t, 2 * table_numbers(t));
  t->net = perceptron_take(&t->arrays, o->width, o->tensor, s->outputs, 1);
  t->net_moments = take_floats(t, 2 * (size_t)parameter_count(o->width));
  for (int &threshold : t->threshold) threshold = ARC_THRESHOLD_AUTO;
}

void trainer_end(trainer *t) { device_give_back(&t->arrays); }

static size_t net_bytes(const trainer *t) {
  return (size_t)parameter_count(t->o.width) * sizeof(float);
}

void trainer_reset(trainer *t) {
  perceptron_reset(&t->net, t->o.seed);
  randomize(t->table, table_numbers(t), 1e-4f, t->o.seed + 1ull);
  device_clear(t->table_moments, 2 * table_numbers(t) * sizeof(float));
  device_clear(t->net_moments, 2 * net_bytes(t));
}

static perceptron_batch draw_features(trainer *t, const sample_draw *d) {
  scene_draw(&t->its, d, t->positions, t->targets);
  grid_encode(&t->g, {t->positions, t->samples}, t->table, t->features, t->o.tensor);
  return {t->samples, t->features, t->targets, nullptr, t->outputs, t->slopes};
}

void trainer_clear_sums(trainer *t) {
  const size_t bytes = table_numbers(t) * sizeof(float);
  if (t->o.half_rows)
    device_clear(t->half_sums, bytes / 2);
  else
    device_clear(t->table_sums, bytes);
}

void trainer_forward(trainer *t, int iteration) {
  const sample_draw d = {t->o.order, t->samples, 0, t->o.seed * 1000003ull + (unsigned)iteration};
  const perceptron_batch b = draw_features(t, &d);
  trainer_clear_sums(t);
  device_clear(t->net.sums, net_bytes(t));
  perceptron_train(&t->net, &b, 0);
}

void trainer_add(trainer *t, int way, int threshold, int first_level, int levels) {
  grid_scatter s = {};
  s.g = t->g;
  s.points = {t->positions, t->samples};
  s.slopes = t->slopes;
  s.sums = t->table_sums;
  s.half_sums = t->half_sums;
  s.hot_levels = t->hot_levels;
  s.counts = workload_counts();
  s.first_level = first_level;
  s.levels = levels;
  for (int l = 0; l < LEVELS; ++l) s.threshold[l] = t->threshold[l];
  grid_add(&s, way, threshold);
}

const float *trainer_sums(trainer *t) {
  const size_t rows = (size_t)t->g.rows;
  if (t->o.half_rows)
    SIMT_LAUNCH(widen, line_blocks(rows), LINE_THREADS, 0, 0, (const unsigned *)t->half_sums,
                t->table_sums, rows);
  return t->table_sums;
}

void trainer_update(trainer *t, int iteration) {
  const adam_decay decay = adam_decay_at(0.9, 0.99, 1, iteration + 1);
  const float scale = 1.0f / (float)t->samples;
  const auto step = [&](float *numbers, float *moments, const float *sums, size_t count) {
    const adam_numbers s = {numbers, moments, sums, count, scale, 0.01f, decay, nullptr, 0.0f};
    adam_take_step(&s);
  };
  step(t->table, t->table_moments, trainer_sums(t), table_numbers(t));
  step(t->net.parameters, t->net_moments, t->net.sums, (size_t)parameter_count(t->o.width));
  perceptron_pack(&t->net, 0);
}

void trainer_evaluate(trainer *t, const sample_draw *d) {
  const perceptron_batch b = draw_features(t, d);
  perceptron_run(&t->net, &b, 0);
}
