/* studies/gaussians/bench --experiment: the papers' table.
   SPDX-License-Identifier: Apache-2.0

   For each seed, every implementation runs the backward pass of the same first model at every
   threshold, then trains the model at the best threshold. In two more trainings the model is
   trained by arc as users get it, and by the papers' implementations as the papers do. */
#include "measure.h"

#include <math.h>
#include <string.h>

#include "../../common/energy.h"
#include "../../common/profiled.h"
#include "../../common/search.h"
#include "../../papers/table.h"
#if SIMT_ON_CPU
#include "../../../bench/common/model.h"
#endif

/* With the papers' names of their paths. ADD_DEFAULT, and what arc's tuner tunes, is the trainer's
   own kernel. */
static const struct implementation {
  const char *name;
  add_way way;
  threshold_search search;
  bool reproducible, only_trains;
} implementations[] = {{"plain", ADD_PLAIN, SEARCH_NONE, false, false},
                       {"SW-S", ADD_SERIALIZED, SEARCH_NONE, false, false},
                       {"SW-B", ADD_BUTTERFLY, SEARCH_NONE, false, false},
                       {"cub", ADD_CUB, SEARCH_NONE, false, false},
                       {"shuffles", ADD_SHUFFLES, SEARCH_NONE, false, false},
                       {"auto", ADD_AUTO, SEARCH_NONE, false, false},
                       {"tuned", ADD_AUTO, SEARCH_TUNER, false, false},
                       {"reproducible", ADD_DEFAULT, SEARCH_NONE, true, false},
                       {"default", ADD_DEFAULT, SEARCH_NONE, false, true},
                       {"SW-S retuned", ADD_SERIALIZED, SEARCH_PAPERS, false, true},
                       {"SW-B retuned", ADD_BUTTERFLY, SEARCH_PAPERS, false, true}};

enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations };

const char *const *experiment_ways(void) {
  static const char *names[IMPLEMENTATIONS + 1];
  for (int i = 0; i < IMPLEMENTATIONS; ++i) names[i] = implementations[i].name;
  return names;
}

/* What all rows of a scene share. */
typedef struct experiment {
  output_file *table;
  energy_counter energy;
  const scene *data;
  const char *dataset;
  /* Of the model as it is, however the backward pass adds. */
  unsigned long long lanes[LANE_COUNTS], keys[PAPER_COUNTS];
  double forward_ms;
} experiment;

/* ---- one frame ------------------------------------------------------------------------------ */

enum { REPEATS = 15 };

/* What comes before the backward pass. */
static void experiment_forward(trainer *t) {
  trainer_draw(t, t->training[0]);
  frame_measure(&t->f, (const unsigned char *)t->targets[t->training[0]].data,
                (double *)t->losses.data);
  frame_clear_sums(&t->f);
}

/* Of a training's backward passes, or of the frame drawn; on the CPU warp modelled from the counts
   of one. */
static double experiment_backward_ms(trainer *t) {
#if SIMT_ON_CPU
  simt_counters_reset();
  frame_backward(&t->f);
  const simt_counters c = simt_counters_read();
  return model_ms(&c);
#else
  if (t->iteration > 0) return medians_of(t).backward;
  return median_time(
      REPEATS, [&] { frame_backward(&t->f); }, [&] { frame_clear_sums(&t->f); });
#endif
}

static void experiment_begin(experiment *e, trainer *t) {
  experiment_forward(t);
  memset(e->lanes, 0, sizeof e->lanes);
  memset(e->keys, 0, sizeof e->keys);
  count_lanes_of_frame(t, 2, e->lanes); /* the trainer's own */
  e->keys[0] = e->lanes[0];             /* a warp step that hits has one key */
  for (int i = 1; i < LANE_COUNTS; ++i) e->keys[1] += e->lanes[i];
  e->forward_ms = SIMT_ON_CPU ? NAN : median_time(REPEATS, [&] { experiment_forward(t); });
}

