/* arc study circles: scenes. SPDX-License-Identifier: Apache-2.0 */
#include "circles.h"

#include <math.h>

#include <thread>

#include "../../bench/common/program_run.h"
#include "../../bench/common/random.h"

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

static void paint_pixel(const circle *c, int x, int y, double *pixel) {
  const double colour[3] = {c->red, c->green, c->blue};
  double dx = x + 0.5 - c->x, dy = y + 0.5 - c->y, d = sqrt(dx * dx + dy * dy);
  double t = fmin(fmax(c->radius - d + 0.5, 0.0), 1.0);
  double alpha = c->opacity * t * t * (3.0 - 2.0 * t);
  for (int i = 0; i < 3; ++i) pixel[i] = (1.0 - alpha) * pixel[i] + alpha * colour[i];
}

/* Rows of a band do not depend on those of others. */
static void paint_band(const scene *s, int top, int bottom, double *rgb) {
  int width = s->width;
  for (size_t i = (size_t)top * width * 3; i < (size_t)bottom * width * 3; ++i) rgb[i] = BACKGROUND;
  for (const circle &c : s->circles) {
    if (interrupts) return;
    double reach = (double)c.radius + 1.0;
    int x0 = (int)fmax(c.x - reach, 0.0), x1 = (int)fmin(c.x + reach, width - 1.0);
    int y0 = (int)fmax(c.y - reach, top), y1 = (int)fmin(c.y + reach, bottom - 1.0);
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) paint_pixel(&c, x, y, rgb + 3 * ((size_t)y * width + x));
  }
}

std::vector<double> scene_draw_serially(const scene *s) {
  std::vector<double> rgb((size_t)s->width * s->height * 3);
  std::vector<std::thread> threads;
  int bands = s->height < 64 ? 1 : (int)std::thread::hardware_concurrency() + 1;
  for (int i = 0; i < bands; ++i)
    threads.emplace_back(paint_band, s, s->height * i / bands, s->height * (i + 1) / bands,
                         rgb.data());
  for (std::thread &thread : threads) thread.join();
  return rgb;
}
