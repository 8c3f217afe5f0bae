/* arc example spheres: what is to be learnt: the spheres of a torus, and who looks at them.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef SPHERES_SCENE_H
#define SPHERES_SCENE_H

/* A sphere's row: position, radius, colour, opacity. */
enum { SPHERE_X, SPHERE_RADIUS = 3, SPHERE_RED, SPHERE_OPACITY = 7, SPHERE_FLOATS };

/* The ray through the point x, y of the picture, in pixels from its upper left corner, starts at
   eye and goes along corner + x right + y down, of any length. right and down: of equal length,
   perpendicular to each other. */
typedef struct camera {
  float eye[3], corner[3], right[3], down[3];
} camera;
enum { CAMERA_FLOATS = sizeof(camera) / sizeof(float) };

/* Spheres are drawn whose centre is so far away, along a pixel's ray. */
#define DEPTH_NEAR 1.0f
#define DEPTH_FAR 6.0f

typedef struct scene {
  int spheres, views, width, height;
  float radius;    /* the mean */
  float *rows;     /* SPHERE_FLOATS each */
  camera *cameras; /* one more than views: the last view is not learnt from */
} scene;

/* All of it depends on the numbers given only. */
void scene_make(scene *s, int spheres, int views, int width, int height, int seed);
/* Where learning starts: every sphere moved, resized, grey and less opaque. */
void scene_disturb(const scene *s, int seed, float *rows);
void scene_free(scene *s);

#endif
