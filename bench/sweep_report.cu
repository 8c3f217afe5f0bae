/* sweep_report.cu - table, progress line and CSV.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sweep.h"

/* ---- words ---- */

static const char *threshold_word(int threshold, char *buffer, size_t size) {
  if (threshold == SWEEP_THRESHOLD_UNUSED) return "-";
  if (threshold == SWEEP_THRESHOLD_DEFAULT) return "auto";
  snprintf(buffer, size, "%d", threshold);
  return buffer;
}

static void lanes_words(const struct sweep_cell *c, char *buffer, size_t size) {
  if (c->lanes == SWEEP_LANES_MIXED)
    snprintf(buffer, size, "mixed lanes (%s)", sweep_shape_name(c->shape));
  else if (c->shape == SWEEP_SHAPE_SINGLE)
    snprintf(buffer, size, "lane 31 alone");
  else if (c->lanes == 0 || c->lanes == 32)
    snprintf(buffer, size, "%s lanes active", c->lanes == 0 ? "no" : "all 32");
  else
    snprintf(buffer, size, "%d %s active (%s)", c->lanes, c->lanes == 1 ? "lane" : "lanes",
             sweep_shape_name(c->shape));
}

static void keys_words(const struct sweep_cell *c, char *buffer, size_t size) {
  if (c->keys == 1)
    snprintf(buffer, size, "1 key (%s call)", sweep_call_name(c->call));
  else
    snprintf(buffer, size, "%d keys %s", c->keys, sweep_layout_name(c->layout));
}

static void group_words(const struct sweep_cell *c, char *buffer, size_t size) {
  char lanes[48], keys[48];
  lanes_words(c, lanes, sizeof lanes);
  keys_words(c, keys, sizeof keys);
  snprintf(buffer, size, "width %d, %s, %s, inactive lanes hold %s", c->width, lanes, keys,
           c->zeros ? "zeros (promised)" : "garbage");
}

/* ---- table ---- */

void sweep_table_head(FILE *out, struct sweep_bench *b, const struct sweep_options *o) {
  const struct sweep_sizes *s = &o->sizes;
  sweep_bench_describe(b, out, "");
  fprintf(out, "sizes: %d blocks x %d threads x %d updates, %d rows padded to %d floats, seed %d\n",
          s->blocks, s->threads, s->updates, s->rows, s->padding, s->seed);
#if SIMT_ON_CPU
  fprintf(out,
          "gross, net: *model* clocks of the whole chip per 1000 warp updates; net is gross "
          "minus `none`;\nthe counts stand per warp and update; votes include matches.\n");
#else
  fprintf(out,
          "gross: the whole kernel, median of the launches; net: gross minus `none`, the same "
          "kernel without adding;\nnoise: distance of the quartiles in percent of the "
          "median.\n");
#endif
}

static void table_row(FILE *out, const struct sweep_result *r) {
  char threshold[8], ratio[16] = "-", check[48] = "ok";
  if (r->to_plain >= 0.0 && r->cell.path != SWEEP_PATH_NONE)
    snprintf(ratio, sizeof ratio, "%.3f", r->to_plain);
  if (r->cell.path == SWEEP_PATH_NONE) snprintf(check, sizeof check, "-");
  if (r->wrong) snprintf(check, sizeof check, "ERROR: %ld sums wrong", r->wrong);
  fprintf(out, "  %-11s %9s ", sweep_path_name(r->cell.path),
          threshold_word(r->cell.threshold, threshold, sizeof threshold));
#if SIMT_ON_CPU
  fprintf(out, "%10.1f %9.1f %9s %9.1f %7.1f %8.1f %9.1f %8.1f %10.1f  %s\n", r->gross, r->net,
          ratio, r->shuffles, r->votes + r->matches, r->reductions, r->lane_adds, r->sectors,
          r->conflicts, check);
#else
  fprintf(out, "%10.4f %7.1f %9.4f %9s %9d  %s\n", r->gross,
          100.0 * (r->quartile_high - r->quartile_low) / r->gross, r->net, ratio, r->launches,
          check);
#endif
}

