/* arc example gaussians: pictures alone.
   SPDX-License-Identifier: Apache-2.0 */
#include "draw.cuh"

#include <string.h>

void draw_begin(drawer *d, const frame_settings *settings, device_memory *memory) {
  memset(d, 0, sizeof *d);
  frame_begin(&d->f, settings, memory);
  frame_reserve_pairs(&d->f, 0);
  d->fused = true;
  d->paint = paint<WALK_GROUPS, true, 2>;
  d->pixels = 2;
  d->room = d->f.pair_capacity;
  for (int i = 0; i < DRAW_MARKS; ++i)
    device_check(cudaEventCreate(&d->marks[i]), "creating an event");
}

void draw_by_macro_tiles(drawer *d, int side, bool bins) {
  d->f.macro_side = side;
  d->f.bins = bins;
  d->fused = true;
  d->paint = side == 8 ? paint<WALK_UNITS_8, true, 2> : paint<WALK_UNITS_16, true, 2>;
  frame_reserve_pairs(&d->f, 0);
}

void draw_end(drawer *d) {
  frame_end(&d->f);
  for (int i = 0; i < DRAW_MARKS; ++i) cudaEventDestroy(d->marks[i]);
}

static void draw_mark(drawer *d, int mark) {
  device_check(cudaEventRecord(d->marks[mark], 0), "recording an event");
}

/* Returns how many pairs there are: if more than d->room, the picture lacks some. */
static unsigned draw_once(drawer *d, gaussians model, int count, int degree,
                          const device_camera *camera) {
  frame *f = &d->f;
  size_t pixels = (size_t)camera->width * camera->height;
  device_reserve(f->memory, &f->colour, 3 * pixels * sizeof(float), "memory for the picture");
  draw_mark(d, DRAW_START);
  if (d->fused) {
    frame_place(f, model, count, degree, camera, d->room);
  } else {
    frame_project(f, model, count, degree, camera);
    frame_emit(f, d->room);
  }
  draw_mark(d, DRAW_PLACED);
  unsigned pairs = d->counts_first ? frame_count_pairs(f) : (unsigned)d->room;
  if (pairs > (unsigned)d->room) return pairs;
  frame_list_pairs(f, (int)pairs, d->counts_first);
  draw_mark(d, DRAW_SORTED);
  SIMT_LAUNCH(d->paint, f->tiles, TILE_PIXELS / d->pixels, 0, 0, frame_render_arguments(f),
              (float *)f->colour.data);
  draw_mark(d, DRAW_END);
  return frame_count_pairs(f);
}

void draw_view(drawer *d, gaussians model, int count, int degree, const device_camera *camera) {
  for (;;) {
    unsigned pairs = draw_once(d, model, count, degree, camera);
    bool fits = pairs <= (unsigned)d->room;
    if (pairs > (unsigned)d->f.pair_capacity) frame_reserve_pairs(&d->f, pairs);
    long long room = (long long)pairs + pairs / 4 + 1024;
    d->room = room < d->f.pair_capacity ? (int)room : d->f.pair_capacity;
    d->f.pairs = (int)pairs;
    if (fits) break;
    d->redrawn += 1;
  }
  device_check(cudaGetLastError(), "drawing");
}

draw_times draw_read_times(const drawer *d) {
  draw_times t;
  float *parts[] = {&t.place, &t.sort, &t.paint};
  for (int i = 0; i < 3; ++i)
    device_check(cudaEventElapsedTime(parts[i], d->marks[i], d->marks[i + 1]), "timing");
  device_check(cudaEventElapsedTime(&t.all, d->marks[DRAW_START], d->marks[DRAW_END]), "timing");
  return t;
}
