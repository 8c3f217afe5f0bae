/* arc example environment: a mesh, what a camera sees of it, and a sky. SPDX-License-Identifier:
   Apache-2.0 */
#ifndef ENVIRONMENT_SCENE_H
#define ENVIRONMENT_SCENE_H

#include <vector>

#include "../common/output_file.h"
#include "cube.h"

typedef struct mesh {
  std::vector<vec3> positions, normals; /* as many of both */
  std::vector<int> corners;             /* three a triangle */
} mesh;

/* Wavefront OBJ: `v`, and `f` with three or more corners. Centred, and of radius 1. */
bool mesh_read(mesh *m, const char *file, error_line *error);
void mesh_make_sphere(mesh *m, int parts);

typedef struct surface_pixel {
  vec3 normal, reflection;
  float albedo, gloss, level; /* level: of the specular pyramid */
  int covered;                /* 0: nothing of the mesh is seen, and nothing else is set */
} surface_pixel;

/* The roughness of specular level 0 to levels - 1. */
float scene_roughness(int level, int levels);

/* View number `view` of `views`, side x side pixels. */
void scene_draw(const mesh *m, int view, int views, int side, int levels, surface_pixel *pixels);

/* The environment to be learnt: sky, ground, sun and two lamps. */
vec3 scene_light(vec3 direction);

#endif
