/* summary.cpp - what a sweep says to its user: crossovers, what the default costs, the constants
   that suit this machine. SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "arc_policy.cuh"

#include "sweep.h"

/* ---- groups ---- */

struct group {
  const sweep_result *first;
  size_t count;
  const sweep_cell &cell(void) const { return first->cell; }
};

static bool same_group(const sweep_cell &a, const sweep_cell &b) {
  sweep_cell x = a, y = b;
  x.path = y.path = x.threshold = y.threshold = 0;
  return memcmp(&x, &y, sizeof x) == 0; /* all members are ints */
}

static std::vector<group> groups_of(const sweep_results &results) {
  std::vector<group> groups;
  for (const sweep_result &r : results) {
    if (groups.empty() || !same_group(groups.back().cell(), r.cell)) groups.push_back({&r, 0});
    ++groups.back().count;
  }
  return groups;
}

/* The fastest of the group's results for which `wanted` holds; null without. */
template <typename predicate>
static const sweep_result *fastest(const group &g, predicate wanted) {
  const sweep_result *best = nullptr;
  for (const sweep_result *r = g.first; r != g.first + g.count; ++r)
    if (wanted(r->cell) && (!best || r->gross < best->gross)) best = r;
  return best;
}

static bool is_default(const sweep_cell &c) {
  return c.path == SWEEP_PATH_AUTO && c.threshold == SWEEP_THRESHOLD_DEFAULT;
}
static bool is_by_hand(const sweep_cell &c) {
  return c.path == SWEEP_PATH_PLAIN || c.path == SWEEP_PATH_VECTOR;
}
static bool is_atomic(const sweep_cell &c) {
  return is_by_hand(c) || c.path == SWEEP_PATH_ATOMIC ||
         (c.path == SWEEP_PATH_AUTO && c.threshold == ARC_THRESHOLD_NEVER);
}
static bool is_reduced(const sweep_cell &c) {
  return (c.path == SWEEP_PATH_TRANSPOSED || c.path == SWEEP_PATH_AUTO) && c.threshold == 0;
}
static bool is_peer(const sweep_cell &c) {
  return c.path >= SWEEP_PATH_CG && c.path <= SWEEP_PATH_MATCH_SHARED;
}
static bool is_own(const sweep_cell &c) {
  return is_by_hand(c) || (c.path >= SWEEP_PATH_ATOMIC && c.path <= SWEEP_PATH_AUTO);
}

/* One key, so many lanes in every warp, garbage in the others. */
static bool is_plain_axes(const sweep_cell &c) {
  return c.workload == SWEEP_WORKLOAD_AXES && c.call == SWEEP_CALL_UNIFORM && c.lanes > 0 &&
         c.lanes <= 32 && c.shape == SWEEP_SHAPE_PREFIX && c.zeros == SWEEP_ZEROS_NONE &&
         c.form == SWEEP_FORM_LITERAL;
}

/* ---- crossovers ---- */

typedef std::map<int, double> by_lanes; /* time of reducing over that of atomics */

/* The fewest lanes from which on reducing is the faster one; between two numbers that were measured
   the ratio is interpolated. 0: never. */
static int crossover(const by_lanes &ratios) {
  auto above = ratios.end();
  while (above != ratios.begin() && std::prev(above)->second < 1.0) --above;
  if (above == ratios.end()) return 0;
  if (above == ratios.begin()) return above->first;
  auto below = std::prev(above);
  double low = log(below->second), share = low / (low - log(above->second));
  return (int)ceil(below->first + share * (above->first - below->first));
}

static void print_crossovers(const std::vector<group> &groups, int padding) {
  std::map<int, by_lanes> ratios; /* by width */
  for (const group &g : groups) {
    if (!is_plain_axes(g.cell()) || g.cell().padding != padding) continue;
    const sweep_result *atomic = fastest(g, is_atomic), *reduced = fastest(g, is_reduced);
    if (atomic && reduced) ratios[g.cell().width][g.cell().lanes] = reduced->gross / atomic->gross;
  }
  if (ratios.empty()) return;
  printf("Reducing pays from so many lanes on, one key a warp, %s, width:lanes\n ",
         padding ? "rows of whole 16 bytes" : "rows without vectors");
  for (const auto &width : ratios) {
    int lanes = crossover(width.second);
    printf(" %d:%s", width.first, lanes ? std::to_string(lanes).c_str() : "never");
  }
  printf("\n");
}

