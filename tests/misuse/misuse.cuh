// misuse.cuh -- what the files of this folder share: one misuse and its correct twin each.
// SPDX-License-Identifier: Apache-2.0
//
// A file defines two kernels, `misuse` and `twin`, that take an int array; the twin leaves a known
// number in out[0]. MISUSE(name, blocks, threads, number) enters them into the table of main.cu.
// What the CPU warp must say about the misuse stands in name.expected.
#ifndef MISUSE_CUH
#define MISUSE_CUH

#include "simt/simt.cuh"

#define FULL 0xffffffffu

struct misuse_case {
  const char *name;
  void (*launch_misuse)(int *out);
  void (*launch_twin)(int *out);
  int twin_result;
  bool by_signal;  // found by a memory fault, which AddressSanitizer keeps to itself
  misuse_case *next;
};
void misuse_register(misuse_case *entry);
struct misuse_entry {
  misuse_case data;
  explicit misuse_entry(const misuse_case &entry) : data(entry) { misuse_register(&data); }
};

#define MISUSE_ENTRY(name, blocks, threads, shared_bytes, twin_result, by_signal)                 \
  static void launch_misuse(int *out) {                                                           \
    SIMT_LAUNCH(misuse, blocks, threads, shared_bytes, 0, out);                                   \
  }                                                                                               \
  static void launch_twin(int *out) { SIMT_LAUNCH(twin, blocks, threads, shared_bytes, 0, out); } \
  static misuse_entry entry({#name, launch_misuse, launch_twin, twin_result, by_signal, NULL})
#define MISUSE(name, blocks, threads, twin_result) \
  MISUSE_ENTRY(name, blocks, threads, 0, twin_result, false)
#define MISUSE_WITH_SHARED(name, blocks, threads, shared_bytes, twin_result) \
  MISUSE_ENTRY(name, blocks, threads, shared_bytes, twin_result, false)
#define MISUSE_BY_SIGNAL(name, blocks, threads, twin_result) \
  MISUSE_ENTRY(name, blocks, threads, 0, twin_result, true)

#endif
