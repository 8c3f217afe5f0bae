// collective.h -- shuffles, votes, matches, reductions and __syncwarp: lanes that meet.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_COLLECTIVE_H
#define SIMT_ENGINE_COLLECTIVE_H

// The lane a shuffle reads, by the rules of the instruction (PTX, shfl): a segment of `width`
// lanes, a source outside it means the lane itself.
static inline int source_lane(const simt__lane *lane) {
  int segment = lane->index & (32 - lane->width) & 31, last = segment + lane->width - 1;
  int distance = lane->argument & 31, source;
  switch (lane->kind) {
    case SIMT__SHFL_UP:
      source = lane->index - distance;
      return source >= segment ? source : lane->index;
    case SIMT__SHFL_DOWN:
      source = lane->index + distance;
      return source <= last ? source : lane->index;
    case SIMT__SHFL_XOR:
      source = lane->index ^ distance;
      return source <= last ? source : lane->index;
    default: return segment | (distance & (lane->width - 1));
  }
}

static bool is_poison_key(uint64_t value, int bytes) {
  uint64_t key = (uint64_t)(uint32_t)simt_poison_key();
  return value == key || (bytes == 8 && value == (uint64_t)(int64_t)simt_poison_key());
}

// False: some lane read what it must not.
static bool shuffle(simt__warp *warp, unsigned mask) {
  bool good = true;
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    simt__lane *lane = &warp->lanes[__builtin_ctz(rest)];
    int source = source_lane(lane);
    lane->result = warp->lanes[source].value;
    if (!(mask >> source & 1u)) {
      note_misuse(lane, report_absent_source(lane), source);
      good = false;
    } else if (source != lane->index && is_poison_key(lane->result, lane->bytes)) {
      note_misuse(lane, report_poison_shuffled(lane, source));
      good = false;
    }
  }
  return good;
}

static void give_all(simt__warp *warp, unsigned lanes, uint64_t result) {
  for (; lanes; lanes &= lanes - 1) warp->lanes[__builtin_ctz(lanes)].result = result;
}

// Those of `lanes` that hold the value.
static unsigned holders(const simt__warp *warp, unsigned lanes, uint64_t value) {
  unsigned equal = 0;
  for (; lanes; lanes &= lanes - 1)
    if (warp->lanes[__builtin_ctz(lanes)].value == value) equal |= lanes & (0u - lanes);
  return equal;
}

static bool match(simt__warp *warp, unsigned mask, simt__kind kind) {
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    simt__lane *lane = &warp->lanes[__builtin_ctz(rest)];
    if (!is_poison_key(lane->value, lane->bytes)) continue;
    note_misuse(lane, report_poison_matched(lane));
    return false;
  }
  for (unsigned rest = mask; rest;) {
    unsigned equal = holders(warp, rest, warp->lanes[__builtin_ctz(rest)].value);
    if (kind == SIMT__MATCH_ANY) give_all(warp, equal, equal);
    else give_all(warp, equal, equal == mask ? mask : 0);
    rest &= ~equal;
  }
  return true;
}

static void vote(simt__warp *warp, unsigned mask, simt__kind kind) {
  unsigned ballot = mask & ~holders(warp, mask, 0);
  give_all(warp, mask, kind == SIMT__BALLOT ? ballot
                       : kind == SIMT__ANY  ? ballot != 0
                                            : ballot == mask);
}

static uint32_t reduce_pair(simt__kind kind, uint32_t a, uint32_t b) {
  switch (kind) {
    case SIMT__REDUCE_MIN: return (int32_t)a < (int32_t)b ? a : b;
    case SIMT__REDUCE_MAX: return (int32_t)a > (int32_t)b ? a : b;
    case SIMT__REDUCE_MIN_U: return a < b ? a : b;
    case SIMT__REDUCE_MAX_U: return a > b ? a : b;
    case SIMT__REDUCE_AND: return a & b;
    case SIMT__REDUCE_OR: return a | b;
    case SIMT__REDUCE_XOR: return a ^ b;
    default: return a + b;
  }
}
static void reduce(simt__warp *warp, unsigned mask, simt__kind kind) {
  uint32_t sum = (uint32_t)warp->lanes[__builtin_ctz(mask)].value;
  for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1)
    sum = reduce_pair(kind, sum, (uint32_t)warp->lanes[__builtin_ctz(rest)].value);
  give_all(warp, mask, sum);
}

// All named lanes are here: works out everybody's result. False: misuse.
static bool carry_out(simt__warp *warp, const simt__lane *last) {
  simt_counters *counters = &engine.counters;
  unsigned mask = last->mask;
  switch (last->kind) {
    case SIMT__SHFL:
    case SIMT__SHFL_UP:
    case SIMT__SHFL_DOWN:
    case SIMT__SHFL_XOR:
      counters->shuffles += (unsigned)last->bytes / 4;
      return shuffle(warp, mask);
    case SIMT__BALLOT:
    case SIMT__ANY:
    case SIMT__ALL:
      counters->votes += 1;
      vote(warp, mask, last->kind);
      return true;
    case SIMT__MATCH_ANY:
    case SIMT__MATCH_ALL:
      counters->matches += (unsigned)last->bytes / 4;
      return match(warp, mask, last->kind);
    case SIMT__SYNCWARP:
      counters->warp_syncs += 1;
      return true;
    default:
      counters->redux += 1;
      reduce(warp, mask, last->kind);
      return true;
  }
}

static simt__meeting *find_meeting(simt__warp *warp, const simt__lane *me) {
  for (int i = 0; i < warp->meeting_count; ++i) {
    simt__meeting *m = &warp->meetings[i];
    // __syncwarp() may be executed at different places.
    if (m->first->kind == me->kind && m->first->mask == me->mask &&
        (me->kind == SIMT__SYNCWARP || same_place(m->first, me)))
      return m;
  }
  simt__meeting *m = &warp->meetings[warp->meeting_count++];
  *m = {me, 0};
  return m;
}

__attribute__((noinline)) static void note_wrong_arguments(simt__lane *me) {
  bool in_mask = me->mask >> me->index & 1u;
  note_misuse(me, in_mask ? report_width(me) : report_not_in_mask(me));
}

uint64_t simt__collective(const simt__site *site, simt__kind kind, unsigned mask, uint64_t value,
                          int argument, int width, int bytes) {
  simt__lane *me = engine.lane;
  if (!me) on_host(kind_name(kind), site);
  simt__warp *warp = me->warp;
  me->kind = kind;
  me->site = site;
  me->mask = mask;
  me->value = value;
  me->argument = argument;
  me->width = width;
  me->bytes = bytes;
  if (!(mask >> me->index & 1u) || width < 1 || width > 32 || (width & (width - 1))) {
    note_wrong_arguments(me);
    stop(me);
  }
  simt__meeting *meeting = find_meeting(warp, me);
  meeting->arrived |= 1u << me->index;
  if (meeting->arrived != mask) {
    me->state = lane_waits;
    leave(me);
    return me->result;
  }
  bool good = carry_out(warp, me);
  *meeting = warp->meetings[--warp->meeting_count];
  for (unsigned rest = mask; rest; rest &= rest - 1)
    warp->lanes[__builtin_ctz(rest)].state = good ? lane_ready : lane_misused;
  if (!good) stop(me);
  warp->phases.synchronise(mask);
  progress();
  // The last to arrive need not be the first to go on.
  bool goes_on = draw() >> 62;
  make_ready(warp, goes_on ? mask & ~(1u << me->index) : mask);
  if (!goes_on) leave(me);
  return me->result;
}

#endif
