/* arc example fit_image: the kernels of one step.
   SPDX-License-Identifier: Apache-2.0

   prepare_splats, scan_tiles, fill_tiles   which Gaussians touch which 16 x 16 tile
   forward                                  what is still missing at each pixel, and the loss
   backward                                 the gradient, added up through arc
   adam                                     moves one array of parameters

   One block of 256 threads renders one tile; each thread is a pixel and walks the tile's list. */
#ifndef FIT_KERNELS_CUH
#define FIT_KERNELS_CUH

#include "fit.h"

enum { SCAN_THREADS = 256 };

/* ---- which Gaussians touch which tile ------------------------------------------------------- */

static __device__ __forceinline__ tile_box box_of(const gaussians *g, int key, canvas c) {
  float2 centre = make_float2(g->means[2 * key + 0], g->means[2 * key + 1]);
  return tile_box_around(centre, splat_half_box(g, key), c.tiles_x, c.tiles_y);
}

/* One thread a Gaussian. counts: one a tile, zero at the start. */
__global__ void prepare_splats(gaussians parameters, int count, canvas c, splat *splats,
                               tile_box *boxes, int *counts) {
  int key = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= count) return;
  tile_box box = box_of(&parameters, key, c);
  splats[key] = make_splat(&parameters, key);
  boxes[key] = box;
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) atomicAdd(&counts[y * c.tiles_x + x], 1);
}

/* Turns counts into list positions: begin[t] and cursors[t] become the sum of the counts before
   tile t. One block of SCAN_THREADS; each thread owns a run of tiles. cursors holds the counts at
   the start. total: the sum of all, in 64 bits so that the host can see that it is too large. */
__global__ void __launch_bounds__(SCAN_THREADS)
    scan_tiles(int tiles, int *cursors, int *begin, long long *total) {
  __shared__ long long warp_sums[SCAN_THREADS / 32];
  int thread = (int)threadIdx.x, lane = thread & 31, warp = thread >> 5;
  int run = (tiles + SCAN_THREADS - 1) / SCAN_THREADS;
  int first = min(thread * run, tiles), last = min(first + run, tiles);

  long long mine = 0;
  for (int t = first; t < last; ++t) mine += cursors[t];
  long long up_to_here = mine;
  for (int step = 1; step < 32; step *= 2) {
    long long before = __shfl_up_sync(0xffffffffu, up_to_here, step);
    if (lane >= step) up_to_here += before;
  }
  if (lane == 31) warp_sums[warp] = up_to_here;
  __syncthreads();
  for (int w = 0; w < warp; ++w) up_to_here += warp_sums[w];

  long long position = up_to_here - mine;
  for (int t = first; t < last; ++t) {
    int count = cursors[t];
    begin[t] = cursors[t] = (int)position;
    position += count;
  }
  if (thread == SCAN_THREADS - 1) {
    begin[tiles] = (int)up_to_here;
    *total = up_to_here;
  }
}

/* One thread a Gaussian. The host has made room for the total that scan_tiles found; the bound
   keeps a wrong count from ever writing elsewhere. */
__global__ void fill_tiles(const tile_box *boxes, int count, canvas c, int *cursors,
                           tile_lists lists) {
  int key = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= count) return;
  tile_box box = boxes[key];
  for (int y = box.y0; y < box.y1; ++y) {
    for (int x = box.x0; x < box.x1; ++x) {
      int position = atomicAdd(&cursors[y * c.tiles_x + x], 1);
      if (position < lists.capacity) lists.keys[position] = key;
    }
  }
}

/* ---- pixels --------------------------------------------------------------------------------- */

typedef struct pixel {
  float x, y; /* its centre */
  size_t index;
  bool inside; /* the last tiles of a row or column stick out of the picture */
} pixel;

/* A warp covers 8 x 4 pixels rather than 16 x 2: a Gaussian hits most of it or nothing. */
static __device__ __forceinline__ pixel pixel_of_thread(canvas c) {
  int thread = (int)threadIdx.x, lane = thread & 31, warp = thread >> 5;
  int column = (int)blockIdx.x % c.tiles_x * TILE_SIDE + (warp & 1) * 8 + (lane & 7);
  int row = (int)blockIdx.x / c.tiles_x * TILE_SIDE + (warp >> 1) * 4 + (lane >> 3);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < c.width && row < c.height;
  p.index = p.inside ? (size_t)row * c.width + column : 0;
  return p;
}

/* The whole block calls: brings the next up to 256 splats of the list into shared memory. */
static __device__ __forceinline__ int load_batch(splat *batch, const splat *splats, const int *keys,
                                                 int first, int end) {
  int mine = first + (int)threadIdx.x;
  __syncthreads(); /* all warps are done with the batch before */
  if (mine < end) batch[threadIdx.x] = splats[keys[mine]];
  __syncthreads();
  return min(end - first, (int)TILE_PIXELS);
}

