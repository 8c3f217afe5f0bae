/* arc example gaussians: whether a splat reaches a rectangle, without divisions or roots.
   SPDX-License-Identifier: Apache-2.0

   Without branches either: after one, the compiler would guard every later vote of the warp. */
#pragma once

#include "model.cuh"

/* Whether the ellipse q <= limit reaches the edge at the distance d from the centre, between lo and
   hi along it. a: the coefficient of d^2, c: of the other axis, b: the mixed one. Along the edge q
   is a parabola with its minimum at -b d / 2c; discriminant: 4ac - b^2. */
static __device__ __forceinline__ bool reaches_edge(float a, float b, float c, float discriminant,
                                                    float limit, float d, float lo, float hi) {
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
static __device__ __forceinline__ bool splat_reaches(const splat *s, float x0, float y0, float x1,
                                                     float y1) {
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
static __device__ __forceinline__ bool splat_reaches_square(const splat *s, int column, int row,
                                                            int side) {
  float x = (float)(column * side), y = (float)(row * side), last = (float)side - 0.5f;
  return splat_reaches(s, x + 0.5f, y + 0.5f, x + last, y + last);
}
