/* arc study gaussians: what is trained, and the activations.
   SPDX-License-Identifier: Apache-2.0

   A Gaussian is 59 numbers, stored before activation:
       position                         metres, or whatever the cameras are given in
       scale = exp(stored)              standard deviations along its own axes
       rotation = stored / |stored|     quaternion w x y z
       opacity = sigmoid(stored)
       colour = 0.5 + sum over k of basis k(direction it is seen from) * sh[k], at least 0 */
#pragma once

#include <stddef.h>

#include "simt/simt.cuh"
/* Of sums that repeat: group sums from 2^-47 to below 2^33 are exact, far beyond those of a
   picture. */
#define ARC_WIDE_WORDS 5
#include "arc/wide.cuh"
#include "arc/hot.cuh"

#include "../../common/device.h"
#include "../../common/numbers.cuh"
#include "../../common/tiles.cuh"
#include "../scene/scene.h"
#include "../settings.h"

enum { SH_BASES = 16, SH_FLOATS = 48, GAUSSIAN_FLOATS = 59, CAMERA_FLOATS = 12 };
#define WHOLE_WARP 0xffffffffu

/* On the device. Five arrays in one block; `count` of each; sh is [count][16][3]. For pictures
   alone halves, not null, may be there in place of sh. */
typedef struct gaussians {
  float *rotation, *sh, *position, *scale, *opacity;
  const unsigned short *halves;
} gaussians;

/* Rotations and harmonics come first, since their rows are read 16 bytes at a time. sh_floats: 0 if
   they are elsewhere. */
static __host__ __device__ __forceinline__ gaussians split_gaussians(float *block, int count,
                                                                     int sh_floats = SH_FLOATS) {
  size_t n = (size_t)count, rest = (size_t)(4 + sh_floats) * n;
  return {block, block + 4 * n, block + rest, block + rest + 3 * n, block + rest + 6 * n, nullptr};
}

typedef struct device_camera {
  int width, height; /* pixels */
  int tiles_x, tiles_y;
  float fx, fy, cx, cy;
  float rotation[3][3], translation[3]; /* from the world to the camera */
  float position[3];                    /* of the camera, in the world */
  float low_x, high_x, low_y, high_y;   /* x / z and y / z beyond which a footprint grows no more */
} device_camera;

/* The position follows from rotation and translation, so that the 12 numbers are all there is. */
static inline device_camera camera_on_device(const camera *host) {
  device_camera c;
  c.width = host->width;
  c.height = host->height;
  c.tiles_x = tiles_along(host->width);
  c.tiles_y = tiles_along(host->height);
  c.fx = host->fx;
  c.fy = host->fy;
  c.cx = host->cx;
  c.cy = host->cy;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) c.rotation[i][j] = host->world_to_camera[i][j];
    c.translation[i] = host->world_to_camera[i][3];
  }
  for (int j = 0; j < 3; ++j) {
    c.position[j] = 0.0f;
    for (int i = 0; i < 3; ++i) c.position[j] -= c.rotation[i][j] * c.translation[i];
  }
  float margin_x = 0.15f * (float)host->width / host->fx;
  float margin_y = 0.15f * (float)host->height / host->fy;
  c.low_x = -host->cx / host->fx - margin_x;
  c.high_x = ((float)host->width - host->cx) / host->fx + margin_x;
  c.low_y = -host->cy / host->fy - margin_y;
  c.high_y = ((float)host->height - host->cy) / host->fy + margin_y;
  return c;
}

/* A Gaussian as one camera sees it. At an offset dx, dy (pixels, centre minus pixel) its alpha is
       opacity * 2^-q,  q = a dx^2 + b dx dy + c dy^2,
   and below 1/255, that is, nothing, where q > limit. limit < 0: not seen at all. */
typedef struct __align__(16) splat {
  float x, y, a, b;
  float c, limit, opacity, red;
  float green, blue;
  int key;
}
splat;

/* All that a camera sees of a Gaussian: the tiles that it may reach, and how far away it is. */
typedef struct projection {
  splat s;
  tile_box box;
  float depth;
} projection;

