/* arc example fit_image: the options of the command line.
   SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/option_values.h"

static const int LARGEST_GAUSSIANS = 10000000;
static const int LARGEST_STEPS = 1000000;
static const double LARGEST_RATE = 1000.0;

const char *fit_way_name(fit_way way) {
  static const char *const names[FIT_WAYS] = {"plain", "butterfly", "default"};
  return names[way];
}

void options_print_help(FILE *stream) {
  fputs(
      "fit_image: fits a picture with 2D Gaussians; the gradients are added up through arc.\n"
      "\n"
      "usage: fit_image [options]\n"
      "\n"
      "  --image FILE       the picture: PPM (P6) or PNG; without it a built-in one\n"
      "  --size WxH         size of the built-in picture, or what to shrink FILE to (box filter)\n"
      "                     default: 1080x1920 or FILE's own; on the CPU warp at most 64x64\n"
      "  --gaussians N      1 to 10000000; default: one for 20 pixels, at most 50000\n"
      "  --steps N          1 to 1000000; default: 500, on the CPU warp 30\n"
      "  --seed N           where the Gaussians start; default: 1\n"
      "  --path NAME        how the backward kernel adds; default: default\n"
      "                       plain       an atomicAdd for every value: what arc replaces\n"
      "                       butterfly   the papers' SW-B\n"
      "                       default     arc as compiled: ARC_PATH, ARC_BALANCE_THRESHOLD\n"
      "  --lr-mean X        learning rates, 0 to 1000; they fall to a tenth over the steps\n"
      "  --lr-scale X         means 0.4 pixels, log scales 0.06,\n"
      "  --lr-angle X         angles 0.06 radians, colours 0.01\n"
      "  --lr-colour X\n"
      "  --out FILE         the fitted picture, .ppm or .png; it appears complete or not at all\n"
      "  --csv FILE         one line for each path run: settings, loss, PSNR, ms per step\n"
      "  --compare-paths    every path from the same start, in one table; fails if the PSNRs\n"
      "                     differ by more than 0.1 dB\n"
      "  --help, -h         this text\n"
      "  --version          the version\n"
      "\n"
      "examples:\n"
      "  fit_image                                          the built-in picture\n"
      "  fit_image --image photo.png --out fitted.png\n"
      "  fit_image --image photo.png --gaussians 50000 --steps 1000 --compare-paths\n"
      "  fit_image --path plain --csv times.csv\n"
      "\n"
      "PSNR is that of the sum of Gaussians before it is clamped to 0..1, over all channels.\n"
      "Ctrl-C stops after the current step and still writes the picture so far (status 130).\n"
      "Status: 0 done, 1 failed, 2 wrong usage or input, 130 interrupted.\n",
      stream);
}

static bool parse_seed(const char *text, unsigned long long *value, error_line *error) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
    return error_set(error, "--seed is '%.100s'; it must be a whole number from 0 to %llu", text,
                     ~0ull);
  return true;
}

static bool parse_rate(const char *option, const char *text, float *value, error_line *error) {
  char *end;
  double number = strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= 0.0 && number <= LARGEST_RATE))
    return error_set(error, "%s is '%.100s'; it must be a number from 0 to %g", option, text,
                     LARGEST_RATE);
  *value = (float)number;
  return true;
}

static bool parse_path(const char *text, fit_way *way, error_line *error) {
  for (int w = 0; w < FIT_WAYS; ++w) {
    if (strcmp(text, fit_way_name((fit_way)w)) != 0) continue;
    *way = (fit_way)w;
    return true;
  }
  return error_set(error, "--path is '%.100s'; it must be plain, butterfly or default", text);
}

/* One option that takes a value; false without a message in *known where there is none such. */
static bool parse_valued(fit_options *o, const char *name, const char *value, bool *known,
                         error_line *error) {
  *known = true;
  if (!strcmp(name, "--image")) return parse_file(name, value, &o->image, error);
  if (!strcmp(name, "--out")) return parse_file(name, value, &o->out, error);
  if (!strcmp(name, "--csv")) return parse_file(name, value, &o->csv, error);
  if (!strcmp(name, "--size")) return parse_size(value, &o->width, &o->height, error);
  if (!strcmp(name, "--seed")) return parse_seed(value, &o->fit.seed, error);
  if (!strcmp(name, "--path")) return parse_path(value, &o->fit.way, error);
  if (!strcmp(name, "--gaussians"))
    return parse_integer(name, value, 1, LARGEST_GAUSSIANS, &o->fit.gaussians, error);
  if (!strcmp(name, "--steps"))
    return parse_integer(name, value, 1, LARGEST_STEPS, &o->fit.steps, error);
  if (!strcmp(name, "--lr-mean")) return parse_rate(name, value, &o->fit.rates[RATE_MEAN], error);
  if (!strcmp(name, "--lr-scale")) return parse_rate(name, value, &o->fit.rates[RATE_SCALE], error);
  if (!strcmp(name, "--lr-angle")) return parse_rate(name, value, &o->fit.rates[RATE_ANGLE], error);
  if (!strcmp(name, "--lr-colour"))
    return parse_rate(name, value, &o->fit.rates[RATE_COLOUR], error);
  *known = false;
  return false;
}

/* What no single option can tell. */
static bool check_together(const fit_options *o, bool path_given, error_line *error) {
  if (o->compare_paths && path_given)
    return error_set(error, "--compare-paths runs every path; leave --path out");
  if (o->out != nullptr && o->csv != nullptr && strcmp(o->out, o->csv) == 0)
    return error_set(error, "--out and --csv name the same file '%.300s'", o->out);
  return true;
}

/* Accepts "--option value" and "--option=value". */
bool options_parse(fit_options *options, int argc, char **argv, error_line *error) {
  bool path_given = false;
  for (int i = 1; i < argc; ++i) {
    option_given given;
    bool known, *flag = nullptr;
    if (!option_read(&given, argc, argv, i, error)) return false;
    if (strcmp(given.name, "--help") == 0) flag = &options->help;
    if (strcmp(given.name, "--compare-paths") == 0) flag = &options->compare_paths;
    if (flag != nullptr) {
      if (!option_set_flag(&given, flag, error)) return false;
      continue;
    }
    bool legal = parse_valued(options, given.name, given.value, &known, error);
    if (!option_accept(&given, known, legal, &i, error)) return false;
    path_given = path_given || strcmp(given.name, "--path") == 0;
  }
  return options->help || check_together(options, path_given, error);
}
