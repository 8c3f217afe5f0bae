/* arc example spheres: pixels, rays, and the weight of a sphere at a pixel; the same for both
   directions. SPDX-License-Identifier: Apache-2.0 */
#ifndef SPHERES_BLEND_CUH
#define SPHERES_BLEND_CUH

#include "../common/tiles.cuh"
#include "render.h"

#if defined(__CUDACC__)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#endif

#define WHOLE_WARP 0xffffffffu
#define DEPTH_SCALE (1.0f / (DEPTH_FAR - DEPTH_NEAR))

static __device__ __forceinline__ float3 to_float3(const float v[3]) {
  return make_float3(v[0], v[1], v[2]);
}
static __device__ __forceinline__ float3 scale(float3 a, float s) {
  return make_float3(a.x * s, a.y * s, a.z * s);
}
static __device__ __forceinline__ float3 add_scaled(float3 a, float3 b, float s) {
  return make_float3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
static __device__ __forceinline__ float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

typedef struct pixel {
  float x, y; /* its centre */
  int index;
  bool inside;   /* the last tiles of a row or column stick out of the picture */
  float3 ray;    /* of length 1 */
  float inverse; /* 1 / the length of the direction that the camera gives */
} pixel;

/* One block a tile; a warp has 8 x 4 of its pixels, which share more spheres than a line would. */
static __device__ __forceinline__ pixel pixel_of_thread(const camera *c, int width, int height,
                                                        int tiles_x) {
  const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
  const int column = (int)blockIdx.x % tiles_x * TILE_SIDE + (warp & 1) * 8 + (lane & 7);
  const int row = (int)blockIdx.x / tiles_x * TILE_SIDE + (warp >> 1) * 4 + (lane >> 3);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < width && row < height;
  p.index = p.inside ? row * width + column : 0;
  const float3 along = add_scaled(add_scaled(to_float3(c->corner), to_float3(c->right), p.x),
                                  to_float3(c->down), p.y);
  p.inverse = rsqrtf(dot(along, along));
  p.ray = scale(along, p.inverse);
  return p;
}

/* The ray towards a sphere's centre, which lies at `offset` from the eye. */
typedef struct approach {
  float3 across; /* from the ray to the centre, perpendicular to the ray */
  float depth;   /* of the centre along the ray */
  float square;  /* of the distance between the two */
} approach;

static __device__ __forceinline__ approach approach_of(float3 offset, float3 ray) {
  approach a;
  a.depth = dot(offset, ray);
  a.across = add_scaled(offset, ray, -a.depth);
  a.square = dot(a.across, a.across);
  return a;
}

typedef struct weight {
  float closeness; /* 1 - q^2 / R^2 */
  float z;         /* 0 far, 1 near */
  float front;     /* exp((o z - 1) / SOFTNESS), at most 1 */
  float value;     /* of the three factors */
  float radius_reciprocal_square;
} weight;

static __device__ __forceinline__ float front_of(float opacity_times_z) {
  return exp2f((opacity_times_z - 1.0f) * (1.44269504f / SOFTNESS));
}

static __device__ __forceinline__ weight weight_of(const approach *a, float radius, float opacity) {
  weight w;
  w.radius_reciprocal_square = 1.0f / (radius * radius);
  w.closeness = 1.0f - a->square * w.radius_reciprocal_square;
  w.z = (DEPTH_FAR - a->depth) * DEPTH_SCALE;
  w.front = front_of(opacity * w.z);
  w.value = opacity * w.closeness * w.front;
  return w;
}

/* rows are aligned to 16 bytes: x, y, z, radius; red, green, blue, opacity. */
static __device__ __forceinline__ float4 place_of(const float4 *rows, int sphere) {
  return rows[2 * sphere];
}
static __device__ __forceinline__ float4 look_of(const float4 *rows, int sphere) {
  return rows[2 * sphere + 1];
}
static __device__ __forceinline__ float3 offset_of(float4 place, const camera *c) {
  return make_float3(place.x - c->eye[0], place.y - c->eye[1], place.z - c->eye[2]);
}

#endif
