/* arc study groups: the baseline, CUB. Sums: a radix sort by as many bits as keys have, then
   ReduceByKey, in floats. Counts: DeviceHistogram. SPDX-License-Identifier: Apache-2.0

   The sort moves one or two columns with their keys. With more columns it moves the numbers of the
   rows instead, which are fewer bytes; the reduction then reads the rows in sorted order. */
#include "groups.h"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/permutation_iterator.h>

enum { MOST_TRAVELLING = 2 }; /* columns */

template <int width>
struct alignas(width % 4 == 0   ? 16
               : width % 2 == 0 ? 8
                                : 4) row_of {
  float value[width];
};

struct row_sum {
  template <int width>
  __device__ row_of<width> operator()(const row_of<width> &a, const row_of<width> &b) const {
    row_of<width> sum;
    for (int i = 0; i < width; ++i) sum.value[i] = a.value[i] + b.value[i];
    return sum;
  }
};

static int key_bits(const grouping *g) {
  int bits = 1;
  while (bits < 31 && g->keys > 1 << bits) ++bits;
  return bits;
}

/* With no scratch: tells how many bytes it must have. */
template <typename item>
static cudaError_t sort(const grouping *g, void *scratch, size_t *bytes, const item *items) {
  return cub::DeviceRadixSort::SortPairs(scratch, *bytes, (const int *)g->key.data,
                                         (int *)g->sorted_key.data, items,
                                         (item *)g->sorted_order.data, g->rows, 0, key_bits(g));
}

template <int width, typename iterator>
static cudaError_t reduce(const grouping *g, void *scratch, size_t *bytes, iterator rows) {
  return cub::DeviceReduce::ReduceByKey(
      scratch, *bytes, (const int *)g->sorted_key.data, (int *)g->found_key.data, rows,
      (row_of<width> *)g->found_sum.data, (int *)g->found.data, row_sum(), g->rows);
}

template <int width>
static cudaError_t sort_and_reduce(const grouping *g, void *scratch, size_t *bytes) {
  typedef row_of<width> row;
  const row *const rows = (const row *)g->value.data;
  size_t sort_bytes = *bytes, reduce_bytes = *bytes;
  cudaError_t sorted, reduced;
  if constexpr (width <= MOST_TRAVELLING) {
    sorted = sort(g, scratch, &sort_bytes, rows);
    reduced = reduce<width>(g, scratch, &reduce_bytes, (const row *)g->sorted_order.data);
  } else {
    sorted = sort(g, scratch, &sort_bytes, (const int *)g->order.data);
    reduced =
        reduce<width>(g, scratch, &reduce_bytes,
                      thrust::make_permutation_iterator(rows, (const int *)g->sorted_order.data));
  }
  *bytes = sort_bytes > reduce_bytes ? sort_bytes : reduce_bytes;
  return sorted != cudaSuccess ? sorted : reduced;
}

static cudaError_t run(const grouping *g, void *scratch, size_t *bytes) {
  static cudaError_t (*const sums[MOST_COLUMNS])(const grouping *, void *, size_t *) = {
      sort_and_reduce<1>, sort_and_reduce<2>, sort_and_reduce<3>, sort_and_reduce<4>,
      sort_and_reduce<5>, sort_and_reduce<6>, sort_and_reduce<7>, sort_and_reduce<8>};
  if (g->what != WHAT_COUNTS) return sums[g->columns - 1](g, scratch, bytes);
  return cub::DeviceHistogram::HistogramEven(scratch, *bytes, (const int *)g->key.data,
                                             (unsigned *)g->sums.data, g->keys + 1, 0, g->keys,
                                             g->rows);
}

void cub_begin(grouping *g) {
  const size_t rows = (size_t)g->rows, columns = (size_t)g->columns;
  const size_t found = rows < (size_t)g->keys ? rows : (size_t)g->keys;
  const char *const what = "memory for CUB";
  size_t bytes = 0;
  if (g->what == WHAT_WEIGHTS) return;
  if (g->what != WHAT_COUNTS) {
    std::vector<int> order(rows);
    for (size_t row = 0; row < rows; ++row) order[row] = (int)row;
    device_upload(&g->memory, &g->order, order, what);
    device_reserve(&g->memory, &g->sorted_key, rows * sizeof(int), what);
    device_reserve(&g->memory, &g->sorted_order,
                   rows * (columns <= MOST_TRAVELLING ? columns : 1) * sizeof(float), what);
    device_reserve(&g->memory, &g->found_key, found * sizeof(int), what);
    device_reserve(&g->memory, &g->found_sum, found * columns * sizeof(float), what);
    device_reserve(&g->memory, &g->found, sizeof(int), what);
  }
  device_check(run(g, nullptr, &bytes), "CUB");
  device_reserve(&g->memory, &g->scratch, bytes, what);
}

void cub_add(grouping *g) {
  size_t bytes = g->scratch.bytes;
  device_check(run(g, g->scratch.data, &bytes), "CUB");
}

void cub_read(const grouping *g, float *dense) {
  const size_t columns = (size_t)g->columns;
  int found = 0;
  device_to_host(&found, g->found.data, sizeof found, "reading sums");
  const auto key = device_read<int>(g->found_key.data, (size_t)found, "reading sums");
  const auto sum = device_read<float>(g->found_sum.data, key.size() * columns, "reading sums");
  for (size_t i = 0; i < sum.size(); ++i)
    dense[(size_t)key[i / columns] * columns + i % columns] = sum[i];
}
