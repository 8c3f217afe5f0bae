// simt.cpp -- the CPU warp: the only source file to compile and link.
// SPDX-License-Identifier: Apache-2.0
//
// Every lane is a fiber. A lane that does something undefined stops where it is. The report is
// written only when no lane can go on, from where all of them stand, so that its text does not
// depend on the order in which they came there.
//
// CONTENTS (search for the mark)
//   >>state       block, warps, lanes
//   >>schedule    which lane runs next
//   >>text        the lines of a report
//   >>misuse      a lane stops for good
//   >>collective  shuffles, votes, matches, reductions, __syncwarp
//   >>barrier     __syncthreads and its kin
//   >>memory      blocks of cudaMalloc, between pages that cannot be touched
//   >>atomic      atomics, vector reductions, shared memory, poison
//   >>fault       loads and stores where no memory is
//   >>tick        a lane that spins without any operation
//   >>stuck       no lane can go on: which misuse to report
//   >>launch      blocks one after another
//   >>control     the functions of simt_control.h
//   >>runtime     the functions of simt_runtime.h
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <chrono>
#include <map>
#include <string>

#if defined(__linux__)
#include <sys/syscall.h>
#include <time.h>
#endif

#include "count.h"
#include "fiber.h"
#include "simt.cuh"

#if SIMT_SHARED_SECTION
#include <fcntl.h>
#include <link.h>
#endif

// >>state -----------------------------------------------------------------------------------------

enum { block_threads_max = 1024, block_warps_max = block_threads_max / 32 };

struct simt__warp;

// What a lane does when it does not run.
enum simt__state {
  lane_ready,
  lane_waits,  // at a collective
  lane_at_activemask,
  lane_at_barrier,
  lane_misused,  // a collective
  lane_stopped,  // by a misuse of another kind
  lane_exited
};

struct simt__lane : simt__lane_view {
  simt__fiber fiber;
  simt__warp *warp;
  int index;  // 0..31
  simt__state state;
  // The operation it waits at or misused, valid unless it is ready or exited.
  simt__kind kind;
  const simt__site *site;
  unsigned mask;
  uint64_t value, result;
  int argument, width, bytes;
  uint64_t since;  // the step at which it came to an __activemask() or was put aside
};

// Lanes that wait for each other: the same operation, place and mask as the first of them.
struct simt__meeting {
  simt__lane *first;
  unsigned arrived;
};

struct simt__warp {
  int index;
  unsigned launched, exited, ready;
  unsigned at_activemask;  // lanes that wait in __activemask()
  unsigned aside;          // lanes that spin without any operation
  int meeting_count;
  simt__meeting meetings[32];
  simt__lane lanes[32];
  simt__phases phases;
};

// The first misuse by warp and lane: which lane comes upon its own first is up to the seed.
struct simt__misuse {
  simt__lane *lane;  // NULL: none
  int source;        // the lane it read, whose whereabouts belong into the report; or -1
  char text[1024];
};

enum simt__order { order_none, order_ascending, order_descending };

struct simt__block {
  int thread_count, warp_count, live_count;
  unsigned ready_warps;
  int activemask_warps;  // warps with lanes in __activemask()
  int aside_count;       // lanes that are put aside
  simt__warp *warp;      // the one that runs now
  uint64_t picks;        // of the next lane, so far
  int barrier_arrived;
  simt__lane *barrier_first;
  bool barrier_mixed;  // some thread came to another operation or place than the first
  int barrier_count;  // of predicates that hold
  // How lanes interleave in this block: see start_block().
  simt__order order;
  uint64_t roam, preempt;
  uint64_t random;
  uint64_t patience;  // switches and atomics left before a launch without progress is given up
};

enum simt__outcome { block_done, block_stuck, block_spins };

struct simt__engine {
  uint64_t seed = 1, launches, patience = 1ull << 32;
  simt_counters counters;
  simt_report_fn report;
  void *report_user;
  simt_atomic_fn atomic_trace;
  void *atomic_trace_user;
  cudaError_t error;

  volatile uint64_t steps;  // operations of lanes, and picks of the next lane
  bool running;
  simt__launch_site launch;
  void (*body)(const void *arguments);
  const void *arguments;
  char *shared;
  size_t shared_bytes;

  simt__block block;
  simt__warp warps[block_warps_max];
  int warps_with_stacks;
  simt__fiber host;
  simt__outcome outcome;
  simt__misuse misuse;
};

simt__launch_view simt__now;
static simt__engine engine;

// The lane that runs now; NULL on the host.
static inline simt__lane *self() { return static_cast<simt__lane *>(simt__now.lane); }

static inline unsigned bit(const simt__lane &lane) { return 1u << lane.index; }

// for (simt__lane &lane : lanes_of(warp, mask)), lowest first.
struct lanes_of {
  simt__warp *warp;
  unsigned rest;
  lanes_of(simt__warp *warp_, unsigned mask) : warp(warp_), rest(mask) {}
  lanes_of begin() const { return *this; }
  lanes_of end() const { return lanes_of(warp, 0); }
  bool operator!=(const lanes_of &other) const { return rest != other.rest; }
  void operator++() { rest &= rest - 1; }
  simt__lane &operator*() const { return warp->lanes[__builtin_ctz(rest)]; }
};

static inline bool same_place(const simt__lane *a, const simt__lane *b) {
  return same_place({a->site, a->caller}, {b->site, b->caller});
}

// >>schedule --------------------------------------------------------------------------------------
//
// A lane that has to wait switches straight to another ready one; the ready lanes of a warp are a
// bit mask, as are the ready warps of the block, and a draw from the seed picks.

static inline uint64_t mix(uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return v ^ (v >> 31);
}
static inline uint64_t draw() {
  engine.block.random ^= engine.block.random << 13;
  engine.block.random ^= engine.block.random >> 7;
  engine.block.random ^= engine.block.random << 17;
  return engine.block.random;
}

// A set bit of a non-empty mask, in this block's order. Even an ascending or descending order makes
// an exception now and then: every ready lane runs some day, as on hardware.
static inline int choose(unsigned mask, uint64_t random) {
  int shift = (int)(random & 31);
  if (engine.block.order != order_none && (random >> 5 & 15)) {
    if (engine.block.order == order_descending) return 31 - __builtin_clz(mask);
    shift = 0;
  }
  unsigned turned = mask >> shift | mask << ((32 - shift) & 31);
  return (__builtin_ctz(turned) + shift) & 31;
}

static inline void make_ready(simt__warp *warp, unsigned mask) {
  if (!mask) return;
  warp->ready |= mask;
  engine.block.ready_warps |= 1u << warp->index;
}

