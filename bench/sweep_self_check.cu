/* sweep_self_check.cu - tests of the program itself: options, CSV, result check, interrupts. More
   of them are in sweep_check_files.cu and sweep_check_workloads.cu.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep.h"
#include "sweep_self_check.h"

enum { arguments_max = 40, text_max = self_check_text_max };

void self_check_expect(struct self_check *s, int holds, const char *what, const char *about) {
  ++s->checks;
  if (holds) return;
  ++s->failures;
  fprintf(s->out, "FAILED: %s: %s\n  status %d\n  stderr: %.600s\n", about, what, s->run.status,
          s->run.err);
}

static void read_all(FILE *file, char *text) {
  rewind(file);
  size_t length = fread(text, 1, text_max - 1, file);
  text[length] = '\0';
}

void self_check_run(struct self_check *s, const char *command) {
  char words[1024];
  char *arguments[arguments_max] = {(char *)"arc_sweep"};
  int count = 1;
  snprintf(words, sizeof words, "%s", command);
  for (char *word = strtok(words, " "); word && count < arguments_max; word = strtok(NULL, " "))
    arguments[count++] = strcmp(word, "@") == 0 ? s->csv : strcmp(word, "%") == 0 ? s->json : word;
  FILE *out = tmpfile(), *err = tmpfile();
  if (!out || !err) abort();
  s->run.status = sweep_main(count, arguments, out, err);
  read_all(out, s->run.out);
  read_all(err, s->run.err);
  fclose(out);
  fclose(err);
}

int self_check_exists(const char *name) { return access(name, F_OK) == 0; }

void self_check_forget(struct self_check *s) {
  remove(s->csv);
  remove(s->partial);
  remove(s->json);
}

int self_check_lines(const char *text) {
  int lines = 0;
  for (; *text; ++text) lines += *text == '\n';
  return lines;
}

int self_check_paths(void) {
  int paths = 0;
  for (int path = SWEEP_PATH_NONE; path <= SWEEP_PATH_AUTO; ++path)
    paths += sweep_path_missing(path) == NULL;
  return paths;
}

/* ---- options ---- */

static void check_options(struct self_check *s) {
  static const struct {
    const char *command, *needle;
  } bad[] = {
    {"--widht 9 --csv @", "--widht"},
    {"--width 5 --csv @", "1,2,3,4,6,8"},
    {"--width , --csv @", "--width"},
    {"--lanes 33 --csv @", "0 to 32"},
    {"--lanes 8-4 --csv @", "8-4"},
    {"--shape round --csv @", "prefix, scattered, strided, random, single"},
    {"--keys 0 --csv @", "1 to 1000"},
    {"--layout mixed --csv @", "interleaved, contiguous, random"},
    {"--call both --csv @", "uniform, keyed"},
    {"--threshold 35 --csv @", "0 to 33"},
    {"--threshold -1 --csv @", "0 to 33"},
    {"--path fastest --csv @", "transposed"},
    {"--promise-zeros 2 --csv @", "0, 1"},
    {"--rows 0 --csv @", "--rows"},
    {"--threads 48 --csv @", "multiple of 32"},
    {"--repeat many --csv @", "many"},
    {"--preset quick --csv @", "default, issue, peers"},
    {"--preset peers --workload tile --csv @", "axes"},
    {"--workload tiles --csv @", "hashgrid"},
    {"--workload tile --keys 4 --csv @", "--keys, --layout"},
    {"--workload tile --lanes mixed --csv @", "'mixed'"},
    {"--lanes model --csv @", "'model'"},
    {"--workload cubemap --rows 63 --csv @", "at least 64 rows"},
    {"--noise 0 --csv @", "0.01 to 100"},
    {"--noise small --csv @", "small"},
    {"--cell-ms 0 --csv @", "0.1 to 100000"},
    {"--cache hot --csv @", "warm, cold"},
    {"--energy 2 --csv @", "0 to 1"},
    {"--floors 2 --csv @", "0 to 1"},
    {"--resume --width 1", "--csv FILE"},
    {"--json", "needs a value"},
    {"--json /nowhere/at/all.json --width 1 --quiet --csv @", "/nowhere/at/all.json"},
#if SIMT_ON_CPU
    {"--path plain,cg --csv @", "unavailable: "},
    {"--energy 1 --csv @", "CPU warp"},
#endif
    {"compare A.csv", "compare: "},
    {"--preset default --width 9 --csv @", "axes"},
    {"--path vector --padding 3 --csv @", "multiple of 4"},
    {"--keys 4 --call uniform --csv @", "one key"},
    {"--path plain --threshold 4 --csv @", "serialized"},
    {"--path auto --promise-zeros 1 --threshold 4 --csv @", "auto"},
    {"--csv", "needs a value"},
    {"--csv /nowhere/at/all.csv --width 1 --quiet", "/nowhere/at/all.csv"},
  };
  for (const auto &b : bad) {
    self_check_run(s, b.command);
    self_check_expect(s, s->run.status == 2, "the exit status must be 2", b.command);
    self_check_expect(s, strstr(s->run.err, b.needle) != NULL, b.needle, b.command);
    self_check_expect(s, self_check_lines(s->run.err) == 1, "the message must be one line",
                      b.command);
    self_check_expect(s, !self_check_exists(s->csv) && !self_check_exists(s->partial),
                      "no file may be left", b.command);
  }
}

