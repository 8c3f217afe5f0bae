/* arc study gaussians: colour by direction, in spherical harmonics to degree 3.
   SPDX-License-Identifier: Apache-2.0

   Real harmonics, constants and signs as 3DGS .ply files expect them. Once loops are
   unrolled, only literals index the arrays, so arrays are in registers. */
#pragma once

#include "model.cuh"

#define SH_0 0.28209479177387814f
#define SH_1 0.4886025119029199f
#define SH_2A 1.0925484305920792f
#define SH_2B 0.31539156525252005f
#define SH_2C 0.5462742152960396f
#define SH_3A 0.5900435899266435f
#define SH_3B 2.890611442640554f
#define SH_3C 0.4570457994644658f
#define SH_3D 0.3731763325901154f
#define SH_3E 1.445305721320277f

static __host__ __device__ __forceinline__ int sh_bases(int degree) {
  return (degree + 1) * (degree + 1);
}

/* Bases beyond the degree are 0. */
DEVICE void sh_basis(int degree, float x, float y, float z, float basis[SH_BASES]) {
  float xx = x * x, yy = y * y, zz = z * z;
  basis[0] = SH_0;
  basis[1] = -SH_1 * y;
  basis[2] = SH_1 * z;
  basis[3] = -SH_1 * x;
  basis[4] = SH_2A * x * y;
  basis[5] = -SH_2A * y * z;
  basis[6] = SH_2B * (2.0f * zz - xx - yy);
  basis[7] = -SH_2A * x * z;
  basis[8] = SH_2C * (xx - yy);
  basis[9] = -SH_3A * y * (3.0f * xx - yy);
  basis[10] = SH_3B * x * y * z;
  basis[11] = -SH_3C * y * (4.0f * zz - xx - yy);
  basis[12] = SH_3D * z * (2.0f * zz - 3.0f * xx - 3.0f * yy);
  basis[13] = -SH_3C * x * (4.0f * zz - xx - yy);
  basis[14] = SH_3E * z * (xx - yy);
  basis[15] = -SH_3A * x * (xx - 3.0f * yy);
  UNROLL
  for (int k = 1; k < SH_BASES; ++k)
    if (k >= sh_bases(degree)) basis[k] = 0.0f;
}

/* The derivative of the sum of w[k] * basis k by x, y and z; w beyond the degree is 0. */
DEVICE float3 sh_slope(const float w[SH_BASES], float x, float y, float z) {
  float xx = x * x, yy = y * y, zz = z * z, ring = 4.0f * zz - xx - yy;
  float3 d;
  d.x = -SH_1 * w[3] + SH_2A * (y * w[4] - z * w[7]) - 2.0f * x * (SH_2B * w[6] - SH_2C * w[8]);
  d.y = -SH_1 * w[1] + SH_2A * (x * w[4] - z * w[5]) - 2.0f * y * (SH_2B * w[6] + SH_2C * w[8]);
  d.z = SH_1 * w[2] - SH_2A * (y * w[5] + x * w[7]) + 4.0f * SH_2B * z * w[6];
  d.x += -6.0f * SH_3A * x * y * w[9] + SH_3B * y * z * w[10] + 2.0f * SH_3C * x * y * w[11] -
         6.0f * SH_3D * x * z * w[12] - SH_3C * (ring - 2.0f * xx) * w[13] +
         2.0f * SH_3E * x * z * w[14] - 3.0f * SH_3A * (xx - yy) * w[15];
  d.y += -3.0f * SH_3A * (xx - yy) * w[9] + SH_3B * x * z * w[10] -
         SH_3C * (ring - 2.0f * yy) * w[11] - 6.0f * SH_3D * y * z * w[12] +
         2.0f * SH_3C * x * y * w[13] - 2.0f * SH_3E * y * z * w[14] + 6.0f * SH_3A * x * y * w[15];
  d.z += SH_3B * x * y * w[10] - 8.0f * SH_3C * z * (y * w[11] + x * w[13]) +
         3.0f * SH_3D * (2.0f * zz - xx - yy) * w[12] + SH_3E * (xx - yy) * w[14];
  return d;
}

/* sh: [16][3], aligned to 16 bytes, read 16 bytes at a time: number k of them, 4 floats or 8
   halves. */
DEVICE void sh_load(const float *sh, int k, float row[4]) {
  float4 v = ((const float4 *)sh)[k];
  row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
}

DEVICE void sh_load(const unsigned short *sh, int k, float row[8]) {
  uint4 v = ((const uint4 *)sh)[k];
  const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
  UNROLL
  for (int j = 0; j < 4; ++j) {
    float2 two = half_pair(pairs[j]);
    row[2 * j] = two.x, row[2 * j + 1] = two.y;
  }
}

/* Whether number `first` of a row belongs to the degree at all. */
DEVICE bool sh_has(int first, int degree) { return first < 3 * sh_bases(degree); }

/* Colour before it is cut off at 0. */
template <class S>
DEVICE void sh_colour(const float basis[SH_BASES], const S *sh, int degree, float colour[3]) {
  const int each = 16 / sizeof(S);
  UNROLL
  for (int j = 0; j < 3; ++j) colour[j] = 0.5f;
  UNROLL
  for (int k = 0; k < SH_FLOATS / each; ++k) {
    float row[each];
    if (!sh_has(each * k, degree)) continue;
    sh_load(sh, k, row);
    UNROLL
    for (int j = 0; j < each; ++j) colour[(each * k + j) % 3] += basis[(each * k + j) / 3] * row[j];
  }
}

/* w[k]: the dot product of row k of sh and v; 0 beyond the degree. */
DEVICE void sh_weights(const float *sh, int degree, const float v[3], float w[SH_BASES]) {
  UNROLL
  for (int k = 0; k < SH_BASES; ++k) w[k] = 0.0f;
  UNROLL
  for (int k = 0; k < SH_FLOATS / 4; ++k) {
    float row[4];
    if (!sh_has(4 * k, degree)) continue;
    sh_load(sh, k, row);
    UNROLL
    for (int j = 0; j < 4; ++j)
      if ((4 * k + j) / 3 < sh_bases(degree)) w[(4 * k + j) / 3] += row[j] * v[(4 * k + j) % 3];
  }
}

/* Floats 4 k to 4 k + 3 of the loss by sh, from that by the colour. */
DEVICE float4 sh_slope_row(const float basis[SH_BASES], const float v[3], int k) {
  float row[4];
  UNROLL
  for (int j = 0; j < 4; ++j) row[j] = basis[(4 * k + j) / 3] * v[(4 * k + j) % 3];
  return make_float4(row[0], row[1], row[2], row[3]);
}
