// simt.cpp -- the CPU warp: the only source file to compile and link.
// SPDX-License-Identifier: Apache-2.0
//
// Every lane is a fiber. Lanes that do something undefined stop where they are. Only when nobody
// can go on any more is the report written, from where everybody stands: so its text does not
// depend on the order in which the lanes came there.
#include "simt.cuh"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <string>

#include "engine/fiber.h"
#include "engine/count.h"
#include "engine/state.h"

simt__launch_view simt__now;
static simt__engine engine;

#include "engine/report.h"
#include "engine/schedule.h"
#include "engine/collective.h"
#include "engine/activemask.h"
#include "engine/barrier.h"
#include "engine/atomic.h"
#include "engine/scan.h"
#include "engine/fault.h"
#include "engine/runtime.h"

// ----------------------------------------------------------------------------------------- launch

// Shared memory holds garbage at the start of a block: NaNs, or the integer -1.
static void fill_shared() {
  if (engine.shared_bytes) memset(engine.shared, 0xff, engine.shared_bytes);
  if (static_shared_bytes()) memset(static_shared(), 0xff, static_shared_bytes());
}

static void start_lane(simt__lane *lane, int thread, dim3 size) {
  unsigned t = (unsigned)thread;
  lane->thread_index = make_uint3(t % size.x, t / size.x % size.y, t / size.x / size.y);
  fiber_reset(&lane->fiber, lane->state != lane_exited);
  lane->state = lane_ready;
  fiber_prepare(&lane->fiber, t);
}

static void start_block(dim3 size, uint64_t block_number) {
  simt__block *block = &engine.block;
  block->random = mix(mix(engine.seed * 0x9e3779b97f4a7c15ull + engine.launches) + block_number);
  block->random |= block->random == 0;
  // Most blocks draw lanes uniformly; some run them in ascending or in descending order. How often
  // another warp gets its turn, and how often an atomic lets others run, is drawn too.
  uint64_t style = draw() >> 32;
  static const uint64_t roams[4] = {0, 7, 31, 127}, preempts[4] = {0, 1, 7, 31};
  static const simt__order orders[8] = {order_ascending, order_descending};  // the others: none
  block->order = orders[style & 7];
  block->roam = roams[style >> 3 & 3];
  block->preempt = preempts[style >> 5 & 3];
  block->patience = engine.patience;
  block->warp_count = (block->thread_count + 31) / 32;
  block->live_count = block->thread_count;
  block->ready_warps = 0;
  block->activemask_warps = 0;
  block->warp = &engine.warps[0];
  barrier_clear();
  for (int w = 0; w < block->warp_count; ++w) {
    simt__warp *warp = &engine.warps[w];
    int lanes = block->thread_count - 32 * w;
    warp->launched = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    warp->exited = warp->ready = warp->at_activemask = 0;
    warp->meeting_count = 0;
    warp->phases.start();
    make_ready(warp, warp->launched);
    for (int i = 0; i < 32 && i < lanes; ++i) start_lane(&warp->lanes[i], 32 * w + i, size);
  }
  fill_shared();
}

// Memory for lanes and shared memory; kept for the next launch. False: there is none.
static bool reserve(int warp_count, size_t shared_bytes) {
  if (!engine.lanes) {
    engine.lanes = static_cast<simt__lane *>(calloc(block_threads_max, sizeof(simt__lane)));
    if (!engine.lanes) return false;
    for (int t = 0; t < block_threads_max; ++t) {
      engine.lanes[t].index = t % 32;
      engine.lanes[t].warp = &engine.warps[t / 32];
      engine.warps[t / 32].index = t / 32;
      engine.warps[t / 32].lanes = &engine.lanes[t / 32 * 32];
    }
  }
  for (; engine.warps_with_stacks < warp_count; ++engine.warps_with_stacks) {
    simt__fiber *fibers[32];
    for (int i = 0; i < 32; ++i) fibers[i] = &engine.lanes[32 * engine.warps_with_stacks + i].fiber;
    if (!fiber_stacks(fibers, 32)) return false;
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
  engine.lane = first;
  simt__now.lane = first;
  fiber_switch(&engine.host, &first->fiber, false);
  return engine.outcome;
}

static void abandon(simt__outcome outcome) {
  std::string text = outcome == block_spins && !engine.misuse.lane ? report_spinning()
                                                                   : report_stuck();
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
  fault_guard guard;
  uint64_t count = (uint64_t)grid.x * grid.y * grid.z;
  for (uint64_t b = 0; b < count && outcome == block_done; ++b) {
    simt__now.block_index = make_uint3((unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                                       (unsigned)(b / grid.x / grid.y));
    start_block(block, b);
    outcome = run_block();
  }
  engine.running = false;
  if (outcome != block_done) abandon(outcome);
  engine.launches += 1;
}

// ---------------------------------------------------------------------------------------- control

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

void simt_set_report(simt_report_fn fn, void *user) {
  engine.report = fn;
  engine.report_user = user;
}

float simt_poison_f32(void) { return __uint_as_float(0x7fc5eed5u); }
int simt_poison_key(void) { return 0x6bad5eed; }
// A page in the middle of nothing: whoever follows it faults, unless an atomic reports it first.
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

void simt_check_failed(const char *message, const char *file, int line) {
  simt__site site = {file, line};
  simt__lane *me = engine.lane;
  if (!me) on_host(message, &site);
  note_elsewhere(me, report_check(me, message, &site));
  stop(me);
}

long long clock64(void) {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