static void check_help(struct self_check *s) {
  static const char *const options[] = {
      "--width",     "--lanes",      "--shape",         "--keys",     "--layout", "--call",
      "--threshold", "--path",       "--rows",          "--padding",  "--blocks", "--threads",
      "--updates",   "--repeat",     "--seed",          "--preset",   "--csv",    "--quiet",
      "--help",      "--self-check", "--promise-zeros", "--workload", "--noise",  "--cell-ms",
      "--cache",     "--energy",     "--floors",        "--resume",   "--json",   "compare"};
  self_check_run(s, "--help");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", "--help");
  for (const char *option : options)
    self_check_expect(s, strstr(s->run.out, option) != NULL, option, "--help must explain");
}

/* ---- CSV ---- */

int self_check_read(struct self_check *s, const char *name) {
  FILE *file = fopen(name, "r");
  s->text[0] = '\0';
  if (!file) return 0;
  read_all(file, s->text);
  fclose(file);
  return 1;
}

static int count_fields(const char *line, size_t length) {
  int fields = 1;
  for (size_t i = 0; i < length; ++i) fields += line[i] == ',';
  return fields;
}

int self_check_rows(struct self_check *s, const char *about, int *errors) {
  int rows = 0, columns = 0, explained = 0;
  *errors = 0;
  size_t total = strlen(s->text);
  self_check_expect(s, total > 0 && s->text[total - 1] == '\n', "the last row must be whole",
                    about);
  for (const char *line = s->text; *line;) {
    size_t length = strcspn(line, "\n");
    if (strncmp(line, "# column ", 9) == 0) ++explained;
    if (line[0] != '#') {
      int fields = count_fields(line, length);
      if (columns == 0)
        columns = fields;
      else
        ++rows;
      self_check_expect(s, fields == columns, "every row must have as many fields as the head",
                        about);
      *errors += length > 6 && strncmp(line + length - 6, ",ERROR", 6) == 0;
    }
    line += length + (line[length] == '\n');
  }
  self_check_expect(s, columns == explained && columns > 10, "every column must be explained",
                    about);
  return rows;
}

static void check_csv(struct self_check *s) {
  static const char *const keys[] = {"# device: ", "# compiler: ",         "# policy: arc ",
                                     "# date: ",   "# command: arc_sweep", "# sizes: "};
  const char *about = "a small sweep";
  int errors;
  self_check_run(s,
                 "--width 3,10 --lanes 0,5,32,mixed --shape prefix,scattered,strided,random,single "
                 "--keys 1,4,1000 --layout interleaved,contiguous,random --promise-zeros 0,1 "
                 "--blocks 2 --threads 64 --updates 4 --rows 37 --repeat 1 --csv @");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  self_check_expect(s, s->run.err[0] == '\0', "nothing may be reported", about);
  self_check_expect(s, strstr(s->run.out, "transposed") != NULL, "there must be a table", about);
  self_check_expect(s, self_check_read(s, s->csv) && !self_check_exists(s->partial),
                    "the file must be renamed", about);
  int rows = self_check_rows(s, about, &errors);
  /* masks: 2 alike + 2 x 4 + single; keys: 1, 4 in 3 layouts, 1000 */
  self_check_expect(s, rows == 2 * 2 * 11 * 5 * self_check_paths(), "the number of rows", about);
  self_check_expect(s, errors == 0, "no row may be an ERROR", about);
  for (const char *key : keys) self_check_expect(s, strstr(s->text, key) != NULL, key, about);
  for (int path = 1; path < SWEEP_PATH_END; ++path) {
    char words[64];
    snprintf(words, sizeof words, "path %s is unavailable: ", sweep_path_name(path));
    int missing = sweep_path_missing(path) != NULL;
    self_check_expect(s, !strstr(s->text, words) == !missing, words, "the head of the file");
    self_check_expect(s, !strstr(s->run.out, words) == !missing, words, "the head of the table");
  }
  self_check_forget(s);
}

