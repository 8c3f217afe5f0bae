/* policy_table.c - default balancing thresholds from result files, as a block of arc_policy.cuh.
   SPDX-License-Identifier: Apache-2.0

   policy_table CSV...                  prints the block
   policy_table --check FILE CSV...     compares it with the one in FILE: exit status 1 and the line
   policy_table --report CSV...         what each threshold costs, width by width

   Which cells. Of the plain axes with one key per warp, a prefix of the lanes active, garbage in
   the others: `transposed` against `atomic` (rows of 16-byte vectors) and `plain` (no vectors) at
   several numbers of lanes, the same in all warps. And where warps differ (--lanes mixed, workload
   models): `auto` at several thresholds. Where keys differ (spheres, cubemap, hashgrid): `tree`
   against `atomic` and `plain` at several numbers of lanes.

   What was not measured. Rows of 8-byte vectors: a lane costs what it costs in `plain` with as many
   requests. Mixed occupancy of a width: the reductions' time and the waiting for memory overlap
   between warps, so it is the larger of two means over the lanes drawn: of the time that does not
   wait (transposed from the threshold on, below it what one lane takes), and of the time that lanes
   below the threshold wait (their own time where it grows with the lanes).

   The rule. What a threshold costs is the mean of two ratios to the best one: where all warps are
   alike, itself the mean over the measured numbers of lanes, which stand closer where it matters;
   and where warps differ. The one punishes a high threshold, the other a low one. The cheapest
   wins; neighbouring widths share one if none of them pays more than 0.5 % for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_clocks.h"
#include "model.h"
#include "result_file.h"

enum { most_widths = 32, most_points = 64, most_mixtures = 256, most_lanes = 32 };
enum { bytes_16, bytes_8, bytes_4, bytes_end };
static const int capability_bytes[bytes_end] = {16, 8, 4};
static const double weight_alike = 0.5, weight_mixed = 0.5, tolerance = 0.005;
static const int fewest_points = 4; /* of a curve that is used */

static const char begin_marker[] = "/* policy_table: begin */";
static const char end_marker[] = "/* policy_table: end */";

/* ---- curves ---- */

/* Sorted by x; a point that was measured several times is the mean. */
struct curve {
  int count;
  double x[most_points], sum[most_points], times[most_points];
};

static void curve_add(struct curve *c, double x, double y) {
  int at = 0;
  while (at < c->count && c->x[at] < x) ++at;
  if (at == c->count || c->x[at] != x) {
    if (c->count == most_points) return;
    for (int i = c->count++; i > at; --i) {
      c->x[i] = c->x[i - 1];
      c->sum[i] = c->sum[i - 1];
      c->times[i] = c->times[i - 1];
    }
    c->x[at] = x;
    c->sum[at] = c->times[at] = 0.0;
  }
  c->sum[at] += y;
  c->times[at] += 1.0;
}

static double curve_point(const struct curve *c, int i) { return c->sum[i] / c->times[i]; }

/* Linear between the points, constant beyond them. */
static double curve_at(const struct curve *c, double x) {
  int above = 0;
  while (above < c->count && c->x[above] < x) ++above;
  if (above == 0) return curve_point(c, 0);
  if (above == c->count) return curve_point(c, c->count - 1);
  double share = (x - c->x[above - 1]) / (c->x[above] - c->x[above - 1]);
  return curve_point(c, above - 1) + share * (curve_point(c, above) - curve_point(c, above - 1));
}

/* ---- what was measured ---- */

struct width_data {
  int width;
  struct curve none, vector, scalar, reduced;          /* milliseconds by active lanes */
  struct curve keyed_vector, keyed_scalar, keyed_tree; /* the same where keys differ */
};

/* Cells in which warps differ, auto by threshold. */
struct mixture {
  int width;
  char name[96];
  struct curve cost;
};

struct data {
  struct width_data width[most_widths];
  struct mixture mixture[most_mixtures];
  int width_count, mixture_count;
  int arch;
};

static struct width_data *width_of(struct data *d, int width) {
  int at = 0;
  while (at < d->width_count && d->width[at].width < width) ++at;
  if (at < d->width_count && d->width[at].width == width) return &d->width[at];
  if (d->width_count == most_widths) return NULL;
  memmove(&d->width[at + 1], &d->width[at], (size_t)(d->width_count - at) * sizeof d->width[0]);
  ++d->width_count;
  memset(&d->width[at], 0, sizeof d->width[at]);
  d->width[at].width = width;
  return &d->width[at];
}