/* ---- the default ---- */

/* What arc's default takes over the fastest of those for which `is_rival` holds. */
static void print_default(const std::vector<group> &groups, bool (*is_rival)(const sweep_cell &),
                          const char *rivals) {
  double logs = 0.0, worst_ratio = 0.0;
  const sweep_result *worst = nullptr;
  int count = 0;
  for (const group &g : groups) {
    const sweep_result *own = fastest(g, is_default), *best = fastest(g, is_rival);
    if (!own || !best || g.cell().lanes == 0) continue;
    double ratio = own->gross / best->gross;
    logs += log(ratio);
    ++count;
    if (ratio > worst_ratio) worst_ratio = ratio, worst = best;
  }
  if (!count) return;
  printf(
      "arc's default takes %.3f of the best of %s, mean of %d groups; at worst\n"
      "  %.2f of %s: %s\n",
      exp(logs / count), rivals, count, worst_ratio, sweep_word_of(AXIS_PATH, worst->cell).c_str(),
      sweep_group_words(worst->cell).c_str());
}

/* Where a user would rather write atomics by hand: up to how many lanes, by width. */
static void print_atomics_better(const std::vector<group> &groups) {
  const double clearly = 1.03;
  const size_t most_lines = 7;
  std::map<std::array<int, 3>, std::map<int, int>> lanes; /* call, workload, keys -> by width */
  int better = 0, count = 0;
  for (const group &g : groups) {
    const sweep_result *own = fastest(g, is_default), *hand = fastest(g, is_by_hand);
    const sweep_cell &c = g.cell();
    if (!own || !hand || c.lanes == 0) continue;
    ++count;
    if (own->gross <= clearly * hand->gross) continue;
    ++better;
    int &most = lanes[{c.call, c.workload, c.keys}].emplace(c.width, c.lanes).first->second;
    most = std::max(most, c.lanes);
  }
  if (!count) return;
  printf("Plain or vector atomics by hand are over 3 %% faster in %d of %d groups%s\n", better,
         count, better ? ", width:lanes" : "");
  size_t shown = 0;
  for (const auto &line : lanes) {
    if (++shown > most_lines) break;
    printf("  %s call, %s", sweep_word(AXIS_CALL, line.first[0]).c_str(),
           sweep_word(AXIS_WORKLOAD, line.first[1]).c_str());
    if (line.first[2] > 1) printf(", %d keys", line.first[2]);
    for (const auto &width : line.second)
      printf(" %d:%s", width.first, sweep_word(AXIS_LANES, width.second).c_str());
    printf("\n");
  }
  if (shown > most_lines)
    printf("  and more in the other %zu workloads\n", lanes.size() - most_lines);
}

/* ---- the constants of the default decision ---- */

enum { most_lanes = 31 }; /* the largest threshold that arc decides for itself */
enum decision { decision_reduce, decision_match, decision_promised, decision_end };

struct constants {
  int reduce, match, shuffle, request, promised_reduce, promised_shuffle, promised_slack;
};
static const constants compiled = {ARC_COST_REDUCE,          ARC_COST_MATCH,
                                   ARC_COST_SHUFFLE,         ARC_COST_REQUEST,
                                   ARC_COST_PROMISED_REDUCE, ARC_COST_PROMISED_SHUFFLE,
                                   ARC_COST_PROMISED_SLACK};

/* The formulas of arc_policy.cuh, which are macros of literals there. */
static int decide(const constants &k, int which, int shuffles, int requests) {
  int lanes = 0;
  if (which == decision_reduce)
    lanes = (k.reduce + k.shuffle * shuffles) / (k.request * (requests + 1));
  if (which == decision_match) lanes = (k.match + k.shuffle * shuffles) / (k.request * requests);
  if (which == decision_promised)
    lanes = (k.promised_reduce + k.promised_shuffle * shuffles - k.promised_slack * requests) /
            (k.request * requests);
  return std::max(1, std::min(lanes, (int)most_lanes));
}

/* S(n) of arc.cuh, and the requests of one lane's plain path. */
static int shuffles_of(int width) {
  int shuffles = 0;
  for (int step = 0, live = width; step < 5; ++step, live = (live + 1) / 2)
    shuffles += (live + 1) / 2;
  return shuffles;
}

