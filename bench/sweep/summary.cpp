/* summary.cpp - the summary for the user: crossovers, what the default costs.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "arc_policy.cuh"

#include "../common/program_run.h"
#include "sweep.h"

enum { INDENT = 4 }; /* of a line that goes on */

/* ---- results of a group ---- */

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

/* The fastest of the group's results for which `wanted` holds; null without. */
template <typename predicate>
static const sweep_result *fastest(const sweep_group &g, predicate wanted) {
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
static bool is_auto_reduced(const sweep_cell &c) {
  return c.path == SWEEP_PATH_AUTO && c.threshold == 0;
}
static bool is_peer(const sweep_cell &c) {
  return c.path >= SWEEP_PATH_CG && c.path <= SWEEP_PATH_SHUFFLE_SKIP;
}
static bool is_own(const sweep_cell &c) {
  return is_by_hand(c) || (c.path >= SWEEP_PATH_ATOMIC && c.path <= SWEEP_PATH_AUTO);
}

/* One key, so many lanes in every warp, garbage in the others. */
static bool is_plain_axes(const sweep_cell &c) {
  return c.workload == SWEEP_WORKLOAD_AXES && c.call == SWEEP_CALL_UNIFORM && c.lanes > 0 &&
         c.lanes <= 32 && c.shape == SWEEP_SHAPE_PREFIX && c.zeros == SWEEP_ZEROS_NONE &&
         c.form == SWEEP_FORM_LITERAL && c.type == SWEEP_TYPE_f32;
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

static std::string crossovers(const std::vector<sweep_group> &groups, int padding) {
  std::map<int, by_lanes> ratios; /* by width */
  std::string words;
  for (const sweep_group &g : groups) {
    if (!is_plain_axes(g.cell()) || g.cell().padding != padding) continue;
    const sweep_result *atomic = fastest(g, is_atomic), *reduced = fastest(g, is_reduced);
    if (atomic && reduced) ratios[g.cell().width][g.cell().lanes] = reduced->gross / atomic->gross;
  }
  for (const auto &width : ratios) {
    int lanes = crossover(width.second);
    words += " " + std::to_string(width.first) + ":" + (lanes ? std::to_string(lanes) : "never");
  }
  return words;
}

static void print_crossovers(FILE *out, const std::vector<sweep_group> &groups) {
  const std::string whole = crossovers(groups, 4), other = crossovers(groups, 0);
  if (whole.empty() && other.empty()) return;
  fprintf(out,
          "Reducing in registers beats atomics from so many lanes of one key on, width:lanes\n");
  if (!whole.empty()) print_wrapped(out, "  rows padded to whole 16 bytes:" + whole, INDENT);
  if (!other.empty()) print_wrapped(out, "  rows that fit no vector:" + other, INDENT);
}

/* ---- the default ---- */

/* The speed of arc's default relative to another result of each group; null if a group has none. */
template <typename other_of>
static void print_default(FILE *out, const std::vector<sweep_group> &groups, other_of other,
                          const char *others) {
  double logs = 0.0, worst_speed = HUGE_VAL;
  const sweep_result *worst = nullptr;
  sweep_cell where = {};
  int count = 0;
  for (const sweep_group &g : groups) {
    const sweep_result *own = fastest(g, is_default), *best = other(g);
    if (!own || !best || g.cell().lanes == 0) continue;
    double speed = best->gross / own->gross;
    logs += log(speed);
    ++count;
    if (speed < worst_speed) worst_speed = speed, worst = best, where = g.cell();
  }
  if (!count) return;
  fprintf(out, "arc's default has %.3fx the speed of the best of %s, mean of %d groups;\n",
          exp(logs / count), others, count);
  char speed[40];
  snprintf(speed, sizeof speed, "  at worst %.2fx that of ", worst_speed);
  print_wrapped(
      out, speed + sweep_word_of(AXIS_PATH, worst->cell) + ": " + sweep_group_words(where), INDENT);
}

/* The default's result in the group that differs from the cell's in one member alone, which has the
   value there; null without. */
static const sweep_result *default_with(const std::vector<sweep_group> &groups, sweep_cell cell,
                                        sweep_member member, int value) {
  cell.*member = value;
  for (const sweep_group &g : groups)
    if (sweep_same_group(cell, g.cell())) return fastest(g, is_default);
  return nullptr;
}

/* Whether a promise makes a call slower. */
static void print_promises(FILE *out, const std::vector<sweep_group> &groups) {
  print_default(
      out, groups,
      [&](const sweep_group &g) {
        const sweep_result *without =
            default_with(groups, g.cell(), &sweep_cell::zeros, SWEEP_ZEROS_NO_KEY_PROMISED);
        const sweep_result *reduced = fastest(g, is_auto_reduced);
        bool both = without && reduced && g.cell().zeros != SWEEP_ZEROS_NO_KEY_PROMISED;
        return !both ? nullptr : without->gross < reduced->gross ? without : reduced;
      },
      "no promise and threshold 0");
}

/* Where a user would rather write atomics by hand: up to how many lanes, by width. */
static void print_atomics_better(FILE *out, const std::vector<sweep_group> &groups) {
  const double clearly = 1.03;
  const size_t most_lines = 3;
  std::map<std::array<int, 4>, std::map<int, int>> lanes; /* type, call, ... -> by width */
  int better = 0, count = 0;
  for (const sweep_group &g : groups) {
    const sweep_result *own = fastest(g, is_default), *hand = fastest(g, is_by_hand);
    const sweep_cell &c = g.cell();
    if (!own || !hand || c.lanes == 0) continue;
    ++count;
    if (own->gross <= clearly * hand->gross) continue;
    ++better;
    int &most = lanes[{c.type, c.call, c.workload, c.keys}].emplace(c.width, c.lanes).first->second;
    most = std::max(most, c.lanes);
  }
  if (!count) return;
  std::string words = "Atomics by hand are over 1.03x as fast in " + std::to_string(better) +
                      " of " + std::to_string(count) + " groups";
  if (better)
    words += "; up to so many lanes, " + std::to_string(std::min(most_lines, lanes.size())) +
             " of " + std::to_string(lanes.size()) + " kinds, width:lanes";
  print_wrapped(out, words, INDENT);
  size_t shown = 0;
  for (const auto &line : lanes) {
    if (++shown > most_lines) break;
    words = "  " + sweep_word(AXIS_CALL, line.first[1]) + " call, " +
            sweep_word(AXIS_WORKLOAD, line.first[2]);
    if (line.first[3] > 1) words += ", " + std::to_string(line.first[3]) + " keys";
    if (line.first[0] != SWEEP_TYPE_f32) words += ", " + sweep_word(AXIS_TYPE, line.first[0]);
    for (const auto &width : line.second)
      words += " " + std::to_string(width.first) + ":" + sweep_word(AXIS_LANES, width.second);
    print_wrapped(out, words, INDENT);
  }
}

/* ---- types ---- */

/* Geometric means of speed-ups, gross and net; a net that is not positive has none. */
struct means {
  double gross_logs, net_logs;
  int gross_count, net_count;
  void add(const sweep_result &r, const sweep_result &over) {
    gross_logs += log(over.gross / r.gross);
    ++gross_count;
    if (r.net <= 0.0 || over.net <= 0.0) return;
    net_logs += log(over.net / r.net);
    ++net_count;
  }
  std::string words(void) const {
    char text[32] = "-";
    if (net_count)
      snprintf(text, sizeof text, "%.3f (%.3f)", exp(gross_logs / gross_count),
               exp(net_logs / net_count));
    return text;
  }
};

static bool is_plain(const sweep_cell &c) { return c.path == SWEEP_PATH_PLAIN; }

static void print_type(FILE *out, const std::vector<sweep_group> &groups, int type) {
  means to_f32[2] = {}, to_plain[2] = {}; /* full warps of one key, and all other ones */
  for (const sweep_group &g : groups) {
    const sweep_cell &c = g.cell();
    const sweep_result *own = fastest(g, is_default), *plain = fastest(g, is_plain);
    if (c.type != type || !own || c.lanes == 0) continue;
    int others = c.lanes != 32 || c.keys != 1;
    const sweep_result *f32 = default_with(groups, c, &sweep_cell::type, SWEEP_TYPE_f32);
    if (f32) to_f32[others].add(*own, *f32);
    if (plain) to_plain[others].add(*own, *plain);
  }
  fprintf(out, "  %-6s", sweep_word(AXIS_TYPE, type).c_str());
  for (int others : {0, 1})
    fprintf(out, " %17s %17s", to_f32[others].words().c_str(), to_plain[others].words().c_str());
  fprintf(out, "\n");
}

static void print_types(FILE *out, const std::vector<sweep_group> &groups) {
  bool there[SWEEP_TYPE_END] = {}, others = false;
  for (const sweep_group &g : groups) {
    there[g.cell().type] = true;
    others |= g.cell().type != SWEEP_TYPE_f32;
  }
  if (!others) return;
  fprintf(out,
          "arc's default by type: x the speed of f32 and of plain atomics, whole kernel (adding "
          "alone)\n"
          "  %-6s %35s %35s\n",
          "", "32 lanes of one key", "all other warps");
  for (int type = SWEEP_TYPE_f64; type < SWEEP_TYPE_END; ++type)
    if (there[type]) print_type(out, groups, type);
}

/* ---- the whole ---- */

void sweep_summary(FILE *out, const sweep_results &results) {
  std::vector<sweep_group> groups = sweep_groups(results);
  fprintf(
      out,
      "Summary, by %s\n"
      "  Each active lane of a warp adds `width` values to the row of its key. A path is a way\n"
      "  to do so; a group is all paths in one situation, with the same values. uniform call:\n"
      "  one key, promised; keyed: any keys; prefix: the first lanes; garbage: NaN; workloads:\n"
      "  models. Above 1x is faster. --tables prints all cells, --csv and --html write them.\n",
      sweep_on_cpu_warp() ? "*model* clocks, which are not times" : "the time of whole kernels");
  print_crossovers(out, groups);
  print_default(
      out, groups, [](const sweep_group &g) { return fastest(g, is_own); },
      "arc's paths and atomics");
  print_default(
      out, groups, [](const sweep_group &g) { return fastest(g, is_peer); },
      "the alternatives (cg, cub)");
  print_promises(out, groups);
  print_atomics_better(out, groups);
  print_types(out, groups);
  sweep_print_costs(out, results);
}