// Lanes that wait go on with a result.
static void release(simt__warp *warp, unsigned mask, uint64_t result) {
  for (simt__lane &lane : lanes_of(warp, mask)) {
    lane.state = lane_ready;
    lane.result = result;
  }
  make_ready(warp, mask);
}

// Of the lanes in one mask of all warps, of which some is not empty.
static simt__lane *longest_waiting(unsigned simt__warp::*waiting) {
  simt__lane *longest = NULL;
  for (int i = 0; i < engine.block.warp_count; ++i)
    for (simt__lane &lane : lanes_of(&engine.warps[i], engine.warps[i].*waiting))
      if (!longest || lane.since < longest->since) longest = &lane;
  return longest;
}
static simt__lane *any_at_activemask() {
  unsigned warps = 0;
  for (int i = 0; i < engine.block.warp_count; ++i)
    if (engine.warps[i].at_activemask) warps |= 1u << i;
  simt__warp *warp = &engine.warps[choose(warps, draw())];
  return &warp->lanes[choose(warp->at_activemask, draw())];
}

// Some of the lanes that wait where one does, at an __activemask(), go on with each other's mask:
// hardware promises no more. While other lanes run, the one is that which has waited longest.
static void release_activemask() {
  bool others_run = engine.block.ready_warps != 0;
  const simt__lane *one =
      others_run ? longest_waiting(&simt__warp::at_activemask) : any_at_activemask();
  simt__warp *warp = one->warp;
  unsigned together = 0;
  for (simt__lane &lane : lanes_of(warp, warp->at_activemask))
    if (same_place(&lane, one) && lane.value == one->value) together |= bit(lane);
  if (draw() >> 63) together &= (unsigned)(draw() >> 32) | bit(*one);
  warp->at_activemask &= ~together;
  if (!warp->at_activemask) engine.block.activemask_warps -= 1;
  release(warp, together, together);
}

static void resume_aside() {
  simt__lane *lane = longest_waiting(&simt__warp::aside);
  lane->warp->aside &= ~bit(*lane);
  engine.block.aside_count -= 1;
  make_ready(lane->warp, bit(*lane));
}

// Whether another lane than the one that runs could.
static inline bool others_can_run() {
  return engine.block.ready_warps || engine.block.activemask_warps || engine.block.aside_count;
}

enum { picks_per_release = 64, picks_per_resume = 512 };  // while other lanes are ready

// The next lane to run, no longer marked ready; NULL: none can.
static simt__lane *pick() {
  simt__block *block = &engine.block;
  uint64_t random = draw();
  engine.steps += 1;
  block->picks += 1;
  if (block->activemask_warps && (!block->ready_warps || block->picks % picks_per_release == 0))
    release_activemask();
  if (block->aside_count && (!block->ready_warps || block->picks % picks_per_resume == 0))
    resume_aside();
  simt__warp *warp = block->warp;
  if (!warp->ready || !(random & block->roam)) {
    if (!block->ready_warps) return NULL;
    warp = block->warp = &engine.warps[choose(block->ready_warps, random >> 24)];
  }
  int i = choose(warp->ready, random >> 40);
  warp->ready &= ~(1u << i);
  if (!warp->ready) block->ready_warps &= ~(1u << warp->index);
  return &warp->lanes[i];
}

static void to_host(simt__lane *me, simt__outcome outcome) {
  engine.outcome = outcome;
  simt__now.lane = NULL;
  fiber_switch(&me->fiber, &engine.host, me->state == lane_exited);
}

// Others run until `me` is ready and drawn again.
static void leave(simt__lane *me) {
  simt__lane *next = pick();
  if (next == me) return;
  if (!next) return to_host(me, engine.block.live_count ? block_stuck : block_done);
  if (--engine.block.patience == 0) return to_host(me, block_spins);
  engine.counters.lane_switches += 1;
  simt__now.lane = next;
  fiber_switch(&me->fiber, &next->fiber, me->state == lane_exited);
}

// At an operation that others may wait for, or in which the lane itself waits.
static void let_others_run(simt__lane *me, bool waits) {
  simt__block *block = &engine.block;
  if (--block->patience == 0) to_host(me, block_spins);
  if ((waits || !(draw() & block->preempt)) && others_can_run()) {
    make_ready(me->warp, bit(*me));
    leave(me);
  }
}

static inline void progress() {
  if (!engine.misuse.lane) engine.block.patience = engine.patience;
}

// What a fiber runs: one lane of one block.
static void run_lane(void) {
  simt__lane *me = self();
  fiber_arrived(&me->fiber);
  simt__now.in_operation = false;
  engine.body(engine.arguments);
  simt__now.in_operation = true;
  me->state = lane_exited;
  me->warp->exited |= bit(*me);
  me->warp->phases.leave(me->index);
  engine.block.live_count -= 1;
  progress();
  leave(me);
  __builtin_unreachable();
}

// >>text ------------------------------------------------------------------------------------------

