/* arc example circles: scenes. SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <math.h>

#include "../common/random.h"

const char *const scene_names[SCENES + 1] = {"fit", "3", "10k", "100k", "biglittle", nullptr};

int scene_circles(int kind) {
  static const int circles[SCENES] = {20000, 3, 10000, 100000, 50000};
  return circles[kind];
}

/* Of circle i out of `circles`. Radii of 10k and 100k are 2 to 8 % of the width. */
static float radius_of(int kind, int i, int circles, int width, int height, float chance) {
  if (kind == SCENE_3) return 0.3f * (float)height;
  if (kind == SCENE_BIGLITTLE) { /* 16 huge ones, spread over the order of the tiny ones */
    bool huge = (long long)i * 16 / circles != (long long)(i + 1) * 16 / circles;
    return (float)width * (huge ? 0.25f + 0.25f * chance : 0.002f + 0.004f * chance);
  }
  if (kind != SCENE_FIT) return (float)width * (0.02f + 0.06f * chance);
  /* As one paints: broad strokes first. On average three circles lie on a pixel. */
  float mean_square = 3.0f * (float)width * (float)height / (3.1416f * (float)circles);
  return sqrtf(mean_square) * (1.6f - 1.2f * (float)i / (float)circles);
}

scene scene_make(int kind, int width, int height, int circles, unsigned long long seed) {
  scene s = {width, height, std::vector<circle>((size_t)circles)};
  for (int i = 0; i < circles; ++i) {
    float chance[7];
    for (unsigned k = 0; k < 7; ++k) chance[k] = hashed_random(seed, 7ull * (unsigned)i + k);
    circle c = {chance[0] * (float)width,
                chance[1] * (float)height,
                fmaxf(radius_of(kind, i, circles, width, height, chance[2]), 1.0f),
                0.5f,
                chance[3],
                chance[4],
                chance[5],
                0};
    if (kind == SCENE_3) { /* red, green and blue around the middle */
      float angle = 6.2832f * (float)(i % 3) / 3.0f;
      c.x = 0.5f * (float)width + 0.2f * (float)height * sinf(angle);
      c.y = 0.5f * (float)height - 0.2f * (float)height * cosf(angle);
      c.red = i % 3 == 0;
      c.green = i % 3 == 1;
      c.blue = i % 3 == 2;
    }
    s.circles[(size_t)i] = c;
  }
  return s;
}
