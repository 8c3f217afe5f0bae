/* arc study gaussians: pictures alone, as fast as they come.
   SPDX-License-Identifier: Apache-2.0

       drawer d;
       draw_begin(&d, &settings, &memory);
       draw_view(&d, model, count, degree, &camera);   for every picture: d.f.colour
       draw_end(&d);

   It allocates only the parts of a frame that a picture needs. */
#pragma once

#include "frame.h"

/* How a warp goes through its tile's list; the last two: through its macro tile's, of units of so
   many pixels a side. */
typedef enum draw_walk {
  WALK_GROUPS,
  WALK_BATCHES,
  WALK_UNITS_8,
  WALK_UNITS_16
} draw_walk;

typedef void (*paint_kernel)(render_arguments a, float *colour);

enum { DRAW_START, DRAW_PLACED, DRAW_SORTED, DRAW_END, DRAW_MARKS };

typedef struct drawer {
  frame f;
  bool fused;  /* projects and emits in one kernel; needed by macro tiles */
  bool adapts; /* the size of macro tiles */
  paint_kernel paint;
  int pixels; /* a lane, of paint */
  cudaEvent_t marks[DRAW_MARKS];
} drawer;

/* By tiles; a caller may set other steps before the first view. */
void draw_begin(drawer *d, const frame_settings *settings, device_memory *memory);
/* What has a list: each tile; each macro tile of 8 x 4 units of 8 or 16 pixels a side; these, by how
   long the last picture's lists were, which is the fastest. */
void draw_by_tiles(drawer *d);
void draw_by_macro_tiles(drawer *d, int side);
void draw_adaptively(drawer *d);
void draw_end(drawer *d);

/* Waits for the picture. f.pairs: how many there were. */
void draw_view(drawer *d, gaussians model, int count, int degree, const device_camera *camera);

/* Of the last picture, in milliseconds: from Gaussians to pairs, to the lists of the tiles, to the
   picture. */
typedef struct draw_times {
  float place, sort, paint, all;
} draw_times;

draw_times draw_read_times(const drawer *d);
