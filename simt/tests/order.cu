// order.cu -- the seed decides the order of the lanes, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "../../bench/common/test_device.h"
#include "../../bench/common/test_memory.h"

#include <set>
#include <vector>

static const unsigned whole_warp = 0xffffffffu;
enum { threads = 96, seeds = 200 };

// The order in which threads come by, at first and after a collective.
static __global__ void record(int *order) {
  SIMT_DYNAMIC_SHARED(int, next);
  if (threadIdx.x == 0) next[0] = next[1] = 0;
  __syncthreads();
  order[atomicAdd(&next[0], 1)] = (int)threadIdx.x;
  __syncwarp();
  order[threads + atomicAdd(&next[1], 1)] = (int)threadIdx.x;
}

static std::vector<int> recorded(void) {
  const test_memory<int> order(2 * threads);
  SIMT_LAUNCH(record, 1, threads, 2 * sizeof(int), 0, order.at);
  return order.read();
}

// A warp is come back to after another one had its turn.
static bool warps_interleave(const std::vector<int> &order) {
  int turns = 1;
  for (size_t i = 1; i < threads; ++i) turns += order[i] / 32 != order[i - 1] / 32;
  return turns > threads / 32;
}

static void test_orders(void) {
  std::set<std::vector<int>> orders;
  std::set<int> first, first_after, last;
  int interleaved = 0, ascending = 0, descending = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    simt_seed(seed);
    std::vector<int> o = recorded();
    simt_seed(seed);
    CHECK(o == recorded(), "seed %u gives one order", seed);
    CHECK(std::set<int>(o.begin(), o.begin() + threads).size() == threads, "all threads ran");
    orders.insert(o);
    first.insert(o[0]);
    first_after.insert(o[threads]);
    last.insert(o[threads - 1]);
    interleaved += warps_interleave(o);
    int rising = 0;
    for (size_t i = 1; i < threads; ++i) rising += o[i] > o[i - 1];
    ascending += rising > 80;
    descending += rising < 16;
  }
  CHECK(orders.size() > seeds * 9 / 10, "%zu orders under %d seeds", orders.size(), (int)seeds);
  CHECK(first.size() > 30 && last.size() > 30, "%zu, %zu", first.size(), last.size());
  CHECK(first_after.size() > 30, "%zu", first_after.size());
  CHECK(interleaved > seeds / 4, "%d", interleaved);
  CHECK(ascending > 0 && descending > 0, "%d, %d", ascending, descending);
}

// Blocks and launches have orders of their own.
static void test_launches_differ(void) {
  std::set<std::vector<int>> orders;
  simt_seed(5);
  for (int launch = 0; launch < 20; ++launch) orders.insert(recorded());
  CHECK(orders.size() > 15, "%zu", orders.size());
}

// A correct kernel: shuffles, shared memory, barriers and a critical section.
static __global__ void correct(const int *values, int count, int *result) {
  SIMT_DYNAMIC_SHARED(int, sums);
  int sum = 0;
  for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += (int)(gridDim.x * blockDim.x))
    sum += values[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += sums[w];
    while (atomicCAS(&result[0], 0, 1) != 0) {
    }
    result[1] += sum;
    atomicExch(&result[0], 0);
  }
}

static void test_results_do_not_depend_on_the_seed(void) {
  enum { count = 5000 };
  std::vector<int> values(count);
  int expected = 0;
  for (int i = 0; i < count; ++i) expected += values[(size_t)i] = i * 7 % 1001 - 300;
  const test_memory<int> device_values(values);
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const test_memory<int> result(2);
    simt_seed(seed);
    SIMT_LAUNCH(correct, 3, 128, 4 * sizeof(int), 0, device_values.at, (int)count, result.at);
    CHECK(result.read()[1] == expected, "seed %u", seed);
  }
}

