// activemask.h -- __activemask(), which promises nothing.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_ACTIVEMASK_H
#define SIMT_ENGINE_ACTIVEMASK_H

// Lets some of the lanes that wait at one __activemask() go on, and tells them who they are:
// hardware promises no more.
static void resolve_activemask() {
  unsigned warps = 0;
  for (int i = 0; i < engine.block.warp_count; ++i)
    if (engine.warps[i].at_activemask) warps |= 1u << i;
  simt__warp *warp = &engine.warps[choose(warps, draw())];
  const simt__lane *one = &warp->lanes[choose(warp->at_activemask, draw())];
  unsigned together = 0;
  for (unsigned rest = warp->at_activemask; rest; rest &= rest - 1)
    if (same_place(&warp->lanes[__builtin_ctz(rest)], one)) together |= rest & (0u - rest);
  if (draw() >> 63) {
    unsigned some = together & (unsigned)(draw() >> 32);
    if (some) together = some;
  }
  warp->at_activemask &= ~together;
  if (!warp->at_activemask) engine.block.activemask_warps -= 1;
  give_all(warp, together, together);
  for (unsigned rest = together; rest; rest &= rest - 1)
    warp->lanes[__builtin_ctz(rest)].state = lane_ready;
  make_ready(warp, together);
}

unsigned simt__activemask(const simt__site *site) {
  simt__lane *me = engine.lane;
  if (!me) on_host("__activemask", site);
  me->kind = SIMT__ACTIVEMASK;
  me->site = site;
  me->state = lane_waits;
  if (!me->warp->at_activemask) engine.block.activemask_warps += 1;
  me->warp->at_activemask |= 1u << me->index;
  leave(me);
  return (unsigned)me->result;
}

#endif