void sweep_table_group(FILE *out, const struct sweep_result *results, int count) {
  char words[160];
  group_words(&results[0].cell, words, sizeof words);
  fprintf(out, "\n%s\n", words);
#if SIMT_ON_CPU
  fprintf(out, "  %-11s %9s %10s %9s %9s %9s %7s %8s %9s %8s %10s  %s\n", "path", "threshold",
          "gross*", "net*", "net/plain", "shuffles", "votes", "requests", "lane adds", "sectors",
          "conflicts", "sums");
#else
  fprintf(out, "  %-11s %9s %10s %7s %9s %9s %9s  %s\n", "path", "threshold", "gross ms", "noise %",
          "net ms", "net/plain", "launches", "sums");
#endif
  for (int i = 0; i < count; ++i) table_row(out, &results[i]);
  fflush(out);
}

/* ---- progress ---- */

static int progress_shown;

void sweep_progress_clear(void) {
  if (progress_shown) fprintf(stderr, "\r\033[K");
  progress_shown = 0;
}

/* Cells differ by orders of magnitude, so the remaining time is a guess, and says so. */
void sweep_progress(int done, int total, double seconds, const struct sweep_cell *next) {
  if (!isatty(STDERR_FILENO)) return;
  char words[160], left[32] = "";
  group_words(next, words, sizeof words);
  if (done > 0) {
    int rest = (int)(seconds * (total - done) / done + 0.5);
    snprintf(left, sizeof left, ", about %d:%02d left", rest / 60, rest % 60);
  }
  fprintf(stderr, "\r\033[K%d/%d cells%s: %.90s", done, total, left, words);
  fflush(stderr);
  progress_shown = 1;
}

/* ---- CSV ---- */

struct csv_column {
  const char *name, *meaning;
};
static const struct csv_column csv_columns[] = {
    {"section", "part of the preset that asked for the cell, - without"},
    {"width", "values per update"},
    {"lanes", "active lanes; mixed: half of the updates 1-4, half 1-32"},
    {"shape", "which lanes are active"},
    {"keys", "different keys per warp"},
    {"layout", "which lanes share a key"},
    {"call", "uniform: one key per block; keyed: keys drawn by every warp"},
    {"zeros", "1: inactive lanes hold zeros, and arc is promised so; 0: garbage"},
    {"path", "what adds; none: nothing, the base of net"},
    {"threshold", "balancing threshold; auto: arc's own; -: the path has none"},
#if SIMT_ON_CPU
    {"model_gross", "*model* clocks of the whole chip per 1000 warp updates, never a time"},
    {"model_net", "model_gross minus that of none"},
    {"net_to_plain", "model_net over the plain path's, empty without it"},
    {"shuffles", "shuffle instructions per warp and update"},
    {"votes", "vote instructions, likewise"},
    {"matches", "match instructions, likewise"},
    {"requests", "reduction instructions on memory, likewise"},
    {"lane_adds", "floats added to memory, likewise"},
    {"sectors", "32-byte sectors touched, likewise"},
    {"conflicts", "lanes on an address that their instruction had hit already, likewise"},
#else
    {"gross_ms", "the whole kernel, median of the launches"},
    {"net_ms", "gross_ms minus that of none"},
    {"net_to_plain", "net_ms over the plain path's, empty without it"},
    {"low_ms", "fastest launch"},
    {"quartile_low_ms", "lower quartile"},
    {"quartile_high_ms", "upper quartile"},
    {"high_ms", "slowest launch"},
    {"launches", "timed launches"},
    {"registers", "per thread"},
    {"local_bytes", "local memory per thread"},
#endif
    {"worst_error", "largest error of a sum as a fraction of its bound"},
    {"status", "ok; ERROR: some sums are wrong; -: nothing is added"},
};
enum { csv_column_count = sizeof csv_columns / sizeof *csv_columns };

