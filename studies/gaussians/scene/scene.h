/* arc study gaussians: what a scene is made of, on the host.
   SPDX-License-Identifier: Apache-2.0

   Readers fill these structs, the trainer uses them. Every function that can fail returns false
   after writing one line that says what was wrong and what is legal. */
#pragma once

#include <functional>
#include <vector>

#include "../../common/image_io.h"

/* A pinhole camera: x right, y down, z forward; the upper left pixel's centre is (0.5, 0.5). */
typedef struct camera {
  int width, height;
  float fx, fy, cx, cy;        /* pixels */
  float world_to_camera[3][4]; /* rotation | translation, rows */
  float position[3];           /* of the camera, in the world */
} camera;

typedef struct view {
  char name[128]; /* of the picture's file, without its folder */
  struct camera camera;
  image picture; /* as many pixels as the camera says */
  bool held_out; /* a test view */
} view;

/* Gaussians as a 3DGS .ply stores them, that is, before activation. */
typedef struct gaussians_host {
  int count, sh_degree;        /* 0 to 3 */
  std::vector<float> position; /* [count][3] */
  std::vector<float> scale;    /* [count][3], logarithms */
  std::vector<float> rotation; /* [count][4], w x y z, not normalised */
  std::vector<float> opacity;  /* [count], logits */
  std::vector<float> sh;       /* [count][16][3], coefficients beyond sh_degree are 0 */
} gaussians_host;

typedef struct scene_point {
  float position[3];
  float rgb[3]; /* 0 to 1 */
} scene_point;

typedef struct scene {
  std::vector<view> views;
  std::vector<scene_point> points; /* to start from; none: the trainer draws them in the box */
  float centre[3], extent; /* of the cameras: extent is 1.1 times the largest distance to centre */
  float box_low[3], box_high[3]; /* where points may lie */
} scene;

typedef struct scene_options {
  const char *path;  /* a folder; with cameras_only a text like its cameras.txt will do */
  int hold_out;      /* every how-many-th view is held out, from the first; 0: none */
  int most_views;    /* that many, evenly spread over all of them; 0: all */
  bool cameras_only; /* no picture is read or need be there */
} scene_options;

/* A folder holds
   - cameras.txt: a line "cameras N", then a line for each of them: width, height, fx, fy, cx, cy,
     12 numbers of world_to_camera, and the name of its picture, with a space between two;
   - images, the folder of those pictures, as image_read takes them;
   - points.txt, which may be missing: a line "points N", then lines of x y z red green blue.
   Lines that begin with # are not counted. */
bool scene_read(scene *s, const scene_options *o, error_line *error);
/* Of a scene with views: centre and extent from them; extent is 1 where all cameras stand in one
   place. The box from the points, or else around what many cameras see at up to twice the distance
   of what they look at. */
void scene_measure(scene *s);
/* Sets held_out of every view. */
void scene_split(scene *s, int hold_out);
/* Black pictures of the cameras' sizes. */
void scene_blacken(scene *s);

enum { GAUSSIANS_MOST = 100000000 };

/* All values 0. count is 1 to GAUSSIANS_MOST, sh_degree 0 to 3. */
bool gaussians_allocate(gaussians_host *g, int count, int sh_degree, error_line *error);
/* Reads binary little-endian files whose vertices have the properties of the original 3DGS, in any
   order and of any type: x y z, f_dc_0 to 2, none or f_rest_0 to 8, 23 or 44 (channel by channel),
   opacity, scale_0 to 2, rot_0 to 3. Others, and other elements, are skipped. Writes the original's
   order, with normals of 0, to a temporary file that is renamed when it is whole. */
bool ply_read(gaussians_host *g, const char *path, error_line *error);
bool ply_write(const gaussians_host *g, const char *path, error_line *error);

/* How large a Gaussian is in the pictures, the same whatever their size: three standard deviations
   are in the mean 2.5, 8 and 30 pixels. Made for 1 million, 300 000 and 50 000 at 1920x1080. */
typedef enum scene_kind { SCENE_SMALL = 1, SCENE_MEDIUM, SCENE_LARGE } scene_kind;
/* A scene with known ground truth, told by the seed: clusters above a floor about the origin, z up,
   of sh_degree 3, and cameras on a ring around them. The views have cameras, every 8th is held out,
   and their pictures have a size but no rgb: that is for the renderer to make. The points are what
   a reconstruction from photographs would find: a part of the Gaussians, not exactly. */
bool scene_procedural(scene *s, gaussians_host *truth, scene_kind kind, int count, int views,
                      int width, int height, unsigned seed, error_line *error);

/* A scene of cameras alone: on such a ring, z up, about the middle of the Gaussians. */
void scene_orbit(scene *s, const gaussians_host *model, int views, int width, int height);

/* A camera that looks from one place at another, not straight up or down, with a level horizon, z
   up, at an angle of view of 54 degrees in a square picture. */
void camera_look(camera *c, const double from[3], const double at[3], int width, int height);

/* Another size of a camera's picture, in which all that was seen is still seen. */
void camera_resize(camera *c, int width, int height);

/* ---- all cores of the host (parallel.cpp) ---------------------------------------------------- */

/* Begins work(i) for i = 0, 1, ... count - 1 in this order, in as many threads as there are cores, at
   most 16: each may hold large pictures. Begins none after one has failed (false), or after an
   interrupt. On a terminal it shows how many are done, after `what`. Returns how many are. */
int parallel_for(int count, const char *what, const std::function<bool(int)> &work);
