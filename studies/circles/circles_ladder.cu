/* circles_ladder.cu - a picture's time by each step of a page on CS149's circles, and by the study.
   SPDX-License-Identifier: Apache-2.0

   circles_ladder [OUT.csv]   paints the exercise's scenes; 1024 x 768 pixels on a GPU

     pixels     a thread per pixel, which walks over all circles
     cpu        boxes of 128 x 128 pixels. The CPU makes their lists: for each box it allocates
                memory, copies and launches. The pixel is in memory
     boxes      the GPU makes the lists, with one thread per box; the pixel is in memory, too
     registers  as boxes, but the pixel is in registers, as in the steps below
     scan       no lists: a block of 16 x 16 pixels tests 256 circles at a time; a prefix sum in
                shared memory places those that reach the block
     votes      a warp of 8 x 4 pixels tests 32 circles; a vote finds those that reach the warp
     study      render.cu: lists by votes in two levels; pixels go from front to back until they are
                opaque

   All steps but `study` paint from back to front, and give the same picture to the bit. The picture
   of `study` may differ from it by a quarter of 1/255, and by rounding. */
#include <math.h>

#include <algorithm>

#include "../common/arrays.h"
#include "../common/table_program.h"
#include "render.cuh"

enum { PIXELS, CPU, BOXES, REGISTERS, SCAN, VOTES, STUDY, STEPS };
static const char *const names[STEPS] = {"pixels", "cpu",   "boxes", "registers",
                                         "scan",   "votes", "study"};
enum { RUNS = SIMT_ON_CPU ? 1 : 9, TILES = SIMT_ON_CPU ? 2 : 8 /* blocks along a box's side */ };

typedef struct painting {
  const circle *circles;
  float *picture;
  int width, height, count; /* of circles */
  box_lists boxes;          /* the list of box b begins at b * count */
  int *found;               /* its length */
  int first;                /* box that is painted */
} painting;

/* ---- pixels --------------------------------------------------------------------------------- */

/* Of BOX_SIDE, in the whole picture. Those of one box follow each other. */
DEVICE int tile_of_block(const painting *a) {
  int box = a->first + (int)blockIdx.x / (TILES * TILES), k = (int)blockIdx.x % (TILES * TILES);
  int row = box / a->boxes.columns * TILES + k / TILES;
  return (row * a->boxes.columns + box % a->boxes.columns) * TILES + k % TILES;
}

DEVICE pixel pixel_of_block(const painting *a) {
  return pixel_of_lane(a->width, a->height, a->boxes.columns * TILES, tile_of_block(a));
}

DEVICE void begin_pixel(float *rgb) { rgb[0] = rgb[1] = rgb[2] = BACKGROUND; }

DEVICE void paint_over(float *rgb, const circle *c, pixel p) {
  if (!circle_reaches(c->x, c->y, c->radius, {p.x, p.y, p.x, p.y})) return;
  float alpha = c->opacity * coverage_of(view_circle(c, p, 1.0f).t);
  rgb[0] = fmaf(alpha, c->red - rgb[0], rgb[0]);
  rgb[1] = fmaf(alpha, c->green - rgb[1], rgb[1]);
  rgb[2] = fmaf(alpha, c->blue - rgb[2], rgb[2]);
}

DEVICE void end_pixel(const painting *a, const float *rgb, pixel p) {
  for (int i = 0; i < 3 && p.inside; ++i) a->picture[p.at + i] = rgb[i];
}

