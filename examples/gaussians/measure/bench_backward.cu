/* arc example gaussians: --bench-backward, one view again and again.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_BENCH_BACKWARD_CUH
#define GAUSSIANS_BENCH_BACKWARD_CUH

#include "program.cuh"

enum { BENCH_LAYOUTS = 4, BENCH_PIXELS = 3 }; /* arrays, rows; then both asking warps */

typedef struct bench_row {
  const char *dataset;
  add_path path;
  int threshold, pixels;
  float ms[BENCH_LAYOUTS];
} bench_row;

typedef struct bench_table {
  bench_row rows[4 * BENCH_PIXELS * 64];
  int count;
} bench_table;

static const int bench_thresholds[] = {0, 8, 16, 24, 32, ARC_THRESHOLD_AUTO};
enum { BENCH_THRESHOLDS = sizeof bench_thresholds / sizeof *bench_thresholds };

/* A launch and its clearing before; the time of the launch alone. */
static inline float bench_launch(trainer *t) {
  float ms = 0.0f;
  frame_clear_sums(&t->f);
  device_check(cudaEventRecord(t->marks[0][0], 0), "recording an event");
  frame_backward(&t->f);
  device_check(cudaEventRecord(t->marks[0][1], 0), "recording an event");
  device_check(cudaEventSynchronize(t->marks[0][1]), "waiting for the backward pass");
  device_check(cudaEventElapsedTime(&ms, t->marks[0][0], t->marks[0][1]), "timing");
  device_check(cudaGetLastError(), "launching the backward pass");
  return ms;
}

static inline float bench_median(trainer *t, int repeats) {
  float *values = (float *)host_memory(sizeof(float) * repeats);
  bench_launch(t); /* warms up */
  for (int i = 0; i < repeats; ++i) values[i] = bench_launch(t);
  float result = median(values, repeats);
  free(values);
  return result;
}

/* One path, threshold and number of pixels, in all layouts. */
static inline void bench_path(trainer *t, bench_table *table, const char *dataset, add_path path,
                              int threshold, int repeats) {
  bench_row *row = &table->rows[table->count++];
  char room[16];
  row->dataset = dataset;
  row->path = path;
  row->threshold = threshold;
  row->pixels = t->f.settings.pixels;
  t->f.settings.path = path;
  t->f.settings.threshold = threshold;
  for (int layout = 0; layout < BENCH_LAYOUTS; ++layout) {
    t->f.settings.rows = (layout & 1) != 0;
    t->f.settings.asks = (layout & 2) != 0;
    row->ms[layout] = bench_median(t, repeats);
  }
  printf("%-12s %9s %10d %10.4f %10.4f %10.4f %10.4f\n", add_path_name(path),
         threshold_name(path, threshold, room), row->pixels, row->ms[0], row->ms[1], row->ms[2],
         row->ms[3]);
  fflush(stdout);
}

/* ---- summaries ------------------------------------------------------------------------------ */

/* At the best threshold; dataset null: the geometric mean of all datasets. */
static inline float bench_best(const bench_table *table, const char *dataset, add_path path,
                               int pixels, int layout) {
  float best = INFINITY;
  double logarithms = 0.0;
  int datasets = 0;
  for (int i = 0; i < table->count; ++i) {
    const bench_row *r = &table->rows[i];
    bool fits = r->path == path && r->pixels == pixels;
    if (dataset == nullptr && (i == 0 || r[-1].dataset != r->dataset)) {
      logarithms += log((double)bench_best(table, r->dataset, path, pixels, layout));
      datasets += 1;
    }
    if (dataset != nullptr && fits && r->dataset == dataset) best = fminf(best, r->ms[layout]);
  }
  return dataset == nullptr ? (float)exp(logarithms / datasets) : best;
}

/* The rival's time over auto's, or if not `rivals_time` the other way round; a column a layout. */
static inline void bench_print_ratio(const bench_table *table, const char *dataset, int pixels,
                                     add_path rival, int rival_pixels, bool rivals_time,
                                     const char *name) {
  printf("%6d  %-24s", pixels, name);
  for (int layout = 0; layout < BENCH_LAYOUTS; ++layout) {
    float other = bench_best(table, dataset, rival, rival_pixels, layout);
    float ours = bench_best(table, dataset, ADD_AUTO, pixels, layout);
    printf(" %10.3f", rivals_time ? other / ours : ours / other);
  }
  printf("\n");
}

