/* arc study radiance: the cache. SPDX-License-Identifier: Apache-2.0

   A hash grid and a perceptron, trained on BATCHES batches per frame. arc adds the gradients of the
   grid (grid.cu) and of the biases (perceptron.cu). Pictures and the ends of training paths use
   averages of the parameters over the steps, which flicker less. */
#include "radiance.h"

#include <math.h>

#include "../common/adam.h"
#include "../common/arrays.h"
#include "../common/numbers.cuh"
#include "../common/vectors.cuh"

#include "arc.cuh"

#define AVERAGE_KEEPS 0.99
#define RATE 0.01f

/* ---- memory ---------------------------------------------------------------------------------- */

template <typename type>
static type *take(cache *c, size_t count) {
  return take_zeros<type>(&c->arrays, count, "the cache");
}

vertices vertices_take(device_pool *pool, int samples, bool tensor) {
  const size_t colours = 3 * (size_t)samples, inputs = INPUTS * (size_t)samples;
  const auto floats = [&](size_t count) { return take_zeros<float>(pool, count, "vertices"); };
  return {samples, floats(colours), floats(tensor ? inputs / 2 : inputs), floats(colours)};
}

void cache_begin(cache *c, const cache_options *o) {
  const int records = o->paths / BATCHES * PATH_RECORDS;
  *c = {};
  c->o = *o;
  c->g = grid_make(3, CACHE_LEVELS, o->table_log2, 8, SIMT_ON_CPU ? 32 : 128);
  const size_t numbers = (size_t)c->g.rows * FEATURES, n = (size_t)records;
  for (vertices &b : c->batch) b = vertices_take(&c->arrays, records, o->tensor);
  c->tails = vertices_take(&c->arrays, o->paths, o->tensor);
  c->asked = perceptron_take(&c->arrays, 64, o->tensor, 3, 1);
  c->trained = perceptron_take(&c->arrays, 64, o->tensor, 3,
                               o->reproducible ? perceptron_blocks(o->tensor, records) : 1);
  c->table = take<float>(c, 6 * numbers);
  c->table_average = c->table + numbers;
  c->table_sums = c->table + 2 * numbers;
  c->table_moments = c->table + 4 * numbers;
  c->net_moments = take<float>(c, 2 * (size_t)parameter_count(64));
  if (o->reproducible) c->wide_sums = take<long long>(c, GRID_WIDE * (size_t)c->g.rows);
  c->targets = take<float>(c, 3 * BATCHES * n);
  c->outputs = take<float>(c, 3 * (size_t)o->paths);
  c->slopes = take<float>(c, INPUTS * n);
  c->losses = take<float>(c, BATCHES * n);
  c->records = take<record>(c, PATH_RECORDS * (size_t)o->paths);
  c->record_counts = take<int>(c, (size_t)o->paths);
  c->tail_light = take<float3>(c, (size_t)o->paths);
}

void cache_end(cache *c) { device_give_back(&c->arrays); }

static size_t table_numbers(const cache *c) { return (size_t)c->g.rows * FEATURES; }

void cache_reset(cache *c) {
  const size_t net = (size_t)parameter_count(64) * sizeof(float);
  randomize(c->table, table_numbers(c), 1e-4f, c->o.seed + 1ull);
  perceptron_reset(&c->trained, c->o.seed);
  perceptron_reset(&c->asked, c->o.seed);
  device_clear(c->table_average, table_numbers(c) * sizeof(float));
  device_clear(c->table_moments, 2 * table_numbers(c) * sizeof(float));
  device_clear(c->net_moments, 2 * net);
  c->steps = 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static perceptron_batch encode(const cache *c, const vertices *v, const float *table,
                               float *outputs) {
  const grid_points points = {v->positions, v->samples};
  const perceptron_batch b = {v->samples, v->features, nullptr, nullptr, outputs, nullptr};
  grid_encode(&c->g, points, table, v->features, c->o.tensor);
  return b;
}

void cache_ask(const cache *c, const vertices *v, float *outputs) {
  const perceptron_batch b = encode(c, v, c->table_average, outputs);
  perceptron_run(&c->asked, &b, 0);
}

/* ---- targets --------------------------------------------------------------------------------- */

typedef struct target_job {
  int paths, samples; /* of a batch */
  const record *records;
  const int *counts;
  const float3 *tail_light;
  const float *tail_weights, *tail_answers;
  float *targets, *losses;
} target_job;

DEVICE float tail_of(const target_job *j, int path, int colour) {
  const size_t i = (size_t)colour * j->paths + path;
  return j->tail_weights[i] * fmaxf(0.0f, j->tail_answers[i]);
}

/* From the end of a path to its beginning. */
__global__ void __launch_bounds__(LINE_THREADS) set_targets(target_job j) {
  const int path = (int)(blockIdx.x * blockDim.x + threadIdx.x), batch = path % BATCHES;
  if (path >= j.paths) return;
  float *targets = j.targets + (size_t)(3 * batch) * j.samples;
  float3 light =
      add_scaled(make_float3(tail_of(&j, path, 0), tail_of(&j, path, 1), tail_of(&j, path, 2)),
                 j.tail_light[path], 1.0f);
  for (int vertex = PATH_RECORDS - 1; vertex >= 0; --vertex) {
    const int place = record_place(j.paths, path, vertex);
    const bool counts = vertex < j.counts[path];
    j.losses[batch * j.samples + place] = (float)counts;
    if (!counts) continue;
    const record its = j.records[vertex * j.paths + path];
    const float3 arrives = add_scaled(light, its.arrives, 1.0f);
    light = add_scaled(its.direct, multiply(its.factor, arrives), 1.0f);
    targets[place] = light.x / its.reflectance.x;
    targets[j.samples + place] = light.y / its.reflectance.y;
    targets[2 * j.samples + place] = light.z / its.reflectance.z;
  }
}

void cache_trace(cache *c, const room *r, const camera *eye, unsigned frame) {
  trace_records(c, r, eye, frame);
  cache_ask(c, &c->tails, c->outputs);
  const target_job j = {c->o.paths,       c->batch[0].samples, c->records,
                        c->record_counts, c->tail_light,       c->tails.weights,
                        c->outputs,       c->targets,          c->losses};
  SIMT_LAUNCH(set_targets, line_blocks((size_t)c->o.paths), LINE_THREADS, 0, 0, j);
}

/* ---- training -------------------------------------------------------------------------------- */

/* The loss is relative: over the squared luminance of the answer, which counts as given. */
__global__ void __launch_bounds__(LINE_THREADS)
    weigh_losses(float *losses, const float *answers, int samples) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= samples) return;
  const float luminance =
      0.2126f * answers[i] + 0.7152f * answers[samples + i] + 0.0722f * answers[2 * samples + i];
  losses[i] /= luminance * luminance + 0.01f;
}

