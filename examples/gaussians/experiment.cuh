/* arc example gaussians: --experiment, the papers' table.
   SPDX-License-Identifier: Apache-2.0

   Every implementation and threshold trains every scene from the same start. */
#ifndef GAUSSIANS_EXPERIMENT_CUH
#define GAUSSIANS_EXPERIMENT_CUH

#include "program.cuh"

static const add_path experiment_paths[] = {ADD_PLAIN,    ADD_SERIALIZED, ADD_BUTTERFLY, ADD_CUB,
                                            ADD_SHUFFLES, ADD_TRANSPOSED, ADD_TREE,      ADD_AUTO};
static const int experiment_thresholds[] = {0, 8, 16, 24, 32};
enum {
  EXPERIMENT_PATHS = sizeof experiment_paths / sizeof *experiment_paths,
  EXPERIMENT_THRESHOLDS = sizeof experiment_thresholds / sizeof *experiment_thresholds
};

static inline void experiment_write_head(FILE *stream) {
  fprintf(stream,
          "BW implementation,balance threshold,dataset,train PSNR,train L1,test PSNR,test L1,"
          "end-to-end training time,forward ms,backward ms,rest ms,gaussians,iterations,"
          "clock");
  for (int i = 0; i < LANE_COUNTS; ++i) fprintf(stream, ",lanes %d", i);
  fprintf(stream, "\n");
}

/* The papers' names for what they have named. */
static inline const char *experiment_name(add_path path, bool tunes) {
  if (tunes) return "tuned";
  return path == ADD_SERIALIZED ? "SW-S" : path == ADD_BUTTERFLY ? "SW-B" : add_path_name(path);
}

static inline void experiment_write_row(FILE *stream, trainer *t, const char *dataset,
                                        double seconds) {
  loss_figures train, test;
  char room[16];
  unsigned long long histogram[LANE_COUNTS] = {0};
  step_medians ms = medians_of(t);
  bool tunes = t->settings.tunes;
  const frame_settings *s = &t->f.settings; /* of a tuned run: what it has come to */
  bool has_train = trainer_judge(t, false, &train), has_test = trainer_judge(t, true, &test);
  trainer_draw(t, t->training[0]);
  frame_measure(&t->f, (const unsigned char *)t->targets[t->training[0]].data,
                (double *)t->losses.data);
  count_lanes_of_frame(t, histogram);
  fprintf(stream, "%s,%s,%s,%.4f,%.6f,", experiment_name(s->path, tunes),
          threshold_name(s->path, s->threshold, room), dataset, has_train ? train.psnr : NAN,
          has_train ? train.l1 : NAN);
  fprintf(stream, "%.4f,%.6f,%.3f,%.5f,%.5f,%.5f,%d,%d,%s", has_test ? test.psnr : NAN,
          has_test ? test.l1 : NAN, seconds, ms.forward, ms.backward, ms.rest, t->count,
          t->iteration, clock_name());
  for (int i = 0; i < LANE_COUNTS; ++i) fprintf(stream, ",%llu", histogram[i]);
  fprintf(stream, "\n");
  printf("%-12s %9s %-10s train %7.3f dB  test %7.3f dB  %8.2f s  backward %.4f ms\n",
         experiment_name(s->path, tunes), threshold_name(s->path, s->threshold, room), dataset,
         train.psnr, has_test ? test.psnr : NAN, seconds, ms.backward);
  fflush(stdout);
}

/* Where every training of a scene begins. */
typedef struct experiment_start {
  const scene *world;
  const gaussians_host *model;
  const char *dataset;
} experiment_start;

/* One training; its row only if it was not interrupted. */
static inline bool experiment_run(FILE *stream, const train_settings *settings,
                                  const experiment_start *start, error_line *error) {
  trainer t;
  double seconds;
  checkpoint_plan none = {nullptr, 0};
  if (interrupted) return true;
  trainer_begin(&t, start->world, settings);
  trainer_set_model(&t, start->model);
  bool done = train_on(&t, none, &seconds, error);
  if (done && !interrupted) experiment_write_row(stream, &t, start->dataset, seconds);
  trainer_end(&t);
  return done;
}

/* One path with every threshold it takes. */
static inline bool experiment_path(FILE *stream, train_settings settings, add_path path,
                                   const experiment_start *start, error_line *error) {
  int thresholds = add_path_has_threshold(path) ? (int)EXPERIMENT_THRESHOLDS : 1;
  bool done = true;
  if (backward_of_path(path) == nullptr) return true;
  settings.frame.path = path;
  for (int k = 0; k < thresholds && done; ++k) {
    settings.frame.threshold = experiment_thresholds[k];
    done = experiment_run(stream, &settings, start, error);
  }
  settings.frame.threshold = ARC_THRESHOLD_AUTO;
  if (path == ADD_AUTO && done) done = experiment_run(stream, &settings, start, error);
  return done;
}

/* All paths, then the tuner. */
static inline bool experiment_all(FILE *stream, const options *o, const experiment_start *start,
                                  error_line *error) {
  train_settings tuned = o->train;
  bool done = true;
  for (int p = 0; p < EXPERIMENT_PATHS && done; ++p)
    done = experiment_path(stream, o->train, experiment_paths[p], start, error);
  tuned.tunes = true;
  return done && experiment_run(stream, &tuned, start, error);
}

static inline bool experiment_scene(FILE *stream, const options *o, int kind, error_line *error) {
  scene world;
  gaussians_host model;
  const char *dataset = kind != 0 ? world_kind_name(kind) : o->input.path;
  bool done = kind != 0 ? world_make(&world, o, kind, error) : world_load(&world, o, error);
  if (!done) return false;
  done = world_first_model(&model, &world, o, error);
  if (done) {
    experiment_start start = {&world, &model, dataset};
    done = experiment_all(stream, o, &start, error);
    gaussians_free(&model);
  }
  scene_free(&world);
  return done;
}

/* After Ctrl-C the rows so far are written. */
static inline int run_experiment(const options *o) {
  output_file file;
  error_line error;
  bool all = o->input.path == nullptr && o->kind == 0, done = true;
  if (!output_file_open(&file, o->experiment, &error)) return fail(2, &error);
  experiment_write_head(file.stream);
  for (int kind = SCENE_SMALL; all && kind <= SCENE_LARGE && done && !interrupted; ++kind)
    done = experiment_scene(file.stream, o, kind, &error);
  if (!all) done = experiment_scene(file.stream, o, o->kind, &error);
  if (!done) {
    output_file_abandon(&file);
    return fail(1, &error);
  }
  if (!output_file_commit(&file, &error)) return fail(1, &error);
  printf("written    %s\n", o->experiment);
  return interrupted ? 130 : 0;
}

#endif
