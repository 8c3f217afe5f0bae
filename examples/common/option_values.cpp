/* arc examples: options and their values, from the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"
#include "image_io.h"

bool option_read(option_given *given, int argc, char **argv, int i, error_line *error) {
  const char *word = strcmp(argv[i], "-h") == 0 ? "--help" : argv[i];
  const char *equals = strchr(word, '=');
  size_t length = equals != nullptr ? (size_t)(equals - word) : strlen(word);
  if (strncmp(word, "--", 2) != 0 || length >= sizeof given->name)
    return error_set(error, "'%.200s' is not an option; see --help", word);
  memcpy(given->name, word, length);
  given->name[length] = '\0';
  given->joined = equals != nullptr;
  given->last = !given->joined && i + 1 >= argc;
  given->value = given->joined ? equals + 1 : given->last ? "" : argv[i + 1];
  return true;
}

bool option_set_flag(const option_given *given, bool *flag, error_line *error) {
  if (given->joined) return error_set(error, "%s takes no value", given->name);
  *flag = true;
  return true;
}

bool option_accept(const option_given *given, bool known, bool legal, int *i, error_line *error) {
  if (!known) return error_set(error, "'%s' is not an option; see --help", given->name);
  if (given->last) return error_set(error, "%s needs a value; see --help", given->name);
  if (!given->joined) ++*i;
  return legal;
}

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

bool parse_name(const char *option, const char *text, const char *const *names, int *index,
                error_line *error) {
  char legal[300] = "";
  for (int i = 0; names[i] != nullptr; ++i) {
    if (!strcmp(text, names[i])) return *index = i, true;
    snprintf(legal + strlen(legal), sizeof legal - strlen(legal), "%s%s", i ? ", " : "", names[i]);
  }
  return error_set(error, "%s is '%.100s'; it must be one of %s", option, text, legal);
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
