/* csv.cpp - result files: head, columns, rows. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../common/program_run.h"

#include "sweep.h"

struct field {
  const char *name, *meaning;
  double sweep_result::*value;
  const char *format; /* NAN is an empty field */
};
static const std::vector<field> gpu_fields = {
    {"gross_ms", "the whole kernel, median of the launches", &sweep_result::gross, "%.6f"},
    {"net_ms", "gross_ms minus that of none", &sweep_result::net, "%.6f"},
    {"net_to_plain", "net_ms over the plain path's, empty without it", &sweep_result::to_plain,
     "%.5g"},
    {"low_ms", "fastest launch", &sweep_result::low, "%.6f"},
    {"quartile_low_ms", "lower quartile", &sweep_result::quartile_low, "%.6f"},
    {"quartile_high_ms", "upper quartile", &sweep_result::quartile_high, "%.6f"},
    {"high_ms", "slowest launch", &sweep_result::high, "%.6f"},
    {"launches", "timed launches", &sweep_result::launches, "%.0f"},
    {"registers", "per thread", &sweep_result::registers, "%.0f"},
    {"local_bytes", "local memory per thread", &sweep_result::local_bytes, "%.0f"},
    {"clock_mhz", "multiprocessor clock right after the group", &sweep_result::clock_mhz, "%.0f"},
    {"worst_error", "largest error of a sum as a fraction of its bound", &sweep_result::worst_error,
     "%.3g"},
};
static const std::vector<field> cpu_fields = {
    {"model_gross", "*model* clocks of the whole chip per 1000 warp updates, never a time",
     &sweep_result::gross, "%.6g"},
    {"model_net", "model_gross minus that of none", &sweep_result::net, "%.6g"},
    {"net_to_plain", "model_net over the plain path's, empty without it", &sweep_result::to_plain,
     "%.5g"},
    {"shuffles", "shuffle instructions per warp and update", &sweep_result::shuffles, "%.6g"},
    {"votes", "vote instructions, likewise", &sweep_result::votes, "%.6g"},
    {"matches", "match instructions, likewise", &sweep_result::matches, "%.6g"},
    {"scans", "population counts, bit scans and reversals, likewise", &sweep_result::scans, "%.6g"},
    {"requests", "reduction instructions on memory, likewise", &sweep_result::reductions, "%.6g"},
    {"lane_adds", "floats and halves added to memory, likewise", &sweep_result::lane_adds, "%.6g"},
    {"sectors", "32-byte sectors touched, likewise", &sweep_result::sectors, "%.6g"},
    {"conflicts", "lanes on an address that their instruction had hit already, likewise",
     &sweep_result::conflicts, "%.6g"},
    {"worst_error", "largest error of a sum as a fraction of its bound", &sweep_result::worst_error,
     "%.3g"},
};
static const std::vector<field> &fields(void) {
  return sweep_on_cpu_warp() ? cpu_fields : gpu_fields;
}

void sweep_csv_head(FILE *out, const sweep_bench *b, const sweep_options &o) {
  program_write_head(out);
  sweep_bench_describe(b, out, true);
  fprintf(out, "# sizes: blocks=%d threads=%d updates=%d rows=%d seed=%d\n", o.blocks, o.threads,
          o.updates, o.rows, o.seed);
  fprintf(out, "# rigour: repeat=%d noise=%g%% cell_ms=%g cache=%s\n", o.repeat, o.noise_percent,
          o.cell_ms, o.cold ? "cold" : "warm");
  for (const sweep_axis &a : sweep_axis_table)
    fprintf(out, "# column %s: %s\n", a.column, a.meaning);
  for (const field &f : fields()) fprintf(out, "# column %s: %s\n", f.name, f.meaning);
  fprintf(out, "# column status: ok; ERROR: some sums are wrong; -: nothing is added\n");
  for (const sweep_axis &a : sweep_axis_table) fprintf(out, "%s,", a.column);
  for (const field &f : fields()) fprintf(out, "%s,", f.name);
  fprintf(out, "status\n");
}

void sweep_csv_row(FILE *out, const sweep_result &r) {
  for (int axis = 0; axis < AXIS_END; ++axis)
    fprintf(out, "%s,", sweep_word_of(axis, r.cell).c_str());
  for (const field &f : fields()) {
    if (!isnan(r.*f.value)) fprintf(out, f.format, r.*f.value);
    fputc(',', out);
  }
  fprintf(out, "%s\n", r.wrong ? "ERROR" : r.cell.path == SWEEP_PATH_NONE ? "-" : "ok");
}
