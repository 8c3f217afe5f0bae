/* sweep_verdict_peers.cu - preset `peers`: arc's auto against the best of everybody, cell by cell.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <math.h>
#include <string.h>

#include "arc_policy.cuh"

#include "sweep.h"

/* A group of the preset: what its users could have written, and what arc did. */
struct rivalry {
  const struct sweep_result *automatic, *peer; /* peer: the fastest that is not arc's, gross */
  const struct sweep_result *cg, *batched, *butterfly;
};

struct verdict {
  FILE *out;
  int figures, short_of;
};

/* Code that ships elsewhere; the papers' two paths are arc's faithful copies. */
static int is_peer(int path) {
  return (path >= SWEEP_PATH_PLAIN && path <= SWEEP_PATH_MATCH_SHARED) ||
         path == SWEEP_PATH_SERIALIZED || path == SWEEP_PATH_BUTTERFLY;
}

/* On hot rows the caller knows what no lane can see, and says so. */
static int is_auto(const struct sweep_cell *c) {
  int threshold =
      c->workload == SWEEP_WORKLOAD_HOT ? ARC_THRESHOLD_CONTENDED : SWEEP_THRESHOLD_DEFAULT;
  return c->path == SWEEP_PATH_AUTO && c->threshold == threshold;
}

static struct rivalry rivalry_of(const struct sweep_result *r, int count) {
  struct rivalry v;
  memset(&v, 0, sizeof v);
  for (int i = 0; i < count; ++i, ++r) {
    int path = r->cell.path;
    if (is_peer(path) && (!v.peer || r->gross < v.peer->gross)) v.peer = r;
    if (is_auto(&r->cell)) v.automatic = r;
    if (path == SWEEP_PATH_CG) v.cg = r;
    if (path == SWEEP_PATH_CUB_BATCHED) v.batched = r;
    if (path == SWEEP_PATH_BUTTERFLY && r->cell.threshold == 0) v.butterfly = r;
  }
  return v;
}

/* The next group after `*first`; 0 at the end. */
static int next_rivalry(const struct sweep_results *all, int *first, struct rivalry *v) {
  if (*first == all->count) return 0;
  int end = *first + 1;
  while (end < all->count && sweep_same_group(&all->item[*first].cell, &all->item[end].cell)) ++end;
  *v = rivalry_of(&all->item[*first], end - *first);
  *first = end;
  return 1;
}

static const char *judged(struct verdict *v, double found, double required) {
  int passes = found <= required; /* false for NAN */
  ++v->figures;
  v->short_of += !passes;
  return passes ? "PASS" : "FALL SHORT";
}

static double ratio_noise(const struct sweep_result *a, const struct sweep_result *b) {
  return 100.0 * ((a->quartile_high - a->quartile_low) / a->gross +
                  (b->quartile_high - b->quartile_low) / b->gross);
}

static const char *lanes_word(int lanes, char *buffer, size_t size) {
  if (lanes == SWEEP_LANES_MODEL) return "model";
  snprintf(buffer, size, "%d", lanes);
  return buffer;
}

/* ---- gross, every cell ---- */

enum { worst_shown = 10 };

static double gross_ratio(const struct rivalry *v) { return v->automatic->gross / v->peer->gross; }

/* Keeps the worst ones, the worst first. */
static void keep_worst(struct rivalry *worst, int *count, const struct rivalry *v) {
  int at = *count < worst_shown ? (*count)++ : worst_shown;
  while (at > 0 && gross_ratio(&worst[at - 1]) < gross_ratio(v)) {
    if (at < worst_shown) worst[at] = worst[at - 1];
    --at;
  }
  if (at < worst_shown) worst[at] = *v;
}

static void every_cell(struct verdict *v, const struct sweep_results *all) {
  const double bar = 1.03;
  struct rivalry worst[worst_shown], r;
  int kept = 0, cells = 0, above = 0;
  for (int first = 0; next_rivalry(all, &first, &r);) {
    if (!r.automatic || !r.peer) continue;
    ++cells;
    above += gross_ratio(&r) > bar;
    keep_worst(worst, &kept, &r);
  }
  double found = kept ? gross_ratio(&worst[0]) : NAN;
  fprintf(v->out,
          "\n(1) auto / best peer, gross, every cell: required %.2f, worst of %d cells %.3f, "
          "%d above: %s\n  %-9s %5s %5s %8s %7s  %s\n",
          bar, cells, found, above, judged(v, found, bar), "workload", "width", "lanes", "ratio",
          "noise %", "gross, auto / best peer");
  for (int i = 0; i < kept; ++i) {
    const struct sweep_result *a = worst[i].automatic, *p = worst[i].peer;
    char lanes[8];
    fprintf(v->out, "  %-9s %5d %5s %8.3f %7.1f  %.4f / %.4f %s\n",
            sweep_workload_name(a->cell.workload), a->cell.width,
            lanes_word(a->cell.lanes, lanes, sizeof lanes), gross_ratio(&worst[i]),
            ratio_noise(a, p), a->gross, p->gross, sweep_path_name(p->cell.path));
  }
}

/* ---- net, where adding matters ---- */

/* A net below a hundredth of the gross is noise; it counts as that hundredth. */
static double net_of(const struct sweep_result *r) { return fmax(r->net, 0.01 * r->gross); }

