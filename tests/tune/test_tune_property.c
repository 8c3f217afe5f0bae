/* test_tune_property.c - the tuner under any order of calls.
   SPDX-License-Identifier: Apache-2.0

   Each case draws a configuration, legal or not, and some thousand calls of every function with
   good, late, repeated, forged and missing tickets and times that are no times. Whatever happens,
   the policy is of the configured list, and afterwards a tuning with plain times still ends. Build
   with ARC_SANITIZE=address,undefined to see reads out of bounds.

   test_tune_property [--cases N] [--seed S] [--case K] */
#define _POSIX_C_SOURCE 200809L

#include "tune_check.h"

static const arc_tune_key key = {"a device", "a driver", "a kernel", 9};

static double draw_time(unsigned long long *random) {
  double zero = 0.0;
  switch (check_below(random, 14)) {
    case 0:
      return zero / zero;
    case 1:
      return 1.0 / zero;
    case 2:
      return -1.0 / zero;
    case 3:
      return -5.0;
    case 4:
      return 0.0;
    case 5:
      return 1e-300;
    case 6:
      return 1e300;
    case 7:
      return 1e12;
    case 8:
      return 0.001;
    case 9:
      return 1e-3 * check_below(random, 2000000000);
    default:
      return 100.0 + check_below(random, 100);
  }
}

static arc_tune_config draw_config(unsigned long long *random) {
  arc_tune_config c = arc_tune_config_default();
  int threshold[ARC_TUNE_MAX_THRESHOLDS];
  c.paths = 1 + check_below(random, ARC_TUNE_MAX_PATHS);
  for (int i = 0; i < c.paths; ++i) {
    c.path[i].path = ARC_PATH_ATOMIC + (i + c.paths) % ARC_PATH_AUTO;
    c.path[i].uses_threshold =
        i / ARC_PATH_AUTO ? !c.path[i - ARC_PATH_AUTO].uses_threshold : check_below(random, 2);
  }
  for (int i = 0; i < ARC_TUNE_MAX_THRESHOLDS; ++i) threshold[i] = i;
  c.thresholds = 1 + check_below(random, ARC_TUNE_MAX_THRESHOLDS);
  for (int i = 0; i < c.thresholds; ++i) {
    int j = i + check_below(random, ARC_TUNE_MAX_THRESHOLDS - i), held = threshold[j];
    threshold[j] = threshold[i];
    c.threshold[i] = threshold[i] = held;
  }
  const arc_tune_path *start = &c.path[check_below(random, c.paths)];
  c.start_path = start->path;
  c.start_threshold =
      start->uses_threshold ? c.threshold[check_below(random, c.thresholds)] : ARC_THRESHOLD_AUTO;
  c.interval = check_below(random, 3) ? check_below(random, 3000) : 0;
  c.warmup = check_below(random, 20);
  c.launch_limit = 1 + check_below(random, 2500);
  c.patience = 1 + check_below(random, 300);
  c.budget = 0.0001 + 0.01 * check_below(random, 100);
  c.seed = check_bits(random);
  return c;
}

typedef struct fuzz {
  arc_tune t;
  arc_tune_config config;
  unsigned tickets[64];
  unsigned long long random;
  const char *file;
} fuzz;

static void call_next(fuzz *f) {
  arc_tune_policy policy;
  int status = arc_tune_next(&f->t, &policy);
  CHECK(status == ARC_TUNE_OK, "next: %s", arc_tune_error_text(status));
  CHECK(check_is_legal(&f->config, policy), "next: %d:%d is not in the list", policy.path,
        policy.threshold);
  f->tickets[check_below(&f->random, 64)] = policy.ticket;
}

static void call_report(fuzz *f) {
  unsigned ticket = f->tickets[check_below(&f->random, 64)], latest = f->t.ticket;
  double time_us = draw_time(&f->random);
  int what = check_below(&f->random, 8);
  if (what == 0) arc_tune_report(&f->t, time_us);
  if (what == 1) arc_tune_report_ticket(&f->t, check_bits(&f->random), time_us);
  if (what == 2) arc_tune_report_ticket(&f->t, ticket ^ 1u << check_below(&f->random, 32), 5.0);
  if (what == 3) arc_tune_report_ticket(&f->t, latest ^ 1u << check_below(&f->random, 5), 5.0);
  if (what == 4) arc_tune_report_ticket(&f->t, latest | 31u, 5.0);
  if (what >= 5) arc_tune_report_ticket(&f->t, ticket, time_us);
}

