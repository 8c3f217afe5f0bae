// state.h -- the state of a launch: block, warps, lanes.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_STATE_H
#define SIMT_ENGINE_STATE_H

enum { block_threads_max = 1024, block_warps_max = block_threads_max / 32 };

struct simt__warp;

// What a lane does when it does not run.
enum simt__state { lane_ready, lane_waits, lane_at_barrier, lane_misused, lane_exited };

struct simt__lane : simt__lane_view {
  simt__fiber fiber;
  simt__warp *warp;
  int index;  // 0..31
  simt__state state;
  // The operation it waits at, valid unless it is ready or exited.
  simt__kind kind;
  const simt__site *site;
  unsigned mask;
  uint64_t value, result;
  int argument, width, bytes;
};

// Lanes that wait for each other: same operation, same place, same mask as the first of them.
struct simt__meeting {
  const simt__lane *first;
  unsigned arrived;
};

struct simt__warp {
  int index;
  unsigned launched, exited, ready;
  unsigned at_activemask;  // lanes parked in __activemask()
  int meeting_count;
  simt__meeting meetings[32];
  simt__lane *lanes;  // 32 of them
  simt__phases phases;
};

// The first misuse found, by warp and lane: which lane comes upon its own first is up to the seed.
struct simt__misuse {
  simt__lane *lane;  // NULL: none
  int source;        // the lane it read, whose whereabouts belong into the report; or -1
  char text[1024];
};

enum simt__order { order_none, order_ascending, order_descending };

struct simt__block {
  int thread_count, warp_count, live_count;
  unsigned ready_warps;
  int activemask_warps;  // warps with lanes parked in __activemask()
  simt__warp *warp;      // the one that runs now
  // Barrier: whoever came first, and whether everybody came to the same operation and place.
  int barrier_arrived;
  const simt__lane *barrier_first;
  bool barrier_mixed;
  int barrier_or, barrier_and, barrier_count;
  // Interleaving style of this block: see start_block().
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
  cudaError_t error;

  bool running;
  simt__launch_site launch;
  void (*body)(const void *arguments);
  const void *arguments;
  char *shared;
  size_t shared_bytes, shared_capacity;

  simt__lane *lane;  // NULL on the host
  simt__block block;
  simt__warp warps[block_warps_max];
  simt__lane *lanes;
  int warps_with_stacks;
  simt__fiber host;
  simt__outcome outcome;
  simt__misuse misuse;
};

#endif
