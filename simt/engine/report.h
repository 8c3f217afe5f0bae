// report.h -- what a misuse is called and how it is told.
// SPDX-License-Identifier: Apache-2.0
//
// A report is written when no lane can go on, from where all of them stand. Misuses of one lane
// (its own mask, an address, a value) come first, the lowest warp and lane among them; then lanes
// that wait for each other in vain; then barriers.
#ifndef SIMT_ENGINE_REPORT_H
#define SIMT_ENGINE_REPORT_H

static inline bool same_place(const simt__lane *a, const simt__lane *b) {
  return same_place({a->site, a->caller}, {b->site, b->caller});
}

static std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static std::string format(const char *pattern, ...) {
  char text[1024];
  va_list list;
  va_start(list, pattern);
  vsnprintf(text, sizeof text, pattern, list);
  va_end(list);
  return text;
}

static const char *kind_name(simt__kind kind) {
  switch (kind) {
    case SIMT__SHFL: return "__shfl_sync";
    case SIMT__SHFL_UP: return "__shfl_up_sync";
    case SIMT__SHFL_DOWN: return "__shfl_down_sync";
    case SIMT__SHFL_XOR: return "__shfl_xor_sync";
    case SIMT__BALLOT: return "__ballot_sync";
    case SIMT__ANY: return "__any_sync";
    case SIMT__ALL: return "__all_sync";
    case SIMT__MATCH_ANY: return "__match_any_sync";
    case SIMT__MATCH_ALL: return "__match_all_sync";
    case SIMT__REDUCE_ADD: return "__reduce_add_sync";
    case SIMT__REDUCE_MIN:
    case SIMT__REDUCE_MIN_U: return "__reduce_min_sync";
    case SIMT__REDUCE_MAX:
    case SIMT__REDUCE_MAX_U: return "__reduce_max_sync";
    case SIMT__REDUCE_AND: return "__reduce_and_sync";
    case SIMT__REDUCE_OR: return "__reduce_or_sync";
    case SIMT__REDUCE_XOR: return "__reduce_xor_sync";
    case SIMT__SYNCWARP: return "__syncwarp";
    case SIMT__ACTIVEMASK: return "__activemask";
    case SIMT__BARRIER: return "__syncthreads";
    case SIMT__BARRIER_OR: return "__syncthreads_or";
    case SIMT__BARRIER_AND: return "__syncthreads_and";
    case SIMT__BARRIER_COUNT: return "__syncthreads_count";
  }
  return "?";
}

// "lane 5", "lanes 0-4, 7"
static std::string lanes_text(unsigned mask) {
  std::string text = mask & (mask - 1) ? "lanes " : "lane ";
  const char *comma = "";
  for (int first = 0; first < 32; ++first) {
    if (!(mask >> first & 1u)) continue;
    int last = first;
    while (last < 31 && (mask >> (last + 1) & 1u)) ++last;
    text += first == last ? format("%s%d", comma, first) : format("%s%d-%d", comma, first, last);
    comma = ", ";
    first = last;
  }
  return text;
}

static std::string called_at(const simt__lane *lane) {
  return lane->caller.line ? format(", called at %s:%d", lane->caller.file, lane->caller.line) : "";
}
static std::string at(const simt__lane *lane, const char *name, const simt__site *site) {
  return format("%s at %s:%d", name, site->file, site->line) + called_at(lane);
}
static std::string at(const simt__lane *lane) {
  return at(lane, kind_name(lane->kind), lane->site);
}

static std::string headline(const char *kind) { return format("simt: misuse: %s\n", kind); }
static std::string line(const char *label, const std::string &text) {
  return format("  %-10s ", label) + text + "\n";
}
static std::string where(const simt__warp *warp, unsigned lanes) {
  const uint3 &block = simt__now.block_index;
  return line("where", format("kernel %s, block (%u,%u,%u), warp %d, ", engine.launch.kernel,
                              block.x, block.y, block.z, warp->index) +
                           lanes_text(lanes));
}
static std::string mask_line(unsigned mask) {
  return line("mask", format("0x%08x, ", mask) + (mask ? lanes_text(mask) : "no lane"));
}
// The launch's line comes last, with what it takes to run it again.
static std::string footer() {
  return line("launch", format("%s at %s:%d, grid (%u,%u,%u), block (%u,%u,%u)",
                               engine.launch.kernel, engine.launch.file, engine.launch.line,
                               simt__now.grid_size.x, simt__now.grid_size.y, simt__now.grid_size.z,
                               simt__now.block_size.x, simt__now.block_size.y,
                               simt__now.block_size.z)) +
         line("seed", format("%llu, launch %llu since it was set", (unsigned long long)engine.seed,
                             (unsigned long long)engine.launches));
}

