/* arc examples: values of options, from the command line.
   SPDX-License-Identifier: Apache-2.0

   False, with a line that names the option, what was given and what is legal, if text is not what
   it must be. */
#ifndef EXAMPLES_OPTION_VALUES_H
#define EXAMPLES_OPTION_VALUES_H

#include "output_file.h"

bool parse_integer(const char *option, const char *text, int least, int most, int *value,
                   error_line *error);

/* WIDTHxHEIGHT, in pixels. */
bool parse_size(const char *text, int *width, int *height, error_line *error);

/* A balancing threshold, or ARC_THRESHOLD_AUTO for "auto". */
bool parse_threshold(const char *text, int *threshold, error_line *error);

bool parse_file(const char *option, const char *text, const char **file, error_line *error);

#endif
