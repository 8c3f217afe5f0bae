/* type_f16.cu - floats into halves. SPDX-License-Identifier: Apache-2.0 */
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

#define SWEEP_NAME f16
#define SWEEP_PAIR __half2
#define SWEEP_PAIR_OF __floats2half2_rn
#include "halves.cuh"
