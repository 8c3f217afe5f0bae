/* bench/gaussians --backward: one view again and again, by every way to add.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_PIXELS = 3 }; /* 1, 2, 4 a lane */

typedef struct bench_row {
  const char *dataset;
  add_way way;
  int threshold, pixels;
  float ms[SUM_LAYOUTS];
  double difference; /* the largest of a sum, over what rounding may make: above 1 is an error */
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

typedef struct bench_backward_run {
  backward_launcher launcher;
  int threshold;
} bench_backward_run;

static float bench_backward(trainer *t, void *argument) {
  const bench_backward_run *run = (const bench_backward_run *)argument;
  return measure_backward(t, run->launcher, run->threshold);
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

/* Of a dataset. */
typedef struct bench_run {
  trainer *t;
  bench_table *table;
  const char *dataset;
  int repeats;
  sums_oracle oracle;
} bench_run;

/* In both layouts; an interrupt leaves it out. */
static void bench_way(const bench_run *r, add_way way, int threshold, int pixels) {
  bench_row *row = &r->table->rows[r->table->count];
  char room[16];
  *row = {r->dataset, way, threshold, pixels, {}, 0.0};
  for (int i = 0; i < SUM_LAYOUTS; ++i) {
    sum_layout layout = (sum_layout)i;
    bench_backward_run run = {way_launcher(way, layout, pixels), threshold};
    row->ms[i] = bench_median(r->t, r->repeats, bench_backward, &run);
    if (way != ADD_NONE)
      row->difference = fmax(row->difference, sums_difference(r->t, layout, &r->oracle));
  }
  if (interrupts) return;
  r->table->count += 1;
  printf("%-12s %9s %10d %10.4f %10.4f\n", add_way_name(way),
         threshold_of_way(way, threshold, room), pixels, row->ms[0], row->ms[1]);
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
  for (int layout = 0; layout < SUM_LAYOUTS; ++layout)
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
      if (way_launcher(rival.way, SUMS_ROWS, 1))
        bench_print_ratio(table, dataset, rival, ours, rivals[r].name);
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
  frame_clear_sums(&t->f);
  frame_backward(&t->f);
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
static void bench_pixels(const bench_run *r, int pixels) {
  unsigned long long histogram[LANE_COUNTS] = {0};
  count_lanes_of_frame(r->t, pixels, histogram);
  print_lanes(histogram);
  printf("%-12s %9s %10s %10s %10s\n", "path", "threshold", "pixels", "arrays", "rows");
  for (int w = 0; w < ADD_WAYS && !interrupts; ++w) {
    add_way way = (add_way)w;
    int thresholds = add_way_has_threshold(way) ? (int)BENCH_THRESHOLDS : 1;
    if (!way_launcher(way, SUMS_ROWS, pixels)) continue;
    for (int k = 0; k < thresholds && !interrupts; ++k)
      bench_way(r, way, bench_thresholds[k], pixels);
  }
}

static void bench_view(trainer *t, const char *dataset, int repeats, void *state) {
  bench_table *table = (bench_table *)state;
  printf("%s: %d Gaussians, %d x %d pixels\n", printable(dataset), t->count, t->cameras[0].width,
         t->cameras[0].height);
  bench_tiles(t, repeats);
  measure_slope(t);
  printf("\nbackward ms: medians of %d, %s\n", repeats, clock_name());
  bench_run run = {t, table, dataset, repeats, oracle_of(t)};
  for (int pixels = 1; pixels <= MOST_PIXELS && !interrupts; pixels *= 2)
    bench_pixels(&run, pixels);
  oracle_free(&run.oracle);
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
            threshold_of_way(r->way, r->threshold, room), r->pixels, r->ms[0], r->ms[1],
            clock_name());
  }
  return output_file_commit(&file, error);
}

/* The first row whose sums are wrong; null: none. */
static const bench_row *bench_wrong(const bench_table *table) {
  for (int i = 0; i < table->count; ++i)
    if (!(table->rows[i].difference <= 1.0)) return &table->rows[i];
  return nullptr;
}

int run_backward(const bench_options *b) {
  static bench_table table;
  error_line error;
  char room[16];
  bool done = measure_datasets(b, bench_view, &table, &error);
  if (done && !interrupts && table.count > 0 &&
      table.rows[0].dataset != table.rows[table.count - 1].dataset)
    bench_print_ratios(&table, nullptr);
  if (done && b->o.csv != nullptr) done = bench_write_csv(b->o.csv, &table, &error);
  if (!done) return fail(1, &error);
  const bench_row *wrong = bench_wrong(&table);
  if (wrong != nullptr) {
    error_set(&error,
              "%.100s: a sum by %s, threshold %s, %d pixels a lane, is %.3g times as far off "
              "as it may be",
              wrong->dataset, add_way_name(wrong->way),
              threshold_of_way(wrong->way, wrong->threshold, room), wrong->pixels,
              wrong->difference);
    return fail(1, &error);
  }
  return measure_status();
}
