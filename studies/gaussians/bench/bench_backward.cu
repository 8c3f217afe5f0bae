/* studies/gaussians/bench --backward and --papers: one view again and again, by every way to add.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <math.h>
#include <string.h>

typedef struct bench_row {
  const char *dataset;
  const bench_kernel *kernel;
  int threshold;
  float ms, noise;   /* the median, and the distance of the quartiles over it */
  double difference; /* the largest of a sum, over what rounding may make: above 1 is an error */
} bench_row;

typedef struct bench_table {
  bool papers;
  std::vector<bench_kernel> kernels;
  std::vector<const char *> datasets;
  std::vector<bench_row> rows;
} bench_table;

static std::vector<bench_kernel> list_kernels(bool papers) {
  std::vector<bench_kernel> kernels;
  if (papers) return {papers_kernels, papers_kernels + PAPERS_KERNELS};
  for (int pixels = 1; pixels <= MOST_PIXELS; ++pixels)
    for (sum_layout layout : {SUMS_ARRAYS, SUMS_ROWS})
      for (int k = 0; k < ADD_WAYS; ++k) {
        const add_way way = (add_way)k;
        const backward_launcher launch = way_launcher(way, layout, pixels);
        if (launch) kernels.push_back({add_way_name(way), way, layout, pixels, launch});
      }
  return kernels;
}

/* ---- one dataset ---------------------------------------------------------------------------- */

static std::vector<bench_row> plan_rows(const bench_table *table, const char *dataset) {
  std::vector<int> all, some = {0, 8, 16, 24, 32, ARC_THRESHOLD_AUTO};
  for (int threshold = 0; threshold <= 32; ++threshold) all.push_back(threshold);
  std::vector<bench_row> rows;
  for (const bench_kernel &kernel : table->kernels)
    for (int threshold : table->papers ? all : some)
      if (threshold == 0 || add_way_has_threshold(kernel.like))
        rows.push_back({dataset, &kernel, threshold, 0.0f, 0.0f, 0.0});
  return rows;
}

static float launch_row(trainer *t, const bench_row *row) {
  return measure_backward(t, row->kernel->launch, row->threshold);
}

/* Launch by launch the rows take turns, so that clocks drift alike for all. */
static void measure_rows(trainer *t, std::vector<bench_row> *rows, int repeats) {
  std::vector<std::vector<float>> ms(rows->size());
  for (int round = 0; round < repeats; ++round)
    for (size_t i = 0; i < rows->size() && !interrupts; ++i)
      ms[i].push_back(launch_row(t, &(*rows)[i]));
  for (size_t i = 0; i < rows->size() && !interrupts; ++i) {
    bench_row *row = &(*rows)[i];
    row->ms = median(ms[i].data(), repeats);
    row->noise = (ms[i][3 * repeats / 4] - ms[i][repeats / 4]) / row->ms;
  }
}

/* An interrupt leaves the dataset out. */
static void measure_rows_of(trainer *t, const char *dataset, int repeats, void *state) {
  bench_table *table = (bench_table *)state;
  std::vector<bench_row> rows = plan_rows(table, dataset);
  if (table->papers) t->f.settings.test = TILE_CIRCLE; /* the lists that the papers describe */
  trainer_draw(t, 0);
  measure_slope(t);
  printf("%s: %d Gaussians, %d x %d pixels, %d pairs\n", printable(dataset), t->count,
         t->cameras[0].width, t->cameras[0].height, t->f.pairs);
  sums_oracle oracle = oracle_of(t);
  for (bench_row &row : rows) {
    if (interrupts) break;
    launch_row(t, &row);
    if (row.kernel->like != ADD_NONE)
      row.difference = sums_difference(t, row.kernel->layout, &oracle);
  }
  measure_rows(t, &rows, repeats);
  if (interrupts) return;
  table->datasets.push_back(dataset);
  table->rows.insert(table->rows.end(), rows.begin(), rows.end());
}

/* ---- the table ------------------------------------------------------------------------------ */

static const bench_row *best_row(const bench_table *table, const char *dataset,
                                 const bench_kernel *kernel) {
  const bench_row *best = nullptr;
  for (const bench_row &row : table->rows)
    if (row.dataset == dataset && row.kernel == kernel && (!best || row.ms < best->ms)) best = &row;
  return best;
}

/* What a kernel is compared with, at the best threshold: auto with the same layout and pixels, or
   the better of the papers' two. */
static float reference_ms(const bench_table *table, const char *dataset,
                          const bench_kernel *kernel) {
  float best = INFINITY;
  for (const bench_kernel &k : table->kernels) {
    bool is_auto = k.like == ADD_AUTO && k.layout == kernel->layout && k.pixels == kernel->pixels;
    bool is_papers = table->papers && (!strcmp(k.name, "sw_s") || !strcmp(k.name, "sw_b"));
    if (is_auto || is_papers) best = fminf(best, best_row(table, dataset, &k)->ms);
  }
  return best;
}

static const char *layout_name(sum_layout layout) {
  return layout == SUMS_ROWS ? "rows" : "arrays";
}

static void print_table(const bench_table *table) {
  printf("\nms (best threshold), %s; geometric mean: times as fast as %s\n%-12s %6s %6s",
         clock_name(), table->papers ? "the better of sw_s and sw_b" : "auto", "", "sums",
         "pixels");
  for (const char *dataset : table->datasets) printf(" %15s", printable(dataset));
  for (const bench_kernel &kernel : table->kernels) {
    double logarithms = 0.0;
    printf("\n%-12s %6s %6d", kernel.name, layout_name(kernel.layout), kernel.pixels);
    for (const char *dataset : table->datasets) {
      const bench_row *best = best_row(table, dataset, &kernel);
      printf(" %8.4f (%4s)", best->ms, threshold_of_way(kernel.like, best->threshold).c_str());
      logarithms += log(reference_ms(table, dataset, &kernel) / best->ms);
    }
    printf(" %9.3f", exp(logarithms / (double)table->datasets.size()));
  }
  printf("\n");
}

static bool write_csv(const char *path, const bench_table *table, error_line *error) {
  output_file file;
  if (!table_open(&file, path, "dataset,kernel,layout,pixels,threshold,ms,noise,difference,clock",
                  error))
    return false;
  for (const bench_row &r : table->rows)
    fprintf(file.stream, "%s,%s,%s,%d,%s,%.6f,%.4f,%.3g,%s\n", r.dataset, r.kernel->name,
            layout_name(r.kernel->layout), r.kernel->pixels,
            threshold_of_way(r.kernel->like, r.threshold).c_str(), r.ms, r.noise, r.difference,
            clock_name());
  return output_file_commit(&file, error);
}

static bool check_sums(const bench_table *table, error_line *error) {
  for (const bench_row &r : table->rows)
    if (!(r.difference <= 1.0))
      return error_set(
          error,
          "%.100s: a sum by %s in %s, %d pixels per lane, threshold %s, is %.3g times as "
          "far off as it may be",
          r.dataset, r.kernel->name, layout_name(r.kernel->layout), r.kernel->pixels,
          threshold_of_way(r.kernel->like, r.threshold).c_str(), r.difference);
  return true;
}

int run_backward(const bench_options *b) {
  bench_table table = {b->papers, list_kernels(b->papers), {}, {}};
  error_line error;
  bool done = measure_datasets(b, measure_rows_of, &table, &error);
  if (done && !table.rows.empty()) print_table(&table);
  if (done && b->o.csv != nullptr) done = write_csv(b->o.csv, &table, &error);
  if (!done || !check_sums(&table, &error)) return fail(1, &error);
  return measure_status();
}
