/* tune_check.h - what the tests of arc_tune.h share: checks, random numbers, a tuning.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_TUNE_CHECK_H
#define ARC_TESTS_TUNE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arc_tune.h"

static int check_failures = 0;
static long check_count = 0;

#define CHECK(condition, ...)                                 \
  do {                                                        \
    check_count += 1;                                         \
    if (!(condition) && ++check_failures <= 20) {             \
      fprintf(stderr, "%s:%d: FAILED: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                           \
      fputc('\n', stderr);                                    \
    }                                                         \
  } while (0)

static inline int check_finish(const char *name) {
  printf("%s: %ld checks, %d failed\n", name, check_count, check_failures);
  return check_failures > 0 || check_count == 0;
}

/* splitmix64 */
static inline unsigned long long check_bits(unsigned long long *state) {
  unsigned long long z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static inline int check_below(unsigned long long *state, int bound) {
  return (int)(((check_bits(state) >> 32) * (unsigned)bound) >> 32);
}

/* Whether the policy is one of the configured list. */
static inline int check_is_legal(const arc_tune_config *config, arc_tune_policy policy) {
  for (int i = 0; i < config->paths; ++i) {
    const arc_tune_path *p = &config->path[i];
    for (int j = 0; j < (p->uses_threshold ? config->thresholds : 1); ++j)
      if (policy.path == p->path &&
          policy.threshold == (p->uses_threshold ? config->threshold[j] : ARC_THRESHOLD_AUTO))
        return 1;
  }
  return 0;
}

static inline int check_is_same(arc_tune_policy a, arc_tune_policy b) {
  return a.path == b.path && a.threshold == b.threshold;
}

#endif
