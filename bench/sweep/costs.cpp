/* costs.cpp - the constants of arc's default decision, fitted to a sweep.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <algorithm>
#include <array>
#include <map>

#include "arc_policy.cuh"

#include "sweep.h"

enum { most_lanes = 31 }; /* the largest threshold that arc decides for itself */
enum decision { decision_reduce, decision_match, decision_promised, decision_end };

enum constant { cost_reduce, cost_value, cost_match, cost_match_shuffle, cost_request, cost_end };
typedef std::array<int, cost_end> constants;
static const char *const constant_names[cost_end] = {"ARC_COST_REDUCE", "ARC_COST_VALUE",
                                                     "ARC_COST_MATCH", "ARC_COST_MATCH_SHUFFLE",
                                                     "ARC_COST_REQUEST"};
static const constants compiled = {ARC_COST_REDUCE, ARC_COST_VALUE, ARC_COST_MATCH,
                                   ARC_COST_MATCH_SHUFFLE, ARC_COST_REQUEST};

/* The formulas of arc_policy.cuh are macros over macros: from here on, over the constants `k`. */
#undef ARC_COST_REDUCE
#undef ARC_COST_VALUE
#undef ARC_COST_MATCH
#undef ARC_COST_MATCH_SHUFFLE
#undef ARC_COST_REQUEST
#define ARC_COST_REDUCE k[cost_reduce]
#define ARC_COST_VALUE k[cost_value]
#define ARC_COST_MATCH k[cost_match]
#define ARC_COST_MATCH_SHUFFLE k[cost_match_shuffle]
#define ARC_COST_REQUEST k[cost_request]

/* S(n) of arc.cuh, and the requests of one lane's plain path. */
static int shuffles_of(int width) {
  int shuffles = width / 32 * 31;
  for (int half = 1; half <= 16; half *= 2) shuffles += (width % 32 + 2 * half - 1) / (2 * half);
  return shuffles;
}

static int requests_of(const sweep_cell &c) {
  int stride = sweep_stride(&c);
  if (stride % 4 == 0) return c.width / 4 + c.width % 4 / 2 + c.width % 2;
  return stride % 2 == 0 ? c.width / 2 + c.width % 2 : c.width;
}

/* Groups of one decision whose width and rows are alike; logs[t]: sum of log(time at threshold t /
   time at the best one); [0]: of the compiled constants. */
struct choice {
  int width, requests, count;
  double logs[most_lanes + 1], worst[most_lanes + 1];
};
typedef std::map<std::array<int, 3>, choice> choices; /* by decision, width and stride */

static int decide(const constants &k, int which, const choice &c) {
  int lanes = which == decision_match ? ARC_MIN_LANES_TO_MATCH(shuffles_of(c.width), c.requests)
                                      : ARC_MIN_LANES_TO_REDUCE(c.width, c.requests);
  return std::max(1, std::min(lanes, (int)most_lanes));
}

/* Time by threshold: with a fixed number of lanes only the side of it matters, else what lies
   between two thresholds is interpolated. [0]: of the default, 0 if it was not measured. Empty where
   the group was not measured on both sides. */
static std::vector<double> times_by_threshold(const sweep_group &g) {
  std::map<int, double> measured;
  double by_default = 0.0;
  for (const sweep_result *r = g.first; r != g.first + g.count; ++r) {
    if (r->cell.path != SWEEP_PATH_AUTO) continue;
    if (r->cell.threshold == ARC_THRESHOLD_AUTO)
      by_default = r->gross;
    else
      measured[std::max(1, r->cell.threshold)] = r->gross; /* 0 does what 1 does */
  }
  int lanes = g.cell().lanes; /* more than 32: drawn */
  if (measured.empty() || measured.begin()->first > 1 || measured.rbegin()->first <= most_lanes)
    return {};
  std::vector<double> times(most_lanes + 1, by_default);
  for (int t = 1; t <= most_lanes; ++t) {
    auto above = measured.lower_bound(t), below = above;
    if (lanes <= 32) {
      times[t] = t <= lanes ? measured.begin()->second : measured.rbegin()->second;
    } else if (above->first == t || above == measured.begin()) {
      times[t] = above->second;
    } else {
      --below;
      double share = (double)(t - below->first) / (above->first - below->first);
      times[t] = below->second + share * (above->second - below->second);
    }
  }
  return times;
}

static int decision_of(const sweep_cell &c) {
  if (c.type != SWEEP_TYPE_f32 || c.form != SWEEP_FORM_LITERAL || c.zeros == SWEEP_ZEROS_PROMISED ||
      c.lanes == 0)
    return decision_end;
  if (c.call == SWEEP_CALL_KEYED) return decision_match;
  return c.zeros == SWEEP_ZEROS_NONE ? decision_reduce : decision_promised;
}

static choices choices_of(const sweep_results &results) {
  choices all;
  for (const sweep_group &g : sweep_groups(results)) {
    const sweep_cell &cell = g.cell();
    const int which = decision_of(cell);
    std::vector<double> times = times_by_threshold(g);
    if (times.empty() || which == decision_end) continue;
    double best = *std::min_element(times.begin() + 1, times.end());
    choice &c = all[{which, cell.width, sweep_stride(&cell)}];
    c.width = cell.width;
    c.requests = requests_of(cell);
    ++c.count;
    /* Half of the blocks reduce later: measured, since no mean of two thresholds is near it. */
    if (times[0] == 0.0 || which == decision_match) times[0] = times[decide(compiled, which, c)];
    for (int t = 0; t <= most_lanes; ++t) {
      c.logs[t] += log(times[t] / best);
      c.worst[t] = std::max(c.worst[t], times[t] / best);
    }
  }
  return all;
}

