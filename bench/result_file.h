/* result_file.h - reads a result file of arc_sweep, column by column name.
   SPDX-License-Identifier: Apache-2.0

   For the programs that read what the sweep has written; C99 and C++. Columns and head lines that
   nobody asks for are let be, so that an old reader takes a new file. A damaged or foreign file is
   one line on `err` that names file, line and what was expected. */
#ifndef ARC_BENCH_RESULT_FILE_H
#define ARC_BENCH_RESULT_FILE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything points into `text`. */
struct result_file {
  const char *name;
  char *text;
  int head_count, column_count, row_count;
  char **head;    /* `key: value`, without the `# ` */
  char **column;  /* names */
  char **field;   /* row_count x column_count */
  int first_line; /* of the rows */
};

static inline int result_file_fault(const struct result_file *f, int line, const char *what,
                                    FILE *err) {
  if (line > 0)
    fprintf(err, "ERROR: %s:%d: %s\n", f->name, line, what);
  else
    fprintf(err, "ERROR: %s: %s\n", f->name, what);
  return 2;
}

static inline void result_file_free(struct result_file *f) {
  free(f->text);
  free(f->head);
  free(f->column);
  free(f->field);
  memset(f, 0, sizeof *f);
}

static inline char *result_file_load(const char *name, size_t *size) {
  size_t capacity = 1 << 16, used = 0, got;
  FILE *file = fopen(name, "rb");
  char *text = file ? (char *)malloc(capacity) : NULL;
  while (text && (got = fread(text + used, 1, capacity - used - 1, file)) > 0) {
    used += got;
    if (capacity - used - 1 > 0) continue;
    char *larger = (char *)realloc(text, capacity *= 2);
    if (!larger) free(text);
    text = larger;
  }
  if (text && ferror(file)) {
    free(text);
    text = NULL;
  }
  if (file) fclose(file);
  if (text) text[used] = '\0';
  *size = used;
  return text;
}

/* Cuts `text` at each `separator`; returns the number of parts. Without `parts` only counts. */
static inline int result_file_cut(char *text, char separator, char **parts) {
  int count = 1;
  if (parts) parts[0] = text;
  for (; *text; ++text) {
    if (*text != separator) continue;
    if (parts) {
      *text = '\0';
      parts[count] = text + 1;
    }
    ++count;
  }
  return count;
}

static inline int result_file_column(const struct result_file *f, const char *name) {
  for (int i = 0; i < f->column_count; ++i)
    if (strcmp(f->column[i], name) == 0) return i;
  return -1;
}

static inline int result_file_head_fault(struct result_file *f, FILE *err) {
  if (f->head_count == 0 || strcmp(f->head[0], "program: arc_sweep") != 0)
    return result_file_fault(f, 0,
                             "is no result file of arc_sweep, whose first line is "
                             "'# program: arc_sweep'",
                             err);
  return 0;
}

static inline int result_file_columns(struct result_file *f, char *line, int number, FILE *err) {
  int count = result_file_cut(line, ',', NULL);
  f->column = (char **)malloc((size_t)count * sizeof *f->column);
  if (!f->column) return result_file_fault(f, 0, "no memory", err);
  result_file_cut(line, ',', f->column);
  for (int i = 0; i < count; ++i) {
    f->column_count = i;
    if (f->column[i][0] == '\0' || result_file_column(f, f->column[i]) >= 0)
      return result_file_fault(f, number, "a column has no name, or that of another one", err);
  }
  f->column_count = count;
  f->first_line = number + 1;
  return 0;
}

static inline int result_file_row(struct result_file *f, char *line, int number, FILE *err) {
  char what[96];
  int count = result_file_cut(line, ',', NULL);
  if (count != f->column_count) {
    snprintf(what, sizeof what, "%d fields where %d columns are named; the file is damaged", count,
             f->column_count);
    return result_file_fault(f, number, what, err);
  }
  result_file_cut(line, ',', f->field + (size_t)f->row_count * (size_t)f->column_count);
  ++f->row_count;
  return 0;
}

