/* summary.h - the groups of a sweep's results. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_SUMMARY_H
#define ARC_BENCH_SUMMARY_H

#include "sweep.h"

struct sweep_group {
  const sweep_result *first;
  size_t count;
  const sweep_cell &cell(void) const { return first->cell; }
};
std::vector<sweep_group> sweep_groups(const sweep_results &results);

/* costs.cpp */
void sweep_print_costs(const sweep_results &results);

#endif
