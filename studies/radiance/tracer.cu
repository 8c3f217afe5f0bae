/* arc study radiance: pictures, and training paths. SPDX-License-Identifier: Apache-2.0 */
#include "../common/arrays.h"
#include "tracer.cuh"

/* ---- vertices for the cache ------------------------------------------------------------------ */

template <typename number>
DEVICE void write_pair(const vertices *v, int pair, int i, float x, float y) {
  store_pair((number *)v->features + 2 * ((size_t)(CACHE_LEVELS + pair) * v->samples + i), x, y);
}

DEVICE void write_weight(const vertices *v, int i, float3 weight) {
  v->weights[i] = weight.x;
  v->weights[v->samples + i] = weight.y;
  v->weights[2 * v->samples + i] = weight.z;
}

/* Place i: the vertex seen from where the path came. Directions as spherical harmonics. */
template <typename number>
DEVICE void write_vertex(const vertices *v, int i, const hit *h, float3 d) {
  const float3 n = h->normal, a = from(h->skin.albedo);
  const size_t samples = (size_t)v->samples;
  v->positions[i] = fminf(fmaxf(h->position.x, 0.0f), 1.0f);
  v->positions[samples + i] = fminf(fmaxf(h->position.y, 0.0f), 1.0f);
  v->positions[2 * samples + i] = fminf(fmaxf(h->position.z, 0.0f), 1.0f);
  write_pair<number>(v, 0, i, d.x, d.y);
  write_pair<number>(v, 1, i, d.z, d.x * d.y);
  write_pair<number>(v, 2, i, d.y * d.z, d.z * d.x);
  write_pair<number>(v, 3, i, d.x * d.x - d.y * d.y, 1.5f * d.z * d.z - 0.5f);
  write_pair<number>(v, 4, i, n.x, n.y);
  write_pair<number>(v, 5, i, n.z, h->skin.shine);
  write_pair<number>(v, 6, i, a.x, a.y);
  write_pair<number>(v, 7, i, a.z, 1.0f / (1.0f + 0.02f * h->skin.sharpness));
}

/* ---- pictures -------------------------------------------------------------------------------- */

DEVICE void add_to_film(float *light, int pixel, float3 more) {
  light[3 * pixel] += more.x;
  light[3 * pixel + 1] += more.y;
  light[3 * pixel + 2] += more.z;
}

template <typename number, bool cached>
__global__ void __launch_bounds__(LINE_THREADS)
    draw_picture(room r, camera c, unsigned frame, float *film_light, vertices ends) {
  const int pixel = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (pixel >= c.width * c.height) return;
  walker w = begin_walk(&c, pixel, splitmix64(frame, (unsigned)pixel));
  hit h = walk(&r, &w);
  float3 light = emitted(&r, &w, &h);
  const bool ends_there = follow(&r, &w, &h, cached, &light);
  add_to_film(film_light, pixel, light);
  if (!cached) return;
  write_weight(&ends, pixel, scale(multiply(w.share, reflectance_of(&h.skin)), (float)ends_there));
  if (ends_there) write_vertex<number>(&ends, pixel, &h, w.direction);
}

__global__ void __launch_bounds__(LINE_THREADS)
    add_answers(float *film_light, vertices ends, const float *answers) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = ends.samples;
  if (i >= n) return;
  add_to_film(film_light, i,
              make_float3(ends.weights[i] * fmaxf(answers[i], 0.0f),
                          ends.weights[n + i] * fmaxf(answers[n + i], 0.0f),
                          ends.weights[2 * n + i] * fmaxf(answers[2 * n + i], 0.0f)));
}

void film_begin(film *f, int width, int height, bool tensor) {
  const size_t colours = 3 * (size_t)width * height;
  *f = {};
  f->width = width;
  f->height = height;
  f->light = take_zeros<float>(&f->arrays, colours, "a film");
  f->ends = vertices_take(&f->arrays, width * height, tensor);
  f->answers = take_zeros<float>(&f->arrays, colours, "a film");
}

void film_end(film *f) { device_give_back(&f->arrays); }

void film_clear(film *f) {
  device_clear(f->light, sizeof(float[3]) * (size_t)f->width * f->height);
  f->samples = 0;
}

template <typename number>
static void draw_cached(film *f, const room *r, const camera *eye, unsigned frame) {
  SIMT_LAUNCH((draw_picture<number, true>), line_blocks((size_t)f->ends.samples), LINE_THREADS, 0,
              0, *r, *eye, frame, f->light, f->ends);
}

