/* sweep.cu - arc_sweep: what adding from many lanes costs, path by path. The main loop.
   SPDX-License-Identifier: Apache-2.0

   GPU: times. CPU warp (simt/): counts and *model* clocks. README.md tells how to read it. */
#include "simt/simt.cuh"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sweep.h"
#include "sweep_compare.h"

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
  fprintf(
      err,
      "ERROR: %s, workload %s, width %d, %d lanes %s, %d keys, threshold %d: %ld sums are wrong, "
      "the worst by %.3g times its bound\n",
      sweep_path_name(r->cell.path), sweep_workload_name(r->cell.workload), r->cell.width,
      r->cell.lanes, sweep_shape_name(r->cell.shape), r->cell.keys, r->cell.threshold, r->wrong,
      r->worst_error);
  return 1;
}

struct sweep_run {
  struct sweep_bench *bench;
  struct sweep_csv csv;
  struct sweep_results results;
  int wrong_cells, failed;
};

/* The groups that are not in `results` yet, or up to an interrupt. */
static void run_groups(struct sweep_run *run, const struct sweep_plan *plan,
                       const struct sweep_options *o, FILE *out, FILE *err) {
  double start = seconds_now();
  int groups = 0, taken_over = run->results.count;
  for (int first = taken_over; first < plan->count && !sweep_interrupted(); ++groups) {
    int end = group_end(plan, first);
    struct sweep_result *r = run->results.item + run->results.count;
    if (!o->quiet)
      sweep_progress(first, plan->count, taken_over, seconds_now() - start, &plan->cell[first]);
    run->failed = sweep_bench_group(run->bench, &plan->cell[first], end - first, r, err);
    sweep_progress_clear();
    if (run->failed) return;
    if (!o->quiet) sweep_table_group(out, r, end - first);
    for (int i = 0; i < end - first; ++i) {
      if (run->csv.file) sweep_csv_row(&run->csv, &r[i]);
      run->wrong_cells += report_wrong(&r[i], err);
    }
    run->results.count += end - first;
    first = end;
    if (o->interrupt_after == groups + 1) raise(SIGINT);
  }
}

/* Closes the files and says how it went. `unwritten`: JSON could not be written. */
static int finish(struct sweep_run *run, const struct sweep_plan *plan,
                  const struct sweep_options *o, int unwritten, double seconds, FILE *out,
                  FILE *err) {
  int complete = run->results.count == plan->count;
  if (run->csv.file) unwritten |= sweep_csv_close(&run->csv, complete, err);
  sweep_bench_warn(run->bench, err);
  if (!complete) {
    fprintf(err, "arc_sweep: %s after %d of %d cells%s%s\n",
            run->failed ? "stopped" : "interrupted", run->results.count, plan->count,
            run->csv.file ? "; --resume goes on from " : "", run->csv.file ? run->csv.partial : "");
    return run->failed ? exit_wrong : exit_interrupted;
  }
  if (o->preset && strcmp(o->preset, "issue") == 0) sweep_verdict(out, &run->results, run->bench);
  if (o->preset && strcmp(o->preset, "peers") == 0) sweep_verdict_peers(out, &run->results);
  if (!o->quiet)
    fprintf(out, "\n%d cells in %.1f s, %d with wrong sums%s%s\n", plan->count, seconds,
            run->wrong_cells, run->csv.file ? "; written to " : "", run->csv.file ? o->csv : "");
  return run->wrong_cells || unwritten ? exit_wrong : exit_done;
}

/* Opens the files; counts and reports what --resume took over. */
static int open_files(struct sweep_run *run, const struct sweep_plan *plan,
                      const struct sweep_options *o, int argc, char **argv, FILE *out, FILE *err) {
  int status = o->json ? sweep_json_check(o->json, err) : 0;
  if (status || !o->csv) return status;
  status = sweep_csv_open(&run->csv, run->bench, argc, argv, o, plan, run->results.item,
                          &run->results.count, err);
  for (int i = 0; i < run->results.count; ++i)
    run->wrong_cells += report_wrong(&run->results.item[i], err);
  if (!status && o->resume && !o->quiet)
    fprintf(out, "resumed: %d of %d cells are taken over\n", run->results.count, plan->count);
  return status;
}

static int run_plan(const struct sweep_plan *plan, const struct sweep_options *o, int argc,
                    char **argv, FILE *out, FILE *err) {
  struct sweep_run run;
  memset(&run, 0, sizeof run);
  run.bench = sweep_bench_open(o, plan, err);
  if (!run.bench) return exit_no_gpu;
  run.results.item = (struct sweep_result *)calloc((size_t)plan->count, sizeof *run.results.item);
  int status = run.results.item ? open_files(&run, plan, o, argc, argv, out, err) : exit_wrong;
  if (!status) {
    double start = seconds_now();
    interrupts = 0;
    void (*before)(int) = signal(SIGINT, on_interrupt);
    void (*before_term)(int) = signal(SIGTERM, on_interrupt);
    if (!o->quiet) sweep_table_head(out, run.bench, o);
    run_groups(&run, plan, o, out, err);
    signal(SIGINT, before);
    signal(SIGTERM, before_term);
    int unwritten = 0;
    if (o->json)
      unwritten = sweep_json_write(o->json, run.bench, argc, argv, o, plan, &run.results, err);
    status = finish(&run, plan, o, unwritten, seconds_now() - start, out, err);
  }
  free(run.results.item);
  sweep_bench_close(run.bench);
  return status;
}

int sweep_main(int argc, char **argv, FILE *out, FILE *err) {
  if (argc > 1 && strcmp(argv[1], "compare") == 0)
    return sweep_compare(argc - 1, argv + 1, out, err);
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
