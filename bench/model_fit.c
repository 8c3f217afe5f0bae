/* model_fit.c - the constants of the CPU warp's cost model, fitted to measured times.
   SPDX-License-Identifier: Apache-2.0

   model_fit GPU.csv CPU.csv [--expect PERCENT] [--expect-cells PERCENT]

   Both files come from arc_sweep, of the same cells (--preset issue): the one has times, the other
   counts. All is reckoned in clocks of one scheduler per warp update. The exit status is 1 if the
   model that CPU.csv was written with orders fewer pairs right than --expect says, or has every
   clear pair right in fewer cells than --expect-cells says.

     issue  = base + S shuffles + V votes + M matches + B scans + R requests
     unit   = U shuffles + W requests
     memory = max(Q requests, T sectors + C conflicts)
     time   = max(issue, unit, memory)

   unit is what shuffles and requests pass through, beside the issue of other warps. M and U are
   held at what was measured apart: these cells do not tell them from V and W.

   base is the kernel around: fitted to the path `none` first, a constant, an amount for each value
   and one for keys that lanes draw. The others are found by going up and down along one constant
   at a time, each at least 0, so that the sum of two falls. One is the mean of
   |log(model / time)|; outliers beyond a factor of 4.5 count as that. The other is about order:
   5 times the mean over cells of how far, as a logarithm, the worst clear pair (see below) is from
   standing 2 % apart in the right order; beyond a factor of 1.35 it counts as that.

   How order is counted. A cell holds the paths that added the very same values, each once: at
   threshold 0 (auto: its own). A pair of its paths counts if their medians differ by more than
   their quartile distances together, and by more than 2 %. A pair is right if the model has them in
   the order of the times, tied if it has them equal, which is not right. Left out: cells in which
   no lane is active, where every path has the same counts; the workload `hot`, because the model
   knows no hot rows; the path match_shared, because shared atomics are not counted.

   The fit is held out too: constants of every other cell, judged on the cells between. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result_file.h"

enum {
  count_shuffles,
  count_votes,
  count_matches,
  count_scans,
  count_requests,
  count_sectors,
  count_conflicts,
  count_end
};
static const char *const count_names[count_end] = {"shuffles", "votes",   "matches",  "scans",
                                                   "requests", "sectors", "conflicts"};

enum {
  fit_shuffle,
  fit_vote,
  fit_scan,
  fit_request_issue,
  fit_request_unit,
  fit_request,
  fit_sector,
  fit_conflict,
  fit_count,
  held_match = fit_count,
  held_shuffle_unit,
  fit_end
};
enum { most_paths = 32 }; /* of a cell */
enum { base_constant, base_value, base_keyed, base_end };

/* What bench/NOTES.md has for the same thing, measured apart. */
static const struct {
  const char *what, *apart;
  double start;
} fitted[fit_end] = {
    {"a shuffle and what hangs on it", "SHFL and FADD, 1 each", 2.0},
    {"a vote and what hangs on it", "VOTE 4", 6.0},
    {"a bit scan", "POPC, FLO, BREV 8", 4.0},
    {"a request, issue", "-", 4.0},
    {"a request, the shuffles' unit", "-", 4.0},
    {"a request, memory", "-", 12.0},
    {"a sector", "-", 12.0},
    {"a lane on an address hit already", "-", 12.0},
    {"a match: held", "about one per different key, at least 2", 6.0},
    {"a shuffle, its unit: held", "SHFL 4 to 5", 5.0},
};

static const double least_difference = 0.02, clear_difference = 0.10, near_best = 0.05;
static const double order_weight = 5.0, order_margin = 0.02;

struct sample {
  int cell;
  const char *path;
  double counts[count_end];
  double width, keyed;
  double time, noise; /* scheduler clocks per warp update; quartile distance, likewise */
  double column;      /* model_gross of CPU.csv, likewise */
};

struct samples {
  struct sample *item;
  int count, cells;
};

struct model {
  double base[base_end], fit[fit_end];
  int use_column; /* the formula that CPU.csv was written with */
};

/* ---- files ---- */

static const char *const identity[] = {"workload", "width",  "lanes",    "shape",
                                       "keys",     "layout", "call",     "zeros",
                                       "section",  "path",   "threshold"};
enum { identity_count = sizeof identity / sizeof *identity, group_count = identity_count - 2 };