static std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static std::string format(const char *pattern, ...) {
  char text[1024];
  va_list list;
  va_start(list, pattern);
  vsnprintf(text, sizeof text, pattern, list);
  va_end(list);
  return text;
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

static std::string line_text(const simt__line &at) { return format("%s:%d", at.file, at.line); }
static std::string called_at(const simt__lane *lane) {
  return lane->caller.line ? ", called at " + line_text(lane->caller) : "";
}
static std::string site_text(const simt__site *site) {
  return std::string(site->operation) + " at " + line_text(site->at);
}
static std::string operation_of(const simt__lane *lane) {
  return site_text(lane->site) + called_at(lane);
}

static std::string headline(const char *kind) { return format("simt: misuse: %s\n", kind); }
static std::string row(const char *label, const std::string &text) {
  return format("  %-10s ", label) + text + "\n";
}
static std::string where(const simt__warp *warp, unsigned mask) {
  const uint3 &block = simt__now.block_index;
  return row("where", format("kernel %s, block (%u,%u,%u), warp %d, ", engine.launch.kernel,
                             block.x, block.y, block.z, warp->index) +
                          lanes_text(mask));
}
static std::string mask_row(unsigned mask) {
  return row("mask", format("0x%08x, ", mask) + (mask ? lanes_text(mask) : "no lane"));
}
// What it takes to run the launch again comes last.
static std::string footer() {
  const dim3 &grid = simt__now.grid_size, &block = simt__now.block_size;
  return row("launch",
             format("%s at %s, grid (%u,%u,%u), block (%u,%u,%u)", engine.launch.kernel,
                    line_text(engine.launch.at).c_str(), grid.x, grid.y, grid.z, block.x, block.y,
                    block.z)) +
         row("seed", format("%llu, launch %llu since it was set", (unsigned long long)engine.seed,
                            (unsigned long long)engine.launches));
}

// >>misuse ----------------------------------------------------------------------------------------

enum : uint64_t { patience_after_misuse = 1ull << 20 };

// What the lane did wrong is told once no other can go on.
static void note_misuse(simt__lane *me, const std::string &text, int source = -1) {
  simt__misuse *misuse = &engine.misuse;
  if (!misuse->lane || me < misuse->lane) {
    misuse->lane = me;
    misuse->source = source;
    snprintf(misuse->text, sizeof misuse->text, "%s", text.c_str());
  }
  if (engine.block.patience > patience_after_misuse) engine.block.patience = patience_after_misuse;
}
// The lane stops here for good: others go on, it is never drawn again. (No string may be alive:
// nothing on the lane's stack is destroyed.)
[[noreturn]] static void stop(simt__lane *me, simt__state state) {
  me->state = state;
  leave(me);
  abort();
}

// The first lines of every report of one lane.
static std::string of_lane(const char *kind, const simt__lane *lane, const std::string &operation) {
  return headline(kind) + row("operation", operation) + where(lane->warp, bit(*lane));
}
static std::string of_lane(const char *kind, const simt__lane *lane) {
  return of_lane(kind, lane, operation_of(lane));
}

[[noreturn]] static void fatal(const std::string &text) {
  fflush(stdout);
  fprintf(stderr, "simt: %s\n", text.c_str());
  fflush(NULL);
  _Exit(3);
}
// The lane that runs now, about to execute the operation.
static inline simt__lane *lane_at(const simt__site *site) {
  simt__lane *me = self();
  if (!me) fatal(site_text(site) + " is executed outside a kernel");
  engine.steps += 1;
  return me;
}

void simt__check_failed(const simt__site *site) {
  const simt__operation operation;
  simt__lane *me = lane_at(site);
  note_misuse(me, headline("a check failed") + row("check", site->operation) +
                      row("operation", line_text(site->at) + called_at(me)) +
                      where(me->warp, bit(*me)));
  stop(me, lane_stopped);
}

// >>collective ------------------------------------------------------------------------------------

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

static void give_all(simt__warp *warp, unsigned mask, uint64_t result) {
  for (simt__lane &lane : lanes_of(warp, mask)) lane.result = result;
}

// False: some lane read what it must not.
static bool shuffle(simt__warp *warp, unsigned mask) {
  bool good = true;
  for (simt__lane &lane : lanes_of(warp, mask)) {
    int source = source_lane(&lane);
    lane.result = warp->lanes[source].value;
    if (!(mask >> source & 1u)) {
      note_misuse(&lane, of_lane("a shuffle reads a lane that does not take part", &lane) +
                             mask_row(mask), source);
      good = false;
    } else if (source != lane.index && is_poison_key(lane.result, lane.bytes)) {
      note_misuse(&lane, of_lane("a shuffle reads the poison key of another lane", &lane) +
                             mask_row(mask) +
                             row("reads", format("lane %d, which holds the poison key", source)));
      good = false;
    }
  }
  return good;
}

// Those of `mask` that hold the value.
static unsigned holders(simt__warp *warp, unsigned mask, uint64_t value) {
  unsigned equal = 0;
  for (simt__lane &lane : lanes_of(warp, mask))
    if (lane.value == value) equal |= bit(lane);
  return equal;
}

static bool match(simt__warp *warp, unsigned mask, simt__kind kind) {
  for (simt__lane &lane : lanes_of(warp, mask)) {
    if (!is_poison_key(lane.value, lane.bytes)) continue;
    note_misuse(&lane, of_lane("a match compares the poison key", &lane) + mask_row(mask));
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
  for (simt__lane &lane : lanes_of(warp, mask & (mask - 1)))
    sum = reduce_pair(kind, sum, (uint32_t)lane.value);
  give_all(warp, mask, sum);
}

// All named lanes are here: computes the result of each. False: misuse.
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
    case SIMT__MEET:
      return true;
    default:
      counters->redux += 1;
      reduce(warp, mask, last->kind);
      return true;
  }
}

static bool may_meet(const simt__lane *a, const simt__lane *b) {
  // __syncwarp() may be executed at different places.
  return a->kind == b->kind && (a->kind == SIMT__SYNCWARP || same_place(a, b));
}

static simt__meeting *find_meeting(simt__warp *warp, simt__lane *me) {
  for (int i = 0; i < warp->meeting_count; ++i) {
    simt__meeting *m = &warp->meetings[i];
    if (m->first->mask == me->mask && may_meet(m->first, me)) return m;
  }
  simt__meeting *m = &warp->meetings[warp->meeting_count++];
  *m = {me, 0};
  return m;
}

__attribute__((noinline)) static void note_wrong_arguments(simt__lane *me) {
  if (me->mask & bit(*me)) {
    note_misuse(me, of_lane("a shuffle's width is not a power of two from 1 to 32", me) +
                        row("width", format("%d", me->width)));
    return;
  }
  const char *kind = me->mask ? "a lane is not in its own mask" : "an empty mask";
  note_misuse(me, of_lane(kind, me) + mask_row(me->mask));
}

uint64_t simt__collective(const simt__site *site, simt__kind kind, unsigned mask, uint64_t value,
                          int argument, int width, int bytes) {
  const simt__operation operation;
  simt__lane *me = lane_at(site);
  simt__warp *warp = me->warp;
  me->kind = kind;
  me->site = site;
  me->mask = mask;
  me->value = value;
  me->argument = argument;
  me->width = width;
  me->bytes = bytes;
  if (!(mask & bit(*me)) || width < 1 || width > 32 || (width & (width - 1))) {
    note_wrong_arguments(me);
    stop(me, lane_misused);
  }
  simt__meeting *meeting = find_meeting(warp, me);
  meeting->arrived |= bit(*me);
  if (meeting->arrived != mask) {
    me->state = lane_waits;
    leave(me);
    return me->result;
  }
  bool good = carry_out(warp, me);
  *meeting = warp->meetings[--warp->meeting_count];
  for (simt__lane &lane : lanes_of(warp, mask)) lane.state = good ? lane_ready : lane_misused;
  if (!good) stop(me, lane_misused);
  warp->phases.synchronise(mask);
  progress();
  // The last to arrive need not be the first to go on.
  bool goes_on = draw() >> 62;
  make_ready(warp, goes_on ? mask & ~bit(*me) : mask);
  if (!goes_on) leave(me);
  return me->result;
}

