/* sweep_check_files.cu - tests of --resume and --json.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>

#include "sweep.h"
#include "sweep_self_check.h"

/* ---- resume ---- */

#define SIZES "--blocks 1 --updates 2 --rows 70 --repeat 1 "
#define AXES "--width 1,2,3,4 --path plain,auto --workload axes,cubemap "
#if SIMT_ON_CPU
static const char whole[] = AXES SIZES "--quiet --csv @";
#endif
static const char interrupted[] = AXES SIZES "--quiet --test-interrupt 3 --csv @";
static const char resumed[] = AXES SIZES "--resume --csv @";
enum { groups = 8, group_rows = 3, kept_groups = 3 };

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

/* s->text from its first row on: what does not depend on the date. */
static char *rows_of(struct self_check *s) {
  char *text = s->text;
  while (*text == '#') text += strcspn(text, "\n") + 1;
  return text;
}

/* Leaves the partial file of a sweep of which `kept_groups` groups are finished, in s->text too. */
static void interrupt_one(struct self_check *s) {
  self_check_forget(s);
  self_check_run(s, interrupted);
  self_check_expect(s, s->run.status == 130, "the exit status must be 130", interrupted);
  self_check_read(s, s->partial);
}

/* Changes the first figure of the file, so that it can be told whether it was taken over. */
static const char *mark_first_row(struct self_check *s) {
  static char marked[64];
  char *at = strstr(s->text, ",none,-,");
  if (!at) abort();
  at += strlen(",none,-,");
  *at = *at == '7' ? '8' : '7';
  snprintf(marked, sizeof marked, ",none,-,%.*s", (int)strcspn(at, ","), at);
  return marked;
}

/* Runs `resumed` on a partial file of that text, and expects a whole file. */
static void expect_resumed(struct self_check *s, const char *about, int taken_over) {
  char words[64];
  int errors;
  write_file(s->partial, s->text);
  self_check_run(s, resumed);
  snprintf(words, sizeof words, "resumed: %d of %d cells", taken_over, groups * group_rows);
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  self_check_expect(s, strstr(s->run.out, words) != NULL, words, about);
  self_check_expect(s, self_check_read(s, s->csv), "the file must be finished", about);
  self_check_expect(s, self_check_rows(s, about, &errors) == groups * group_rows,
                    "the number of rows", about);
}

static void check_whole(struct self_check *s) {
  const char *about = "--resume after an interrupt";
  interrupt_one(s);
  const char *marked = mark_first_row(s);
  expect_resumed(s, about, kept_groups * group_rows);
  self_check_expect(s, strstr(s->text, marked) != NULL, "finished rows must be kept", about);
  about = "--resume of a finished sweep";
  self_check_run(s, resumed);
  self_check_expect(s, s->run.status == 0 && strstr(s->run.out, "24 of 24") != NULL,
                    "all must be taken over", about);
  about = "--resume of nothing";
  self_check_forget(s);
  self_check_run(s, resumed);
  self_check_expect(s, s->run.status == 0 && strstr(s->run.out, " 0 of 24") != NULL,
                    "the sweep must start at the beginning", about);
}

/* A last line or a last group that is cut off is measured again. */
static void check_cut(struct self_check *s) {
  const char *about = "--resume after a crash";
  interrupt_one(s);
  size_t length = strlen(s->text);
  s->text[length - 9] = '\0';
  expect_resumed(s, about, (kept_groups - 1) * group_rows);
  about = "--resume with a damaged last line";
  interrupt_one(s);
  strcat(s->text, "-,axes,4,32,pre\n");
  expect_resumed(s, about, kept_groups * group_rows);
  about = "--resume of a head alone";
  interrupt_one(s);
  rows_of(s)[0] = '\0';
  expect_resumed(s, about, 0);
}

#if SIMT_ON_CPU
/* Blanks the last but one field of each row, worst_error: the order of lanes, and so the rounding,
   changes from launch to launch. */
static void blank_errors(char *row) {
  for (; *row; row += strcspn(row, "\n") + 1) {
    char *end = row + strcspn(row, "\n") - 1;
    while (*end != ',') --end;
    while (*--end != ',') *end = ' ';
  }
}

static int same_but_blanks(const char *a, const char *b) {
  for (;; ++a, ++b) {
    while (*a == ' ') ++a;
    while (*b == ' ') ++b;
    if (*a != *b) return 0;
    if (!*a) return 1;
  }
}

/* Counts are the same in every run, so the file must be too. */
static void check_same(struct self_check *s) {
  const char *about = "a resumed sweep against one that never stopped";
  self_check_forget(s);
  self_check_run(s, whole);
  self_check_read(s, s->csv);
  char *rows = strdup(rows_of(s));
  interrupt_one(s);
  expect_resumed(s, about, kept_groups * group_rows);
  if (!rows) abort();
  blank_errors(rows);
  blank_errors(rows_of(s));
  self_check_expect(s, same_but_blanks(rows, rows_of(s)), "the rows must be the same", about);
  free(rows);
}
#endif