static struct mixture *mixture_of(struct data *d, int width, const char *name) {
  for (int i = 0; i < d->mixture_count; ++i)
    if (d->mixture[i].width == width && strcmp(d->mixture[i].name, name) == 0)
      return &d->mixture[i];
  if (d->mixture_count == most_mixtures) return NULL;
  struct mixture *m = &d->mixture[d->mixture_count++];
  memset(m, 0, sizeof *m);
  m->width = width;
  snprintf(m->name, sizeof m->name, "%s", name);
  return m;
}

/* ---- files ---- */

enum {
  word_workload,
  word_width,
  word_lanes,
  word_shape,
  word_keys,
  word_layout,
  word_call,
  word_zeros,
  word_path,
  word_threshold,
  word_status,
  word_end
};
static const char *const word_names[word_end] = {"workload", "width",     "lanes", "shape",
                                                 "keys",     "layout",    "call",  "zeros",
                                                 "path",     "threshold", "status"};

struct row {
  const char *word[word_end];
  double ms;
};

static int read_row(const struct result_file *f, const int *columns, int gross, int index,
                    struct row *row, FILE *err) {
  for (int i = 0; i < word_end; ++i) row->word[i] = result_file_field(f, index, columns[i]);
  if (columns[word_workload] < 0) row->word[word_workload] = "axes";
  if (result_file_number(f, index, gross, &row->ms, err)) return 2;
  if (row->ms > 0.0 && row->ms < 1e30) return 0;
  return result_file_fault(f, f->first_line + index, "gross_ms is no time; the file is damaged",
                           err);
}

static int is(const struct row *row, int word, const char *text) {
  return strcmp(row->word[word], text) == 0;
}

static int keys_differ(const struct row *row) {
  return is(row, word_workload, "spheres") || is(row, word_workload, "cubemap") ||
         is(row, word_workload, "hashgrid");
}

static int is_number(const char *text) { return *text >= '0' && *text <= '9'; }

static void take_alike(struct width_data *w, const struct row *row) {
  double lanes = strtod(row->word[word_lanes], NULL);
  if (!is_number(row->word[word_lanes]) || lanes < 1.0) return;
  if (is(row, word_path, "none")) curve_add(&w->none, lanes, row->ms);
  if (is(row, word_path, "atomic")) curve_add(&w->vector, lanes, row->ms);
  if (is(row, word_path, "plain")) curve_add(&w->scalar, lanes, row->ms);
  if (is(row, word_path, "transposed") && is(row, word_threshold, "0"))
    curve_add(&w->reduced, lanes, row->ms);
}

static void take_keyed(struct width_data *w, const struct row *row) {
  double lanes = strtod(row->word[word_lanes], NULL);
  if (!is_number(row->word[word_lanes]) || lanes < 1.0) return;
  if (is(row, word_path, "atomic")) curve_add(&w->keyed_vector, lanes, row->ms);
  if (is(row, word_path, "plain")) curve_add(&w->keyed_scalar, lanes, row->ms);
  if (is(row, word_path, "tree") && is(row, word_threshold, "0"))
    curve_add(&w->keyed_tree, lanes, row->ms);
}

static void take_mixture(struct data *d, int width, const struct row *row) {
  char name[96];
  if (!is(row, word_path, "auto") || !is_number(row->word[word_threshold])) return;
  snprintf(name, sizeof name, "%s %s %s %s %s", row->word[word_workload], row->word[word_lanes],
           row->word[word_shape], row->word[word_keys], row->word[word_layout]);
  struct mixture *m = mixture_of(d, width, name);
  if (m) curve_add(&m->cost, strtod(row->word[word_threshold], NULL), row->ms);
}

