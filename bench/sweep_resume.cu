/* sweep_resume.cu - takes finished groups over from the file of an interrupted sweep.
   SPDX-License-Identifier: Apache-2.0

   Rows stand in the order of the plan, so what is finished is its beginning. A last line that was
   cut off is dropped, and so are the rows of a group that is not whole: it is measured again. */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>

#include "sweep.h"

static char *read_whole(const char *name) {
  FILE *file = fopen(name, "rb");
  char *text = NULL;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    text = size >= 0 ? (char *)calloc((size_t)size + 1, 1) : NULL;
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = '\0';
  }
  fclose(file);
  return text;
}

/* The line of `head` that begins with `key`, up to its end; NULL without one. */
static const char *head_line(const char *head, const char *key, int *length) {
  for (const char *line = head; *line;) {
    size_t size = strcspn(line, "\n");
    if (strncmp(line, key, strlen(key)) == 0) {
      *length = (int)size;
      return line;
    }
    line += size + (line[size] == '\n');
  }
  return NULL;
}

/* What must be the same so that rows may stand in one file. Returns 0, or 2 after a line on `err`
   that names the first difference. */
static int compare_heads(const char *name, const char *old, const char *head, FILE *err) {
  static const char *const keys[] = {
      "# program: ", "# device: ", "# cuda: ",   "# compiler: ", "# cub: ",
      "# policy: ",  "# sizes: ",  "# rigour: ", "# plan: "};
  for (const char *key : keys) {
    int had_length = 0, has_length = 0;
    const char *had = head_line(old, key, &had_length), *has = head_line(head, key, &has_length);
    if (!had && !has) continue; /* the CPU warp has no lines about CUDA */
    if (had && has && had_length == has_length && strncmp(had, has, (size_t)has_length) == 0)
      continue;
    fprintf(err,
            "arc_sweep: --resume: '%s' is of another sweep: it says '%.*s', this one is '%.*s'\n",
            name, had ? had_length : 7, had ? had : "nothing", has ? has_length : 7,
            has ? has : "nothing");
    return 2;
  }
  return 0;
}

static int same_columns(const char *line) {
  char *columns = NULL;
  size_t length = 0;
  FILE *memory = open_memstream(&columns, &length);
  if (!memory) abort();
  sweep_csv_columns(memory);
  fputc('\n', memory);
  fclose(memory);
  int same = strncmp(line, columns, length) == 0;
  free(columns);
  return same;
}

/* Rows in the order of the plan; fills `results` and returns how many, or -1 after a line on `err`
   about one that is damaged and not the last. */
static int read_rows(const char *name, const char *line, const struct sweep_plan *plan,
                     struct sweep_result *results, FILE *err) {
  int count = 0;
  for (; *line; ++count) {
    const char *end = strchr(line, '\n');
    if (!end) break; /* cut off */
    if (count == plan->count || !sweep_csv_read(line, &plan->cell[count], &results[count])) {
      if (!end[1]) break;
      fprintf(err, "arc_sweep: --resume: '%s': row %d is damaged: '%.*s'\n", name, count + 1,
              (int)(end - line), line);
      return -1;
    }
    line = end + 1;
  }
  return count;
}

static int whole_groups(const struct sweep_plan *plan, int count) {
  if (count == plan->count) return count;
  while (count > 0 && sweep_same_group(&plan->cell[count - 1], &plan->cell[count])) --count;
  return count;
}

int sweep_resume(const char *name, const char *head, const struct sweep_plan *plan,
                 struct sweep_result *results, int *restored, FILE *err) {
  char partial[4096];
  snprintf(partial, sizeof partial, "%s.partial", name);
  char *old = read_whole(partial);
  if (old) name = partial;
  if (!old) old = read_whole(name);
  *restored = 0;
  if (!old) return 0; /* nothing yet: the sweep starts at the beginning */
  const char *rows = old;
  while (*rows == '#') rows += strcspn(rows, "\n") + (strchr(rows, '\n') != NULL);
  int status = compare_heads(name, old, head, err);
  if (!status && *rows) {
    if (!same_columns(rows)) {
      fprintf(err, "arc_sweep: --resume: '%s' has other columns\n", name);
      status = 2;
    } else {
      int count = read_rows(name, strchr(rows, '\n') + 1, plan, results, err);
      if (count < 0) status = 2;
      if (count > 0) *restored = whole_groups(plan, count);
    }
  }
  free(old);
  return status;
}
