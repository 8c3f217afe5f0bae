/* sweep.cu - arc_sweep: what adding from many lanes costs, path by path. The main loop.
   SPDX-License-Identifier: Apache-2.0

   GPU: times. CPU warp (simt/): counts and *model* clocks. README.md tells how to read it. */
#include "simt/simt.cuh"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sweep.h"

enum {
  exit_done = 0,
  exit_wrong = 1,
  exit_bad_option = 2,
  exit_no_gpu = 77,
  exit_interrupted = 130
};

static volatile sig_atomic_t interrupts;

int sweep_interrupted(void) { return interrupts != 0; }

/* The first interrupt ends the sweep after what is being measured, the second one at once. */
static void on_interrupt(int signal_number) {
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int group_end(const struct sweep_plan *plan, int first) {
  int end = first + 1;
  while (end < plan->count && sweep_same_group(&plan->cell[first], &plan->cell[end])) ++end;
  return end;
}

static int report_wrong(const struct sweep_result *r, FILE *err) {
  if (r->wrong == 0) return 0;
  fprintf(err,
          "ERROR: %s, width %d, %d lanes %s, %d keys, threshold %d: %ld sums are wrong, the worst "
          "by %.3g times its bound\n",
          sweep_path_name(r->cell.path), r->cell.width, r->cell.lanes,
          sweep_shape_name(r->cell.shape), r->cell.keys, r->cell.threshold, r->wrong,
          r->worst_error);
  return 1;
}

struct sweep_run {
  struct sweep_bench *bench;
  struct sweep_csv csv;
  struct sweep_results results;
  int wrong_cells, failed;
};

/* All groups, or up to an interrupt. Returns the number of groups measured. */
static int run_groups(struct sweep_run *run, const struct sweep_plan *plan,
                      const struct sweep_options *o, FILE *out, FILE *err) {
  double start = seconds_now();
  int groups = 0;
  for (int first = 0; first < plan->count && !sweep_interrupted(); ++groups) {
    int end = group_end(plan, first);
    struct sweep_result *r = run->results.item + run->results.count;
    if (!o->quiet) sweep_progress(first, plan->count, seconds_now() - start, &plan->cell[first]);
    run->failed = sweep_bench_group(run->bench, &plan->cell[first], end - first, r, err);
    sweep_progress_clear();
    if (run->failed) return groups;
    if (!o->quiet) sweep_table_group(out, r, end - first);
    for (int i = 0; i < end - first; ++i) {
      if (run->csv.file) sweep_csv_row(&run->csv, &r[i]);
      run->wrong_cells += report_wrong(&r[i], err);
    }
    run->results.count += end - first;
    first = end;
    if (o->interrupt_after == groups + 1) raise(SIGINT);
  }
  return groups;
}

static int finish(struct sweep_run *run, const struct sweep_plan *plan,
                  const struct sweep_options *o, double seconds, FILE *out, FILE *err) {
  int complete = run->results.count == plan->count;
  int unwritten = run->csv.file ? sweep_csv_close(&run->csv, complete, err) : 0;
  if (!complete) {
    fprintf(err, "arc_sweep: %s after %d of %d cells%s%s\n",
            run->failed ? "stopped" : "interrupted", run->results.count, plan->count,
            run->csv.file ? "; they are kept in " : "", run->csv.file ? run->csv.partial : "");
    return run->failed ? exit_wrong : exit_interrupted;
  }
  if (o->preset && strcmp(o->preset, "issue") == 0) sweep_verdict(out, &run->results, run->bench);
  if (!o->quiet)
    fprintf(out, "\n%d cells in %.1f s, %d with wrong sums%s%s\n", plan->count, seconds,
            run->wrong_cells, run->csv.file ? "; written to " : "", run->csv.file ? o->csv : "");
  return run->wrong_cells || unwritten ? exit_wrong : exit_done;
}

static int run_plan(const struct sweep_plan *plan, const struct sweep_options *o, int argc,
                    char **argv, FILE *out, FILE *err) {
  struct sweep_run run;
  memset(&run, 0, sizeof run);
  run.bench = sweep_bench_open(o, plan, err);
  if (!run.bench) return exit_no_gpu;
  run.results.item = (struct sweep_result *)calloc((size_t)plan->count, sizeof *run.results.item);
  int status = run.results.item ? 0 : exit_wrong;
  if (!status && o->csv) status = sweep_csv_open(&run.csv, o->csv, run.bench, argc, argv, o, err);
  if (!status) {
    double start = seconds_now();
    interrupts = 0;
    void (*before)(int) = signal(SIGINT, on_interrupt);
    if (!o->quiet) sweep_table_head(out, run.bench, o);
    run_groups(&run, plan, o, out, err);
    signal(SIGINT, before);
    status = finish(&run, plan, o, seconds_now() - start, out, err);
  }
  free(run.results.item);
  sweep_bench_close(run.bench);
  return status;
}

int sweep_main(int argc, char **argv, FILE *out, FILE *err) {
  struct sweep_options options;
  struct sweep_plan plan;
  int bad = sweep_options_read(&options, argc, argv, err);
  if (bad) return exit_bad_option;
  if (options.help) {
    sweep_options_help(out);
    return exit_done;
  }
  if (options.self_check) return sweep_self_check(out);
  sweep_plan_build(&plan, &options);
  int status = run_plan(&plan, &options, argc, argv, out, err);
  sweep_plan_free(&plan);
  return status;
}

int main(int argc, char **argv) {
#if SIMT_ON_CPU
  simt_seed_from_env();
#endif
  return sweep_main(argc, argv, stdout, stderr);
}
