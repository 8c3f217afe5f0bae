/* arc study gaussians: the loss of a picture, its gradient, and the figures of merit.
   SPDX-License-Identifier: Apache-2.0

       loss = 0.8 * L1 + 0.2 * (1 - SSIM),   both means over pixels and channels.
   SSIM looks through an 11 x 11 Gaussian window (standard deviation 1.5 pixels, zeros beyond the
   edge). The window's means mx, my, mxx, myy, mxy are linear in the picture, so the gradient is the
   window once more over d SSIM / d mx, d mxx, d mxy. */
#pragma once

#include "frame.h"

#define SSIM_SHARE 0.2f
#define SSIM_C1 0.0001f
#define SSIM_C2 0.0009f

enum { WINDOW = 11, WINDOW_REACH = 5, HALO_SIDE = TILE_SIDE + 2 * WINDOW_REACH };

static __constant__ float window_weights[WINDOW] = {
    0.00102838f, 0.00759876f, 0.03600077f, 0.10936069f, 0.21300554f, 0.26601173f,
    0.21300554f, 0.10936069f, 0.03600077f, 0.00759876f, 0.00102838f};

typedef struct loss_pictures {
  int width, height;
  const float *picture;                    /* three planes */
  const unsigned char *wanted;             /* three planes of 256 steps */
  float *by_mean, *by_square, *by_product; /* d SSIM / d mx, mxx, mxy: three planes each; or null */
} loss_pictures;

/* A loss block is a tile of one channel: blockIdx.x the tile, blockIdx.y the channel. */
typedef struct loss_place {
  int x, y, column, row; /* of the pixel; of the thread in the tile */
  size_t plane;
  bool inside;
} loss_place;

DEVICE loss_place place_of_thread(const loss_pictures *p) {
  int tiles_x = (p->width + TILE_SIDE - 1) / TILE_SIDE;
  loss_place at;
  at.column = (int)threadIdx.x % TILE_SIDE;
  at.row = (int)threadIdx.x / TILE_SIDE;
  at.x = (int)blockIdx.x % tiles_x * TILE_SIDE + at.column;
  at.y = (int)blockIdx.x / tiles_x * TILE_SIDE + at.row;
  at.plane = (size_t)blockIdx.y * p->width * p->height;
  at.inside = at.x < p->width && at.y < p->height;
  return at;
}

DEVICE bool halo_pixel(const loss_pictures *p, const loss_place *at, int i, size_t *index) {
  int x = at->x - at->column - WINDOW_REACH + i % HALO_SIDE;
  int y = at->y - at->row - WINDOW_REACH + i / HALO_SIDE;
  if (x < 0 || y < 0 || x >= p->width || y >= p->height) return false;
  *index = at->plane + (size_t)y * p->width + x;
  return true;
}

DEVICE float drawn_value(const loss_pictures *p, size_t index, bool clamps) {
  float value = p->picture[index];
  return clamps ? fminf(fmaxf(value, 0.0f), 1.0f) : value;
}

DEVICE float wanted_value(const loss_pictures *p, size_t index) {
  return (float)p->wanted[index] * (1.0f / 255.0f);
}

typedef struct window_means {
  float x, y, xx, yy, xy;
} window_means;

/* One row of the window, from the halo's pixel (column, row) on. */
DEVICE window_means row_means(const float *drawn, const float *wanted) {
  window_means m = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  UNROLL
  for (int k = 0; k < WINDOW; ++k) {
    float w = window_weights[k], x = drawn[k], y = wanted[k];
    m.x += w * x;
    m.y += w * y;
    m.xx += w * x * x;
    m.yy += w * y * y;
    m.xy += w * x * y;
  }
  return m;
}

typedef struct ssim_value {
  float ssim, by_mean, by_square, by_product;
} ssim_value;

DEVICE ssim_value ssim_of(window_means m) {
  float a1 = 2.0f * m.x * m.y + SSIM_C1, a2 = 2.0f * (m.xy - m.x * m.y) + SSIM_C2;
  float b1 = m.x * m.x + m.y * m.y + SSIM_C1;
  float b2 = m.xx - m.x * m.x + m.yy - m.y * m.y + SSIM_C2;
  float below = 1.0f / (b1 * b2);
  ssim_value s;
  s.ssim = a1 * a2 * below;
  s.by_square = -s.ssim / b2;
  s.by_product = 2.0f * a1 * below;
  s.by_mean = 2.0f * m.y * (a2 - a1) * below - 2.0f * m.x * s.ssim * (1.0f / b1 - 1.0f / b2);
  return s;
}

