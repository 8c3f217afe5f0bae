/* arc examples: interrupts, the clock, medians.
   SPDX-License-Identifier: Apache-2.0 */
#include "program_run.h"

#include <stdlib.h>
#include <time.h>

volatile sig_atomic_t interrupted = 0;

static void on_interrupt(int signal_number) {
  interrupted = 1;
  signal(signal_number, SIG_DFL); /* a second Ctrl-C ends the program at once */
}

void catch_interrupts(void) {
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
}

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

float median(float *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return 0.5f * (values[(count - 1) / 2] + values[count / 2]);
}