/* ---- kernels -------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(LINE_THREADS) find_in_boxes(painting a) {
  int box = (int)(blockIdx.x * blockDim.x + threadIdx.x), found = 0;
  if (box >= a.boxes.boxes) return;
  rectangle r = rectangle_of_box(a.boxes, box);
  for (int i = 0; i < a.count; ++i) {
    const circle *c = &a.circles[i];
    if (circle_reaches(c->x, c->y, c->radius, r)) a.boxes.list[box * a.count + found++] = i;
  }
  a.found[box] = found;
}

/* step: PIXELS, BOXES or REGISTERS. */
template <int step>
__global__ void __launch_bounds__(BOX_PIXELS) paint_listed(painting a) {
  int box = (int)blockIdx.x / (TILES * TILES), *list = a.boxes.list + box * a.count;
  int end = step == PIXELS ? a.count : a.found[box];
  pixel p = pixel_of_block(&a);
  float own[3], *rgb = step == BOXES ? a.picture + p.at : own;
  if (!p.inside) return;
  begin_pixel(rgb);
  for (int i = 0; i < end; ++i) {
    const circle c = a.circles[step == PIXELS ? i : list[i]];
    paint_over(rgb, &c, p);
  }
  if (step != BOXES) end_pixel(&a, own, p);
}

__global__ void __launch_bounds__(BOX_PIXELS) paint_scanned(painting a) {
  __shared__ int sums[2][BOX_PIXELS], keys[BOX_PIXELS];
  const box_lists tiles = {BOX_SIDE, a.boxes.columns * TILES, 0, 0, nullptr, nullptr, 0};
  int mine = (int)threadIdx.x, now;
  rectangle r = rectangle_of_box(tiles, tile_of_block(&a));
  pixel p = pixel_of_block(&a);
  float own[3];
  begin_pixel(own);
  for (int begin = 0; begin < a.count; begin += BOX_PIXELS) {
    const circle *c = &a.circles[min(begin + mine, a.count - 1)];
    bool reaches = circle_reaches(c->x, c->y, c->radius, r) & (begin + mine < a.count);
    sums[now = 0][mine] = reaches;
    for (int far = 1; far < BOX_PIXELS; far *= 2, now ^= 1) {
      __syncthreads();
      sums[now ^ 1][mine] = sums[now][mine] + (mine >= far ? sums[now][mine - far] : 0);
    }
    if (reaches) keys[sums[now][mine] - 1] = begin + mine;
    __syncthreads();
    int found = sums[now][BOX_PIXELS - 1];
    for (int i = 0; i < found; ++i) paint_over(own, &a.circles[keys[i]], p);
    __syncthreads(); /* all have painted those, and read how many */
  }
  end_pixel(&a, own, p);
}

__global__ void __launch_bounds__(BOX_PIXELS) paint_voted(painting a) {
  int lane = (int)threadIdx.x & 31;
  pixel p = pixel_of_block(&a);
  rectangle r = rectangle_of_warp(p);
  float own[3];
  begin_pixel(own);
  for (int begin = 0; begin < a.count; begin += 32) {
    const circle *c = &a.circles[min(begin + lane, a.count - 1)];
    bool reaches = circle_reaches(c->x, c->y, c->radius, r) & (begin + lane < a.count);
    unsigned rest = __ballot_sync(WHOLE_WARP, reaches);
    for (; rest != 0u; rest &= rest - 1u)
      paint_over(own, &a.circles[begin + __ffs((int)rest) - 1], p);
  }
  end_pixel(&a, own, p);
}

/* ---- host ----------------------------------------------------------------------------------- */

/* The lists of all boxes, each behind its length: of the circles whose squares meet the box. */
static std::vector<std::vector<int>> find_by_cpu(const painting *a, const scene *s) {
  const int side = a->boxes.side, columns = a->boxes.columns, rows = a->boxes.boxes / columns;
  std::vector<std::vector<int>> lists((size_t)a->boxes.boxes, std::vector<int>(1, 0));
  for (int i = 0; i < a->count; ++i) {
    const circle *c = &s->circles[(size_t)i];
    float reach = c->radius + 0.5f;
    int x0 = std::max((int)(c->x - reach) / side, 0), y0 = std::max((int)(c->y - reach) / side, 0);
    for (int y = y0; y <= std::min((int)(c->y + reach) / side, rows - 1); ++y)
      for (int x = x0; x <= std::min((int)(c->x + reach) / side, columns - 1); ++x) {
        lists[(size_t)(y * columns + x)].push_back(i);
        ++lists[(size_t)(y * columns + x)][0];
      }
  }
  return lists;
}

