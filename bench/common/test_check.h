/* bench/common: checks of the tests.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TEST_CHECK_H
#define ARC_TEST_CHECK_H

#include <stdio.h>

enum { TEST_SKIPPED = 77 }; /* the exit status of a test that did not run */

static int test_failures = 0;

/* Goes on after a failure, so that one run shows all of them; the first twenty are printed. */
#define CHECK(condition, ...)                                        \
  do {                                                               \
    if (!(condition) && ++test_failures <= 20) {                     \
      printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
      printf(__VA_ARGS__);                                           \
      printf("\n");                                                  \
    }                                                                \
  } while (0)

static inline int test_end(const char *name) {
  if (test_failures == 0) printf("%s: passed\n", name);
  if (test_failures != 0) printf("%s: %d checks failed\n", name, test_failures);
  return test_failures != 0;
}

/* Uniform in 0..1; the same on every machine. */
static inline double test_random(unsigned long long *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(*state >> 11) / 9007199254740992.0;
}

#endif
