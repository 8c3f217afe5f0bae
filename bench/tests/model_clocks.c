/* model_clocks.c - bench/sweep/model.h: each term of the formula alone.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "bench/sweep/model.h"

static int failures;

static void expect(const char *what, const struct simt_counters *counters, double uncounted_clocks,
                   double expected) {
  double clocks = model_clocks(counters, uncounted_clocks);
  if (clocks >= expected * 0.999999 && clocks <= expected * 1.000001) return;
  printf("%s: %g clocks, must be %g\n", what, clocks, expected);
  ++failures;
}

int main(void) {
  struct simt_counters issue = {0}, memory = {0};
  expect("nothing", &issue, 0, 0.0);
  issue.shuffles = 528;
  expect("a shuffle for each scheduler: its unit is the limit", &issue, 0, 5.0);
  issue.scans = 528;
  issue.votes = issue.matches = issue.redux = issue.warp_syncs = 528;
  expect("one of each: the issue is the limit", &issue, 0, 2.5 + 4 + 8 + 6 + 8 + 1);
  expect("what is not counted is issued", &issue, 528 * 10, 39.5);
  memory.reductions = memory.sectors = 46000;
  expect("requests are the limit", &memory, 0, 1000.0);
  memory.sectors = 112000;
  expect("sectors are the limit", &memory, 0, 2000.0);
  memory.conflicts = 40000;
  expect("sectors and conflicts add up", &memory, 0, 3000.0);
  memory.reductions = 528000;
  expect("a request is issued, too", &memory, 528000.0 * 20, 25500.0);
  printf("model_clocks: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
