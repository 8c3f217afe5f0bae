/* arc example gaussians: sort and scan.
   SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#if SIMT_ON_CPU

size_t sort_scratch_bytes(int count) { return (size_t)(count > 0 ? 1 : 0); }

/* One pass of a radix sort, by one byte of the key. */
static void sort_by_byte(pair_buffers pairs, int from, int count, int shift) {
  int places[257] = {0};
  for (int i = 0; i < count; ++i) places[(pairs.keys[from][i] >> shift & 255u) + 1] += 1;
  for (int d = 0; d < 256; ++d) places[d + 1] += places[d];
  for (int i = 0; i < count; ++i) {
    int place = places[pairs.keys[from][i] >> shift & 255u]++;
    pairs.keys[1 - from][place] = pairs.keys[from][i];
    pairs.values[1 - from][place] = pairs.values[from][i];
  }
}

int sort_pairs(pair_buffers pairs, int count, int key_bits, void *, size_t) {
  int from = 0;
  for (int shift = 0; shift < key_bits; shift += 8, from = 1 - from)
    sort_by_byte(pairs, from, count, shift);
  return from;
}

bool scan_counts(const int *in, int *out, int count, void *, size_t) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    int here = in[i];
    out[i] = sum;
    sum += here;
  }
  return true;
}

#else

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

size_t sort_scratch_bytes(int count) {
  size_t sort = 0, scan = 0;
  cub::DoubleBuffer<unsigned long long> keys(nullptr, nullptr);
  cub::DoubleBuffer<int> values(nullptr, nullptr);
  cub::DeviceRadixSort::SortPairs(nullptr, sort, keys, values, count);
  cub::DeviceScan::ExclusiveSum(nullptr, scan, (const int *)nullptr, (int *)nullptr, count);
  return sort > scan ? sort : scan;
}

int sort_pairs(pair_buffers pairs, int count, int key_bits, void *scratch, size_t scratch_bytes) {
  cub::DoubleBuffer<unsigned long long> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<int> values(pairs.values[0], pairs.values[1]);
  cudaError_t status =
      cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, count, 0, key_bits);
  return status == cudaSuccess ? values.selector : -1;
}

bool scan_counts(const int *in, int *out, int count, void *scratch, size_t scratch_bytes) {
  return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, in, out, count) == cudaSuccess;
}

#endif
