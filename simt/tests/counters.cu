// counters.cu -- the counters on small kernels whose counts are known, under many seeds.
// SPDX-License-Identifier: Apache-2.0
#include "../../bench/common/test_device.h"
#include "../../bench/common/test_memory.h"

#include <string.h>

static const unsigned whole_warp = 0xffffffffu;

static __global__ void collectives(float *out) {
  float v = (float)threadIdx.x;
  for (int i = 0; i < 10; ++i) v += __shfl_xor_sync(whole_warp, v, 1);
  double wide = __shfl_sync(whole_warp, (double)v, 3);
  unsigned votes = __ballot_sync(whole_warp, v > 0.0f);
  votes += (unsigned)__any_sync(whole_warp, v > 0.0f) + (unsigned)__all_sync(whole_warp, v > 0.0f);
  int same = 0;
  votes += __match_any_sync(whole_warp, threadIdx.x) + __match_all_sync(whole_warp, 1ll, &same);
  votes += __reduce_add_sync(whole_warp, votes);
  __syncwarp();
  __syncwarp();
  __syncthreads();
  if (__syncthreads_or(wide < 0.0)) out[threadIdx.x] = v + (float)votes + (float)wide;
}

// 13 of all kinds; 1 repeated; 3 in turn; 1 of some lanes; 2 of two branches; 2 in two phases.
static __global__ void scans(float *out) {
  unsigned v = threadIdx.x + 1;
  int n = __popc(v) + __popcll(v) + __ffs((int)v) + __ffsll((long long)v) + __clz((int)v) +
          __clzll((long long)v) + (int)__brev(v);
  for (int i = 0; i < 3; ++i) n += __popc(v);
  for (int i = 0; i < 3; ++i) n += __popc(v << i);
  if (v % 32 < 6) n += __clz((int)v);
  if (v % 2)
    n += __popc(v);
  else
    n += __clz((int)v);
  for (int i = 0; i < 2; ++i) {
    n += __popc(v);
    __syncwarp();
  }
  out[threadIdx.x] = (float)n;
}

static __global__ void coalesced(float *out) { atomicAdd(&out[threadIdx.x], 1.0f); }
static __global__ void straddling(float *out) { atomicAdd(&out[threadIdx.x + 3], 1.0f); }
static __global__ void same_address(float *out) { atomicAdd(out, 1.0f + (float)(threadIdx.x & 0)); }
static __global__ void pairs(float *out) { atomicAdd(&out[threadIdx.x / 2], 1.0f); }
static __global__ void rows_apart(float *out) { atomicAdd(&out[threadIdx.x * 32], 1.0f); }
static __global__ void ten_lanes(float *out) {
  if (threadIdx.x % 3 == 1) atomicAdd(&out[threadIdx.x / 3], 1.0f);
}
static __global__ void loop(float *out) {
  for (int i = 0; i < 10; ++i) atomicAdd(&out[10 * threadIdx.x + (unsigned)i], 1.0f);
}
// Each lane adds in one iteration of four: four instructions where a ballot keeps the iterations
// apart, one where nothing does.
static __global__ void in_turn_with_ballot(float *out) {
  for (unsigned i = 0; i < 4; ++i)
    if (__ballot_sync(whole_warp, 1) && threadIdx.x % 4 == i) atomicAdd(&out[threadIdx.x], 1.0f);
}
static __global__ void in_turn_without(float *out) {
  for (unsigned i = 0; i < 4; ++i)
    if (threadIdx.x % 4 == i) atomicAdd(&out[threadIdx.x], 1.0f);
}
static __global__ void branches(float *out) {
  if (threadIdx.x & 1)
    atomicAdd(&out[threadIdx.x], 1.0f);
  else
    atomicAdd(&out[threadIdx.x], 2.0f);
}
static __global__ void synchronised_between(float *out) {
  for (int i = 0; i < 4; ++i) {
    atomicAdd(&out[threadIdx.x], 1.0f);
    if (i % 2) __syncwarp();
  }
}
static __device__ __forceinline__ void add_once(float *out) { atomicAdd(out, 1.0f); }
static __global__ void inlined_twice(float *out) {
  add_once(out + threadIdx.x);
  add_once(out + threadIdx.x);
}
static __device__ __forceinline__ void add_marked(float *out) {
  atomicAdd(out, (float)__popc(threadIdx.x));
}
#define add_marked(...) SIMT_CALL_OF(add_marked(__VA_ARGS__))
static __global__ void inlined_into_branches(float *out) {
  if (threadIdx.x & 1)
    add_once(out + threadIdx.x);
  else
    add_once(out + threadIdx.x);
}
static __global__ void called_in_branches(float *out) {
  if (threadIdx.x & 1)
    add_marked(out + threadIdx.x);
  else
    add_marked(out + threadIdx.x);
}
static __global__ void vectors_of_four(float *out) {
  simt_red_add_v4_f32(out + 4 * threadIdx.x, 1.0f, 1.0f, 1.0f, 1.0f);
}
static __global__ void vectors_at_one_place(float *out) {
  simt_red_add_v4_f32(out, 1.0f, 1.0f, 1.0f, 1.0f + (float)(threadIdx.x & 0));
}
static __global__ void vectors_of_two(float *out) {
  simt_red_add_v2_f32(out + 2 * (threadIdx.x / 4), 1.0f, 1.0f);
}
static __global__ void doubles(float *out) { atomicAdd((double *)out + threadIdx.x, 1.0); }
static __global__ void integers(float *out) { atomicMax((int *)out, (int)threadIdx.x); }
static __global__ void on_shared(float *out) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncwarp();
  atomicAdd(&tile[threadIdx.x / 2], 1.0f);
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x];
}

