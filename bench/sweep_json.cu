/* sweep_json.cu - all results as one JSON file; README.md has its schema.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

static void write_string(FILE *out, const char *text, size_t length) {
  fputc('"', out);
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x20)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

/* "# key: value" lines become members; "# path X is unavailable: why" one each as well. */
static void write_head(FILE *out, const char *head) {
  const char *separator = "";
  fprintf(out, "  \"head\": {");
  for (const char *line = head; *line;) {
    size_t length = strcspn(line, "\n");
    const char *colon = (const char *)memchr(line, ':', length);
    if (colon && strncmp(line, "# ", 2) == 0) {
      const char *value = colon + 1;
      if (*value == ' ') ++value;
      fprintf(out, "%s\n    ", separator);
      write_string(out, line + 2, (size_t)(colon - line) - 2);
      fprintf(out, ": ");
      write_string(out, value, (size_t)(line + length - value));
      separator = ",";
    }
    line += length + (line[length] == '\n');
  }
  fprintf(out, "\n  },\n");
}

static int is_number(const char *text) {
  char *end;
  strtod(text, &end);
  return *text && !*end;
}

static void write_cell(FILE *out, const struct sweep_result *r) {
  char words[SWEEP_WORDS][SWEEP_WORD_SIZE];
  sweep_cell_words(&r->cell, words);
  fprintf(out, "    {");
  for (int i = 0; i < SWEEP_WORDS; ++i) {
    fprintf(out, "\"%s\": ", sweep_words[i].name);
    if (is_number(words[i]))
      fprintf(out, "%s, ", words[i]);
    else
      fprintf(out, "\"%s\", ", words[i]);
  }
  for (const struct sweep_field *f = sweep_fields(); f->name; ++f) {
    const char *at = (const char *)r + f->offset;
    fprintf(out, "\"%s\": ", f->name);
    if (!f->format)
      fprintf(out, "%d", *(const int *)at);
    else if (isfinite(*(const double *)at))
      fprintf(out, f->format, *(const double *)at);
    else
      fprintf(out, "null");
    fprintf(out, ", ");
  }
  fprintf(out, "\"status\": \"%s\"}", sweep_status(r));
}

static void write_all(FILE *out, const char *head, const struct sweep_results *results,
                      int planned) {
  fprintf(out, "{\n  \"schema\": 1,\n  \"complete\": %s,\n",
          results->count == planned ? "true" : "false");
  write_head(out, head);
  fprintf(out, "  \"cells\": [");
  for (int i = 0; i < results->count; ++i) {
    fprintf(out, "%s\n", i ? "," : "");
    write_cell(out, &results->item[i]);
  }
  fprintf(out, "\n  ]\n}\n");
}

int sweep_json_check(const char *name, FILE *err) {
  char fresh[4096];
  int length = snprintf(fresh, sizeof fresh, "%s.partial", name);
  FILE *out = length < (int)sizeof fresh ? fopen(fresh, "a") : NULL;
  if (!out) {
    fprintf(err, "arc_sweep: --json: cannot write '%.4000s.partial': %s\n", name,
            strerror(length < (int)sizeof fresh ? errno : ENAMETOOLONG));
    return 2;
  }
  fclose(out);
  remove(fresh);
  return 0;
}

int sweep_json_write(const char *name, struct sweep_bench *b, int argc, char **argv,
                     const struct sweep_options *o, const struct sweep_plan *plan,
                     const struct sweep_results *results, FILE *err) {
  char fresh[4096], *head = NULL;
  size_t length = 0;
  snprintf(fresh, sizeof fresh, "%s.partial", name);
  FILE *out = fopen(fresh, "w"), *memory = open_memstream(&head, &length);
  if (!memory) abort();
  sweep_csv_head(memory, b, argc, argv, o, plan);
  fclose(memory);
  int bad = !out;
  if (out) {
    write_all(out, head, results, plan->count);
    bad = ferror(out);
    bad |= fclose(out) != 0;
    if (!bad) bad = rename(fresh, name) != 0;
  }
  if (bad) fprintf(err, "ERROR: --json: writing '%s' failed: %s\n", name, strerror(errno));
  free(head);
  return bad;
}
