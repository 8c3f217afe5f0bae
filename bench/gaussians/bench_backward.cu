/* --bench-backward of examples/gaussians: one view again and again.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_LAYOUTS = 2, BENCH_PIXELS = 3 }; /* sums in four arrays, in rows */

typedef struct bench_row {
  const char *dataset;
  add_way way;
  int threshold, pixels;
  float ms[BENCH_LAYOUTS];
} bench_row;

typedef struct bench_table {
  bench_row rows[4 * BENCH_PIXELS * 64];
  int count;
} bench_table;

static const int bench_thresholds[] = {0, 8, 16, 24, 32, ARC_THRESHOLD_AUTO};
enum { BENCH_THRESHOLDS = sizeof bench_thresholds / sizeof *bench_thresholds };

/* ---- timing --------------------------------------------------------------------------------- */

/* What is measured; argument: its own. Returns milliseconds. */
typedef float (*bench_function)(trainer *t, void *argument);

/* After an interrupt it is not to be used. */
static float bench_median(trainer *t, int repeats, bench_function function, void *argument) {
  float *values = (float *)host_memory(sizeof(float) * repeats);
  for (int i = -1; i < repeats && !interrupts; ++i) /* the first warms up */
    values[i < 0 ? 0 : i] = function(t, argument);
  float result = median(values, repeats);
  free(values);
  return result;
}

/* The backward pass; its clearing before is not timed. */
static float bench_backward(trainer *t, void *) {
  frame_clear_sums(&t->f);
  measure_start(t);
  frame_backward(&t->f);
  return measure_stop(t);
}

static float bench_forward(trainer *t, void *) {
  measure_start(t);
  trainer_draw(t, 0);
  return measure_stop(t);
}

typedef struct bench_camera_run {
  long long *rows; /* of the device */
  int threshold;
} bench_camera_run;

static float bench_camera_backward(trainer *t, void *argument) {
  const bench_camera_run *run = (const bench_camera_run *)argument;
  measure_start(t);
  frame_camera_backward(&t->f, 0, run->rows, run->threshold);
  return measure_stop(t);
}

/* ---- the backward pass ---------------------------------------------------------------------- */

/* One way, threshold and number of pixels, in both layouts; an interrupt leaves it out. */
static void bench_way(trainer *t, bench_table *table, const char *dataset, add_way way,
                      int threshold, int repeats) {
  bench_row *row = &table->rows[table->count];
  char room[16];
  row->dataset = dataset;
  row->way = way;
  row->threshold = threshold;
  row->pixels = t->f.settings.pixels;
  t->f.settings.way = way;
  t->f.settings.threshold = threshold;
  for (int layout = 0; layout < BENCH_LAYOUTS; ++layout) {
    t->f.settings.layout = layout == 1 ? SUMS_ROWS : SUMS_ARRAYS;
    row->ms[layout] = bench_median(t, repeats, bench_backward, nullptr);
  }
  if (interrupts) return;
  table->count += 1;
  printf("%-12s %9s %10d %10.4f %10.4f\n", add_way_name(way), threshold_name(way, threshold, room),
         row->pixels, row->ms[0], row->ms[1]);
  fflush(stdout);
}

/* ---- summaries ------------------------------------------------------------------------------ */

/* At the best threshold; dataset null: the geometric mean of all datasets. */
static float bench_best(const bench_table *table, const char *dataset, add_way way, int pixels,
                        int layout) {
  float best = INFINITY;
  double logarithms = 0.0;
  int datasets = 0;
  for (int i = 0; i < table->count; ++i) {
    const bench_row *r = &table->rows[i];
    bool fits = r->way == way && r->pixels == pixels;
    if (dataset == nullptr && (i == 0 || r[-1].dataset != r->dataset)) {
      logarithms += log((double)bench_best(table, r->dataset, way, pixels, layout));
      datasets += 1;
    }
    if (dataset != nullptr && fits && r->dataset == dataset) best = fminf(best, r->ms[layout]);
  }
  return dataset == nullptr ? (float)exp(logarithms / datasets) : best;
}

typedef struct bench_point {
  add_way way;
  int pixels;
} bench_point;

/* The time of one over that of another, each at its best threshold; a column a layout. */
static void bench_print_ratio(const bench_table *table, const char *dataset, bench_point above,
                              bench_point below, const char *name) {
  printf("%6d  %-24s", below.pixels, name);
  for (int layout = 0; layout < BENCH_LAYOUTS; ++layout)
    printf(" %10.3f", bench_best(table, dataset, above.way, above.pixels, layout) /
                          bench_best(table, dataset, below.way, below.pixels, layout));
  printf("\n");
}

/* With as many pixels a lane as auto, but for the line that says 1 pixel: the kernel that arc
   replaces. */
static void bench_print_ratios(const bench_table *table, const char *dataset) {
  static const struct {
    add_way way;
    const char *name;
  } rivals[] = {{ADD_PLAIN, "plain over auto"},
                {ADD_SERIALIZED, "SW-S over auto"},
                {ADD_BUTTERFLY, "SW-B over auto"},
                {ADD_SHUFFLES, "shuffles over auto"},
                {ADD_CUB, "cub over auto"}};
  printf("\n%s, times   arrays, rows\n%6s\n",
         dataset != nullptr ? printable(dataset) : "geometric mean of all datasets", "pixels");
  for (int pixels = 1; pixels <= MOST_PIXELS; pixels *= 2) {
    const bench_point ours = {ADD_AUTO, pixels}, none = {ADD_NONE, pixels}, plain = {ADD_PLAIN, 1};
    for (size_t r = 0; r < sizeof rivals / sizeof *rivals; ++r) {
      const bench_point rival = {rivals[r].way, pixels};
      if (backward_has(rival.way)) bench_print_ratio(table, dataset, rival, ours, rivals[r].name);
    }
    bench_print_ratio(table, dataset, plain, ours, "plain, 1 pixel, over auto");
    bench_print_ratio(table, dataset, ours, none, "auto over none");
  }
}

