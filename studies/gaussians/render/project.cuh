/* arc study gaussians: from Gaussians to splats, and the gradient back.
   SPDX-License-Identifier: Apache-2.0

   The gradient is the chain rule through the products in footprint.cuh. */
#pragma once

#include "footprint.cuh"
#include "harmonics.cuh"
#include "../settings.h"

#define HALF_LOG2_E 0.72134752f
#define TWO_LN_2 1.38629436f

/* How far from the centre it may reach along x and y. */
DEVICE float2 find_reach(const footprint *f, const splat *s, tile_test test) {
  float2 half;
  if (test == TILE_CIRCLE) {
    float middle = 0.5f * (f->xx + f->yy), difference = 0.5f * (f->xx - f->yy);
    float longest = middle + sqrtf(difference * difference + f->xy * f->xy);
    half.x = half.y = 3.33f * sqrtf(longest); /* sqrt(2 ln 255) of the most opaque */
  } else {
    float squares = TWO_LN_2 * (1.001f * s->limit + 1e-3f); /* standard deviations, squared */
    half = make_float2(sqrt_fast(squares * f->xx), sqrt_fast(squares * f->yy));
  }
  return half;
}

/* All but the colour; false: it is not seen. side: of what the box counts. p: its position. */
DEVICE bool place_splat(projection *out, const gaussians *g, int i, const device_camera *c,
                        int side, tile_test test, float p[3]) {
  footprint f;
  splat *s = &out->s;
  UNROLL
  for (int k = 0; k < 3; ++k) p[k] = g->position[3 * (size_t)i + k];
  load_shape(&f, g, i); /* early: the position is on its way */
  float opacity = 1.0f / (1.0f + expf(-g->opacity[i]));
  if (!(opacity >= SMALLEST_ALPHA) || !locate(&f, c, p)) return false;
  spread(&f, c);
  float determinant = f.xx * f.yy - f.xy * f.xy;
  float scale = HALF_LOG2_E / determinant;
  if (!(determinant > 0.0f) || !(scale > 0.0f)) return false;
  s->x = c->fx * f.u + c->cx;
  s->y = c->fy * f.v + c->cy;
  s->a = scale * f.yy;
  s->b = -2.0f * scale * f.xy;
  s->c = scale * f.xx;
  s->limit = fmaxf(log2f(255.0f * opacity), 0.0f);
  s->opacity = opacity;
  out->depth = f.z;
  float2 reach = find_reach(&f, s, test);
  const int parts = TILE_SIDE / side; /* of a tile's side: tile_box_around counts tiles */
  const float f_parts = (float)parts;
  out->box = tile_box_around(make_float2(f_parts * s->x, f_parts * s->y),
                             make_float2(f_parts * reach.x, f_parts * reach.y), parts * c->tiles_x,
                             parts * c->tiles_y);
  return out->box.x0 < out->box.x1 && out->box.y0 < out->box.y1;
}

DEVICE void colour_splat(splat *s, const gaussians *g, int i, int degree, const device_camera *c,
                         const float p[3]) {
  float direction[3], basis[SH_BASES], colour[3];
  seen_from(c, p, direction);
  sh_basis(degree, direction[0], direction[1], direction[2], basis);
  if (g->halves != nullptr)
    sh_colour(basis, g->halves + SH_FLOATS * (size_t)i, degree, colour);
  else
    sh_colour(basis, g->sh + SH_FLOATS * (size_t)i, degree, colour);
  s->red = fmaxf(colour[0], 0.0f);
  s->green = fmaxf(colour[1], 0.0f);
  s->blue = fmaxf(colour[2], 0.0f);
}

/* One thread per Gaussian. */
__global__ void __launch_bounds__(LINE_THREADS)
    project(gaussians g, int count, int degree, device_camera c, tile_test test, projections out) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  projection one;
  float p[3];
  if (place_splat(&one, &g, i, &c, TILE_SIDE, test, p)) {
    colour_splat(&one.s, &g, i, degree, &c, p);
  } else {
    one = {};
    one.s.limit = -1.0f;
  }
  one.s.key = i;
  out.splats[i] = one.s;
  out.boxes[i] = one.box;
  out.depths[i] = one.depth;
}

/* ---- backward ------------------------------------------------------------------------------- */