struct expectation {
  const char *name;
  void (*kernel)(float *);
  int blocks, threads;
  // reductions, vector_reductions, lane_adds, sectors, conflicts
  unsigned long long counts[5];
};
static const expectation expectations[] = {
    {"coalesced", coalesced, 1, 32, {1, 0, 32, 4, 0}},
    {"coalesced, many warps", coalesced, 3, 96, {9, 0, 288, 36, 0}},
    {"coalesced, partial warp", coalesced, 1, 40, {2, 0, 40, 5, 0}},
    {"straddling sectors", straddling, 1, 32, {1, 0, 32, 5, 0}},
    {"same address", same_address, 1, 32, {1, 0, 32, 1, 31}},
    {"pairs", pairs, 1, 32, {1, 0, 32, 2, 16}},
    {"rows apart", rows_apart, 1, 32, {1, 0, 32, 32, 0}},
    {"ten lanes", ten_lanes, 1, 32, {1, 0, 11, 2, 0}},
    {"loop", loop, 1, 32, {10, 0, 320, 320, 0}},
    {"in turn, with a ballot", in_turn_with_ballot, 1, 32, {4, 0, 32, 16, 0}},
    {"in turn, without", in_turn_without, 1, 32, {1, 0, 32, 4, 0}},
    {"branches", branches, 1, 32, {2, 0, 32, 8, 0}},
    {"synchronised between", synchronised_between, 1, 32, {4, 0, 128, 16, 0}},
    {"inlined twice", inlined_twice, 1, 32, {2, 0, 64, 8, 0}},
    {"inlined into branches", inlined_into_branches, 1, 32, {1, 0, 32, 4, 0}},
    {"called in branches", called_in_branches, 1, 32, {2, 0, 32, 8, 0}},
    {"vectors of four", vectors_of_four, 1, 32, {1, 1, 128, 16, 0}},
    {"vectors at one place", vectors_at_one_place, 1, 32, {1, 1, 128, 1, 31}},
    {"vectors of two", vectors_of_two, 1, 32, {1, 1, 64, 2, 24}},
    {"doubles", doubles, 1, 32, {1, 0, 32, 8, 0}},
    {"integers", integers, 1, 32, {1, 0, 0, 1, 31}},
    {"shared memory", on_shared, 1, 32, {0, 0, 0, 0, 0}},
};