static int take(struct data *d, const struct row *row) {
  int width = (int)strtol(row->word[word_width], NULL, 10);
  if (is(row, word_status, "ERROR") || !is(row, word_zeros, "0") || width < 1) return 1;
  int axes =
      is(row, word_workload, "axes") && is(row, word_keys, "1") && is(row, word_call, "uniform");
  struct width_data *w = width_of(d, width);
  if (!w) return 0;
  if (axes && is(row, word_shape, "prefix")) take_alike(w, row);
  if (keys_differ(row)) take_keyed(w, row);
  if (axes ? is(row, word_lanes, "mixed") : is(row, word_lanes, "model"))
    take_mixture(d, width, row);
  return 1;
}

static int take_file(struct data *d, const struct result_file *f, FILE *err) {
  int columns[word_end], gross;
  const char *device = result_file_head(f, "device"), *arch = strstr(device, "sm_");
  int number = arch ? (int)strtol(arch + 3, NULL, 10) : 0;
  if (number <= 0 || (d->arch && d->arch != number))
    return result_file_fault(f, 0,
                             number <= 0 ? "its head names no architecture (sm_...)"
                                         : "is of another architecture than the first file",
                             err);
  d->arch = number;
  for (int i = 0; i < word_end; ++i) {
    columns[i] = result_file_column(f, word_names[i]);
    if (i != word_workload && result_file_need(f, word_names[i], &columns[i], err)) return 2;
  }
  if (result_file_need(f, "gross_ms", &gross, err)) return 2;
  for (int i = 0; i < f->row_count; ++i) {
    struct row row;
    if (read_row(f, columns, gross, i, &row, err)) return 2;
    if (!take(d, &row)) return result_file_fault(f, 0, "has more widths than are served", err);
  }
  return 0;
}

/* Drops the widths that were not measured at enough numbers of lanes. */
static int complete(struct data *d, const struct result_file *f, FILE *err) {
  int kept = 0, scalars = 0;
  for (int i = 0; i < d->width_count; ++i) {
    const struct width_data *w = &d->width[i];
    if (w->vector.count < fewest_points || w->reduced.count < fewest_points || w->none.count == 0 ||
        w->keyed_vector.count < fewest_points || w->keyed_scalar.count < fewest_points ||
        w->keyed_tree.count < fewest_points)
      continue;
    scalars += w->scalar.count >= fewest_points;
    d->width[kept++] = d->width[i];
  }
  d->width_count = kept;
  if (kept >= 2 && scalars >= 2) return 0;
  return result_file_fault(f, 0,
                           "lacks cells: needs none, atomic, transposed and plain with one key, "
                           "and atomic, plain and tree of the workloads spheres, cubemap or "
                           "hashgrid, at 4 numbers of lanes or more, for 2 widths or more",
                           err);
}

/* ---- the model, where nothing was measured ---- */

/* Scheduler clocks of a warp update, by model.h: the largest of what is issued, the
   unit of shuffles and requests, and the memory. Requests of `lanes` that share an address each. */
static double update_clocks(double issued, int shuffles, int requests, int sectors, int lanes) {
  const struct model_gpu *g = &model_gpus[0];
  double issue = issued + g->shuffle * shuffles + g->reduction_issue * requests;
  double unit = g->shuffle_unit * shuffles + g->reduction_unit * requests;
  double memory = g->schedulers * fmax(requests / g->requests_per_clock,
                                       sectors / g->sectors_per_clock +
                                           requests * (lanes - 1) / g->conflicts_per_clock);
  return fmax(fmax(issue, unit), memory);
}

static double model_votes(int votes) { return model_gpus[0].vote * votes; }

static double model_scans(int scans) { return model_gpus[0].scan * scans; }

static int transposed_shuffles(int width) {
  int shuffles = 0;
  for (int live = width > 32 ? 32 : width, step = 0; step < 5; ++step) {
    live = (live + 1) / 2;
    shuffles += live;
  }
  return shuffles;
}

static double model_direct(double around, int requests, int lanes) {
  return update_clocks(around, 0, requests, requests, lanes);
}

static double model_transposed(int width) {
  double around = sweep_kernel_clocks(width, 0) + model_votes(2) + model_scans(1);
  return update_clocks(around, transposed_shuffles(width), 1, (width + 7) / 8, 1);
}

/* Four keys a warp, lanes of each apart. */
static double model_tree(int width, int requests, int lanes) {
  int groups = lanes < 4 ? lanes : 4, rounds = 0;
  while (groups << rounds < lanes) ++rounds;
  double around = sweep_kernel_clocks(width, 1) + model_gpus[0].match + model_scans(3) +
                  model_votes(rounds > 0 ? 2 + rounds : 2);
  return update_clocks(around, rounds * (width + 1), requests, groups * requests, 1);
}

