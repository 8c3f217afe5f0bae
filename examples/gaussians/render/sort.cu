/* arc example gaussians: sort and scan.
   SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#if SIMT_ON_CPU

size_t sort_scratch_bytes(int count, int) { return (size_t)(count > 0 ? 1 : 0); }

/* One pass of a radix sort, by one byte of the key. */
template <class V>
static void sort_by_byte(pair_buffers<V> pairs, int from, int count, int shift) {
  int places[257] = {0};
  for (int i = 0; i < count; ++i) places[(pairs.keys[from][i] >> shift & 255u) + 1] += 1;
  for (int d = 0; d < 256; ++d) places[d + 1] += places[d];
  for (int i = 0; i < count; ++i) {
    int place = places[pairs.keys[from][i] >> shift & 255u]++;
    pairs.keys[1 - from][place] = pairs.keys[from][i];
    pairs.values[1 - from][place] = pairs.values[from][i];
  }
}

template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, int key_bits, void *, size_t) {
  int from = 0;
  for (int shift = 0; shift < key_bits; shift += 8, from = 1 - from)
    sort_by_byte(pairs, from, count, shift);
  return from;
}

int sort_segments(pair_buffers<int, unsigned> pairs, int, const int *first, int segments, void *,
                  size_t) {
  std::vector<int> order((size_t)first[segments]);
  std::iota(order.begin(), order.end(), 0);
  for (int s = 0; s < segments; ++s)
    std::stable_sort(order.begin() + first[s], order.begin() + first[s + 1],
                     [&](int a, int b) { return pairs.keys[0][a] < pairs.keys[0][b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    pairs.keys[1][i] = pairs.keys[0][order[i]];
    pairs.values[1][i] = pairs.values[0][order[i]];
  }
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
