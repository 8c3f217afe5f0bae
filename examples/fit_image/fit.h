/* arc example fit_image: the fit, from the first guess to the last step.
   SPDX-License-Identifier: Apache-2.0

       fit f;
       fit_begin(&f, &picture, &settings);
       for (int i = 0; i < settings.steps; ++i) fit_step(&f);
       double loss = fit_loss(&f);
       fit_end(&f); */
#ifndef FIT_FIT_H
#define FIT_FIT_H

#include "simt/simt.cuh"
#define ARC_MAX_PIECES 4 /* a target of means, log scales, angles and colours */
#include "arc.cuh"

#include "../common/adam.h"
#include "../common/device.h"
#include "../common/tiles.cuh"
#include "model.cuh"
#include "options.h"

/* No narrower than this, in pixels: a thinner Gaussian would slip between pixel centres. */
#define SMALLEST_SCALE 0.3f

typedef struct canvas {
  int width, height; /* pixels */
  int tiles_x, tiles_y;
} canvas;

/* Tile t holds the Gaussians keys[begin[t]] to keys[begin[t + 1] - 1], in no particular order. */
typedef struct tile_lists {
  int *begin; /* one more than there are tiles */
  int *keys;
  int capacity; /* of keys */
} tile_lists;

/* Events of one step, in this order. */
enum { MARK_START, MARK_LISTS, MARK_FORWARD, MARK_BACKWARD, MARK_END, FIT_MARKS };

/* Milliseconds: on a GPU by its events, on the CPU warp the host's time for the emulation. */
typedef struct step_times {
  float *whole, *forward, *backward, *rest; /* one each step */
} step_times;

typedef struct fit {
  fit_settings settings;
  canvas c;
  int tiles;
  int steps_done;

  gaussians parameters, gradients, first_moments, second_moments;
  float *target, *residual; /* 3 a pixel */
  float *tile_losses;
  splat *splats;
  tile_box *boxes;
  int *cursors;
  long long *total;
  tile_lists lists;

  cudaEvent_t marks[2][FIT_MARKS]; /* this step's and the one before's, which has surely ended */
  step_times times;
} fit;

void fit_begin(fit *f, const image *picture, const fit_settings *settings);
void fit_end(fit *f);
void fit_step(fit *f);
/* The times of a step that has ended. */
void fit_read_times(fit *f, int step);

/* The loss of the parameters as they are, after the last step; the latest: of the last forward
   kernel. */
double fit_loss(fit *f);
double fit_latest_loss(const fit *f);
double fit_psnr(const fit *f, double loss);
/* The picture whose loss fit_loss has just told. fitted has the size of the target. */
void fit_read_picture(const fit *f, const image *target, image *fitted);

/* ---- parts of a step ------------------------------------------------------------------------ */

/* Four arrays in one block of 8 floats a Gaussian. */
gaussians split_gaussians(float *block, int count);

/* Splats and tile lists of the parameters as they are. */
void fit_build_lists(fit *f);
/* Turns counts into list positions: begin[t] and cursors[t] become the sum of the counts before
   tile t. cursors holds the counts at the start. total: the sum of all. */
void fit_scan_tiles(int tiles, int *cursors, int *begin, long long *total);
/* Writes no key behind the lists' capacity. */
void fit_fill_tiles(fit *f);
void fit_forward(fit *f);
/* Adds to the gradients, which are zero at the start of a step. */
void fit_backward(fit *f);

typedef struct adam_step {
  float rate, low, high; /* parameters stay from low to high */
  adam_decay decay;
} adam_step;

/* One step of Adam for `count` floats; leaves the gradients at zero for the next one. */
void fit_adam(float *parameters, float *gradients, float *means, float *squares, int count,
              adam_step step);

#endif