// An incorrect one: what is read and written in two steps gets lost for some seeds.
static __global__ void lost_update(int *counter) {
  int seen = atomicAdd(counter, 0);
  atomicExch(counter, seen + 1);
}

// The same around a fence, and around a sleep, in which others always run.
static __global__ void lost_at_fence(int *counter) {
  const int seen = *static_cast<volatile int *>(counter);
  __threadfence();
  *static_cast<volatile int *>(counter) = seen + 1;
}
static __global__ void lost_in_sleep(int *counter) {
  const int seen = *static_cast<volatile int *>(counter);
  __nanosleep(100);
  *static_cast<volatile int *>(counter) = seen + 1;
}

static void test_races_show(void (*kernel)(int *), int most) {
  std::set<int> results;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const test_memory<int> counter(1);
    simt_seed(seed);
    SIMT_LAUNCH(kernel, 1, 64, 0, 0, counter.at);
    results.insert(counter.read()[0]);
  }
  CHECK(results.size() > 5 && *results.begin() < 64, "%zu results", results.size());
  CHECK(*results.rbegin() <= most, "%d", *results.rbegin());
}

// What a launch of so many lanes stores.
static std::vector<unsigned> masks_of(void (*kernel)(unsigned *), int lanes, unsigned seed) {
  const test_memory<unsigned> masks(32);
  simt_seed(seed);
  SIMT_LAUNCH(kernel, 1, lanes, 0, 0, masks.at);
  return masks.read();
}

static __global__ void active(unsigned *masks) {
  if (threadIdx.x % 4 == 3) return;
  masks[threadIdx.x] = __activemask();
}

// Every lane is in its mask, the lanes of a mask agree, and masks of all sizes come up.
static void test_activemask(void) {
  std::set<int> sizes;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const std::vector<unsigned> masks = masks_of(active, 32, seed);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane % 4 == 3) continue;
      CHECK(masks[lane] >> lane & 1u, "seed %u lane %u", seed, lane);
      for (unsigned other = 0; other < 32; ++other)
        CHECK(!(masks[lane] >> other & 1u) || masks[other] == masks[lane], "seed %u", seed);
      sizes.insert(__popc(masks[lane]));
    }
  }
  CHECK(sizes.count(24) && sizes.count(1) && sizes.size() > 20, "%zu sizes", sizes.size());
}

static __global__ void active_pair(unsigned *masks) { masks[threadIdx.x] = __activemask(); }

// Even lanes that wait side by side are often told apart.
static void test_activemask_splits(void) {
  int splits = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) splits += masks_of(active_pair, 2, seed)[0] != 3;
  CHECK(splits > seeds / 8 && splits < seeds * 7 / 8, "%d splits", splits);
}

// Lanes at two different places never share a mask, nor do two calls of a library function.
static __global__ void active_in_branches(unsigned *masks) {
  if (threadIdx.x < 16)
    masks[threadIdx.x] = __activemask();
  else
    masks[threadIdx.x] = __activemask();
}
static __device__ __forceinline__ void store_active(unsigned *mask) { *mask = __activemask(); }
#define store_active(...) SIMT_CALL_OF(store_active(__VA_ARGS__))
static __global__ void active_in_calls(unsigned *masks) {
  if (threadIdx.x < 16)
    store_active(masks + threadIdx.x);
  else
    store_active(masks + threadIdx.x);
}
// As a macro writes it: two calls on one line.
#define STORE_ACTIVE(first, mask, other) if (first) store_active(mask); else store_active(other)
static __global__ void active_on_one_line(unsigned *masks) {
  STORE_ACTIVE(threadIdx.x < 16, masks + threadIdx.x, masks + 47 - threadIdx.x);
}
// A function that no library has marked.
static __device__ void unmarked(unsigned *mask) { *mask = __activemask(); }
static __global__ void active_unmarked(unsigned *masks) {
  if (threadIdx.x < 16)
    unmarked(masks + threadIdx.x);
  else
    unmarked(masks + 47 - threadIdx.x);
}

