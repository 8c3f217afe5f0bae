/* arc study gaussians: launches the backward pass of a picture.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pixels.cuh"

typedef struct backward_arguments {
  render_arguments render;
  picture_planes planes; /* as the forward pass has left them */
  const float *slope;    /* the loss by the picture, three planes */
  splat_sums sums;       /* added to */
  int threshold;         /* a balancing threshold */
} backward_arguments;

/* One block a tile. */
typedef void (*backward_launcher)(int tiles, const backward_arguments *a);
void backward_launch(int tiles, const backward_arguments *a);
