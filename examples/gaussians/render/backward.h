/* arc example gaussians: launches the backward pass of a picture.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_BACKWARD_H
#define GAUSSIANS_BACKWARD_H

#include "pixels.cuh"
#include "ways.h"

typedef struct backward_arguments {
  render_arguments render;
  picture_planes planes;         /* as the forward pass has left them */
  const float *slope;            /* the loss by the picture, three planes */
  splat_sums sums;               /* added to */
  unsigned long long *histogram; /* ADD_COUNT only: warp steps by hit lanes, 33; added to */
  int threshold;                 /* of the ways that take it at run time */
} backward_arguments;

/* False for what needs the CUDA toolkit, on the CPU warp. */
bool backward_has(add_way way);

/* One block a tile. pixels: 1, 2 or 4 a lane. */
void backward_launch(add_way way, int tiles, const backward_arguments *a, int pixels);

/* The half of it that backward_peers.cu compiles. */
void backward_launch_peer(add_way way, int tiles, const backward_arguments *a, int pixels);

#endif