static void fill_from_model(struct data *d, const struct data *like) {
  memset(d, 0, sizeof *d);
  for (int i = 0; i < like->width_count; ++i) {
    int width = like->width[i].width;
    struct width_data *w = width_of(d, width);
    double around = sweep_kernel_clocks(width, 0), keyed = sweep_kernel_clocks(width, 1);
    for (int lanes = 1; lanes <= most_lanes; ++lanes) {
      int requests = width / 4 + width % 4 / 2 + width % 2;
      curve_add(&w->none, lanes, around);
      curve_add(&w->vector, lanes, model_direct(around, requests, lanes));
      curve_add(&w->scalar, lanes, model_direct(around, width, lanes));
      curve_add(&w->keyed_vector, lanes, model_direct(keyed, requests, lanes));
      curve_add(&w->keyed_scalar, lanes, model_direct(keyed, width, lanes));
      curve_add(&w->keyed_tree, lanes, model_tree(width, requests, lanes));
      curve_add(&w->reduced, lanes, model_transposed(width));
    }
  }
}

/* ---- costs ---- */

static double none_of(const struct data *d, double width) {
  struct curve all = {0};
  for (int i = 0; i < d->width_count; ++i)
    curve_add(&all, d->width[i].width, curve_at(&d->width[i].none, 8.0));
  return curve_at(&all, width);
}

/* Lanes that each send so many one-float requests. */
static double scalar_of(const struct data *d, double requests, double lanes) {
  struct curve all = {0};
  for (int i = 0; i < d->width_count; ++i)
    if (d->width[i].scalar.count >= fewest_points)
      curve_add(&all, d->width[i].width, curve_at(&d->width[i].scalar, lanes));
  return curve_at(&all, requests);
}

static double direct(const struct data *d, const struct width_data *w, int capability,
                     double lanes) {
  if (capability == bytes_16) return curve_at(&w->vector, lanes);
  if (capability == bytes_4) return scalar_of(d, w->width, lanes);
  double requests = (w->width + 1) / 2;
  return fmax(scalar_of(d, requests, lanes),
              none_of(d, w->width) + scalar_of(d, requests, 1.0) - none_of(d, requests));
}

static double reduced(const struct width_data *w, double lanes) {
  return curve_at(&w->reduced, lanes);
}

/* The costs of one width and capability by threshold, ratios to the best. */
struct costs {
  double alike[most_lanes + 1], mixed[most_lanes + 1]; /* [1] to [32] */
  int measured;                                        /* mixed is */
};

static double total(const struct costs *c, int threshold) {
  return weight_alike * c->alike[threshold] + weight_mixed * c->mixed[threshold];
}

static void cost_alike(const struct data *d, const struct width_data *w, int capability,
                       struct costs *c) {
  for (int t = 1; t <= most_lanes; ++t) {
    double sum = 0.0;
    for (int i = 0; i < w->reduced.count; ++i) {
      double lanes = w->reduced.x[i], each = direct(d, w, capability, lanes);
      double together = curve_point(&w->reduced, i);
      sum += (lanes >= t ? together : each) / fmin(each, together);
    }
    c->alike[t] = sum / w->reduced.count;
  }
}

static void to_ratios(double *cost) {
  double best = INFINITY;
  for (int t = 1; t <= most_lanes; ++t) best = fmin(best, cost[t]);
  for (int t = 1; t <= most_lanes; ++t) cost[t] /= best;
}

/* Half of the updates have 1 to 4 lanes, half 1 to 32. */
static double probability(int lanes) { return 0.5 / 32.0 + (lanes <= 4 ? 0.5 / 4.0 : 0.0); }