static void check_thresholds(struct self_check *s) {
  const char *about = "thresholds";
  int errors;
  self_check_run(s,
                 "--lanes 7 --keys 1,3 --threshold 0-33,auto "
                 "--path serialized,butterfly,transposed,tree,auto "
                 "--blocks 1 --threads 32 --updates 2 --rows 5 --repeat 1 --quiet --csv @");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", about);
  self_check_expect(s, s->run.out[0] == '\0', "--quiet must print nothing", about);
  self_check_expect(s, self_check_read(s, s->csv), "there must be a file", about);
  self_check_expect(s, self_check_rows(s, about, &errors) == 2 * (1 + 5 * 35), "the number of rows",
                    about);
  self_check_forget(s);
}

/* ---- results ---- */

static void check_errors(struct self_check *s) {
  static const char *const commands[] = {
      "--path plain,broken --blocks 2 --updates 4 --rows 9 --repeat 1 --csv @",
      "--path broken --keys 8 --blocks 2 --updates 4 --rows 9 --repeat 1 --csv @",
      "--path plain --test-wrong-oracle 1 --blocks 2 --updates 4 --rows 9 --repeat 1 --csv @"};
  for (const char *command : commands) {
    int errors;
    self_check_run(s, command);
    self_check_expect(s, s->run.status == 1, "the exit status must be 1", command);
    self_check_expect(s, strncmp(s->run.err, "ERROR: ", 7) == 0, "there must be an ERROR line",
                      command);
    self_check_expect(s, strstr(s->run.out, "sums wrong") != NULL, "the table must say so",
                      command);
    self_check_expect(s, self_check_read(s, s->csv), "there must be a file", command);
    self_check_rows(s, command, &errors);
    self_check_expect(s, errors == 1, "one row must be an ERROR", command);
    self_check_forget(s);
  }
}

static void check_interrupt(struct self_check *s) {
  const char *about = "an interrupted sweep";
  int errors;
  self_check_run(
      s, "--width 1,2,3,4 --blocks 1 --updates 2 --rows 5 --repeat 1 --test-interrupt 2 --csv @");
  self_check_expect(s, s->run.status == 130, "the exit status must be 130", about);
  self_check_expect(s, strstr(s->run.err, ".partial") != NULL, "the message must name the file",
                    about);
  self_check_expect(s, !self_check_exists(s->csv), "the finished file must not exist", about);
  self_check_expect(s, self_check_read(s, s->partial), "the partial file must exist", about);
  self_check_expect(s, self_check_rows(s, about, &errors) == 2 * self_check_paths(),
                    "the number of rows", about);
  self_check_forget(s);
}

static void check_presets(struct self_check *s) {
  self_check_run(s,
                 "--preset issue --blocks 1 --threads 32 --updates 2 --rows 20 --repeat 1 --quiet");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0", "--preset issue");
  self_check_expect(s, strstr(s->run.out, "figures fall short") != NULL, "there must be a verdict",
                    "--preset issue");
  self_check_expect(s, strstr(s->run.out, "not measured") == NULL, "every figure must be measured",
                    "--preset issue");
  self_check_run(s, "--blocks 1 --threads 32 --updates 2 --rows 20 --repeat 1 --padding 1 --quiet");
  self_check_expect(s, s->run.status == 0, "the exit status must be 0",
                    "--preset default, unpadded rows");
}

int sweep_self_check(FILE *out) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(out, "skipped: there is no GPU here\n");
    return 77;
  }
  struct self_check *s = (struct self_check *)calloc(1, sizeof *s);
  const char *base = getenv("TMPDIR");
  char folder[2048];
  snprintf(folder, sizeof folder, "%s/arc_sweep_XXXXXX", base && *base ? base : "/tmp");
  if (!s || !mkdtemp(folder)) {
    fprintf(out, "FAILED: cannot make a folder for temporary files in %s\n", folder);
    free(s);
    return 1;
  }
  s->out = out;
  snprintf(s->csv, sizeof s->csv, "%s/sweep.csv", folder);
  snprintf(s->partial, sizeof s->partial, "%s.partial", s->csv);
  snprintf(s->json, sizeof s->json, "%s/sweep.json", folder);
  check_options(s);
  check_help(s);
  check_csv(s);
  check_thresholds(s);
  check_errors(s);
  check_interrupt(s);
  check_presets(s);
  self_check_files(s);
  self_check_workloads(s);
  self_check_forget(s);
  rmdir(folder);
  fprintf(out, "%d checks, %d failed\n", s->checks, s->failures);
  int status = s->failures != 0;
  free(s);
  return status;
}
