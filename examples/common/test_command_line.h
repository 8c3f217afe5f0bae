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

static const char *program, *output_path; /* where the next run's output goes; null: the folder */
static const command_line_test *tested;

typedef struct outcome {
  int status; /* exit status; -1 for a signal */
  char *output, *errors;
} outcome;

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
  int output = open(output_path != nullptr ? output_path : test_path(".output"),
                    O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int errors = open(test_path(".errors"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
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

/* Ctrl-C, or `kill`, after a second: what is under way ends, status 130. */
static inline void check_interrupted(const char *line, int signal_number) {
  struct timespec pause = {1, 0};
  pid_t child = start(line);
  nanosleep(&pause, nullptr);
  kill(child, signal_number);
  outcome o = finish(child);
  CHECK(o.status == 130, "status %d: %s", o.status, o.errors);
  CHECK(strstr(o.output, "interrupted after ") != nullptr, "output: %s", o.output);
  forget(&o);
}

/* A full disk: no success without the output. */
static inline void check_lost_output(const char *line) {
  output_path = "/dev/full";
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
      strncmp(o.output, "device     ", 11) == 0 && strstr(o.output, "\narc        arc ") != nullptr;
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
  check_lost_output("--help");
  test->anywhere();
  bool can_run = program_can_run();
  if (can_run) check_lost_output(test->small_run);
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
