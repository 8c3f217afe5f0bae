/* sweep_compare.cu - two result files, cell by cell: FASTER, SLOWER, SAME or UNCLEAR.
   SPDX-License-Identifier: Apache-2.0

   The rule. ratio = gross of B over gross of A, both medians. noise = the distance of the quartiles
   over the median, the larger one of the two files, and at least --noise.
     FASTER, SLOWER  the ranges between the quartiles do not overlap, and the ratio is further from
                     1 than the noise
     SAME            the ratio is within the noise, and either the ranges overlap or the ratio is
                     within --noise; never where the noise is above 5 %, which would hide too much
     UNCLEAR         all else: the two signs contradict each other
   Two runs of one program on one machine differ by up to 1.7 % in kernels of 0.1 ms, more than the
   quartiles of either say (360 cells of two files in results/h200), so --noise is 2 % unless given.
   Model clocks come from counts and have no noise: there it is 0, and every difference is one. */
#include "sweep_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result_file.h"

static const double most_noise = 5.0, default_noise = 2.0; /* percent */

enum verdict { verdict_faster = 1, verdict_slower, verdict_same, verdict_unclear, verdict_end };
static const char *const verdict_names[] = {"", "FASTER", "SLOWER", "SAME", "UNCLEAR"};

/* ---- options ---- */

struct compare_options {
  const char *names[2];
  const char *path; /* NULL: all */
  double noise;     /* percent, < 0: not given */
  int fail_if_slower, quiet, help;
};

static const char help_text[] =
    "arc_sweep compare - is B faster than A?\n"
    "\n"
    "usage: arc_sweep compare A.csv B.csv [options]\n"
    "\n"
    "  --noise PERCENT    differences up to this much mean nothing (2; 0 for model clocks)\n"
    "                       e.g. --noise 5\n"
    "  --path NAME        only cells of this path; e.g. --path auto\n"
    "  --quiet            no cells, only the summary\n"
    "  --fail-if-slower   exit status 1 if a cell is SLOWER\n"
    "  --help             this text\n"
    "\n"
    "Cells are compared that both files hold, by gross time (CPU warp: model clocks). ratio is B\n"
    "over A; noise is the distance of the quartiles over the median, of the noisier file.\n"
    "  FASTER, SLOWER     the quartiles do not overlap, and the ratio is off 1 by more than the\n"
    "                     noise of either file and more than --noise\n"
    "  SAME               within the noise, and the quartiles overlap or it is within --noise\n"
    "  UNCLEAR            all else, and where the noise is above 5 % and no winner is plain\n"
    "\n"
    "Exit status: 0 compared, 1 a cell is slower and --fail-if-slower was given, 2 bad option, "
    "bad\n"
    "file, or no cell in common.\n";

static int complain(FILE *err, const char *option, const char *what) {
  fprintf(err, "arc_sweep compare: %s: %s\n", option, what);
  return 2;
}

static int read_noise(const char *text, double *percent, FILE *err) {
  char *end;
  *percent = strtod(text, &end);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && *percent <= 100.0) return 0;
  fprintf(err, "arc_sweep compare: --noise: '%s' is not legal; legal: 0 to 100 (percent)\n", text);
  return 2;
}

static int read_word(struct compare_options *o, int *names, char **argv, int *i, int argc,
                     FILE *err) {
  const char *word = argv[*i];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    o->help = 1;
  } else if (strcmp(word, "--quiet") == 0) {
    o->quiet = 1;
  } else if (strcmp(word, "--fail-if-slower") == 0) {
    o->fail_if_slower = 1;
  } else if (strcmp(word, "--noise") == 0 || strcmp(word, "--path") == 0) {
    if (*i + 1 == argc || argv[*i + 1][0] == '\0') return complain(err, word, "needs a value");
    const char *value = argv[++*i];
    if (strcmp(word, "--noise") == 0) return read_noise(value, &o->noise, err);
    o->path = value;
  } else if (word[0] == '-' && word[1] != '\0') {
    return complain(err, word,
                    "is not an option; legal: --noise, --path, --quiet, --fail-if-slower, --help");
  } else if (*names == 2) {
    return complain(err, word, "is a third file; two are compared");
  } else {
    o->names[(*names)++] = word;
  }
  return 0;
}

static int read_options(struct compare_options *o, int argc, char **argv, FILE *err) {
  int names = 0;
  memset(o, 0, sizeof *o);
  o->noise = -1.0;
  for (int i = 1; i < argc; ++i)
    if (read_word(o, &names, argv, &i, argc, err)) return 2;
  if (o->help || names == 2) return 0;
  return complain(err, "two files are needed",
                  "arc_sweep compare A.csv B.csv; arc_sweep compare --help tells more");
}

/* ---- files ---- */

