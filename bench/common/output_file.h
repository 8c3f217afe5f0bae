/* bench/common: an output file that is either complete or absent.
   SPDX-License-Identifier: Apache-2.0

   The text goes to FILE.partial beside the wanted FILE; committing renames it. Whatever stops the
   program in between, a file of the wanted name is never half written. Where FILE is a link, the
   file it leads to is replaced; what is there and is no plain file is refused. */
#pragma once

#include <stdio.h>

/* The text as a terminal may have it: a control character, or a byte that is not UTF-8, is written
   as \x1b and the like. Good until the fourth call after it in the same thread. */
const char *printable(const char *text);

/* One line without a newline, ready to print. */
typedef struct error_line {
  char text[2048];
} error_line;

/* Fills the line as printf would, and makes it printable; returns false, so that a function can end
   with it. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool error_set(error_line *error, const char *format, ...);

typedef struct output_file {
  FILE *stream;
  char path[4096];
  char temporary[4096 + 8];
} output_file;

/* False, with the reason, if the path cannot be written: no such folder, a folder, a device, no
   permission. Leaves no file behind and changes none; to be called before long work. */
bool output_file_probe(const char *path, error_line *error);

bool output_file_open(output_file *file, const char *path, error_line *error);
/* Closes, and checks that every byte was written; the temporary stays under its name. */
bool output_file_keep(output_file *file, error_line *error);
/* Keeps and renames. A temporary that is not whole is removed. */
bool output_file_commit(output_file *file, error_line *error);
void output_file_abandon(output_file *file);
