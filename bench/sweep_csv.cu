/* sweep_csv.cu - result files: what the columns are, head, rows, and rows read again.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sweep.h"

/* ---- columns ---- */

const struct sweep_word sweep_words[SWEEP_WORDS] = {
    {"section", "part of the preset that asked for the cell, - without"},
    {"workload", "model that draws lanes and keys; axes: the columns lanes to call do"},
    {"width", "values per update"},
    {"lanes", "active lanes; mixed: half of the updates 1-4, half 1-32; model: the workload's"},
    {"shape", "which lanes are active"},
    {"keys", "different keys per warp; 0: the workload's"},
    {"layout", "which lanes share a key; model: the workload's"},
    {"call", "uniform: one key per block; keyed: keys drawn by every warp"},
    {"zeros", "1: inactive lanes hold zeros, and arc is promised so; 0: garbage"},
    {"path", "what adds; none: nothing, the base of net"},
    {"threshold", "balancing threshold; auto: arc's own; -: the path has none"},
};

#define FIELD(member) offsetof(struct sweep_result, member)
static const struct sweep_field fields[] = {
#if SIMT_ON_CPU
    {"model_gross", "*model* clocks of the whole chip per 1000 warp updates, never a time",
     FIELD(gross), "%.6g"},
    {"model_net", "model_gross minus that of none", FIELD(net), "%.6g"},
    {"net_to_plain", "model_net over the plain path's, empty without it", FIELD(to_plain), "%.5g"},
    {"shuffles", "shuffle instructions per warp and update", FIELD(shuffles), "%.6g"},
    {"votes", "vote instructions, likewise", FIELD(votes), "%.6g"},
    {"matches", "match instructions, likewise", FIELD(matches), "%.6g"},
    {"scans", "population counts, bit scans and reversals, likewise", FIELD(scans), "%.6g"},
    {"requests", "reduction instructions on memory, likewise", FIELD(reductions), "%.6g"},
    {"lane_adds", "floats added to memory, likewise", FIELD(lane_adds), "%.6g"},
    {"sectors", "32-byte sectors touched, likewise", FIELD(sectors), "%.6g"},
    {"conflicts", "lanes on an address that their instruction had hit already, likewise",
     FIELD(conflicts), "%.6g"},
    {"model_floor", "of model_gross: what the model's ceilings allow", FIELD(floor), "%.6g"},
    {"to_floor", "model_gross over model_floor", FIELD(to_floor), "%.5g"},
#else
    {"gross_ms", "the whole kernel, median of the launches", FIELD(gross), "%.6f"},
    {"net_ms", "gross_ms minus that of none", FIELD(net), "%.6f"},
    {"net_to_plain", "net_ms over the plain path's, empty without it", FIELD(to_plain), "%.5g"},
    {"low_ms", "fastest launch", FIELD(low), "%.6f"},
    {"quartile_low_ms", "lower quartile", FIELD(quartile_low), "%.6f"},
    {"quartile_high_ms", "upper quartile", FIELD(quartile_high), "%.6f"},
    {"high_ms", "slowest launch", FIELD(high), "%.6f"},
    {"launches", "timed launches", FIELD(launches), NULL},
    {"registers", "per thread", FIELD(registers), NULL},
    {"local_bytes", "local memory per thread", FIELD(local_bytes), NULL},
    {"floor_ms", "of gross_ms: what the measured ceilings allow", FIELD(floor), "%.6f"},
    {"to_floor", "gross_ms over floor_ms", FIELD(to_floor), "%.5g"},
    {"clock_mhz", "multiprocessor clock right after the group", FIELD(clock_mhz), "%.0f"},
    {"energy_nj_per_update", "of the whole GPU, per warp update, gross; empty: not measured",
     FIELD(energy_nj), "%.5g"},
#endif
    {"worst_error", "largest error of a sum as a fraction of its bound", FIELD(worst_error),
     "%.3g"},
    {NULL, NULL, 0, NULL},
};
#undef FIELD
static const char status_meaning[] = "ok; ERROR: some sums are wrong; -: nothing is added";

const struct sweep_field *sweep_fields(void) { return fields; }

static void number_word(char *word, int number) { snprintf(word, SWEEP_WORD_SIZE, "%d", number); }

