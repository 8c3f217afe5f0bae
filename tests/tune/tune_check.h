/* tune_check.h - what the tests of arc_tune.h share. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_TUNE_CHECK_H
#define ARC_TESTS_TUNE_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "examples/common/test_check.h"

#include "arc_tune.h"

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
