/* arc example gaussians: for its tests, a scene of known cameras and points, and what would have
   been written about it.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_TEST_SCENE_WRITE_H
#define GAUSSIANS_TEST_SCENE_WRITE_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "../../common/test_files.h"
#include "../scene/scene.h"

enum { KNOWN_WIDTH = 160, KNOWN_HEIGHT = 120, KNOWN_VIEWS = 5, KNOWN_POINTS = 9 };

typedef struct known_lens {
  double fx, fy, cx, cy, k1, k2, p1, p2;
} known_lens;

static const known_lens KNOWN_LENS = {150.0, 146.0, 83.0, 57.0, 0.09, -0.3, 0.004, -0.006};

/* World to camera; the same rotation as a quaternion and as a matrix. */
typedef struct known_pose {
  double quaternion[4], rotation[3][3], translation[3];
} known_pose;

/* In the order of their names. */
static const char *const KNOWN_NAMES[KNOWN_VIEWS] = {"a.ppm", "b.ppm", "c d.ppm", "e\xc3\xa9.ppm",
                                                     "f.ppm"};

/* Of a quaternion of length 1, real part first. */
static inline void rotation_of_quaternion(const double q[4], double rotation[3][3]) {
  const double rows[3][3] = {{1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
                              2 * (q[1] * q[3] + q[0] * q[2])},
                             {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                              2 * (q[2] * q[3] - q[0] * q[1])},
                             {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                              1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
  memcpy(rotation, rows, sizeof rows);
}

static inline known_pose pose_known(int view) {
  known_pose p;
  double length = 0.0, *q = p.quaternion;
  const double drawn[4] = {1.0, 0.1 * sin(3.0 * view), 0.15 * cos(2.0 * view + 1.0),
                           0.12 * sin(1.0 + view)};
  for (int i = 0; i < 4; ++i) length += drawn[i] * drawn[i];
  for (int i = 0; i < 4; ++i) q[i] = drawn[i] / sqrt(length);
  rotation_of_quaternion(q, p.rotation);
  p.translation[0] = 0.3 * sin(view);
  p.translation[1] = -0.2 * cos(view);
  p.translation[2] = 5.0 + 0.2 * view;
  return p;
}

/* A grid that is not flat. */
static inline void point_known(int i, double *position) {
  position[0] = 1.5 * (i % 3 - 1);
  position[1] = 1.1 * (i / 3 - 1);
  position[2] = 0.3 * sin(2.0 * i);
}

static inline void to_camera(const known_pose *p, const double *position, double *seen) {
  for (int row = 0; row < 3; ++row) {
    seen[row] = p->translation[row];
    for (int k = 0; k < 3; ++k) seen[row] += p->rotation[row][k] * position[k];
  }
}

/* Where a lens with distortion shows what lies at x, y of the plane at depth 1. */
static inline void lens_shows(const known_lens *l, double x, double y, double *u, double *v) {
  double r2 = x * x + y * y, radial = 1 + l->k1 * r2 + l->k2 * r2 * r2;
  *u = l->cx + l->fx * (radial * x + 2 * l->p1 * x * y + l->p2 * (r2 + 2 * x * x));
  *v = l->cy + l->fy * (radial * y + 2 * l->p2 * x * y + l->p1 * (r2 + 2 * y * y));
}

/* ---- files and folders ---------------------------------------------------------------------- */

static inline void make_folder(const char *name) {
  CHECK(mkdir(test_path(name), 0700) == 0 || errno == EEXIST, "cannot make %s", name);
}

static inline void remove_tree(const char *path) {
  char inside[1024];
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder != nullptr && (entry = readdir(folder)) != nullptr;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    snprintf(inside, sizeof inside, "%.700s/%.255s", path, entry->d_name);
    if (remove(inside) != 0) remove_tree(inside);
  }
  if (folder != nullptr) closedir(folder);
  rmdir(path);
}

/* Bytes that grow. */
typedef struct buffer {
  size_t size;
  unsigned char bytes[1 << 16];
} buffer;

static inline void put_bytes(buffer *b, const void *bytes, size_t size) {
  CHECK(b->size + size <= sizeof b->bytes, "the buffer is full");
  if (b->size + size > sizeof b->bytes) return;
  memcpy(b->bytes + b->size, bytes, size);
  b->size += size;
}

static inline void put_text(buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void put_text(buffer *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof b->bytes - b->size;
  int length = vsnprintf((char *)b->bytes + b->size, room, format, arguments);
  va_end(arguments);
  CHECK((size_t)length < room, "the buffer is full");
  if ((size_t)length < room) b->size += (size_t)length;
}

/* Little-endian. */
static inline void put_unsigned(buffer *b, unsigned long long value, int size) {
  for (int i = 0; i < size; ++i) {
    unsigned char byte = (unsigned char)(value >> 8 * i);
    put_bytes(b, &byte, 1);
  }
}

static inline void put_double(buffer *b, double value) {
  unsigned long long bits;
  memcpy(&bits, &value, 8);
  put_unsigned(b, bits, 8);
}

static inline void put_float(buffer *b, float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  put_unsigned(b, bits, 4);
}

static inline void save(const buffer *b, const char *name) {
  test_write_file(test_path(name), b->bytes, b->size);
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* A soft dot where the lens shows each known point. */
static inline void save_picture(const known_lens *l, int view, const char *name) {
  image picture;
  error_line error;
  known_pose pose = pose_known(view);
  CHECK(image_allocate(&picture, KNOWN_WIDTH, KNOWN_HEIGHT, &error), "%s", error.text);
  for (int i = 0; i < KNOWN_POINTS; ++i) {
    double position[3], seen[3], u, v;
    point_known(i, position);
    to_camera(&pose, position, seen);
    lens_shows(l, seen[0] / seen[2], seen[1] / seen[2], &u, &v);
    for (int pixel = 0; pixel < KNOWN_WIDTH * KNOWN_HEIGHT; ++pixel) {
      double x = pixel % KNOWN_WIDTH + 0.5 - u, y = pixel / KNOWN_WIDTH + 0.5 - v;
      float bright = x * x + y * y < 64.0 ? (float)exp(-0.25 * (x * x + y * y)) : 0.0f;
      for (int c = 0; c < 3; ++c) picture.rgb[3 * pixel + c] += bright;
    }
  }
  CHECK(image_write(&picture, test_path(name), &error), "%s", error.text);
  image_free(&picture);
}

static inline void save_pictures(const known_lens *l) {
  char name[64];
  make_folder("images");
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    snprintf(name, sizeof name, "images/%s", KNOWN_NAMES[i]);
    save_picture(l, i, name);
  }
}

/* ---- what is written about them ------------------------------------------------------------- */

/* The order in which frames are listed: not that of their names. */
static inline int listed(int i) { return (3 * i + 2) % KNOWN_VIEWS; }

static inline void put_nerf_frame(buffer *b, int view, const char *path) {
  known_pose p = pose_known(view);
  put_text(b, "    {\"file_path\": \"%s\", \"sharpness\": 31.5, \"transform_matrix\": [\n", path);
  for (int row = 0; row < 3; ++row) {
    double position = 0.0;
    for (int k = 0; k < 3; ++k) position -= p.rotation[k][row] * p.translation[k];
    put_text(b, "      [%.15g, %.15g, %.15g, %.15g],\n", p.rotation[0][row], -p.rotation[1][row],
             -p.rotation[2][row], position);
  }
  put_text(b, "      [0.0, 0.0, 0.0, 1.0]]}");
}

static inline void write_nerf(buffer *b, const known_lens *l) {
  b->size = 0;
  put_text(b, "{\n  \"fl_x\": %.15g, \"fl_y\": %.15g, \"cx\": %.15g, \"cy\": %.15g,\n", l->fx,
           l->fy, l->cx, l->cy);
  put_text(b, "  \"k1\": %.15g, \"k2\": %.15g, \"p1\": %.15g, \"p2\": %.15g,\n", l->k1, l->k2,
           l->p1, l->p2);
  put_text(b, "  \"w\": %d.0, \"h\": %d, \"aabb_scale\": 4,\n  \"frames\": [\n", KNOWN_WIDTH,
           KNOWN_HEIGHT);
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    char path[64];
    /* one of the names with its last letter escaped */
    snprintf(path, sizeof path, "./images/%s",
             listed(i) == 3 ? "e\\u00e9.ppm" : KNOWN_NAMES[listed(i)]);
    put_nerf_frame(b, listed(i), path);
    put_text(b, i + 1 < KNOWN_VIEWS ? ",\n" : "\n");
  }
  put_text(b, "  ]\n}\n");
}

static inline void write_cameras_text(buffer *b, const known_lens *l) {
  b->size = 0;
  put_text(b, "# Camera list\n# Number of cameras: 2\n\n");
  put_text(b, "7 OPENCV %d %d %.15g %.15g %.15g %.15g %.15g %.15g %.15g %.15g\n", KNOWN_WIDTH,
           KNOWN_HEIGHT, l->fx, l->fy, l->cx, l->cy, l->k1, l->k2, l->p1, l->p2);
  put_text(b, "1 PINHOLE 8 8 9 9 4 4\r\n");
}

static inline void write_images_text(buffer *b) {
  b->size = 0;
  put_text(b, "# Image list with two lines of data per image:\n");
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    known_pose p = pose_known(listed(i));
    put_text(b, "%d", i + 10);
    for (int k = 0; k < 4; ++k) put_text(b, " %.15g", p.quaternion[k]);
    for (int k = 0; k < 3; ++k) put_text(b, " %.15g", p.translation[k]);
    put_text(b, " 7 %s\n%s\n", KNOWN_NAMES[listed(i)], i % 2 ? "1.5 2.5 -1 3 4 2" : "");
  }
}