/* Of all Gaussians, on the device. */
typedef struct projections {
  splat *splats;
  tile_box *boxes;
  float *depths;
} projections;

/* Training has a list for each tile: of its Gaussians. Pictures alone may have one for each macro
   tile of 8 x 4 units, squares of 8 or 16 pixels: of Gaussians, in the high words, and masks of the
   units that they reach, in the low ones. Unit (x, y) of the macro tile is bit 8 y + x. */
enum { MACRO_COLUMNS = 8, MACRO_ROWS = 4 };
typedef unsigned long long masked_gaussian;

/* side: of a unit, or of a tile if each has a list, in pixels; lists of a row, and of all; how many
   tiles a list is for; how many bits of a key the depth has, and of a value the Gaussian. */
typedef struct list_grid {
  int side, lists_x, lists, tiles, depth_bits, gaussian_bits;
} list_grid;

/* A key of 32 bits holds the number of a list and as much of the depth as there is room for; a
   value, above the number of a Gaussian, as much of the rest. */
enum { KEY_BITS = 32, DEPTH_BITS = 28 /* at most */ };

/* macro_side: of the units of macro tiles; 0: a list for each tile. */
static inline list_grid list_grid_of(const device_camera *c, int macro_side, int gaussians) {
  list_grid g = {TILE_SIDE, c->tiles_x, c->tiles_x * c->tiles_y, 1, DEPTH_BITS, 1};
  if (macro_side > 0) {
    int width = MACRO_COLUMNS * macro_side, height = MACRO_ROWS * macro_side;
    g.side = macro_side;
    g.lists_x = (c->width + width - 1) / width;
    g.lists = g.lists_x * ((c->height + height - 1) / height);
    g.tiles = width * height / TILE_PIXELS;
  }
  while (1ll << (KEY_BITS - g.depth_bits) < g.lists) g.depth_bits -= 1;
  while (1ll << g.gaussian_bits < gaussians) g.gaussian_bits += 1;
  return g;
}

/* One of the parts, of about the same length, in which the list of a macro tile is drawn; a short
   list is its only part. slot: of the first part of several, where they leave their pixels. No
   parts: nothing is to be drawn. */
typedef struct list_part {
  int list, part, parts, slot;
} list_part;

/* Of the parts of a tile: how many are drawn, and how many lie behind the first that is opaque, and
   that one. */
typedef struct drawn_parts {
  int drawn, hidden;
} drawn_parts;

/* List t is list[first[t]] to list[first[t + 1] - 1]. Of macro tiles: masked in place of list; the
   parts, longest first; of each slot and each tile, which parts are drawn and what they leave. */
typedef struct tile_lists {
  const int *first; /* one more than there are lists */
  const int *list;
  const masked_gaussian *masked;
  const list_part *parts;
  drawn_parts *drawn;
  float4 *pixels;
  list_grid grid;
} tile_lists;

/* What the pixels of a picture sum up for each splat. With u = alpha * d loss / d alpha: */
enum {
  SUM_X,   /* u dx: means */
  SUM_Y,   /* u dy */
  SUM_XX,  /* u dx^2: conics */
  SUM_XY,  /* u dx dy */
  SUM_YY,  /* u dy^2 */
  SUM_U,   /* u: opacity */
  SUM_RED, /* the loss by the colours */
  SUM_GREEN,
  SUM_BLUE,
  SPLAT_WIDTH /* how many */
};
enum { SPLAT_ROW = 12 /* numbers from row to row: few lanes add with vector reductions */ };

/* A padded row per splat. All that is the same for every pixel of a splat (the conic, ln 2, 1 /
   opacity) is multiplied in once, by project_backward. Where `words` is not null, sums are added up
   there, in rows of a wide target: every run gives the same bits. backward_launch then moves them
   to the rows of floats, and leaves the words 0. */
