/* sweep_verdict.cu - the figures that the project promises against what preset `issue` measured.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <string.h>

#include "sweep.h"

struct verdict {
  FILE *out;
  const struct sweep_results *results;
  int figures, short_of;
};

enum figure_kind { figure_net, figure_gross };
static const int any_threshold = -2;

/* ---- looking up ---- */

static struct sweep_cell cell_of(char section, int width, int lanes, int shape) {
  struct sweep_cell c;
  memset(&c, 0, sizeof c);
  c.section = section;
  c.workload = SWEEP_WORKLOAD_AXES;
  c.width = width;
  c.lanes = lanes;
  c.shape = shape;
  c.keys = 1;
  c.layout = SWEEP_LAYOUT_CONTIGUOUS;
  c.call = SWEEP_CALL_UNIFORM;
  return c;
}

/* The fastest result of a path in the group of `like`, at one threshold or at any. */
static const struct sweep_result *find(const struct verdict *v, struct sweep_cell like, int path,
                                       int threshold) {
  const struct sweep_result *best = NULL;
  for (int i = 0; i < v->results->count; ++i) {
    const struct sweep_result *r = &v->results->item[i];
    if (r->cell.path != path || !sweep_same_group(&r->cell, &like)) continue;
    if (threshold != any_threshold && sweep_path_has_threshold(path) &&
        r->cell.threshold != threshold)
      continue;
    if (!best || r->gross < best->gross) best = r;
  }
  return best;
}

static const struct sweep_result *fastest(const struct verdict *v, struct sweep_cell like,
                                          const int *paths, int count) {
  const struct sweep_result *best = NULL;
  for (int i = 0; i < count; ++i) {
    const struct sweep_result *r = find(v, like, paths[i], any_threshold);
    if (r && (!best || r->gross < best->gross)) best = r;
  }
  return best;
}

/* ---- printing ---- */

static double figure_of(const struct sweep_result *r, enum figure_kind kind) {
  return kind == figure_net ? r->net : r->gross;
}

/* What the quartiles of both allow the ratio to move, in percent. */
static double ratio_noise(const struct sweep_result *a, const struct sweep_result *b,
                          enum figure_kind kind) {
  double x = (a->quartile_high - a->quartile_low) / figure_of(a, kind);
  double y = (b->quartile_high - b->quartile_low) / figure_of(b, kind);
  return 100.0 * (x + y);
}

static void threshold_suffix(const struct sweep_result *r, char *buffer, size_t size) {
  buffer[0] = '\0';
  if (r->cell.threshold == SWEEP_THRESHOLD_DEFAULT)
    snprintf(buffer, size, " (auto)");
  else if (r->cell.threshold != SWEEP_THRESHOLD_UNUSED)
    snprintf(buffer, size, " (%d)", r->cell.threshold);
}

/* required <= 0: a figure without a bar, for information. */
static void judge(struct verdict *v, const char *what, const struct sweep_result *a,
                  const struct sweep_result *b, enum figure_kind kind, double required) {
  char first[24], second[24], bar[16] = "-";
  if (!a || !b) {
    fprintf(v->out, "  %-46s not measured\n", what);
    if (required > 0.0) ++v->figures, ++v->short_of;
    return;
  }
  double x = figure_of(a, kind), y = figure_of(b, kind), ratio = x / y;
  int passes = y > 0.0 && ratio <= required;
  threshold_suffix(a, first, sizeof first);
  threshold_suffix(b, second, sizeof second);
  if (required > 0.0) {
    snprintf(bar, sizeof bar, "%.2f", required);
    ++v->figures;
    v->short_of += !passes;
  }
  fprintf(v->out, "  %-46s %8s %9.3f %7.1f  %-10s %.4f %s%s / %.4f %s%s\n", what, bar, ratio,
          ratio_noise(a, b, kind),
          required <= 0.0 ? "-"
          : passes        ? "PASS"
                          : "FALL SHORT",
          x, sweep_path_name(a->cell.path), first, y, sweep_path_name(b->cell.path), second);
}

