// atomic.h -- atomics and vector reductions.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_ATOMIC_H
#define SIMT_ENGINE_ATOMIC_H

// The linker's names for the section that simt_types.h puts `__shared__` objects into.
#if SIMT_SHARED_SECTION
extern "C" char __start_simt_shared[] __attribute__((weak));
extern "C" char __stop_simt_shared[] __attribute__((weak));
static char *static_shared() { return __start_simt_shared; }
static size_t static_shared_bytes() { return (size_t)(__stop_simt_shared - __start_simt_shared); }
#else
static char *static_shared() { return NULL; }
static size_t static_shared_bytes() { return 0; }
#endif

int simt_is_global(const void *address) {
  uintptr_t at = (uintptr_t)address;
  bool dynamic = at - (uintptr_t)engine.shared < engine.shared_bytes;
  bool fixed = at - (uintptr_t)static_shared() < static_shared_bytes();
  return !dynamic && !fixed;
}

enum { poison_reach_bytes = 1 << 20 };

static bool is_poison_address(const void *address) {
  intptr_t distance = (intptr_t)address - (intptr_t)simt_poison_pointer();
  return (distance < 0 ? -distance : distance) <= (intptr_t)poison_reach_bytes;
}

__attribute__((noinline)) static void note_address(simt__lane *me, const char *name,
                                                  const simt__site *site, const void *address,
                                                  unsigned bytes) {
  note_elsewhere(me, is_poison_address(address)
                         ? report_poison_pointer(me, at(me, name, site), address)
                         : report_misaligned(me, name, site, address, bytes));
}

// May let others run; stops the lane if the address is wrong.
static simt__lane *before_atomic(const simt__site *site, const char *name, const void *address,
                                 unsigned bytes) {
  simt__lane *me = engine.lane;
  if (!me) on_host(name, site);
  if (is_poison_address(address) || (uintptr_t)address % bytes) {
    note_address(me, name, site, address, bytes);
    stop(me);
  }
  simt__block *block = &engine.block;
  if (--block->patience == 0) to_host(me, block_spins);
  if (!(draw() & block->preempt) && block->ready_warps) {
    make_ready(me->warp, 1u << me->index);
    leave(me);
  }
  return me;
}

void simt__atomic(const simt__site *site, const char *name, const void *address, unsigned bytes,
                  unsigned floats) {
  simt__lane *me = before_atomic(site, name, address, bytes);
  if (!simt_is_global(address)) {
    engine.counters.shared_atomics += 1;
    return;
  }
  engine.counters.lane_adds += floats;
  count_reduction(&engine.counters, &me->warp->phases, me->index, {site, me->caller},
                  (uintptr_t)address, false);
}

static bool is_poison_value(float value) {
  const unsigned sign = 0x80000000u;
  return (__float_as_uint(value) | sign) == (__float_as_uint(simt_poison_f32()) | sign);
}

void simt__atomic_value(const simt__site *site, const char *name, float value) {
  if (!is_poison_value(value)) return;
  simt__lane *me = engine.lane;
  if (!me) on_host(name, site);
  note_elsewhere(me, report_poison_value(me, name, site));
  stop(me);
}

void simt__red_add(const simt__site *site, float *address, const float *values, int count) {
  const char *name = count == 2 ? "simt_red_add_v2_f32" : "simt_red_add_v4_f32";
  for (int i = 0; i < count; ++i) simt__atomic_value(site, name, values[i]);
  simt__lane *me = before_atomic(site, name, address, (unsigned)count * 4);
  if (!simt_is_global(address)) {
    note_elsewhere(me, report_shared_vector(me, name, site));
    stop(me);
  }
  engine.counters.lane_adds += (unsigned)count;
  count_reduction(&engine.counters, &me->warp->phases, me->index, {site, me->caller},
                  (uintptr_t)address, true);
  for (int i = 0; i < count; ++i) address[i] += values[i];
}

#endif
