/* arc study groups: generates keys and values on the device, and their sums on the host.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "groups.h"

#include "../../bench/common/random.h"
#include "arc.cuh"

/* Above MOST_ROWS, and prime: it takes ranks to keys one to one, so that what is hot lies apart. */
static const unsigned long long SPREAD = 2654435761ull;

/* Value i of all. */
RANDOM_FN float value_of(const grouping *g, long long i) {
  const float value = hashed_random(~g->seed, (unsigned long long)i) - 0.3f;
  return g->few_bits ? floorf(value * 4096.0f) / 4096.0f : value;
}

/* The first rank whose share, with those of all before it, is above x. */
DEVICE int rank_at(const double *shares, int keys, double x) {
  int least = 0;
  for (int most = keys - 1; least < most;) {
    const int middle = least + (most - least) / 2;
    if (shares[middle] > x)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

__global__ void __launch_bounds__(LINE_THREADS) draw(grouping g) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.rows) return;
  const unsigned long long random = splitmix64(g.seed, (unsigned long long)row);
  const int uniform = (int)((random >> 32) * (unsigned)g.keys >> 32);
  int key = uniform;
  if (g.by == BY_ZIPF_105 || g.by == BY_ZIPF_12) {
    const double x = (double)(random >> 11) / 9007199254740992.0;
    const int rank = rank_at((const double *)g.shares.data, g.keys, x);
    key = (int)((unsigned long long)rank * SPREAD % (unsigned)g.keys);
  }
  if (g.by == BY_SORTED) key = (int)((row * g.keys + uniform) / g.rows);
  if (g.by == BY_HALF && random % 2 == 0) key = 777 % g.keys;
  ((int *)g.key.data)[row] = key;
  for (long long i = row * g.columns; i < (row + 1) * g.columns; ++i)
    ((float *)g.value.data)[i] = value_of(&g, i);
}

static void upload_shares(grouping *g, double exponent) {
  std::vector<double> shares((size_t)g->keys);
  double sum = 0.0;
  for (size_t i = 0; i < shares.size() && !interrupts; ++i)
    shares[i] = sum += pow((double)(i + 1), -exponent);
  for (double &share : shares) share /= sum;
  device_upload(&g->memory, &g->shares, shares, "shares of keys");
}

void grouping_draw(grouping *g) {
  const size_t rows = (size_t)g->rows, columns = (size_t)g->columns, keys = (size_t)g->keys;
  const unsigned one = 1;
  device_reserve(&g->memory, &g->key, rows * sizeof(int), "keys");
  device_reserve(&g->memory, &g->value, rows * columns * sizeof(float), "values");
  const size_t words = g->what == WHAT_WIDE ? ARC_WIDE_ROW(columns) : columns;
  device_reserve(&g->memory, &g->sums, keys * words * sizeof(long long), "sums");
  if (g->by == BY_ZIPF_105) upload_shares(g, 1.05);
  if (g->by == BY_ZIPF_12) upload_shares(g, 1.2);
  g->scale_log2 = g->what == WHAT_COUNTS ? 0 : arc_fixed_scale_log2(1.0, g->rows);
  SIMT_LAUNCH(draw, line_blocks(rows), LINE_THREADS, 0, 0, *g);
  if (g->what == WHAT_COUNTS) host_to_device(g->value.data, &one, sizeof one, "a value");
  if (!SIMT_ON_CPU) cub_begin(g);
}

group_oracle grouping_oracle(const grouping *g) {
  const size_t columns = (size_t)g->columns, keys = (size_t)g->keys;
  const float scale = ldexpf(1.0f, g->scale_log2);
  const auto key = device_read<int>(g->key.data, (size_t)g->rows, "reading keys");
  group_oracle oracle = {std::vector<int>(keys), std::vector<long long>(keys * columns)};
  for (size_t row = 0; row < key.size() && !interrupts; ++row) {
    const size_t to = (size_t)key[row];
    oracle.rows[to] += 1;
    for (size_t i = 0; i < columns; ++i)
      oracle.sums[to * columns + i] +=
          g->what == WHAT_COUNTS ? 1 : llrintf(value_of(g, (long long)(row * columns + i)) * scale);
  }
  return oracle;
}

void grouping_end(grouping *g) {
  device_array *arrays[] = {&g->key,       &g->value,      &g->shares,       &g->sums,
                            &g->order,     &g->sorted_key, &g->sorted_order, &g->found_key,
                            &g->found_sum, &g->found,      &g->scratch};
  for (device_array *array : arrays) device_release(&g->memory, array);
}