static void heading(struct verdict *v, const char *text) {
  fprintf(v->out, "\n%s\n  %-46s %8s %9s %7s  %-10s %s\n", text, "figure", "required", "measured",
          "noise %", "verdict", SIMT_ON_CPU ? "*model* clocks (threshold)" : "ms (threshold)");
}

/* ---- the figures ---- */

static void full_warps(struct verdict *v) {
  static const struct {
    int width;
    double zeros, masked;
  } bars[] = {{1, 0, 0},     {2, 0, 0},       {3, 0.80, 0},     {4, 0, 0},
              {8, 0, 0},     {9, 0.36, 0.50}, {10, 0.32, 0.50}, {12, 0, 0},
              {16, 0.23, 0}, {20, 0, 0},      {32, 0.18, 0}};
  char what[64];
  heading(v, "(a) transposed / butterfly, net, all 32 lanes active");
  for (const auto &bar : bars) {
    struct sweep_cell c = cell_of('a', bar.width, 32, SWEEP_SHAPE_PREFIX);
    c.zeros = 1;
    const struct sweep_result *butterfly = find(v, c, SWEEP_PATH_BUTTERFLY, 0);
    snprintf(what, sizeof what, "width %d, zeros promised", bar.width);
    judge(v, what, find(v, c, SWEEP_PATH_TRANSPOSED, 0), butterfly, figure_net, bar.zeros);
    if (bar.masked == 0.0) continue;
    c.zeros = 0;
    snprintf(what, sizeof what, "width %d, both masked by arc", bar.width);
    judge(v, what, find(v, c, SWEEP_PATH_TRANSPOSED, 0), find(v, c, SWEEP_PATH_BUTTERFLY, 0),
          figure_net, bar.masked);
    snprintf(what, sizeof what, "width %d, masked / butterfly with promise", bar.width);
    judge(v, what, find(v, c, SWEEP_PATH_TRANSPOSED, 0), butterfly, figure_net, bar.masked);
  }
}

static const int rivals[] = {SWEEP_PATH_PLAIN, SWEEP_PATH_SERIALIZED, SWEEP_PATH_BUTTERFLY,
                             SWEEP_PATH_VECTOR, SWEEP_PATH_ATOMIC};
enum { papers_rivals = 3, all_rivals = 5 };

static void mixed(struct verdict *v) {
  static const int shapes[] = {SWEEP_SHAPE_PREFIX, SWEEP_SHAPE_RANDOM};
  char what[64];
  heading(v,
          "(b) auto, default threshold / best of plain, vector, atomic, serialized, butterfly\n"
          "    at its best threshold, net, mixed occupancy");
  for (int width = 9; width <= 10; ++width) {
    for (int shape : shapes) {
      struct sweep_cell c = cell_of('b', width, SWEEP_LANES_MIXED, shape);
      const struct sweep_result *automatic = find(v, c, SWEEP_PATH_AUTO, SWEEP_THRESHOLD_DEFAULT);
      snprintf(what, sizeof what, "width %d, %s masks", width, sweep_shape_name(shape));
      judge(v, what, automatic, fastest(v, c, rivals, all_rivals), figure_net, 0.55);
      snprintf(what, sizeof what, "width %d, %s masks, auto at its best", width,
               sweep_shape_name(shape));
      judge(v, what, find(v, c, SWEEP_PATH_AUTO, any_threshold), fastest(v, c, rivals, all_rivals),
            figure_net, 0.0);
    }
  }
}