static int requests_of(const sweep_cell &c) {
  int stride = sweep_stride(c);
  if (stride % 4 == 0) return c.width / 4 + c.width % 4 / 2 + c.width % 2;
  return stride % 2 == 0 ? c.width / 2 + c.width % 2 : c.width;
}

/* Groups of one decision whose width and rows are alike; logs[t]: sum of log(time at threshold t /
   time at the best one). */
struct choice {
  int shuffles, requests, count;
  double logs[most_lanes + 1], worst[most_lanes + 1];
};
typedef std::map<std::pair<int, int>, choice> choices; /* by width and stride */

/* Time by threshold: with a fixed number of lanes only the side of it matters, else what lies
   between two thresholds is interpolated. Empty where the group was not measured on both sides. */
static std::vector<double> times_by_threshold(const group &g) {
  std::map<int, double> measured;
  for (const sweep_result *r = g.first; r != g.first + g.count; ++r)
    if (r->cell.path == SWEEP_PATH_AUTO && r->cell.threshold <= ARC_THRESHOLD_NEVER)
      measured[r->cell.threshold] = r->gross;
  int lanes = g.cell().lanes; /* more than 32: drawn */
  if (measured.empty() || measured.begin()->first > 1 || measured.rbegin()->first <= most_lanes)
    return {};
  std::vector<double> times(most_lanes + 1);
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
  if (c.form != SWEEP_FORM_LITERAL || c.zeros == SWEEP_ZEROS_PROMISED || c.lanes == 0)
    return decision_end;
  if (c.call == SWEEP_CALL_KEYED) return decision_match;
  return c.zeros == SWEEP_ZEROS_NONE ? decision_reduce : decision_promised;
}

static void add_choice(choices *all, const group &g, const std::vector<double> &times) {
  choice &c = (*all)[{g.cell().width, sweep_stride(g.cell())}];
  double best = *std::min_element(times.begin() + 1, times.end());
  c.shuffles = shuffles_of(g.cell().width);
  c.requests = requests_of(g.cell());
  ++c.count;
  for (int t = 1; t <= most_lanes; ++t) {
    c.logs[t] += log(times[t] / best);
    c.worst[t] = std::max(c.worst[t], times[t] / best);
  }
}

struct measured_choices {
  choices of[decision_end];
};

static measured_choices choices_of(const std::vector<group> &groups) {
  measured_choices m;
  for (const group &g : groups) {
    int which = decision_of(g.cell());
    if (which == decision_end) continue;
    std::vector<double> times = times_by_threshold(g);
    if (!times.empty()) add_choice(&m.of[which], g, times);
  }
  return m;
}

/* What thresholds cost over the best one of each group: geometric mean, and the worst group. */
struct cost {
  double mean, worst;
};

template <typename threshold_of>
static cost cost_of(const choices &all, threshold_of threshold) {
  cost c = {0.0, 1.0};
  int count = 0;
  for (const auto &one : all) {
    int t = threshold(one.second);
    c.mean += one.second.logs[t];
    c.worst = std::max(c.worst, one.second.worst[t]);
    count += one.second.count;
  }
  c.mean = count ? exp(c.mean / count) : 1.0;
  return c;
}

static cost cost_with(const choices &all, int which, const constants &k) {
  return cost_of(all, [&](const choice &c) { return decide(k, which, c.shuffles, c.requests); });
}

/* One threshold for each width and kind of rows, the best there is. */
static cost best_cost(const choices &all) {
  return cost_of(all, [](const choice &c) {
    return (int)(std::min_element(c.logs + 1, c.logs + most_lanes + 1) - c.logs);
  });
}

/* Among constants that cost the same, those nearest to the compiled ones. */
static double penalty(int value, int start) { return 1e-6 * abs(value - start); }

/* The best `*base` from 1 to 200, the others given; returns its cost. */
static double fit_base(const choices &all, int which, constants *k, int constants::*base) {
  double best = INFINITY;
  int found = compiled.*base, start = compiled.*base;
  for (int value = 1; value <= 200 && !all.empty(); ++value) {
    k->*base = value;
    double mean = cost_with(all, which, *k).mean + penalty(value, start);
    if (mean < best) best = mean, found = value;
  }
  k->*base = found;
  return all.empty() ? 1.0 : best;
}

