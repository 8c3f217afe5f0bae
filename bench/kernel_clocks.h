/* kernel_clocks.h - what the sweep's kernel takes around an add, in clocks of one scheduler of an
   H200 and warp update. Fitted by model_fit.c. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_KERNEL_CLOCKS_H
#define ARC_BENCH_KERNEL_CLOCKS_H

static inline double sweep_kernel_clocks(int width, int keyed) {
  return 45.2 + 1.1 * width + (keyed ? 29.7 : 0.0);
}

#endif