static simt_counters count(void (*kernel)(float *), int blocks, int threads, float *out) {
  simt_counters_reset();
  SIMT_LAUNCH(kernel, blocks, threads, 128 * sizeof(float), 0, out);
  CHECK_CUDA(cudaGetLastError());
  return simt_counters_read();
}

static void test_collectives(float *out, unsigned seed) {
  simt_counters c = count(collectives, 2, 96, out);  // six warps
  CHECK(c.shuffles == 6 * 12, "%llu, seed %u", c.shuffles, seed);
  CHECK(c.votes == 6 * 3, "%llu, seed %u", c.votes, seed);
  CHECK(c.matches == 6 * 3, "%llu, seed %u", c.matches, seed);
  CHECK(c.redux == 6, "%llu, seed %u", c.redux, seed);
  CHECK(c.warp_syncs == 6 * 2, "%llu, seed %u", c.warp_syncs, seed);
  CHECK(c.block_barriers == 2 * 2, "%llu, seed %u", c.block_barriers, seed);
  CHECK(c.reductions == 0 && c.shared_atomics == 0, "seed %u", seed);
  CHECK(c.lane_switches > 0, "seed %u", seed);
}

static void test_scans(float *out, unsigned seed) {
  unsigned long long found = count(scans, 2, 64, out).scans;  // four warps
  CHECK(found == 4 * 22, "%llu, seed %u", found, seed);
  found = count(called_in_branches, 1, 32, out).scans;
  CHECK(found == 2, "%llu, seed %u: one for each call", found, seed);
  simt_counters_reset();
  CHECK(__popc(3u) == 2 && simt_counters_read().scans == 0, "the host's are not counted");
}

static void test_reductions(float *out, unsigned seed) {
  for (const expectation &e : expectations) {
    simt_counters c = count(e.kernel, e.blocks, e.threads, out);
    unsigned long long counts[5] = {c.reductions, c.vector_reductions, c.lane_adds, c.sectors,
                                    c.conflicts};
    CHECK(memcmp(counts, e.counts, sizeof counts) == 0,
          "%s, seed %u: reductions %llu, vector %llu, adds %llu, sectors %llu, conflicts %llu",
          e.name, seed, counts[0], counts[1], counts[2], counts[3], counts[4]);
    CHECK(c.shared_atomics == (e.kernel == on_shared ? 32 : 0), "%s", e.name);
  }
}

// What a trace sees of 32 lanes that add in turn.
struct traced {
  const float *out;
  unsigned calls, wrong, phases[32];
};
static void on_atomic(const struct simt_atomic *a, void *user) {
  traced *t = (traced *)user;
  t->calls += 1;
  t->wrong += a->address != t->out + threadIdx.x || a->bytes != sizeof(float) || !a->site;
  t->phases[threadIdx.x] = a->phase;
}

static void test_atomic_trace(float *out, unsigned seed) {
  traced t = {out, 0, 0, {}};
  simt_set_atomic_trace(on_atomic, &t);
  count(in_turn_with_ballot, 1, 32, out);
  simt_set_atomic_trace(NULL, NULL);
  for (int i = 4; i < 32; ++i) t.wrong += t.phases[i] != t.phases[i % 4];
  for (int i = 1; i < 4; ++i) t.wrong += t.phases[i] == t.phases[i - 1];
  CHECK(t.calls == 32 && t.wrong == 0, "seed %u: %u calls, %u wrong", seed, t.calls, t.wrong);
  count(in_turn_with_ballot, 1, 32, out);
  CHECK(t.calls == 32, "seed %u: a trace that has ended goes on", seed);
}

int main(void) {
  const test_memory<float> out(4096);
  for (unsigned seed = 1; seed <= 40; ++seed) {
    simt_seed(seed);
    test_collectives(out.at, seed);
    test_scans(out.at, seed);
    test_reductions(out.at, seed);
    test_atomic_trace(out.at, seed);
  }
  return test_end("counters");
}