/* Into the first one. */
__global__ void __launch_bounds__(LINE_THREADS) add_blocks(float *sums, int count, int blocks) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0.0f;
  if (i >= count) return;
  for (int b = 0; b < blocks; ++b) sum += sums[(size_t)b * count + i];
  sums[i] = sum;
}

void cache_forward(cache *c, int batch) {
  const vertices *v = &c->batch[batch];
  const int n = v->samples, count = parameter_count(64);
  const int blocks = c->o.reproducible ? perceptron_blocks(c->o.tensor, n) : 1;
  perceptron_batch b = encode(c, v, c->table, c->outputs);
  float *losses = c->losses + (size_t)batch * n;
  perceptron_run(&c->trained, &b, 0);
  SIMT_LAUNCH(weigh_losses, line_blocks((size_t)n), LINE_THREADS, 0, 0, losses, c->outputs, n);
  b.targets = c->targets + (size_t)(3 * batch) * n;
  b.losses = losses;
  b.slopes = c->slopes;
  device_clear(c->trained.sums, (size_t)count * blocks * sizeof(float));
  device_clear(c->table_sums, table_numbers(c) * sizeof(float));
  perceptron_train(&c->trained, &b, 0);
  if (blocks > 1)
    SIMT_LAUNCH(add_blocks, line_blocks((size_t)count), LINE_THREADS, 0, 0, c->trained.sums, count,
                blocks);
}

void cache_add(cache *c, int batch, int way, int threshold) {
  grid_scatter s = {};
  s.g = c->g;
  s.points = {c->batch[batch].positions, c->batch[batch].samples};
  s.slopes = c->slopes;
  s.sums = c->table_sums;
  s.wide_sums = c->wide_sums;
  s.counts = workload_counts();
  s.levels = CACHE_LEVELS;
  grid_add(&s, way, threshold);
}

static void take_step(const cache *c, float *numbers, float *moments, const float *sums,
                      float *averages, size_t count) {
  const double share = (1.0 - AVERAGE_KEEPS) / (1.0 - pow(AVERAGE_KEEPS, c->steps));
  const adam_numbers s = {
      numbers,  moments,     sums, count, 1.0f, RATE, adam_decay_at(0.9, 0.99, 1, c->steps),
      averages, (float)share};
  adam_take_step(&s);
}

void cache_update(cache *c) {
  ++c->steps;
  if (c->o.reproducible) grid_take_wide(&c->g, c->wide_sums, c->table_sums);
  take_step(c, c->table, c->table_moments, c->table_sums, c->table_average, table_numbers(c));
  take_step(c, c->trained.parameters, c->net_moments, c->trained.sums, c->asked.parameters,
            (size_t)parameter_count(64));
  perceptron_pack(&c->trained, 0);
  perceptron_pack(&c->asked, 0);
}

void cache_learn(cache *c, const room *r, const camera *eye, unsigned frame) {
  cache_trace(c, r, eye, frame);
  for (int batch = 0; batch < BATCHES; ++batch) {
    cache_forward(c, batch);
    cache_add(c, batch, WAY_AUTO, ARC_THRESHOLD_AUTO);
    cache_update(c);
  }
}
