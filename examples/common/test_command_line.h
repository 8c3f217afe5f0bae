/* arc examples: runs a program from a test and keeps what it printed.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_TEST_COMMAND_LINE_H
#define EXAMPLES_TEST_COMMAND_LINE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "test_files.h"

enum { MOST_ARGUMENTS = 40 };

/* What a test says of its program. */
typedef struct command_line_test {
  const char *name;        /* of the test */
  const char *prefix;      /* of every line of complaint: "fit_image: " */
  const char *small_run;   /* a run that succeeds wherever there is a device */
  bool talks_first;        /* prints something before it reads its inputs */
  void (*anywhere)(void);  /* the checks that need none, */
  void (*on_device)(void); /* and those that do */
} command_line_test;

static const char *program;
static const char *output_path; /* where the next run's output goes: null: to .output of the folder,
                                   "|": to a pipe that nobody reads */
static int error_file = -1;     /* and its errors; -1: to .errors of the folder */
static const command_line_test *tested;

typedef struct outcome {
  int status; /* exit status; -1 for a signal */
  char *output, *errors;
} outcome;

static inline int open_output(void) {
  int ends[2];
  if (output_path == nullptr || output_path[0] != '|')
    return open(output_path != nullptr ? output_path : test_path(".output"),
                O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (pipe(ends) != 0) return -1;
  close(ends[0]);
  return ends[1];
}

/* Starts the program with arguments parted by spaces; @ stands for the test's folder. */
static inline pid_t start(const char *line) {
  char text[4096], *arguments[MOST_ARGUMENTS];
  size_t length = 0;
  int count = 1;
  for (const char *c = line; *c != '\0' && length < sizeof text - 256; ++c) {
    if (*c == '@') length += (size_t)snprintf(text + length, 256, "%s", test_folder);
    if (*c != '@') text[length++] = *c;
  }
  text[length] = '\0';
  for (char *word = strtok(text, " "); word != nullptr && count < MOST_ARGUMENTS - 1;
       word = strtok(nullptr, " "))
    arguments[count++] = strcmp(word, "''") == 0 ? (char *)"" : word;
  arguments[0] = (char *)program;
  arguments[count] = nullptr;
  fflush(stdout);
  pid_t child = fork();
  if (child != 0) return child;
  int output = open_output();
  int errors =
      error_file >= 0 ? error_file : open(test_path(".errors"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(program, arguments);
  _exit(126);
}

static inline outcome finish(pid_t child) {
  outcome o;
  int status = 0;
  size_t size;
  waitpid(child, &status, 0);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  o.output = test_read_file(test_path(".output"), &size);
  o.errors = test_read_file(test_path(".errors"), &size);
  return o;
}

static inline outcome run(const char *line) { return finish(start(line)); }

static inline void forget(outcome *o) {
  free(o->output);
  free(o->errors);
}

static inline int lines_in(const char *text) {
  int lines = 0;
  for (; *text != '\0'; ++text) lines += *text == '\n';
  return lines;
}

/* One line with this part in it, this status, no new file; and no output, but for a program that
   talks first. */
static inline void check_wrong(const char *line, int status, const char *part) {
  int files = test_folder_files(false);
  outcome o = run(line);
  CHECK(o.status == status, "%s: status %d: %s", line, o.status, o.errors);
  CHECK(strncmp(o.errors, tested->prefix, strlen(tested->prefix)) == 0 && lines_in(o.errors) == 1,
        "%s: not one line: %s", line, o.errors);
  CHECK(strstr(o.errors, part) != nullptr, "%s: lacks '%s': %s", line, part, o.errors);
  CHECK(tested->talks_first || o.output[0] == '\0', "%s: printed %s", line, o.output);
  files = test_folder_files(false) - files;
  CHECK(files == 0, "%s: left %d files", line, files);
  forget(&o);
}

/* A file is no terminal: no progress line, nothing on the error stream. */
static inline void check_right(const char *line, int status, const char *part) {
  outcome o = run(line);
  CHECK(o.status == status, "%s: status %d: %s", line, o.status, o.errors);
  CHECK(o.errors[0] == '\0', "%s: errors %s", line, o.errors);
  CHECK(strstr(o.output, part) != nullptr, "%s: lacks '%s': %s", line, part, o.output);
  CHECK(strchr(o.output, '\r') == nullptr, "%s: a progress line in a file", line);
  forget(&o);
}

static inline double test_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the file of the test's folder is there and holds the text. */
static inline bool file_holds(const char *name, const char *text) {
  size_t size;
  char *bytes = test_read_file(test_path(name), &size);
  bool holds = access(test_path(name), F_OK) == 0 && strstr(bytes, text) != nullptr;
  free(bytes);
  return holds;
}

/* Waits until it does, for so many seconds at most. */
static inline void wait_for(const char *name, const char *text, double seconds) {
  double begin = test_seconds();
  while (!file_holds(name, text) && test_seconds() < begin + seconds) usleep(2000);
  CHECK(file_holds(name, text), "%s lacks '%s' after %.1f s", name, text, seconds);
}

/* Signals, once the output holds `after`: the file is there soon (null: none is), and at the end the
   program has said this. Status 130. Returns the seconds from signal to end. The limits are those of
   a machine that eight tests share; who is deaf to signals takes minutes. */
static inline double check_interrupted(const char *line, const char *after, int first, int second,
                                       const char *file, const char *part) {
  remove(test_path(".output"));
  pid_t child = start(line);
  wait_for(".output", after, 30.0);
  kill(child, first);
  if (second == first) usleep(2000); /* else the two may be one */
  if (second != 0) kill(child, second);
  const double begin = test_seconds();
  if (file != nullptr) wait_for(file, "", 10.0);
  outcome o = finish(child);
  const double seconds = test_seconds() - begin;
  CHECK(o.status == 130, "%s: status %d: %s", line, o.status, o.errors);
  CHECK(strstr(o.output, part) != nullptr || strstr(o.errors, part) != nullptr,
        "%s: lacks '%s': %s%s", line, part, o.output, o.errors);
  forget(&o);
  return seconds;
}

/* On a terminal there is a line of progress, that holds this and is cleared. */
static inline void check_progress(const char *line, const char *part) {
  char shown[4096];
  size_t length = 0;
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0, "no terminal");
  error_file = open(ptsname(terminal), O_WRONLY | O_NOCTTY);
  pid_t child = start(line);
  close(error_file);
  error_file = -1;
  /* The terminal's end is an error: nobody has it open. */
  for (ssize_t got = 1; got > 0 && length<sizeof shown - 1; length += got> 0 ? got : 0)
    got = read(terminal, shown + length, sizeof shown - 1 - length);
  shown[length] = '\0';
  outcome o = finish(child);
  close(terminal);
  CHECK(o.status == 0, "%s: status %d: %s", line, o.status, shown);
  CHECK(strstr(shown, part) != nullptr && strchr(shown, '\n') == nullptr, "%s: lacks '%s': %s",
        line, part, shown);
  CHECK(length >= 4 && strcmp(shown + length - 4, "\r\033[K") == 0, "not cleared: %s", shown);
  forget(&o);
}

/* No success without the output. */
static inline void check_lost_output(const char *path, const char *line) {
  output_path = path;
  outcome o = run(line);
  output_path = nullptr;
  CHECK(o.status == 1 && lines_in(o.errors) == 1 && strstr(o.errors, "standard output"),
        "%s: output lost: status %d, %s", line, o.status, o.errors);
  forget(&o);
}

static inline bool program_can_run(void) {
  outcome o = run(tested->small_run);
  bool no_device = strstr(o.errors, "no CUDA device") != nullptr;
  if (no_device) CHECK(o.status == 1 && lines_in(o.errors) == 1, "status %d", o.status);
  if (!no_device) CHECK(o.status == 0, "status %d: %s", o.status, o.errors);
  bool says_on_what =
      strncmp(o.output, "device     ", 11) == 0 && strstr(o.output, "\npolicy     arc ") != nullptr;
  if (!no_device) CHECK(says_on_what, "lacks device and policy: %s", o.output);
  forget(&o);
  return !no_device;
}

/* The program to test is the only argument. */
static inline int command_line_main(int argc, char **argv, const command_line_test *test) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
    return 2;
  }
  program = argv[1];
  tested = test;
  CHECK(test_folder_make(), "cannot make the folder %s", test_folder);
  check_right("--version", 0, " of arc ");
  check_right("-h", 0, "\n  --version ");
  check_lost_output("/dev/full", "--help");
  test->anywhere();
  bool can_run = program_can_run();
  if (can_run) check_lost_output("|", test->small_run);
  if (can_run) test->on_device();
  remove(test_path(".output"));
  remove(test_path(".errors"));
  test_folder_remove();
  if (!can_run && test_failures == 0) {
    printf("%s: runs skipped, no CUDA device\n", test->name);
    return TEST_SKIPPED;
  }
  return test_end(test->name);
}

#endif
