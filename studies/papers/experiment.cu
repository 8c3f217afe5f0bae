/* Measuring a workload's ways: one table on the terminal, or the papers' table in a file.
   SPDX-License-Identifier: Apache-2.0 */
#include "../common/workload.h"

#include <math.h>

#include <vector>

#include "../common/energy.h"
#include "../../bench/common/model.h"
#include "../../bench/common/program_run.h"
#include "../common/profiled.h"
#include "table.h"

#include "arc_policy.cuh"

static const double LARGEST_ERROR = 1e-3; /* of a way's sums, relative L2, half precision too */

#if SIMT_ON_CPU
float experiment_model_ms(void) {
  const simt_counters c = simt_counters_read();
  return (float)model_ms(&c);
}
#endif

/* ---- one launch ----------------------------------------------------------------------------- */

enum { REPEATS = SIMT_ON_CPU ? 1 : 15 };

/* The median of what comes before the gradient steps of as many iterations. */
static float measure_forward(const workload *w) {
  int iteration = 0;
  return SIMT_ON_CPU ? NAN : median_time(REPEATS, [&] { w->forward(iteration++); });
}

/* The median of single launches after one that warms up and one for a profiler to look at. */
static float measure_gradient(const workload *w, int way, int threshold) {
  std::vector<float> ms;
  w->forward(0);
  if (!SIMT_ON_CPU) w->gradient(way, threshold);
  profiled([&] { w->gradient(way, threshold); });
  for (int i = 0; i < REPEATS && (i == 0 || !interrupts); ++i)
    ms.push_back(workload_time_gradient(w, way, threshold));
  return median(ms.data(), (int)ms.size());
}

/* ---- sums ----------------------------------------------------------------------------------- */

static std::vector<float> read_sums(const workload *w, int way, int threshold) {
  w->forward(0);
  w->gradient(way, threshold);
  const workload_sums sums = w->sums();
  return device_read<float>(sums.data, sums.count, "reading gradients");
}

static double relative_difference(const std::vector<float> &a, const std::vector<float> &wanted) {
  double difference = 0.0, whole = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += ((double)a[i] - wanted[i]) * ((double)a[i] - wanted[i]);
    whole += (double)wanted[i] * wanted[i];
  }
  return whole > 0.0 ? sqrt(difference / whole) : difference > 0.0 ? INFINITY : 0.0;
}

/* Plain atomics' sums; of zeros, nothing could be told. */
static bool check_plain(const std::vector<float> &sums, error_line *error) {
  for (float sum : sums)
    if (sum != 0.0f) return true;
  return error_set(error, "plain atomics: all sums are 0, so that nothing can be compared");
}

/* NaN is not accepted either. */
static bool check_error(const workload *w, const workload_outcome *its, error_line *error) {
  if (its->error <= LARGEST_ERROR) return true;
  return error_set(error,
                   "path %s: sums differ by %.2g from those of plain atomics; at most %g is "
                   "accepted",
                   workload_way_name(w, its->way), its->error, LARGEST_ERROR);
}

/* ---- comparing ------------------------------------------------------------------------------ */

typedef struct histogram {
  unsigned long long lanes[PAPER_COUNTS], keys[PAPER_COUNTS];
} histogram;

static histogram count_steps(const workload *w) {
  histogram h;
  device_clear(workload_counts(), sizeof h);
  w->forward(0);
  w->gradient(WAY_COUNT, 0);
  device_to_host(&h, workload_counts(), sizeof h, "counting lanes");
  return h;
}

static void print_histogram(const histogram *h) {
  double all = 0.0, met = 0.0, lanes = 0.0, keys = 0.0;
  for (int i = 0; i < PAPER_COUNTS; ++i) {
    all += (double)h->lanes[i];
    met += i > 0 ? (double)h->lanes[i] : 0.0;
    lanes += i * (double)h->lanes[i];
    keys += i * (double)h->keys[i];
  }
  if (met == 0.0) return;
  printf(
      "warp steps %.0f, %.1f %% empty; of the others %.1f %% are full, %.3g %% have one key, mean "
      "%.1f lanes, %.1f keys\n",
      all, 100.0 * (all - met) / all, 100.0 * (double)h->lanes[32] / met,
      100.0 * (double)h->keys[1] / met, lanes / met, keys / met);
}

