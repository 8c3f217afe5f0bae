/* arc study circles: the picture, its gradient through arc, and the step against it.
   SPDX-License-Identifier: Apache-2.0

   Both passes are one kernel, which walks over a list from front to back and stops where nothing
   shines through. The call of arc to copy is in backward_step. Let T be the part of the light that
   the circles in front let through. Then

       colour = sum of T alpha colour of it + what is left of T at the end * background,
       d loss / d alpha = T (colour of it . slope) - (what is behind it . slope) / (1 - alpha),

   where `behind` is the pixel's final colour less all that has been visited, as seen by the eye. So
   the forward pass keeps only its picture. */
#include "render.cuh"

#include <math.h>

#include "../common/adam.h"
#include "../common/arrays.h"
#include "../common/ways.cuh"

typedef struct pass_arguments {
  int width, height;
  box_lists lists;
  const circle *circles;
  float *picture;      /* 3 floats per pixel */
  const float *target; /* the same; of the backward pass, as all that follows */
  float *sums;         /* a row a circle */
  int threshold;
  unsigned long long *counts; /* of WAY_COUNT */
} pass_arguments;

/* One pixel from step to step. Forward: its colour. Backward: the slope of the loss by that, and
   dotted with it, the colour that is still to be visited. */
typedef struct pixel_state {
  float red, green, blue, behind, transmittance;
} pixel_state;

DEVICE void paint(pixel_state *s, const circle *c, circle_view v) {
  float weight = s->transmittance * c->opacity * coverage_of(v.t);
  s->red += weight * c->red;
  s->green += weight * c->green;
  s->blue += weight * c->blue;
  s->transmittance -= weight;
}

DEVICE void store_pixel(const pixel_state *s, float *picture) {
  picture[0] = s->red + s->transmittance * BACKGROUND;
  picture[1] = s->green + s->transmittance * BACKGROUND;
  picture[2] = s->blue + s->transmittance * BACKGROUND;
}

DEVICE void load_slope(pixel_state *s, const float *is, const float *wanted) {
  s->red = 2.0f * (is[0] - wanted[0]);
  s->green = 2.0f * (is[1] - wanted[1]);
  s->blue = 2.0f * (is[2] - wanted[2]);
  s->behind = s->red * is[0] + s->green * is[1] + s->blue * is[2];
}

/* Where the pixel does not see the circle, t is 0: its state stays, and all values are zeros. */
DEVICE void circle_slope(pixel_state *s, const circle *c, circle_view v,
                         float values[CIRCLE_WIDTH]) {
  float coverage = coverage_of(v.t), alpha = c->opacity * coverage;
  float colour = c->red * s->red + c->green * s->green + c->blue * s->blue;
  float weight = s->transmittance * alpha;
  s->behind -= weight * colour;
  float by_alpha = s->transmittance * colour - __fdividef(s->behind, 1.0f - alpha);
  float by_t = by_alpha * c->opacity * 6.0f * v.t * (1.0f - v.t);
  s->transmittance -= weight;
  values[SUM_X] = by_t * v.dx * v.per_distance;
  values[SUM_Y] = by_t * v.dy * v.per_distance;
  values[SUM_RADIUS] = by_t;
  values[SUM_OPACITY] = by_alpha * coverage;
  values[SUM_RED] = weight * s->red;
  values[SUM_GREEN] = weight * s->green;
  values[SUM_BLUE] = weight * s->blue;
}

/* The whole warp walks over one list, so that every lane has the key; a circle that none of its
   pixels sees is left out; and a lane whose pixel does not see it holds zeros. */
template <int way>
DEVICE void backward_step(pixel_state *s, const circle *c, circle_view v, const way_rows *rows,
                          int threshold) {
  float values[CIRCLE_WIDTH];
  if (!__any_sync(WHOLE_WARP, v.t > 0.0f)) return;
  circle_slope(s, c, v, values);
  way_add(rows, c->key, values, v.t > 0.0f, way, threshold,
          ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER);
}