struct columns {
  int identity[identity_count], counts[count_end];
  int gross, quartile_low, quartile_high, model_gross, status;
};

static const char *word(const struct result_file *f, const struct columns *c, int row, int i) {
  if (c->identity[i] >= 0) return result_file_field(f, row, c->identity[i]);
  return strcmp(identity[i], "workload") == 0 ? "axes" : "-";
}

static int find_columns(const struct result_file *f, struct columns *c, int counts, FILE *err) {
  memset(c, -1, sizeof *c);
  for (int i = 0; i < identity_count; ++i) {
    c->identity[i] = result_file_column(f, identity[i]);
    int optional = strcmp(identity[i], "workload") == 0 || strcmp(identity[i], "section") == 0;
    if (!optional && result_file_need(f, identity[i], &c->identity[i], err)) return 2;
  }
  if (result_file_need(f, "status", &c->status, err)) return 2;
  if (!counts)
    return result_file_need(f, "gross_ms", &c->gross, err) ||
           result_file_need(f, "quartile_low_ms", &c->quartile_low, err) ||
           result_file_need(f, "quartile_high_ms", &c->quartile_high, err);
  for (int i = 0; i < count_end; ++i)
    if (result_file_need(f, count_names[i], &c->counts[i], err)) return 2;
  return result_file_need(f, "model_gross", &c->model_gross, err);
}

/* The number before, or after, some words in a head line. Returns 0, or 2 after a line on `err`. */
static int head_number(const struct result_file *f, const char *head, const char *before,
                       const char *after, double *number, FILE *err) {
  char what[96];
  const char *line = result_file_head(f, head);
  const char *at = strstr(line, before ? before : after);
  *number = 0.0;
  if (at && before) {
    while (at > line && at[-1] == ' ') --at;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') --at;
    *number = strtod(at, NULL);
  } else if (at) {
    *number = strtod(at + strlen(after), NULL);
  }
  if (*number > 0.0) return 0;
  snprintf(what, sizeof what, "the head has no '%s' with a number of '%s'", head,
           before ? before : after);
  return result_file_fault(f, 0, what, err);
}

struct units {
  double clocks_per_ms;    /* scheduler clocks per warp update */
  double clocks_per_model; /* the same for the unit of model_gross */
};

static int read_units(const struct result_file *f, struct units *u, FILE *err) {
  double multiprocessors, mhz, blocks, threads, updates;
  if (head_number(f, "device", " multiprocessors", NULL, &multiprocessors, err) ||
      head_number(f, "clocks", " MHz measured", NULL, &mhz, err) ||
      head_number(f, "sizes", NULL, "blocks=", &blocks, err) ||
      head_number(f, "sizes", NULL, "threads=", &threads, err) ||
      head_number(f, "sizes", NULL, "updates=", &updates, err))
    return 2;
  double schedulers = 4.0 * multiprocessors;
  u->clocks_per_ms = mhz * 1000.0 * schedulers / (blocks * threads / 32.0 * updates);
  u->clocks_per_model = schedulers / 1000.0;
  return 0;
}

struct pair_of_files {
  struct result_file gpu, cpu;
  struct columns gpu_columns, cpu_columns;
  struct units units;
};

static int same_words(const struct pair_of_files *p, int gpu_row, int cpu_row) {
  for (int i = 0; i < identity_count; ++i)
    if (strcmp(word(&p->gpu, &p->gpu_columns, gpu_row, i),
               word(&p->cpu, &p->cpu_columns, cpu_row, i)) != 0)
      return 0;
  return 1;
}

static int same_group(const struct pair_of_files *p, int row_a, int row_b) {
  for (int i = 0; i < group_count; ++i)
    if (strcmp(word(&p->gpu, &p->gpu_columns, row_a, i),
               word(&p->gpu, &p->gpu_columns, row_b, i)) != 0)
      return 0;
  return 1;
}

static const char *named(const struct pair_of_files *p, int row, const char *name) {
  for (int i = 0; i < identity_count; ++i)
    if (strcmp(identity[i], name) == 0) return word(&p->gpu, &p->gpu_columns, row, i);
  return "";
}