static void call_rarely(fuzz *f) {
  static char text[8192];
  arc_tune_policy policy;
  const char *value = check_below(&f->random, 2) ? "auto:8" : "nonsense";
  int what = check_below(&f->random, 8);
  if (what == 0) arc_tune_freeze(&f->t, check_below(&f->random, 2));
  if (what == 1) arc_tune_retune(&f->t);
  if (what == 2) arc_tune_save(&f->t, f->file, &key);
  if (what == 3) arc_tune_load(&f->t, f->file, &key);
  if (what == 4) arc_tune_from_environment(&f->t, "ARC_TEST_TUNE_PROPERTY");
  if (what == 5) setenv("ARC_TEST_TUNE_PROPERTY", value, 1);
  if (what == 6)
    arc_tune_explain(&f->t, text, 1 + (size_t)check_below(&f->random, (int)sizeof text));
  if (what < 7) return;
  arc_tune_best(&f->t, &policy);
  CHECK(check_is_legal(&f->config, policy), "best: %d:%d is not in the list", policy.path,
        policy.threshold);
}

/* Reports as a program would, for a while: only so the later phases are reached. */
static void call_properly(fuzz *f) {
  arc_tune_policy policy;
  for (int i = check_below(&f->random, 400); i > 0; --i) {
    arc_tune_next(&f->t, &policy);
    CHECK(check_is_legal(&f->config, policy), "next: %d:%d is not in the list", policy.path,
          policy.threshold);
    double noise = 1.0 + 0.001 * check_below(&f->random, 100);
    if (check_below(&f->random, 20) == 0) continue;
    arc_tune_report(&f->t, noise * (100.0 + 5.0 * policy.path + abs(policy.threshold - 11)));
  }
}

/* Whatever came before, a tuning with plain times ends. */
static void check_still_works(fuzz *f) {
  arc_tune_policy policy;
  arc_tune_freeze(&f->t, 0);
  arc_tune_retune(&f->t);
  for (int i = 0; i < 6000 && arc_tune_is_tuning(&f->t); ++i) {
    arc_tune_next(&f->t, &policy);
    arc_tune_report(&f->t, policy.threshold == ARC_THRESHOLD_AUTO ? 300.0 : 100.0);
  }
  CHECK(!arc_tune_is_tuning(&f->t), "a tuning without noise does not end");
}

static void run_case(unsigned long long seed, const char *file) {
  static fuzz f;
  f.random = seed;
  f.file = file;
  arc_tune_config config = draw_config(&f.random);
  if (check_below(&f.random, 8) == 0) {
    unsigned char *bytes = (unsigned char *)&config.paths;
    bytes[check_below(&f.random, (int)(sizeof config - offsetof(arc_tune_config, paths)))] ^=
        (unsigned char)(1 + check_below(&f.random, 255));
  }
  int status = arc_tune_init(&f.t, &config);
  f.config = status == ARC_TUNE_OK ? config : arc_tune_config_default();
  memset(f.tickets, 0, sizeof f.tickets);
  for (int calls = 200 + check_below(&f.random, 3000); calls > 0; --calls) {
    int what = check_below(&f.random, 1000);
    if (what < 480)
      call_next(&f);
    else if (what < 970)
      call_report(&f);
    else if (what < 997)
      call_rarely(&f);
    else
      call_properly(&f);
  }
  check_still_works(&f);
}

int main(int argc, char **argv) {
  const char *file = "test_tune_property.choice";
  unsigned long long seed = 1;
  long cases = 600, only = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--cases") == 0) cases = atol(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0);
    if (strcmp(argv[i], "--case") == 0) only = atol(argv[i + 1]);
  }
  if (argc % 2 == 0 || cases < 1) {
    fprintf(stderr, "usage: %s [--cases N] [--seed S] [--case K]\n", argv[0]);
    return 2;
  }
  for (long i = only < 0 ? 0 : only; i < (only < 0 ? cases : only + 1); ++i) {
    int before = check_failures;
    run_case(seed * 1000003ull + (unsigned long long)i, file);
    if (check_failures > before)
      fprintf(stderr, "reproduce: %s --seed %llu --case %ld\n", argv[0], seed, i);
  }
  remove(file);
  remove("test_tune_property.choice.tmp");
  return check_finish("test_tune_property");
}