// ------------------------------------------------------------------------- misuses of one lane

static std::string of_lane(const char *kind, const simt__lane *lane, const std::string &operation) {
  return headline(kind) + line("operation", operation) + where(lane->warp, 1u << lane->index);
}

static std::string report_not_in_mask(const simt__lane *lane) {
  return of_lane(lane->mask ? "a lane is not in its own mask" : "an empty mask", lane,
                 at(lane)) +
         mask_line(lane->mask);
}

static std::string report_width(const simt__lane *lane) {
  return of_lane("a shuffle's width is not a power of two from 1 to 32", lane,
                 at(lane)) +
         line("width", format("%d", lane->width));
}

static std::string report_absent_source(const simt__lane *lane) {
  return of_lane("a shuffle reads a lane that does not take part", lane,
                 at(lane)) +
         mask_line(lane->mask);
}

static std::string report_poison_shuffled(const simt__lane *lane, int source) {
  return of_lane("a shuffle reads the poison key of another lane", lane,
                 at(lane)) +
         mask_line(lane->mask) +
         line("reads", format("lane %d, which holds the poison key", source));
}

static std::string report_poison_matched(const simt__lane *lane) {
  return of_lane("a match compares the poison key", lane, at(lane)) +
         mask_line(lane->mask);
}

static std::string report_poison_pointer(const simt__lane *lane, const std::string &operation,
                                         const void *address) {
  long long distance = (long long)((intptr_t)address - (intptr_t)simt_poison_pointer());
  return of_lane("an access through the poison pointer", lane, operation) +
         line("address", format("the poison pointer %+lld bytes", distance));
}

static std::string report_poison_value(const simt__lane *lane, const char *name,
                                       const simt__site *site) {
  return of_lane("an atomic adds the poison value, or a sum it went into", lane, at(lane, name, site));
}

static std::string report_misaligned(const simt__lane *lane, const char *name,
                                     const simt__site *site, const void *address, unsigned bytes) {
  return of_lane("a misaligned atomic", lane, at(lane, name, site)) +
         line("address", format("%u bytes beyond a multiple of the %u that it must be aligned to",
                                (unsigned)((uintptr_t)address % bytes), bytes));
}

static std::string report_shared_vector(const simt__lane *lane, const char *name,
                                        const simt__site *site) {
  return of_lane("a vector reduction on shared memory", lane, at(lane, name, site));
}

static std::string report_check(const simt__lane *lane, const char *message,
                                const simt__site *site) {
  return headline("a check failed") + line("check", message) +
         line("operation", format("%s:%d", site->file, site->line) + called_at(lane)) +
         where(lane->warp, 1u << lane->index);
}

// ------------------------------------------------------------- lanes that wait for each other

static unsigned missing_lanes(const simt__meeting *m) { return m->first->mask & ~m->arrived; }

static std::string whereabouts(const simt__warp *warp, int index) {
  const simt__lane *lane = &warp->lanes[index];
  if (!(warp->launched >> index & 1u)) return "never launched";
  if (lane->state == lane_exited) return "exited";
  if (lane->state == lane_at_barrier) return "at " + at(lane);
  if (lane->state == lane_misused && !lane->site) return "stopped by a misuse of its own";
  if (lane->state == lane_ready || lane->kind == SIMT__ACTIVEMASK) return "still running";
  return "at " + at(lane) + format(" with mask 0x%08x", lane->mask);
}

// One line per group of lanes that are in the same place.
static std::string whereabouts_lines(const char *label, const simt__warp *warp, unsigned lanes) {
  std::string text;
  while (lanes) {
    std::string place = whereabouts(warp, __builtin_ctz(lanes));
    unsigned same = 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
      if (whereabouts(warp, __builtin_ctz(rest)) == place) same |= rest & (0u - rest);
    text += line(label, lanes_text(same) + " (" + place + ")");
    lanes &= ~same;
  }
  return text;
}

// Why a meeting does not come about, the most telling reason first.
enum reason {
  reason_gone, reason_masks_meet, reason_operations_meet, reason_at_barrier, reason_elsewhere,
  reason_none
};
static reason reason_of_lane(const simt__warp *warp, const simt__meeting *m, int index) {
  const simt__lane *lane = &warp->lanes[index];
  if (!(warp->launched >> index & 1u) || lane->state == lane_exited) return reason_gone;
  if (lane->state == lane_at_barrier) return reason_at_barrier;
  if (lane->state != lane_waits || lane->kind == SIMT__ACTIVEMASK) return reason_elsewhere;
  if (!(lane->mask & m->arrived)) return reason_elsewhere;
  bool same = lane->kind == m->first->kind &&
              (lane->kind == SIMT__SYNCWARP || same_place(lane, m->first));
  return same ? reason_masks_meet : reason_operations_meet;
}
static reason reason_of(const simt__warp *warp, const simt__meeting *m) {
  reason least = reason_none;
  for (unsigned rest = missing_lanes(m); rest; rest &= rest - 1) {
    reason r = reason_of_lane(warp, m, __builtin_ctz(rest));
    if (r < least) least = r;
  }
  return least;
}

