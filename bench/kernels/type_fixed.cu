/* type_fixed.cu - floats into 64-bit fixed point. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME fixed
#include "fixed.cuh"
