/* arc study gaussians: pictures alone.
   SPDX-License-Identifier: Apache-2.0 */
#include "draw.cuh"

#include <string.h>

/* Splats of a list, in the mean, below which and above which the other size is taken. */
enum { SHORT_LIST = 700 /* of 64 x 32 pixels */, LONG_LIST = 2000 /* of 128 x 64 */ };

void draw_begin(drawer *d, const frame_settings *settings, device_memory *memory) {
  memset(d, 0, sizeof *d);
  frame_begin(&d->f, settings, memory);
  draw_by_tiles(d);
  for (int i = 0; i < DRAW_MARKS; ++i)
    device_check(cudaEventCreate(&d->marks[i]), "creating an event");
}

static void draw_by(drawer *d, int macro_side, paint_kernel paint, int pixels) {
  if ((macro_side > 0) != (d->f.macro_side > 0)) d->f.pair_capacity = 0; /* other values */
  d->f.macro_side = macro_side;
  d->fused = true;
  d->paint = paint;
  d->pixels = pixels;
}

void draw_by_tiles(drawer *d) { draw_by(d, 0, paint<WALK_GROUPS, true, 2>, 2); }

void draw_by_macro_tiles(drawer *d, int side) {
  if (side == 8) draw_by(d, 8, paint<WALK_UNITS_8, true, 2>, 2);
  if (side == 16) draw_by(d, 16, paint<WALK_UNITS_16, true, 4>, 4);
}

/* The last picture's lists were short, or long, for their macro tiles. Measured: macro tiles of
   128 x 64 pixels gain where a list of theirs has up to about 1200 splats, those of 64 x 32 where
   one of theirs has from about 1100 on. */
static void draw_adapt(drawer *d) {
  const frame *f = &d->f;
  int side = f->macro_side, listed = f->grid.lists > 0 ? f->pairs / f->grid.lists : 0;
  if (side == 8 && f->pairs > 0 && listed < SHORT_LIST) side = 16;
  if (side == 16 && listed > LONG_LIST) side = 8;
  if (side != f->macro_side) draw_by_macro_tiles(d, side);
}

void draw_adaptively(drawer *d) {
  draw_by_macro_tiles(d, 8);
  d->adapts = true;
}

void draw_end(drawer *d) {
  frame_end(&d->f);
  for (int i = 0; i < DRAW_MARKS; ++i) cudaEventDestroy(d->marks[i]);
}

static void draw_mark(drawer *d, int mark) {
  device_check(cudaEventRecord(d->marks[mark], 0), "recording an event");
}

void draw_view(drawer *d, gaussians model, int count, int degree, const device_camera *camera) {
  frame *f = &d->f;
  size_t pixels = (size_t)camera->width * camera->height;
  if (d->adapts) draw_adapt(d);
  device_reserve(f->memory, &f->colour, 3 * pixels * sizeof(float), "memory for the picture");
  draw_mark(d, DRAW_START);
  if (d->fused) {
    frame_place(f, model, count, degree, camera);
  } else {
    frame_project(f, model, count, degree, camera);
    frame_emit(f);
  }
  draw_mark(d, DRAW_PLACED);
  frame_sort(f);
  draw_mark(d, DRAW_SORTED);
  int blocks = f->macro_side > 0 ? f->part_count * f->grid.tiles : f->tiles;
  SIMT_LAUNCH(d->paint, blocks, TILE_PIXELS / d->pixels, 0, 0, frame_render_arguments(f),
              (float *)f->colour.data);
  draw_mark(d, DRAW_END);
  device_check(cudaDeviceSynchronize(), "drawing");
}

draw_times draw_read_times(const drawer *d) {
  draw_times t;
  float *parts[] = {&t.place, &t.sort, &t.paint};
  for (int i = 0; i < 3; ++i)
    device_check(cudaEventElapsedTime(parts[i], d->marks[i], d->marks[i + 1]), "timing");
  device_check(cudaEventElapsedTime(&t.all, d->marks[DRAW_START], d->marks[DRAW_END]), "timing");
  return t;
}
