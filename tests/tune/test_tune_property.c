/* test_tune_property.c - the tuner under any order of calls.
   SPDX-License-Identifier: Apache-2.0

   Each case draws a configuration, legal or not, and some thousand calls with good, late, repeated,
   forged and missing tickets and times that are no times. Whatever happens, the policy is of the
   configured list, and afterwards a tuning with plain times still ends. Build with
   ARC_SANITIZE=address,undefined to see reads out of bounds. */
#include "tune_check.h"

static unsigned long long seed;

static int below(int bound) { return check_below(&seed, bound); }

static double draw_time(void) {
  static const char *const odd[] = {"nan",   "inf",   "-inf", "-5",   "0",    "1e-300",
                                    "1e300", "0.001", "1e12", "2e-3", "1e11", "1"};
  return below(3) ? 100.0 + below(100) : strtod(odd[below(12)], NULL);
}

static arc_tune_config draw_config(void) {
  arc_tune_config c = arc_tune_config_default();
  c.paths = 1 + below(ARC_TUNE_MAX_PATHS);
  for (int i = 0; i < c.paths; ++i) {
    c.path[i].path = 1 + below(12);
    c.path[i].uses_threshold = below(3);
  }
  c.thresholds = 0;
  for (int threshold = 0, density = 1 + below(4); threshold <= ARC_THRESHOLD_NEVER; ++threshold)
    if (below(4) < density) c.threshold[c.thresholds++] = threshold;
  const arc_tune_path *start = &c.path[below(c.paths)];
  c.start_path = start->path;
  if (start->uses_threshold && c.thresholds > 0)
    c.start_threshold = c.threshold[below(c.thresholds)];
  c.interval = below(3) * below(3000);
  c.warmup = below(20);
  c.launch_limit = 1 + below(2500);
  c.budget = 0.0001 + 0.01 * below(100);
  c.seed = check_bits(&seed);
  if (below(8) == 0)
    ((int *)&c.paths)[below(40)] = below(2) ? below(40) - 3 : (int)check_bits(&seed);
  return c;
}

/* What is in force: the configuration, or that of a tuner that was refused one. */
static arc_tune_config start(arc_tune *t, const arc_tune_config *config) {
  arc_tune_config copy = *config, untuned = arc_tune_config_default();
  return arc_tune_init(t, config) == ARC_TUNE_OK ? copy : untuned;
}

static unsigned next(arc_tune *t, const arc_tune_config *config) {
  arc_tune_policy policy = arc_tune_next(t);
  CHECK(check_is_legal(config, policy), "%d:%d is not in the list", policy.path, policy.threshold);
  CHECK(check_is_legal(config, t->result.choice), "the choice is not in the list");
  return policy.ticket;
}

/* Reports as a program would, for a while, so that the later phases are reached. */
static void call_properly(arc_tune *t, const arc_tune_config *config) {
  for (int i = below(400); i > 0; --i) {
    unsigned ticket = next(t, config);
    if (below(20)) arc_tune_report(t, ticket, 100.0 + (t->random >> 20) % 16);
  }
}

static void run_case(void) {
  static arc_tune t;
  unsigned tickets[64] = {0}, latest = 0;
  arc_tune_config drawn = draw_config(), config = start(&t, &drawn);
  for (int calls = 200 + below(3000); calls > 0; --calls) {
    int what = below(1000);
    if (what < 500)
      tickets[below(64)] = latest = next(&t, &config);
    else if (what < 800)
      arc_tune_report(&t, tickets[below(64)], draw_time());
    else if (what < 900)
      arc_tune_report(&t, latest, draw_time());
    else if (what < 990)
      arc_tune_report(&t, latest ^ 1u << below(32), draw_time());
    else if (what < 997)
      call_properly(&t, &config);
    else if (what == 997)
      config = start(&t, &t.config);
    else
      drawn = draw_config(), config = start(&t, &drawn);
  }
  if (t.rest < 0) return;
  for (int i = 0, ended = t.result.tunings; t.result.tunings == ended && t.rest >= 0; ++i) {
    arc_tune_report(&t, next(&t, &config), 100.0);
    CHECK(i <= (double)config.interval + config.launch_limit + config.warmup, "it does not end");
    if (i > 10000) return;
  }
}

int main(void) {
  for (int i = 0; i < 1000; ++i) {
    int before = check_failures;
    seed = (unsigned long long)i;
    run_case();
    if (check_failures > before) fprintf(stderr, "in case %d\n", i);
  }
  return check_finish("test_tune_property");
}
