/* main.cpp - arc_sweep: what adding from many lanes costs, path by path.
   SPDX-License-Identifier: Apache-2.0

   GPU: times. CPU warp (simt/): counts and *model* clocks. See bench/README.md. */
#include <signal.h>
#include <time.h>

#include "sweep.h"

enum { exit_done, exit_wrong, exit_bad_option, exit_no_gpu = 77, exit_interrupted = 130 };

static volatile sig_atomic_t interrupts;

/* The first interrupt ends the sweep after the group under way, the second one at once. */
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

struct sweep_run {
  sweep_options options;
  sweep_plan plan;
  sweep_bench *bench;
  sweep_csv csv;
  sweep_results results;
  int wrong_cells;
};

static void report_wrong(const sweep_result &r) {
  fprintf(stderr,
          "ERROR: %s, threshold %s, %s: %ld sums are wrong, the worst by %.3g times its "
          "bound\n",
          sweep_word_of(AXIS_PATH, r.cell).c_str(), sweep_word_of(AXIS_THRESHOLD, r.cell).c_str(),
          sweep_group_words(r.cell).c_str(), r.wrong, r.worst_error);
}

static void take_results(sweep_run *run, size_t first) {
  if (!run->options.quiet)
    sweep_table_group(&run->results[first], (int)(run->results.size() - first));
  for (size_t i = first; i < run->results.size(); ++i) {
    if (run->csv.file) sweep_csv_row(&run->csv, run->results[i]);
    if (!run->results[i].wrong) continue;
    report_wrong(run->results[i]);
    ++run->wrong_cells;
  }
}

/* Up to an interrupt. Returns whether no launch failed. */
static bool run_groups(sweep_run *run) {
  double start = seconds_now();
  int groups = 0, total = sweep_plan_cells(run->plan);
  for (const auto &group : run->plan) {
    size_t first = run->results.size();
    if (interrupts) break;
    if (!run->options.quiet) sweep_progress((int)first, total, seconds_now() - start, group[0]);
    int failed = sweep_bench_group(run->bench, group, &run->results);
    sweep_progress_clear();
    if (failed) return false;
    take_results(run, first);
    if (++groups == run->options.interrupt_after) raise(SIGINT);
  }
  return true;
}

static int finish(sweep_run *run, bool launched, double seconds) {
  int total = sweep_plan_cells(run->plan), measured = (int)run->results.size(), unwritten = 0;
  bool complete = measured == total;
  sweep_bench_warn(run->bench);
  if (run->csv.file)
    unwritten =
        complete ? sweep_csv_finish(&run->csv) : sweep_csv_interrupt(&run->csv, total, measured);
  if (!complete) {
    fprintf(stderr, "arc_sweep: %s after %d of %d cells%s%s\n",
            launched ? "interrupted" : "stopped", measured, total,
            run->csv.file ? "; they are in " : "", run->csv.file ? run->csv.partial.c_str() : "");
    return launched ? exit_interrupted : exit_wrong;
  }
  if (!run->options.policy_header.empty())
    unwritten |= sweep_policy_header(run->options.policy_header, run->results);
  if (!run->options.quiet) {
    sweep_summary(run->results);
    if (!run->options.policy_header.empty())
      printf("As a header: written to %s\n", run->options.policy_header.c_str());
    printf("\n%d cells in %.1f s, %d with wrong sums%s%s\n", total, seconds, run->wrong_cells,
           run->csv.file ? "; written to " : "", run->csv.file ? run->csv.name.c_str() : "");
  }
  return run->wrong_cells || unwritten ? exit_wrong : exit_done;
}

static int measure(sweep_run *run, int argc, char **argv) {
  run->bench = sweep_bench_open(run->options, run->plan);
  if (!run->bench) return exit_no_gpu;
  int status = exit_done;
  if (!run->options.csv.empty())
    status = sweep_csv_open(&run->csv, run->bench, argc, argv, run->options);
  if (!status) {
    double start = seconds_now();
    if (!run->options.quiet) sweep_table_head(run->bench, run->options);
    bool launched = run_groups(run);
    status = finish(run, launched, seconds_now() - start);
  }
  sweep_bench_close(run->bench);
  return status;
}

int main(int argc, char **argv) {
  sweep_run run = {};
  if (sweep_options_read(&run.options, argc, argv)) return exit_bad_option;
  if (run.options.help) {
    sweep_options_help();
    return exit_done;
  }
  if (sweep_plan_build(&run.plan, run.options)) return exit_bad_option;
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  return measure(&run, argc, argv);
}