/* parts: LOSS_PARTS floats per block. clamps: to 0..1 first, as a picture on the screen is. */
__global__ void __launch_bounds__(TILE_PIXELS)
    measure_loss(loss_pictures p, bool clamps, float *parts) {
  __shared__ float drawn[HALO_SIDE * HALO_SIDE], wanted[HALO_SIDE * HALO_SIDE];
  __shared__ window_means rows[HALO_SIDE][TILE_SIDE];
  loss_place at = place_of_thread(&p);
  for (int i = (int)threadIdx.x; i < HALO_SIDE * HALO_SIDE; i += TILE_PIXELS) {
    size_t index = 0;
    bool there = halo_pixel(&p, &at, i, &index);
    drawn[i] = there ? drawn_value(&p, index, clamps) : 0.0f;
    wanted[i] = there ? wanted_value(&p, index) : 0.0f;
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < HALO_SIDE * TILE_SIDE; i += TILE_PIXELS) {
    int from = i / TILE_SIDE * HALO_SIDE + i % TILE_SIDE;
    rows[i / TILE_SIDE][i % TILE_SIDE] = row_means(drawn + from, wanted + from);
  }
  __syncthreads();
  window_means m = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  UNROLL
  for (int k = 0; k < WINDOW; ++k) {
    window_means r = rows[at.row + k][at.column];
    m.x += window_weights[k] * r.x;
    m.y += window_weights[k] * r.y;
    m.xx += window_weights[k] * r.xx;
    m.yy += window_weights[k] * r.yy;
    m.xy += window_weights[k] * r.xy;
  }
  ssim_value s = ssim_of(m);
  size_t index = at.plane + (size_t)at.y * p.width + at.x;
  if (at.inside && p.by_mean != nullptr) {
    p.by_mean[index] = s.by_mean;
    p.by_square[index] = s.by_square;
    p.by_product[index] = s.by_product;
  }
  int centre = (at.row + WINDOW_REACH) * HALO_SIDE + at.column + WINDOW_REACH;
  float difference = at.inside ? drawn[centre] - wanted[centre] : 0.0f;
  float l1 = block_sum(fabsf(difference));
  float ssim = block_sum(at.inside ? s.ssim : 0.0f);
  float squares = block_sum(difference * difference);
  if (threadIdx.x == 0) {
    float *part = parts + LOSS_PARTS * ((size_t)blockIdx.y * gridDim.x + blockIdx.x);
    part[LOSS_L1] = l1;
    part[LOSS_SSIM] = ssim;
    part[LOSS_SQUARES] = squares;
  }
}

/* One block. sums: LOSS_PARTS doubles, in an order that does not change from run to run. */
__global__ void __launch_bounds__(LINE_THREADS)
    sum_losses(const float *parts, int blocks, double *sums) {
  __shared__ double lines[LOSS_PARTS][LINE_THREADS];
  for (int k = 0; k < LOSS_PARTS; ++k) {
    double sum = 0.0;
    for (int i = (int)threadIdx.x; i < blocks; i += LINE_THREADS) sum += parts[LOSS_PARTS * i + k];
    lines[k][threadIdx.x] = sum;
  }
  for (int half = LINE_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half)
      for (int k = 0; k < LOSS_PARTS; ++k) lines[k][threadIdx.x] += lines[k][threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    for (int k = 0; k < LOSS_PARTS; ++k) sums[k] = lines[k][0];
}

/* slope: the loss by each value of the picture, three planes. After measure_loss without clamping.
   */
__global__ void __launch_bounds__(TILE_PIXELS) loss_slope(loss_pictures p, float *slope) {
  __shared__ float maps[3][HALO_SIDE * HALO_SIDE];
  __shared__ float rows[3][HALO_SIDE][TILE_SIDE];
  loss_place at = place_of_thread(&p);
  for (int i = (int)threadIdx.x; i < HALO_SIDE * HALO_SIDE; i += TILE_PIXELS) {
    size_t index = 0;
    bool there = halo_pixel(&p, &at, i, &index);
    maps[0][i] = there ? p.by_mean[index] : 0.0f;
    maps[1][i] = there ? p.by_square[index] : 0.0f;
    maps[2][i] = there ? p.by_product[index] : 0.0f;
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < HALO_SIDE * TILE_SIDE; i += TILE_PIXELS) {
    int from = i / TILE_SIDE * HALO_SIDE + i % TILE_SIDE;
    for (int m = 0; m < 3; ++m) {
      float sum = 0.0f;
      UNROLL
      for (int k = 0; k < WINDOW; ++k) sum += window_weights[k] * maps[m][from + k];
      rows[m][i / TILE_SIDE][i % TILE_SIDE] = sum;
    }
  }
  __syncthreads();
  if (!at.inside) return;
  float by[3] = {0.0f, 0.0f, 0.0f};
  UNROLL
  for (int m = 0; m < 3; ++m) {
    UNROLL
    for (int k = 0; k < WINDOW; ++k) by[m] += window_weights[k] * rows[m][at.row + k][at.column];
  }
  size_t index = at.plane + (size_t)at.y * p.width + at.x;
  float x = p.picture[index], y = wanted_value(&p, index);
  float share = 1.0f / (3.0f * (float)p.width * (float)p.height);
  float sign = x > y ? 1.0f : x < y ? -1.0f : 0.0f;
  float by_ssim = by[0] + 2.0f * x * by[1] + y * by[2];
  slope[index] = share * ((1.0f - SSIM_SHARE) * sign - SSIM_SHARE * by_ssim);
}
