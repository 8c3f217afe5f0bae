/* arc example gaussians: sort and scan.
   SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include "../../common/device.h"

#include <algorithm>
#include <numeric>
#include <vector>

#if SIMT_ON_CPU

size_t sort_scratch_bytes(int count) { return (size_t)(count > 0 ? 1 : 0); }

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

bool sort_segments(pair_buffers<int, unsigned> pairs, const int *first, int segments, int most) {
  for (int s = 0; s < segments; ++s)
    if (first[s + 1] - first[s] <= most) sort_range(pairs, first[s], first[s + 1], ~0u);
  return true;
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

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

template <class V>
static size_t bytes_of_pairs(int count) {
  size_t bytes = 0;
  cub::DoubleBuffer<unsigned long long> keys(nullptr, nullptr);
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
int sort_pairs(pair_buffers<V> pairs, int count, int key_bits, void *scratch,
               size_t scratch_bytes) {
  cub::DoubleBuffer<unsigned long long> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<V> values(pairs.values[0], pairs.values[1]);
  cudaError_t status =
      cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, count, 0, key_bits);
  return status == cudaSuccess ? values.selector : -1;
}

/* One block a segment: of more than `above` pairs, and at most as many as a block has room for. */
template <int threads, int items>
__global__ void __launch_bounds__(threads)
    sort_blocks(pair_buffers<int, unsigned> pairs, const int *first, int above, int most) {
  using sorter = cub::BlockRadixSort<unsigned, threads, items, int>;
  SIMT_DYNAMIC_SHARED(typename sorter::TempStorage, storage);
  int begin = first[blockIdx.x], count = first[blockIdx.x + 1] - begin, values[items];
  unsigned keys[items];
  if (count <= above || count > min(most, threads * items)) return;
  UNROLL
  for (int k = 0; k < items; ++k) {
    int i = k * threads + (int)threadIdx.x;
    keys[k] = i < count ? pairs.keys[0][begin + i] : ~0u;
    values[k] = i < count ? pairs.values[0][begin + i] : 0;
  }
  sorter(*storage).SortBlockedToStriped(keys, values, 0, 31);
  UNROLL
  for (int k = 0; k < items; ++k) {
    int i = k * threads + (int)threadIdx.x;
    if (i < count) pairs.keys[1][begin + i] = keys[k], pairs.values[1][begin + i] = values[k];
  }
}

template <int threads, int items>
static void sort_sized(pair_buffers<int, unsigned> pairs, const int *first, int segments, int above,
                       int most) {
  size_t bytes = sizeof(typename cub::BlockRadixSort<unsigned, threads, items, int>::TempStorage);
  cudaFuncSetAttribute(sort_blocks<threads, items>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       (int)bytes);
  SIMT_LAUNCH((sort_blocks<threads, items>), segments, threads, bytes, 0, pairs, first, above,
              most);
}

bool sort_segments(pair_buffers<int, unsigned> pairs, const int *first, int segments, int most) {
  sort_sized<128, 8>(pairs, first, segments, 0, most);
  sort_sized<256, 16>(pairs, first, segments, 128 * 8, most);
  sort_sized<512, 25>(pairs, first, segments, 256 * 16, most);
  return cudaPeekAtLastError() == cudaSuccess;
}

bool scan_counts(const int *in, int *out, int count, void *scratch, size_t scratch_bytes) {
  return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, in, out, count) == cudaSuccess;
}

#endif

template int sort_pairs(pair_buffers<int>, int, int, void *, size_t);
template int sort_pairs(pair_buffers<unsigned long long>, int, int, void *, size_t);