int experiment_compare(const workload *w, const workload_options *o) {
  error_line error;
  w->reset();
  const histogram h = count_steps(w);
  float plain_ms = 0.0f;
  std::vector<float> wanted;
  bool right = true;
  print_histogram(&h);
  printf("\nms of a gradient step: %s\n%-11s %9s %9s %8s %10s\n",
         SIMT_ON_CPU ? "*model* of an H200, from counted operations" : "GPU events, medians",
         "path", "threshold", "ms", "x plain", "difference");
  for (int way = 0; way < workload_way_count(w) && !interrupts; ++way) {
    if (!workload_offers(w, way)) continue;
    workload_outcome its = {way,
                            workload_has_threshold(w, way) ? o->threshold : ARC_THRESHOLD_AUTO};
    its.gradient_ms = measure_gradient(w, way, its.threshold);
    const std::vector<float> sums = read_sums(w, way, its.threshold);
    if (way == WAY_PLAIN) {
      wanted = sums, plain_ms = its.gradient_ms;
      right = check_plain(wanted, &error);
    }
    if (interrupts) break;
    its.error = relative_difference(sums, wanted);
    printf("%-11s %9s %9.4g %8.3f %10.2g\n", workload_way_name(w, way),
           workload_threshold_word(w, &its).c_str(), its.gradient_ms, its.gradient_ms / plain_ms,
           its.error);
    if (right) right = check_error(w, &its, &error);
  }
  if (!right) return fail(1, &error);
  return interrupts ? printf("interrupted\n"), interrupted_status() : 0;
}

/* ---- the papers' table ---------------------------------------------------------------------- */

typedef struct experiment {
  const workload *w;
  workload_options o;
  output_file table;
  energy_counter energy;
  const char *dataset;
  histogram counted; /* of the parameters as after a reset, as the next two */
  float forward_ms;
  std::vector<float> wanted; /* the sums of plain atomics */
} experiment;

static const char *papers_name(const workload *w, int way) {
  return way == WAY_SERIALIZED ? "SW-S" : way == WAY_BUTTERFLY ? "SW-B" : workload_way_name(w, way);
}

static void add_row(experiment *e, const char *name, const workload_outcome *its) {
  const workload_quality *q = &its->quality;
  const int threshold = workload_has_threshold(e->w, its->way) ? its->threshold : -1;
  const char *dataset = e->o.file != nullptr ? e->o.file : e->dataset;
  const paper_row row = {e->w->name,       name,
                         dataset,          threshold,
                         its->iterations,  e->o.seed,
                         e->counted.lanes, e->counted.keys,
                         q->train_psnr,    q->train_l1,
                         q->test_psnr,     q->test_l1,
                         its->seconds,     its->forward_ms,
                         its->gradient_ms, its->millijoules,
                         its->error};
  paper_table_add(&e->table, &row);
}

/* The step alone, of parameters as after a reset. */
static bool measure_step(experiment *e, workload_outcome *its, error_line *error) {
  const workload *w = e->w;
  w->reset();
  its->forward_ms = e->forward_ms;
  its->gradient_ms = measure_gradient(w, its->way, its->threshold);
  const std::vector<float> sums = read_sums(w, its->way, its->threshold);
  if (e->wanted.empty()) { /* the first way is plain */
    if (!check_plain(sums, error)) return false;
    e->wanted = sums;
  }
  its->error = relative_difference(sums, e->wanted);
  return interrupts || check_error(w, its, error);
}

/* Where nothing is trained there is no row. *threshold: the last choice, if there is a search. */
static bool measure_training(experiment *e, const char *name, int way, int *threshold,
                             threshold_search search, error_line *error) {
  if (e->o.iterations == 0 || interrupts) return true;
  workload_outcome its = workload_train(e->w, &e->o, way, *threshold, search);
  its.forward_ms = measure_forward(e->w);
  const bool right = workload_judge(e->w, &its, error);
  if (interrupts) return true;
  *threshold = its.threshold;
  if (right) add_row(e, name, &its);
  return right;
}