static inline int result_file_lines(struct result_file *f, char **line, int count, FILE *err) {
  int i = 0;
  for (; i < count && line[i][0] == '#'; ++i)
    f->head[f->head_count++] = line[i] + (line[i][1] == ' ' ? 2 : 1);
  if (result_file_head_fault(f, err)) return 2;
  if (i == count) return result_file_fault(f, 0, "ends before its columns are named", err);
  if (result_file_columns(f, line[i], i + 1, err)) return 2;
  size_t fields = (size_t)(count - i) * (size_t)f->column_count;
  f->field = (char **)malloc(fields * sizeof *f->field);
  if (!f->field) return result_file_fault(f, 0, "no memory", err);
  for (++i; i < count; ++i)
    if (result_file_row(f, line[i], i + 1, err)) return 2;
  return f->row_count > 0 ? 0 : result_file_fault(f, 0, "holds no cells", err);
}

/* Reads the whole file. Returns 0, or 2 after one line on `err`; then there is nothing to free. */
static inline int result_file_read(struct result_file *f, const char *name, FILE *err) {
  size_t size;
  memset(f, 0, sizeof *f);
  f->name = name;
  f->text = result_file_load(name, &size);
  if (!f->text) {
    fprintf(err, "ERROR: %s: cannot be read: %s\n", name, strerror(errno));
    return 2;
  }
  int bad = 0;
  if (strncmp(f->text, "# program: arc_sweep", 20) != 0)
    bad = result_file_head_fault(f, err);
  else if (strlen(f->text) != size || f->text[size - 1] != '\n')
    bad = result_file_fault(f, 0, "does not end with a whole line; the file is damaged", err);
  if (!bad) {
    f->text[size - 1] = '\0';
    int count = result_file_cut(f->text, '\n', NULL);
    char **line = (char **)malloc((size_t)count * sizeof *line);
    f->head = (char **)malloc((size_t)count * sizeof *f->head);
    bad = !line || !f->head ? result_file_fault(f, 0, "no memory", err) : 0;
    if (!bad) {
      result_file_cut(f->text, '\n', line);
      bad = result_file_lines(f, line, count, err);
    }
    free(line);
  }
  if (bad) result_file_free(f);
  return bad;
}

/* The value of a head line, "" where there is none. */
static inline const char *result_file_head(const struct result_file *f, const char *key) {
  size_t length = strlen(key);
  for (int i = 0; i < f->head_count; ++i)
    if (strncmp(f->head[i], key, length) == 0 && strncmp(f->head[i] + length, ": ", 2) == 0)
      return f->head[i] + length + 2;
  return "";
}

/* "" for a column that the file does not have. */
static inline const char *result_file_field(const struct result_file *f, int row, int column) {
  return column < 0 ? "" : f->field[(size_t)row * (size_t)f->column_count + (size_t)column];
}

/* Returns 0, or 2 after one line on `err`. */
static inline int result_file_number(const struct result_file *f, int row, int column,
                                     double *value, FILE *err) {
  const char *text = result_file_field(f, row, column);
  char *end, what[160];
  *value = strtod(text, &end);
  if (*text != '\0' && *end == '\0') return 0;
  snprintf(what, sizeof what, "column %s: '%.40s' is not a number",
           column < 0 ? "-" : f->column[column], text);
  return result_file_fault(f, f->first_line + row, what, err);
}

/* As result_file_column(), with a line on `err` where the file does not have it. */
static inline int result_file_need(const struct result_file *f, const char *name, int *column,
                                   FILE *err) {
  char what[96];
  *column = result_file_column(f, name);
  if (*column >= 0) return 0;
  snprintf(what, sizeof what, "has no column '%s'", name);
  return result_file_fault(f, 0, what, err);
}

#endif
