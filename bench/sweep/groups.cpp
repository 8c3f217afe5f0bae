/* groups.cpp - results that differ only in path and threshold. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sweep.h"

bool sweep_same_group(const sweep_cell &a, const sweep_cell &b) {
  sweep_cell x = a, y = b;
  x.path = y.path = x.threshold = y.threshold = 0;
  return memcmp(&x, &y, sizeof x) == 0; /* all members are ints */
}

std::vector<sweep_group> sweep_groups(const sweep_results &results) {
  std::vector<sweep_group> groups;
  for (const sweep_result &r : results) {
    if (groups.empty() || !sweep_same_group(groups.back().cell(), r.cell))
      groups.push_back({&r, 0});
    ++groups.back().count;
  }
  return groups;
}