/* What makes a cell, in the order of a heading; and what such a column would say in a file that is
   too old to have it. */
static const struct {
  const char *column, *if_absent;
} identity[] = {{"width", ""}, {"workload", "axes"}, {"lanes", ""}, {"shape", ""},
                {"keys", ""},  {"layout", ""},       {"call", ""},  {"zeros", ""},
                {"path", ""},  {"threshold", ""}};
enum {
  identity_count = sizeof identity / sizeof *identity,
  identity_path = identity_count - 2,
  identity_threshold = identity_count - 1
};

struct measured {
  struct result_file file;
  int model; /* clocks of the CPU warp, not times */
  int identity[identity_count], section, status, gross, quartile_low, quartile_high;
};

static int open_measured(struct measured *m, const char *name, FILE *err) {
  if (result_file_read(&m->file, name, err)) return 2;
  for (int i = 0; i < identity_count; ++i) {
    m->identity[i] = result_file_column(&m->file, identity[i].column);
    if (m->identity[i] < 0 && identity[i].if_absent[0] == '\0')
      return result_file_need(&m->file, identity[i].column, &m->identity[i], err);
  }
  m->section = result_file_column(&m->file, "section");
  m->model = result_file_column(&m->file, "model_gross") >= 0;
  if (result_file_need(&m->file, "status", &m->status, err)) return 2;
  if (m->model) return result_file_need(&m->file, "model_gross", &m->gross, err);
  return result_file_need(&m->file, "gross_ms", &m->gross, err) ||
         result_file_need(&m->file, "quartile_low_ms", &m->quartile_low, err) ||
         result_file_need(&m->file, "quartile_high_ms", &m->quartile_high, err);
}

static const char *word_of(const struct measured *m, int row, int i) {
  return m->identity[i] < 0 ? identity[i].if_absent
                            : result_file_field(&m->file, row, m->identity[i]);
}

static int same_cell(const struct measured *a, int row_a, const struct measured *b, int row_b) {
  for (int i = 0; i < identity_count; ++i)
    if (strcmp(word_of(a, row_a, i), word_of(b, row_b, i)) != 0) return 0;
  return 1;
}

/* The row of b that holds the cell, -1 without. Presets measure some cells in several sections:
   the same section is preferred. */
static int find_cell(const struct measured *a, int row, const struct measured *b) {
  int found = -1;
  for (int i = 0; i < b->file.row_count; ++i) {
    if (!same_cell(a, row, b, i)) continue;
    if (strcmp(result_file_field(&a->file, row, a->section),
               result_file_field(&b->file, i, b->section)) == 0)
      return i;
    if (found < 0) found = i;
  }
  return found;
}

/* ---- heads ---- */

/* The word `key=...` of a head line, up to a blank; "" without one. */
static void head_word(const struct result_file *f, const char *head, const char *key, char *word,
                      size_t size) {
  const char *line = result_file_head(f, head), *at = line;
  size_t length = strlen(key), span;
  if (length == 0) {
    snprintf(word, size, "%s", line);
    return;
  }
  word[0] = '\0';
  for (; *at; at += span + (at[span] == ' ')) {
    span = strcspn(at, " ");
    if (span > length && strncmp(at, key, length) == 0 && at[length] == '=')
      snprintf(word, size, "%.*s", (int)(span - length - 1), at + length + 1);
  }
}

/* What makes two files hard to compare; a word that one file is too old to have says nothing. */
static void warn_of_heads(const struct measured *m, FILE *err) {
  static const struct {
    const char *head, *key;
  } items[] = {{"device", ""},       {"policy", ""},       {"sizes", "blocks"},
               {"sizes", "threads"}, {"sizes", "updates"}, {"sizes", "rows"},
               {"sizes", "padding"}, {"sizes", "seed"},    {"rigour", "cache"}};
  for (const auto &item : items) {
    char a[200], b[200];
    head_word(&m[0].file, item.head, item.key, a, sizeof a);
    head_word(&m[1].file, item.head, item.key, b, sizeof b);
    if (strcmp(a, b) == 0 || a[0] == '\0' || b[0] == '\0') continue;
    fprintf(err, "WARNING: the files differ in %s%s%s: '%s' and '%s'\n", item.head,
            item.key[0] ? " " : "", item.key, a, b);
  }
}

/* ---- one cell ---- */

struct figure {
  double gross, low, high; /* median and quartiles */
};

static int read_figure(const struct measured *m, int row, struct figure *f, FILE *err) {
  if (result_file_number(&m->file, row, m->gross, &f->gross, err)) return 2;
  f->low = f->high = f->gross;
  if (!m->model && (result_file_number(&m->file, row, m->quartile_low, &f->low, err) ||
                    result_file_number(&m->file, row, m->quartile_high, &f->high, err)))
    return 2;
  if (f->gross >= 0.0 && f->gross < 1e30 && f->low <= f->gross && f->gross <= f->high &&
      (m->model || f->low > 0.0))
    return 0;
  return result_file_fault(&m->file, m->file.first_line + row,
                           "the median is not a time between its quartiles; the file is damaged",
                           err);
}

