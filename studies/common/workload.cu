/* arc studies: what the papers' workloads share. SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <math.h>
#include <string.h>

#include <vector>

#include "../../bench/common/device_describe.h"
#include "image_io.h"
#include "../../bench/common/program_run.h"

#include "arc_tune.h"

static device_array counts;

unsigned long long *workload_counts(void) { return (unsigned long long *)counts.data; }

/* ---- ways ----------------------------------------------------------------------------------- */

const char *workload_way_name(const workload *w, int way) {
  static const char *const names[WAYS] = {"plain", "serialized", "butterfly", "auto", "cub", "cg"};
  return way < WAYS ? names[way] : w->own_ways[way - WAYS];
}

int workload_way_count(const workload *w) {
  int own = 0;
  while (w->own_ways != nullptr && w->own_ways[own] != nullptr) ++own;
  return WAYS + own;
}

bool workload_offers(const workload *w, int way) {
  if (!way_runs_here(way)) return false;
  return way == WAY_PLAIN || way >= WAYS || (w->ways >> way & 1u) != 0u;
}

bool workload_has_threshold(const workload *w, int way) {
  if (way >= WAYS) return (w->thresholds >> (way - WAYS) & 1u) != 0u;
  return way_has_threshold(way);
}

std::string workload_threshold_word(const workload *w, const workload_outcome *its) {
  return threshold_word(workload_has_threshold(w, its->way) ? its->threshold : -1);
}

/* ---- options -------------------------------------------------------------------------------- */

/* The program's own, and those that all have; way and dataset: places among the names. */
static std::vector<option> option_table(const workload *w, workload_options *o, int *dataset,
                                        const std::vector<const char *> *ways) {
  static const char *const threshold_names[] = {"auto", nullptr};
  std::vector<option> table;
  for (const option *own = w->options; own->name != nullptr; ++own) table.push_back(*own);
  const option shared[] = {
      {"--path", OPTION_NAME, &o->way, "how the gradient step adds", 0, -1, ways->data()},
      {"--threshold", OPTION_INT, &o->threshold, "the balancing threshold", 0, 33, threshold_names},
      {"--tune", OPTION_FLAG, &o->tune,
       "arc's tuner picks the threshold of the path auto while the program runs"},
      {"--compare-paths", OPTION_FLAG, &o->compare,
       "measures the gradient step alone, by every path, in one table"},
      {"--experiment", OPTION_OUTPUT, &o->experiment,
       "the papers' table: every path and threshold on every dataset; adds its rows to FILE"},
      {"--dataset", OPTION_NAME, dataset, "one of the datasets of --experiment", 0, -1,
       w->datasets},
      {"--iterations", OPTION_INT, &o->iterations, "", 0, 1000000},
      {"--seed", OPTION_INT, &o->seed, "", 0, 1000000},
      {"--path --threshold", OPTION_WITHOUT, nullptr, "--tune"},
      {"--path --tune --out --iterations", OPTION_WITHOUT, nullptr, "--compare-paths"},
      {"--path --tune --out --threshold --compare-paths", OPTION_WITHOUT, nullptr, "--experiment"}};
  table.insert(table.end(), shared, shared + sizeof shared / sizeof *shared);
  if (w->write != nullptr)
    table.push_back({"--out", OPTION_OUTPUT, &o->out, "writes a picture of the result"});
  table.push_back({OPTIONS_END});
  table.push_back({});
  return table;
}

static bool parse(const workload *w, workload_options *o, int argc, char **argv,
                  error_line *error) {
  std::vector<const char *> ways; /* "": not offered */
  for (int way = 0; way < workload_way_count(w); ++way)
    ways.push_back(workload_offers(w, way) ? workload_way_name(w, way) : "");
  ways.push_back(nullptr);
  int dataset = -1;
  std::vector<option> table = option_table(w, o, &dataset, &ways);
  if (!options_read(table.data(), argc, argv, error)) return false;
  if (dataset >= 0) o->dataset = w->datasets[dataset];
  if (o->threshold != ARC_THRESHOLD_AUTO && !o->compare && !workload_has_threshold(w, o->way))
    return error_set(error, "--path %s has no threshold; leave --threshold out",
                     workload_way_name(w, o->way));
  return o->out == nullptr || image_write_probe(o->out, error);
}