/* residual: the sum of the Gaussians minus the picture, 3 floats a pixel. */
__global__ void __launch_bounds__(TILE_PIXELS)
    forward(canvas c, tile_lists lists, const splat *splats, const float *target, float *residual,
            float *tile_losses) {
  __shared__ splat batch[TILE_PIXELS];
  pixel p = pixel_of_thread(c);
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  int end = lists.begin[blockIdx.x + 1];
  for (int first = lists.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    int count = load_batch(batch, splats, lists.keys, first, end);
    for (int k = 0; k < count; ++k) {
      float u, v;
      float weight = splat_weight(&batch[k], p.x, p.y, &u, &v);
      sum.x += weight * batch[k].red;
      sum.y += weight * batch[k].green;
      sum.z += weight * batch[k].blue;
    }
  }
  float loss = 0.0f;
  if (p.inside) {
    float red = sum.x - target[3 * p.index + 0];
    float green = sum.y - target[3 * p.index + 1];
    float blue = sum.z - target[3 * p.index + 2];
    residual[3 * p.index + 0] = red;
    residual[3 * p.index + 1] = green;
    residual[3 * p.index + 2] = blue;
    loss = red * red + green * green + blue * blue;
  }
  loss = block_sum(loss);
  if (threadIdx.x == 0) tile_losses[blockIdx.x] = loss;
}

/* ---- backward ------------------------------------------------------------------------------- */

/* The derivative of the loss by this pixel's colour. */
static __device__ __forceinline__ float3 loss_slope(const float *residual, pixel p) {
  const float *r = residual + 3 * p.index;
  return p.inside ? make_float3(2.0f * r[0], 2.0f * r[1], 2.0f * r[2])
                  : make_float3(0.0f, 0.0f, 0.0f);
}

/* Where the 8 sums of a Gaussian go: four arrays, in the order of MEAN_X .. BLUE. */
static __device__ __forceinline__ arc_target_f32 gradient_target(gaussians gradients) {
  arc_piece_f32 pieces[4] = {{gradients.means, 2, 2},
                             {gradients.log_scales, 2, 2},
                             {gradients.angles, 1, 1},
                             {gradients.colours, 3, 3}};
  return arc_target_f32_pieces(pieces, 4);
}

/* What arc replaces: an atomicAdd for every value of every pixel that is hit. */
static __device__ __forceinline__ void add_plain(gaussians gradients, int key, const float *g,
                                                 bool hit) {
  if (!hit) return;
  for (int i = 0; i < 2; ++i) atomicAdd(&gradients.means[2 * (size_t)key + i], g[MEAN_X + i]);
  for (int i = 0; i < 2; ++i)
    atomicAdd(&gradients.log_scales[2 * (size_t)key + i], g[LOG_SCALE_U + i]);
  atomicAdd(&gradients.angles[key], g[ANGLE]);
  for (int i = 0; i < 3; ++i) atomicAdd(&gradients.colours[3 * (size_t)key + i], g[RED + i]);
}

/* The kernel to copy from, with FIT_DEFAULT: the whole warp walks the same list, so that every lane
   has the key, and a pixel that is not hit holds zeros. */
template <int way>
__global__ void __launch_bounds__(TILE_PIXELS)
    backward(canvas c, tile_lists lists, const splat *splats, const float *residual,
             gaussians gradients) {
  __shared__ splat batch[TILE_PIXELS];
  pixel p = pixel_of_thread(c);
  float3 slope = loss_slope(residual, p);
  arc_target_f32 target = gradient_target(gradients);
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
  if (way == FIT_BUTTERFLY) options.path = ARC_PATH_BUTTERFLY;
  int end = lists.begin[blockIdx.x + 1];
  for (int first = lists.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    int count = load_batch(batch, splats, lists.keys, first, end);
    for (int k = 0; k < count; ++k) {
      float g[GAUSSIAN_WIDTH];
      bool hit = splat_gradient(&batch[k], p.x, p.y, slope, p.inside, g);
      if (way == FIT_PLAIN)
        add_plain(gradients, batch[k].key, g, hit);
      else
        arc_add_with_f32(target, batch[k].key, g, hit, options);
    }
  }
}

/* ---- Adam ----------------------------------------------------------------------------------- */

/* One thread a float. */
__global__ void __launch_bounds__(LINE_THREADS)
    adam(float *parameters, float *gradients, float *means, float *squares, int count,
         adam_step step) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float change = adam_change(step.decay, gradients[i], 1e-8f, &means[i], &squares[i]);
  parameters[i] = fminf(fmaxf(parameters[i] - step.rate * change, step.low), step.high);
  gradients[i] = 0.0f;
}

#endif
