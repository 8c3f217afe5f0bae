// vector_on_shared.cu -- a vector reduction on shared memory, which only global memory has.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) simt_red_add_v2_f32(tile, 1.0f, 2.0f);
  out[threadIdx.x] = (int)tile[threadIdx.x];
}

static __global__ void twin(int *out) {
  SIMT_DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&tile[1], 2.0f);
  __syncthreads();
  atomicAdd(out, (int)tile[threadIdx.x]);
}

MISUSE_WITH_SHARED(vector_on_shared, 1, 32, 32 * sizeof(float), 2);