void sweep_cell_words(const struct sweep_cell *c, char words[SWEEP_WORDS][SWEEP_WORD_SIZE]) {
  snprintf(words[0], SWEEP_WORD_SIZE, "%c", c->section);
  snprintf(words[1], SWEEP_WORD_SIZE, "%s", sweep_workload_name(c->workload));
  number_word(words[2], c->width);
  if (c->lanes >= 0)
    number_word(words[3], c->lanes);
  else
    snprintf(words[3], SWEEP_WORD_SIZE, "%s", c->lanes == SWEEP_LANES_MIXED ? "mixed" : "model");
  snprintf(words[4], SWEEP_WORD_SIZE, "%s", sweep_shape_name(c->shape));
  number_word(words[5], c->keys);
  snprintf(words[6], SWEEP_WORD_SIZE, "%s", sweep_layout_name(c->layout));
  snprintf(words[7], SWEEP_WORD_SIZE, "%s", sweep_call_name(c->call));
  number_word(words[8], c->zeros);
  snprintf(words[9], SWEEP_WORD_SIZE, "%s", sweep_path_name(c->path));
  if (c->threshold == SWEEP_THRESHOLD_UNUSED || c->threshold == SWEEP_THRESHOLD_DEFAULT)
    snprintf(words[10], SWEEP_WORD_SIZE, "%s",
             c->threshold == SWEEP_THRESHOLD_UNUSED ? "-" : "auto");
  else
    number_word(words[10], c->threshold);
}

const char *sweep_status(const struct sweep_result *r) {
  return r->wrong ? "ERROR" : r->cell.path == SWEEP_PATH_NONE ? "-" : "ok";
}

/* ---- head ---- */

/* Tells sweeps with other axes apart. */
static unsigned fingerprint(const struct sweep_plan *plan) {
  unsigned hash = 2166136261u;
  for (int i = 0; i < plan->count; ++i) {
    char words[SWEEP_WORDS][SWEEP_WORD_SIZE];
    sweep_cell_words(&plan->cell[i], words);
    for (int w = 0; w < SWEEP_WORDS; ++w)
      for (const char *c = words[w];; ++c) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
        if (!*c) break;
      }
  }
  return hash;
}

void sweep_csv_head(FILE *out, struct sweep_bench *b, int argc, char **argv,
                    const struct sweep_options *o, const struct sweep_plan *plan) {
  const struct sweep_sizes *s = &o->sizes;
  const struct sweep_rigour *r = &o->rigour;
  char date[32] = "";
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  fprintf(out, "# program: arc_sweep\n# date: %s\n# command:", date);
  for (int i = 0; i < argc; ++i) fprintf(out, " %s", argv[i]);
  fprintf(out, "\n");
  sweep_bench_describe(b, out, "# ");
  fprintf(out, "# sizes: blocks=%d threads=%d updates=%d rows=%d padding=%d repeat=%d seed=%d\n",
          s->blocks, s->threads, s->updates, s->rows, s->padding, r->repeat, s->seed);
  fprintf(out, "# rigour: noise=%g%% cell_ms=%g cache=%s energy=%d floors=%d\n", r->noise_percent,
          r->cell_ms, r->cold ? "cold" : "warm", r->energy, o->floors);
  fprintf(out, "# plan: %d cells, fingerprint %08x\n", plan->count, fingerprint(plan));
}

void sweep_csv_columns(FILE *out) {
  for (int i = 0; i < SWEEP_WORDS; ++i) fprintf(out, "%s,", sweep_words[i].name);
  for (const struct sweep_field *f = fields; f->name; ++f) fprintf(out, "%s,", f->name);
  fprintf(out, "status");
}

static void explain_columns(FILE *out) {
  for (int i = 0; i < SWEEP_WORDS; ++i)
    fprintf(out, "# column %s: %s\n", sweep_words[i].name, sweep_words[i].meaning);
  for (const struct sweep_field *f = fields; f->name; ++f)
    fprintf(out, "# column %s: %s\n", f->name, f->meaning);
  fprintf(out, "# column status: %s\n", status_meaning);
}

/* ---- rows ---- */

void sweep_csv_row(struct sweep_csv *csv, const struct sweep_result *r) {
  char words[SWEEP_WORDS][SWEEP_WORD_SIZE];
  sweep_cell_words(&r->cell, words);
  for (int i = 0; i < SWEEP_WORDS; ++i) fprintf(csv->file, "%s,", words[i]);
  for (const struct sweep_field *f = fields; f->name; ++f) {
    const char *at = (const char *)r + f->offset;
    if (!f->format)
      fprintf(csv->file, "%d", *(const int *)at);
    else if (!isnan(*(const double *)at))
      fprintf(csv->file, f->format, *(const double *)at);
    fputc(',', csv->file);
  }
  fprintf(csv->file, "%s\n", sweep_status(r));
  fflush(csv->file);
}