// A value for the addresses that the functions in progress return to. Hardware does not bring lanes
// together whose calls, or copies of a function, only these tell apart.
static _Unwind_Reason_Code add_frame(_Unwind_Context *frame, void *path) {
  *static_cast<uint64_t *>(path) = mix(*static_cast<uint64_t *>(path) + _Unwind_GetIP(frame));
  return _URC_NO_REASON;
}
static uint64_t path_here() {
  uint64_t path = 0;
  _Unwind_Backtrace(add_frame, &path);
  return path;
}

unsigned simt__activemask(const simt__site *site) {
  const simt__operation operation;
  simt__lane *me = lane_at(site);
  me->site = site;
  me->value = path_here();
  me->since = engine.steps;
  me->state = lane_at_activemask;
  if (!me->warp->at_activemask) engine.block.activemask_warps += 1;
  me->warp->at_activemask |= bit(*me);
  leave(me);
  return (unsigned)me->result;
}

void simt__count_scan(const simt__site *site, unsigned long long argument, int instructions) {
  simt__lane *me = self();
  if (!me) return;
  const simt__operation operation;
  engine.steps += 1;
  count_scan(&engine.counters, &me->warp->phases, me->index, {site, me->caller}, argument,
             (unsigned)instructions);
}

// >>barrier ---------------------------------------------------------------------------------------

static int barrier_result(simt__kind kind) {
  const simt__block *block = &engine.block;
  return kind == SIMT__BARRIER_OR    ? block->barrier_count != 0
         : kind == SIMT__BARRIER_AND ? block->barrier_count == block->thread_count
                                     : block->barrier_count;
}
static void barrier_clear() {
  engine.block.barrier_arrived = 0;
  engine.block.barrier_mixed = false;
  engine.block.barrier_count = 0;
}

static void barrier_release(simt__kind kind) {
  uint64_t result = (uint64_t)barrier_result(kind);
  barrier_clear();
  engine.counters.block_barriers += 1;
  for (int i = 0; i < engine.block.warp_count; ++i) {
    simt__warp *warp = &engine.warps[i];
    release(warp, warp->launched, result);
    warp->phases.synchronise(warp->launched);
  }
  progress();
}

int simt__barrier(const simt__site *site, simt__kind kind, int predicate) {
  const simt__operation operation;
  simt__lane *me = lane_at(site);
  simt__block *block = &engine.block;
  me->kind = kind;
  me->site = site;
  me->state = lane_at_barrier;
  if (block->barrier_arrived++ == 0) block->barrier_first = me;
  if (!same_place(block->barrier_first, me)) block->barrier_mixed = true;
  block->barrier_count += predicate != 0;
  if (block->barrier_arrived == block->thread_count && !block->barrier_mixed) barrier_release(kind);
  leave(me);
  return (int)me->result;
}

// >>memory ----------------------------------------------------------------------------------------
//
// A block begins with a page, and pages that cannot be touched lie around it: an access to row -1
// faults. Atomics are compared with the block's bytes. AddressSanitizer does both in its builds.

static cudaError_t result(cudaError_t error);  // >>runtime

enum { guard_bytes = 1 << 20, filled_bytes_max = 1 << 20 };

static struct {
  const char *begin, *end;
} recent_block;  // where the last address was found: no search, if the next one is there, too

#if SIMT__ASAN

static void *new_block(size_t bytes) {
  void *block = NULL;
  return posix_memalign(&block, 256, bytes) == 0 ? block : NULL;
}
static bool free_block(void *block) {
  free(block);
  return true;
}
static std::string block_text(const char *, unsigned) { return ""; }

#else

// Bytes by first byte. Never destroyed: objects of other files may allocate and free around main().
static std::map<const char *, size_t> &blocks() {
  static auto &all = *new std::map<const char *, size_t>;
  return all;
}

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

static void *new_block(size_t bytes) {
  const size_t inside = whole_pages(bytes), all = inside + 2 * (size_t)guard_bytes;
  if (inside < bytes || all < bytes) return NULL;
  void *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  char *block = static_cast<char *>(memory) + guard_bytes;
  if (mprotect(block, inside, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, all);
    return NULL;
  }
  blocks()[block] = bytes;
  return block;
}

// Returns whether that is one.
static bool free_block(void *memory) {
  char *block = static_cast<char *>(memory);
  const auto found = blocks().find(block);
  if (found == blocks().end()) return false;
  munmap(block - guard_bytes, whole_pages(found->second) + 2 * (size_t)guard_bytes);
  blocks().erase(found);
  recent_block = {};
  return true;
}

// Returns a row that says where an address lies if it is near a block, and not all its bytes are in
// it; else nothing. Halves are added in words of 4 bytes.
static std::string block_text(const char *address, unsigned bytes) {
  auto block = blocks().upper_bound(address + guard_bytes);
  if (block == blocks().begin()) return "";
  --block;
  const ptrdiff_t at = address - block->first;
  const size_t size = (block->second + 3) / 4 * 4;
  if (at >= 0 && (size_t)at + bytes <= size) {
    recent_block = {block->first, block->first + size};
    return "";
  }
  if (at >= (ptrdiff_t)(whole_pages(size) + guard_bytes)) return "";
  return row("block", format("byte %td of one of %zu bytes from cudaMalloc", at, block->second));
}

#endif

