/* sweep_self_check.h - what the tests of the program itself share.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_SWEEP_SELF_CHECK_H
#define ARC_BENCH_SWEEP_SELF_CHECK_H

#include <stdio.h>

enum { self_check_text_max = 1 << 21 };

/* One run of the program: its exit status and what it wrote. */
struct run {
  int status;
  char out[self_check_text_max], err[self_check_text_max];
};

struct self_check {
  FILE *out;
  struct run run;
  char csv[4096], partial[4200], json[4096];
  char text[self_check_text_max]; /* of the file read last */
  int checks, failures;
};

void self_check_expect(struct self_check *s, int holds, const char *what, const char *about);
/* Runs a command line; the words are separated by single spaces, @ stands for the CSV file and %
   for the JSON file. */
void self_check_run(struct self_check *s, const char *command);
int self_check_exists(const char *name);
/* Reads a file into s->text; 0 where there is none. */
int self_check_read(struct self_check *s, const char *name);
void self_check_forget(struct self_check *s);
/* Checks comments, head and rows of s->text; returns the number of rows, and of rows whose status
   is ERROR. */
int self_check_rows(struct self_check *s, const char *about, int *errors);
int self_check_lines(const char *text);
/* Paths a sweep without --path measures here, `none` among them. */
int self_check_paths(void);

/* sweep_check_files.cu: --resume, --json */
void self_check_files(struct self_check *s);
/* sweep_check_workloads.cu: what the models draw, floors, presets */
void self_check_workloads(struct self_check *s);

#endif