/* The loss by the camera: one row that the whole grid adds to. */
static void bench_camera(trainer *t, int repeats) {
  device_array rows = {nullptr, 0};
  device_reserve(&t->memory, &rows, CAMERA_FLOATS * sizeof(long long), "memory for the camera");
  device_clear(rows.data, rows.bytes);
  bench_backward(t, nullptr);
  bench_camera_run run = {(long long *)rows.data, ARC_THRESHOLD_AUTO};
  float automatic = bench_median(t, repeats, bench_camera_backward, &run);
  run.threshold = ARC_THRESHOLD_CONTENDED;
  float contended = bench_median(t, repeats, bench_camera_backward, &run);
  run.threshold = CAMERA_BY_BLOCK;
  float by_block = bench_median(t, repeats, bench_camera_backward, &run);
  if (!interrupts)
    printf("camera gradient ms: threshold auto %.4f, contended %.4f, summed by blocks %.4f\n",
           automatic, contended, by_block);
  device_release(&t->memory, &rows);
}

/* Draws with each tile test: what the exact one saves, and that the picture is the same. */
static void bench_tiles(trainer *t, int repeats) {
  static const char *const names[] = {"circle", "box", "exact"};
  size_t values = 3 * (size_t)t->cameras[0].width * t->cameras[0].height;
  float *wanted = (float *)host_memory(values * sizeof(float));
  float *got = (float *)host_memory(values * sizeof(float));
  printf("%-12s %10s %12s %22s %12s\n", "tiles", "pairs", "forward ms", "values that differ",
         "by > 1/255");
  for (int test = TILE_CIRCLE; test <= TILE_EXACT && !interrupts; ++test) {
    size_t differ = 0, seen = 0;
    float largest = 0.0f;
    t->f.settings.test = (tile_test)test;
    float ms = bench_median(t, repeats, bench_forward, nullptr);
    if (interrupts) break;
    device_to_host(got, t->f.colour.data, values * sizeof(float), "reading the picture");
    if (test == TILE_CIRCLE) memcpy(wanted, got, values * sizeof(float));
    for (size_t i = 0; i < values; ++i) {
      differ += got[i] != wanted[i];
      seen += fabsf(got[i] - wanted[i]) > 1.0f / 255.0f;
      largest = fmaxf(largest, fabsf(got[i] - wanted[i]));
    }
    printf("%-12s %10d %12.4f %12zu by %.1e %12zu\n", names[test - TILE_CIRCLE], t->f.pairs, ms,
           differ, largest, seen);
  }
  free(wanted);
  free(got);
}

/* Every way and threshold with so many pixels a lane. */
static void bench_pixels(trainer *t, bench_table *table, const char *dataset, int pixels,
                         int repeats) {
  unsigned long long histogram[LANE_COUNTS] = {0};
  t->f.settings.pixels = pixels;
  count_lanes_of_frame(t, histogram);
  print_lanes(histogram);
  printf("%-12s %9s %10s %10s %10s\n", "path", "threshold", "pixels", "arrays", "rows");
  for (int w = 0; w < ADD_WAYS && !interrupts; ++w) {
    add_way way = (add_way)w;
    int thresholds = add_way_has_threshold(way) ? (int)BENCH_THRESHOLDS : 1;
    for (int k = 0; k < thresholds && backward_has(way) && !interrupts; ++k)
      bench_way(t, table, dataset, way, bench_thresholds[k], repeats);
  }
}

static void bench_view(trainer *t, const char *dataset, int repeats, void *state) {
  bench_table *table = (bench_table *)state;
  printf("%s: %d Gaussians, %d x %d pixels\n", printable(dataset), t->count, t->cameras[0].width,
         t->cameras[0].height);
  bench_tiles(t, repeats);
  measure_slope(t);
  printf("\nbackward ms: medians of %d, %s\n", repeats, clock_name());
  for (int pixels = 1; pixels <= MOST_PIXELS && !interrupts; pixels *= 2)
    bench_pixels(t, table, dataset, pixels, repeats);
  if (!interrupts) bench_camera(t, repeats);
  if (!interrupts) bench_print_ratios(table, dataset);
  printf("device memory %.1f MiB at most\n\n", (double)t->memory.peak / 1048576.0);
}

static bool bench_write_csv(const char *path, const bench_table *table, error_line *error) {
  output_file file;
  char room[16];
  if (!measure_open_csv(&file, path, "dataset,path,threshold,pixels,arrays_ms,rows_ms,clock",
                        error))
    return false;
  for (int i = 0; i < table->count; ++i) {
    const bench_row *r = &table->rows[i];
    fprintf(file.stream, "%s,%s,%s,%d,%.6f,%.6f,%s\n", r->dataset, add_way_name(r->way),
            threshold_name(r->way, r->threshold, room), r->pixels, r->ms[0], r->ms[1],
            clock_name());
  }
  return output_file_commit(&file, error);
}

int run_bench_backward(const options *o) {
  static bench_table table;
  error_line error;
  bool done = measure_datasets(o, bench_view, &table, &error);
  if (done && !interrupts && table.count > 0 &&
      table.rows[0].dataset != table.rows[table.count - 1].dataset)
    bench_print_ratios(&table, nullptr);
  if (done && o->csv != nullptr) done = bench_write_csv(o->csv, &table, &error);
  if (!done) return fail(1, &error);
  return measure_status();
}