cudaError_t simt__malloc(void **pointer, size_t bytes) {
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  *pointer = new_block(bytes);
  if (!*pointer) return result(cudaErrorMemoryAllocation);
  if (bytes <= filled_bytes_max) memset(*pointer, 0xff, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void *pointer) {
  return result(!pointer || free_block(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

// >>atomic ----------------------------------------------------------------------------------------

// The `__shared__` objects of the program or library that this file is part of: address and bytes.
typedef std::map<uintptr_t, size_t> simt__objects;

#if SIMT_SHARED_SECTION

__attribute__((used)) __shared__ char one_object;

static int find_module(dl_phdr_info *info, size_t, void *found) {
  uintptr_t at = (uintptr_t)&engine - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || at - part.p_vaddr >= part.p_memsz) continue;
    *static_cast<dl_phdr_info *>(found) = *info;
    return 1;
  }
  return 0;
}

// By the symbols in its file: names that end in the tag.
static simt__objects find_shared_objects() {
  simt__objects objects;
  dl_phdr_info module = {};
  dl_iterate_phdr(find_module, &module);
  int file = open(*module.dlpi_name == '/' ? module.dlpi_name : "/proc/self/exe", O_RDONLY);
  size_t bytes = (size_t)lseek(file, 0, SEEK_END);
  void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) fatal("the program's file cannot be read; see SIMT_SHARED_SECTION");
  const char *image = static_cast<const char *>(memory);
  const ElfW(Ehdr) *head = reinterpret_cast<const ElfW(Ehdr) *>(image);
  const ElfW(Shdr) *sections = reinterpret_cast<const ElfW(Shdr) *>(image + head->e_shoff);
  for (const ElfW(Shdr) *s = sections; s < sections + head->e_shnum; ++s) {
    if (s->sh_type != SHT_SYMTAB) continue;
    const char *names = image + sections[s->sh_link].sh_offset;
    const ElfW(Sym) *symbol = reinterpret_cast<const ElfW(Sym) *>(image + s->sh_offset);
    for (const ElfW(Sym) *end = symbol + s->sh_size / sizeof *symbol; symbol < end; ++symbol)
      if (strstr(names + symbol->st_name, "B11simt_shared"))
        objects[module.dlpi_addr + symbol->st_value] = symbol->st_size;
  }
  munmap(memory, bytes);
  if (objects.empty()) fatal("the program has no symbols (strip, -s); see SIMT_SHARED_SECTION");
  return objects;
}

#else

static simt__objects find_shared_objects() { return simt__objects(); }

#endif

static uintptr_t shared_first, shared_span;  // all objects lie between
static const simt__objects &shared_objects() {
  static const simt__objects objects = find_shared_objects();
  if (shared_span || objects.empty()) return objects;
  shared_first = objects.begin()->first;
  shared_span = objects.rbegin()->first + objects.rbegin()->second - shared_first;
  return objects;
}

int simt_is_global(const void *address) {
  uintptr_t at = (uintptr_t)address;
  if (at - (uintptr_t)engine.shared < engine.shared_bytes) return false;
  if (at - shared_first >= shared_span) return true;  // most are
  auto object = --shared_objects().upper_bound(at);
  return at - object->first >= object->second;
}

enum { poison_reach_bytes = 1 << 20 };

float simt_poison_f32(void) { return __uint_as_float(0x7fc5eed5u); }
int simt_poison_key(void) { return 0x6bad5eed; }
// The middle of pages that cannot be touched: a load or store there faults.
float *simt_poison_pointer(void) {
  static char *middle = NULL;
  if (!middle) {
    size_t half = 2 * (size_t)poison_reach_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, 2 * half, PROT_NONE, flags, -1, 0);
    if (memory == MAP_FAILED) fatal("no address space for the poison pointer");
    middle = static_cast<char *>(memory) + half;
  }
  return reinterpret_cast<float *>(middle);
}

static bool is_poison_address(const void *address) {
  intptr_t distance = (intptr_t)address - (intptr_t)simt_poison_pointer();
  return (distance < 0 ? -distance : distance) <= (intptr_t)poison_reach_bytes;
}
static bool is_poison_value(float value) {
  const unsigned sign = 0x80000000u;
  return (__float_as_uint(value) | sign) == (__float_as_uint(simt_poison_f32()) | sign);
}

static std::string poison_pointer_text(const simt__lane *lane, const std::string &operation,
                                       const void *address) {
  long long distance = (long long)((intptr_t)address - (intptr_t)simt_poison_pointer());
  return of_lane("an access through the poison pointer", lane, operation) +
         row("address", format("the poison pointer %+lld bytes", distance));
}

__attribute__((noinline)) static void note_address(simt__lane *me, const void *address,
                                                   unsigned bytes) {
  if (is_poison_address(address)) {
    note_misuse(me, poison_pointer_text(me, operation_of(me), address));
    return;
  }
  const std::string block = block_text(static_cast<const char *>(address), bytes);
  if (!block.empty()) {
    note_misuse(me, of_lane("an atomic on memory that is not there", me) + block);
    return;
  }
  note_misuse(me, of_lane("a misaligned atomic", me) +
                      row("address",
                          format("%u bytes beyond a multiple of the %u that it must be aligned to",
                                 (unsigned)((uintptr_t)address % bytes), bytes)));
}

// May let others run; stops the lane if the address is wrong.
static simt__lane *before_atomic(const simt__site *site, const void *address, unsigned bytes) {
  simt__lane *me = lane_at(site);
  const char *begin = static_cast<const char *>(address), *end = begin + bytes;
  const bool is_inside = begin >= recent_block.begin && end <= recent_block.end;
  if (is_poison_address(address) || (uintptr_t)address % bytes ||
      (!is_inside && !block_text(begin, bytes).empty())) {
    me->site = site;
    note_address(me, address, bytes);
    stop(me, lane_stopped);
  }
  let_others_run(me, false);
  return me;
}

void simt__pause(bool waits) {
  const simt__operation operation;
  if (simt__lane *me = self()) let_others_run(me, waits);
}

static void count_global_atomic(simt__lane *me, const simt__site *site, const void *address,
                                unsigned bytes, bool vector) {
  count_reduction(&engine.counters, &me->warp->phases, me->index, {site, me->caller},
                  (uintptr_t)address, vector);
  if (!engine.atomic_trace) return;
  const simt_atomic atomic = {site, address, bytes, me->warp->phases.of_lane[me->index]};
  engine.atomic_trace(&atomic, engine.atomic_trace_user);
}

void simt__atomic(const simt__site *site, const void *address, unsigned bytes, unsigned floats) {
  simt__lane *me = before_atomic(site, address, bytes);
  if (!simt_is_global(address)) {
    engine.counters.shared_atomics += 1;
    return;
  }
  engine.counters.lane_adds += floats;
  count_global_atomic(me, site, address, bytes, false);
}

void simt__atomic_value(const simt__site *site, float value) {
  const simt__operation operation;
  if (!is_poison_value(value)) return;
  simt__lane *me = lane_at(site);
  me->site = site;
  note_misuse(me, of_lane("an atomic adds the poison value, or a sum it went into", me));
  stop(me, lane_stopped);
}

static float half_value(simt__halves halves, unsigned half) {
  return halves == simt__bf16x2 ? __uint_as_float(half << 16)
                                : simt_cvt_f32_f16((unsigned short)half);
}
static unsigned half_of(simt__halves halves, float x) {
  return halves == simt__f16x2 ? simt_cvt_rn_f16_f32(x) : simt_cvt_rn_bf16_f32(x);
}

static unsigned add_word(simt__halves halves, unsigned a, unsigned b) {
  if (halves == simt__floats) return __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
  unsigned sums[2];
  for (int i = 0; i < 2; ++i)
    sums[i] = half_of(halves, half_value(halves, a >> 16 * i & 0xffffu) +
                                  half_value(halves, b >> 16 * i & 0xffffu));
  return sums[0] | sums[1] << 16;
}