/* See "what was not measured" above. */
static void estimate_mixed(const struct data *d, const struct width_data *w, int capability,
                           struct costs *c) {
  double one = direct(d, w, capability, 1.0), wait[most_lanes + 1];
  int bound = 1; /* the fewest lanes that clearly wait */
  while (bound < most_lanes && direct(d, w, capability, bound) <= 1.1 * one) ++bound;
  for (int lanes = 1; lanes <= most_lanes; ++lanes)
    wait[lanes] = lanes >= bound ? direct(d, w, capability, lanes)
                                 : direct(d, w, capability, bound) * lanes / bound;
  for (int t = 1; t <= most_lanes; ++t) {
    double busy = 0.0, waiting = 0.0;
    for (int lanes = 1; lanes <= most_lanes; ++lanes) {
      busy += probability(lanes) * (lanes >= t ? reduced(w, lanes) : one);
      waiting += lanes >= t ? 0.0 : probability(lanes) * wait[lanes];
    }
    c->mixed[t] = fmax(busy, waiting);
  }
  to_ratios(c->mixed);
}

/* The mean over all measured mixtures of the width; returns 0 where there is none. */
static int measured_mixed(const struct data *d, const struct width_data *w, struct costs *c) {
  int mixtures = 0;
  memset(c->mixed, 0, sizeof c->mixed);
  for (int i = 0; i < d->mixture_count; ++i) {
    const struct mixture *m = &d->mixture[i];
    double cost[most_lanes + 1];
    if (m->width != w->width || m->cost.count < fewest_points) continue;
    for (int t = 1; t <= most_lanes; ++t) cost[t] = curve_at(&m->cost, t);
    to_ratios(cost);
    for (int t = 1; t <= most_lanes; ++t) c->mixed[t] += cost[t];
    ++mixtures;
  }
  for (int t = 1; t <= most_lanes; ++t) c->mixed[t] /= mixtures ? mixtures : 1;
  return mixtures;
}

static void cost(const struct data *d, const struct width_data *w, int capability,
                 struct costs *c) {
  cost_alike(d, w, capability, c);
  c->measured = capability == bytes_16 && measured_mixed(d, w, c);
  if (!c->measured) estimate_mixed(d, w, capability, c);
}

/* ---- thresholds ---- */

struct table {
  struct costs costs[bytes_end][most_widths];
  int threshold[bytes_end][most_widths];
  int keyed[bytes_end][most_widths];
};

/* Direct additions of lanes whose keys differ. Rows of 8-byte vectors were not measured: between the
   others. */
static double keyed_direct(const struct width_data *w, int capability, double lanes) {
  double vector = curve_at(&w->keyed_vector, lanes), scalar = curve_at(&w->keyed_scalar, lanes);
  return capability == bytes_16 ? vector : capability == bytes_4 ? scalar : sqrt(vector * scalar);
}

/* The fewest lanes from which on the tree, which has to look at the keys first, always pays. */
static int keyed_lanes(const struct width_data *w, int capability) {
  int lanes = most_lanes;
  while (lanes > 1 && curve_at(&w->keyed_tree, lanes - 1) <= keyed_direct(w, capability, lanes - 1))
    --lanes;
  return lanes;
}

static int cheapest(const struct costs *c) {
  int best = 1;
  for (int t = 2; t <= most_lanes; ++t)
    if (total(c, t) < total(c, best)) best = t;
  return best;
}

/* The threshold that suits widths first to last, all within the tolerance; 0: there is none. */
static int shared(const struct costs *c, int first, int last) {
  int best = 0;
  double best_sum = INFINITY;
  for (int t = 1; t <= most_lanes; ++t) {
    double sum = 0.0;
    for (int w = first; w <= last; ++w) {
      double ratio = total(&c[w], t) / total(&c[w], cheapest(&c[w]));
      sum += ratio <= 1.0 + tolerance ? ratio : INFINITY;
    }
    if (sum < best_sum) best_sum = sum, best = t;
  }
  return best;
}

static void choose(const struct data *d, struct table *t) {
  for (int capability = 0; capability < bytes_end; ++capability) {
    for (int w = 0; w < d->width_count; ++w)
      t->keyed[capability][w] = keyed_lanes(&d->width[w], capability);
    struct costs *c = t->costs[capability];
    for (int w = 0; w < d->width_count; ++w) cost(d, &d->width[w], capability, &c[w]);
    for (int first = 0, last; first < d->width_count; first = last + 1) {
      for (last = first; last + 1 < d->width_count && shared(c, first, last + 1); ++last) continue;
      for (int w = first; w <= last; ++w) t->threshold[capability][w] = shared(c, first, last);
    }
  }
}

