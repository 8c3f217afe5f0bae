// scan.h -- bit scans: nothing but counted.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_SCAN_H
#define SIMT_ENGINE_SCAN_H

void simt__count_scan(const simt__site *site, unsigned long long argument, int instructions) {
  simt__lane *me = engine.lane;
  if (!me) return;
  count_scan(&engine.counters, &me->warp->phases, me->index, {site, me->caller}, argument,
             (unsigned)instructions);
}

#endif
