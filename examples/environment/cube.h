/* arc example environment: cube maps: where a direction meets a cube, its texels, and what a
   bilinear lookup reads. SPDX-License-Identifier: Apache-2.0

   Face 2 a + s is met along axis a, s = 0 towards plus, 1 towards minus; its u and v are the two
   axes that follow. Texel (x, y) of a face has the key (face * side + y) * side + x. */
#ifndef ENVIRONMENT_CUBE_H
#define ENVIRONMENT_CUBE_H

#include <math.h>

#if defined(__CUDACC__)
#define CUBE_FN static __host__ __device__ __forceinline__
#else
#define CUBE_FN static inline
#endif

typedef struct vec3 {
  float x, y, z;
} vec3;

CUBE_FN vec3 vec3_add(vec3 a, float s, vec3 b) {
  const vec3 sum = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
  return sum;
}

CUBE_FN float vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

CUBE_FN vec3 vec3_unit(vec3 a) {
  const float scale = 1.0f / sqrtf(vec3_dot(a, a));
  const vec3 unit = {a.x * scale, a.y * scale, a.z * scale};
  return unit;
}

static inline int cube_count(int side) { return 6 * side * side; }

/* Component i, 0 to 2, of a vector. */
CUBE_FN float vec3_part(vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }

/* Not of length 1: the cube's half side is 1. */
CUBE_FN vec3 cube_direction(int face, float u, float v) {
  const float s = face % 2 == 0 ? 1.0f : -1.0f;
  const vec3 x = {s, u, v}, y = {v, s, u}, z = {u, v, s};
  return face < 2 ? x : face < 4 ? y : z;
}

/* In texels: the centre of the first one is at 0.5. */
typedef struct cube_place {
  int face;
  float x, y;
} cube_place;

CUBE_FN cube_place cube_meet(vec3 d, int side) {
  const float x = fabsf(d.x), y = fabsf(d.y), z = fabsf(d.z);
  const int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  const float along = vec3_part(d, axis), scale = 0.5f * (float)side / fabsf(along);
  const float middle = 0.5f * (float)side;
  const cube_place place = {2 * axis + (along < 0.0f),
                            vec3_part(d, (axis + 1) % 3) * scale + middle,
                            vec3_part(d, (axis + 2) % 3) * scale + middle};
  return place;
}

CUBE_FN int cube_key_of(vec3 d, int side) {
  const cube_place place = cube_meet(d, side);
  const int x = (int)place.x, y = (int)place.y;
  return (place.face * side + (y < side ? y : side - 1)) * side + (x < side ? x : side - 1);
}

/* Of a texel that may lie one beyond the face: then of its neighbour on the face that follows.
   Where three faces meet there is no fourth texel; the one beyond in x alone stands for it. */
CUBE_FN int cube_key(int face, int x, int y, int side) {
  const float scale = 2.0f / (float)side, u = ((float)x + 0.5f) * scale - 1.0f;
  if (x < 0 || x >= side) y = y < 0 ? 0 : y < side ? y : side - 1;
  if (x >= 0 && x < side && y >= 0 && y < side) return (face * side + y) * side + x;
  return cube_key_of(cube_direction(face, u, ((float)y + 0.5f) * scale - 1.0f), side);
}

/* The key of tap 0 to 3 of a bilinear lookup, and its weight; faces join without a seam. */
CUBE_FN int cube_tap(cube_place place, int side, int tap, float *weight) {
  const float x = floorf(place.x - 0.5f), y = floorf(place.y - 0.5f);
  const float right = place.x - 0.5f - x, below = place.y - 0.5f - y;
  const int dx = tap & 1, dy = tap >> 1;
  *weight = (dx ? right : 1.0f - right) * (dy ? below : 1.0f - below);
  return cube_key(place.face, (int)x + dx, (int)y + dy, side);
}

/* A texel's middle, of length 1, and the solid angle that it covers. */
typedef struct alignas(16) cube_texel {
  float x, y, z, area;
} cube_texel;

static inline cube_texel cube_texel_of(int key, int side) {
  const int face = key / (side * side);
  const double h = 1.0 / side;
  const double u = (2 * (key % side) + 1) * h - 1, v = (2 * (key / side % side) + 1) * h - 1;
  const double scale = 1 / sqrt(1 + u * u + v * v);
  double area = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = u + (corner & 1 ? h : -h), y = v + (corner & 2 ? h : -h);
    area += (corner == 0 || corner == 3 ? 1 : -1) * atan2(x * y, sqrt(x * x + y * y + 1));
  }
  const vec3 d = cube_direction(face, (float)u, (float)v);
  const cube_texel texel = {(float)(d.x * scale), (float)(d.y * scale), (float)(d.z * scale),
                            (float)area};
  return texel;
}

/* Maps in one array: levels 0 to levels - 1 of specular ones, each half as wide as the one before,
   then a diffuse one as wide as the last level. */
typedef struct cube_pyramid {
  int side, levels;
} cube_pyramid;

CUBE_FN int pyramid_side(cube_pyramid p, int map) {
  return p.side >> (map < p.levels ? map : p.levels - 1);
}

/* Of a map's texels in the array; of map levels + 1: the number of all. */
CUBE_FN int pyramid_first(cube_pyramid p, int map) {
  const int side = pyramid_side(p, map), maps = 8 * p.side * p.side;
  return map < p.levels ? maps - 8 * side * side
                        : maps - 2 * side * side + (map - p.levels) * 6 * side * side;
}

#endif
