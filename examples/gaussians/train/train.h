/* arc example gaussians: training, from the first model to the last step.
   SPDX-License-Identifier: Apache-2.0

       trainer t;
       trainer_begin(&t, &data, &settings);
       trainer_set_model(&t, &first_model);
       while (t.iteration < settings.iterations) trainer_step(&t);
       trainer_judge(&t, true, &figures);
       trainer_end(&t); */
#ifndef GAUSSIANS_TRAIN_H
#define GAUSSIANS_TRAIN_H

#include "../render/frame.h"
#include "arc_tune.h"
#include "settings.h"

enum { BLOCK_PARAMETERS, BLOCK_GRADIENTS, BLOCK_MEANS, BLOCK_SQUARES, BLOCKS };
enum { MARK_START, MARK_DRAWN, MARK_MEASURED, MARK_BACKWARD, MARK_END, MARKS };

/* Of one iteration. Milliseconds: on a GPU by its events, on the CPU warp the host's time for the
   emulation. */
typedef struct step_record {
  int view, gaussians, pairs;
  float forward_ms, backward_ms, rest_ms;
} step_record;

typedef struct trainer {
  train_settings settings;
  const scene *data;
  device_memory memory;
  frame f;
  int count, iteration, first_iteration; /* where this run began */
  device_array blocks[BLOCKS], statistics, losses;
  device_array *targets; /* of each view: three planes of bytes */
  device_camera *cameras;
  int *training; /* numbers of the views to train on, shuffled for the epoch */
  int training_count;
  step_record *records;        /* of each iteration of this run */
  cudaEvent_t marks[2][MARKS]; /* this step's and the one before's, which has surely ended */
  arc_tune tune;
  arc_tune_policy policies[2]; /* this step's and the one before's */
} trainer;

/* data: what to train on; it must outlive the trainer. */
void trainer_begin(trainer *t, const scene *data, const train_settings *settings);
void trainer_end(trainer *t);

/* Room for a model of that many, moments and statistics 0, parameters as they come. */
void trainer_make_room(trainer *t, int count);
void trainer_set_model(trainer *t, const gaussians_host *model);
/* model: to be freed with gaussians_free. */
bool trainer_get_model(const trainer *t, gaussians_host *model, error_line *error);

gaussians trainer_block(const trainer *t, int block);
size_t model_bytes(int count);

void trainer_step(trainer *t);
/* The times of a step that has ended. */
void trainer_read_times(trainer *t, int iteration);
/* After the last step: the policy that the tuner has chosen, if it tunes, in place of the last one
   tried. */
void trainer_take_choice(trainer *t);
/* The view to train on next. */
int trainer_view(trainer *t);
/* Degrees of the harmonics come in one after another, 1000 iterations apart or, in a short run,
   evenly. */
int degree_at(const train_settings *s, int iteration);

/* ---- results -------------------------------------------------------------------------------- */

/* Of the step of that iteration. */
loss_figures trainer_figures(const trainer *t, int iteration);
void trainer_draw(trainer *t, int index);
/* Whether work on all views is to go on. An interrupt counts once: the one that ended the training
   is not for what follows it. */
bool trainer_goes_on(const trainer *t);
/* Whether there is a view i, and it goes on; shows on a terminal how far it is. */
bool trainer_next_view(const trainer *t, const char *what, int i);
/* Means over the views that are held out, or over those that are not; false if there are none, or
   after an interrupt. */
bool trainer_judge(trainer *t, bool held_out, loss_figures *mean);
/* The view as it is drawn now; of the size of its camera. */
void trainer_read_picture(const trainer *t, image *picture);
/* The loss by the 12 numbers of each training camera, for the model as it is: rows of 12 floats,
   one a view of the scene; those of held-out views are 0. To be freed; null after an interrupt. */
float *trainer_camera_slopes(trainer *t);

/* ---- parts of a step ------------------------------------------------------------------------ */

/* Harmonics: of each row of `period` floats the first `first` ones move at rate, the others at
   rate_of_others. */
typedef struct adam_step {
  float rate, rate_of_others;
  int period, first;
  float correction_1, correction_2; /* 1 - beta^step of the two moments */
} adam_step;

/* One step of Adam for `count` floats of the device. */
void adam_move(float *parameters, const float *gradients, float *means, float *squares,
               size_t count, adam_step step);

/* What densification makes of a Gaussian. */
typedef enum fate { FATE_PRUNE, FATE_KEEP, FATE_CLONE, FATE_SPLIT } fate;

/* Clones, splits and prunes. Where the model would become too large it is only pruned; the last
   Gaussians are never lost. */
void trainer_densify(trainer *t);
void trainer_reset_opacity(trainer *t);

/* One Gaussian a point of the scene, or `count` ones at random in its box. */
bool start_model(gaussians_host *g, const scene *data, int count, int sh_degree, unsigned seed,
                 error_line *error);

#endif