/* Files that must be refused, and left as they are. */
static void expect_refused(struct self_check *s, const char *command, const char *needle) {
  char *before = strdup(s->text);
  write_file(s->partial, s->text);
  self_check_run(s, command);
  self_check_expect(s, s->run.status == 2, "the exit status must be 2", command);
  self_check_expect(s, strstr(s->run.err, needle) != NULL, needle, command);
  self_check_expect(s, self_check_lines(s->run.err) == 1, "the message must be one line", command);
  self_check_expect(s, self_check_read(s, s->partial) && before && !strcmp(before, s->text),
                    "the file must be left as it was", command);
  self_check_expect(s, !self_check_exists(s->csv), "nothing may be written", command);
  free(before);
}

static void check_foreign(struct self_check *s) {
  interrupt_one(s);
  expect_refused(s, AXES SIZES "--seed 2 --resume --csv @", "seed=1");
  expect_refused(s, AXES SIZES "--noise 3 --resume --csv @", "# rigour: ");
  expect_refused(s, "--width 1,2,3 --path plain,auto " SIZES "--resume --csv @", "# plan: ");
  strcpy(strstr(s->text, "# policy: arc ") + strlen("# policy: arc "), "9");
  expect_refused(s, resumed, "# policy: arc ");
  strcpy(s->text, "width,lanes\n9,32\n");
  expect_refused(s, resumed, "another sweep");
  interrupt_one(s);
  strstr(s->text, ",plain,-,")[1] = 'x';
  expect_refused(s, resumed, "row 2 is damaged");
  interrupt_one(s);
  memmove(rows_of(s) + 1, rows_of(s), strlen(rows_of(s)) + 1);
  expect_refused(s, resumed, "other columns");
}

/* ---- JSON ---- */

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\n') ++at;
  return at;
}

/* The end of a string, a number or a word; NULL where there is none. */
static const char *read_scalar(const char *at) {
  static const char *const words[] = {"true", "false", "null"};
  if (*at == '"') {
    for (++at; *at && *at != '"'; ++at)
      if (*at == '\\' && !*++at) return NULL;
    return *at ? at + 1 : NULL;
  }
  for (const char *word : words)
    if (strncmp(at, word, strlen(word)) == 0) return at + strlen(word);
  char *end;
  if (*at != '-' && (*at < '0' || *at > '9')) return NULL;
  strtod(at, &end);
  return end == at ? NULL : end;
}

/* The end of a JSON value; NULL where it is none. */
static const char *read_value(const char *at) {
  if (*at != '{' && *at != '[') return read_scalar(at);
  char close = *at == '{' ? '}' : ']';
  for (at = skip_space(at + 1); *at != close; at = skip_space(at + 1)) {
    if (close == '}') {
      if (*at != '"' || !(at = read_scalar(at)) || *(at = skip_space(at)) != ':') return NULL;
      at = skip_space(at + 1);
    }
    if (!(at = read_value(at))) return NULL;
    at = skip_space(at);
    if (*at == close) break;
    if (*at != ',') return NULL;
  }
  return at + 1;
}

static int count_of(const char *text, const char *needle) {
  int count = 0;
  for (; (text = strstr(text, needle)) != NULL; text += strlen(needle)) ++count;
  return count;
}

static void expect_json(struct self_check *s, const char *about, int cells, const char *complete) {
  static const char *const keys[] = {"\"policy\": \"arc ",   "\"device\": \"", "\"compiler\": \"",
                                     "\"date\": \"",         "\"to_floor\": ", "\"to_floor\": null",
                                     "\"lanes\": \"mixed\"", "\"width\": 9"};
  self_check_expect(s, self_check_read(s, s->json), "there must be a file", about);
  const char *end = read_value(s->text);
  self_check_expect(s, end && strcmp(end, "\n") == 0, "it must be JSON", about);
  self_check_expect(s, count_of(s->text, "\"path\": ") == cells, "the number of cells", about);
  self_check_expect(s, strstr(s->text, complete) != NULL, complete, about);
  for (const char *key : keys) self_check_expect(s, strstr(s->text, key) != NULL, key, about);
  remove(s->json);
}

static void check_json(struct self_check *s) {
  const char *about = "--json";
  self_check_run(s, "--width 9 --lanes mixed,3 --path plain,auto " SIZES "--quiet --json %");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  expect_json(s, about, 6, "\"complete\": true");
  about = "--json, interrupted";
  self_check_run(s, "--width 9 --lanes mixed,3 --path plain,auto " SIZES
                    "--quiet --test-interrupt 1 --json %");
  self_check_expect(s, s->run.status == 130, "the exit status must be 130", about);
  expect_json(s, about, 3, "\"complete\": false");
}

void self_check_files(struct self_check *s) {
  check_whole(s);
  check_cut(s);
#if SIMT_ON_CPU
  check_same(s);
#endif
  check_foreign(s);
  self_check_forget(s);
  check_json(s);
}