static inline void write_points_text(buffer *b) {
  b->size = 0;
  put_text(b, "# 3D point list\n");
  for (int i = 0; i < KNOWN_POINTS; ++i) {
    double position[3];
    point_known(i, position);
    put_text(b, "%d %.15g %.15g %.15g %d 51 255 0.5 1 0 2 1\n", i, position[0], position[1],
             position[2], 10 * i);
  }
}

static inline void write_cameras_binary(buffer *b, const known_lens *l) {
  const double small[4] = {9, 9, 4, 4};
  const double known[8] = {l->fx, l->fy, l->cx, l->cy, l->k1, l->k2, l->p1, l->p2};
  b->size = 0;
  put_unsigned(b, 2, 8);
  put_unsigned(b, 1, 4);
  put_unsigned(b, 1, 4);
  put_unsigned(b, 8, 8);
  put_unsigned(b, 8, 8);
  for (int i = 0; i < 4; ++i) put_double(b, small[i]);
  put_unsigned(b, 7, 4);
  put_unsigned(b, 4, 4);
  put_unsigned(b, KNOWN_WIDTH, 8);
  put_unsigned(b, KNOWN_HEIGHT, 8);
  for (int i = 0; i < 8; ++i) put_double(b, known[i]);
}

static inline void write_images_binary(buffer *b) {
  b->size = 0;
  put_unsigned(b, KNOWN_VIEWS, 8);
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    known_pose p = pose_known(listed(i));
    put_unsigned(b, (unsigned)i + 10, 4);
    for (int k = 0; k < 4; ++k) put_double(b, p.quaternion[k]);
    for (int k = 0; k < 3; ++k) put_double(b, p.translation[k]);
    put_unsigned(b, 7, 4);
    put_bytes(b, KNOWN_NAMES[listed(i)], strlen(KNOWN_NAMES[listed(i)]) + 1);
    put_unsigned(b, (unsigned)i % 2, 8);
    if (i % 2 == 0) continue;
    put_double(b, 1.5);
    put_double(b, 2.5);
    put_unsigned(b, ~0ull, 8);
  }
}

static inline void write_points_binary(buffer *b) {
  b->size = 0;
  put_unsigned(b, KNOWN_POINTS, 8);
  for (int i = 0; i < KNOWN_POINTS; ++i) {
    double position[3];
    point_known(i, position);
    put_unsigned(b, (unsigned)i, 8);
    for (int k = 0; k < 3; ++k) put_double(b, position[k]);
    put_unsigned(b, 10 * (unsigned)i, 1);
    put_unsigned(b, 51, 1);
    put_unsigned(b, 255, 1);
    put_double(b, 0.5);
    put_unsigned(b, 1, 8);
    put_unsigned(b, 0x100000002ull, 8);
  }
}

#endif
