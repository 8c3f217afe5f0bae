/* bench/gaussians --experiment: the papers' table.
   SPDX-License-Identifier: Apache-2.0

   Every implementation and threshold trains every scene from the same start, once a seed. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/energy.h"
#include "bench/paper/table.h"
#if SIMT_ON_CPU
#include "bench/common/model.h"
#endif

static const add_way experiment_ways[] = {ADD_PLAIN, ADD_SERIALIZED, ADD_BUTTERFLY,
                                          ADD_CUB,   ADD_SHUFFLES,   ADD_AUTO};
static const int experiment_thresholds[] = {0, 8, 16, 24, 32};
enum {
  EXPERIMENT_WAYS = sizeof experiment_ways / sizeof *experiment_ways,
  EXPERIMENT_THRESHOLDS = sizeof experiment_thresholds / sizeof *experiment_thresholds
};

/* The papers' names of their paths. */
static const char *experiment_name(add_way way, bool tunes) {
  if (tunes) return "tuned"; /* the threshold of auto */
  return way == ADD_SERIALIZED ? "SW-S" : way == ADD_BUTTERFLY ? "SW-B" : add_way_name(way);
}

/* Of one training, for the summary. */
typedef struct experiment_sample {
  const char *name;
  unsigned seed;
  double psnr; /* of the held-out views */
} experiment_sample;

/* What all rows of a scene share. */
typedef struct experiment {
  output_file *table;
  energy_counter energy;
  const scene *data;
  const char *dataset;
  experiment_sample *samples;
  int count;
} experiment;

/* ---- one launch ----------------------------------------------------------------------------- */

static void launch_backward(void *state) { frame_backward((frame *)state); }

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

static void experiment_write_row(experiment *e, trainer *t, add_way way, double seconds) {
  loss_figures train, test;
  char room[16];
  unsigned long long histogram[LANE_COUNTS] = {0}, keys[PAPER_COUNTS] = {0};
  const int threshold = t->f.settings.threshold; /* of a tuned run: the tuner's choice */
  const char *name = experiment_name(way, t->settings.tunes);
  bool has_train = trainer_judge(t, false, &train), has_test = trainer_judge(t, true, &test);
  if (interrupts) return;
  trainer_draw(t, t->training[0]);
  frame_measure(&t->f, (const unsigned char *)t->targets[t->training[0]].data,
                (double *)t->losses.data);
  count_lanes_of_frame(t, 2, histogram); /* the trainer's own */
  frame_clear_sums(&t->f);
  double millijoules = energy_of_launch(&e->energy, 0.3, 16, launch_backward, &t->f);
  double backward_ms = experiment_backward_ms(t);
  keys[0] = histogram[0]; /* a warp step that hits has one key */
  for (int i = 1; i < LANE_COUNTS; ++i) keys[1] += histogram[i];
  const paper_row row = {"gaussians",
                         name,
                         e->dataset,
                         add_way_has_threshold(way) ? threshold : -1,
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
         name, threshold_of_way(way, threshold, room), printable(e->dataset), t->settings.seed,
         train.psnr, has_test ? test.psnr : NAN, seconds, backward_ms);
  fflush(stdout);
  experiment_sample sample = {name, t->settings.seed, test.psnr};
  if (has_test) e->samples[e->count++] = sample;
}

/* ---- summary -------------------------------------------------------------------------------- */

/* shift: how far an implementation's PSNR lies from the mean of all with the same seed, so that the
   seed's own effect cancels. */
typedef struct experiment_mean {
  const char *name;
  int count;
  double psnr, shift; /* means */
  double squares;     /* of the single shifts' distances from theirs, added up */
} experiment_mean;

static double experiment_seed_mean(const experiment *e, unsigned seed) {
  double sum = 0.0;
  int count = 0;
  for (int i = 0; i < e->count; ++i) {
    if (e->samples[i].seed != seed) continue;
    sum += e->samples[i].psnr;
    count += 1;
  }
  return sum / count;
}

static experiment_mean experiment_mean_of(const experiment *e, const char *name) {
  experiment_mean m = {name, 0, 0.0, 0.0, 0.0};
  for (int i = 0; i < e->count; ++i) {
    const experiment_sample *s = &e->samples[i];
    if (strcmp(s->name, name) != 0) continue;
    double shift = s->psnr - experiment_seed_mean(e, s->seed), before = m.shift;
    m.count += 1;
    m.psnr += (s->psnr - m.psnr) / m.count;
    m.shift += (shift - m.shift) / m.count;
    m.squares += (shift - before) * (shift - m.shift);
  }
  return m;
}

/* Of all implementations; returns how many. Thresholds are pooled: like another run, they change no
   more than the order of additions. */
