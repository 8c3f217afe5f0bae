/* bench/common: a program's options, in one table. SPDX-License-Identifier: Apache-2.0 */
#include "option_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "program_run.h"

/* By kind: how the help names the value, and what it must be, before the range. */
static const char *const words[][2] = {{"", ""},
                                       {"", "given without a value"},
                                       {" N", "a whole number from "},
                                       {" NAME", "one of "},
                                       {" X", "a number from "},
                                       {" LIST", "a list, such as 1,4-8, of "},
                                       {" WxH", "WIDTHxHEIGHT, such as 640x480, each from "},
                                       {" PATH", "the name of a file or folder"},
                                       {" FILE", "the name of a file"}};

/* "1 to 100", "small, large" or "0 to 33, auto". */
static std::string range_text(const option *o) {
  char numbers[64] = "";
  if (o->low <= o->high) snprintf(numbers, sizeof numbers, "%.10g to %.10g", o->low, o->high);
  std::string text = numbers;
  for (const char *const *name = o->names; name && *name; ++name)
    if (**name) text += (text.empty() ? "" : ", ") + std::string(*name);
  return text;
}

/* Empty where the target holds no value of the range; of a list, the first. */
static std::string default_text(const option *o) {
  const std::vector<int> *list = (const std::vector<int> *)o->target;
  double value = o->low - 1;
  char number[32] = "";
  if (o->kind == OPTION_INT || o->kind == OPTION_NAME) value = *(const int *)o->target;
  if (o->kind == OPTION_REAL) value = *(const float *)o->target;
  if (o->kind == OPTION_LIST && !list->empty()) value = list->front();
  if (value > o->high && o->names) return o->names[(int)(value - o->high) - 1];
  if (value >= o->low && value <= o->high) snprintf(number, sizeof number, "%.7g", value);
  return number;
}

static void print_help(const option *table) {
  const size_t INDENT = 24;
  for (const option *o = table; o->name; ++o) {
    if (o->kind == OPTION_TEXT) puts(o->name);
    if (!o->help || !o->target) continue;
    const std::string range = range_text(o), value = default_text(o);
    std::string text = std::string("  ") + o->name + words[o->kind][0];
    text.resize(INDENT, ' ');
    text += o->help;
    if (!range.empty()) text += (*o->help ? "; " : "") + range;
    if (!value.empty()) text += "; default: " + value;
    print_wrapped(stdout, text, INDENT);
  }
  puts("If an option is given twice, the last one holds.");
}

/* A number or name of the range; *text moves behind it. */
static bool read_number(const option *o, const char **text, double *value) {
  const size_t length = strcspn(*text, ",");
  char *end;
  for (int i = 0; length > 0 && o->names && o->names[i]; ++i)
    if (strlen(o->names[i]) == length && !strncmp(o->names[i], *text, length))
      return *value = o->high + 1 + i, *text += length, true;
  *value = o->kind == OPTION_REAL ? strtod(*text, &end) : (double)strtol(*text, &end, 10);
  const bool found = end != *text && *value >= o->low && *value <= o->high;
  return *text = end, found;
}

/* All of a list, both of a size, or the one. */
static bool read_numbers(const option *o, const char *text, std::vector<double> *values) {
  for (;; ++text) {
    double first, last;
    if (!read_number(o, &text, &first)) return false;
    last = first;
    if (o->kind == OPTION_LIST && *text == '-')
      if (++text, !read_number(o, &text, &last) || last < first || last > o->high) return false;
    for (; first <= last; ++first) values->push_back(first);
    if (*text != (o->kind == OPTION_SIZE ? 'x' : ',')) return *text == '\0';
  }
}

static bool read_value(const option *o, const char *text) {
  std::vector<double> values;
  if (o->kind == OPTION_FLAG) return *(bool *)o->target = true, text[0] == '\0';
  if (o->kind >= OPTION_INPUT) return *(const char **)o->target = text, text[0] != '\0';
  if (!read_numbers(o, text, &values)) return false;
  if (o->kind == OPTION_LIST)
    return ((std::vector<int> *)o->target)->assign(values.begin(), values.end()), true;
  if (values.size() != (o->kind == OPTION_SIZE ? 2u : 1u)) return false;
  if (o->kind == OPTION_REAL) return *(float *)o->target = (float)values[0], true;
  for (size_t i = 0; i < values.size(); ++i) ((int *)o->target)[i] = (int)values[i];
  return true;
}

/* "--width" is not in "--width-step". */
static bool is_in(const char *list, const char *name) {
  for (const char *at = list; (at = strstr(at, name)) != nullptr; ++at)
    if (at[strlen(name)] != '-' && !isalnum((unsigned char)at[strlen(name)])) return true;
  return false;
}

const option *options_given(const option *table, const char *list) {
  for (const option *o = table; o->name; ++o)
    if (o->given && is_in(list, o->name)) return o;
  return nullptr;
}

/* A rule, or an output: it can be written, and has a name of its own. */
static bool check(const option *table, const option *o, error_line *error) {
  const bool rules = o->kind >= OPTION_NEEDS;
  const option *first = rules ? options_given(table, o->name) : nullptr;
  const option *second = rules ? options_given(table, o->help) : nullptr;
  error_line why;
  if (first && second && o->kind == OPTION_WITHOUT)
    return error_set(error, "%s is not for %s; leave it out", first->name, second->name);
  if (first && !second && o->kind == OPTION_NEEDS)
    return error_set(error, "%s is for %s; leave it out", first->name, o->help);
  if (!o->given || o->kind != OPTION_OUTPUT) return true;
  const char *file = *(const char **)o->target;
  for (const option *p = table; p < o; ++p)
    if (p->given && p->kind == OPTION_OUTPUT && !strcmp(*(const char **)p->target, file))
      return error_set(error, "%s and %s name the same file '%.300s'", p->name, o->name, file);
  return output_file_probe(file, &why) || error_set(error, "%s: %s", o->name, why.text);
}

/* What holds of each option that was given more than once. */
static void report_repeated(const option *table) {
  error_line line;
  for (const option *o = table; o->name; ++o) {
    if (!o->again) continue;
    error_set(&line, "%s is given more than once; the last holds: '%.300s'", o->name, o->again);
    fail(0, &line);
  }
}

bool options_read(option *table, int argc, char **argv, error_line *error) {
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) print_help(table), exit(0);
  for (int i = 1; i < argc; ++i) {
    const size_t length = strcspn(argv[i], "=");
    const bool joined = argv[i][length] == '=';
    const char *text = joined ? argv[i] + length + 1 : "";
    option *o = table;
    while (o->name && (!o->target || strncmp(o->name, argv[i], length) || o->name[length])) ++o;
    if (!o->name) return error_set(error, "'%.200s' is not an option; see --help", argv[i]);
    if (!joined && o->kind != OPTION_FLAG && i + 1 == argc)
      return error_set(error, "%s has no value behind it; it must be %s%s", o->name,
                       words[o->kind][1], range_text(o).c_str());
    if (!joined && o->kind != OPTION_FLAG) text = argv[++i];
    if (!read_value(o, text))
      return error_set(error, "%s is '%.100s'; it must be %s%s", o->name, text, words[o->kind][1],
                       range_text(o).c_str());
    if (o->given && o->kind != OPTION_FLAG) o->again = text;
    o->given = true;
  }
  for (const option *o = table; o->name; ++o)
    if (!check(table, o, error)) return false;
  return report_repeated(table), true;
}
