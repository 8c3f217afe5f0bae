/* arc study gaussians: for its tests, a scene of known cameras and points in a folder.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_TEST_SCENE_WRITE_H
#define GAUSSIANS_TEST_SCENE_WRITE_H

#include <math.h>

#include "../../common/test_files.h"
#include "../scene/scene.h"

enum { KNOWN_WIDTH = 32, KNOWN_HEIGHT = 24, KNOWN_VIEWS = 5, KNOWN_POINTS = 9 };

static const char *const KNOWN_NAMES[KNOWN_VIEWS] = {"b.ppm", "a.ppm", "c d.ppm", "e\xc3\xa9.ppm",
                                                     "f.ppm"};

/* All numbers differ. */
static inline camera camera_known(int view) {
  camera c;
  const double from[3] = {3.0 + 0.1 * view, 2.0 - 0.2 * view, 1.5}, at[3] = {0.1 * view, 0.2, 0.3};
  camera_look(&c, from, at, KNOWN_WIDTH, KNOWN_HEIGHT);
  c.fx += 0.25f * (float)view;
  c.cx += 0.5f;
  c.cy -= 0.75f;
  return c;
}

/* ---- files and folders ---------------------------------------------------------------------- */

static inline void put_float(std::string *s, float value) { s->append((const char *)&value, 4); }

/* ---- a scene -------------------------------------------------------------------------------- */

/* A view's pictures differ in their grey. */
static inline float grey_known(int view) { return (float)(20 * view + 10) / 255.0f; }

static inline void save_picture(int view) {
  image picture = image_of(KNOWN_WIDTH, KNOWN_HEIGHT);
  char name[64];
  for (int i = 0; i < 3 * KNOWN_WIDTH * KNOWN_HEIGHT; ++i) picture.rgb[i] = grey_known(view);
  snprintf(name, sizeof name, "images/%s", KNOWN_NAMES[view]);
  CHECK(image_write(&picture, test_path(name), &error), "%s", error.text);
}

static inline void save_cameras(const char *name) {
  FILE *file = fopen(test_path(name), "w");
  fprintf(file, "cameras %d\n# what they are\n", KNOWN_VIEWS);
  for (int i = 0; i < KNOWN_VIEWS; ++i) {
    camera c = camera_known(i);
    fprintf(file, "%d %d %.9g %.9g %.9g %.9g", c.width, c.height, c.fx, c.fy, c.cx, c.cy);
    for (int k = 0; k < 12; ++k) fprintf(file, " %.9g", c.world_to_camera[k / 4][k % 4]);
    fprintf(file, " %s\n", KNOWN_NAMES[i]);
  }
  fclose(file);
}

static inline void save_points(void) {
  FILE *file = fopen(test_path("points.txt"), "w");
  fprintf(file, "points %d\n", KNOWN_POINTS);
  for (int i = 0; i < KNOWN_POINTS; ++i)
    fprintf(file, "%d %.1f -%d.25 %d 51 255\n", i, 0.5 * i, i, 10 * i);
  fclose(file);
}

/* Into the test's folder. */
static inline void save_scene(void) {
  mkdir(test_path("images"), 0700);
  for (int i = 0; i < KNOWN_VIEWS; ++i) save_picture(i);
  save_cameras("cameras.txt");
  save_points();
}

#endif
