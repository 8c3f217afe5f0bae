/* arc example gaussians: the kernel to copy from. arc decides, at a threshold measured for this
   kernel: arc's own choice (5 for rows of 9 values) is for warps of any kind, and 5 % slower here
   (bench/NOTES.md, 26).
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BALANCE_THRESHOLD
#define ARC_BALANCE_THRESHOLD 12
#endif
#define BACKWARD_NAME default
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_f32(target, key, values, hit, ARC_BALANCE_THRESHOLD)
#include "render_backward.cuh"

const char *backward_default_policy(void) { return ARC_POLICY_STRING; }
int backward_default_threshold(void) { return ARC_BALANCE_THRESHOLD; }