/* ---- printing ---- */

/* Result files are named from the root of the repository, wherever the program runs. */
static const char *source_name(const char *name) {
  const char *inside = strstr(name, "bench/results/");
  return inside ? inside : name;
}

static void print_table(FILE *out, const struct data *d, const struct table *t) {
  fputs("     width    16-byte vectors    8-byte vectors        no vectors    keyed: 16  8  no\n",
        out);
  for (int w = 0; w < d->width_count; ++w) {
    fprintf(out, "     %5d", d->width[w].width);
    for (int capability = 0; capability < bytes_end; ++capability) {
      const struct costs *c = &t->costs[capability][w];
      int threshold = t->threshold[capability][w];
      const char *mark = c->measured ? "*" : " ";
      fprintf(out, "   %3d  %.2f %.2f%s", threshold, c->alike[threshold], c->mixed[threshold],
              mark);
    }
    fprintf(out, "     %5d %3d %3d%s\n", t->keyed[bytes_16][w], t->keyed[bytes_8][w],
            t->keyed[bytes_4][w], w + 1 < d->width_count ? "" : " */");
  }
}

/* (width) < 3 ? 8 : (width) < 9 ? 6 : 7 */
static void print_steps(FILE *out, const struct data *d, const int *threshold) {
  int steps = 0;
  for (int w = 0; w + 1 < d->width_count; ++w) {
    if (threshold[w] == threshold[w + 1]) continue;
    if (steps++ == 3) steps = 0, fputs("\\\n         ", out);
    fprintf(out, "(width) < %d ? %d : ", d->width[w + 1].width, threshold[w]);
  }
  fprintf(out, "%d", threshold[d->width_count - 1]);
}

static void print_macro(FILE *out, const char *what, const char *name, const struct data *d,
                        int (*lanes)[most_widths]) {
  fprintf(out, "#define ARC_AUTO_%s_%s(width, vector_bytes) \\\n  (", what, name);
  for (int capability = 0; capability < bytes_end; ++capability) {
    if (capability + 1 < bytes_end)
      fprintf(out, "(vector_bytes) >= %d ? ", capability_bytes[capability]);
    fputc('(', out);
    print_steps(out, d, lanes[capability]);
    fputs(capability + 1 < bytes_end ? ") : \\\n   " : "))\n", out);
  }
}

static void print_sources(FILE *out, const struct result_file *f, int count) {
  fprintf(out, "/* Generated by bench/policy_table.c from");
  for (int i = 0; i < count; ++i) fprintf(out, "%s%s", i ? ",\n   " : " ", source_name(f[i].name));
  fprintf(out, ":\n   do not edit, run it again. Measured %.10s on\n   %s.\n",
          result_file_head(&f[0], "date"), result_file_head(&f[0], "device"));
}

static void print_block(FILE *out, const struct data *d, const struct result_file *f, int count) {
  static struct data imagined;
  static struct table measured, modelled;
  char name[24];
  choose(d, &measured);
  fill_from_model(&imagined, d);
  choose(&imagined, &modelled);
  fprintf(out, "%s\n/* clang-format off */\n", begin_marker);
  print_sources(out, f, count);
  fputs(
      "   Threshold, then its cost over the best one's: in warps that all have the same number of\n"
      "   active lanes; and where they differ (*: measured, else estimated). Keyed: the fewest\n"
      "   active lanes for which it pays to look at keys that may differ (8-byte vectors:\n"
      "   estimated). A width between two takes the figures of the lower one.\n",
      out);
  print_table(out, d, &measured);
  snprintf(name, sizeof name, "SM%d", d->arch);
  print_macro(out, "THRESHOLD", name, d, measured.threshold);
  print_macro(out, "KEYED", name, d, measured.keyed);
  fputs(
      "/* Not measured: the CPU warp's model of an H200 (simt/README.md), for all that have no\n"
      "   figures of their own. */\n",
      out);
  print_macro(out, "THRESHOLD", "MODEL", d, modelled.threshold);
  print_macro(out, "KEYED", "MODEL", d, modelled.keyed);
  fprintf(out, "/* clang-format on */\n%s\n", end_marker);
}

