/* arc example fit_image: the model, one 2D Gaussian at one pixel.
   SPDX-License-Identifier: Apache-2.0

   A picture is the sum of Gaussians: colour(pixel) = sum of weight * colour of each Gaussian, where

       weight = exp(-(u*u + v*v) / 2),   u = ( cos(angle) dx + sin(angle) dy) / scale_u,
                                         v = (-sin(angle) dx + cos(angle) dy) / scale_v

   and (dx, dy) is the pixel's centre minus the mean. Below a weight of 1/255 the Gaussian does not
   touch the pixel. A sum has no order, so nothing is sorted; and an opacity would only scale the
   colour, so there is none: 8 parameters, in four arrays.

   loss = sum over pixels and channels of (sum of Gaussians - target)^2 */
#ifndef FIT_MODEL_CUH
#define FIT_MODEL_CUH

#include <math.h>

#include "simt/simt.cuh"

/* The order of a Gaussian's parameters, in gradients and in the arc target. */
enum { MEAN_X, MEAN_Y, LOG_SCALE_U, LOG_SCALE_V, ANGLE, RED, GREEN, BLUE, GAUSSIAN_WIDTH };

/* u*u + v*v where the weight is 1/255: 2 ln 255. */
#define HIT_LIMIT 11.0825f

/* The same four arrays hold parameters, gradients or an optimiser's moments. */
typedef struct gaussians {
  float *means;      /* 2 each: x, y in pixels from the top left corner */
  float *log_scales; /* 2 each: natural logarithm of the standard deviations in pixels */
  float *angles;     /* 1 each, radians */
  float *colours;    /* 3 each, any real number */
} gaussians;

/* A Gaussian made ready for the inner loops: exponentials and sines are taken once. Its 48 bytes
   travel as three 16-byte loads. */
typedef struct alignas(16) splat {
  float mean_x, mean_y;
  float u_x, u_y; /* u = u_x dx + u_y dy */
  float v_x, v_y;
  float twist; /* scale_u / scale_v - scale_v / scale_u, exact for a nearly round one too */
  float red, green, blue;
  int key; /* which Gaussian */
} splat;

static __device__ __forceinline__ splat make_splat(const gaussians *g, int key) {
  splat s;
  float scale_u = expf(g->log_scales[2 * key + 0]), scale_v = expf(g->log_scales[2 * key + 1]);
  float cosine = cosf(g->angles[key]), sine = sinf(g->angles[key]);
  s.mean_x = g->means[2 * key + 0];
  s.mean_y = g->means[2 * key + 1];
  s.u_x = cosine / scale_u;
  s.u_y = sine / scale_u;
  s.v_x = -sine / scale_v;
  s.v_y = cosine / scale_v;
  s.twist = 2.0f * sinhf(g->log_scales[2 * key + 0] - g->log_scales[2 * key + 1]);
  s.red = g->colours[3 * key + 0];
  s.green = g->colours[3 * key + 1];
  s.blue = g->colours[3 * key + 2];
  s.key = key;
  return s;
}

/* Half the sides of the box outside which no pixel is hit. */
static __device__ __forceinline__ float2 splat_half_box(const gaussians *g, int key) {
  float scale_u = expf(g->log_scales[2 * key + 0]), scale_v = expf(g->log_scales[2 * key + 1]);
  float cosine = cosf(g->angles[key]), sine = sinf(g->angles[key]);
  float variance_x = scale_u * cosine * scale_u * cosine + scale_v * sine * scale_v * sine;
  float variance_y = scale_u * sine * scale_u * sine + scale_v * cosine * scale_v * cosine;
  return make_float2(sqrtf(HIT_LIMIT * variance_x), sqrtf(HIT_LIMIT * variance_y));
}

/* The weight at pixel centre (x, y), with u and v for the gradient; 0 where it does not touch. */
static __device__ __forceinline__ float splat_weight(const splat *s, float x, float y, float *u,
                                                     float *v) {
  float dx = x - s->mean_x, dy = y - s->mean_y;
  *u = s->u_x * dx + s->u_y * dy;
  *v = s->v_x * dx + s->v_y * dy;
  float distance = *u * *u + *v * *v;
  return distance < HIT_LIMIT ? __expf(-0.5f * distance) : 0.0f;
}

/* The derivatives of the loss by the splat's 8 parameters, from this pixel alone. slope: the
   derivative of the loss by the pixel's colour. False, and zeros, where the pixel is not hit. */
static __device__ __forceinline__ bool splat_gradient(const splat *s, float x, float y,
                                                      float3 slope, bool inside, float *g) {
  float u, v;
  float weight = splat_weight(s, x, y, &u, &v);
  bool hit = inside && weight > 0.0f;
  for (int i = 0; i < GAUSSIAN_WIDTH; ++i) g[i] = 0.0f;
  if (hit) {
    float d = weight * (slope.x * s->red + slope.y * s->green + slope.z * s->blue);
    g[MEAN_X] = d * (u * s->u_x + v * s->v_x);
    g[MEAN_Y] = d * (u * s->u_y + v * s->v_y);
    g[LOG_SCALE_U] = d * u * u;
    g[LOG_SCALE_V] = d * v * v;
    g[ANGLE] = d * u * v * s->twist;
    g[RED] = weight * slope.x;
    g[GREEN] = weight * slope.y;
    g[BLUE] = weight * slope.z;
  }
  return hit;
}

#endif
