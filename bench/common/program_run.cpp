/* bench/common: how a program begins and fails, interrupts, progress, the clock, medians.
   SPDX-License-Identifier: Apache-2.0 */
#include "program_run.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "arc_policy.cuh"

/* ---- begin and end -------------------------------------------------------------------------- */

static const char *program_name;
static char **program_words; /* the command, up to a null */

static void check_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return;
  fprintf(stderr, "%s: standard output could not be written; some of it is lost\n", program_name);
  _exit(1);
}

static void out_of_memory(void) {
  fprintf(stderr, "%s: not enough memory on the host for these options\n", program_name);
  _exit(1);
}

/* The signals that interrupt, and how each ends; one that is ignored stays so, as under nohup. */
static void on_signals(void (*handler)(int)) {
  struct sigaction now;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) signal(number, handler);
}

static void end_at_once(int number) {
  static const char text[] = ": interrupted before the first step\n";
  bool told = write(STDERR_FILENO, program_name, strlen(program_name)) > 0 &&
              write(STDERR_FILENO, text, sizeof text - 1) > 0;
  _exit(told ? 128 + number : 1);
}

bool program_begin(const char *name, int argc, char **argv) {
  program_name = name;
  program_words = argv;
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  atexit(check_output);
  std::set_new_handler(out_of_memory);
  on_signals(end_at_once);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--version") != 0) continue;
    printf("%s of arc %s\n", name, ARC_VERSION_STRING);
    return true;
  }
  return false;
}

int fail(int status, const error_line *error) {
  fprintf(stderr, "%s: %s\n", program_name, error->text);
  return status;
}

FILE *text_open(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == nullptr) return nullptr;
  const int first = getc(file);
  if (first != 0xef)
    ungetc(first, file);
  else if (getc(file) != 0xbb || getc(file) != 0xbf)
    rewind(file);
  return file;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The number behind the word that begins a line of one of the kernel's files. */
static double kernel_number(const char *path, const char *word, double missing) {
  char line[256];
  double number = missing;
  FILE *file = fopen(path, "r");
  while (file != nullptr && fgets(line, sizeof line, file) != nullptr)
    if (strncmp(line, word, strlen(word)) == 0) sscanf(line + strlen(word), "%lf", &number);
  if (file != nullptr) fclose(file);
  return number;
}

double memory_left(void) {
  struct rlimit limit;
  const double kilobytes = kernel_number("/proc/meminfo", "MemAvailable:", INFINITY) +
                           kernel_number("/proc/meminfo", "SwapFree:", 0.0);
  const double group = kernel_number("/sys/fs/cgroup/memory.max", "", INFINITY);
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return fmin(fmin(1024.0 * kilobytes, group), limited ? (double)limit.rlim_cur : INFINITY);
}

void memory_limit(void) {
  struct rlimit limit;
  const double most = memory_left() + 1024.0 * kernel_number("/proc/self/status", "VmData:", 0.0);
  if (!isfinite(most) || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY || most < (double)limit.rlim_cur)
    limit.rlim_cur = (rlim_t)most;
  setrlimit(RLIMIT_DATA, &limit);
}

/* ---- tables and text ------------------------------------------------------------------------- */

void program_write_head(FILE *out) {
  char date[32] = "";
  time_t now = time(nullptr);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  fprintf(out, "# program: %s\n# date: %s\n# command:", program_name, date);
  for (char **word = program_words; *word; ++word) fprintf(out, " %s", printable(*word));
  fprintf(out, "\n");
}

void print_wrapped(FILE *out, std::string text, size_t indent) {
  for (size_t space; text.size() > 100; text = std::string(indent, ' ') + text.substr(space + 1)) {
    space = text.rfind(' ', 100);
    fprintf(out, "%s\n", text.substr(0, space).c_str());
  }
  fprintf(out, "%s\n", text.c_str());
}

std::string threshold_word(int threshold) {
  if (threshold < 0) return "-";
  return threshold == ARC_THRESHOLD_AUTO ? "auto" : std::to_string(threshold);
}

/* ---- interrupts and progress ---------------------------------------------------------------- */

volatile sig_atomic_t interrupts = 0;

static volatile sig_atomic_t first_signal = SIGINT;
static void (*volatile also_do)(int);

static void on_interrupt(int number) {
  if (interrupts == 0) first_signal = number;
  interrupts = interrupts + 1;
  if (also_do != nullptr)
    also_do(number);
  else if (interrupts == 2)
    on_signals(SIG_DFL);
}

int interrupted_status(void) { return 128 + first_signal; }

void catch_interrupts(void (*also)(int)) {
  also_do = also;
  on_signals(on_interrupt);
  signal(SIGPIPE, SIG_IGN);
}

static double first_done, first_second; /* of this progress; the second is 0 before it */
static bool shown;

/* " 40 %, 1:05 left  " where the text says "4 of 10"; the time once there is a pace. */
static std::string share_of(const char *text) {
  double done, total;
  const char *number = strstr(text, " of ");
  while (number > text && isdigit((unsigned char)number[-1])) --number;
  if (!number || sscanf(number, "%lf of %lf", &done, &total) < 2 || total < 1.0) return "";
  const double now = seconds_now();
  if (first_second == 0.0 || done < first_done) first_done = done, first_second = now;
  char share[64], left[32] = "";
  const double rest = (now - first_second) / (done - first_done) * (total - done);
  if (done > first_done)
    snprintf(left, sizeof left, ", %.0f:%02.0f left", floor(rest / 60), floor(fmod(rest, 60)));
  snprintf(share, sizeof share, "%3.0f %%%s  ", 100.0 * done / total, left);
  return share;
}

bool progress_due(void) {
  static double next = 0.0;
  double now = seconds_now();
  if (!isatty(STDERR_FILENO) || now < next) return false;
  next = now + 0.2;
  return true;
}

void progress_line(const char *format, ...) {
  char text[256];
  struct winsize terminal;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0;
  const std::string line = share_of(text) + text;
  fprintf(stderr, "\r%.*s\033[K", known ? terminal.ws_col - 1 : 79, line.c_str());
  shown = true;
}

void progress_hide(void) {
  if (shown) fprintf(stderr, "\r\033[K");
  shown = false;
}

void progress_clear(void) {
  progress_hide();
  first_second = 0.0;
}

/* ---- clock and medians ---------------------------------------------------------------------- */

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

float median(float *values, int count) {
  std::sort(values, values + count);
  return 0.5f * (values[(count - 1) / 2] + values[count / 2]);
}
