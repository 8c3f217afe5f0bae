/* arc example gaussians: sort and scan.
   SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#if SIMT_ON_CPU

size_t sort_scratch_bytes(int count, int) { return (size_t)(count > 0 ? 1 : 0); }

/* Pairs begin to end - 1 of buffer 0, by those bits of the keys, into buffer 1. */
template <class V, class K>
static int sort_range(pair_buffers<V, K> pairs, int begin, int end, K bits) {
  std::vector<int> order((size_t)(end - begin));
  std::iota(order.begin(), order.end(), begin);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return (pairs.keys[0][a] & bits) < (pairs.keys[0][b] & bits);
  });
  for (int from : order) {
    pairs.keys[1][begin] = pairs.keys[0][from];
    pairs.values[1][begin++] = pairs.values[0][from];
  }
  return 1;
}

template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, int key_bits, void *, size_t) {
  return sort_range(pairs, 0, count, ~0ull >> (64 - key_bits));
}

int sort_segments(pair_buffers<int, unsigned> pairs, int, const int *first, int segments, void *,
                  size_t) {
  for (int s = 0; s < segments; ++s) sort_range(pairs, first[s], first[s + 1], ~0u);
  return 1;
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
#include <cub/device/device_segmented_sort.cuh>

template <class V>
static size_t bytes_of_pairs(int count) {
  size_t bytes = 0;
  cub::DoubleBuffer<unsigned long long> keys(nullptr, nullptr);
  cub::DoubleBuffer<V> values(nullptr, nullptr);
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count);
  return bytes;
}

size_t sort_scratch_bytes(int count, int segments) {
  size_t scan = 0;
  cub::DeviceScan::ExclusiveSum(nullptr, scan, (const int *)nullptr, (int *)nullptr,
                                std::max(count, segments + 1));
  size_t by_segments = 0;
  cub::DoubleBuffer<unsigned> keys(nullptr, nullptr);
  cub::DoubleBuffer<int> values(nullptr, nullptr);
  const int *const first = nullptr;
  cub::DeviceSegmentedSort::SortPairs(nullptr, by_segments, keys, values, count, segments, first,
                                      first);
  return std::max(
      {scan, by_segments, bytes_of_pairs<int>(count), bytes_of_pairs<unsigned long long>(count)});
}

template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, int key_bits, void *scratch,
               size_t scratch_bytes) {
  cub::DoubleBuffer<unsigned long long> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<V> values(pairs.values[0], pairs.values[1]);
  cudaError_t status =
      cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, count, 0, key_bits);
  return status == cudaSuccess ? values.selector : -1;
}

int sort_segments(pair_buffers<int, unsigned> pairs, int count, const int *first, int segments,
                  void *scratch, size_t scratch_bytes) {
  cub::DoubleBuffer<unsigned> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<int> values(pairs.values[0], pairs.values[1]);
  cudaError_t status = cub::DeviceSegmentedSort::SortPairs(scratch, scratch_bytes, keys, values,
                                                           count, segments, first, first + 1);
  return status == cudaSuccess ? values.selector : -1;
}

bool scan_counts(const int *in, int *out, int count, void *scratch, size_t scratch_bytes) {
  return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, in, out, count) == cudaSuccess;
}

#endif

template int sort_pairs(pair_buffers<int>, int, int, void *, size_t);
template int sort_pairs(pair_buffers<unsigned long long>, int, int, void *, size_t);