/* Everybody at their best threshold and with as many pixels as auto, but for the line that says 1
   pixel: the kernel that arc replaces. */
static inline void bench_print_ratios(const bench_table *table, const char *dataset) {
  static const struct {
    add_path path;
    const char *name;
  } rivals[] = {{ADD_PLAIN, "plain over auto"},
                {ADD_SERIALIZED, "SW-S over auto"},
                {ADD_BUTTERFLY, "SW-B over auto"},
                {ADD_SHUFFLES, "shuffles over auto"},
                {ADD_CUB, "cub over auto"}};
  printf("\n%s, times   arrays, rows, arrays asking, rows asking\n%6s\n",
         dataset != nullptr ? dataset : "geometric mean of all datasets", "pixels");
  for (int pixels = 1; pixels <= MOST_PIXELS; pixels *= 2) {
    for (size_t r = 0; r < sizeof rivals / sizeof *rivals; ++r)
      if (backward_of_path(rivals[r].path) != nullptr)
        bench_print_ratio(table, dataset, pixels, rivals[r].path, pixels, true, rivals[r].name);
    bench_print_ratio(table, dataset, pixels, ADD_PLAIN, 1, true, "plain, 1 pixel, over auto");
    bench_print_ratio(table, dataset, pixels, ADD_NONE, pixels, false, "auto over none");
  }
}

/* Draws with each way to find tiles; what the exact one saves, and that the picture is the same,
   but for splats of the very same depth, as clones have it: their order is anybody's. */
static inline void bench_tiles(trainer *t, int repeats) {
  static const char *const names[] = {"circle", "box", "exact"};
  size_t values = 3 * (size_t)t->cameras[0].width * t->cameras[0].height;
  float *wanted = (float *)host_memory(values * sizeof(float));
  float *got = (float *)host_memory(values * sizeof(float));
  float *times = (float *)host_memory(repeats * sizeof(float));
  t->f.settings.asks = true;
  printf("%-12s %10s %12s %22s %12s\n", "tiles", "pairs", "forward ms", "values that differ",
         "by > 1/255");
  for (int test = TILE_CIRCLE; test <= TILE_EXACT; ++test) {
    size_t differ = 0, seen = 0;
    float largest = 0.0f;
    t->f.settings.test = (tile_test)test;
    trainer_draw(t, 0);
    for (int i = 0; i < repeats; ++i) {
      device_check(cudaEventRecord(t->marks[0][0], 0), "recording an event");
      trainer_draw(t, 0);
      device_check(cudaEventRecord(t->marks[0][1], 0), "recording an event");
      device_check(cudaEventSynchronize(t->marks[0][1]), "waiting for the forward pass");
      device_check(cudaEventElapsedTime(&times[i], t->marks[0][0], t->marks[0][1]), "timing");
    }
    device_to_host(got, t->f.colour.data, values * sizeof(float), "reading the picture");
    if (test == TILE_CIRCLE) memcpy(wanted, got, values * sizeof(float));
    for (size_t i = 0; i < values; ++i) {
      differ += got[i] != wanted[i];
      seen += fabsf(got[i] - wanted[i]) > 1.0f / 255.0f;
      largest = fmaxf(largest, fabsf(got[i] - wanted[i]));
    }
    printf("%-12s %10d %12.4f %12zu by %.1e %12zu\n", names[test - TILE_CIRCLE], t->f.pairs,
           median(times, repeats), differ, largest, seen);
  }
  free(wanted);
  free(got);
  free(times);
}

/* Slopes as training might give them: of any sign, about one over the number of values. */
static inline void bench_slope(trainer *t) {
  size_t values = 3 * (size_t)t->cameras[0].width * t->cameras[0].height;
  float *slope = (float *)host_memory(values * sizeof(float));
  for (size_t i = 0; i < values; ++i)
    slope[i] = (2.0f * hashed_random(7, i) - 1.0f) / (float)values;
  device_reserve(&t->memory, &t->f.slope, values * sizeof(float), "memory for the slope");
  host_to_device(t->f.slope.data, slope, values * sizeof(float), "copying the slope");
  free(slope);
}