/* The next field of a row, up to a comma or the end of the line, in `text`. */
static int next_field(const char **line, char *text, size_t size) {
  size_t length = strcspn(*line, ",\n");
  if (length >= size) return 0;
  memcpy(text, *line, length);
  text[length] = '\0';
  *line += length;
  if (**line == ',') ++*line;
  return 1;
}

static int read_field(const char *text, const struct sweep_field *f, struct sweep_result *r) {
  char *at = (char *)r + f->offset, *end;
  double value = text[0] ? strtod(text, &end) : NAN;
  if (text[0] && *end) return 0;
  if (f->format)
    *(double *)at = value;
  else if (isnan(value))
    return 0;
  else
    *(int *)at = (int)value;
  return 1;
}

int sweep_csv_read(const char *line, const struct sweep_cell *c, struct sweep_result *r) {
  char words[SWEEP_WORDS][SWEEP_WORD_SIZE], text[64];
  memset(r, 0, sizeof *r);
  r->cell = *c;
  sweep_cell_words(c, words);
  for (int i = 0; i < SWEEP_WORDS; ++i)
    if (!next_field(&line, text, sizeof text) || strcmp(text, words[i]) != 0) return 0;
  for (const struct sweep_field *f = fields; f->name; ++f)
    if (!next_field(&line, text, sizeof text) || !read_field(text, f, r)) return 0;
  if (!next_field(&line, text, sizeof text) || *line != '\n') return 0;
  r->wrong = strcmp(text, "ERROR") == 0; /* how many is not in the file */
  return strcmp(text, sweep_status(r)) == 0;
}

/* ---- files ---- */

static int cannot_write(const char *name, FILE *err) {
  fprintf(err, "arc_sweep: --csv: cannot write '%s': %s\n", name, strerror(errno));
  return 2;
}

/* Head and rows taken over go to a third file first, so that a crash loses nothing. */
static int begin_file(struct sweep_csv *csv, const char *head, const struct sweep_result *results,
                      int restored, FILE *err) {
  char fresh[sizeof csv->partial + 8];
  snprintf(fresh, sizeof fresh, "%s.new", csv->partial);
  csv->file = fopen(fresh, "w");
  if (!csv->file) return cannot_write(fresh, err);
  fputs(head, csv->file);
  if (restored) fprintf(csv->file, "# resumed: after %d cells\n", restored);
  explain_columns(csv->file);
  sweep_csv_columns(csv->file);
  fputc('\n', csv->file);
  for (int i = 0; i < restored; ++i) sweep_csv_row(csv, &results[i]);
  if (!fflush(csv->file) && !rename(fresh, csv->partial)) return 0;
  int status = cannot_write(csv->partial, err);
  fclose(csv->file);
  csv->file = NULL;
  remove(fresh);
  return status;
}

int sweep_csv_open(struct sweep_csv *csv, struct sweep_bench *b, int argc, char **argv,
                   const struct sweep_options *o, const struct sweep_plan *plan,
                   struct sweep_result *results, int *restored, FILE *err) {
  char *head = NULL;
  size_t length = 0;
  memset(csv, 0, sizeof *csv);
  *restored = 0;
  csv->name = o->csv;
  if (snprintf(csv->partial, sizeof csv->partial, "%s.partial", o->csv) >=
      (int)sizeof csv->partial) {
    fprintf(err, "arc_sweep: --csv: the file name is too long\n");
    return 2;
  }
  FILE *memory = open_memstream(&head, &length);
  if (!memory) abort();
  sweep_csv_head(memory, b, argc, argv, o, plan);
  fclose(memory);
  int status = o->resume ? sweep_resume(o->csv, head, plan, results, restored, err) : 0;
  if (!status) status = begin_file(csv, head, results, *restored, err);
  free(head);
  return status;
}

int sweep_csv_close(struct sweep_csv *csv, int finished, FILE *err) {
  int bad = ferror(csv->file);
  bad |= fclose(csv->file);
  if (!bad && finished) bad = rename(csv->partial, csv->name);
  if (bad) fprintf(err, "ERROR: writing '%s' failed: %s\n", csv->partial, strerror(errno));
  return bad != 0;
}