static paper_row experiment_measure(experiment *e, trainer *t, const implementation *by) {
  const int threshold = add_way_has_threshold(by->way) ? t->f.settings.threshold : -1;
  paper_row row = {"gaussians",           by->name, e->dataset, threshold, t->iteration,
                   (int)t->settings.seed, e->lanes, e->keys};
  row.forward_ms = e->forward_ms;
  row.backward_ms = experiment_backward_ms(t);
  return row;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The backward pass at each threshold, of the model before a training; the best one is measured for
   its energy, too, and stays set. */
static void experiment_search(experiment *e, trainer *t, const implementation *by,
                              const std::vector<int> &thresholds) {
  std::vector<paper_row> rows;
  size_t best = 0;
  experiment_begin(e, t);
  for (size_t i = 0; i < thresholds.size() && !interrupts; ++i) {
    t->f.settings.threshold = thresholds[i];
    rows.push_back(experiment_measure(e, t, by));
    if (rows[i].backward_ms < rows[best].backward_ms) best = i;
  }
  if (interrupts) return;
  t->f.settings.threshold = thresholds[best];
  frame_clear_sums(&t->f);
  profiled([&] { frame_backward(&t->f); });
  rows[best].backward_mj = energy_of_launch(&e->energy, 0.3, 16, [&] { frame_backward(&t->f); });
  for (const paper_row &row : rows) paper_table_add(e->table, &row);
}

static void experiment_train(experiment *e, trainer *t, const implementation *by) {
  checkpoint_plan none = {nullptr, 0};
  loss_figures train, test;
  double seconds;
  train_on(t, none, &seconds);
  const bool has_train = trainer_judge(t, false, &train), has_test = trainer_judge(t, true, &test);
  if (interrupts) return;
  experiment_begin(e, t);
  paper_row row = experiment_measure(e, t, by);
  row.training_s = seconds;
  if (has_train) row.train_psnr = train.psnr, row.train_l1 = train.l1;
  if (has_test) row.test_psnr = test.psnr, row.test_l1 = test.l1;
  paper_table_add(e->table, &row);
}

/* By the trainer's own kernel the pass alone comes last: a tuner chooses its threshold as it trains,
   and only a step clears the words of sums that repeat. */
static void experiment_way(experiment *e, train_settings settings, const implementation *by,
                           const gaussians_host *model) {
  const bool own = by->search == SEARCH_TUNER || by->way == ADD_DEFAULT;
  trainer t;
  settings.search = by->search;
  settings.frame.reproducible = by->reproducible;
  settings.frame.threshold = ARC_THRESHOLD_AUTO;
  trainer_begin(&t, e->data, &settings);
  if (!own) t.f.backward = way_launcher(by->way, SUMS_ROWS, 2);
  trainer_set_model(&t, model);
  if (!own && !by->only_trains)
    experiment_search(e, &t, by,
                      paper_thresholds(add_way_has_threshold(by->way), by->way != ADD_AUTO));
  if (settings.iterations > 0 && !interrupts) experiment_train(e, &t, by);
  if (own && !by->only_trains && !interrupts) {
    trainer_set_model(&t, model);
    t.iteration = 0;
    experiment_search(e, &t, by, {t.f.settings.threshold});
  }
  trainer_end(&t);
}

/* All implementations that are asked for, from one start. */
static bool experiment_seed(experiment *e, const bench_options *b, unsigned seed,
                            error_line *error) {
  gaussians_host model;
  options mine = b->o;
  mine.train.seed = seed;
  if (!setup_first_model(&model, e->data, &mine, error)) return interrupts > 0;
  for (int i = 0; i < IMPLEMENTATIONS; ++i) {
    const implementation *by = &implementations[i];
    if ((b->ways == 0u || (b->ways >> i & 1u) != 0u) && !interrupts &&
        way_launcher(by->way, SUMS_ROWS, 2) != nullptr)
      experiment_way(e, mine.train, by, &model);
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
  experiment e = {table, energy_open(), &data, dataset_name(o, kind), {}, {}, NAN};
  for (int i = 0; i < b->seeds && done && !interrupts; ++i)
    done = experiment_seed(&e, b, o->train.seed + (unsigned)i, error);
  energy_close(&e.energy);
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
