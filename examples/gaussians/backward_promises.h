/* arc example gaussians: what the backward pass promises arc. Comes before any other file.
   SPDX-License-Identifier: Apache-2.0

   A warp walks over one list, so that every lane has the key, hit or not; and some lane is hit: it
   walks over the hits that the forward pass has left, or has voted. (Zeros in lanes that are not hit: model.cuh, for all kernels.) */
#ifndef GAUSSIANS_BACKWARD_PROMISES_H
#define GAUSSIANS_BACKWARD_PROMISES_H

#define ARC_INACTIVE_HAS_KEY 1
#define ARC_WARP_IS_ACTIVE 1

#endif
