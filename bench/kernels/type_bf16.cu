/* type_bf16.cu - floats into bfloats. SPDX-License-Identifier: Apache-2.0 */
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#endif

#define SWEEP_NAME bf16
#define SWEEP_PAIR __nv_bfloat162
#define SWEEP_PAIR_OF __floats2bfloat162_rn
#include "halves.cuh"
