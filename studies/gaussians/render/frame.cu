/* arc study gaussians: one view of a model, forward and backward.
   SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "forward.cuh"
#include "loss.cuh"
#include "project.cuh"
#include "sort.h"
#include "tiles.cuh"

void frame_begin(frame *f, const frame_settings *settings, device_memory *memory) {
  memset(f, 0, sizeof *f);
  f->settings = *settings;
  f->memory = memory;
  f->backward = backward_launch;
  f->longest_part = 8192;
}

void frame_end(frame *f) {
  device_array *arrays[] = {&f->splats,      &f->boxes,      &f->keys[0], &f->keys[1],
                            &f->values[0],   &f->values[1],  &f->scratch, &f->first,
                            &f->total,       &f->colour,     &f->drawn,   &f->transmittance,
                            &f->hits,        &f->slope,      &f->maps,    &f->parts,
                            &f->sums,        &f->words,      &f->depths,  &f->list_parts,
                            &f->parts_drawn, &f->part_pixels};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) device_release(f->memory, arrays[i]);
}

/* ---- forward -------------------------------------------------------------------------------- */

static void frame_set_view(frame *f, gaussians model, int count, int degree,
                           const device_camera *camera) {
  f->model = model;
  f->count = count;
  f->degree = degree;
  f->camera = *camera;
  f->tiles = camera->tiles_x * camera->tiles_y;
  f->grid = list_grid_of(camera, f->macro_side, count);
  device_reserve(f->memory, &f->splats, (size_t)count * sizeof(splat), "memory for the splats");
  device_reserve(f->memory, &f->total, sizeof(unsigned), "memory for the total");
  device_reserve(f->memory, &f->first, ((size_t)f->grid.lists + 1) * sizeof(int),
                 "memory for the tiles");
  device_reserve(f->memory, &f->depths, (size_t)count * sizeof(float), "memory for the depths");
}

static projections frame_projections(const frame *f) {
  projections p = {(splat *)f->splats.data, (tile_box *)f->boxes.data, (float *)f->depths.data};
  return p;
}

void frame_project(frame *f, gaussians model, int count, int degree, const device_camera *camera) {
  frame_set_view(f, model, count, degree, camera);
  device_reserve(f->memory, &f->boxes, (size_t)count * sizeof(tile_box), "memory for the boxes");
  SIMT_LAUNCH(project, line_blocks(count), LINE_THREADS, 0, 0, model, count, degree, *camera,
              f->settings.test, frame_projections(f));
}

static void frame_reserve_pairs(frame *f, unsigned pairs) {
  size_t room = (size_t)pairs + pairs / 4 + 1024;
  size_t value = f->macro_side > 0 ? sizeof(masked_gaussian) : sizeof(int);
  if (room > INT_MAX) {
    fprintf(stderr,
            "the splats touch %u tiles, more than the lists can hold; use fewer "
            "Gaussians or smaller pictures\n",
            pairs);
    exit(1);
  }
  for (int i = 0; i < 2; ++i) {
    device_reserve(f->memory, &f->keys[i], room * sizeof(unsigned), "memory for the lists");
    device_reserve(f->memory, &f->values[i], room * value, "memory for the lists");
  }
  device_reserve(f->memory, &f->scratch, sort_scratch_bytes((int)room), "memory for sorting");
  f->pair_capacity = (int)room;
}

/* emit(out): one pass. Again if there was too little room for all pairs, for which the host waits. */
template <class V, class F>
static void frame_emit_all(frame *f, F emit) {
  unsigned pairs = 0;
  if (f->pair_capacity == 0) frame_reserve_pairs(f, 0);
  for (;;) {
    pair_output<V> out = {(unsigned *)f->keys[0].data, (V *)f->values[0].data, f->pair_capacity,
                          (unsigned *)f->total.data};
    device_clear(out.total, sizeof *out.total);
    emit(out);
    device_to_host(&pairs, out.total, sizeof pairs, "counting pairs");
    if (pairs <= (unsigned)f->pair_capacity) break;
    frame_reserve_pairs(f, pairs);
  }
  f->pairs = (int)pairs;
}

void frame_emit(frame *f) {
  frame_emit_all<int>(f, [&](pair_output<int> out) {
    SIMT_LAUNCH(emit_pairs, line_blocks(f->count), LINE_THREADS, 0, 0, frame_projections(f),
                f->count, f->grid, f->settings.test, out);
  });
}

template <class V, int side>
static void frame_place_pairs(frame *f) {
  frame_emit_all<V>(f, [&](pair_output<V> out) {
    SIMT_LAUNCH((place<V, side>), line_blocks(f->count), LINE_THREADS, 0, 0, f->model, f->count,
                f->degree, f->camera, f->grid, f->settings.test, (splat *)f->splats.data,
                (float *)f->depths.data, out);
  });
}