/* The step at every threshold; at the best one its energy, and a training, which comes first if it
   is to choose the threshold. */
static bool measure_way(experiment *e, int way, bool tunes, error_line *error) {
  const bool papers = way == WAY_SERIALIZED || way == WAY_BUTTERFLY;
  const char *name = tunes ? "tuned" : papers_name(e->w, way);
  int chosen = ARC_THRESHOLD_AUTO;
  if (tunes && !measure_training(e, name, way, &chosen, SEARCH_TUNER, error)) return false;
  std::vector<workload_outcome> steps;
  size_t best = 0;
  for (int threshold : tunes ? std::vector<int>{chosen}
                             : paper_thresholds(workload_has_threshold(e->w, way), papers)) {
    if (interrupts) return true;
    steps.push_back({way, threshold});
    if (!measure_step(e, &steps.back(), error)) return false;
    if (steps.back().gradient_ms < steps[best].gradient_ms) best = steps.size() - 1;
  }
  chosen = steps[best].threshold;
  steps[best].millijoules =
      energy_of_launch(&e->energy, 0.25, steps[best].gradient_ms < 1.0f ? 16 : 1,
                       [&] { e->w->gradient(way, chosen); });
  if (interrupts) return true;
  for (const workload_outcome &step : steps) add_row(e, name, &step);
  return tunes || measure_training(e, name, way, &chosen, SEARCH_NONE, error);
}

/* Trainings whose steps alone are measured by measure_way: arc's as users get it, and the papers' as
   the papers train. */
static bool measure_more_trainings(experiment *e, error_line *error) {
  static const struct {
    const char *name;
    int way;
    threshold_search search;
  } trainings[] = {{"default", WAY_AUTO, SEARCH_NONE},
                   {"SW-S retuned", WAY_SERIALIZED, SEARCH_PAPERS},
                   {"SW-B retuned", WAY_BUTTERFLY, SEARCH_PAPERS}};
  for (const auto &its : trainings) {
    int threshold = ARC_THRESHOLD_AUTO;
    if (workload_offers(e->w, its.way) &&
        !measure_training(e, its.name, its.way, &threshold, its.search, error))
      return false;
  }
  return true;
}

static bool measure_dataset(experiment *e, error_line *error) {
  bool right = true;
  e->wanted.clear();
  e->w->reset();
  e->counted = count_steps(e->w);
  e->forward_ms = measure_forward(e->w);
  print_histogram(&e->counted);
  for (int way = 0; way < workload_way_count(e->w) && right && !interrupts; ++way)
    if (workload_offers(e->w, way)) right = measure_way(e, way, false, error);
  if (right && !interrupts && e->o.iterations > 0)
    right = measure_way(e, WAY_AUTO, true, error) && measure_more_trainings(e, error);
  return right;
}

/* After Ctrl-C the rows so far are written; after a wrong sum the file is left as it was. */
int experiment_run(const workload *w, const workload_options *o) {
  experiment e = {};
  error_line error;
  bool begun = true, right = true;
  e.w = w;
  if (!paper_table_open(&e.table, o->experiment, &error)) return fail(2, &error);
  e.energy = energy_open();
  for (const char *const *dataset = w->datasets; *dataset && right && !interrupts; ++dataset) {
    if (o->dataset != nullptr && o->dataset != *dataset) continue;
    e.dataset = *dataset;
    e.o = *o;
    begun = w->begin(e.dataset, &e.o, &error);
    if (!begun) break;
    right = interrupts || measure_dataset(&e, &error);
    w->end();
  }
  energy_close(&e.energy);
  if (!right || (!begun && !interrupts)) {
    output_file_abandon(&e.table);
    return fail(begun ? 1 : 2, &error);
  }
  if (!output_file_commit(&e.table, &error)) return fail(1, &error);
  printf("written    %s\n", printable(o->experiment));
  return interrupts ? interrupted_status() : 0;
}
