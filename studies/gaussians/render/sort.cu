/* arc study gaussians: sort and scan.
   SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include "../../common/device.h"

#include <algorithm>
#include <numeric>
#include <vector>

#if SIMT_ON_CPU

size_t sort_scratch_bytes(int count) { return (size_t)(count > 0 ? 1 : 0); }

template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, void *, size_t) {
  std::vector<int> order((size_t)count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return pairs.keys[0][a] < pairs.keys[0][b]; });
  for (int i = 0; i < count; ++i) {
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

template <class V>
static size_t bytes_of_pairs(int count) {
  size_t bytes = 0;
  cub::DoubleBuffer<unsigned> keys(nullptr, nullptr);
  cub::DoubleBuffer<V> values(nullptr, nullptr);
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count);
  return bytes;
}

size_t sort_scratch_bytes(int count) {
  size_t scan = 0;
  cub::DeviceScan::ExclusiveSum(nullptr, scan, (const int *)nullptr, (int *)nullptr, count);
  return std::max({scan, bytes_of_pairs<int>(count), bytes_of_pairs<unsigned long long>(count)});
}

template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, void *scratch, size_t scratch_bytes) {
  cub::DoubleBuffer<unsigned> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<V> values(pairs.values[0], pairs.values[1]);
  cudaError_t status = cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, count);
  return status == cudaSuccess ? values.selector : -1;
}

bool scan_counts(const int *in, int *out, int count, void *scratch, size_t scratch_bytes) {
  return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, in, out, count) == cudaSuccess;
}

#endif

template int sort_pairs(pair_buffers<int>, int, void *, size_t);
template int sort_pairs(pair_buffers<unsigned long long>, int, void *, size_t);