/* The loss by the covariance, its mixed entry taken once, from that by the inverse X: -X G X. */
DEVICE float3 covariance_slope(const footprint *f, const float v[SPLAT_WIDTH]) {
  float inverse = 1.0f / (f->xx * f->yy - f->xy * f->xy);
  float a = f->yy * inverse, b = -f->xy * inverse, c = f->xx * inverse;
  /* G = -0.5 * [xx xy; xy yy]: the factors ln 2 and log2 e have cancelled */
  float xx = 0.5f * v[SUM_XX], xy = 0.5f * v[SUM_XY], yy = 0.5f * v[SUM_YY];
  float p = a * xx + b * xy, q = a * xy + b * yy, r = b * xx + c * xy, s = b * xy + c * yy;
  return make_float3(p * a + q * b, 2.0f * (p * b + q * c), r * b + s * c);
}

DEVICE void rotation_slope(const footprint *f, const float g[9], float out[4]) {
  float w = f->q[0], x = f->q[1], y = f->q[2], z = f->q[3], d[4];
  d[0] = 2.0f * (z * (g[3] - g[1]) + y * (g[2] - g[6]) + x * (g[7] - g[5]));
  d[1] =
      2.0f * (y * (g[1] + g[3]) + z * (g[2] + g[6]) + w * (g[7] - g[5]) - 2.0f * x * (g[4] + g[8]));
  d[2] =
      2.0f * (x * (g[1] + g[3]) + z * (g[5] + g[7]) + w * (g[2] - g[6]) - 2.0f * y * (g[0] + g[8]));
  d[3] =
      2.0f * (x * (g[2] + g[6]) + y * (g[5] + g[7]) + w * (g[3] - g[1]) - 2.0f * z * (g[0] + g[4]));
  float along = w * d[0] + x * d[1] + y * d[2] + z * d[3];
  UNROLL
  for (int k = 0; k < 4; ++k) out[k] = (d[k] - f->q[k] * along) / f->norm;
}

/* What project_backward works out for one Gaussian. */
typedef struct gaussian_slope {
  float position[3], scale[3], rotation[4], opacity;
  float basis[SH_BASES], colour[3]; /* the loss by sh is the products of the two */
  float camera[CAMERA_FLOATS];      /* world_to_camera, row by row */
  float mean_x, mean_y;             /* the loss by the centre, in pixels */
} gaussian_slope;

/* The loss by J W and by B, hence by scale, rotation, the camera's rotation and depth. du, dv, dz:
   added to. */
DEVICE void shape_slope(gaussian_slope *out, const footprint *f, const device_camera *c,
                        float3 covariance, float *du, float *dv, float *dz) {
  float db0[3], db1[3], m[9], da0[3], da1[3];
  UNROLL
  for (int k = 0; k < 3; ++k) {
    db0[k] = 2.0f * covariance.x * f->b0[k] + covariance.y * f->b1[k];
    db1[k] = covariance.y * f->b0[k] + 2.0f * covariance.z * f->b1[k];
    out->scale[k] = f->b0[k] * db0[k] + f->b1[k] * db1[k];
  }
  UNROLL
  for (int i = 0; i < 3; ++i) {
    da0[i] = da1[i] = 0.0f;
    UNROLL
    for (int k = 0; k < 3; ++k) {
      m[3 * i + k] = f->s[k] * (f->a0[i] * db0[k] + f->a1[i] * db1[k]);
      da0[i] += db0[k] * f->s[k] * f->r[3 * i + k];
      da1[i] += db1[k] * f->s[k] * f->r[3 * i + k];
    }
  }
  rotation_slope(f, m, out->rotation);
  float jx = c->fx * f->per_z, jy = c->fy * f->per_z;
  float along = dot3(da0, f->a0) + dot3(da1, f->a1);
  *dz -= along * f->per_z;
  if (f->free_x) *du -= jx * dot3(da0, c->rotation[2]);
  if (f->free_y) *dv -= jy * dot3(da1, c->rotation[2]);
  UNROLL
  for (int k = 0; k < 3; ++k) {
    out->camera[0 + k] = jx * da0[k];
    out->camera[4 + k] = jy * da1[k];
    out->camera[8 + k] = -jx * f->ju * da0[k] - jy * f->jv * da1[k];
  }
}

