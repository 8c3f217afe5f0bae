/* arc study environment: cube maps, their filters, shading by them, and scenes.
   SPDX-License-Identifier: Apache-2.0

   Face 2 a + s of a cube lies on axis a, at its positive (s = 0) or negative end (s = 1); u and v
   of the face are the two axes that follow a. Texel (x, y) of a face has the key (face * side + y)
   * side + x. Colours are rows of three floats, as in a tensor of six pictures. Array arguments of
   functions that launch kernels are on the device. */
#pragma once

#include <math.h>

#include <vector>

#include "../../bench/common/output_file.h"

#if defined(__CUDACC__)
#define CUBE_FN static __host__ __device__ __forceinline__
#else
#define CUBE_FN static inline
#endif

typedef struct vec3 {
  float x, y, z;
} vec3;

CUBE_FN vec3 vec3_add(vec3 a, float s, vec3 b) {
  return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

CUBE_FN vec3 vec3_scale(float s, vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
CUBE_FN float vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
CUBE_FN vec3 vec3_unit(vec3 a) { return vec3_scale(1.0f / sqrtf(vec3_dot(a, a)), a); }

/* Component i, 0 to 2, of a vector. */
CUBE_FN float vec3_part(vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }

/* Not of length 1: the cube's half side is 1. */
CUBE_FN vec3 cube_direction(int face, float u, float v) {
  const float s = face % 2 == 0 ? 1.0f : -1.0f;
  return face < 2 ? vec3{s, u, v} : face < 4 ? vec3{v, s, u} : vec3{u, v, s};
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
  return {2 * axis + (along < 0.0f), vec3_part(d, (axis + 1) % 3) * scale + middle,
          vec3_part(d, (axis + 2) % 3) * scale + middle};
}

CUBE_FN int cube_key_of(vec3 d, int side) {
  const cube_place place = cube_meet(d, side);
  const int x = (int)place.x, y = (int)place.y;
  return (place.face * side + (y < side ? y : side - 1)) * side + (x < side ? x : side - 1);
}

/* The key of tap 0 to 3 of a bilinear lookup, and its weight; faces join without a seam: a tap
   beyond the face is its neighbour on the face that follows. Where three faces meet there is no
   fourth texel; the one beyond in x alone stands for it. */
CUBE_FN int cube_tap(cube_place place, int side, int tap, float *weight) {
  const float left = floorf(place.x - 0.5f), top = floorf(place.y - 0.5f);
  const float right = place.x - 0.5f - left, below = place.y - 0.5f - top;
  const float scale = 2.0f / (float)side;
  const int dx = tap & 1, dy = tap >> 1, x = (int)left + dx;
  int y = (int)top + dy;
  *weight = (dx ? right : 1.0f - right) * (dy ? below : 1.0f - below);
  if (x < 0 || x >= side) y = y < 0 ? 0 : y < side ? y : side - 1;
  if (x >= 0 && x < side && y >= 0 && y < side) return (place.face * side + y) * side + x;
  const float u = ((float)x + 0.5f) * scale - 1.0f, v = ((float)y + 0.5f) * scale - 1.0f;
  return cube_key_of(cube_direction(place.face, u, v), side);
}

/* A texel's middle, of length 1, and the solid angle that it covers. */
typedef struct alignas(16) cube_texel {
  float x, y, z, area;
} cube_texel;

cube_texel cube_texel_of(int key, int side);
static inline int cube_count(int side) { return 6 * side * side; }

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

/* ---- filters (prefilter.cu) ----------------------------------------------------------------- */

/* Filtered texel o, with L and A the directions and solid angles of texels and c = L_o . L_k:

     diffuse    out_o = sum_k max(c, 0) A_k in_k   / the same sum of ones
     specular   out_o = sum_k c D(c) A_k in_k      / the same sum of ones, over k within the lobe

   D is the GGX distribution for a light along L_k seen along L_o with the normal there too: half
   way between them the cosine is sqrt((1 + c) / 2). The lobe ends where 99 % of D's integral
   over the angle is reached. */
typedef struct cube_filter {
  int side;
  bool diffuse;
  float alpha2;             /* roughness to the fourth */
  float farthest;           /* of the lobe: the squared distance of two unit vectors */
  float sine;               /* of the angle at which it ends */
  const cube_texel *texels; /* on the device */
  float *inverse;           /* 1 / sums of weights, one per texel: by filter_forward() */
} cube_filter;

/* roughness: at most 1; 0: diffuse */
cube_filter cube_filter_make(int side, float roughness, const cube_texel *texels, float *inverse);
/* filtered: overwritten */
void filter_forward(const cube_filter *f, const float *light, float *filtered);
/* Adds the gradient by the input, from that by the output; after a filter_forward. */
void filter_backward(const cube_filter *f, int way, int threshold, const float *by_filtered,
                     float *by_light);

/* Each level's light is the mean over four texels of the one before; or the adjoint. */
void pyramid_shrink(cube_pyramid form, float *light, bool is_forward);

/* ---- shading (shade.cu) --------------------------------------------------------------------- */

/* What a camera sees. colour = diffuse(normal) * albedo + specular(reflection, level) * gloss: the
   split sum. A lookup is bilinear, and on two levels of the specular pyramid. */
typedef struct surface_pixel {
  vec3 normal, reflection;
  float albedo, gloss, level;
  float near; /* 1 / depth; 0: nothing of the mesh is seen, and nothing else is set */
} surface_pixel;

typedef struct shaded_view {
  int side, covered; /* covered: how many pixels show the mesh */
  const surface_pixel *pixels;
  float *target; /* colours to learn; these two: on the device */
} shaded_view;

/* Colours, three floats per pixel; and what the loss, half the mean square of the differences,
   changes by, unless by_colour is null. maps: two levels or more. */
void shade_view(const shaded_view *v, cube_pyramid form, const float *maps, float *colours,
                float *by_colour);
/* Adds to by_maps. */
void shade_backward(const shaded_view *v, cube_pyramid form, int way, int threshold,
                    const float *by_colour, float *by_maps);

/* Ways of this program's own; both look up as auto. */
enum {
  OWN_GATHER = 6, /* a lane owns an input texel and sums what outputs want of it: no atomics */
  OWN_FOUR        /* auto, four texels of a row in one call of 12 values */
};

/* ---- scenes (scene.cpp) --------------------------------------------------------------------- */

typedef struct mesh {
  std::vector<vec3> positions, normals; /* as many of both */
  std::vector<int> corners;             /* three a triangle */
} mesh;

/* Wavefront OBJ: `v`, and `f` with three or more corners; other statements are skipped. Centred,
   and of radius 1; vertices that no face names are left out. */
bool mesh_read(mesh *m, const char *file, error_line *error);
void mesh_make_sphere(mesh *m, int parts);

/* The roughness that map 0 to levels of a pyramid is filtered with. */
float scene_roughness(int map, int levels);

/* View number `view` of `views`, side x side pixels. Returns how many show the mesh. */
int scene_draw(const mesh *m, int view, int views, int side, int levels, surface_pixel *pixels);

/* The environment to be learnt, in a direction of length 1: sky, ground, sun and two lamps. */
vec3 scene_light(vec3 d);
