/* bench/common: a program's options, in one table. SPDX-License-Identifier: Apache-2.0

     option table[] = {{"spheres: learns spheres from pictures.\n\nusage: spheres [options]\n"},
                       {"--views", OPTION_INT, &views, "to learn from", 1, 100},
                       {"--orbit", OPTION_INT, &orbit, "cameras on a ring", 1, 1000},
                       {"--orbit", OPTION_NEEDS, nullptr, "--draw or --measure"},
                       {OPTIONS_END},
                       {}}; */
#pragma once

#include "output_file.h"

/* By its kind an option's target is */
typedef enum option_kind {
  OPTION_TEXT,   /* none: the name is lines of the help */
  OPTION_FLAG,   /* a bool, set by the name alone */
  OPTION_INT,    /* an int */
  OPTION_NAME,   /* an int, low and high are 0, -1 */
  OPTION_REAL,   /* a float */
  OPTION_LIST,   /* a std::vector<int>, from a list such as 1,4-8 */
  OPTION_SIZE,   /* int[2], from WIDTHxHEIGHT */
  OPTION_INPUT,  /* a const char *, the name of a file or folder */
  OPTION_OUTPUT, /* the same, of a file that can be written */
  /* Rules, without a target: any option of `name` would be ignored, and is refused, */
  OPTION_NEEDS,  /* without one of those in `help` */
  OPTION_WITHOUT /* beside one of them */
} option_kind;

typedef struct option {
  const char *name = nullptr; /* null ends the table */
  option_kind kind = OPTION_TEXT;
  void *target = nullptr;     /* where it holds a legal value, the help calls that the default */
  const char *help = nullptr; /* null: the help leaves it out */
  double low = 0, high = -1;
  const char *const *names = nullptr; /* of high + 1, high + 2, ... to a null; "" is none */
  bool given = false;
  const char *again = nullptr; /* the last value, of an option given more than once */
} option;

#define OPTIONS_END                                                                              \
  "  --help, -h            this text\n  --version             the version\n\nCtrl-C ends after " \
  "the step under way, the third at once. Status: 0 done, 1 failed, 2 wrong\nusage or input, "   \
  "128 + signal interrupted."

/* One that is given and named in the list; null: none is. */
const option *options_given(const option *table, const char *list);

/* Prints --help and exits. False, with one line, at the first thing that is not legal. Of an option
   given more than once the last holds: one line on stderr says which. */
bool options_read(option *table, int argc, char **argv, error_line *error);