void simt__red_add(const simt__site *site, simt__halves halves, void *address,
                   const unsigned *words, int count) {
  const simt__operation operation;
  for (int i = 0; halves == simt__floats && i < count; ++i)
    simt__atomic_value(site, __uint_as_float(words[i]));
  simt__lane *me = before_atomic(site, address, (unsigned)count * 4);
  if (!simt_is_global(address)) {
    me->site = site;
    note_misuse(me, of_lane("a vector reduction on shared memory", me));
    stop(me, lane_stopped);
  }
  engine.counters.lane_adds += (unsigned)count * (halves == simt__floats ? 1u : 2u);
  count_global_atomic(me, site, address, (unsigned)count * 4, count > 1);
  unsigned *memory = static_cast<unsigned *>(address);
  for (int i = 0; i < count; ++i) memory[i] = add_word(halves, memory[i], words[i]);
}

// >>fault -----------------------------------------------------------------------------------------
//
// While a launch runs, SIGSEGV and SIGBUS become a misuse like any other: the handler runs on a
// stack of its own and switches from there to the next lane; the lane at fault never comes back.
// AddressSanitizer has a better report of its own, so its builds leave the signals to it.

#if SIMT__ASAN

static void catch_faults() {}
static void release_faults() {}

#else

static std::string fault_text(const simt__lane *lane, const char *address) {
  const simt__fiber *fiber = &lane->fiber;
  const std::string operation = "a load or store" + called_at(lane);
  if (address < fiber->stack && address >= fiber->stack - (size_t)sysconf(_SC_PAGESIZE))
    return of_lane("a lane's stack overflows", lane, operation) +
           row("stack", format("%zu bytes; SIMT_STACK_BYTES sets it", fiber->stack_bytes));
  if (is_poison_address(address)) return poison_pointer_text(lane, operation, address);
  return of_lane("an access to memory that is not there", lane, operation) +
         row("address", format("0x%llx", (unsigned long long)(uintptr_t)address)) +
         block_text(address, 1);
}

static void on_fault(int signal_number, siginfo_t *info, void *) {
  simt__lane *me = self();
  if (!me) {  // the host's: it happens again, with the system's own handling
    signal(signal_number, SIG_DFL);
    return;
  }
  simt__now.in_operation = true;
  note_misuse(me, fault_text(me, static_cast<const char *>(info->si_addr)));
  stop(me, lane_stopped);
}

static struct sigaction former_segv, former_bus;
static stack_t former_stack;

static void catch_faults() {
  alignas(16) static char stack[1 << 16];
  stack_t own = stack_t();
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  sigaltstack(&own, &former_stack);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  // Not deferred: the handler does not return, so nothing would unblock the signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &former_segv);
  sigaction(SIGBUS, &action, &former_bus);
}
static void release_faults() {
  sigaction(SIGSEGV, &former_segv, NULL);
  sigaction(SIGBUS, &former_bus, NULL);
  sigaltstack(&former_stack, NULL);
}

#endif

// >>tick ------------------------------------------------------------------------------------------
//
// A lane may spin around loads of what another one stores, without any operation that could let
// that one run. While a launch runs, a timer sees that the lane has not come to its next step for
// long and puts it aside: it goes on once no other lane can, or much later. Once one lane has spun,
// turns are short.

#if defined(__linux__)

enum : long { tick_nanoseconds = 10000000, short_tick_nanoseconds = 50000 };
enum { ticks_of_one_turn = 2, steps_of_one_turn = 1 << 14 };

// System calls, since C libraries before glibc 2.34 have these functions in another library.
static int timer;
static void set_ticks(long nanoseconds) {
  const itimerspec every = {{0, nanoseconds}, {0, nanoseconds}};
  syscall(SYS_timer_settime, timer, 0, &every, NULL);
}

static void on_tick(int) {
  static uint64_t steps_seen;
  static int idle_ticks;
  simt__lane *me = self();
  bool idle = me && !simt__now.in_operation && steps_seen == engine.steps;
  idle_ticks = idle ? idle_ticks + 1 : 0;
  steps_seen = engine.steps;
  if (idle_ticks < ticks_of_one_turn) return;
  const simt__operation operation;
  int error = errno;
  set_ticks(short_tick_nanoseconds);
  simt__block *block = &engine.block;
  if (block->patience <= steps_of_one_turn) to_host(me, block_spins);
  block->patience -= steps_of_one_turn;
  me->since = engine.steps;
  me->warp->aside |= bit(*me);
  block->aside_count += 1;
  leave(me);
  errno = error;
}

static struct sigaction former_tick;

static void start_ticks() {
  struct sigaction action = {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_NODEFER | SA_RESTART;  // other lanes run before the handler returns
  sigaction(SIGVTALRM, &action, &former_tick);
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGVTALRM;
  event._sigev_un._tid = (int)syscall(SYS_gettid);
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0) set_ticks(tick_nanoseconds);
}
static void stop_ticks() {
  syscall(SYS_timer_delete, timer);
  sigaction(SIGVTALRM, &former_tick, NULL);
}

#else

static void start_ticks() {}
static void stop_ticks() {}

#endif

// >>stuck -----------------------------------------------------------------------------------------
//
// Misuses of one lane come first, the lowest warp and lane among them; then lanes that wait for
// each other in vain; then barriers.

static std::string whereabouts(simt__warp *warp, int index) {
  const simt__lane *lane = &warp->lanes[index];
  if (!(warp->launched >> index & 1u)) return "never launched";
  switch (lane->state) {
    case lane_exited: return "exited";
    case lane_stopped: return "stopped by a misuse of its own";
    case lane_at_barrier: return "at " + operation_of(lane);
    case lane_waits:
    case lane_misused: return "at " + operation_of(lane) + format(" with mask 0x%08x", lane->mask);
    default: return "still running";
  }
}

// One row per group of lanes that are in the same place.
static std::string whereabouts_rows(const char *label, simt__warp *warp, unsigned mask,
                                    const std::string &before = "") {
  std::string text;
  while (mask) {
    std::string place = whereabouts(warp, __builtin_ctz(mask));
    unsigned same = 0;
    for (simt__lane &lane : lanes_of(warp, mask))
      if (whereabouts(warp, lane.index) == place) same |= bit(lane);
    text += row(label, before + lanes_text(same) + " (" + place + ")");
    mask &= ~same;
  }
  return text;
}

static unsigned missing_lanes(const simt__meeting *m) { return m->first->mask & ~m->arrived; }

