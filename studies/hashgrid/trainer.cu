/* arc study hashgrid: a grid and a perceptron, trained together. SPDX-License-Identifier:
   Apache-2.0 */
#include "trainer.h"

#include <vector>

#include "../common/adam.h"
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

/* Everything on the device, and how large it is. */
typedef struct trainer_array {
  device_array *array;
  size_t bytes;
  const char *what;
} trainer_array;

static std::vector<trainer_array> all_arrays(trainer *t) {
  const size_t n = (size_t)t->samples * sizeof(float), number = t->o.tensor ? 2 : sizeof(float);
  const size_t table = (size_t)t->g.rows * FEATURES * sizeof(float);
  const size_t net = (size_t)parameter_count(t->o.width) * sizeof(float);
  return {{&t->positions, n * MOST_AXES, "samples"},
          {&t->targets, n * OUTPUTS, "samples"},
          {&t->outputs, n * OUTPUTS, "samples"},
          {&t->features, (size_t)t->samples * INPUTS * number, "features"},
          {&t->slopes, n * INPUTS, "slopes"},
          {&t->table, table, "the grid"},
          {&t->table_sums, table, "gradients"},
          {&t->half_sums, t->o.half_rows ? table / 2 : 1, "gradients"},
          {&t->table_moments, 2 * table, "moments"},
          {&t->net_parameters, net, "the perceptron"},
          {&t->net_sums, net, "gradients"},
          {&t->net_moments, 2 * net, "moments"},
          {&t->packed[0], net / 2, "the perceptron"},
          {&t->packed[1], net / 2, "the perceptron"}};
}

void trainer_begin(trainer *t, const scene *s, const trainer_options *o) {
  *t = {};
  t->o = *o;
  t->its = *s;
  t->g = grid_make(s->axes, LEVELS, o->table_log2, 16, SIMT_ON_CPU ? 256 : 2048);
  t->samples = 1 << o->batch_log2;
  for (const trainer_array &a : all_arrays(t)) device_reserve(&t->memory, a.array, a.bytes, a.what);
  t->net = {o->width,
            o->tensor,
            s->outputs,
            (float *)t->net_parameters.data,
            (float *)t->net_sums.data,
            false,
            {t->packed[0].data, t->packed[1].data}};
  for (int l = 0; l < LEVELS; ++l) t->threshold[l] = ARC_THRESHOLD_AUTO;
}

void trainer_end(trainer *t) {
  for (const trainer_array &a : all_arrays(t)) device_release(&t->memory, a.array);
}

void trainer_reset(trainer *t) {
  perceptron_reset(&t->net, t->o.seed);
  randomize((float *)t->table.data, (size_t)t->g.rows * FEATURES, 1e-4f, t->o.seed + 1ull);
  device_clear(t->table_moments.data, t->table_moments.bytes);
  device_clear(t->net_moments.data, t->net_moments.bytes);
}

static perceptron_batch draw_features(trainer *t, const sample_draw *d) {
  const grid_points points = {(const float *)t->positions.data, t->samples};
  scene_draw(&t->its, d, (float *)t->positions.data, (float *)t->targets.data);
  grid_encode(&t->g, points, (const float *)t->table.data, t->features.data, t->o.tensor);
  return {t->samples, t->features.data,         (const float *)t->targets.data,
          nullptr,    (float *)t->outputs.data, (float *)t->slopes.data};
}

void trainer_forward(trainer *t, int iteration) {
  const sample_draw d = {t->o.order, t->samples, 0, t->o.seed * 1000003ull + (unsigned)iteration};
  const perceptron_batch b = draw_features(t, &d);
  device_clear(t->o.half_rows ? t->half_sums.data : t->table_sums.data,
               t->o.half_rows ? t->half_sums.bytes : t->table_sums.bytes);
  device_clear(t->net_sums.data, t->net_sums.bytes);
  perceptron_train(&t->net, &b, 0);
}

void trainer_add(trainer *t, int way, int threshold, int first_level, int levels) {
  grid_scatter s = {};
  s.g = t->g;
  s.points = {(const float *)t->positions.data, t->samples};
  s.slopes = (const float *)t->slopes.data;
  s.sums = (float *)t->table_sums.data;
  s.half_sums = t->o.half_rows ? t->half_sums.data : nullptr;
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
    SIMT_LAUNCH(widen, line_blocks(rows), LINE_THREADS, 0, 0, (const unsigned *)t->half_sums.data,
                (float *)t->table_sums.data, rows);
  return (const float *)t->table_sums.data;
}

static void take_step(trainer *t, device_array *numbers, device_array *moments, const float *sums,
                      size_t count, int iteration) {
  const adam_numbers s = {(float *)numbers->data,
                          (float *)moments->data,
                          sums,
                          count,
                          1.0f / (float)t->samples,
                          0.01f,
                          adam_decay_at(0.9, 0.99, 1, iteration + 1),
                          nullptr,
                          0.0f};
  adam_take_step(&s);
}

void trainer_update(trainer *t, int iteration) {
  take_step(t, &t->table, &t->table_moments, trainer_sums(t), (size_t)t->g.rows * FEATURES,
            iteration);
  take_step(t, &t->net_parameters, &t->net_moments, (const float *)t->net_sums.data,
            (size_t)parameter_count(t->o.width), iteration);
  perceptron_pack(&t->net, 0);
}

void trainer_evaluate(trainer *t, const sample_draw *d) {
  const perceptron_batch b = draw_features(t, d);
  perceptron_run(&t->net, &b, 0);
}
