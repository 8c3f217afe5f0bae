/* axes.h - what options, plan and result files know of each axis.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_AXES_H
#define ARC_BENCH_AXES_H

#include "sweep.h"

struct sweep_axis {
  const char *column;
  int sweep_cell::*member;
  const char *option;
  int low, high;                   /* the legal numbers; none where low > high */
  std::vector<const char *> names; /* of the values high + 1, high + 2, ... */
  std::vector<int> start;          /* empty: the plan chooses for each cell */
  const char *meaning;
};
extern const sweep_axis sweep_axis_table[AXIS_END];

#endif