void frame_place(frame *f, gaussians model, int count, int degree, const device_camera *camera) {
  frame_set_view(f, model, count, degree, camera);
  if (f->macro_side == 0) frame_place_pairs<int, TILE_SIDE>(f);
  if (f->macro_side == 8) frame_place_pairs<masked_gaussian, 8>(f);
  if (f->macro_side == 16) frame_place_pairs<masked_gaussian, 16>(f);
}

template <class V>
static void frame_sort_pairs(frame *f) {
  pair_buffers<V> pairs;
  for (int i = 0; i < 2; ++i) {
    pairs.keys[i] = (unsigned *)f->keys[i].data;
    pairs.values[i] = (V *)f->values[i].data;
  }
  int sorted = sort_pairs(pairs, f->pairs, f->scratch.data, f->scratch.bytes);
  if (sorted < 0) device_check(cudaGetLastError(), "sorting");
  f->list = pairs.values[1 - sorted];
  SIMT_LAUNCH(find_lists<V>, line_blocks((size_t)f->pairs + 1), LINE_THREADS, 0, 0,
              (const unsigned *)pairs.keys[sorted], (const V *)pairs.values[sorted],
              (const float *)f->depths.data, f->pairs, f->grid, (int *)f->first.data,
              pairs.values[1 - sorted]);
}

/* At most one part more for each whole `longest`, and two slots. */
static void frame_order_parts(frame *f) {
  const int longest = f->longest_part * (f->macro_side * f->macro_side / 64);
  const int cuts = f->pairs / longest;
  const size_t tiles = 2 * (size_t)cuts * f->grid.tiles; /* of all slots */
  f->part_count = f->grid.lists + cuts;
  device_reserve(f->memory, &f->list_parts, (size_t)f->part_count * sizeof(list_part),
                 "memory for the tiles");
  device_reserve(f->memory, &f->parts_drawn, tiles * sizeof(drawn_parts), "memory for the tiles");
  device_reserve(f->memory, &f->part_pixels, tiles * TILE_PIXELS * sizeof(float4),
                 "memory for the tiles");
  SIMT_LAUNCH(order_parts, 1, ORDER_THREADS, 0, 0, (const int *)f->first.data, f->grid, longest,
              (list_part *)f->list_parts.data, f->part_count, (drawn_parts *)f->parts_drawn.data);
}

void frame_sort(frame *f) {
  if (f->macro_side == 0) return frame_sort_pairs<int>(f);
  frame_sort_pairs<masked_gaussian>(f);
  frame_order_parts(f);
}

void frame_list(frame *f) {
  frame_emit(f);
  frame_sort(f);
}

render_arguments frame_render_arguments(const frame *f) {
  render_arguments a;
  a.width = f->camera.width;
  a.height = f->camera.height;
  a.tiles_x = f->camera.tiles_x;
  a.lists.first = (const int *)f->first.data;
  a.lists.list = (const int *)f->list;
  a.lists.masked = (const masked_gaussian *)f->list;
  a.lists.parts = (const list_part *)f->list_parts.data;
  a.lists.drawn = (drawn_parts *)f->parts_drawn.data;
  a.lists.pixels = (float4 *)f->part_pixels.data;
  a.lists.grid = f->grid;
  a.splats = (const splat *)f->splats.data;
  for (int k = 0; k < 3; ++k) a.background[k] = f->settings.background[k];
  return a;
}

static picture_planes frame_planes(const frame *f) {
  picture_planes planes = {(float *)f->colour.data, (float *)f->transmittance.data,
                           (int *)f->drawn.data, (unsigned *)f->hits.data};
  return planes;
}

void frame_draw(frame *f) {
  size_t pixels = (size_t)f->camera.width * f->camera.height;
  device_reserve(f->memory, &f->colour, 3 * pixels * sizeof(float), "memory for the picture");
  device_reserve(f->memory, &f->transmittance, pixels * sizeof(float), "memory for the picture");
  device_reserve(f->memory, &f->drawn, pixels * sizeof(int), "memory for the picture");
  device_reserve(f->memory, &f->hits, hits_bytes((size_t)f->pair_capacity, (size_t)f->tiles),
                 "memory for the hits");
  device_clear(f->hits.data, hits_bytes((size_t)f->pairs, (size_t)f->tiles));
  SIMT_LAUNCH(render, f->tiles, TILE_PIXELS, 0, 0, frame_render_arguments(f), frame_planes(f));
}

void frame_forward(frame *f, gaussians model, int count, int degree, const device_camera *camera) {
  frame_project(f, model, count, degree, camera);
  frame_list(f);
  frame_draw(f);
}

void frame_read_picture(const frame *f, image *picture) {
  const size_t plane = (size_t)picture->width * picture->height;
  const auto planes = device_read<float>(f->colour.data, 3 * plane, "reading the picture");
  for (size_t p = 0; p < plane; ++p)
    for (int k = 0; k < 3; ++k) picture->rgb[3 * p + k] = planes[k * plane + p];
}