enum { SPLAT_WORDS = ARC_WIDE_ROW(SPLAT_WIDTH) };
typedef struct splat_sums {
  int count;
  float *rows;
  long long *words;
} splat_sums;

/* The loss by a camera's number is below 2^(63 - 36). The magnitudes of the loss's slopes by the
   values of a picture add up to 0.8 for L1 and, for SSIM, to at most 0.2 * 150, in one that is
   black and flat all over; to 1 to 5 in trainings. The slopes by all centres, in pixels, are
   together below 31 * 5; a step of the camera moves a centre by at most fx / NEAREST_DEPTH pixels
   times the distance of the Gaussian, of which the product may be 2^19. */
enum { CAMERA_SCALE_LOG2 = 36 };

/* What densification decides by, summed up since the last one. */
typedef struct view_statistics {
  float *pull;  /* sum over views of |loss by the centre|, in halves of the picture's sides */
  float *views; /* in how many it was seen */
} view_statistics;

/* What a step sums up over its views, in one array: the loss by the numbers of each Gaussian, in
   the order of `gaussians`, then its statistics. */
enum { STATISTIC_FLOATS = 2, GRADIENT_FLOATS = GAUSSIAN_FLOATS + STATISTIC_FLOATS };

typedef enum gradient_mode {
  GRADIENTS_SET,      /* floats: of a single view, or of the first */
  GRADIENTS_ADD,      /* floats */
  GRADIENTS_ADD_FIXED /* to 64-bit integers: the sum does not depend on the order of the views */
} gradient_mode;

/* Of `count` Gaussians from number `first` on. */
typedef struct gradient_sums {
  gradient_mode mode;
  int first, count;
  void *values; /* float or long long */
} gradient_sums;

/* Fixed-point gradients by positions, and statistics, are below 2^(63 - 40): the slopes by a centre
   in pixels are below 31 * 5 (above), times fx / NEAREST_DEPTH. Those by all other numbers are
   the colours' sums, below 31, or like them in size, times bases below 2, and stay below 2^(63 -
   48). Typical gradients are 1e-9 to 1e-4, the steps 1e-12 and 4e-15. */
enum { POSITION_SCALE_LOG2 = 40, GRADIENT_SCALE_LOG2 = 48 };

#define SMALLEST_ALPHA (1.0f / 255.0f)
#define LARGEST_ALPHA 0.99f
#define OPAQUE_TRANSMITTANCE 1e-4f /* a pixel is done before it falls below */

/* name(x): an instruction that is off by a unit or two in the last place; on the CPU warp
   on_cpu. */
#if defined(__CUDA_ARCH__)
#define FAST_FUNCTION(name, instruction, on_cpu)    \
  DEVICE float name(float x) {                      \
    float y;                                        \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x)); \
    return y;                                       \
  }
#else
#define FAST_FUNCTION(name, instruction, on_cpu) \
  DEVICE float name(float x) { return on_cpu; }
#endif
FAST_FUNCTION(exp2_fast, "ex2.approx.ftz.f32", exp2f(x))
FAST_FUNCTION(sqrt_fast, "sqrt.approx.f32", sqrtf(x))
FAST_FUNCTION(reciprocal_fast, "rcp.approx.ftz.f32", 1.0f / x) /* x is no denormal number */
#undef FAST_FUNCTION

/* q, with explicit roundings, so that all kernels compute the same bits: a pixel on the rim must be
   hit in the backward pass if and only if it was in the forward pass. */
DEVICE float splat_distance(const splat *s, float dx, float dy) {
  float row = __fmaf_rn(s->a, dx, __fmul_rn(s->b, dy));
  return __fmaf_rn(dx, row, __fmul_rn(__fmul_rn(s->c, dy), dy));
}

/* 0 <= q <= limit in one comparison: as unsigned numbers, negative ones and NaN are the largest. A
   thin splat may round to q < 0 far from its centre; that is no hit. The splat is one that is
   seen. Forward and backward use the same test. */
DEVICE bool splat_hits(const splat *s, float q) {
  return __float_as_uint(q) <= __float_as_uint(s->limit);
}
