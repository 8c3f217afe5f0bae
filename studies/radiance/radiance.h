/* arc study radiance: a path tracer, and a cache of radiance that learns meanwhile.
   SPDX-License-Identifier: Apache-2.0

   Light is in radiance, red, green and blue; the room is the unit cube. */
#pragma once

#include "../common/grid.h"
#include "../common/perceptron.h"

/* ---- the room (room.cu) ---------------------------------------------------------------------- */

/* A share `shine` of the light is reflected around the mirror direction, in a lobe of cosine to the
   power of `sharpness`, the rest diffusely. */
typedef struct surface {
  float albedo[3], shine, sharpness;
} surface;

typedef struct box {
  float low[3], high[3];
  surface skin;
} box;

typedef struct ball {
  float centre[3], radius;
  surface skin;
} ball;

enum { MOST_BOXES = 8, MOST_BALLS = 4 };

typedef struct room {
  surface wall[6]; /* low x, high x, low y, ... */
  box boxes[MOST_BOXES];
  ball balls[MOST_BALLS];
  int box_count, ball_count;
  float light[3], light_half[2],
      emission[3]; /* centre; half of its sides along x and z; faces down */
  float glow;      /* what every surface emits */
} room;

/* Indirect: the lamp is behind a wall that is open at one end. */
enum { SETTING_INDIRECT, SETTING_DIRECT, SETTINGS };
void room_make(room *r, int setting);
/* What moves goes to and fro along a line, a material between two colours; phase: from 0 to 1. */
enum { MOVES_BALL, MOVES_MATERIAL, MOVES_LAMP, MOVES };
void room_move(room *r, int what, float phase);

/* The direction through the middle of pixel (x, y) is corner + (x + 1/2) right + (y + 1/2) down. */
typedef struct camera {
  float eye[3], corner[3], right[3], down[3];
  int width, height;
} camera;

enum { VIEWS = 2 };
void camera_make(camera *c, int view, int width, int height);
/* Camera i of so many, which stand over an upright plane and look at the middle of what is there. */
void camera_around(camera *c, int i, int count, int width, int height);

/* ---- the cache (cache.cu) -------------------------------------------------------------------- */

/* What the perceptron is told of a vertex: pairs of features of its place, at CACHE_LEVELS levels, and
   of what is there. It answers the light that the vertex reflects towards the path, over what the
   surface reflects of it. */
enum { CACHE_LEVELS = 8, BATCHES = 4, PATH_RECORDS = 4 };

/* Vertices; arrays on the device, each number of all samples after the other. */
typedef struct vertices {
  int samples;
  float *positions;
  void *features; /* pairs for each sample; of halves where perceptron.tensor */
  float *weights; /* red, green, blue: times the answer it is the light */
} vertices;

vertices vertices_take(device_pool *pool, int samples, bool tensor); /* tensor: in halves */

/* Of one record of a training path: the light that its vertex reflects is
   direct + factor * (arrives + the light that the next vertex reflects). */
typedef struct record {
  float3 direct, factor, arrives, reflectance;
} record;

/* Where record `vertex` of a path lies in batch path % BATCHES: paths take turns among these. */
GRID_FN int record_place(int paths, int path, int vertex) {
  return vertex * (paths / BATCHES) + path / BATCHES;
}

typedef struct cache_options {
  int paths;         /* of a frame's training, a multiple of BATCHES; PATH_RECORDS records each */
  int table_log2;    /* rows of a level of the grid, at most */
  bool tensor;       /* see perceptron.h */
  bool reproducible; /* the same bits in every run: grid by wide sums, perceptron by blocks */
  unsigned long long seed;
} cache_options;

typedef struct cache {
  cache_options o;
  grid g;
  perceptron trained, asked; /* asked: the averages of the parameters */
  vertices batch[BATCHES], tails;
  float *table, *table_average;
  float *table_sums, *table_moments, *net_moments, *targets, *outputs, *slopes, *losses;
  long long *wide_sums;
  record *records;
  int *record_counts;
  float3 *tail_light;
  device_pool arrays;
  int steps;
} cache;

void cache_begin(cache *c, const cache_options *o);
void cache_end(cache *c);
void cache_reset(cache *c);
/* Outputs of the averaged network, for each output all samples. */
void cache_ask(const cache *c, const vertices *v, float *outputs);
/* Training paths of a frame, and their targets. */
void cache_trace(cache *c, const room *r, const camera *eye, unsigned frame);
/* A step on one of BATCHES: up to the gradients; those of the grid, added as WAY_... says; the step. */
void cache_forward(cache *c, int batch);
void cache_add(cache *c, int batch, int way, int threshold);
void cache_update(cache *c);
/* All of a frame: traced paths, and BATCHES steps. */
void cache_learn(cache *c, const room *r, const camera *eye, unsigned frame);

/* ---- pictures (tracer.cu) -------------------------------------------------------------------- */

typedef struct film {
  int width, height, samples; /* taken of each pixel */
  float *light;               /* their sum, red, green and blue of each pixel */
  vertices ends;              /* of cached paths */
  float *answers;
  device_pool arrays;
} film;

void film_begin(film *f, int width, int height, bool tensor);
void film_end(film *f);
void film_clear(film *f);
/* One more sample per pixel, with random numbers of `frame`: by paths alone where c is null. */
void film_add(film *f, const cache *c, const room *r, const camera *eye, unsigned frame);
/* Red, green and blue of each pixel: the mean of so many samples anew, with random numbers of `frame`
   and of those that follow it; up to an interrupt. */
std::vector<float> film_draw(film *f, const cache *c, const room *r, const camera *eye, int samples,
                             unsigned frame);

/* Called by cache_trace. */
void trace_records(const cache *c, const room *r, const camera *eye, unsigned frame);