/* ---- times and energy ----------------------------------------------------------------------- */

#if SIMT_ON_CPU
float workload_time_gradient(const workload *w, int way, int threshold) {
  simt_counters_reset();
  w->gradient(way, threshold);
  return experiment_model_ms();
}
#else
float workload_time_gradient(const workload *w, int way, int threshold) {
  return device_time([&] { w->gradient(way, threshold); });
}
#endif

static const char *step_clock(void) { return SIMT_ON_CPU ? ", *model* of an H200" : ""; }

/* ---- training ------------------------------------------------------------------------------- */

/* Milliseconds of the gradient steps, read once all are done. */
typedef struct step_times {
  std::vector<cudaEvent_t> events; /* start, stop, start, ... */
  std::vector<float> ms;
} step_times;

enum { MOST_TIMED = 4096 };

static cudaEvent_t begin_step(step_times *t) {
  cudaEvent_t start, stop;
  device_check(cudaEventCreate(&start), "an event");
  device_check(cudaEventCreate(&stop), "an event");
  device_check(cudaEventRecord(start, 0), "an event");
  t->events.push_back(start);
  t->events.push_back(stop);
  return stop;
}

static float end_steps(step_times *t) {
  device_check(cudaDeviceSynchronize(), "training");
  for (size_t i = 0; i < t->events.size(); i += 2) {
    float ms = 0.0f;
    device_check(cudaEventElapsedTime(&ms, t->events[i], t->events[i + 1]), "a time");
    t->ms.push_back(ms);
    cudaEventDestroy(t->events[i]);
    cudaEventDestroy(t->events[i + 1]);
  }
  return t->ms.empty() ? NAN : median(t->ms.data(), (int)t->ms.size());
}

static void step_timed(const workload *w, step_times *t, int way, int threshold) {
  if (SIMT_ON_CPU) {
    t->ms.push_back(workload_time_gradient(w, way, threshold));
  } else if (t->events.size() < 2 * MOST_TIMED) {
    const cudaEvent_t stop = begin_step(t);
    w->gradient(way, threshold);
    device_check(cudaEventRecord(stop, 0), "an event");
  } else {
    w->gradient(way, threshold);
  }
}

/* Launches do not wait, but an interrupt shall end the program soon: no more than so many steps are
   under way. */
enum { MOST_UNDER_WAY = 4 };

static void wait_for_earlier(cudaEvent_t done[MOST_UNDER_WAY], int iteration) {
  cudaEvent_t *earlier = &done[iteration % MOST_UNDER_WAY];
  if (iteration < MOST_UNDER_WAY) device_check(cudaEventCreate(earlier), "an event");
  if (iteration >= MOST_UNDER_WAY) device_check(cudaEventSynchronize(*earlier), "training");
  device_check(cudaEventRecord(*earlier, 0), "an event");
}

static arc_tune tune;

static void step_tuned(const workload *w, step_times *t) {
  const arc_tune_policy policy = arc_tune_next(&tune);
  if (policy.ticket == 0) {
    step_timed(w, t, WAY_AUTO, policy.threshold);
    return;
  }
  t->ms.push_back(workload_time_gradient(w, WAY_AUTO, policy.threshold));
  arc_tune_report(&tune, policy.ticket, 1000.0 * t->ms.back());
}

static void tune_begin(void) {
  arc_tune_config config = arc_tune_config_default(); /* auto, thresholds 0 to 32 */
  if (arc_tune_init(&tune, &config) != ARC_TUNE_OK) abort();
}