// Where the lane that was read stands is known only now.
static std::string report_misuse(const simt__misuse *misuse) {
  std::string text = misuse->text;
  if (misuse->source >= 0)
    text += line("reads", format("lane %d, which is not in the mask (", misuse->source) +
                              whereabouts(misuse->lane->warp, misuse->source) + ")");
  return text;
}

static std::string report_meeting(const simt__warp *warp, const simt__meeting *m, reason why) {
  const char *kind = why == reason_masks_meet        ? "two masks meet at one operation"
                     : why == reason_operations_meet ? "two operations meet"
                                                     : "named lanes never arrive";
  unsigned mask = m->first->mask;
  int arrived = __builtin_popcount(m->arrived), named = __builtin_popcount(mask);
  return headline(kind) +
         line("operation", at(&warp->lanes[__builtin_ctz(m->arrived)])) +
         where(warp, m->arrived) + mask_line(mask) +
         line("arrived", format("only %d of the %d lanes named arrived", arrived, named)) +
         whereabouts_lines("missing", warp, missing_lanes(m));
}

// ---------------------------------------------------------------------------------- barriers

static simt__lane *first_at_barrier() {
  for (int t = 0; t < engine.block.thread_count; ++t)
    if (engine.lanes[t].state == lane_at_barrier) return &engine.lanes[t];
  return NULL;
}

static std::string report_barrier(const simt__lane *first) {
  enum { warps_shown = 4 };
  int arrived = 0, hidden = 0, shown = 0;
  std::string missing;
  for (int w = 0; w < engine.block.warp_count; ++w) {
    const simt__warp *warp = &engine.warps[w];
    unsigned away = 0;
    for (unsigned rest = warp->launched; rest; rest &= rest - 1) {
      const simt__lane *lane = &warp->lanes[__builtin_ctz(rest)];
      bool here = lane->state == lane_at_barrier && lane->kind == first->kind &&
                  same_place(lane, first);
      arrived += here;
      if (!here) away |= rest & (0u - rest);
    }
    if (!away) continue;
    if (shown++ < warps_shown)
      missing += whereabouts_lines("missing", warp, away).insert(13, format("warp %d, ", w));
    else
      hidden += 1;
  }
  if (hidden) missing += line("missing", format("and lanes of %d more warps", hidden));
  return headline("a barrier in divergent code") +
         line("operation", at(first)) +
         where(first->warp, 1u << first->index) +
         line("arrived", format("only %d of the %d threads of the block arrived", arrived,
                                engine.block.thread_count)) +
         missing;
}

// -------------------------------------------------------------------------------- all together

static std::string report_stuck() {
  if (engine.misuse.lane) return report_misuse(&engine.misuse) + footer();
  const simt__warp *worst_warp = NULL;
  const simt__meeting *worst = NULL;
  reason why = reason_none;
  for (int w = 0; w < engine.block.warp_count; ++w) {
    const simt__warp *warp = &engine.warps[w];
    for (int i = 0; i < warp->meeting_count; ++i) {
      const simt__meeting *m = &warp->meetings[i];
      reason r = reason_of(warp, m);
      bool lower = worst && warp == worst_warp && r == why &&
                   __builtin_ctz(m->arrived) < __builtin_ctz(worst->arrived);
      if (worst && r >= why && !lower) continue;
      worst_warp = warp;
      worst = m;
      why = r;
    }
  }
  if (worst) return report_meeting(worst_warp, worst, why) + footer();
  const simt__lane *first = first_at_barrier();
  return (first ? report_barrier(first) : headline("no lane can go on")) + footer();
}

static std::string report_spinning() {
  const simt__warp *warp = NULL;
  unsigned running = 0;
  for (int w = 0; w < engine.block.warp_count && !running; ++w) {
    warp = &engine.warps[w];
    for (unsigned rest = warp->launched; rest; rest &= rest - 1)
      if (warp->lanes[__builtin_ctz(rest)].state == lane_ready) running |= rest & (0u - rest);
  }
  return headline("no progress: lanes keep running, but none synchronises or exits") +
         line("steps", format("%llu", (unsigned long long)engine.patience)) +
         where(warp, running) + whereabouts_lines("others", warp, warp->launched & ~running) +
         footer();
}

#endif
