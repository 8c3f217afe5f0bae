/* main.cpp - arc_sweep: what adding from many lanes costs, path by path.
   SPDX-License-Identifier: Apache-2.0

   GPU: times. CPU warp (simt/): counts and *model* clocks. See bench/README.md. */
#include <stdlib.h>

#include <sstream>

#include "../common/program_run.h"
#include "sweep.h"

struct sweep_run {
  sweep_options options;
  sweep_plan plan;
  sweep_bench *bench;
  output_file csv;
  std::string text; /* of the result file */
  sweep_results results;
  int wrong_cells;
};

template <typename writer>
static std::string written_by(writer write) {
  char *bytes = nullptr;
  size_t size = 0;
  FILE *stream = open_memstream(&bytes, &size);
  write(stream);
  fclose(stream);
  std::string text(bytes, size);
  free(bytes);
  return text;
}

static void add_text(sweep_run *run, const std::string &text) {
  run->text += text;
  if (!run->csv.stream) return;
  fputs(text.c_str(), run->csv.stream);
  fflush(run->csv.stream);
}

static void report_wrong(const sweep_result &r) {
  progress_hide();
  fprintf(stderr,
          "ERROR: %s, threshold %s, %s: %ld sums are wrong, the worst by %.3g times its "
          "bound\n",
          sweep_word_of(AXIS_PATH, r.cell).c_str(), sweep_word_of(AXIS_THRESHOLD, r.cell).c_str(),
          sweep_group_words(r.cell).c_str(), r.wrong, r.worst_error);
}

static void take_results(sweep_run *run, size_t first) {
  if (run->options.tables) {
    progress_hide();
    sweep_table_group(&run->results[first], (int)(run->results.size() - first));
  }
  for (size_t i = first; i < run->results.size(); ++i) {
    add_text(run, written_by([&](FILE *out) { sweep_csv_row(out, run->results[i]); }));
    if (!run->results[i].wrong) continue;
    report_wrong(run->results[i]);
    ++run->wrong_cells;
  }
}

/* Up to an interrupt, which ends the group under way. Returns whether no launch failed. */
static bool run_groups(sweep_run *run) {
  const int total = sweep_plan_cells(run->plan);
  for (const auto &group : run->plan) {
    size_t first = run->results.size();
    if (interrupts) break;
    if (ferror(stdout) && !run->csv.stream) exit(exit_wrong); /* the results would be lost */
    if (!run->options.quiet && progress_due())
      progress_line("%zu of %d cells: %s", first, total, sweep_group_words(group[0].cell).c_str());
    if (sweep_bench_group(run->bench, group, &run->results)) return interrupts > 0;
    take_results(run, first);
  }
  return true;
}

static bool failed(const char *option, const error_line &error) {
  fprintf(stderr, "arc_sweep: --%s: %s\n", option, error.text);
  return true;
}

/* What an interrupted sweep has measured stays in FILE.partial. */
static bool end_csv(sweep_run *run, bool complete) {
  error_line error;
  if (!run->csv.stream) return false;
  if (complete ? output_file_commit(&run->csv, &error) : output_file_keep(&run->csv, &error))
    return false;
  return failed("csv", error);
}

static int finish(sweep_run *run, bool launched, double seconds) {
  const sweep_options &o = run->options;
  int total = sweep_plan_cells(run->plan), measured = (int)run->results.size();
  error_line error;
  sweep_bench_warn(run->bench);
  const std::string summary = written_by([&](FILE *out) { sweep_summary(out, run->results); });
  if (measured != total) {
    add_text(run, "# interrupted: after " + std::to_string(measured) + " of " +
                      std::to_string(total) + " cells\n");
    end_csv(run, false);
    fprintf(stderr, "arc_sweep: %s after %d of %d cells%s%s\n",
            launched ? "interrupted" : "stopped", measured, total, o.csv ? "; they are in " : "",
            o.csv ? printable(run->csv.temporary) : "");
    if (!o.quiet && !o.csv && measured) fputs(summary.c_str(), stdout);
    return launched ? interrupted_status() : exit_wrong;
  }
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);) add_text(run, "# summary: " + line + "\n");
  bool unwritten = end_csv(run, true);
  if (o.html && !sweep_page(o.html, run->text, &error)) unwritten = failed("html", error);
  if (o.policy_header && !sweep_policy_header(o.policy_header, run->results, &error))
    unwritten = failed("policy-header", error);
  if (!o.quiet) {
    fputs(summary.c_str(), stdout);
    printf("%d cells in %.1f s, %d with wrong sums%s%s%s%s\n", total, seconds, run->wrong_cells,
           o.csv ? "; written to " : "", o.csv ? printable(o.csv) : "",
           o.policy_header ? "; constants written to " : "",
           o.policy_header ? printable(o.policy_header) : "");
    if (sweep_on_cpu_warp())
      printf(
          "Sums and counts hold on a GPU, too; model clocks only rank paths and are no times.\n"
          "For times run the same options by build/bench/arc_sweep_gpu, on a machine with a "
          "GPU.\n");
    if (o.html) printf("For charts and all cells open %s in any browser\n", printable(o.html));
  }
  return run->wrong_cells || unwritten ? exit_wrong : exit_done;
}

static int measure(sweep_run *run) {
  const sweep_options &o = run->options;
  error_line error;
  int status = sweep_bench_open(&run->bench, o, run->plan);
  if (status) return status;
  if (o.csv && !output_file_open(&run->csv, o.csv, &error)) {
    failed("csv", error);
    status = exit_bad_option;
  } else {
    double start = seconds_now();
    add_text(run, written_by([&](FILE *out) { sweep_csv_head(out, run->bench, o); }));
    if (o.tables) sweep_table_head(run->bench, o);
    bool launched = run_groups(run);
    progress_clear();
    status = finish(run, launched, seconds_now() - start);
  }
  sweep_bench_close(run->bench);
  return status;
}

int main(int argc, char **argv) {
  sweep_run run = {};
  if (program_begin("arc_sweep", argc, argv)) return exit_done;
  if (sweep_options_read(&run.options, argc, argv)) return exit_bad_option;
  if (sweep_plan_build(&run.plan, run.options)) return exit_bad_option;
  catch_interrupts();
  return measure(&run);
}