/* See "left out" above. */
static int is_wanted(const struct pair_of_files *p, int row) {
  const char *path = named(p, row, "path"), *threshold = named(p, row, "threshold");
  int own = strcmp(threshold, "auto") == 0;
  if (strcmp(named(p, row, "lanes"), "0") == 0 || strcmp(named(p, row, "workload"), "hot") == 0)
    return 0;
  if (strcmp(path, "broken") == 0 || strcmp(path, "match_shared") == 0) return 0;
  if (strcmp(result_file_field(&p->gpu, row, p->gpu_columns.status), "ERROR") == 0) return 0;
  if (strcmp(path, "auto") == 0) return own;
  return strcmp(threshold, "0") == 0 || strcmp(threshold, "-") == 0;
}

static int read_sample(const struct pair_of_files *p, int row, int other, struct sample *s,
                       FILE *err) {
  double low, high;
  s->path = named(p, row, "path");
  s->width = strtod(named(p, row, "width"), NULL);
  s->keyed = strcmp(named(p, row, "call"), "keyed") == 0 ? 1.0 : 0.0;
  if (result_file_number(&p->gpu, row, p->gpu_columns.gross, &s->time, err) ||
      result_file_number(&p->gpu, row, p->gpu_columns.quartile_low, &low, err) ||
      result_file_number(&p->gpu, row, p->gpu_columns.quartile_high, &high, err) ||
      result_file_number(&p->cpu, other, p->cpu_columns.model_gross, &s->column, err))
    return 2;
  for (int i = 0; i < count_end; ++i)
    if (result_file_number(&p->cpu, other, p->cpu_columns.counts[i], &s->counts[i], err)) return 2;
  if (!(s->time > 0.0 && low > 0.0 && low <= high))
    return result_file_fault(&p->gpu, p->gpu.first_line + row,
                             "the times are not above 0 and in order; the file is damaged", err);
  s->time *= p->units.clocks_per_ms;
  s->noise = (high - low) * p->units.clocks_per_ms;
  s->column *= p->units.clocks_per_model;
  return 0;
}

static int join(const struct pair_of_files *p, struct samples *all, FILE *err) {
  int group_row = -1;
  all->item = (struct sample *)calloc((size_t)p->gpu.row_count, sizeof *all->item);
  if (!all->item) return result_file_fault(&p->gpu, 0, "no memory", err);
  for (int row = 0; row < p->gpu.row_count; ++row) {
    int other = 0;
    if (!is_wanted(p, row)) continue;
    while (other < p->cpu.row_count && !same_words(p, row, other)) ++other;
    if (other == p->cpu.row_count) continue;
    if (group_row < 0 || !same_group(p, group_row, row)) {
      ++all->cells;
      group_row = row;
    }
    struct sample *s = &all->item[all->count++];
    s->cell = all->cells - 1;
    if (read_sample(p, row, other, s, err)) return 2;
  }
  if (all->cells >= 8) return 0;
  return result_file_fault(&p->cpu, 0, "shares fewer than 8 cells with the times; sweep the same",
                           err);
}

static int open_pair(struct pair_of_files *p, const char *gpu, const char *cpu, FILE *err) {
  memset(p, 0, sizeof *p);
  return result_file_read(&p->gpu, gpu, err) || result_file_read(&p->cpu, cpu, err) ||
         find_columns(&p->gpu, &p->gpu_columns, 0, err) ||
         find_columns(&p->cpu, &p->cpu_columns, 1, err) || read_units(&p->gpu, &p->units, err);
}

/* ---- the model ---- */

static int is_base(const struct sample *s) { return strcmp(s->path, "none") == 0; }

static double base_of(const struct model *m, const struct sample *s) {
  return m->base[base_constant] + m->base[base_value] * s->width + m->base[base_keyed] * s->keyed;
}

static double model_of(const struct model *m, const struct sample *s) {
  if (m->use_column) return s->column;
  const double *c = s->counts, *f = m->fit;
  double issue = base_of(m, s) + f[fit_shuffle] * c[count_shuffles] + f[fit_vote] * c[count_votes] +
                 f[held_match] * c[count_matches] + f[fit_scan] * c[count_scans] +
                 f[fit_request_issue] * c[count_requests];
  double unit = f[held_shuffle_unit] * c[count_shuffles] + f[fit_request_unit] * c[count_requests];
  double memory = fmax(f[fit_request] * c[count_requests],
                       f[fit_sector] * c[count_sectors] + f[fit_conflict] * c[count_conflicts]);
  return fmax(fmax(issue, unit), memory);
}

/* The two samples' times differ by more than noise and 2 %; clearly: by more than 10 %, too. */
static int differ(const struct sample *a, const struct sample *b) {
  double least = fmin(a->time, b->time);
  return fabs(a->time - b->time) > fmax(a->noise + b->noise, least_difference * least);
}

