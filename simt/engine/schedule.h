// schedule.h -- which lane runs next, and how one stops for good.
// SPDX-License-Identifier: Apache-2.0
//
// A lane that has to wait switches straight to another ready one; the ready lanes of a warp are a
// bit mask, as are the ready warps of the block, and a draw from the seed picks.
#ifndef SIMT_ENGINE_SCHEDULE_H
#define SIMT_ENGINE_SCHEDULE_H

enum : uint64_t { patience_after_misuse = 1ull << 20 };

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

// A set bit of a non-empty mask, by this block's style. Even a style with an order of its own makes
// an exception now and then: every lane that is ready runs some day, as on hardware.
static inline int choose(unsigned mask, uint64_t random) {
  int shift = (int)(random & 31);
  if (engine.block.order != order_none && (random >> 5 & 15)) {
    if (engine.block.order == order_descending) return 31 - __builtin_clz(mask);
    shift = 0;
  }
  unsigned turned = mask >> shift | mask << ((32 - shift) & 31);
  return (__builtin_ctz(turned) + shift) & 31;
}

static inline void make_ready(simt__warp *warp, unsigned lanes) {
  if (!lanes) return;
  warp->ready |= lanes;
  engine.block.ready_warps |= 1u << warp->index;
}

static void resolve_activemask();

// The next lane to run, no longer marked ready; NULL if nobody can.
static simt__lane *pick() {
  simt__block *block = &engine.block;
  uint64_t random = draw();
  if (block->activemask_warps && (!block->ready_warps || !(random >> 58))) resolve_activemask();
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
  engine.lane = NULL;
  simt__now.lane = NULL;
  fiber_switch(&me->fiber, &engine.host, me->state == lane_exited);
}

// Somebody else runs until `me` is ready and drawn again.
static void leave(simt__lane *me) {
  simt__lane *next = pick();
  if (next == me) return;
  if (!next) return to_host(me, engine.block.live_count ? block_stuck : block_done);
  if (--engine.block.patience == 0) return to_host(me, block_spins);
  engine.counters.lane_switches += 1;
  engine.lane = next;
  simt__now.lane = next;
  fiber_switch(&me->fiber, &next->fiber, me->state == lane_exited);
}

static inline void progress() {
  if (!engine.misuse.lane) engine.block.patience = engine.patience;
}

static void fiber_main(void) {
  simt__lane *me = engine.lane;
  fiber_arrived(&me->fiber);
  engine.body(engine.arguments);
  me = engine.lane;
  me->state = lane_exited;
  me->warp->exited |= 1u << me->index;
  me->warp->phases.of_lane[me->index] = ~0u;
  engine.block.live_count -= 1;
  progress();
  leave(me);
  __builtin_unreachable();
}

// What the lane did wrong is told once nobody else can go on.
static void note_misuse(simt__lane *me, const std::string &text, int source = -1) {
  simt__misuse *misuse = &engine.misuse;
  if (!misuse->lane || me < misuse->lane) {
    misuse->lane = me;
    misuse->source = source;
    snprintf(misuse->text, sizeof misuse->text, "%s", text.c_str());
  }
  if (engine.block.patience > patience_after_misuse) engine.block.patience = patience_after_misuse;
}
// The lane stops here for good: others go on, it is never drawn again.
[[noreturn]] static void stop(simt__lane *me) {
  me->state = lane_misused;
  leave(me);
  abort();
}

// The same for what is no collective. (Two steps, so that no string is alive when the lane stops.)
static void note_elsewhere(simt__lane *me, const std::string &text) {
  note_misuse(me, text);
  me->site = NULL;
}

[[noreturn]] static void fatal(const std::string &text) {
  fflush(stdout);
  fprintf(stderr, "simt: %s\n", text.c_str());
  fflush(NULL);
  _Exit(3);
}
[[noreturn]] static void on_host(const char *name, const simt__site *site) {
  fatal(format("%s at %s:%d is executed outside a kernel", name, site->file, site->line));
}

#endif