static void test_activemask_in_branches(void (*kernel)(unsigned *)) {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const std::vector<unsigned> masks = masks_of(kernel, 32, seed);
    for (unsigned lane = 0; lane < 32; ++lane)
      CHECK(!(masks[lane] & (lane < 16 ? 0xffff0000u : 0x0000ffffu)), "seed %u", seed);
  }
}

// A lane may wait in a loop around an atomic for one that has yet to leave __activemask().
static __global__ void waits_for_active(int *flag, unsigned *mask) {
  if (threadIdx.x == 0) {
    *mask = __activemask();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}

static void test_waits_for_activemask(void) {
  simt_patience(1 << 26);
  for (unsigned seed = 1; seed <= seeds; ++seed)
    for (int lanes : {2, 32, 96}) {
      const test_memory<int> flag(1);
      const test_memory<unsigned> mask(1);
      simt_seed(seed);
      SIMT_LAUNCH(waits_for_active, 1, lanes, 0, 0, flag.at, mask.at);
      CHECK(mask.read()[0] == 1, "seed %u, %d lanes", seed, lanes);
    }
  simt_patience(1ull << 32);
}

// However many others come to an __activemask() meanwhile, again and again.
static __global__ void waits_among_others(int *flag, unsigned *masks) {
  if (threadIdx.x == 3) {
    masks[0] = __activemask();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) masks[1] = __activemask();
  }
}

static void test_activemask_is_bounded(void) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const test_memory<int> flag(1);
    const test_memory<unsigned> masks(2);
    simt_seed(seed);
    simt_counters_reset();
    SIMT_LAUNCH(waits_among_others, 1, 512, 0, 0, flag.at, masks.at);
    const unsigned long long switches = simt_counters_read().lane_switches;
    CHECK(switches < 64 * 512, "seed %u: %llu", seed, switches);
  }
}

// A lane may wait in a loop of any kind: for a flag, for a lock, for its turn. out[2] counts.
static __device__ int load(const int *at) { return *static_cast<const volatile int *>(at); }
static __device__ void store(int *at, int value) { *static_cast<volatile int *>(at) = value; }

enum wait_kind { wait_plain, wait_fence, wait_sleep, wait_atomic };
static __device__ int poll(int *at, wait_kind how) {
  if (how == wait_fence) __threadfence();
  if (how == wait_sleep) __nanosleep(20);
  return how == wait_atomic ? atomicAdd(at, 0) : load(at);
}

static __global__ void waits_for_flag(int *out, wait_kind how) {
  if (threadIdx.x == 7) {
    out[1] = 1;
    __threadfence();
    store(&out[0], 1);
  } else {
    while (poll(&out[0], how) == 0) {
    }
  }
  atomicAdd(&out[2], out[1]);
}
// One lock for all lanes, warps and blocks, that is looked at before it is tried.
static __global__ void waits_for_lock(int *out, wait_kind how) {
  do {
    while (poll(&out[0], how) != 0) {
    }
  } while (atomicCAS(&out[0], 0, 1) != 0);
  const int seen = load(&out[2]);
  __threadfence();
  store(&out[2], seen + 1);
  __threadfence();
  store(&out[0], 0);
}
static __global__ void waits_for_turn(int *out, wait_kind how) {
  const int turn = atomicAdd(&out[0], 1);
  while (poll(&out[1], how) != turn) {
  }
  out[2] += 1;
  __threadfence();
  store(&out[1], turn + 1);
}
// Of two lanes in turn one waits as it is told and one by atomics; the rest wait for both.
static __global__ void waits_for_each_other(int *out, wait_kind how) {
  const int me = (int)threadIdx.x;
  if (me > 1) {
    while (poll(&out[0], how) < 10) {
    }
  }
  for (int i = me; i < 10 && me < 2; i += 2) {
    while (poll(&out[0], me ? how : wait_atomic) != i) {
    }
    store(&out[0], i + 1);
  }
  atomicAdd(&out[2], 1);
}
// A whole warp waits at a collective for a lane that waits for another warp.
static __global__ void waits_for_warp(int *out, wait_kind how) {
  if (threadIdx.x / 32 == blockDim.x / 32 - 1) {
    __syncwarp();
    if (threadIdx.x % 32 == 8) store(&out[0], 1);
  }
  if (threadIdx.x == 0) {
    while (poll(&out[0], how) == 0) {
    }
  }
  __syncwarp();
  atomicAdd(&out[2], 1);
}