/* The scale is free, so the price of a request stays. */
static constants fit(const measured_choices &m) {
  constants best = compiled, k = compiled;
  double least = INFINITY;
  for (k.shuffle = 1; k.shuffle <= 20; ++k.shuffle) {
    double mean = fit_base(m.of[decision_reduce], decision_reduce, &k, &constants::reduce) +
                  fit_base(m.of[decision_match], decision_match, &k, &constants::match) +
                  penalty(k.shuffle, compiled.shuffle);
    if (mean < least) least = mean, best = k;
  }
  k = best;
  least = INFINITY;
  for (k.promised_shuffle = 1; k.promised_shuffle <= 20; ++k.promised_shuffle)
    for (k.promised_slack = 1; k.promised_slack <= 40; ++k.promised_slack) {
      double mean =
          fit_base(m.of[decision_promised], decision_promised, &k, &constants::promised_reduce) +
          penalty(k.promised_shuffle, compiled.promised_shuffle) +
          penalty(k.promised_slack, compiled.promised_slack);
      if (mean < least) least = mean, best = k;
    }
  return best;
}

struct named_constant {
  const char *name;
  int constants::*value;
};
static const named_constant named_constants[] = {
    {"ARC_COST_REDUCE", &constants::reduce},
    {"ARC_COST_MATCH", &constants::match},
    {"ARC_COST_SHUFFLE", &constants::shuffle},
    {"ARC_COST_REQUEST", &constants::request},
    {"ARC_COST_PROMISED_REDUCE", &constants::promised_reduce},
    {"ARC_COST_PROMISED_SHUFFLE", &constants::promised_shuffle},
    {"ARC_COST_PROMISED_SLACK", &constants::promised_slack}};

static void print_constants(const std::vector<group> &groups) {
  static const char *const names[] = {"one key", "several keys", "all promised"};
  measured_choices m = choices_of(groups);
  constants fitted = fit(m);
  double gain = 0.0;
  bool any = false;
  for (int which = 0; which < decision_end; ++which) {
    const choices &all = m.of[which];
    if (all.empty()) continue;
    if (!any)
      printf(
          "Default decision, time over the best threshold of each group: mean (worst)\n"
          "  %-14s %18s %18s %18s\n",
          "", "as compiled", "fitted", "best per width");
    any = true;
    cost now = cost_with(all, which, compiled), then = cost_with(all, which, fitted);
    cost best = best_cost(all);
    printf("  %-14s     %6.3f (%5.2f)     %6.3f (%5.2f)     %6.3f (%5.2f)\n", names[which],
           now.mean, now.worst, then.mean, then.worst, best.mean, best.worst);
    gain = std::max(gain, now.mean / then.mean - 1.0);
  }
  if (!any) return;
  if (gain < 0.005) {
    printf("The compiled constants suit this machine: fitted ones gain %.1f %%\n", 100.0 * gain);
    return;
  }
  printf("The fitted constants gain up to %.1f %%; to set them, compile with\n ", 100.0 * gain);
  for (const named_constant &n : named_constants)
    if (fitted.*n.value != compiled.*n.value) printf(" -D%s=%d", n.name, fitted.*n.value);
  printf("\n");
}

/* ---- the whole ---- */

void sweep_summary(const sweep_results &results) {
  std::vector<group> groups = groups_of(results);
  printf("\nSummary%s\n", sweep_on_cpu_warp() ? ", by *model* clocks: no time of any GPU" : "");
  print_crossovers(groups, 4);
  print_crossovers(groups, 0);
  print_default(groups, is_own, "arc's paths and atomics");
  print_default(groups, is_peer, "its peers");
  print_atomics_better(groups);
  print_constants(groups);
}

int sweep_policy_header(const std::string &name, const sweep_results &results) {
  constants fitted = fit(choices_of(groups_of(results)));
  std::string partial = name + ".partial";
  FILE *file = fopen(partial.c_str(), "w");
  bool bad = !file;
  if (file) {
    fprintf(file,
            "/* The default decision of arc, fitted by arc_sweep%s. Include it before arc.cuh,"
            "\n   or give it to the compiler with -include. */\n",
            sweep_on_cpu_warp() ? " to *model* clocks" : "");
    for (const named_constant &n : named_constants)
      fprintf(file, "#define %s %d\n", n.name, fitted.*n.value);
    bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    bad = bad || rename(partial.c_str(), name.c_str()) != 0;
  }
  if (!bad) return 0;
  fprintf(stderr, "ERROR: --policy-header: cannot write '%s': %s\n", name.c_str(), strerror(errno));
  return 1;
}