/* Before anything is printed: all rows can be compared, or none is. */
static int check_figures(const struct measured *m, FILE *err) {
  struct figure f;
  for (int row = 0; row < m->file.row_count; ++row)
    if (read_figure(m, row, &f, err)) return 2;
  return 0;
}

static double figure_noise(const struct figure *f) {
  return f->gross > 0.0 ? 100.0 * (f->high - f->low) / f->gross : 0.0;
}

struct judged {
  double ratio, noise; /* of 1; percent */
  int verdict;
};

static struct judged judge(const struct figure *a, const struct figure *b, double least_noise) {
  struct judged j;
  double noise = fmax(figure_noise(a), figure_noise(b));
  j.ratio = a->gross > 0.0 ? b->gross / a->gross : b->gross > 0.0 ? INFINITY : 1.0;
  j.noise = noise;
  double difference = 100.0 * fabs(j.ratio - 1.0);
  int beyond = difference > fmax(noise, least_noise);
  int apart = a->high < b->low || b->high < a->low;
  if (beyond && apart)
    j.verdict = j.ratio < 1.0 ? verdict_faster : verdict_slower;
  else if (!beyond && (!apart || difference <= least_noise) &&
           noise <= fmax(most_noise, least_noise))
    j.verdict = verdict_same;
  else
    j.verdict = verdict_unclear;
  return j;
}

/* ---- all cells ---- */

enum { most_paths = 64 };
struct tally {
  const char *path;
  int count[verdict_end];
  double log_ratio;
  int ratios; /* cells whose ratio is a number above 0 */
};

struct comparison {
  const struct compare_options *options;
  struct measured m[2];
  struct tally paths[most_paths];
  int path_count, compared, only[2], wrong;
  int begun;       /* something has been printed */
  int heading_row; /* of A, the row whose heading was printed last; -1: none */
};

static struct tally *tally_of(struct comparison *c, const char *path) {
  for (int i = 0; i < c->path_count; ++i)
    if (strcmp(c->paths[i].path, path) == 0) return &c->paths[i];
  if (c->path_count == most_paths) return NULL;
  c->paths[c->path_count].path = path;
  return &c->paths[c->path_count++];
}

static int same_group(const struct measured *m, int row_a, int row_b) {
  for (int i = 0; i < identity_path; ++i)
    if (strcmp(word_of(m, row_a, i), word_of(m, row_b, i)) != 0) return 0;
  return strcmp(result_file_field(&m->file, row_a, m->section),
                result_file_field(&m->file, row_b, m->section)) == 0;
}

/* Not before there is something to say of them. */
static void print_files(struct comparison *c, FILE *out) {
  for (int i = 0; i < 2 && !c->begun; ++i)
    fprintf(out, "%c: %s, %s\n", "AB"[i], c -> m[i].file.name,
            result_file_head(&c->m[i].file, "date"));
  c->begun = 1;
}

static void print_cell(struct comparison *c, int row, const struct figure *f,
                       const struct judged *j, FILE *out) {
  const struct measured *a = &c->m[0];
  print_files(c, out);
  if (c->heading_row < 0 || !same_group(a, c->heading_row, row)) {
    fputc('\n', out);
    for (int i = 0; i < identity_path; ++i)
      fprintf(out, "%s%s %s", i ? ", " : "", identity[i].column, word_of(a, row, i));
    fprintf(out, "\n  %-14s %9s %12s %12s %8s %8s  %s\n", "path", "threshold",
            a->model ? "A clocks*" : "A ms", a->model ? "B clocks*" : "B ms", "ratio", "noise %",
            "verdict");
    c->heading_row = row;
  }
  fprintf(out, "  %-14s %9s %12.*f %12.*f %8.3f %8.1f  %s\n", word_of(a, row, identity_path),
          word_of(a, row, identity_threshold), a->model ? 1 : 4, f[0].gross, a->model ? 1 : 4,
          f[1].gross, j->ratio, j->noise, verdict_names[j->verdict]);
}

static int sums_wrong(const struct measured *m, int row) {
  return strcmp(result_file_field(&m->file, row, m->status), "ERROR") == 0;
}