static int experiment_means(const experiment *e, experiment_mean *means) {
  int count = 0;
  for (int i = 0; i < e->count; ++i) {
    bool known = false;
    for (int k = 0; k < count; ++k) known = known || !strcmp(means[k].name, e->samples[i].name);
    if (!known) means[count++] = experiment_mean_of(e, e->samples[i].name);
  }
  return count;
}

/* The standard deviation of one training about what its seed and its implementation explain. */
static double experiment_deviation(const experiment *e, const experiment_mean *means, int count) {
  double squares = 0.0;
  int explained = count - 1;
  for (int k = 0; k < count; ++k) squares += means[k].squares;
  for (int i = 0; i < e->count; ++i) { /* a seed's trainings stand one after another */
    const experiment_sample *s = &e->samples[i];
    explained += i == 0 || s[-1].seed != s->seed;
  }
  return e->count > explained ? sqrt(squares / (e->count - explained)) : NAN;
}

static void experiment_print_summary(const experiment *e) {
  experiment_mean means[EXPERIMENT_WAYS + 1];
  int count = experiment_means(e, means), low = 0, high = 0;
  double deviation = experiment_deviation(e, means, count);
  printf("%s: held-out PSNR\n%-12s %9s %9s %14s\n", printable(e->dataset), "", "trainings",
         "mean dB", "standard error");
  for (int k = 0; k < count; ++k) {
    const experiment_mean *m = &means[k];
    printf("%-12s %9d %9.3f %14.3f\n", m->name, m->count, m->psnr, deviation / sqrt(m->count));
    if (m->shift < means[low].shift) low = k;
    if (m->shift > means[high].shift) high = k;
  }
  double difference = means[high].shift - means[low].shift;
  double error = deviation * sqrt(1.0 / means[high].count + 1.0 / means[low].count);
  printf("largest difference %.3f dB, %s over %s; its standard error %.3f dB\n\n", difference,
         means[high].name, means[low].name, error);
}

/* ---- trainings ------------------------------------------------------------------------------ */

/* One training; its row only if it was not interrupted. */
static void experiment_run(experiment *e, const train_settings *settings, add_way way,
                           const gaussians_host *model) {
  trainer t;
  double seconds;
  checkpoint_plan none = {nullptr, 0};
  if (interrupts) return;
  trainer_begin(&t, e->data, settings);
  if (!settings->tunes) t.f.backward = way_launcher(way, SUMS_ROWS, 2);
  trainer_set_model(&t, model);
  train_on(&t, none, &seconds);
  if (!interrupts) experiment_write_row(e, &t, way, seconds);
  trainer_end(&t);
}

/* One way with every threshold it takes. */
static void experiment_way(experiment *e, train_settings settings, add_way way,
                           const gaussians_host *model) {
  int thresholds = add_way_has_threshold(way) ? (int)EXPERIMENT_THRESHOLDS : 1;
  if (!way_launcher(way, SUMS_ROWS, 2)) return;
  for (int k = 0; k < thresholds; ++k) {
    settings.frame.threshold = experiment_thresholds[k];
    experiment_run(e, &settings, way, model);
  }
  settings.frame.threshold = ARC_THRESHOLD_AUTO;
  if (way == ADD_AUTO) experiment_run(e, &settings, way, model);
}

/* All ways, then the tuner, from one start. */
static bool experiment_seed(experiment *e, const options *o, unsigned seed, error_line *error) {
  gaussians_host model;
  options mine = *o;
  mine.train.seed = seed;
  if (!setup_first_model(&model, e->data, &mine, error)) return interrupts > 0;
  for (int p = 0; p < EXPERIMENT_WAYS; ++p)
    experiment_way(e, mine.train, experiment_ways[p], &model);
  mine.train.tunes = true;
  experiment_run(e, &mine.train, ADD_AUTO, &model);
  gaussians_free(&model);
  return true;
}

/* All seeds train on the one scene, that of the first. */
static bool experiment_scene(output_file *table, const bench_options *b, int kind,
                             error_line *error) {
  const options *o = &b->o;
  const size_t most = (size_t)b->seeds * (EXPERIMENT_WAYS * (EXPERIMENT_THRESHOLDS + 1) + 1);
  scene data;
  bool done = kind != 0 ? setup_procedural(&data, o, kind, error) : setup_load(&data, o, error);
  if (!done) return interrupts > 0; /* the rows so far are written */
  experiment e = {table, energy_open(), &data, dataset_name(o, kind), nullptr, 0};
  e.samples = (experiment_sample *)host_memory(most * sizeof *e.samples);
  for (int i = 0; i < b->seeds && done && !interrupts; ++i)
    done = experiment_seed(&e, o, o->train.seed + (unsigned)i, error);
  if (e.count > 0) experiment_print_summary(&e);
  energy_close(&e.energy);
  free(e.samples);
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
