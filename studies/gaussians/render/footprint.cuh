/* arc study gaussians: the footprint of a Gaussian in a picture.
   SPDX-License-Identifier: Apache-2.0

   With M = rotation matrix * diag(scale), W the camera's rotation and J the derivative of the
   projection, the footprint's covariance is B B' + 0.3, B = J W M. */
#pragma once

#include "model.cuh"

#define NEAREST_DEPTH 0.2f
#define LOW_PASS 0.3f /* pixels^2 */

typedef struct footprint {
  float u, v;          /* x / z, y / z in the camera */
  float x, y, z;       /* in the camera */
  float per_z;         /* 1 / z */
  bool free_x, free_y; /* u, v within what J is taken at */
  float ju, jv;        /* u, v where J is taken */
  float r[9], s[3];    /* the Gaussian's rotation matrix, scales */
  float norm;          /* of the stored quaternion */
  float q[4];          /* the quaternion, of length 1 */
  float a0[3], a1[3];  /* rows of J W */
  float b0[3], b1[3];  /* rows of B */
  float xx, xy, yy;    /* the covariance, pixels^2 */
} footprint;

DEVICE float dot3(const float *a, const float *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

DEVICE void rotation_matrix(const float q[4], float r[9]) {
  float w = q[0], x = q[1], y = q[2], z = q[3];
  r[0] = 1.0f - 2.0f * (y * y + z * z);
  r[1] = 2.0f * (x * y - w * z);
  r[2] = 2.0f * (x * z + w * y);
  r[3] = 2.0f * (x * y + w * z);
  r[4] = 1.0f - 2.0f * (x * x + z * z);
  r[5] = 2.0f * (y * z - w * x);
  r[6] = 2.0f * (x * z - w * y);
  r[7] = 2.0f * (y * z + w * x);
  r[8] = 1.0f - 2.0f * (x * x + y * y);
}

DEVICE void load_shape(footprint *f, const gaussians *g, int i) {
  float squares = 0.0f;
  const float4 q = ((const float4 *)g->rotation)[i];
  f->q[0] = q.x, f->q[1] = q.y, f->q[2] = q.z, f->q[3] = q.w;
  UNROLL
  for (int k = 0; k < 4; ++k) squares += f->q[k] * f->q[k];
  f->norm = sqrtf(squares);
  float inverse = 1.0f / f->norm;
  UNROLL
  for (int k = 0; k < 4; ++k) f->q[k] *= inverse;
  UNROLL
  for (int k = 0; k < 3; ++k) f->s[k] = expf(g->scale[3 * (size_t)i + k]);
  rotation_matrix(f->q, f->r);
}

/* Into the camera; false: too near, or behind it. Sets every member either way. */
DEVICE bool locate(footprint *f, const device_camera *c, const float p[3]) {
  f->x = dot3(c->rotation[0], p) + c->translation[0];
  f->y = dot3(c->rotation[1], p) + c->translation[1];
  f->z = dot3(c->rotation[2], p) + c->translation[2];
  f->per_z = 1.0f / f->z;
  f->u = f->x * f->per_z;
  f->v = f->y * f->per_z;
  f->ju = fminf(fmaxf(f->u, c->low_x), c->high_x);
  f->jv = fminf(fmaxf(f->v, c->low_y), c->high_y);
  f->free_x = f->ju == f->u;
  f->free_y = f->jv == f->v;
  return f->z >= NEAREST_DEPTH;
}

DEVICE void spread(footprint *f, const device_camera *c) {
  float jx = c->fx * f->per_z, jy = c->fy * f->per_z;
  UNROLL
  for (int k = 0; k < 3; ++k) {
    f->a0[k] = jx * (c->rotation[0][k] - f->ju * c->rotation[2][k]);
    f->a1[k] = jy * (c->rotation[1][k] - f->jv * c->rotation[2][k]);
  }
  UNROLL
  for (int k = 0; k < 3; ++k) {
    f->b0[k] = f->s[k] * (f->a0[0] * f->r[k] + f->a0[1] * f->r[3 + k] + f->a0[2] * f->r[6 + k]);
    f->b1[k] = f->s[k] * (f->a1[0] * f->r[k] + f->a1[1] * f->r[3 + k] + f->a1[2] * f->r[6 + k]);
  }
  f->xx = dot3(f->b0, f->b0) + LOW_PASS;
  f->xy = dot3(f->b0, f->b1);
  f->yy = dot3(f->b1, f->b1) + LOW_PASS;
}

/* From the camera to the Gaussian, of length 1; returns the distance. */
DEVICE float seen_from(const device_camera *c, const float p[3], float direction[3]) {
  float squares = 0.0f;
  UNROLL
  for (int k = 0; k < 3; ++k) direction[k] = p[k] - c->position[k];
  UNROLL
  for (int k = 0; k < 3; ++k) squares += direction[k] * direction[k];
  float length = sqrtf(squares), inverse = 1.0f / length;
  UNROLL
  for (int k = 0; k < 3; ++k) direction[k] *= inverse;
  return length;
}
