// misuse_memory.cu -- deliberate misuses: addresses, poison and checks.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

// An address between two floats.
CASE(misaligned_atomic, 1, 64, 5) {
static __global__ void misuse(int *out) {
  if (threadIdx.x == 40) atomicAdd((float *)((char *)out + 6), 1.0f);
}

static __global__ void twin(int *out) {
  if (threadIdx.x == 40) atomicAdd((float *)((char *)out + 4), 1.0f);
  __syncthreads();
  if (threadIdx.x == 0 && ((float *)out)[1] == 1.0f) atomicAdd(out, 5);
}
}

// A vector reduction of four floats to an address that only two could take.
CASE(misaligned_v4, 1, 32, 128) {
static __global__ void misuse(int *out) {
  float *row = (float *)out + 4;
  simt_red_add_v4_f32(row + 2 * threadIdx.x, 1.0f, 2.0f, 3.0f, 4.0f);
}

static __global__ void twin(int *out) {
  float *row = (float *)out + 4;
  simt_red_add_v4_f32(row + 4 * threadIdx.x, 1.0f, 2.0f, 3.0f, 4.0f);
  __syncwarp();
  atomicAdd(out, (int)row[4 * threadIdx.x + 3]);
}
}

// A library function is handed a misaligned address: the report names the call, too.
CASE(misaligned_in_call, 1, 32, 5) {
static __device__ __forceinline__ void add_one(float *address) {
  atomicAdd(address, 1.0f);
}
#define add_one(...) SIMT_CALL_OF(add_one(__VA_ARGS__))

static __global__ void misuse(int *out) {
  if (threadIdx.x == 4) add_one((float *)((char *)out + 6));
}

static __global__ void twin(int *out) {
  if (threadIdx.x == 4) add_one((float *)((char *)out + 4));
  if (threadIdx.x == 4 && ((float *)out)[1] == 1.0f) atomicAdd(out, 5);
}
}

// A vector reduction on shared memory, which only global memory has.
CASE_WITH_SHARED(vector_on_shared, 1, 32, 32 * sizeof(float), 2) {
static __global__ void misuse(int *out) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) simt_red_add_v2_f32(tile, 1.0f, 2.0f);
  out[threadIdx.x] = (int)tile[threadIdx.x];
}

static __global__ void twin(int *out) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&tile[1], 2.0f);
  __syncthreads();
  atomicAdd(out, (int)tile[threadIdx.x]);
}
}

// The value of an inactive lane goes into a sum.
CASE(poison_value_added, 1, 32, 31) {
static __global__ void misuse(int *out) {
  bool active = lane() != 11;
  float v = active ? 1.0f : simt_poison_f32();
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
  if (lane() == 0) atomicAdd((float *)out + 1, v);
}

static __global__ void twin(int *out) {
  bool active = lane() != 11;
  float v = active ? 1.0f : simt_poison_f32();
  if (!active) v = 0.0f;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
  if (lane() == 0) atomicAdd(out, (int)v);
}
}

// The key of an inactive lane takes part in a match.
CASE(poison_key_matched, 1, 32, 206) {
static __global__ void misuse(int *out) {
  int key = lane() % 5 == 4 ? simt_poison_key() : lane() % 5;
  unsigned peers = __match_any_sync(FULL, key);
  atomicAdd(out, __popc(peers));
}

static __global__ void twin(int *out) {
  int key = lane() % 5 == 4 ? simt_poison_key() : lane() % 5;
  unsigned peers = __match_any_sync(FULL, lane() % 5 == 4 ? -1 : key);
  atomicAdd(out, __popc(peers));
}
}

// The key of an inactive lane is broadcast.
CASE(poison_key_shuffled, 1, 32, 1) {
static __global__ void misuse(int *out) {
  int key = lane() < 4 ? simt_poison_key() : 10 + lane();
  int leader = __shfl_sync(FULL, key, 0);
  if (key == leader) atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int key = lane() < 4 ? simt_poison_key() : 10 + lane();
  unsigned active = __ballot_sync(FULL, lane() >= 4);
  // An inactive lane may still receive its own key.
  int leader = __shfl_sync(FULL, key, lane() < 4 ? lane() : __ffs((int)active) - 1);
  if (lane() >= 4 && key == leader) atomicAdd(out, 1);
}
}

// An inactive lane adds through its garbage pointer.
CASE(poison_pointer_added, 1, 32, 32) {
static __global__ void misuse(int *out) {
  float *p = lane() < 30 ? (float *)out + 1 : simt_poison_pointer();
  atomicAdd(p + lane(), 1.0f);
}

static __global__ void twin(int *out) {
  float *p = lane() < 30 ? (float *)out + 1 : simt_poison_pointer();
  if (lane() < 30) atomicAdd(p + lane(), 1.0f);
  atomicAdd(out, 1);
}
}

// An inactive lane loads through its garbage pointer.
CASE_BY_SIGNAL(poison_pointer_read, 1, 32, 31) {
static __global__ void misuse(int *out) {
  const float *p = lane() == 17 ? simt_poison_pointer() : (const float *)out;
  if (p[lane() & 1] != 0.0f) out[1] = 1;
}

static __global__ void twin(int *out) {
  const float *p = lane() == 17 ? simt_poison_pointer() : (const float *)out;
  if (lane() != 17 && p[1] == 0.0f) atomicAdd(out, 1);
}
}

// A library function is handed an address where no memory is: the report names the call.
CASE_BY_SIGNAL(no_memory_in_call, 1, 32, 1) {
static __device__ __forceinline__ void store_one(int *address) {
  *address = 1;
}
#define store_one(...) SIMT_CALL_OF(store_one(__VA_ARGS__))

static __global__ void misuse(int *out) {
  store_one(threadIdx.x == 4 ? (int *)64 : out);
}

static __global__ void twin(int *out) {
  store_one(out);
}
}

// A lane recurses without end.
CASE_BY_SIGNAL(stack_overflow, 1, 32, 129) {
static __device__ int depth(int *out, int levels) {
  volatile int frame[64];
  frame[levels % 64] = levels;
  return levels > 0 ? depth(out, levels - 1) + (frame[levels % 64] == levels) : out[2];
}

static __global__ void misuse(int *out) {
  out[1] = depth(out, (int)threadIdx.x == 2 ? 1 << 30 : 4);
}

static __global__ void twin(int *out) {
  atomicAdd(out, depth(out, (int)threadIdx.x == 2 ? 5 : 4));
}
}

// A library's check fails: the report names the call, too.
CASE(failed_check_in_call, 1, 32, 32) {
static __device__ __forceinline__ void add_width(int *out, int width) {
  if (width < 0) SIMT_CHECK_FAILED("the width must not be negative");
  atomicAdd(out, width);
}
#define add_width(...) SIMT_CALL_OF(add_width(__VA_ARGS__))

static __global__ void misuse(int *out) {
  add_width(out, lane() == 21 ? -1 : 1);
}

static __global__ void twin(int *out) {
  add_width(out, 1);
}
}

// __trap() is executed.
CASE(trap, 1, 32, 32) {
static __global__ void misuse(int *out) {
  if (__all_sync(FULL, lane() >= 0)) __trap();
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  if (!__all_sync(FULL, lane() >= 0)) __trap();
  atomicAdd(out, 1);
}
}