static void csv_head(struct sweep_csv *csv, struct sweep_bench *b, int argc, char **argv,
                     const struct sweep_options *o) {
  const struct sweep_sizes *s = &o->sizes;
  char date[32] = "";
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  fprintf(csv->file, "# program: arc_sweep\n# date: %s\n# command:", date);
  for (int i = 0; i < argc; ++i) fprintf(csv->file, " %s", argv[i]);
  fprintf(csv->file, "\n");
  sweep_bench_describe(b, csv->file, "# ");
  fprintf(csv->file,
          "# sizes: blocks=%d threads=%d updates=%d rows=%d padding=%d repeat=%d seed=%d\n",
          s->blocks, s->threads, s->updates, s->rows, s->padding, s->repeat, s->seed);
  for (int i = 0; i < csv_column_count; ++i)
    fprintf(csv->file, "# column %s: %s\n", csv_columns[i].name, csv_columns[i].meaning);
  for (int i = 0; i < csv_column_count; ++i)
    fprintf(csv->file, "%s%s", csv_columns[i].name, i + 1 < csv_column_count ? "," : "\n");
  fflush(csv->file);
}

int sweep_csv_open(struct sweep_csv *csv, const char *name, struct sweep_bench *b, int argc,
                   char **argv, const struct sweep_options *o, FILE *err) {
  memset(csv, 0, sizeof *csv);
  csv->name = name;
  int length = snprintf(csv->partial, sizeof csv->partial, "%s.partial", name);
  if (length >= (int)sizeof csv->partial) {
    fprintf(err, "arc_sweep: --csv: the file name is too long\n");
    return 2;
  }
  csv->file = fopen(csv->partial, "w");
  if (!csv->file) {
    fprintf(err, "arc_sweep: --csv: cannot write '%s': %s\n", csv->partial, strerror(errno));
    return 2;
  }
  csv_head(csv, b, argc, argv, o);
  return 0;
}

void sweep_csv_row(struct sweep_csv *csv, const struct sweep_result *r) {
  const struct sweep_cell *c = &r->cell;
  char threshold[8], ratio[24] = "", lanes[8] = "mixed";
  if (r->to_plain >= 0.0) snprintf(ratio, sizeof ratio, "%.5g", r->to_plain);
  if (c->lanes != SWEEP_LANES_MIXED) snprintf(lanes, sizeof lanes, "%d", c->lanes);
  fprintf(csv->file, "%c,%d,%s,%s,%d,%s,%s,%d,%s,%s,", c->section, c->width, lanes,
          sweep_shape_name(c->shape), c->keys, sweep_layout_name(c->layout),
          sweep_call_name(c->call), c->zeros, sweep_path_name(c->path),
          threshold_word(c->threshold, threshold, sizeof threshold));
#if SIMT_ON_CPU
  fprintf(csv->file, "%.6g,%.6g,%s,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,", r->gross, r->net, ratio,
          r->shuffles, r->votes, r->matches, r->reductions, r->lane_adds, r->sectors, r->conflicts);
#else
  fprintf(csv->file, "%.6f,%.6f,%s,%.6f,%.6f,%.6f,%.6f,%d,%d,%d,", r->gross, r->net, ratio, r->low,
          r->quartile_low, r->quartile_high, r->high, r->launches, r->registers, r->local_bytes);
#endif
  fprintf(csv->file, "%.3g,%s\n", r->worst_error,
          r->wrong                     ? "ERROR"
          : c->path == SWEEP_PATH_NONE ? "-"
                                       : "ok");
  fflush(csv->file);
}

int sweep_csv_close(struct sweep_csv *csv, int finished, FILE *err) {
  int bad = ferror(csv->file);
  bad |= fclose(csv->file);
  if (!bad && finished) bad = rename(csv->partial, csv->name);
  if (bad) fprintf(err, "ERROR: writing '%s' failed: %s\n", csv->partial, strerror(errno));
  return bad != 0;
}
