/* arc example gaussians: from a photograph to what a pinhole camera would have seen.
   SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <math.h>

/* Columns x0 to x1 and rows y0 to y1 of the photograph, the ends left out. */
typedef struct window {
  int x0, y0, x1, y1;
} window;

/* Where, in pixels of the photograph, lies what a pinhole camera sees at u, v. */
static void distort(const lens *l, double u, double v, double *photo_u, double *photo_v) {
  double x = (u - l->cx) / l->fx, y = (v - l->cy) / l->fy;
  double r2 = x * x + y * y;
  double radial = 1.0 + r2 * (l->k1 + r2 * l->k2);
  double distorted_x = x * radial + 2.0 * l->p1 * x * y + l->p2 * (r2 + 2.0 * x * x);
  double distorted_y = y * radial + 2.0 * l->p2 * x * y + l->p1 * (r2 + 2.0 * y * y);
  *photo_u = l->fx * distorted_x + l->cx;
  *photo_v = l->fy * distorted_y + l->cy;
}

/* Beyond some radius the polynomial runs back and shows again what is further in: the square of
   that radius, the least positive root of 1 + 3 k1 s + 5 k2 s^2, the derivative along r. */
static double folding_radius2(const lens *l) {
  double a = 5.0 * l->k2, b = 3.0 * l->k1;
  double discriminant = b * b - 4.0 * a;
  if (discriminant < 0.0) return INFINITY;
  double q = -0.5 * (b + copysign(sqrt(discriminant), b));
  double roots[2] = {a != 0.0 ? q / a : INFINITY, q != 0.0 ? 1.0 / q : INFINITY};
  double least = INFINITY;
  for (int i = 0; i < 2; ++i)
    if (roots[i] > 0.0 && roots[i] < least) least = roots[i];
  return least;
}

static bool is_shown(const lens *l, double fold2, double u, double v) {
  double x = (u - l->cx) / l->fx, y = (v - l->cy) / l->fy, photo_u, photo_v;
  distort(l, u, v, &photo_u, &photo_v);
  return x * x + y * y < fold2 && photo_u >= 0.0 && photo_u <= l->width && photo_v >= 0.0 &&
         photo_v <= l->height;
}

/* The part of a side's pixels that the photograph does not show. */
static double row_hidden(const lens *l, double fold2, const window *w, int y) {
  int hidden = 0;
  for (int x = w->x0; x < w->x1; ++x) hidden += !is_shown(l, fold2, x + 0.5, y + 0.5);
  return (double)hidden / (w->x1 - w->x0);
}

static double column_hidden(const lens *l, double fold2, const window *w, int x) {
  int hidden = 0;
  for (int y = w->y0; y < w->y1; ++y) hidden += !is_shown(l, fold2, x + 0.5, y + 0.5);
  return (double)hidden / (w->y1 - w->y0);
}

/* Moves the worst side in until all four are shown. The map is continuous and one to one inside
   the fold, so what lies between four shown sides is shown. False if less than half of the width or
   the height would be left. */
static bool find_window(const lens *l, window *w) {
  double fold2 = folding_radius2(l);
  *w = {0, 0, l->width, l->height};
  while (2 * (w->x1 - w->x0) >= l->width && 2 * (w->y1 - w->y0) >= l->height) {
    const double hidden[4] = {column_hidden(l, fold2, w, w->x0),
                              column_hidden(l, fold2, w, w->x1 - 1), row_hidden(l, fold2, w, w->y0),
                              row_hidden(l, fold2, w, w->y1 - 1)};
    int worst = 0;
    for (int side = 1; side < 4; ++side)
      if (hidden[side] > hidden[worst]) worst = side;
    if (hidden[worst] == 0.0) return true;
    if (worst == 0) w->x0 += 1;
    if (worst == 1) w->x1 -= 1;
    if (worst == 2) w->y0 += 1;
    if (worst == 3) w->y1 -= 1;
  }
  return false;
}

static int clamp_index(int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; }

/* Bilinear, at a place in pixels; the outermost half pixel repeats its neighbour. */
static void sample(const image *from, double u, double v, float *rgb) {
  u = u > 0.0 ? u < from->width ? u : from->width : 0.0; /* 0 where it is no number */
  v = v > 0.0 ? v < from->height ? v : from->height : 0.0;
  int column = (int)(u + 0.5), line = (int)(v + 0.5); /* neither is below 0: rounds down */
  float right_part = (float)(u + 0.5 - column), lower_part = (float)(v + 0.5 - line);
  int x0 = clamp_index(column - 1, from->width), x1 = clamp_index(column, from->width);
  int y0 = clamp_index(line - 1, from->height), y1 = clamp_index(line, from->height);
  const float *upper = from->rgb + 3 * (size_t)y0 * from->width;
  const float *lower = from->rgb + 3 * (size_t)y1 * from->width;
  for (int i = 0; i < 3; ++i) {
    float above = upper[3 * x0 + i] + right_part * (upper[3 * x1 + i] - upper[3 * x0 + i]);
    float below = lower[3 * x0 + i] + right_part * (lower[3 * x1 + i] - lower[3 * x0 + i]);
    rgb[i] = above + lower_part * (below - above);
  }
}

bool picture_undistort(image *picture, camera *c, const lens *l, error_line *error) {
  bool distorted = l->k1 != 0.0 || l->k2 != 0.0 || l->p1 != 0.0 || l->p2 != 0.0;
  window w = {0, 0, l->width, l->height};
  image flat;
  if (distorted && !find_window(l, &w))
    return error_set(error,
                     "undoing the distortion k1 %g k2 %g p1 %g p2 %g leaves less than half "
                     "of the picture's width or height",
                     l->k1, l->k2, l->p1, l->p2);
  c->fx = (float)l->fx;
  c->fy = (float)l->fy;
  c->cx = (float)(l->cx - w.x0);
  c->cy = (float)(l->cy - w.y0);
  c->width = w.x1 - w.x0;
  c->height = w.y1 - w.y0;
  if (!distorted || picture->rgb == nullptr) return true;
  if (!image_allocate(&flat, c->width, c->height, error)) return false;
  for (int y = 0; y < c->height; ++y) {
    for (int x = 0; x < c->width; ++x) {
      double u, v;
      distort(l, w.x0 + x + 0.5, w.y0 + y + 0.5, &u, &v);
      sample(picture, u, v, flat.rgb + 3 * ((size_t)y * c->width + x));
    }
  }
  image_free(picture);
  *picture = flat;
  return true;
}
