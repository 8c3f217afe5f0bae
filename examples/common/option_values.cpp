/* arc examples: values of options, from the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"
#include "image_io.h"

bool parse_integer(const char *option, const char *text, int least, int most, int *value,
                   error_line *error) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < least || number > most)
    return error_set(error, "%s is '%.100s'; it must be a whole number from %d to %d", option, text,
                     least, most);
  *value = (int)number;
  return true;
}

bool parse_size(const char *text, int *width, int *height, error_line *error) {
  char *end;
  errno = 0;
  long w = strtol(text, &end, 10);
  bool legal = end != text && *end == 'x';
  const char *second = legal ? end + 1 : text;
  long h = strtol(second, &end, 10);
  legal = legal && end != second && *end == '\0' && errno == 0;
  if (!legal || w < 1 || h < 1 || w > IMAGE_MAX_SIDE || h > IMAGE_MAX_SIDE)
    return error_set(error,
                     "--size is '%.100s'; it must be WIDTHxHEIGHT, such as 640x480, each 1 to %d",
                     text, (int)IMAGE_MAX_SIDE);
  *width = (int)w;
  *height = (int)h;
  return true;
}

bool parse_threshold(const char *text, int *threshold, error_line *error) {
  char *end;
  *threshold = ARC_THRESHOLD_AUTO;
  if (strcmp(text, "auto") == 0) return true;
  long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < 0 || number > 33)
    return error_set(error,
                     "--threshold is '%.100s'; it must be a whole number from 0 to 33, or "
                     "auto",
                     text);
  *threshold = (int)number;
  return true;
}

bool parse_file(const char *option, const char *text, const char **file, error_line *error) {
  if (text[0] == '\0') return error_set(error, "%s is empty; it must name a file", option);
  *file = text;
  return true;
}