/* Every path and threshold with so many pixels a lane. */
static inline void bench_pixels(trainer *t, bench_table *table, const char *dataset, int pixels,
                                int repeats) {
  unsigned long long histogram[LANE_COUNTS] = {0};
  t->f.settings.pixels = pixels;
  count_lanes_of_frame(t, histogram);
  print_lanes(histogram);
  printf("%-12s %9s %10s %10s %10s %10s %10s\n", "path", "threshold", "pixels", "arrays", "rows",
         "arrays,ask", "rows,ask");
  for (int path = 0; path < ADD_PATHS && !interrupted; ++path) {
    if (backward_of_path((add_path)path) == nullptr) continue;
    int thresholds = add_path_has_threshold((add_path)path) ? (int)BENCH_THRESHOLDS : 1;
    for (int k = 0; k < thresholds && !interrupted; ++k)
      bench_path(t, table, dataset, (add_path)path, bench_thresholds[k], repeats);
  }
}

static inline void bench_view(trainer *t, bench_table *table, const char *dataset, int repeats) {
  printf("%s: %d Gaussians, %d x %d pixels\n", dataset, t->count, t->cameras[0].width,
         t->cameras[0].height);
  bench_tiles(t, repeats);
  bench_slope(t);
  printf("\nbackward ms: medians of %d, %s\n", repeats, clock_name());
  for (int pixels = 1; pixels <= MOST_PIXELS && !interrupted; pixels *= 2)
    bench_pixels(t, table, dataset, pixels, repeats);
  if (!interrupted) bench_print_ratios(table, dataset);
  printf("device memory %.1f MiB at most\n\n", (double)t->memory.peak / 1048576.0);
}
static inline bool bench_write_csv(const char *path, const bench_table *table, error_line *error) {
  output_file file;
  char room[16];
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream,
          "dataset,path,threshold,pixels,arrays_ms,rows_ms,arrays_asking_ms,rows_asking_ms,"
          "clock\n");
  for (int i = 0; i < table->count; ++i) {
    const bench_row *r = &table->rows[i];
    fprintf(file.stream, "%s,%s,%s,%d,%.6f,%.6f,%.6f,%.6f,%s\n", r->dataset, add_path_name(r->path),
            threshold_name(r->path, r->threshold, room), r->pixels, r->ms[0], r->ms[1], r->ms[2],
            r->ms[3], clock_name());
  }
  return output_file_commit(&file, error);
}

/* kind 0: --scene. Its first view, and the model it starts from or, of a procedural scene, its
   truth. */
static inline bool bench_scene(const options *o, int kind, bench_table *table, error_line *error) {
  scene world;
  gaussians_host model;
  trainer t;
  options mine = *o;
  if (mine.views == 0) mine.views = 1;
  mine.input.hold_out = 0;
  world_size size = world_size_of(&mine, kind != 0 ? kind : (int)SCENE_SMALL);
  bool made = kind != 0
                  ? scene_procedural(&world, &model, (scene_kind)kind, size.gaussians, size.views,
                                     size.width, size.height, o->train.seed, error)
                  : world_load(&world, &mine, error);
  if (!made) return false;
  if (kind != 0) {
    for (int i = 0; i < world.view_count && made; ++i)
      made = image_allocate(&world.views[i].picture, size.width, size.height, error);
  } else {
    made = world_first_model(&model, &world, &mine, error);
  }
  if (made) {
    train_settings settings = o->train;
    settings.iterations = 0;
    trainer_begin(&t, &world, &settings);
    trainer_set_model(&t, &model);
    bench_view(&t, table, dataset_name(o, kind), o->repeats);
    trainer_end(&t);
    gaussians_free(&model);
  }
  scene_free(&world);
  return made;
}

static inline int run_bench_backward(const options *o) {
  static bench_table table;
  error_line error;
  bool done = true;
  unsigned datasets = datasets_of(o);
  for (int kind = 0; kind <= SCENE_LARGE && done && !interrupted; ++kind)
    if ((datasets >> kind & 1u) != 0u) done = bench_scene(o, kind, &table, &error);
  if (done && !interrupted && table.count > 0 &&
      table.rows[0].dataset != table.rows[table.count - 1].dataset)
    bench_print_ratios(&table, nullptr);
  if (done && o->csv != nullptr) done = bench_write_csv(o->csv, &table, &error);
  if (!done) return fail(1, &error);
  return interrupted ? 130 : 0;
}

#endif
