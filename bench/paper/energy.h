/* The energy of one launch. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_PAPER_ENERGY_H
#define ARC_BENCH_PAPER_ENERGY_H

#include <math.h>

#include "examples/common/device.h"
#include "examples/common/program_run.h"
#include "energy_counter.h"

/* Millijoules of one launch, back to back with others, from one tick of the counter to the first
   that is `least` seconds later: it ticks every 20 to 100 ms. `launch` is called `together` times
   between two looks. Not-a-number where there is no counter, it does not tick in two seconds, or
   an interrupt comes. */
static inline double energy_of_launch(const energy_counter *e, double least, int together,
                                      void (*launch)(void *), void *state) {
  double first = energy_read(e), before = -1.0, begin = seconds_now(), start = begin;
  int launches = 0;
  while (first >= 0.0 && seconds_now() - begin < 2.0 && !interrupts) {
    for (int i = 0; i < together; ++i) launch(state);
    device_check(cudaDeviceSynchronize(), "measuring energy");
    launches += together;
    const double now = energy_read(e);
    if (before >= 0.0 && now > before && seconds_now() - start >= least)
      return (now - before) / launches;
    if (before < 0.0 && now > first) before = now, start = seconds_now(), launches = 0;
  }
  return NAN;
}

#endif
