/* table.cpp - the tables of cells. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "sweep.h"

void sweep_table_head(const sweep_bench *b, const sweep_options &o) {
  sweep_bench_describe(b, stdout, false);
  printf("sizes      %d blocks x %d threads x %d updates, %d rows, seed %d\n", o.blocks, o.threads,
         o.updates, o.rows, o.seed);
  if (sweep_on_cpu_warp())
    printf(
        "gross*, net*: *model* clocks of the whole chip per 1000 warp updates; net: gross minus "
        "`none`;\nthe counts stand per warp and update; votes include matches\n");
  else
    printf(
        "gross: the whole kernel, median of the launches; net: gross minus `none`, the same "
        "kernel\nwithout adding; noise: distance of the quartiles in percent of the median\n");
  fflush(stdout);
}

static void table_row(const sweep_result &r) {
  char to_plain[16] = "-";
  std::string sums = r.cell.path == SWEEP_PATH_NONE ? "-" : "ok";
  if (r.wrong) sums = "ERROR: " + std::to_string(r.wrong) + " sums wrong";
  if (!isnan(r.to_plain)) snprintf(to_plain, sizeof to_plain, "%.3f", r.to_plain);
  printf("  %-12s %9s ", sweep_word_of(AXIS_PATH, r.cell).c_str(),
         sweep_word_of(AXIS_THRESHOLD, r.cell).c_str());
  if (sweep_on_cpu_warp())
    printf("%10.1f %9.1f %9s %9.1f %7.1f %8.1f %9.1f %8.1f %9.1f  %s\n", r.gross, r.net, to_plain,
           r.shuffles, r.votes + r.matches, r.reductions, r.lane_adds, r.sectors, r.conflicts,
           sums.c_str());
  else
    printf("%10.4f %7.1f %9.4f %9s %8.0f  %s\n", r.gross,
           100.0 * (r.quartile_high - r.quartile_low) / r.gross, r.net, to_plain, r.launches,
           sums.c_str());
}

void sweep_table_group(const sweep_result *results, int count) {
  printf("\n%s\n  %-12s %9s ", sweep_group_words(results[0].cell).c_str(), "path", "threshold");
  if (sweep_on_cpu_warp())
    printf("%10s %9s %9s %9s %7s %8s %9s %8s %9s  %s\n", "gross*", "net*", "net/plain", "shuffles",
           "votes", "requests", "lane adds", "sectors", "conflicts", "sums");
  else
    printf("%10s %7s %9s %9s %8s  %s\n", "gross ms", "noise %", "net ms", "net/plain", "launches",
           "sums");
  for (int i = 0; i < count; ++i) table_row(results[i]);
  fflush(stdout);
}
