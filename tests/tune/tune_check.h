/* tune_check.h - what the tests of arc_tune.h share. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_TUNE_CHECK_H
#define ARC_TESTS_TUNE_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "../../bench/common/test_check.h"

#include "arc_tune.h"

static inline int check_is_same(arc_tune_policy a, arc_tune_policy b) {
  return a.path == b.path && a.threshold == b.threshold;
}

/* Whether the policy is of the list; of a configuration that was refused, auto as compiled. */
static inline int check_is_legal(const arc_tune *t, arc_tune_policy policy) {
  const arc_tune_policy untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  int found = t->rest < 0 && t->result.tunings == 0 && check_is_same(policy, untuned);
  for (int i = 0; i < t->config.policies && !found; ++i)
    found = check_is_same(policy, t->config.policy[i]);
  return found;
}

#endif