static int differ_clearly(const struct sample *a, const struct sample *b) {
  double least = fmin(a->time, b->time);
  return differ(a, b) && fabs(a->time - b->time) > clear_difference * least;
}

/* ---- fitting ---- */

/* Which cells take part: those whose number has this rest when divided by 2; -1: all. */
static int takes_part(const struct sample *s, int rest) { return rest < 0 || s->cell % 2 == rest; }

struct fitting {
  const struct samples *all;
  struct model *model;
  int rest, base; /* base: the kernel around is what is fitted */
};

/* Of |log(model / time)|, the logarithm of 4.5; of a cell's order, that of 1.35. */
static const double most_error = 1.5, most_disorder = 0.3;

/* How far the worst clear pair of a cell is from its order; logs: of the model. */
static double disorder(const struct sample *cell, const double *logs, int count) {
  double worst = 0.0;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j) {
      const struct sample *a = &cell[i], *b = &cell[j];
      if (is_base(a) || is_base(b) || !differ_clearly(a, b)) continue;
      worst = fmax(worst, order_margin - (a->time > b->time ? 1.0 : -1.0) * (logs[i] - logs[j]));
    }
  return fmin(worst, most_disorder);
}

static int cell_size(const struct samples *all, int first) {
  int count = 1;
  while (count < most_paths && first + count < all->count &&
         all->item[first + count].cell == all->item[first].cell)
    ++count;
  return count;
}

static double loss(const struct fitting *f) {
  double errors = 0.0, orders = 0.0;
  int count = 0, cells = 0;
  for (int first = 0, size; first < f->all->count; first += size) {
    const struct sample *cell = &f->all->item[first];
    double logs[most_paths];
    size = cell_size(f->all, first);
    if (!takes_part(cell, f->rest)) continue;
    for (int i = 0; i < size; ++i) {
      if (is_base(&cell[i]) != f->base) continue;
      double value = f->base ? base_of(f->model, &cell[i]) : model_of(f->model, &cell[i]);
      logs[i] = log(fmax(value, 1e-9));
      errors += fmin(most_error, fabs(logs[i] - log(cell[i].time)));
      ++count;
    }
    if (f->base) continue;
    orders += disorder(cell, logs, size);
    ++cells;
  }
  return errors / (count ? count : 1) + order_weight * orders / (cells ? cells : 1);
}

/* One step up or down of one constant; keeps it if the loss falls. */
static int step(const struct fitting *f, double *constant, double by, double *best) {
  double before = *constant;
  *constant = fmax(0.0, before * (1.0 + by) + (before < 0.001 ? by * 0.1 : 0.0));
  double now = loss(f);
  if (now < *best) {
    *best = now;
    return 1;
  }
  *constant = before;
  return 0;
}

static void descend(const struct fitting *f, double *constants, int count) {
  double size[fit_end], best = loss(f);
  for (int i = 0; i < count; ++i) size[i] = 0.3;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < count; ++i)
      if (!step(f, &constants[i], size[i], &best) && !step(f, &constants[i], -size[i], &best))
        size[i] = fmax(0.6 * size[i], 1e-4);
  }
}

static struct model fit(const struct samples *all, int rest) {
  struct model m = {{40.0, 1.0, 5.0}, {0}, 0};
  struct fitting f = {all, &m, rest, 1};
  for (int i = 0; i < fit_end; ++i) m.fit[i] = fitted[i].start;
  descend(&f, m.base, base_end);
  f.base = 0;
  descend(&f, m.fit, fit_count);
  return m;
}

/* ---- judging ---- */

struct score {
  int pairs, right, tied, clear_pairs, clear_right;
  int cells, cells_right, cells_clear, cells_straight, best_near;
  double spearman;
  int ranked;
  double median_error;
};

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The rank of each number among them, ties sharing their mean. */
static void ranks(const double *value, int count, double *rank) {
  for (int i = 0; i < count; ++i) {
    double below = 0.0, equal = 0.0;
    for (int j = 0; j < count; ++j) {
      below += value[j] < value[i];
      equal += value[j] == value[i];
    }
    rank[i] = below + 0.5 * (equal - 1.0);
  }
}