workload_outcome workload_train(const workload *w, const workload_options *o, int way,
                                int threshold, threshold_search search) {
  const bool tunes = search == SEARCH_TUNER;
  workload_outcome its = {way, threshold};
  step_times times;
  cudaEvent_t done[MOST_UNDER_WAY];
  if (tunes) tune_begin();
  w->reset();
  device_check(cudaDeviceSynchronize(), "a reset");
  const double begin = seconds_now();
  for (; its.iterations < o->iterations && !interrupts; ++its.iterations) {
    w->forward(its.iterations);
    if (search == SEARCH_PAPERS && its.iterations % SEARCH_EVERY == 0) {
      its.threshold = search_threshold([&](int at) { return workload_time_gradient(w, way, at); });
      w->forward(its.iterations); /* clears the sums */
    }
    if (tunes)
      step_tuned(w, &times);
    else
      step_timed(w, &times, way, its.threshold);
    w->update(its.iterations);
    wait_for_earlier(done, its.iterations);
    if (progress_due())
      progress_line("%-10s iteration %d of %d", workload_way_name(w, way), its.iterations + 1,
                    o->iterations);
  }
  its.gradient_ms = end_steps(&times);
  for (int i = 0; i < its.iterations && i < MOST_UNDER_WAY; ++i) cudaEventDestroy(done[i]);
  its.seconds = seconds_now() - begin;
  progress_clear();
  if (tunes) its.threshold = tune.result.choice.threshold;
  return its;
}

bool workload_judge(const workload *w, workload_outcome *its, error_line *error) {
  return w->judge == nullptr || w->judge(its->iterations, &its->quality, error);
}

static void print_quality(const char *what, double psnr, double l1) {
  if (isfinite(psnr)) printf("%-10s PSNR %.3f dB, L1 %.5f\n", what, psnr, l1);
}

/* After an interrupt the result is written, but not judged, which may take long. */
static int run_training(const workload *w, const workload_options *o) {
  char step[64] = "no gradient step";
  error_line error;
  const int threshold = workload_has_threshold(w, o->way) ? o->threshold : ARC_THRESHOLD_AUTO;
  workload_outcome its = {o->way, threshold};
  printf("path       %s, ", workload_way_name(w, o->way));
  printf(o->tune ? "tuned\n" : "threshold %s\n", workload_threshold_word(w, &its).c_str());
  its = workload_train(w, o, o->way, threshold, o->tune ? SEARCH_TUNER : SEARCH_NONE);
  if (its.iterations > 0)
    snprintf(step, sizeof step, "gradient step %.4g ms (median%s)", its.gradient_ms, step_clock());
  printf("trained    %d iterations in %.2f s, %s\n", its.iterations, its.seconds, step);
  if (o->tune) printf("tuned      threshold %s\n", workload_threshold_word(w, &its).c_str());
  const bool right = interrupts || workload_judge(w, &its, &error);
  if (!right && !interrupts) return fail(1, &error);
  if (!interrupts) print_quality("train", its.quality.train_psnr, its.quality.train_l1);
  if (!interrupts) print_quality("test", its.quality.test_psnr, its.quality.test_l1);
  if (o->out != nullptr) {
    if (!w->write(o->out, &error)) return fail(1, &error);
    printf("written    %s\n", printable(o->out));
  }
  if (!interrupts) return 0;
  printf("interrupted after %d of %d iterations: the result is not judged\n", its.iterations,
         o->iterations);
  return interrupted_status();
}

/* ---- from the options to the end ------------------------------------------------------------ */

static int run(const workload *w, workload_options *o) {
  error_line error;
  int status;
  if (o->experiment != nullptr) return experiment_run(w, o);
  if (!w->begin(o->dataset, o, &error)) return fail(interrupts ? interrupted_status() : 2, &error);
  if (interrupts) {
    error_set(&error, "interrupted before the first step");
    status = fail(interrupted_status(), &error);
  } else {
    status = o->compare ? experiment_compare(w, o) : run_training(w, o);
  }
  w->end();
  return status;
}

int workload_main(int argc, char **argv, const workload *w) {
  workload_options o = {
      WAY_AUTO, ARC_THRESHOLD_AUTO, false, false, w->iterations, 1, nullptr, nullptr, nullptr,
      nullptr};
  device_memory memory = {0, 0};
  error_line error;
  if (program_begin(w->name, argc, argv)) return 0;
  if (!parse(w, &o, argc, argv, &error)) return fail(2, &error);
  if (!has_device(w->name, &error)) return fail(1, &error);
  catch_interrupts();
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  device_reserve(&memory, &counts, WORKLOAD_COUNTS * sizeof(long long), "memory for the histogram");
  const int status = run(w, &o);
  device_release(&memory, &counts);
  return status;
}
