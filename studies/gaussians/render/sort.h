/* arc study gaussians: sort and scan, CUB's on the GPU, plain ones on the CPU warp.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "simt/simt.cuh"

/* Pairs of a key (list, then depth) and a value (what is listed), in two buffers: sorting goes from
   one to the other and back. V: int or unsigned long long. */
template <class V>
struct pair_buffers {
  unsigned *keys[2];
  V *values[2];
};

/* Bytes of scratch memory that sorting or scanning up to `count` takes, whatever the values. */
size_t sort_scratch_bytes(int count);

/* Sorts by the keys; starts from buffer 0 and returns the number of the buffer that holds
   the result, negative if the device refused. */
template <class V>
int sort_pairs(pair_buffers<V> pairs, int count, void *scratch, size_t scratch_bytes);

/* out[i] = the sum of in[0] to in[i - 1]; false if the device refused. In place, too. */
bool scan_counts(const int *in, int *out, int count, void *scratch, size_t scratch_bytes);
