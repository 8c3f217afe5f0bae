/* sweep_report.cu - table and progress line.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <math.h>
#include <string.h>
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
  if (c->lanes == SWEEP_LANES_MODEL)
    snprintf(buffer, size, "the model's lanes (%s)", sweep_shape_name(c->shape));
  else if (c->lanes == SWEEP_LANES_MIXED)
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
  if (c->workload != SWEEP_WORKLOAD_AXES)
    snprintf(buffer, size, "keys of the model '%s' (%s call)", sweep_workload_name(c->workload),
             sweep_call_name(c->call));
  else if (c->keys == 1)
    snprintf(buffer, size, "1 key (%s call)", sweep_call_name(c->call));
  else
    snprintf(buffer, size, "%d keys %s", c->keys, sweep_layout_name(c->layout));
}

static void group_words(const struct sweep_cell *c, char *buffer, size_t size) {
  char lanes[48], keys[64];
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
          "minus `none`;\nthe counts stand per warp and update; votes include matches; to floor: "
          "gross over the floor\n");
#else
  fprintf(out,
          "gross: the whole kernel, median of the launches; net: gross minus `none`, the same "
          "kernel without adding;\nnoise: distance of the quartiles in percent of the median; to "
          "floor: gross over the floor\n");
#endif
}

/* A ratio, or - where it is not known. */
static const char *ratio_word(double ratio, const char *format, char *buffer, size_t size) {
  if (isnan(ratio)) return "-";
  snprintf(buffer, size, format, ratio);
  return buffer;
}

static void table_row(FILE *out, const struct sweep_result *r) {
  char threshold[8], plain[16], above[16], check[48] = "ok";
  if (r->cell.path == SWEEP_PATH_NONE) snprintf(check, sizeof check, "-");
  if (r->wrong) snprintf(check, sizeof check, "ERROR: %ld sums wrong", r->wrong);
  fprintf(out, "  %-12s %9s ", sweep_path_name(r->cell.path),
          threshold_word(r->cell.threshold, threshold, sizeof threshold));
  const char *to_plain = ratio_word(r->to_plain, "%.3f", plain, sizeof plain);
  const char *to_floor = ratio_word(r->to_floor, "%.2f", above, sizeof above);
#if SIMT_ON_CPU
  fprintf(out, "%10.1f %9.1f %9s %8s %9.1f %7.1f %8.1f %9.1f %8.1f %10.1f  %s\n", r->gross, r->net,
          to_plain, to_floor, r->shuffles, r->votes + r->matches, r->reductions, r->lane_adds,
          r->sectors, r->conflicts, check);
#else
  fprintf(out, "%10.4f %7.1f %9.4f %9s %8s %9d  %s\n", r->gross,
          100.0 * (r->quartile_high - r->quartile_low) / r->gross, r->net, to_plain, to_floor,
          r->launches, check);
#endif
}

void sweep_table_group(FILE *out, const struct sweep_result *results, int count) {
  char words[192], floor[48] = "";
  group_words(&results[0].cell, words, sizeof words);
  if (!isnan(results[0].floor))
    snprintf(floor, sizeof floor, SIMT_ON_CPU ? "; floor* %.1f" : "; floor %.4f ms",
             results[0].floor);
  fprintf(out, "\n%s%s\n", words, floor);
#if SIMT_ON_CPU
  fprintf(out, "  %-12s %9s %10s %9s %9s %8s %9s %7s %8s %9s %8s %10s  %s\n", "path", "threshold",
          "gross*", "net*", "net/plain", "to floor", "shuffles", "votes", "requests", "lane adds",
          "sectors", "conflicts", "sums");
#else
  fprintf(out, "  %-12s %9s %10s %7s %9s %9s %8s %9s  %s\n", "path", "threshold", "gross ms",
          "noise %", "net ms", "net/plain", "to floor", "launches", "sums");
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
void sweep_progress(int done, int total, int taken_over, double seconds,
                    const struct sweep_cell *next) {
  if (!isatty(STDERR_FILENO)) return;
  char words[192], left[32] = "";
  group_words(next, words, sizeof words);
  if (done > taken_over) {
    int rest = (int)(seconds * (total - done) / (done - taken_over) + 0.5);
    snprintf(left, sizeof left, ", about %d:%02d left", rest / 60, rest % 60);
  }
  fprintf(stderr, "\r\033[K%d/%d cells%s: %.90s", done, total, left, words);
  fflush(stderr);
  progress_shown = 1;
}