void film_add(film *f, const cache *c, const room *r, const camera *eye, unsigned frame) {
  const int blocks = line_blocks((size_t)f->ends.samples);
  ++f->samples;
  if (c == nullptr) {
    SIMT_LAUNCH((draw_picture<float, false>), blocks, LINE_THREADS, 0, 0, *r, *eye, frame, f->light,
                f->ends);
    return;
  }
#if !SIMT_ON_CPU
  if (c->o.tensor) draw_cached<__half>(f, r, eye, frame);
#endif
  if (!c->o.tensor) draw_cached<float>(f, r, eye, frame);
  cache_ask(c, &f->ends, f->answers);
  SIMT_LAUNCH(add_answers, blocks, LINE_THREADS, 0, 0, f->light, f->ends, f->answers);
}

std::vector<float> film_draw(film *f, const cache *c, const room *r, const camera *eye, int samples,
                             unsigned frame) {
  film_clear(f);
  while (f->samples < samples && !interrupts) {
    film_add(f, c, r, eye, frame + (unsigned)f->samples);
    if (f->samples % 16 == 0) device_check(cudaDeviceSynchronize(), "drawing");
    if (progress_due()) progress_line("sample %d of %d", f->samples, samples);
  }
  const size_t floats = 3 * (size_t)f->width * (size_t)f->height;
  std::vector<float> light = device_read<float>(f->light, floats, "the picture");
  for (float &x : light) x /= (float)f->samples;
  progress_clear();
  return light;
}

/* ---- training paths -------------------------------------------------------------------------- */

typedef struct tracing {
  room r;
  camera eye;
  unsigned frame;
  int paths;
  vertices batch[BATCHES], tails;
  record *records;
  int *counts;
  float3 *tail_light;
} tracing;

/* A path records up to PATH_RECORDS vertices. It ends in the cache when it has spread a second time,
   or has no record left; one in 16 goes on by itself, so that the cache's errors do not feed on
   themselves. */
template <typename number>
__global__ void __launch_bounds__(LINE_THREADS) trace_paths(tracing t) {
  const int path = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (path >= t.paths) return;
  const unsigned long long seed = splitmix64(~(unsigned long long)t.frame, (unsigned)path);
  const float pixels = (float)t.eye.width * (float)t.eye.height / (float)t.paths;
  const int pixel = (int)(((float)path + hashed_random(~seed, 0)) * pixels);
  const vertices *batch = &t.batch[path % BATCHES];
  const bool alone = (path / BATCHES + t.frame) % 16 == 0;
  walker w = begin_walk(&t.eye, pixel, seed);
  hit h = walk(&t.r, &w);
  float3 light = make_float3(0.0f, 0.0f, 0.0f);
  int vertex = 0, spreads = 0;
  for (; !h.lamp && vertex < PATH_RECORDS; ++vertex) {
    if (vertex > 0 && is_spread(&w)) {
      w.spread = 0.0f;
      if (++spreads == 2 && !alone) break;
    }
    record *its = &t.records[vertex * t.paths + path];
    write_vertex<number>(batch, record_place(t.paths, path, vertex), &h, w.direction);
    its->reflectance = reflectance_of(&h.skin);
    its->direct = direct_light(&t.r, &w, &h);
    its->factor = turn(&w, &h);
    h = walk(&t.r, &w);
    its->arrives = emitted(&t.r, &w, &h);
  }
  const bool ends_there = !h.lamp && !alone;
  if (!h.lamp && alone) follow(&t.r, &w, &h, false, &light);
  t.counts[path] = vertex;
  t.tail_light[path] = light;
  write_weight(&t.tails, path, scale(reflectance_of(&h.skin), (float)ends_there));
  if (ends_there) write_vertex<number>(&t.tails, path, &h, w.direction);
}

template <typename number>
static void launch_paths(const tracing *t) {
  SIMT_LAUNCH(trace_paths<number>, line_blocks((size_t)t->paths), LINE_THREADS, 0, 0, *t);
}

void trace_records(const cache *c, const room *r, const camera *eye, unsigned frame) {
  const tracing t = {*r,
                     *eye,
                     frame,
                     c->o.paths,
                     {c->batch[0], c->batch[1], c->batch[2], c->batch[3]},
                     c->tails,
                     c->records,
                     c->record_counts,
                     c->tail_light};
#if !SIMT_ON_CPU
  if (c->o.tensor) return launch_paths<__half>(&t);
#endif
  launch_paths<float>(&t);
}