static void paint_by_cpu(painting a, const scene *s) {
  const std::vector<std::vector<int>> lists = find_by_cpu(&a, s);
  device_pool pool;
  for (; a.first < a.boxes.boxes; ++a.first) {
    a.found = take_copy(&pool, lists[(size_t)a.first], "a list");
    a.boxes.list = a.found + 1;
    SIMT_LAUNCH(paint_listed<BOXES>, TILES * TILES, BOX_PIXELS, 0, 0, a);
    device_give_back(&pool);
  }
}

static void paint(int step, const painting *a, const scene *s, renderer *r) {
  static void (*const kernels[])(painting) = {paint_listed<PIXELS>, nullptr,
                                              paint_listed<BOXES>,  paint_listed<REGISTERS>,
                                              paint_scanned,        paint_voted};
  if (step == CPU) return paint_by_cpu(*a, s);
  if (step == STUDY) return renderer_lists(r), renderer_pass(r, PASS_DRAW, 0, nullptr);
  if (step == BOXES || step == REGISTERS)
    SIMT_LAUNCH(find_in_boxes, line_blocks((size_t)a->boxes.boxes), LINE_THREADS, 0, 0, *a);
  SIMT_LAUNCH(kernels[step], a->boxes.boxes * TILES * TILES, BOX_PIXELS, 0, 0, *a);
}

/* Every step on one scene; false if a picture is not that of the first step. */
static bool measure_scene(FILE *out, int kind, error_line *error) {
  const scene s = scene_make(kind, DEFAULT_WIDTH, DEFAULT_HEIGHT, scene_circles(kind), 1);
  const int side = TILES * BOX_SIDE, columns = (s.width + side - 1) / side;
  const int boxes = columns * ((s.height + side - 1) / side), count = (int)s.circles.size();
  std::vector<float> wanted;
  size_t off = 0;
  renderer r;
  renderer_begin(&r, &s, nullptr);
  int *list = take_zeros<int>(&r.arrays, (size_t)boxes * count, "lists");
  const painting a = {r.circles,
                      r.picture,
                      s.width,
                      s.height,
                      count,
                      {side, columns, boxes, 1, nullptr, list, count},
                      take_zeros<int>(&r.arrays, (size_t)boxes, "lists"),
                      0};
  for (int step = 0; step < STEPS && off == 0 && !interrupts; ++step) {
    const size_t floats = (size_t)s.width * s.height * 3;
    const float accepted = step == STUDY ? 0.3f / 255.0f : 0.0f;
    const float ms = median_time(
        RUNS, [&] { paint(step, &a, &s, &r); },
        [&] { device_clear(r.picture, floats * sizeof(float)); });
    const std::vector<float> got = renderer_read(&r);
    if (step == 0) wanted = got;
    for (size_t i = 0; i < floats; ++i) off += !(fabsf(got[i] - wanted[i]) <= accepted);
    fprintf(out, "%s,%d,%s,%.4f\n", scene_names[kind], count, names[step], ms);
    if (off > 0)
      error_set(error, "%s, scene %s: %zu numbers of the picture are not those of %s", names[step],
                scene_names[kind], off, names[0]);
  }
  renderer_end(&r);
  return off == 0;
}

static bool measure(FILE *out, error_line *error) {
  fprintf(out, "# pixels: %d x %d\nscene,circles,step,frame_ms\n", DEFAULT_WIDTH, DEFAULT_HEIGHT);
  for (int kind : {SCENE_3, SCENE_10K, SCENE_100K, SCENE_BIGLITTLE})
    if (!measure_scene(out, kind, error)) return false;
  return true;
}

int main(int argc, char **argv) { return table_program("circles_ladder", argc, argv, measure); }
