/* type_exact.cu - floats into 64-bit fixed point, exact sums. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME exact
#include "fixed.cuh"