// Why a meeting does not come about, the most telling reason first.
enum reason {
  reason_gone,
  reason_masks_meet,
  reason_operations_meet,
  reason_at_barrier,
  reason_elsewhere,
  reason_none
};
static reason reason_of_lane(const simt__meeting *m, const simt__lane &lane) {
  if (!(lane.warp->launched & bit(lane)) || lane.state == lane_exited) return reason_gone;
  if (lane.state == lane_at_barrier) return reason_at_barrier;
  if (lane.state != lane_waits || !(lane.mask & m->arrived)) return reason_elsewhere;
  return may_meet(&lane, m->first) ? reason_masks_meet : reason_operations_meet;
}
static reason reason_of(const simt__meeting *m) {
  reason least = reason_none;
  for (simt__lane &lane : lanes_of(m->first->warp, missing_lanes(m))) {
    reason r = reason_of_lane(m, lane);
    if (r < least) least = r;
  }
  return least;
}

static std::string meeting_text(const simt__meeting *m) {
  reason why = reason_of(m);
  const char *kind = why == reason_masks_meet        ? "two masks meet at one operation"
                     : why == reason_operations_meet ? "two operations meet"
                                                     : "named lanes never arrive";
  simt__warp *warp = m->first->warp;
  unsigned mask = m->first->mask;
  return headline(kind) +
         row("operation", operation_of(&warp->lanes[__builtin_ctz(m->arrived)])) +
         where(warp, m->arrived) + mask_row(mask) +
         row("arrived", format("only %d of the %d lanes named arrived",
                               __builtin_popcount(m->arrived), __builtin_popcount(mask))) +
         whereabouts_rows("missing", warp, missing_lanes(m));
}

// The meeting with the most telling reason; of equal ones in a warp that of the lowest lane.
static const simt__meeting *worst_meeting() {
  const simt__meeting *worst = NULL;
  for (int w = 0; w < engine.block.warp_count; ++w) {
    const simt__warp *warp = &engine.warps[w];
    for (const simt__meeting *m = warp->meetings; m < warp->meetings + warp->meeting_count; ++m) {
      reason r = reason_of(m), least = worst ? reason_of(worst) : reason_none;
      bool lower = worst && worst->first->warp == warp && r == least &&
                   __builtin_ctz(m->arrived) < __builtin_ctz(worst->arrived);
      if (!worst || r < least || lower) worst = m;
    }
  }
  return worst;
}

static simt__lane *first_at_barrier() {
  for (int w = 0; w < engine.block.warp_count; ++w)
    for (simt__lane &lane : lanes_of(&engine.warps[w], engine.warps[w].launched))
      if (lane.state == lane_at_barrier) return &lane;
  return NULL;
}

static std::string barrier_text(const simt__lane *first) {
  enum { warps_shown = 4 };
  int arrived = 0, hidden = 0, shown = 0;
  std::string missing;
  for (int w = 0; w < engine.block.warp_count; ++w) {
    simt__warp *warp = &engine.warps[w];
    unsigned away = 0;
    for (simt__lane &lane : lanes_of(warp, warp->launched)) {
      bool here = lane.state == lane_at_barrier && same_place(&lane, first);
      arrived += here;
      if (!here) away |= bit(lane);
    }
    if (!away) continue;
    if (shown++ < warps_shown)
      missing += whereabouts_rows("missing", warp, away, format("warp %d, ", w));
    else
      hidden += 1;
  }
  if (hidden) missing += row("missing", format("and lanes of %d more warps", hidden));
  return headline("a barrier in divergent code") + row("operation", operation_of(first)) +
         where(first->warp, bit(*first)) +
         row("arrived", format("only %d of the %d threads of the block arrived", arrived,
                               engine.block.thread_count)) +
         missing;
}

// Where the lane that was read stands is known only now.
static std::string misuse_text(const simt__misuse *misuse) {
  if (misuse->source < 0) return misuse->text;
  return misuse->text + row("reads", format("lane %d, which is not in the mask (", misuse->source) +
                                         whereabouts(misuse->lane->warp, misuse->source) + ")");
}

static std::string stuck_text() {
  if (engine.misuse.lane) return misuse_text(&engine.misuse);
  if (const simt__meeting *worst = worst_meeting()) return meeting_text(worst);
  return barrier_text(first_at_barrier());
}

static uint64_t grid_blocks() {
  const dim3 &grid = simt__now.grid_size;
  return (uint64_t)grid.x * grid.y * grid.z;
}

static std::string spinning_text() {
  simt__warp *warp = NULL;
  unsigned running = 0;
  for (int w = 0; w < engine.block.warp_count && !running; ++w) {
    warp = &engine.warps[w];
    for (simt__lane &lane : lanes_of(warp, warp->launched))
      if (lane.state == lane_ready) running |= bit(lane);
  }
  const uint3 &block = simt__now.block_index;
  const dim3 &grid = simt__now.grid_size;
  uint64_t later = grid_blocks() - 1 - block.x -
                   (uint64_t)grid.x * (block.y + (uint64_t)grid.y * block.z);
  return headline("no progress: lanes keep running, but none synchronises or exits") +
         row("steps", format("%llu", (unsigned long long)engine.patience)) +
         where(warp, running) + whereabouts_rows("others", warp, warp->launched & ~running) +
         (later ? row("blocks", format("%llu later ones wait: blocks run one after another",
                                       (unsigned long long)later))
                : "");
}

// >>launch ----------------------------------------------------------------------------------------

static void start_lane(simt__lane *lane, int thread, dim3 size) {
  unsigned t = (unsigned)thread;
  lane->thread_index = make_uint3(t % size.x, t / size.x % size.y, t / size.x / size.y);
  lane->caller = simt__line();
  fiber_reset(&lane->fiber, lane->state != lane_exited);
  lane->state = lane_ready;
  fiber_prepare(&lane->fiber, run_lane, t);
}

// Most blocks draw lanes uniformly; some run them in ascending or in descending order. How often
// another warp gets its turn, and how often an atomic lets others run, is drawn too.
static void draw_style(simt__block *block, uint64_t block_number) {
  static const uint64_t roams[4] = {0, 7, 31, 127}, preempts[4] = {0, 1, 7, 31};
  static const simt__order orders[8] = {order_ascending, order_descending};  // the others: none
  block->random = mix(mix(engine.seed * 0x9e3779b97f4a7c15ull + engine.launches) + block_number);
  block->random |= block->random == 0;
  uint64_t style = draw() >> 32;
  block->order = orders[style & 7];
  block->roam = roams[style >> 3 & 3];
  block->preempt = preempts[style >> 5 & 3];
}

