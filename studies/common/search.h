/* arc studies: the papers' search for the threshold (ARC, section 5.5.3): every so many iterations
   it launches the gradient step at each threshold from 0 on, and keeps the fastest threshold.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <math.h>

/* Who picks the threshold while training: nobody, arc's tuner, or the papers' search. */
typedef enum threshold_search { SEARCH_NONE, SEARCH_TUNER, SEARCH_PAPERS } threshold_search;

enum { SEARCH_EVERY = 2000, SEARCH_THRESHOLDS = 32 };

/* time_ms(threshold): of one launch. */
template <typename time_type>
static int search_threshold(time_type time_ms) {
  float fastest_ms = INFINITY;
  int fastest = 0;
  for (int threshold = 0; threshold < SEARCH_THRESHOLDS; ++threshold) {
    const float ms = time_ms(threshold);
    if (ms < fastest_ms) fastest_ms = ms, fastest = threshold;
  }
  return fastest;
}
