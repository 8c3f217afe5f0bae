// misuse.cuh -- a table of deliberate misuses, each with its correct twin.
// SPDX-License-Identifier: Apache-2.0
//
// CASE(name, blocks, threads, number) { ... } defines a kernel that takes an array of ints and
// whether it is wrong; where it is not, the twin, it leaves the number in out[0]. It has shared
// memory for 32 floats. What the CPU warp must say about the misuse stands in misuse.expected.
#ifndef MISUSE_CUH
#define MISUSE_CUH

#include "simt/simt.cuh"

#define FULL 0xffffffffu
#define BY_SIGNAL true
static __device__ __forceinline__ int lane(void) { return (int)threadIdx.x % 32; }

struct misuse_case {
  const char *name, *file;
  int line;
  void (*launch)(int *out, bool wrong);
  int twin_result;
  bool by_signal = false;  // found by a memory fault, which AddressSanitizer keeps to itself
  const misuse_case *next = NULL;
};

// Enters the case into the table that misuse.cu runs.
struct misuse_entry {
  misuse_case entry;
  explicit misuse_entry(const misuse_case &entry_);
};

#define CASE(name, blocks, threads, ...)                                             \
  namespace name {                                                                   \
  static __global__ void misuse(int *out, bool wrong);                               \
  static void launch(int *out, bool wrong) {                                         \
    SIMT_LAUNCH(misuse, blocks, threads, 32 * sizeof(float), 0, out, wrong);         \
  }                                                                                  \
  static const misuse_entry entry({#name, __FILE__, __LINE__, launch, __VA_ARGS__}); \
  }                                                                                  \
  __global__ void name::misuse(int *out, bool wrong)

#endif