/* What thresholds cost over the best one of each group: geometric mean, and the worst group. */
struct cost {
  double mean, worst;
  int count;
};

template <typename threshold_of>
static cost cost_of(const choices &all, int which, threshold_of threshold) {
  cost c = {0.0, 1.0, 0};
  for (const auto &one : all) {
    if (one.first[0] != which) continue;
    int t = threshold(one.second);
    c.mean += one.second.logs[t];
    c.worst = std::max(c.worst, one.second.worst[t]);
    c.count += one.second.count;
  }
  c.mean = c.count ? exp(c.mean / c.count) : 1.0;
  return c;
}

static cost cost_with(const choices &all, int which, const constants &k) {
  return cost_of(all, which, [&](const choice &c) { return decide(k, which, c); });
}

/* One threshold for each width and kind of rows, the best there is. */
static cost best_cost(const choices &all, int which) {
  return cost_of(all, which, [](const choice &c) {
    return (int)(std::min_element(c.logs + 1, c.logs + most_lanes + 1) - c.logs);
  });
}

/* Among constants that cost the same, those nearest to the compiled ones are best. */
static double loss(const choices &all, const constants &k) {
  double sum = 0.0;
  for (int which = 0; which < decision_end; ++which) sum += cost_with(all, which, k).mean;
  for (int i = 0; i < cost_end; ++i) sum += 1e-7 * abs(k[i] - compiled[i]);
  return sum;
}

/* With the value of one constant that is the best for these others. */
static constants with_best(const choices &all, constants k, int constant) {
  const int most = 400;
  constants best = k;
  double least = INFINITY;
  for (k[constant] = 1; k[constant] <= most; ++k[constant]) {
    double now = loss(all, k);
    if (now < least) least = now, best = k;
  }
  return best;
}

/* The best base and price of a part for these others. */
static constants with_best_pair(const choices &all, const constants &others, int base, int part) {
  const int most_part = 40;
  constants best = others, k = others;
  for (k[part] = 1; k[part] <= most_part; ++k[part]) {
    constants tried = with_best(all, k, base);
    if (loss(all, tried) < loss(all, best)) best = tried;
  }
  return best;
}

/* The scale is free, so the price of a request stays. */
static constants fit(const choices &all) {
  return with_best_pair(all, with_best_pair(all, compiled, cost_reduce, cost_value), cost_match,
                        cost_match_shuffle);
}

void sweep_print_costs(FILE *out, const sweep_results &results) {
  static const char *const names[] = {"one key", "several keys", "all promised"};
  choices all = choices_of(results);
  constants fitted = fit(all);
  double gain = 0.0;
  if (all.empty()) return;
  fprintf(
      out,
      "Default decision (lanes from which auto reduces): x the speed of the best, mean (worst)\n"
      "  %-14s %18s %18s %18s\n",
      "", "compiled constants", "fitted ones", "best per width");
  for (int which = 0; which < decision_end; ++which) {
    cost now = cost_of(all, which, [](const choice &) { return 0; });
    cost then = cost_with(all, which, fitted), best = best_cost(all, which);
    if (!best.count) continue;
    fprintf(out, "  %-14s     %6.3f (%5.2f)     %6.3f (%5.2f)     %6.3f (%5.2f)\n", names[which],
            1.0 / now.mean, 1.0 / now.worst, 1.0 / then.mean, 1.0 / then.worst, 1.0 / best.mean,
            1.0 / best.worst);
    gain = std::max(gain, cost_with(all, which, compiled).mean / then.mean - 1.0);
  }
  if (sweep_on_cpu_warp()) return; /* model clocks suit no machine */
  if (gain < 0.005) {
    fprintf(out, "The compiled constants suit this machine: fitted ones are %.3fx as fast\n",
            1.0 + gain);
    return;
  }
  fprintf(out, "The fitted constants are up to %.3fx as fast; to set them, compile with",
          1.0 + gain);
  const char *before = "\n  ";
  for (int i = 0, printed = 0; i < cost_end; ++i) {
    if (fitted[i] == compiled[i]) continue;
    fprintf(out, "%s-D%s=%d", before, constant_names[i], fitted[i]);
    before = ++printed % 3 != 0 ? " " : " \\\n  ";
  }
  fprintf(out, "\n");
}

bool sweep_policy_header(const std::string &name, const sweep_results &results, error_line *error) {
  constants fitted = fit(choices_of(results));
  output_file file;
  if (!output_file_open(&file, name.c_str(), error)) return false;
  fprintf(file.stream,
          "/* The default decision of arc, fitted by arc_sweep%s. Include it before\n"
          "   arc.cuh, or give it to the compiler with -include. */\n",
          sweep_on_cpu_warp() ? " to *model* clocks" : "");
  for (int i = 0; i < cost_end; ++i)
    fprintf(file.stream, "#define %s %d\n", constant_names[i], fitted[i]);
  return output_file_commit(&file, error);
}