/* ---- loss ----------------------------------------------------------------------------------- */

static dim3 frame_loss_grid(const frame *f) { return dim3((unsigned)f->tiles, 3); }

static loss_pictures frame_loss_pictures(frame *f, const unsigned char *wanted, bool maps) {
  size_t plane = (size_t)f->camera.width * f->camera.height;
  device_reserve(f->memory, &f->parts, (size_t)f->tiles * 3 * LOSS_PARTS * sizeof(float),
                 "memory for the loss");
  if (maps) device_reserve(f->memory, &f->maps, 9 * plane * sizeof(float), "memory for the loss");
  float *map = maps ? (float *)f->maps.data : nullptr;
  loss_pictures p = {f->camera.width,
                     f->camera.height,
                     (const float *)f->colour.data,
                     wanted,
                     map,
                     maps ? map + 3 * plane : nullptr,
                     maps ? map + 6 * plane : nullptr};
  return p;
}

static void frame_sum_losses(frame *f, double *sums) {
  SIMT_LAUNCH(sum_losses, 1, LINE_THREADS, 0, 0, (const float *)f->parts.data, 3 * f->tiles, sums);
}

void frame_measure(frame *f, const unsigned char *wanted, double *sums) {
  loss_pictures p = frame_loss_pictures(f, wanted, true);
  size_t plane = (size_t)p.width * p.height;
  device_reserve(f->memory, &f->slope, 3 * plane * sizeof(float), "memory for the slope");
  SIMT_LAUNCH(measure_loss, frame_loss_grid(f), TILE_PIXELS, 0, 0, p, false,
              (float *)f->parts.data);
  frame_sum_losses(f, sums);
  SIMT_LAUNCH(loss_slope, frame_loss_grid(f), TILE_PIXELS, 0, 0, p, (float *)f->slope.data);
}

void frame_judge(frame *f, const unsigned char *wanted, double *sums) {
  loss_pictures p = frame_loss_pictures(f, wanted, false);
  SIMT_LAUNCH(measure_loss, frame_loss_grid(f), TILE_PIXELS, 0, 0, p, true, (float *)f->parts.data);
  frame_sum_losses(f, sums);
}

loss_figures loss_figures_of(const double *sums, int width, int height) {
  double values = 3.0 * width * height;
  loss_figures figures;
  figures.l1 = sums[LOSS_L1] / values;
  figures.ssim = sums[LOSS_SSIM] / values;
  figures.psnr = image_psnr(sums[LOSS_SQUARES], values);
  figures.loss = (1.0 - SSIM_SHARE) * figures.l1 + SSIM_SHARE * (1.0 - figures.ssim);
  return figures;
}

/* ---- backward ------------------------------------------------------------------------------- */

splat_sums frame_sums(const frame *f) {
  void *words = f->settings.reproducible ? f->words.data : nullptr;
  splat_sums sums = {f->count, (float *)f->sums.data, (long long *)words};
  return sums;
}

void frame_clear_sums(frame *f) {
  size_t bytes = (size_t)f->count * SPLAT_ROW * sizeof(float);
  size_t words = (size_t)f->count * SPLAT_WORDS * sizeof(long long), had = f->words.bytes;
  device_reserve(f->memory, &f->sums, bytes, "memory for the sums");
  if (!f->settings.reproducible) {
    device_clear(f->sums.data, bytes);
    return;
  }
  device_reserve(f->memory, &f->words, words, "memory for the sums");
  if (f->words.bytes != had) device_clear(f->words.data, f->words.bytes); /* else they are 0 */
}

backward_arguments frame_backward_arguments(const frame *f) {
  backward_arguments a;
  a.render = frame_render_arguments(f);
  a.planes = frame_planes(f);
  a.slope = (const float *)f->slope.data;
  a.sums = frame_sums(f);
  a.threshold = f->settings.threshold;
  return a;
}

void frame_backward(frame *f) {
  backward_arguments a = frame_backward_arguments(f);
  f->backward(f->tiles, &a);
}

void frame_project_backward(frame *f, gradient_sums gradients) {
  static void (*const kernels[])(gaussians, int, device_camera, const splat *, splat_sums,
                                 gradient_sums) = {project_backward<GRADIENTS_SET>,
                                                   project_backward<GRADIENTS_ADD>,
                                                   project_backward<GRADIENTS_ADD_FIXED>};
  SIMT_LAUNCH(kernels[gradients.mode], line_blocks(gradients.count), LINE_THREADS, 0, 0, f->model,
              f->degree, f->camera, (const splat *)f->splats.data, frame_sums(f), gradients);
}

void frame_camera_backward(frame *f, int view_index, long long *by_camera) {
  SIMT_LAUNCH(camera_backward, line_blocks(f->count), LINE_THREADS, 0, 0, f->model, f->count,
              f->degree, f->camera, (const splat *)f->splats.data, frame_sums(f), view_index,
              by_camera);
}