static void test_waits(void (*kernel)(int *, wait_kind), int blocks, const char *name) {
  for (wait_kind how : {wait_plain, wait_fence, wait_sleep, wait_atomic})
    for (int threads : {32, 96})
      for (unsigned seed = 1; seed <= (how == wait_plain ? 2u : 10u); ++seed) {
        const test_memory<int> out(3);
        simt_seed(seed);
        SIMT_LAUNCH(kernel, blocks, threads, 0, 0, out.at, how);
        CHECK(out.read()[2] == blocks * threads, "%s, way %d, %d threads, seed %u: %d", name,
              (int)how, threads, seed, out.read()[2]);
      }
}

// Shared memory is garbage at the start of every block, not what the block before left there, and
// none of it is global; wherever it is declared.
static __device__ __forceinline__ int *tile_of_inline(void) {
  __shared__ int tile[32];
  return tile;
}
template <class T>
static __device__ T *tile_of_template(void) {
  __shared__ T tile[32];
  return tile;
}
__shared__ int tile_of_file[32];

enum { tiles = 5 };
template <class T>
static __global__ void reads_before_writing(T *found, int *wrong_count) {
  SIMT_DYNAMIC_SHARED(T, dynamic);
  __shared__ T fixed[32], never_written;
  if (never_written != -1) atomicAdd(wrong_count, 1);
  T *const tile[tiles] = {dynamic, fixed, tile_of_inline(), tile_of_template<T>(), tile_of_file};
  for (int i = 0; i < tiles; ++i) {
    found[tiles * (32 * blockIdx.x + threadIdx.x) + (unsigned)i] = tile[i][threadIdx.x];
    tile[i][threadIdx.x] = 1;
    if (__isGlobal(&tile[i][threadIdx.x])) atomicAdd(wrong_count, 1);
  }
}

static void test_shared_is_garbage(void) {
  const test_memory<int> found(4 * 32 * tiles), wrong_count(1);
  SIMT_LAUNCH(reads_before_writing<int>, 4, 32, 32 * sizeof(int), 0, found.at, wrong_count.at);
  const std::vector<int> values = found.read();
  for (size_t i = 0; i < values.size() && SIMT_SHARED_SECTION; ++i)
    CHECK(values[i] == -1, "%zu: %d", i, values[i]);
  CHECK(!SIMT_SHARED_SECTION || wrong_count.read()[0] == 0, "%d", wrong_count.read()[0]);
}

int main(void) {
  test_orders();
  test_launches_differ();
  test_results_do_not_depend_on_the_seed();
  test_races_show(lost_update, 64);
  test_races_show(lost_at_fence, 64);
  test_races_show(lost_in_sleep, 58);
  test_activemask();
  test_activemask_splits();
  test_activemask_in_branches(active_in_branches);
  test_activemask_in_branches(active_in_calls);
  test_activemask_in_branches(active_on_one_line);
  test_activemask_in_branches(active_unmarked);
  test_waits_for_activemask();
  test_activemask_is_bounded();
  test_waits(waits_for_flag, 1, "flag");
  test_waits(waits_for_lock, 3, "lock");
  test_waits(waits_for_turn, 2, "turn");
  test_waits(waits_for_each_other, 1, "each other");
  test_waits(waits_for_warp, 1, "warp");
  test_shared_is_garbage();
  return test_end("order");
}
