// misuse_memory.cu -- deliberate misuses: addresses, poison and checks.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

// An address between two floats.
CASE(misaligned_atomic, 1, 64, 5) {
  if (threadIdx.x == 40) atomicAdd((float *)((char *)out + (wrong ? 6 : 4)), 1.0f);
  __syncthreads();
  if (threadIdx.x == 0 && ((float *)out)[1] == 1.0f) atomicAdd(out, 5);
}

// A vector reduction of four floats to an address that only two could take.
CASE(misaligned_v4, 1, 32, 128) {
  float *row = (float *)out + 4;
  simt_red_add_v4_f32(row + (wrong ? 2 : 4) * threadIdx.x, 1.0f, 2.0f, 3.0f, 4.0f);
  __syncwarp();
  atomicAdd(out, (int)row[4 * threadIdx.x + 3]);
}

// A vector reduction on shared memory, which only global memory has.
CASE(vector_on_shared, 1, 32, 2) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0 && wrong) simt_red_add_v2_f32(tile, 1.0f, 2.0f);
  if (threadIdx.x == 0 && !wrong) atomicAdd(&tile[1], 2.0f);
  __syncthreads();
  atomicAdd(out, (int)tile[threadIdx.x]);
}

// A block waits for what a later one stores: here they run one after another.
CASE(waits_for_later_block, 3, 32, 32) {
  if (blockIdx.x == 0 && wrong)
    while (static_cast<volatile int *>(out)[1] == 0) {
    }
  if (blockIdx.x == 2) atomicAdd(out, out[1] = 1);
}

// The value of an inactive lane goes into a sum.
CASE(poison_value_added, 1, 32, 31) {
  bool active = lane() != 11;
  float v = active ? 1.0f : simt_poison_f32();
  if (!active && !wrong) v = 0.0f;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
  if (lane() == 0) atomicAdd((float *)out + 1, v);
  if (lane() == 0) atomicAdd(out, (int)v);
}

// The key of an inactive lane takes part in a match.
CASE(poison_key_matched, 1, 32, 206) {
  int key = lane() % 5 == 4 ? simt_poison_key() : lane() % 5;
  unsigned peers = __match_any_sync(FULL, lane() % 5 == 4 && !wrong ? -1 : key);
  atomicAdd(out, __popc(peers));
}

// The key of an inactive lane is broadcast. An inactive lane may still receive its own key.
CASE(poison_key_shuffled, 1, 32, 1) {
  int key = lane() < 4 ? simt_poison_key() : 10 + lane();
  unsigned active = __ballot_sync(FULL, lane() >= 4);
  int from = lane() < 4 ? lane() : __ffs((int)active) - 1;
  int leader = __shfl_sync(FULL, key, wrong ? 0 : from);
  if (lane() >= 4 && key == leader) atomicAdd(out, 1);
}

// An inactive lane adds through its garbage pointer.
CASE(poison_pointer_added, 1, 32, 32) {
  float *p = lane() < 30 ? (float *)out + 1 : simt_poison_pointer();
  if (lane() < 30 || wrong) atomicAdd(p + lane(), 1.0f);
  atomicAdd(out, 1);
}

// An inactive lane loads through its garbage pointer.
CASE(poison_pointer_read, 1, 32, 31, BY_SIGNAL) {
  const float *p = lane() == 17 ? simt_poison_pointer() : (const float *)out;
  if ((lane() != 17 || wrong) && p[1] == 0.0f) atomicAdd(out, 1);
}

static __device__ __forceinline__ void store_one(int *address) { *address = 1; }
#define store_one(...) SIMT_CALL_OF(store_one(__VA_ARGS__))

// A library function is handed an address where no memory is: the report names the call.
CASE(no_memory_in_call, 1, 32, 1, BY_SIGNAL) {
  store_one(threadIdx.x == 4 && wrong ? (int *)64 : out);
}

// A lane adds in front of a block of cudaMalloc, as a key of -1 does.
CASE(before_a_block, 1, 32, 32, BY_SIGNAL) { atomicAdd(out - (lane() == 7 && wrong), 1); }

// A lane adds to the last two floats of a block, and to two beyond.
CASE(across_its_end, 1, 32, 32, BY_SIGNAL) {
  if (lane() == 7) simt_red_add_v4_f32((float *)out + (wrong ? 1000 : 996), 1, 1, 1, 1);
  atomicAdd(out, 1);
}

// A lane loads from the page behind a block.
CASE(beyond_a_block, 1, 32, 32, BY_SIGNAL) {
  if (lane() != 7 || out[wrong ? 1024 : 1001] == 0) atomicAdd(out, 1);
}

static __device__ int depth(int *out, int levels) {
  volatile int frame[64];
  frame[levels % 64] = levels;
  return levels > 0 ? depth(out, levels - 1) + (frame[levels % 64] == levels) : out[2];
}

// A lane recurses without end.
CASE(stack_overflow, 1, 32, 129, BY_SIGNAL) {
  atomicAdd(out, depth(out, threadIdx.x != 2 ? 4 : wrong ? 1 << 30 : 5));
}

static __device__ __forceinline__ void add_width(int *out, int width) {
  if (width < 0) SIMT_CHECK_FAILED("the width must not be negative");
  atomicAdd(out, width);
}
#define add_width(...) SIMT_CALL_OF(add_width(__VA_ARGS__))

// A library's check fails: the report names the call, too.
CASE(failed_check_in_call, 1, 32, 32) { add_width(out, lane() == 21 && wrong ? -1 : 1); }

// __trap() is executed.
CASE(trap, 1, 32, 32) {
  bool all = __all_sync(FULL, lane() >= 0) != 0;
  if (all == wrong) __trap();
  atomicAdd(out, 1);
}