static int compare_cell(struct comparison *c, int row, int other, FILE *out, FILE *err) {
  struct figure f[2];
  if (read_figure(&c->m[0], row, &f[0], err) || read_figure(&c->m[1], other, &f[1], err)) return 2;
  struct tally *t = tally_of(c, word_of(&c->m[0], row, identity_path));
  if (!t)
    return result_file_fault(&c->m[0].file, 0, "has more paths than this program can tell apart",
                             err);
  if (sums_wrong(&c->m[0], row) || sums_wrong(&c->m[1], other)) {
    ++c->wrong;
    return 0;
  }
  double noise = c->options->noise;
  if (noise < 0.0) noise = c->m[0].model ? 0.0 : default_noise;
  struct judged j = judge(&f[0], &f[1], noise);
  ++c->compared;
  ++t->count[j.verdict];
  if (j.ratio > 0.0 && j.ratio < INFINITY) t->log_ratio += log(j.ratio), ++t->ratios;
  if (!c->options->quiet) print_cell(c, row, f, &j, out);
  return 0;
}

static int wanted(const struct comparison *c, int side, int row) {
  const char *path = c->options->path;
  return !path || strcmp(word_of(&c->m[side], row, identity_path), path) == 0;
}

static int compare_cells(struct comparison *c, FILE *out, FILE *err) {
  for (int row = 0; row < c->m[0].file.row_count; ++row) {
    if (!wanted(c, 0, row)) continue;
    int other = find_cell(&c->m[0], row, &c->m[1]);
    if (other < 0)
      ++c->only[0];
    else if (compare_cell(c, row, other, out, err))
      return 2;
  }
  for (int row = 0; row < c->m[1].file.row_count; ++row)
    if (wanted(c, 1, row) && find_cell(&c->m[1], row, &c->m[0]) < 0) ++c->only[1];
  return 0;
}

static void print_tally(const struct tally *t, FILE *out) {
  int cells = 0;
  for (int v = 1; v < verdict_end; ++v) cells += t->count[v];
  if (cells == 0) return;
  fprintf(out, "  %-14s %6d", t->path, cells);
  for (int v = 1; v < verdict_end; ++v) fprintf(out, " %8d", t->count[v]);
  if (t->ratios)
    fprintf(out, " %11.3f\n", exp(t->log_ratio / t->ratios));
  else
    fprintf(out, " %11s\n", "-");
}

/* Returns the number of slower cells. */
static int print_summary(struct comparison *c, FILE *out) {
  struct tally all;
  int slower = 0;
  memset(&all, 0, sizeof all);
  all.path = "all but none";
  print_files(c, out);
  fprintf(out, "\n  %-14s %6s", "path", "cells");
  for (int v = 1; v < verdict_end; ++v) fprintf(out, " %8s", verdict_names[v]);
  fprintf(out, " %11s\n", "mean ratio");
  for (int i = 0; i < c->path_count; ++i) {
    const struct tally *t = &c->paths[i];
    print_tally(t, out);
    slower += t->count[verdict_slower];
    if (strcmp(t->path, "none") == 0) continue;
    for (int v = 1; v < verdict_end; ++v) all.count[v] += t->count[v];
    all.log_ratio += t->log_ratio;
    all.ratios += t->ratios;
  }
  print_tally(&all, out);
  fprintf(out, "mean ratio: geometric, B over A%s\n",
          c->m[0].model ? "; clocks* are of a *model*" : "");
  if (c->only[0] + c->only[1] + c->wrong > 0)
    fprintf(out, "not compared: %d cells only in A, %d only in B, %d with wrong sums\n", c->only[0],
            c->only[1], c->wrong);
  return slower;
}

static int run(struct comparison *c, FILE *out, FILE *err) {
  const char *const *names = c->options->names;
  if (open_measured(&c->m[0], names[0], err) || open_measured(&c->m[1], names[1], err)) return 2;
  if (c->m[0].model != c->m[1].model)
    return complain(err, names[c->m[1].model], "holds model clocks, the other file times");
  if (check_figures(&c->m[0], err) || check_figures(&c->m[1], err)) return 2;
  warn_of_heads(c->m, err);
  if (compare_cells(c, out, err)) return 2;
  if (c->compared + c->wrong == 0)
    return complain(
        err, c->options->path ? c->options->path : "the files",
        c->options->path ? "no cell of this path is in both files" : "have no cell in common");
  int slower = print_summary(c, out);
  return slower && c->options->fail_if_slower ? 1 : 0;
}

int sweep_compare(int argc, char **argv, FILE *out, FILE *err) {
  struct compare_options options;
  if (read_options(&options, argc, argv, err)) return 2;
  if (options.help) {
    fputs(help_text, out);
    return 0;
  }
  struct comparison *c = (struct comparison *)calloc(1, sizeof *c);
  if (!c) return complain(err, "memory", "there is none left");
  c->options = &options;
  c->heading_row = -1;
  int status = run(c, out, err);
  result_file_free(&c->m[0].file);
  result_file_free(&c->m[1].file);
  free(c);
  return status;
}