/* One figure a width, its worst cell; the other cells that fall short are listed below it. */
static void cells_of_width(struct verdict *v, int width, int rival_count) {
  const double bar = 1.03;
  const struct sweep_result *worst = NULL, *worst_rival = NULL;
  int count = 0;
  char what[64];
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < v->results->count; ++i) {
      const struct sweep_result *r = &v->results->item[i];
      if (r->cell.section != 'c' || r->cell.width != width || r->cell.path != SWEEP_PATH_AUTO)
        continue;
      const struct sweep_result *rival = fastest(v, r->cell, rivals, rival_count);
      if (!rival) continue;
      if (pass == 0) {
        ++count;
        if (!worst || r->gross / rival->gross > worst->gross / worst_rival->gross)
          worst = r, worst_rival = rival;
      } else if (r != worst && r->gross > bar * rival->gross) {
        snprintf(what, sizeof what, "  also short: %d lanes %s", r->cell.lanes,
                 sweep_shape_name(r->cell.shape));
        judge(v, what, r, rival, figure_gross, 0.0);
      }
    }
    if (pass == 0) {
      snprintf(what, sizeof what, "width %d, worst of %d cells: %d lanes %s", width, count,
               worst ? worst->cell.lanes : 0, worst ? sweep_shape_name(worst->cell.shape) : "");
      judge(v, what, worst, worst_rival, figure_gross, bar);
    }
  }
}

static void cells_against(struct verdict *v, int rival_count) {
  static const int widths[] = {1, 2, 3, 4, 8, 9, 10, 16, 32};
  for (int width : widths) cells_of_width(v, width, rival_count);
}

static void cells(struct verdict *v) {
  heading(v,
          "(c) auto, default threshold / best of plain, serialized, butterfly, gross,\n"
          "    lanes 0 to 32, prefix and scattered");
  cells_against(v, papers_rivals);
  heading(v, "(c') the same with vector and arc's atomic among the rivals");
  cells_against(v, all_rivals);
}

static void keyed_layout(struct verdict *v, int layout, double bar, double bar_no_locality) {
  static const int keys[] = {1, 2, 4, 8, 16, 32, 1000};
  static const int columns[] = {SWEEP_PATH_PLAIN, SWEEP_PATH_VECTOR, SWEEP_PATH_ATOMIC,
                                SWEEP_PATH_TRANSPOSED, SWEEP_PATH_TREE};
  char what[64];
  for (int k : keys) {
    struct sweep_cell c = cell_of('d', 10, 32, SWEEP_SHAPE_PREFIX);
    c.call = SWEEP_CALL_KEYED;
    c.keys = k;
    c.layout = k == 1 ? SWEEP_LAYOUT_CONTIGUOUS : layout;
    if (layout != SWEEP_LAYOUT_RANDOM && (k == 1 || k > 32)) continue;
    const struct sweep_result *automatic = find(v, c, SWEEP_PATH_AUTO, SWEEP_THRESHOLD_DEFAULT);
    const struct sweep_result *best = fastest(v, c, columns, 5);
    const struct sweep_result *serialized = find(v, c, SWEEP_PATH_SERIALIZED, 1);
    if (best && serialized && serialized->gross < best->gross) best = serialized;
    snprintf(what, sizeof what, "%d %s, %s: auto / best column", k, k == 1 ? "key" : "keys",
             sweep_layout_name(layout));
    judge(v, what, automatic, best, figure_gross, bar);
    if (k <= 32) continue;
    snprintf(what, sizeof what, "%d keys: auto / plain vector atomics", k);
    judge(v, what, automatic, find(v, c, SWEEP_PATH_VECTOR, any_threshold), figure_gross,
          bar_no_locality);
    snprintf(what, sizeof what, "%d keys: auto / arc's atomic", k);
    judge(v, what, automatic, find(v, c, SWEEP_PATH_ATOMIC, any_threshold), figure_gross,
          bar_no_locality);
  }
}

static void keyed(struct verdict *v) {
  heading(v, "(d) several keys a warp, width 10, all 32 lanes active, gross");
  keyed_layout(v, SWEEP_LAYOUT_RANDOM, 1.05, 1.03);
  heading(v, "(d') the same, other layouts of the keys, for information");
  keyed_layout(v, SWEEP_LAYOUT_INTERLEAVED, 0.0, 0.0);
  keyed_layout(v, SWEEP_LAYOUT_CONTIGUOUS, 0.0, 0.0);
}

