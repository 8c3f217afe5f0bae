/* arc study gaussians: whether a splat reaches a rectangle, and which squares of a row.
   SPDX-License-Identifier: Apache-2.0

   The test of a rectangle has no division, root or branch: after one of these the compiler would
   guard every later vote of the warp. The squares of a row take two roots per row; no square is
   tested by itself. */
#pragma once

#include "model.cuh"

/* Whether the ellipse q <= limit reaches the edge at the distance d from the centre, between lo and
   hi along it. a: the coefficient of d^2, c: of the other axis, b: the mixed one. Along the edge q
   is a parabola with its minimum at -b d / 2c; discriminant: 4ac - b^2. */
DEVICE bool reaches_edge(float a, float b, float c, float discriminant, float limit, float d,
                         float lo, float hi) {
  float minimum = -b * d, scale = 2.0f * c;
  bool below = minimum <= scale * lo, above = minimum >= scale * hi;
  float end = below ? lo : hi;
  bool end_within = d * (a * d + b * end) + c * end * end <= limit;
  bool minimum_within = discriminant * d * d <= 2.0f * scale * limit;
  return (below | above) ? end_within : minimum_within;
}

/* Whether any point of the rectangle of pixel centres x0..x1 by y0..y1 lies within the limit of a
   splat that is seen. Only the edges that face the centre are tested. The limit is widened by what
   rounding may take away. */
DEVICE bool splat_reaches(const splat *s, float x0, float y0, float x1, float y1) {
  float left = x0 - s->x, right = x1 - s->x, top = y0 - s->y, bottom = y1 - s->y;
  bool outside_x = (left > 0.0f) | (right < 0.0f), outside_y = (top > 0.0f) | (bottom < 0.0f);
  float limit = 1.001f * s->limit + 1e-3f;
  /* 4ac - b^2 of a thin splat cancels: the rounding error of b^2 is put back. */
  float square = s->b * s->b;
  float discriminant = fmaf(4.0f * s->a, s->c, -square) - fmaf(s->b, s->b, -square);
  bool by_x =
      reaches_edge(s->a, s->b, s->c, discriminant, limit, left > 0.0f ? left : right, top, bottom);
  bool by_y =
      reaches_edge(s->c, s->b, s->a, discriminant, limit, top > 0.0f ? top : bottom, left, right);
  return (!outside_x & !outside_y) | (outside_x & by_x) | (outside_y & by_y);
}

/* The same of a square of so many pixels a side. */
DEVICE bool splat_reaches_square(const splat *s, int column, int row, int side) {
  float x = (float)(column * side), y = (float)(row * side), last = (float)side - 0.5f;
  return splat_reaches(s, x + 0.5f, y + 0.5f, x + last, y + last);
}

/* What it takes to find the squares of a row that a splat reaches. Offsets are from its centre; the
   limit is widened as above. */
typedef struct ellipse_rows {
  float slope;       /* by dy, of the middle between its left and its right rim */
  float square, per; /* half of their distance, squared, is square - per dy^2 */
  float of_right;    /* dy of the rightmost point; that of the leftmost one is its negative */
} ellipse_rows;

DEVICE ellipse_rows ellipse_rows_of(const splat *s) {
  float limit = 1.001f * s->limit + 1e-3f, by_a = 1.0f / s->a, b_square = s->b * s->b;
  float discriminant = fmaf(4.0f * s->a, s->c, -b_square) - fmaf(s->b, s->b, -b_square);
  float lowest = sqrt_fast(limit / (s->c * fmaxf(discriminant, 0.0f)));
  return {-0.5f * s->b * by_a, limit * by_a, 0.25f * discriminant * by_a * by_a, -s->b * lowest};
}

/* How far the rim is from the centre, to the right or, where side is -1, to the left, at the most
   between two dy; NaN if it lies beyond them. Added is what rounding may take away of the way to
   its middle. */
DEVICE float rim_between(const ellipse_rows *e, float top, float bottom, float side) {
  float dy = fminf(fmaxf(side * e->of_right, top), bottom), middle = e->slope * dy;
  return middle + side * (sqrt_fast(e->square - e->per * dy * dy) + 5e-7f * fabsf(middle));
}

/* The first and one more than the last square of a row that the splat reaches, within the box. */
DEVICE int2 squares_of_row(const ellipse_rows *e, const splat *s, int row, int side, tile_box box) {
  float top = (float)(row * side) + 0.5f - s->y, bottom = top + (float)(side - 1);
  float left = s->x + rim_between(e, top, bottom, -1.0f), per_pixel = 1.0f / (float)side;
  float right = s->x + rim_between(e, top, bottom, 1.0f);
  float first = ceilf((left + 0.5f) * per_pixel) - 1.0f;
  float end = floorf((right - 0.5f) * per_pixel) + 1.0f; /* NaN: none is reached */
  int x0 = (int)fminf(fmaxf(first, (float)box.x0), (float)box.x1);
  return make_int2(x0, (int)fminf(fmaxf(end, (float)x0), (float)box.x1));
}
