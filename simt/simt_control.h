// simt_control.h -- what the host side sets and reads: seed, counters, reports, poison.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of interleaving is a function of this seed, the number of launches since it was set and
// the block. Default 1. simt_seed_from_env() takes it from SIMT_SEED, where that is set, and
// returns the seed in force; nothing else reads the environment.
void simt_seed(unsigned long long seed);
unsigned long long simt_seed_from_env(void);

// A launch is given up, with a report, after this many lane switches and atomics during which no
// lane has synchronised or exited: a lane spins. Default 2^32, about a minute. Once a misuse has
// been found, the other lanes have 2^20 steps left. A lane that spins without an atomic takes 2^14
// steps for each of its turns, about 0.2 ms.
void simt_patience(unsigned long long steps);

// All counts are of warp-level instructions unless their comment differs. They do not depend on the
// seed (lane_switches excepted) for code whose lanes stay together. README.md has the rules.
struct simt_counters {
  unsigned long long lane_switches;      // from one lane to another
  unsigned long long shuffles;           // a 64-bit shuffle counts 2
  unsigned long long votes;              // ballot, any, all
  unsigned long long matches;            // a 64-bit match counts 2
  unsigned long long warp_syncs;         // __syncwarp
  unsigned long long block_barriers;     // __syncthreads and its kin, once per block
  unsigned long long redux;              // __reduce_*_sync
  unsigned long long scans;              // POPC, FLO and BREV: __ffs is two, 64 bits are twice
  unsigned long long reductions;         // atomics on global memory, scalar and vector
  unsigned long long vector_reductions;  // the vector ones among them
  unsigned long long lane_adds;          // floats added to global memory, summed over lanes
  unsigned long long sectors;            // 32-byte sectors touched per reduction, summed
  unsigned long long conflicts;          // lanes on an address already hit by the same reduction
  unsigned long long shared_atomics;     // by lane; in none of the five above
};
void simt_counters_reset(void);
struct simt_counters simt_counters_read(void);

// Each lane's atomic on global memory, before it is carried out; a null fn, the default, traces
// nothing. Lanes of one warp instruction have `site` and `phase` in common (count.h). fn runs on the
// lane's stack: blockIdx and threadIdx are the lane's.
struct simt_atomic {
  const void *site, *address;
  unsigned bytes, phase;
};
typedef void (*simt_atomic_fn)(const struct simt_atomic *atomic, void *user);
void simt_set_atomic_trace(simt_atomic_fn fn, void *user);

// Called on the host's stack once a launch has been found to misuse something; after fn returns the
// launch is abandoned and cudaGetLastError() returns cudaErrorLaunchFailure. A null fn restores the
// default: print to stderr, leave the process with code 3. Objects on the lanes' stacks are not
// destroyed.
typedef void (*simt_report_fn)(const char *text, void *user);
void simt_set_report(simt_report_fn fn, void *user);

// Garbage for inactive lanes. Reported: adding a value that carries the payload of poison_f32, an
// atomic through poison_pointer (or within 1 MiB of it), a lane that gets poison_key from another
// lane by a shuffle, or matches it.
float simt_poison_f32(void);
int simt_poison_key(void);
float *simt_poison_pointer(void);