static void start_block(dim3 size, uint64_t block_number) {
  simt__block *block = &engine.block;
  draw_style(block, block_number);
  block->patience = engine.patience;
  block->warp_count = (block->thread_count + 31) / 32;
  block->live_count = block->thread_count;
  block->ready_warps = 0;
  block->activemask_warps = block->aside_count = 0;
  block->picks = draw();
  block->warp = &engine.warps[0];
  barrier_clear();
  for (int w = 0; w < block->warp_count; ++w) {
    simt__warp *warp = &engine.warps[w];
    int lanes = block->thread_count - 32 * w;
    warp->launched = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    warp->exited = warp->ready = warp->at_activemask = warp->aside = 0;
    warp->meeting_count = 0;
    warp->phases.start();
    make_ready(warp, warp->launched);
    for (simt__lane &lane : lanes_of(warp, warp->launched))
      start_lane(&lane, 32 * w + lane.index, size);
  }
  // Shared memory holds garbage at the start of a block: NaNs, or the integer -1.
  if (engine.shared_bytes) memset(engine.shared, 0xff, engine.shared_bytes);
  for (const auto &object : shared_objects())
    memset(reinterpret_cast<void *>(object.first), 0xff, object.second);
}

static bool reserve_warp(simt__warp *warp, int index) {
  simt__fiber *fibers[32];
  warp->index = index;
  for (int i = 0; i < 32; ++i) {
    warp->lanes[i].index = i;
    warp->lanes[i].warp = warp;
    fibers[i] = &warp->lanes[i].fiber;
  }
  return fiber_stacks(fibers, 32);
}

// Stacks and shared memory; kept for the next launch. False: no memory.
static bool reserve(int warp_count, size_t shared_bytes) {
  for (; engine.warps_with_stacks < warp_count; ++engine.warps_with_stacks) {
    int w = engine.warps_with_stacks;
    if (!reserve_warp(&engine.warps[w], w)) return false;
  }
  // A buffer of exactly this size lets AddressSanitizer see what lies beyond.
  if (shared_bytes != engine.shared_bytes) {
    free(engine.shared);
    engine.shared_bytes = 0;
    engine.shared = NULL;
    void *memory = NULL;
    if (shared_bytes && posix_memalign(&memory, 256, shared_bytes) != 0) return false;
    engine.shared = static_cast<char *>(memory);
    engine.shared_bytes = shared_bytes;
  }
  simt__now.dynamic_shared = engine.shared;
  return true;
}

static simt__outcome run_block() {
  simt__lane *first = pick();
  simt__now.lane = first;
  fiber_switch(&engine.host, &first->fiber, false);
  return engine.outcome;
}

static void abandon(simt__outcome outcome) {
  bool spins = outcome == block_spins && !engine.misuse.lane;
  std::string text = (spins ? spinning_text() : stuck_text()) + footer();
  engine.error = cudaErrorLaunchFailure;
  if (engine.report) {
    engine.report(text.c_str(), engine.report_user);
    return;
  }
  fflush(stdout);
  fputs(text.c_str(), stderr);
  fflush(NULL);
  _Exit(3);
}

enum { shared_bytes_max = 227 * 1024 };

static cudaError_t check_launch(dim3 grid, dim3 block, size_t shared_bytes) {
  uint64_t threads = (uint64_t)block.x * block.y * block.z;
  uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads == 0 || blocks == 0 ||
      threads > block_threads_max || grid.y > 65535 || grid.z > 65535 ||
      shared_bytes > shared_bytes_max)
    return cudaErrorInvalidConfiguration;
  engine.block.thread_count = (int)threads;
  return reserve((int)(threads + 31) / 32, shared_bytes) ? cudaSuccess
                                                         : cudaErrorMemoryAllocation;
}

void simt__run(const simt__launch_site &site, dim3 grid, dim3 block, size_t shared_bytes,
               void (*body)(const void *arguments), const void *arguments) {
  if (engine.running) fatal(std::string("kernel ") + site.kernel + " is launched by a kernel");
  cudaError_t error = check_launch(grid, block, shared_bytes);
  if (error != cudaSuccess) {
    engine.error = error;
    return;
  }
  engine.running = true;
  engine.launch = site;
  engine.body = body;
  engine.arguments = arguments;
  engine.misuse.lane = NULL;
  engine.host = simt__fiber();
  simt__now.grid_size = grid;
  simt__now.block_size = block;
  simt__outcome outcome = block_done;
  catch_faults();
  start_ticks();
  uint64_t count = grid_blocks();
  for (uint64_t b = 0; b < count && outcome == block_done; ++b) {
    simt__now.block_index = make_uint3((unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                                       (unsigned)(b / grid.x / grid.y));
    start_block(block, b);
    outcome = run_block();
  }
  stop_ticks();
  release_faults();
  engine.running = false;
  if (outcome != block_done) abandon(outcome);
  engine.launches += 1;
}

// >>control ---------------------------------------------------------------------------------------

void simt_seed(unsigned long long seed) {
  engine.seed = seed;
  engine.launches = 0;
}
unsigned long long simt_seed_from_env(void) {
  const char *text = getenv("SIMT_SEED");
  if (text && *text) simt_seed(strtoull(text, NULL, 0));
  return engine.seed;
}

void simt_patience(unsigned long long steps) { engine.patience = steps ? steps : 1; }

void simt_counters_reset(void) { engine.counters = simt_counters(); }
struct simt_counters simt_counters_read(void) { return engine.counters; }

void simt_set_atomic_trace(simt_atomic_fn fn, void *user) {
  engine.atomic_trace = fn;
  engine.atomic_trace_user = user;
}

void simt_set_report(simt_report_fn fn, void *user) {
  engine.report = fn;
  engine.report_user = user;
}

// >>runtime ---------------------------------------------------------------------------------------

static const struct {
  cudaError_t error;
  const char *name, *text;
} errors[] = {
#define ROW(name, number, text) {name, #name, text},
    SIMT__EACH_ERROR(ROW)
#undef ROW
};
const char *cudaGetErrorName(cudaError_t error) {
  for (const auto &e : errors)
    if (e.error == error) return e.name;
  return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t error) {
  for (const auto &e : errors)
    if (e.error == error) return e.text;
  return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void) { return engine.error; }
cudaError_t cudaGetLastError(void) {
  cudaError_t error = engine.error;
  engine.error = cudaSuccess;
  return error;
}
// Like the real runtime, these also return what an earlier launch left behind, and leave it there.
cudaError_t cudaDeviceSynchronize(void) { return engine.error; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return engine.error; }

// What the host calls wrongly becomes the last error, too.
static cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) engine.error = error;
  return error;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  if (bytes && (!to || !from)) return result(cudaErrorInvalidValue);
  if (bytes) memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  if (bytes && !to) return result(cudaErrorInvalidValue);
  if (bytes) memset(to, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t) {
  return cudaMemset(to, byte, bytes);
}

struct simt__event {
  std::chrono::steady_clock::time_point time;
};
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new simt__event();
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

long long clock64(void) {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
