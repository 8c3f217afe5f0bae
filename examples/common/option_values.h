/* arc examples: options and their values, from the command line.
   SPDX-License-Identifier: Apache-2.0

   Each returns false, with a line that names the option, the value given and the legal values, if
   the value is not legal. */
#ifndef EXAMPLES_OPTION_VALUES_H
#define EXAMPLES_OPTION_VALUES_H

#include "output_file.h"

/* One option: "--name", "--name value" or "--name=value"; -h is --help. */
typedef struct option_given {
  char name[32];
  const char *value; /* "" where none follows */
  bool joined;       /* by "=" */
  bool last;         /* of the arguments, and not joined */
} option_given;

/* Splits argument i. */
bool option_read(option_given *given, int argc, char **argv, int i, error_line *error);
/* Of an option that takes no value. */
bool option_set_flag(const option_given *given, bool *flag, error_line *error);
/* Of one that takes a value: whether it is known, and its value legal; error is set if it is not.
   Steps i over the value. */
bool option_accept(const option_given *given, bool known, bool legal, int *i, error_line *error);

bool parse_integer(const char *option, const char *text, int least, int most, int *value,
                   error_line *error);

/* One of `names`, of which the last is null. */
bool parse_name(const char *option, const char *text, const char *const *names, int *index,
                error_line *error);

/* WIDTHxHEIGHT, in pixels. */
bool parse_size(const char *text, int *width, int *height, error_line *error);

/* A balancing threshold, or ARC_THRESHOLD_AUTO for "auto". */
bool parse_threshold(const char *text, int *threshold, error_line *error);

bool parse_file(const char *option, const char *text, const char **file, error_line *error);

#endif
