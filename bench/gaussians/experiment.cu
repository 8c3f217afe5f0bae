/* bench/gaussians --experiment: the papers' table.
   SPDX-License-Identifier: Apache-2.0

   Every implementation and threshold trains every scene from the same start, once a seed. */
#include "measure.h"

#include <math.h>

#include "bench/common/energy.h"
#include "bench/paper/table.h"
#if SIMT_ON_CPU
#include "bench/common/model.h"
#endif

/* With the papers' names of their paths. */
static const struct implementation {
  const char *name;
  add_way way;
  bool tunes, reproducible; /* by the trainer's own kernel */
} implementations[] = {
    {"plain", ADD_PLAIN, false, false},       {"SW-S", ADD_SERIALIZED, false, false},
    {"SW-B", ADD_BUTTERFLY, false, false},    {"cub", ADD_CUB, false, false},
    {"shuffles", ADD_SHUFFLES, false, false}, {"auto", ADD_AUTO, false, false},
    {"tuned", ADD_AUTO, true, false},         {"reproducible", ADD_DEFAULT, false, true}};

/* What all rows of a scene share. */
typedef struct experiment {
  output_file *table;
  energy_counter energy;
  const scene *data;
  const char *dataset;
} experiment;

/* Median of the training's backward passes; on the CPU warp one more, modelled from its counts. */
static double experiment_backward_ms(trainer *t) {
#if SIMT_ON_CPU
  simt_counters_reset();
  frame_backward(&t->f);
  const simt_counters c = simt_counters_read();
  return model_ms(&c);
#else
  return medians_of(t).backward;
#endif
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void experiment_write_row(experiment *e, trainer *t, const implementation *by,
                                 double seconds) {
  loss_figures train, test;
  char room[16];
  unsigned long long histogram[LANE_COUNTS] = {0}, keys[PAPER_COUNTS] = {0};
  const int threshold = t->f.settings.threshold; /* of a tuned run: the tuner's choice */
  bool has_train = trainer_judge(t, false, &train), has_test = trainer_judge(t, true, &test);
  if (interrupts) return;
  trainer_draw(t, t->training[0]);
  frame_measure(&t->f, (const unsigned char *)t->targets[t->training[0]].data,
                (double *)t->losses.data);
  count_lanes_of_frame(t, 2, histogram); /* the trainer's own */
  frame_clear_sums(&t->f);
  double millijoules = energy_of_launch(&e->energy, 0.3, 16, [&] { frame_backward(&t->f); });
  double backward_ms = experiment_backward_ms(t);
  keys[0] = histogram[0]; /* a warp step that hits has one key */
  for (int i = 1; i < LANE_COUNTS; ++i) keys[1] += histogram[i];
  const paper_row row = {"gaussians",
                         by->name,
                         e->dataset,
                         add_way_has_threshold(by->way) ? threshold : -1,
                         has_train ? train.psnr : NAN,
                         has_train ? train.l1 : NAN,
                         has_test ? test.psnr : NAN,
                         has_test ? test.l1 : NAN,
                         seconds,
                         backward_ms,
                         millijoules,
                         NAN,
                         t->iteration,
                         (int)t->settings.seed,
                         histogram,
                         keys};
  paper_table_add(e->table, &row);
  printf("%-12s %9s %-10s seed %u  train %7.3f dB  test %7.3f dB  %8.2f s  backward %.4g ms\n",
         by->name, threshold_of_way(by->way, threshold, room), printable(e->dataset),
         t->settings.seed, train.psnr, has_test ? test.psnr : NAN, seconds, backward_ms);
  fflush(stdout);
}

/* ---- trainings ------------------------------------------------------------------------------ */

/* One training; its row only if it was not interrupted. */
static void experiment_run(experiment *e, train_settings settings, const implementation *by,
                           int threshold, const gaussians_host *model) {
  trainer t;
  double seconds;
  checkpoint_plan none = {nullptr, 0};
  if (interrupts) return;
  settings.tunes = by->tunes;
  settings.frame.reproducible = by->reproducible;
  settings.frame.threshold = threshold;
  trainer_begin(&t, e->data, &settings);
  if (!by->tunes && !by->reproducible) t.f.backward = way_launcher(by->way, SUMS_ROWS, 2);
  trainer_set_model(&t, model);
  train_on(&t, none, &seconds);
  if (!interrupts) experiment_write_row(e, &t, by, seconds);
  trainer_end(&t);
}

/* All implementations from one start. */
static bool experiment_seed(experiment *e, const options *o, unsigned seed, error_line *error) {
  gaussians_host model;
  options mine = *o;
  mine.train.seed = seed;
  if (!setup_first_model(&model, e->data, &mine, error)) return interrupts > 0;
  for (const implementation &by : implementations) {
    const bool searched = add_way_has_threshold(by.way) && !by.tunes;
    if (way_launcher(by.way, SUMS_ROWS, 2) == nullptr) continue;
    for (int threshold = 0; threshold <= 32 && searched; threshold += 8)
      experiment_run(e, mine.train, &by, threshold, &model);
    if (!searched || by.way == ADD_AUTO)
      experiment_run(e, mine.train, &by, ARC_THRESHOLD_AUTO, &model);
  }
  return true;
}

/* All seeds train on the one scene, that of the first. */
static bool experiment_scene(output_file *table, const bench_options *b, int kind,
                             error_line *error) {
  const options *o = &b->o;
  scene data;
  bool done = kind != 0 ? setup_procedural(&data, o, kind, error) : setup_load(&data, o, error);
  if (!done) return interrupts > 0; /* the rows so far are written */
  experiment e = {table, energy_open(), &data, dataset_name(o, kind)};
  for (int i = 0; i < b->seeds && done && !interrupts; ++i)
    done = experiment_seed(&e, o, o->train.seed + (unsigned)i, error);
  energy_close(&e.energy);
  scene_free(&data);
  return done;
}

/* After Ctrl-C the rows so far are written. */
int run_experiment(const bench_options *b) {
  output_file file;
  error_line error;
  unsigned datasets = datasets_of(b);
  bool done = true;
  if (!paper_table_open(&file, b->experiment, &error)) return fail(2, &error);
  for (int kind = 0; kind <= SCENE_LARGE && done && !interrupts; ++kind)
    if ((datasets >> kind & 1u) != 0u) done = experiment_scene(&file, b, kind, &error);
  if (!done) {
    output_file_abandon(&file);
    return fail(2, &error);
  }
  if (!output_file_commit(&file, &error)) return fail(1, &error);
  printf("written    %s\n", printable(b->experiment));
  return measure_status();
}
