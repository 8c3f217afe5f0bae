/* grid_launch.h - what launches grid_sample.cuh's kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_GRID_LAUNCH_H
#define ARC_GRID_LAUNCH_H

#include "adders.h"
#include "grid_sample.h"

/* Channels of a group, which is a part of the grid's gradient: eight places leave no registers. */
constexpr int grid_width(int axes, int taps) { return axes == 3 && taps == 2 ? 2 : 4; }

/* By the type of all tensors. images and channels are those of the call, of which a launch takes
   `planes` at most: as many hold the sums. */
typedef cudaError_t grid_sampler(grid_job, device, int axes, int taps, long long planes);
grid_sampler sample_f32, sample_f16, sample_bf16;

#endif
