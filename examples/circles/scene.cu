/* arc example circles: scenes. SPDX-License-Identifier: Apache-2.0 */
#include "circles.h"

#include <math.h>

#include "../common/random.h"

const char *const scene_names[SCENES + 1] = {"3", "fit", "10k", "100k", "biglittle", nullptr};

int scene_circles(int kind) {
  static const int circles[SCENES] = {3, 20000, 10000, 100000, 50000};
  return SIMT_ON_CPU && kind != SCENE_3 ? circles[kind] / 200 : circles[kind];
}

/* Of circle i out of `circles`. Radii of 10k and 100k are 2 to 8 % of the width. */
static float radius_of(int kind, int i, int circles, float width, float height, float chance) {
  if (kind == SCENE_3) return 0.3f * height;
  if (kind == SCENE_BIGLITTLE) { /* 16 huge ones, spread over the order of the tiny ones */
    bool huge = (long long)i * 16 / circles != (long long)(i + 1) * 16 / circles;
    return width * (huge ? 0.25f + 0.25f * chance : 0.002f + 0.004f * chance);
  }
  if (kind != SCENE_FIT) return width * (0.02f + 0.06f * chance);
  /* As one paints: broad strokes first. On average three circles lie on a pixel. */
  float mean_square = 3.0f * width * height / (3.1416f * (float)circles);
  return sqrtf(mean_square) * (1.6f - 1.2f * (float)i / (float)circles);
}

scene scene_make(int kind, int width, int height, int circles, int seed) {
  scene s = {width, height, std::vector<circle>((size_t)circles)};
  float w = (float)width, h = (float)height;
  for (int i = 0; i < circles; ++i) {
    circle *c = &s.circles[(size_t)i];
    float chance[CIRCLE_ROW], angle = 6.2832f * (float)(i % 3) / 3.0f;
    for (unsigned k = 0; k < CIRCLE_ROW; ++k)
      chance[k] = hashed_random((unsigned long long)seed, (unsigned long long)i * CIRCLE_ROW + k);
    bool three = kind == SCENE_3; /* red, green and blue around the middle */
    c->x = three ? 0.5f * w + 0.2f * h * sinf(angle) : w * chance[SUM_X];
    c->y = three ? 0.5f * h - 0.2f * h * cosf(angle) : h * chance[SUM_Y];
    c->radius = fmaxf(radius_of(kind, i, circles, w, h, chance[SUM_RADIUS]), 1.0f);
    c->opacity = 0.5f;
    c->red = three ? (float)(i % 3 == 0) : chance[SUM_RED];
    c->green = three ? (float)(i % 3 == 1) : chance[SUM_GREEN];
    c->blue = three ? (float)(i % 3 == 2) : chance[SUM_BLUE];
  }
  return s;
}
