// barrier.h -- __syncthreads and its kin.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_BARRIER_H
#define SIMT_ENGINE_BARRIER_H

static int barrier_result(simt__kind kind) {
  const simt__block *block = &engine.block;
  return kind == SIMT__BARRIER_OR ? block->barrier_or
         : kind == SIMT__BARRIER_AND ? block->barrier_and
                                     : block->barrier_count;
}
static void barrier_clear() {
  simt__block *block = &engine.block;
  block->barrier_arrived = 0;
  block->barrier_mixed = false;
  block->barrier_or = 0;
  block->barrier_and = 1;
  block->barrier_count = 0;
}

int simt__barrier(const simt__site *site, simt__kind kind, int predicate) {
  simt__lane *me = engine.lane;
  if (!me) on_host(kind_name(kind), site);
  simt__block *block = &engine.block;
  me->kind = kind;
  me->site = site;
  me->state = lane_at_barrier;
  if (block->barrier_arrived++ == 0) block->barrier_first = me;
  if (block->barrier_first->kind != kind || !same_place(block->barrier_first, me))
    block->barrier_mixed = true;
  block->barrier_or |= predicate != 0;
  block->barrier_and &= predicate != 0;
  block->barrier_count += predicate != 0;
  if (block->barrier_arrived == block->thread_count && !block->barrier_mixed) {
    uint64_t result = (uint64_t)barrier_result(kind);
    barrier_clear();
    engine.counters.block_barriers += 1;
    for (int i = 0; i < block->warp_count; ++i) {
      simt__warp *warp = &engine.warps[i];
      for (unsigned rest = warp->launched; rest; rest &= rest - 1)
        warp->lanes[__builtin_ctz(rest)].state = lane_ready;
      give_all(warp, warp->launched, result);
      warp->phases.synchronise(warp->launched);
      make_ready(warp, warp->launched);
    }
    progress();
  }
  leave(me);
  return (int)me->result;
}

#endif