/* Of two lists; NAN where one of them is all ties. */
static double spearman(const double *x, const double *y, int count) {
  double a[most_paths], b[most_paths], ab = 0.0, aa = 0.0, bb = 0.0, mean = 0.5 * (count - 1);
  ranks(x, count, a);
  ranks(y, count, b);
  for (int i = 0; i < count; ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : NAN;
}

/* What the pairs of a cell are like, all together. */
enum { pair_wrong = 1, pair_clearly_wrong = 2, pair_reversed = 4 };

static int judge_pair(struct score *score, const struct sample *a, const struct sample *b,
                      double model_a, double model_b) {
  if (!differ(a, b)) return 0;
  int right = (a->time < b->time && model_a < model_b) || (a->time > b->time && model_a > model_b);
  int tied = model_a == model_b, clear = differ_clearly(a, b);
  ++score->pairs;
  score->right += right;
  score->tied += tied;
  score->clear_pairs += clear;
  score->clear_right += clear && right;
  if (right) return 0;
  return pair_wrong | (clear ? pair_clearly_wrong : 0) | (clear && !tied ? pair_reversed : 0);
}

static void judge_cell(struct score *score, const struct model *m, const struct sample *const *cell,
                       int count) {
  double times[most_paths], models[most_paths], least = INFINITY;
  int found = 0, chosen = 0;
  for (int i = 0; i < count; ++i) {
    times[i] = cell[i]->time;
    models[i] = model_of(m, cell[i]);
    least = fmin(least, times[i]);
    if (models[i] < models[chosen]) chosen = i;
    for (int j = 0; j < i; ++j) found |= judge_pair(score, cell[i], cell[j], models[i], models[j]);
  }
  double rho = count > 2 ? spearman(times, models, count) : NAN;
  if (rho == rho) score->spearman += rho, ++score->ranked;
  ++score->cells;
  score->cells_right += !(found & pair_wrong);
  score->cells_clear += !(found & pair_clearly_wrong);
  score->cells_straight += !(found & pair_reversed);
  score->best_near += times[chosen] <= least * (1.0 + near_best);
}

static struct score judge(const struct samples *all, const struct model *m, int rest) {
  struct score score;
  double *errors = (double *)malloc((size_t)all->count * sizeof *errors);
  int error_count = 0;
  memset(&score, 0, sizeof score);
  for (int first = 0, end; first < all->count; first = end) {
    const struct sample *cell[most_paths];
    int count = 0;
    for (end = first; end < all->count && all->item[end].cell == all->item[first].cell; ++end) {
      const struct sample *s = &all->item[end];
      if (is_base(s) || !takes_part(s, rest) || count == most_paths) continue;
      cell[count++] = s;
      if (errors) errors[error_count++] = fabs(model_of(m, s) / s->time - 1.0);
    }
    if (count > 1) judge_cell(&score, m, cell, count);
  }
  if (errors) qsort(errors, (size_t)error_count, sizeof *errors, by_value);
  score.median_error = errors && error_count ? errors[error_count / 2] : NAN;
  free(errors);
  return score;
}

/* ---- printing ---- */

static double percent(int part, int whole) { return whole ? 100.0 * part / whole : NAN; }

static void print_score(FILE *out, const char *name, const struct score *s) {
  fprintf(out, "  %-36s %6.1f %6.1f %8.1f %8.1f %8.1f %9.1f %9.1f %9.3f %7.1f\n", name,
          percent(s->right, s->pairs), percent(s->tied, s->pairs),
          percent(s->clear_right, s->clear_pairs), percent(s->cells_right, s->cells),
          percent(s->cells_clear, s->cells), percent(s->cells_straight, s->cells),
          percent(s->best_near, s->cells), s->ranked ? s->spearman / s->ranked : NAN,
          100.0 * s->median_error);
}

static void print_model(FILE *out, const struct model *m, const struct units *u) {
  double schedulers = 1000.0 * u->clocks_per_model;
  fprintf(out, "\n  %-36s %8s  %s\n", "constant, scheduler clocks", "fitted", "measured apart");
  for (int i = 0; i < fit_end; ++i)
    fprintf(out, "  %-36s %8.2f  %s\n", fitted[i].what, m->fit[i], fitted[i].apart);
  fprintf(out, "  %-36s %8.2f  + %.2f a value, + %.2f where lanes draw keys\n",
          "the sweep's kernel around", m->base[base_constant], m->base[base_value],
          m->base[base_keyed]);
  fprintf(out,
          "\n  a chip of %.0f schedulers: %.1f requests, %.1f sectors, %.1f conflicts a clock\n",
          schedulers, schedulers / m->fit[fit_request], schedulers / m->fit[fit_sector],
          schedulers / m->fit[fit_conflict]);
}

static void print_all(FILE *out, const struct pair_of_files *p, const struct samples *all,
                      const struct score *written, const struct model *whole) {
  struct model halves[2] = {fit(all, 0), fit(all, 1)};
  struct score score = judge(all, whole, -1);
  fprintf(out, "times:  %s, %s, %s\ncounts: %s, %s\n", p->gpu.name,
          result_file_head(&p->gpu, "device"), result_file_head(&p->gpu, "date"), p->cpu.name,
          result_file_head(&p->cpu, "date"));
  fprintf(out, "%d cells, %d pairs of paths that differ by more than noise and 2 %%, %d by 10 %%\n",
          score.cells, score.pairs, score.clear_pairs);
  print_model(out, whole, &p->units);
  fprintf(out, "\n  %-36s %6s %6s %8s %8s %8s %9s %9s %9s %7s\n", "percent of", "pairs", "pairs",
          "clear", "cells", "cells", "cells not", "cheapest", "Spearman,", "median");
  fprintf(out, "  %-36s %6s %6s %8s %8s %8s %9s %9s %9s %7s\n", "", "right", "tied", "right",
          "right", "clear", "reversed", "found", "mean", "error");
  print_score(out, "as written in the file of counts", written);
  print_score(out, "fitted to all cells", &score);
  score = judge(all, &halves[0], 1);
  print_score(out, "fitted to even, judged on odd cells", &score);
  score = judge(all, &halves[1], 0);
  print_score(out, "fitted to odd, judged on even cells", &score);
  fputs(
      "clear: pairs that differ by more than 10 %\n"
      "cells right, clear: every such pair is right; not reversed: no clear pair is, ties let "
      "pass\n"
      "cheapest found: the path that the model calls cheapest is within 5 % of the cheapest\n"
      "Spearman: of the paths of a cell, not in percent; median error: of all figures\n",
      out);
}

/* ---- the program ---- */

struct expected {
  double pairs, cells; /* percent; 0: anything will do */
};

static int read_expected(int argc, char **argv, struct expected *e, FILE *err) {
  int bad = argc < 3 || argc % 2 == 0;
  e->pairs = e->cells = 0.0;
  for (int i = 3; i < argc && !bad; i += 2) {
    char *end = argv[i + 1];
    double percent = strtod(argv[i + 1], &end);
    bad = end == argv[i + 1] || *end || !(percent > 0.0 && percent <= 100.0);
    if (strcmp(argv[i], "--expect") == 0)
      e->pairs = percent;
    else if (strcmp(argv[i], "--expect-cells") == 0)
      e->cells = percent;
    else
      bad = 1;
  }
  if (!bad) return 0;
  fprintf(err,
          "usage: model_fit GPU.csv CPU.csv [--expect PERCENT] [--expect-cells PERCENT], above 0 "
          "and up to 100\n");
  return 2;
}

/* Returns 0, or 1 after a line on stderr. */
static int falls_short(const char *what, double percent, double expected) {
  if (!(percent < expected)) return 0;
  fprintf(stderr, "ERROR: the model orders %s right in %.1f %%, expected %.1f %%\n", what, percent,
          expected);
  return 1;
}

static int run(struct pair_of_files *p, struct samples *all, char **argv,
               const struct expected *e) {
  if (open_pair(p, argv[1], argv[2], stderr) || join(p, all, stderr)) return 2;
  const struct model column = {{0}, {0}, 1};
  struct model whole = fit(all, -1);
  struct score written = judge(all, &column, -1);
  print_all(stdout, p, all, &written, &whole);
  int short_of = 0;
  short_of |= falls_short("pairs", percent(written.right, written.pairs), e->pairs);
  short_of |= falls_short("cells", percent(written.cells_clear, written.cells), e->cells);
  return short_of;
}

int main(int argc, char **argv) {
  struct pair_of_files p;
  struct samples all = {NULL, 0, 0};
  struct expected expected;
  if (read_expected(argc, argv, &expected, stderr)) return 2;
  int status = run(&p, &all, argv, &expected);
  free(all.item);
  result_file_free(&p.gpu);
  result_file_free(&p.cpu);
  return status;
}