/* Through the direction of view into position and camera: c = -R' t is the camera's position. */
DEVICE void add_direction_slope(gaussian_slope *out, const device_camera *c,
                                const float by_direction[3]) {
  UNROLL
  for (int k = 0; k < 3; ++k) {
    out->position[k] += by_direction[k];
    UNROLL
    for (int i = 0; i < 3; ++i) {
      out->camera[4 * i + k] += c->translation[i] * by_direction[k];
      out->camera[4 * i + 3] += c->rotation[i][k] * by_direction[k];
    }
  }
}

/* Sets the bases, and the loss by the unnormalised direction. */
DEVICE void colour_slope(gaussian_slope *out, const device_camera *c, const float p[3], int degree,
                         const float *sh, float by_direction[3]) {
  float direction[3], w[SH_BASES];
  float length = seen_from(c, p, direction);
  sh_basis(degree, direction[0], direction[1], direction[2], out->basis);
  sh_weights(sh, degree, out->colour, w);
  float3 d = sh_slope(w, direction[0], direction[1], direction[2]);
  float along = d.x * direction[0] + d.y * direction[1] + d.z * direction[2];
  by_direction[0] = (d.x - along * direction[0]) / length;
  by_direction[1] = (d.y - along * direction[1]) / length;
  by_direction[2] = (d.z - along * direction[2]) / length;
}

/* All but the colours' part. */
DEVICE void geometry_slope(gaussian_slope *out, const gaussians *g, int i, const float p[3],
                           const device_camera *c, const splat *s, const float v[SPLAT_WIDTH]) {
  const float ln_2 = 0.5f * TWO_LN_2;
  footprint f;
  locate(&f, c, p);
  load_shape(&f, g, i);
  spread(&f, c);
  out->opacity = v[SUM_U] * (1.0f - s->opacity);
  out->mean_x = -ln_2 * (2.0f * s->a * v[SUM_X] + s->b * v[SUM_Y]);
  out->mean_y = -ln_2 * (s->b * v[SUM_X] + 2.0f * s->c * v[SUM_Y]);
  float du = c->fx * out->mean_x, dv = c->fy * out->mean_y, dz = 0.0f, dt[3];
  shape_slope(out, &f, c, covariance_slope(&f, v), &du, &dv, &dz);
  dt[0] = du * f.per_z;
  dt[1] = dv * f.per_z;
  dt[2] = dz - (f.u * du + f.v * dv) * f.per_z;
  UNROLL
  for (int k = 0; k < 3; ++k) {
    out->position[k] =
        c->rotation[0][k] * dt[0] + c->rotation[1][k] * dt[1] + c->rotation[2][k] * dt[2];
    out->camera[4 * k + 3] = dt[k];
    UNROLL
    for (int j = 0; j < 3; ++j) out->camera[4 * k + j] += dt[k] * p[j];
  }
}

/* To number `at` of the sums. Templates, so that a single view costs no more than a store. */
template <int mode>
DEVICE void put(const gradient_sums *sums, size_t at, float value, int scale_log2) {
  float *floats = (float *)sums->values;
  if (mode == GRADIENTS_ADD_FIXED)
    ((long long *)sums->values)[at] += __float2ll_rn(ldexpf(value, scale_log2));
  else
    floats[at] = mode == GRADIENTS_ADD ? floats[at] + value : value;
}

template <int mode>
DEVICE void put_row(const gradient_sums *sums, size_t at, float4 row) {
  float4 *four = (float4 *)((float *)sums->values + at);
  if (mode == GRADIENTS_ADD_FIXED) {
    const float values[4] = {row.x, row.y, row.z, row.w};
    UNROLL
    for (int k = 0; k < 4; ++k) put<mode>(sums, at + k, values[k], GRADIENT_SCALE_LOG2);
    return;
  }
  float4 old = mode == GRADIENTS_ADD ? *four : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  *four = make_float4(old.x + row.x, old.y + row.y, old.z + row.z, old.w + row.w);
}