struct mean {
  double logs;
  int count;
};

static void add_to_mean(struct mean *m, double ratio) {
  m->logs += log(ratio);
  ++m->count;
}

static double mean_of(const struct mean *m) { return m->count ? exp(m->logs / m->count) : NAN; }

static void adding_cells(struct verdict *v, const struct sweep_results *all) {
  const double bar = 0.70, share = 0.1;
  struct mean total = {0.0, 0}, by_workload[SWEEP_WORKLOAD_END];
  struct rivalry r;
  memset(by_workload, 0, sizeof by_workload);
  for (int first = 0; next_rivalry(all, &first, &r);) {
    if (!r.automatic || !r.peer || r.peer->net < share * r.peer->gross) continue;
    double ratio = net_of(r.automatic) / net_of(r.peer);
    add_to_mean(&total, ratio);
    add_to_mean(&by_workload[r.peer->cell.workload], ratio);
  }
  double found = mean_of(&total);
  fprintf(v->out,
          "\n(2) auto / best peer, net, geometric mean over the %d cells whose best peer spends a "
          "tenth of its time on adding: required %.2f, measured %.3f: %s\n",
          total.count, bar, found, judged(v, found, bar));
  for (int workload = 1; workload < SWEEP_WORKLOAD_END; ++workload)
    fprintf(v->out, "  %-9s %.3f over %d cells\n", sweep_workload_name(workload),
            mean_of(&by_workload[workload]), by_workload[workload].count);
}

/* ---- the tile renderer ---- */

static void tile_renderer(struct verdict *v, const struct sweep_results *all) {
  const double bar = 0.45;
  struct rivalry r;
  for (int first = 0; next_rivalry(all, &first, &r);) {
    if (!r.automatic) continue;
    const struct sweep_cell *c = &r.automatic->cell;
    if (c->workload != SWEEP_WORKLOAD_TILE || c->width != 9 || c->lanes != SWEEP_LANES_MODEL)
      continue;
    if (!r.cg) break;
    double found = net_of(r.automatic) / net_of(r.cg);
    fprintf(v->out,
            "\n(3) tile renderer, width 9, auto / cooperative groups, net: required %.2f, measured "
            "%.3f (gross %.3f): %s\n",
            bar, found, r.automatic->gross / r.cg->gross, judged(v, found, bar));
    return;
  }
  fprintf(v->out, "\n(3) tile renderer, width 9, auto / cooperative groups: not measured: %s\n",
          sweep_path_missing(SWEEP_PATH_CG) ? sweep_path_missing(SWEEP_PATH_CG)
                                            : "the path is not in this sweep");
}

/* ---- CUB's batched reduction ---- */

/* Its net over that of the butterfly, measured once on an H200 with CCCL 3.4; 0: was not. */
static double batched_to_butterfly(int width) {
  static const struct {
    int width;
    double ratio;
  } stored[] = {{1, 1.217}, {3, 0.953},  {4, 0.776},  {8, 0.398},
                {9, 0.402}, {10, 0.354}, {16, 0.246}, {32, 0.174}};
  for (const auto &s : stored)
    if (s.width == width) return s.ratio;
  return 0.0;
}

static void batched_row(struct verdict *v, const struct rivalry *r) {
  const double bar = 1.00;
  int width = r->automatic->cell.width;
  double rival = 0.0;
  if (r->batched)
    rival = net_of(r->batched);
  else if (r->butterfly)
    rival = batched_to_butterfly(width) * net_of(r->butterfly);
  double found = net_of(r->automatic) / rival;
  if (rival > 0.0)
    fprintf(v->out, "  %5d %8.2f %9.3f  %-10s %s\n", width, bar, found, judged(v, found, bar),
            r->batched ? "measured" : "butterfly of this run x stored ratio of another one");
  else
    fprintf(v->out, "  %5d %8.2f %9s  %-10s no figure of CUB's at this width\n", width, bar, "-",
            "-");
}

static void batched(struct verdict *v, const struct sweep_results *all) {
  struct rivalry r;
  fprintf(v->out,
          "\n(4) auto / CUB's batched reduction, net, all 32 lanes active, one key\n"
          "  %5s %8s %9s  %-10s %s\n",
          "width", "required", "measured", "verdict", "CUB's figure");
  for (int first = 0; next_rivalry(all, &first, &r);) {
    if (!r.automatic) continue;
    const struct sweep_cell *c = &r.automatic->cell;
    if (c->workload == SWEEP_WORKLOAD_AXES && c->lanes == 32) batched_row(v, &r);
  }
}

void sweep_verdict_peers(FILE *out, const struct sweep_results *results) {
  struct verdict v = {out, 0, 0};
#if SIMT_ON_CPU
  fprintf(out, "\n*model* clocks stand in for milliseconds below: no verdict about any GPU\n");
#endif
  fprintf(out,
          "\nauto is called with ARC_THRESHOLD_CONTENDED on hot rows, else with its default\n");
  every_cell(&v, results);
  adding_cells(&v, results);
  tile_renderer(&v, results);
  batched(&v, results);
  fprintf(out, "\n%d of %d figures fall short\n", v.short_of, v.figures);
}
