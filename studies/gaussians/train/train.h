/* arc study gaussians: training, from the first model to the last step.
   SPDX-License-Identifier: Apache-2.0

       trainer t;
       trainer_begin(&t, &data, &settings);
       trainer_set_model(&t, &first_model);
       while (t.iteration < settings.iterations) trainer_step(&t);
       trainer_judge(&t, true, &figures);
       trainer_end(&t); */
#pragma once

#include "../../common/adam.h"
#include "../render/frame.h"
#include "arc_tune.h"
#include "group.h"
#include "../settings.h"

enum { BLOCK_PARAMETERS, BLOCK_GRADIENTS, BLOCK_MEANS, BLOCK_SQUARES, BLOCKS };
enum {
  MARK_START,
  MARK_DRAWN,
  MARK_MEASURED,
  MARK_BACKWARD,
  MARK_SLOPES,
  MARK_SUMMED,
  MARK_END,
  MARKS
};

/* Of one iteration, that is, one view. Milliseconds: on a GPU by its events, on the CPU warp the
   host's time for the emulation. What a step does once counts to its last view. */
typedef struct step_record {
  int view, gaussians, pairs;
  float forward_ms, backward_ms, rest_ms;
  float sum_ms; /* waiting for the other processes, and adding up */
} step_record;

typedef struct trainer {
  train_settings settings;
  const scene *data;
  device_memory memory;
  frame f;
  group *team;                           /* after trainer_begin: this process alone */
  int count, iteration, first_iteration; /* where this run began */
  int drawn, last; /* views by this process, and the iteration of the last; -1: none */
  bool stopped;    /* a process of the group was interrupted before the last sum */
  device_array blocks[BLOCKS], statistics, losses;
  device_array next[BLOCKS]; /* of a group: what a step makes of them, until all sums are there */
  std::vector<device_array> targets; /* of each view: three planes of bytes */
  std::vector<device_camera> cameras;
  std::vector<int> training; /* numbers of the views to train on, shuffled for the epoch */
  int epoch;
  std::vector<step_record> records; /* of each iteration of this run */
  cudaEvent_t marks[2][MARKS];      /* this step's and the one before's, which has surely ended */
  arc_tune tune;
  arc_tune_policy policies[2]; /* this step's and the one before's */
} trainer;

/* data: what to train on; it must outlive the trainer. To train in a group, set `team` then. */
void trainer_begin(trainer *t, const scene *data, const train_settings *settings);
void trainer_end(trainer *t);

/* Room for a model of that many, moments and statistics 0, parameters as they come. */
void trainer_make_room(trainer *t, int count);
void trainer_set_model(trainer *t, const gaussians_host *model);
bool trainer_get_model(const trainer *t, gaussians_host *model, error_line *error);

gaussians trainer_block(const trainer *t, int block);
size_t model_bytes(int count);
void model_to_device(const gaussians_host *host, gaussians device);
void model_to_host(gaussians_host *host, gaussians device);
view_statistics trainer_statistics(const trainer *t);
/* Of the view of that iteration, on the device. */
double *trainer_losses(const trainer *t, int iteration);
/* For as many Gaussians as there are. */
void trainer_reserve_gradients(trainer *t);

/* Before the first step: the first sum of a group sets up its links. */
void trainer_link(trainer *t);
/* A step of settings.batch views, which are divided among the processes of the group. Where one of
   them is gone (team->lost) the model is as it was before the step. */
void trainer_step(trainer *t);
/* The times of the last view of this process, whose step has ended. */
void trainer_read_times(trainer *t);
/* After the last step, by all processes of the group: losses and records of all views. */
void trainer_gather(trainer *t);
/* After the last step: the policy that the tuner has chosen, if it tunes, in place of the last one
   tried. */
void trainer_take_choice(trainer *t);
/* The view to train on. Iterations must not come in an order that goes back and forth. */
int trainer_view(trainer *t, int iteration);
/* Degrees of the harmonics come in one after another, 1000 iterations apart or, in a short run,
   evenly. */
int degree_at(const train_settings *s, int iteration);

/* ---- results -------------------------------------------------------------------------------- */

/* Of the step of that iteration. */
loss_figures trainer_figures(const trainer *t, int iteration);
void trainer_draw(trainer *t, int index);
/* Whether there is a view i, and no interrupt; shows on a terminal how far it is. */
bool trainer_next_view(const trainer *t, const char *what, int i);
/* Means over the views that are held out, or over those that are not; false if there are none, or
   after an interrupt. */
bool trainer_judge(trainer *t, bool held_out, loss_figures *mean);
/* The loss by the 12 numbers of each training camera, for the model as it is: rows of 12 floats,
   one per view of the scene; those of held-out views are 0. None after an interrupt. */
std::vector<float> trainer_camera_slopes(trainer *t);

/* ---- parts of a step ------------------------------------------------------------------------ */

/* Harmonics: of each row of `period` floats the first `first` ones move at rate, the others at
   rate_of_others. */
typedef struct adam_step {
  float rate, rate_of_others;
  int period, first;
  float share;    /* of a sum over views: the gradient is so much of it */
  int scale_log2; /* of a sum in fixed point; negative: it is a float */
  adam_decay decay;
} adam_step;

/* Of the `to`th view, after a step of that many. A batch of b moves by sqrt(b) times the rate, and
   its moments decay as after b steps, so that what a view teaches does not depend on b. */
adam_step adam_at(float rate, int batch, int to);
/* Parameters, on the device, and their moments. */
typedef struct adam_floats {
  float *parameters, *means, *squares;
} adam_floats;

/* One step of Adam for `count` numbers, in place or to another place. sums: of their gradients,
   floats or 64-bit integers. */
void adam_move(adam_floats from, adam_floats to, const void *sums, size_t count, adam_step step);

/* What densification makes of a Gaussian. */
typedef enum fate { FATE_PRUNE, FATE_KEEP, FATE_CLONE, FATE_SPLIT } fate;

/* Clones, splits and prunes. Where the model would become too large it is only pruned; the last
   Gaussians are never lost. */
void trainer_densify(trainer *t);
void trainer_reset_opacity(trainer *t);

/* One Gaussian a point of the scene, or `count` ones at random in its box. */
bool start_model(gaussians_host *g, const scene *data, int count, int sh_degree, unsigned seed,
                 error_line *error);

/* ---- saving and resuming (checkpoint.cu) ----------------------------------------------------- */

bool checkpoint_write(const trainer *t, const char *path, error_line *error);
/* The trainer has been begun with the same scene and settings, but for the iterations, which may be
   more: what depends on their number, such as falling rates, is then that of the new number. */
bool checkpoint_read(trainer *t, const char *path, error_line *error);