static void print_report(FILE *out, const struct data *d) {
  static struct table t;
  static const int shown[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32};
  enum { shown_count = sizeof shown / sizeof *shown };
  choose(d, &t);
  fputs("cost over the best threshold's: warps alike / warps that differ (*: measured)\n", out);
  for (int capability = 0; capability < bytes_end; ++capability) {
    fprintf(out, "\n%d-byte %s\nwidth  best  taken", capability_bytes[capability],
            capability == bytes_4 ? "requests only" : "vectors");
    for (int i = 0; i < shown_count; ++i) fprintf(out, " %9d", shown[i]);
    for (int w = 0; w < d->width_count; ++w) {
      const struct costs *c = &t.costs[capability][w];
      fprintf(out, "\n%5d %5d %5d%c", d->width[w].width, cheapest(c), t.threshold[capability][w],
              c->measured ? '*' : ' ');
      for (int i = 0; i < shown_count; ++i)
        fprintf(out, " %4.2f/%4.2f", c->alike[shown[i]], c->mixed[shown[i]]);
    }
    fputc('\n', out);
  }
}

/* ---- comparing ---- */

enum { line_size = 512 };

static int read_line(FILE *file, char *line) {
  if (!fgets(line, line_size, file)) return 0;
  line[strcspn(line, "\r\n")] = '\0';
  return 1;
}

/* The lines from the marker on against those of `wanted`. */
static int compare(const char *name, FILE *file, FILE *wanted, FILE *err) {
  char has[line_size], should[line_size];
  int number = 0, inside = 0;
  while (read_line(file, has)) {
    ++number;
    inside = inside || strcmp(has, begin_marker) == 0;
    if (!inside) continue;
    if (!read_line(wanted, should)) return 0;
    if (strcmp(has, should) == 0) continue;
    fprintf(err, "ERROR: %s:%d: is   '%s'\n%*sshould be '%s'\n", name, number, has, 7, "", should);
    return 1;
  }
  if (inside && !read_line(wanted, should)) return 0;
  fprintf(err, "ERROR: %s: %s '%s'\n", name, inside ? "ends before the line" : "has no line",
          inside ? should : begin_marker);
  return 1;
}

static int check(const char *name, const struct data *d, const struct result_file *f, int count,
                 FILE *err) {
  FILE *file = fopen(name, "r"), *wanted = tmpfile();
  int status = 2;
  if (!file || !wanted) {
    fprintf(err, "ERROR: %s: cannot be read: %s\n", file ? "a temporary file" : name,
            strerror(errno));
  } else {
    print_block(wanted, d, f, count);
    rewind(wanted);
    status = compare(name, file, wanted, err);
  }
  if (file) fclose(file);
  if (wanted) fclose(wanted);
  return status;
}

/* ---- the program ---- */

struct options {
  const char *check;
  int report, first; /* of the files */
};

static int read_options(struct options *o, int argc, char **argv, FILE *err) {
  memset(o, 0, sizeof *o);
  o->first = 1;
  if (argc > 2 && strcmp(argv[1], "--check") == 0) {
    o->check = argv[2];
    o->first = 3;
  } else if (argc > 1 && strcmp(argv[1], "--report") == 0) {
    o->report = 1;
    o->first = 2;
  }
  if (o->first < argc && argv[o->first][0] != '-') return 0;
  fprintf(err, "usage: policy_table [--check arc_policy.cuh | --report] RESULTS.csv...\n");
  return 2;
}

static int run(const struct options *o, struct result_file *f, int count, char **names) {
  static struct data d;
  for (int i = 0; i < count; ++i)
    if (result_file_read(&f[i], names[i], stderr) || take_file(&d, &f[i], stderr)) return 2;
  if (complete(&d, &f[0], stderr)) return 2;
  if (o->check) return check(o->check, &d, f, count, stderr);
  if (o->report)
    print_report(stdout, &d);
  else
    print_block(stdout, &d, f, count);
  return 0;
}

int main(int argc, char **argv) {
  struct options o;
  if (read_options(&o, argc, argv, stderr)) return 2;
  int count = argc - o.first;
  struct result_file *f = (struct result_file *)calloc((size_t)count, sizeof *f);
  if (!f) return 2;
  int status = run(&o, f, count, argv + o.first);
  for (int i = 0; i < count; ++i) result_file_free(&f[i]);
  free(f);
  return status;
}
