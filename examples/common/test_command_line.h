/* arc examples: runs a program from a test and keeps what it printed.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_TEST_COMMAND_LINE_H
#define EXAMPLES_TEST_COMMAND_LINE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "test_files.h"

enum { TEST_SKIPPED = 77, MOST_ARGUMENTS = 40 };

static const char *program;

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
  int output = open(test_path(".output"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
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

#endif