/* From how many active lanes on transposed beats atomic, gross: what the default threshold says. */
static void crossover(struct verdict *v) {
  fprintf(v->out,
          "\n(e) crossover: fewest active lanes from which on transposed beats arc's "
          "atomic, and auto / the better, gross\n  %5s %9s %s\n",
          "width", "crossover", "worst auto / better (lanes)");
  const struct sweep_results *all = v->results;
  for (int first = 0; first < all->count;) {
    int width = all->item[first].cell.width, from = 0, worst_lanes = 0, i = first;
    double worst = 0.0;
    if (all->item[first].cell.section != 'e') {
      ++first;
      continue;
    }
    for (; i < all->count && all->item[i].cell.width == width; ++i) {
      const struct sweep_result *r = &all->item[i];
      if (r->cell.section != 'e' || r->cell.path != SWEEP_PATH_AUTO) continue;
      const struct sweep_result *atomic = find(v, r->cell, SWEEP_PATH_ATOMIC, any_threshold);
      const struct sweep_result *transposed = find(v, r->cell, SWEEP_PATH_TRANSPOSED, 0);
      if (transposed->gross >= atomic->gross) from = 0;
      if (transposed->gross < atomic->gross && from == 0) from = r->cell.lanes;
      double better = transposed->gross < atomic->gross ? transposed->gross : atomic->gross;
      if (r->gross / better > worst) worst = r->gross / better, worst_lanes = r->cell.lanes;
    }
    fprintf(v->out, "  %5d %9d %.3f (%d)\n", width, from, worst, worst_lanes);
    first = i;
  }
}

/* What no transposed reduction can beat: its shuffles, its instructions (shuffles, as many adds,
   two selects a pair, one request) and one request a warp and update, at the measured ceilings. */
static void floors(struct verdict *v, const struct sweep_bench *b) {
  static const int widths[] = {1, 2, 3, 4, 8, 9, 10, 12, 16, 20, 32};
  const struct sweep_rates *rates = sweep_bench_rates(b);
  if (SIMT_ON_CPU || !rates) return;
  fprintf(v->out,
          "\n(f) floor of the transposed reduction beside its net time, all 32 lanes active, "
          "zeros promised, ms\n  %5s %8s %9s %9s %9s %9s %9s %9s\n",
          "width", "shuffles", "shuffle", "issue", "request", "floor", "net", "net/floor");
  for (int width : widths) {
    struct sweep_cell c = cell_of('a', width, 32, SWEEP_SHAPE_PREFIX);
    c.zeros = 1;
    const struct sweep_result *r = find(v, c, SWEEP_PATH_TRANSPOSED, 0);
    if (!r) continue;
    int shuffles = sweep_transposed_shuffles(width), selects = sweep_transposed_selects(width);
    double updates = sweep_bench_warp_updates(b, &c);
    double shuffle = updates * shuffles / rates->shuffle;
    double issue = updates * (2.0 * shuffles + selects + 1.0) / rates->issue;
    double requests = updates / rates->coalesced;
    double floor_ms = shuffle > issue ? shuffle : issue;
    if (requests > floor_ms) floor_ms = requests;
    fprintf(v->out, "  %5d %8d %9.4f %9.4f %9.4f %9.4f %9.4f %9.2f\n", width, shuffles, shuffle,
            issue, requests, floor_ms, r->net, r->net / floor_ms);
  }
}

void sweep_verdict(FILE *out, const struct sweep_results *results, struct sweep_bench *b) {
  struct verdict v = {out, results, 0, 0};
#if SIMT_ON_CPU
  fprintf(out, "\n*model* clocks stand in for milliseconds below: no verdict about any GPU\n");
#endif
  full_warps(&v);
  mixed(&v);
  cells(&v);
  keyed(&v);
  crossover(&v);
  floors(&v, b);
  fprintf(out, "\n%d of %d figures fall short\n", v.short_of, v.figures);
}
