/* arc example gaussians: what the readers of scenes share among themselves.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_SCENE_PARTS_H
#define GAUSSIANS_SCENE_PARTS_H

#include "scene.h"

/* A camera before its picture is known. Brown and Conrady's distortion: at x, y and r2 = x x + y y
   of the image plane, x goes to x (1 + k1 r2 + k2 r2^2) + 2 p1 x y + p2 (r2 + 2 x x), and y to
   y (1 + k1 r2 + k2 r2^2) + 2 p2 x y + p1 (r2 + 2 y y). */
typedef struct lens {
  int width, height;       /* 0: those of the picture */
  double fx, fy;           /* pixels; 0: by the angles */
  double angle_x, angle_y; /* of view, radians; angle_y 0: fy is fx */
  bool centred;            /* the principal point is the picture's middle, else cx, cy */
  double cx, cy;
  double k1, k2, p1, p2;
} lens;

/* A frame before its picture is read. */
typedef struct photo {
  char path[1024];
  lens optics;
  double world_to_camera[3][4]; /* rotation | translation; x right, y down, z forward */
} photo;

typedef struct photo_list {
  photo *items;
  int count, room;
} photo_list;

/* A zeroed one at the end; null, with the reason, where there is no memory. */
photo *photo_add(photo_list *list, error_line *error);

/* Joins folder and name into photo->path; false if that is too long. */
bool photo_set_path(photo *p, const char *folder, const char *name, error_line *error);

/* A picture of the lens must be of its size; focal lengths and all else must make sense. */
bool lens_check(const lens *l, error_line *error);

/* A whole file, and a zero behind it. Own it with free(bytes). */
typedef struct file_bytes {
  char *bytes;
  size_t size;
} file_bytes;

bool path_is_file(const char *path);
bool path_is_folder(const char *path);
bool file_load(file_bytes *file, const char *path, error_line *error);

bool nerf_read(photo_list *photos, const char *path, error_line *error);

/* Whether the folder holds cameras.bin or cameras.txt in one of the known places. */
bool colmap_is_in(const char *folder);
/* Only where colmap_is_in. */
bool colmap_read(scene *s, photo_list *photos, const char *folder, error_line *error);

/* Takes the distortion out of the picture, if it has rgb, and fills the intrinsics and the size of
   the camera. */
bool picture_undistort(image *picture, camera *c, const lens *l, error_line *error);

#endif
