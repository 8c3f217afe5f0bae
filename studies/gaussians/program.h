/* arc study gaussians: what training and measuring share.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../../bench/common/program_run.h"
#include "render/draw.h"
#include "train/setup.h"

const char *clock_name(void);

/* What the frame has drawn of the view, under the view's name. */
bool write_picture(const frame *f, const view *v, const char *folder, error_line *error);

/* Where the checkpoints of a run go; path null: nowhere. */
typedef struct checkpoint_plan {
  const char *path;
  int every; /* iterations; 0: never in between */
} checkpoint_plan;

/* From where the trainer stands to the end, to Ctrl-C, or to the loss of a process of its group
   (team->lost). A checkpoint on the way that cannot be written is told, and training goes on.
   seconds: of all of it. */
void train_on(trainer *t, checkpoint_plan plan, double *seconds);

/* Medians over the iterations of this run, in milliseconds; sum: the mean over steps and
   processes. */
typedef struct step_medians {
  float forward, backward, rest, sum;
} step_medians;

step_medians medians_of(const trainer *t);

/* What --draw draws: a model, on the device, and cameras. */
typedef struct draw_input {
  scene data;
  device_memory memory;
  device_array block, halves;
  gaussians model;
  int count, degree;
} draw_input;

/* Of the options; on failure nothing is left to free. */
bool draw_load(draw_input *in, const options *o, error_line *error);
/* Harmonics as floats, as halves or both, of which the model then has either; halves come first. */
void draw_upload(draw_input *in, const gaussians_host *model, bool floats, bool halves);
void draw_free(draw_input *in);
/* Of so many pictures of the view, the last of which d then holds. */
draw_times draw_medians(drawer *d, const draw_input *in, int view, int repeats);
/* --draw; returns the exit status. */
int run_draw(const options *o);