/* way: PASS_DRAW, or how a backward pass adds. */
template <int way>
__global__ void __launch_bounds__(BOX_PIXELS) pass(pass_arguments a) {
  __shared__ circle batch[BOX_PIXELS];
  int box = (int)blockIdx.x, count;
  pixel p = pixel_of_lane(a.width, a.height, a.lists.columns, box);
  pixel_state state = {0.0f, 0.0f, 0.0f, 0.0f, p.inside ? 1.0f : 0.0f};
  way_rows rows = way_rows_begin(a.sums, CIRCLE_ROW, CIRCLE_WIDTH, a.counts);
  int begin = list_begin(a.lists, box), end = list_begin(a.lists, box + 1);
  if (way != PASS_DRAW && p.inside) load_slope(&state, a.picture + p.at, a.target + p.at);
  for (; end > begin; end -= count) {
    if (__syncthreads_and(is_done(state.transmittance))) break;
    count = load_batch(batch, a.circles, a.lists.list, begin, end);
    for (int group = 0; group < count; group += 32) {
      unsigned rest = circles_of_warp(batch, group, count, p, state.transmittance);
      while (rest != 0u) {
        const circle *c = &batch[group + next_circle(&rest)];
        circle_view view = view_circle(c, p, state.transmittance);
        if constexpr (way == PASS_DRAW)
          paint(&state, c, view);
        else
          backward_step<way>(&state, c, view, &rows, a.threshold);
      }
    }
  }
  if (way == PASS_DRAW && p.inside) store_pixel(&state, a.picture + p.at);
}

/* ---- host ----------------------------------------------------------------------------------- */

static size_t circle_floats(const renderer *r) { return (size_t)CIRCLE_ROW * (size_t)r->count; }

static size_t picture_floats(const renderer *r) { return (size_t)r->width * (size_t)r->height * 3; }

void renderer_begin(renderer *r, const scene *s, const image *target) {
  *r = {};
  r->width = s->width;
  r->height = s->height;
  r->count = (int)s->circles.size();
  r->circles = take_copy(&r->arrays, s->circles, "circles");
  for (float **array : {&r->sums, &r->means, &r->squares})
    *array = take_zeros<float>(&r->arrays, circle_floats(r), "circles");
  r->picture = take_zeros<float>(&r->arrays, picture_floats(r), "a picture");
  if (target != nullptr) r->target = take_copy(&r->arrays, target->rgb, "a picture");
}

void renderer_end(renderer *r) {
  device_give_back(&r->arrays);
  for (device_array *array :
       {&r->counts, &r->scratch, &r->offsets[0], &r->offsets[1], &r->lists[0], &r->lists[1]})
    device_release(&r->memory, array);
}

void renderer_clear_sums(renderer *r) { device_clear(r->sums, circle_floats(r) * sizeof(float)); }

void renderer_reset(renderer *r, const scene *s) {
  const size_t bytes = circle_floats(r) * sizeof(float);
  host_to_device(r->circles, s->circles.data(), bytes, "circles");
  for (float *array : {r->sums, r->means, r->squares}) device_clear(array, bytes);
  r->step = 0;
}

void renderer_pass(renderer *r, int way, int threshold, unsigned long long *counts) {
#define PASS(way) pass<way>
  static void (*const kernels[])(pass_arguments) = {PASS(PASS_DRAW), EACH_WAY(PASS)};
  const box_lists lists = r->levels[LEVEL_FINE];
  pass_arguments a = {r->width,  r->height, lists,     r->circles, r->picture,
                      r->target, r->sums,   threshold, counts};
  SIMT_LAUNCH(kernels[way - PASS_DRAW], lists.boxes, BOX_PIXELS, 0, 0, a);
}

/* The last float of a row is none. */
void renderer_update(renderer *r, float size) {
  float w = (float)r->width, h = (float)r->height;
  adam_columns<CIRCLE_ROW> step = {adam_decay_at(0.9, 0.999, 1, ++r->step),
                                   1e-8f,
                                   {0.3f, 0.3f, 0.1f, 0.01f, 0.01f, 0.01f, 0.01f, 0.0f},
                                   {0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
                                   {w, h, w + h, LARGEST_OPACITY, 1.0f, 1.0f, 1.0f, 0.0f}};
  const size_t floats = circle_floats(r);
  for (float &rate : step.rate) rate *= size;
  SIMT_LAUNCH(adam_rows<CIRCLE_ROW>, line_blocks(floats), LINE_THREADS, 0, 0, (float *)r->circles,
              r->sums, r->means, r->squares, floats, step);
}

std::vector<float> renderer_read(const renderer *r) {
  return device_read<float>(r->picture, picture_floats(r), "the picture");
}