/* Of number i of the sums, of n in all. */
template <int mode>
DEVICE void put_slope(const gradient_sums *sums, size_t n, size_t i, const gaussian_slope *slope) {
  float4 turn =
      make_float4(slope->rotation[0], slope->rotation[1], slope->rotation[2], slope->rotation[3]);
  put_row<mode>(sums, 4 * i, turn);
  UNROLL
  for (int k = 0; k < SH_FLOATS / 4; ++k)
    put_row<mode>(sums, 4 * n + SH_FLOATS * i + 4 * k,
                  sh_slope_row(slope->basis, slope->colour, k));
  UNROLL
  for (int k = 0; k < 3; ++k)
    put<mode>(sums, 52 * n + 3 * i + k, slope->position[k], POSITION_SCALE_LOG2);
  UNROLL
  for (int k = 0; k < 3; ++k)
    put<mode>(sums, 55 * n + 3 * i + k, slope->scale[k], GRADIENT_SCALE_LOG2);
  put<mode>(sums, 58 * n + i, slope->opacity, GRADIENT_SCALE_LOG2);
}

DEVICE void backward_of_one(const gaussians *g, int i, int degree, const device_camera *c,
                            const splat *s, const splat_sums *sums, gaussian_slope *slope) {
  float v[SPLAT_WIDTH], p[3], by_direction[3];
  UNROLL
  for (int k = 0; k < SPLAT_WIDTH; ++k) v[k] = sums->rows[SPLAT_ROW * (size_t)i + k];
  UNROLL
  for (int k = 0; k < 3; ++k) p[k] = g->position[3 * (size_t)i + k];
  geometry_slope(slope, g, i, p, c, s, v);
  slope->colour[0] = s->red > 0.0f ? v[SUM_RED] : 0.0f;
  slope->colour[1] = s->green > 0.0f ? v[SUM_GREEN] : 0.0f;
  slope->colour[2] = s->blue > 0.0f ? v[SUM_BLUE] : 0.0f;
  colour_slope(slope, c, p, degree, g->sh + SH_FLOATS * (size_t)i, by_direction);
  add_direction_slope(slope, c, by_direction);
}

/* One thread per Gaussian. No two Gaussians share a parameter, so there is no atomic. */
template <int mode>
__global__ void __launch_bounds__(LINE_THREADS)
    project_backward(gaussians g, int degree, device_camera c, const splat *splats, splat_sums sums,
                     gradient_sums gradients) {
  int k = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = gradients.first + k;
  size_t n = (size_t)gradients.count;
  if (k >= gradients.count) return;
  gaussian_slope slope = {};
  splat s = splats[i];
  bool seen = s.limit >= 0.0f;
  if (!seen && mode != GRADIENTS_SET) return;
  if (seen) backward_of_one(&g, i, degree, &c, &s, &sums, &slope);
  float x = 0.5f * (float)c.width * slope.mean_x, y = 0.5f * (float)c.height * slope.mean_y;
  put_slope<mode>(&gradients, n, (size_t)k, &slope);
  put<mode>(&gradients, 59 * n + k, sqrtf(x * x + y * y), POSITION_SCALE_LOG2);
  put<mode>(&gradients, 60 * n + k, seen ? 1.0f : 0.0f, POSITION_SCALE_LOG2);
}

/* The loss by the camera's 12 numbers. The whole grid adds to the one row of the view: a hot row,
   which each block sums. by_camera: rows of 12, one per view, of scale CAMERA_SCALE_LOG2. Whole
   warps. */
__global__ void __launch_bounds__(LINE_THREADS)
    camera_backward(gaussians g, int count, int degree, device_camera c, const splat *splats,
                    splat_sums sums, int view_index, long long *by_camera) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  bool seen = i < count && splats[i].limit >= 0.0f;
  __shared__ long long block_sums[ARC_HOT_BYTES(sizeof(long long), 1, CAMERA_FLOATS, LINE_THREADS) /
                                  sizeof(long long)];
  arc_target_fixed target =
      arc_target_fixed_rows(by_camera, CAMERA_FLOATS, CAMERA_FLOATS, CAMERA_SCALE_LOG2);
  gaussian_slope slope = {};
  if (seen) {
    splat s = splats[i];
    backward_of_one(&g, i, degree, &c, &s, &sums, &slope);
  }
  arc_options options = arc_options_default();
  options.threshold = 0;
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
  arc_hot_fixed hot = arc_hot_begin_fixed(target, block_sums, view_index, 1);
  arc_hot_add_with_fixed(&hot, view_index, slope.camera, seen, options);
  arc_hot_end_fixed(&hot);
}
