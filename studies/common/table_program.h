/* arc studies: a program that prints its table, or writes it to OUT.csv.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../../bench/common/device_describe.h"
#include "device.h"

/* With its head, and the names of its columns. */
static inline bool table_open(output_file *csv, const char *path, const char *columns,
                              error_line *error) {
  if (!output_file_open(csv, path, error)) return false;
  program_write_head(csv->stream);
  device_describe(csv->stream, DEVICE_IN_FILE, 0.0);
  fprintf(csv->stream, "%s\n", columns);
  return true;
}

/* Writes what follows the head of a table. False, with the reason: a result is wrong. */
typedef bool (*table_measure)(FILE *out, error_line *error);

static inline int table_program(const char *name, int argc, char **argv, table_measure measure) {
  error_line error;
  output_file csv;
  if (program_begin(name, argc, argv)) return 0;
  const bool to_file = argc == 2 && argv[1][0] != '-';
  if (argc > 1 && !to_file) return printf("usage: %s [OUT.csv]\n", name), 2;
  if (!has_device(name, &error)) return fail(1, &error);
  if (to_file && !output_file_open(&csv, argv[1], &error)) return fail(1, &error);
  FILE *out = to_file ? csv.stream : stdout;
  catch_interrupts();
  program_write_head(out);
  device_describe(out, DEVICE_IN_FILE, 0.0);
  if (!measure(out, &error)) return to_file ? output_file_abandon(&csv) : (void)0, fail(1, &error);
  if (interrupts) return printf("interrupted\n"), interrupted_status();
  return !to_file || output_file_commit(&csv, &error) ? 0 : fail(1, &error);
}
