/* arc example fit_image: fits a picture with 2D Gaussians by gradient descent. It is the smallest
   program with the shape of a splatting trainer. SPDX-License-Identifier: Apache-2.0

   fit_image --picture photo.png --gaussians 50000 --iterations 1000 --out fitted.png
   fit_image --help

       >>model     one Gaussian at one pixel: weight and gradient
       >>lists     which Gaussians touch which tile of 16 x 16 pixels
       >>pixels    forward and backward: a block draws a tile, each thread is a pixel
       >>fit       memory, the first guess, Adam
       >>program   what ../common/workload.h asks for */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <utility>
#include <vector>

#include "../../studies/common/adam.h"
#include "../../studies/common/image_io.h"
#include "../../bench/common/random.h"
#include "../../studies/common/tiles.cuh"
#include "../../studies/common/ways.cuh"
#include "../../studies/common/workload.h"

/* ---- >>model -------------------------------------------------------------------------------- */
/* A picture is the sum of Gaussians: colour(pixel) = sum of weight * colour of each, where

       weight = exp(-(u*u + v*v) / 2),   u = ( cos(angle) dx + sin(angle) dy) / scale_u,
                                         v = (-sin(angle) dx + cos(angle) dy) / scale_v

   and (dx, dy) is the pixel's centre minus the mean. Below a weight of 1/255 a Gaussian does not
   touch the pixel. A sum has no order, so nothing is sorted; an opacity would only scale the colour.

   loss = sum over pixels and channels of (sum of Gaussians - picture)^2 */

/* A row of parameters, gradients or moments: means in pixels from the top left corner, natural
   logarithms of standard deviations in pixels, radians, any real numbers. */
enum { MEAN_X, MEAN_Y, LOG_SCALE_U, LOG_SCALE_V, ANGLE, RED, GREEN, BLUE, GAUSSIAN_WIDTH };

#define HIT_LIMIT 11.0825f  /* u*u + v*v where the weight is 1/255: 2 ln 255 */
#define SMALLEST_SCALE 0.3f /* pixels: a thinner Gaussian would slip between pixel centres */

/* A Gaussian made ready for the inner loops: exponentials and sines are taken once. Its 48 bytes
   travel as three 16-byte loads. */
typedef struct alignas(16) splat {
  float mean_x, mean_y;
  float u_x, u_y, v_x, v_y; /* u = u_x dx + u_y dy */
  float twist; /* scale_u / scale_v - scale_v / scale_u, exact for a nearly round one */
  float red, green, blue;
  int key; /* which Gaussian */
} splat;

/* half_box: half the sides of the box outside which no pixel is hit. */
DEVICE splat make_splat(const float *p, int key, float2 *half_box) {
  const float u = expf(p[LOG_SCALE_U]), v = expf(p[LOG_SCALE_V]);
  const float c = cosf(p[ANGLE]), s = sinf(p[ANGLE]);
  half_box->x = sqrtf(HIT_LIMIT * (u * c * u * c + v * s * v * s));
  half_box->y = sqrtf(HIT_LIMIT * (u * s * u * s + v * c * v * c));
  const float twist = 2.0f * sinhf(p[LOG_SCALE_U] - p[LOG_SCALE_V]);
  return {p[MEAN_X], p[MEAN_Y], c / u, s / u, -s / v, c / v, twist, p[RED], p[GREEN], p[BLUE], key};
}

/* The weight at pixel centre (x, y), with u and v for the gradient; 0 where it does not touch. */
DEVICE float splat_weight(const splat *s, float x, float y, float *u, float *v) {
  const float dx = x - s->mean_x, dy = y - s->mean_y;
  *u = s->u_x * dx + s->u_y * dy;
  *v = s->v_x * dx + s->v_y * dy;
  const float distance = *u * *u + *v * *v;
  return distance < HIT_LIMIT ? __expf(-0.5f * distance) : 0.0f;
}

/* The derivatives of the loss by the splat's 8 parameters, from this pixel alone. slope: the
   derivative of the loss by the pixel's colour. False, and zeros, where the pixel is not hit. */
DEVICE bool splat_gradient(const splat *s, float x, float y, float3 slope, bool inside, float *g) {
  float u, v;
  const float weight = splat_weight(s, x, y, &u, &v);
  const bool hit = inside && weight > 0.0f;
  for (int i = 0; i < GAUSSIAN_WIDTH; ++i) g[i] = 0.0f;
  if (!hit) return false;
  const float d = weight * (slope.x * s->red + slope.y * s->green + slope.z * s->blue);
  g[MEAN_X] = d * (u * s->u_x + v * s->v_x);
  g[MEAN_Y] = d * (u * s->u_y + v * s->v_y);
  g[LOG_SCALE_U] = d * u * u;
  g[LOG_SCALE_V] = d * v * v;
  g[ANGLE] = d * u * v * s->twist;
  g[RED] = weight * slope.x;
  g[GREEN] = weight * slope.y;
  g[BLUE] = weight * slope.z;
  return true;
}

/* ---- >>lists -------------------------------------------------------------------------------- */

typedef struct canvas {
  int width, height; /* pixels */
  int tiles_x, tiles_y;
} canvas;

/* Tile t holds the Gaussians keys[begin[t]] to keys[begin[t + 1] - 1], in no particular order. */
typedef struct tile_lists {
  int *begin; /* one more than there are tiles */
  int *keys;
  int capacity; /* of keys */
} tile_lists;

/* One thread a Gaussian. counts: one a tile, zero at the start. */
__global__ void prepare_splats(const float *parameters, int count, canvas c, splat *splats,
                               tile_box *boxes, int *counts) {
  const int key = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= count) return;
  float2 half_box;
  const splat s = make_splat(parameters + (size_t)GAUSSIAN_WIDTH * key, key, &half_box);
  const float2 centre = make_float2(s.mean_x, s.mean_y);
  const tile_box box = tile_box_around(centre, half_box, c.tiles_x, c.tiles_y);
  splats[key] = s;
  boxes[key] = box;
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) atomicAdd(&counts[y * c.tiles_x + x], 1);
}

/* One thread a Gaussian. cursors: lists.begin at the start. Room has been made for all keys; the
   bound keeps a wrong count from ever writing elsewhere. */
__global__ void fill_tiles(const tile_box *boxes, int count, canvas c, int *cursors,
                           tile_lists lists) {
  const int key = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= count) return;
  const tile_box box = boxes[key];
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) {
      const int position = atomicAdd(&cursors[y * c.tiles_x + x], 1);
      if (position < lists.capacity) lists.keys[position] = key;
    }
}

/* ---- >>pixels ------------------------------------------------------------------------------- */

typedef struct pixel {
  float x, y; /* its centre */
  size_t index;
  bool inside; /* the last tiles of a row or column stick out of the picture */
} pixel;

/* A warp covers 8 x 4 pixels rather than 16 x 2: a Gaussian hits most of it or nothing. */
DEVICE pixel pixel_of_thread(canvas c) {
  const int thread = (int)threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int column = (int)blockIdx.x % c.tiles_x * TILE_SIDE + (warp & 1) * 8 + (lane & 7);
  const int row = (int)blockIdx.x / c.tiles_x * TILE_SIDE + (warp >> 1) * 4 + (lane >> 3);
  const bool inside = column < c.width && row < c.height;
  return {(float)column + 0.5f, (float)row + 0.5f, inside ? (size_t)row * c.width + column : 0,
          inside};
}

/* The whole block calls: brings the next up to 256 splats of the list into shared memory. */
DEVICE int load_batch(splat *batch, const splat *splats, const int *keys, int first, int end) {
  const int mine = first + (int)threadIdx.x;
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
  const pixel p = pixel_of_thread(c);
  float sum[3] = {0.0f, 0.0f, 0.0f}, loss = 0.0f;
  const int end = lists.begin[blockIdx.x + 1];
  for (int first = lists.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    const int count = load_batch(batch, splats, lists.keys, first, end);
    for (int k = 0; k < count; ++k) {
      float u, v;
      const float weight = splat_weight(&batch[k], p.x, p.y, &u, &v);
      sum[0] += weight * batch[k].red;
      sum[1] += weight * batch[k].green;
      sum[2] += weight * batch[k].blue;
    }
  }
  for (int i = 0; i < 3 && p.inside; ++i) {
    const float missing = sum[i] - target[3 * p.index + i];
    residual[3 * p.index + i] = missing;
    loss += missing * missing;
  }
  loss = block_sum(loss);
  if (threadIdx.x == 0) tile_losses[blockIdx.x] = loss;
}

/* The whole warp walks the same list, so that every lane has the key, and a pixel that is not hit
   holds zeros. The smallest kernel of this kind is examples/tile.cu. */
template <int way>
__global__ void __launch_bounds__(TILE_PIXELS)
    backward(canvas c, tile_lists lists, const splat *splats, const float *residual,
             float *gradients, int threshold, unsigned long long *counts) {
  __shared__ splat batch[TILE_PIXELS];
  const pixel p = pixel_of_thread(c);
  const float *r = residual + 3 * p.index; /* that of pixel 0, outside the picture */
  const float3 slope = make_float3(2.0f * r[0], 2.0f * r[1], 2.0f * r[2]);
  const way_rows rows = way_rows_begin(gradients, GAUSSIAN_WIDTH, GAUSSIAN_WIDTH, counts);
  const int end = lists.begin[blockIdx.x + 1];
  for (int first = lists.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    const int count = load_batch(batch, splats, lists.keys, first, end);
    for (int k = 0; k < count; ++k) {
      float g[GAUSSIAN_WIDTH];
      const bool hit = splat_gradient(&batch[k], p.x, p.y, slope, p.inside, g);
      way_add(&rows, batch[k].key, g, hit, way, threshold,
              ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO);
    }
  }
}

/* ---- >>fit ---------------------------------------------------------------------------------- */

typedef struct fit {
  canvas c;
  int gaussians, tiles;
  std::vector<float> first_guess;
  std::vector<int> begin; /* of lists, on the host */
  tile_lists lists;
  device_memory memory;
  device_array parameters, gradients, means, squares, target, residual, tile_losses, splats, boxes,
      cursors, begins, keys;
} fit;

/* One Gaussian in each cell of a grid, at a random place of the cell; round, but turned at random,
   since a round one feels no pull to turn; coloured so that neighbours add up to the picture. */
static void place_gaussians(fit *f, const image *picture, int seed) {
  const double width = picture->width, height = picture->height;
  const int count = f->gaussians, most = (int)(sqrt((double)count * height / width) + 0.5);
  const int rows = most < 1 ? 1 : most > count ? count : most;
  const float scale = fmaxf(0.5f * (float)sqrt(width * height / count), SMALLEST_SCALE);
  const float overlap = (float)(2.0 * 3.14159265 * scale * scale * count / (width * height));
  f->first_guess.resize((size_t)count * GAUSSIAN_WIDTH);
  for (int row = 0, i = 0; row < rows; ++row) {
    const int first = i, last = (int)((long long)count * (row + 1) / rows);
    for (; i < last; ++i) {
      const unsigned long long drawn = 3ull * (unsigned long long)i;
      float *p = &f->first_guess[(size_t)GAUSSIAN_WIDTH * i];
      p[MEAN_X] = (float)((i - first + hashed_random(seed, drawn)) * width / (last - first));
      p[MEAN_Y] = (float)((row + hashed_random(seed, drawn + 1)) * height / rows);
      p[LOG_SCALE_U] = p[LOG_SCALE_V] = logf(scale);
      p[ANGLE] = 3.14159265f * hashed_random(seed, drawn + 2);
      const size_t x = (size_t)fmin(p[MEAN_X], width - 1), y = (size_t)fmin(p[MEAN_Y], height - 1);
      for (int k = 0; k < 3; ++k)
        p[RED + k] = picture->rgb[3 * (y * picture->width + x) + k] / overlap;
    }
  }
}

/* Parameters as they were at the start. */
static void fit_reset(fit *f) {
  host_to_device(f->parameters.data, f->first_guess.data(), f->first_guess.size() * sizeof(float),
                 "the Gaussians");
  device_clear(f->means.data, f->means.bytes);
  device_clear(f->squares.data, f->squares.bytes);
}

/* All on the device, and how large it is; the lists grow. */
static std::vector<std::pair<device_array *, size_t>> fit_arrays(fit *f) {
  const size_t n = (size_t)f->gaussians, row = GAUSSIAN_WIDTH * sizeof(float);
  const size_t pixels = (size_t)f->c.width * f->c.height * 3 * sizeof(float);
  const size_t a_tile = (size_t)f->tiles * sizeof(int);
  return {{&f->parameters, n * row},
          {&f->gradients, n * row},
          {&f->means, n * row},
          {&f->squares, n * row},
          {&f->target, pixels},
          {&f->residual, pixels},
          {&f->splats, n * sizeof(splat)},
          {&f->cursors, a_tile},
          {&f->tile_losses, a_tile},
          {&f->boxes, n * sizeof(tile_box)},
          {&f->begins, a_tile + sizeof(int)},
          {&f->keys, 0}};
}

static void fit_begin(fit *f, const image *picture, int gaussians, int seed) {
  f->c = {picture->width, picture->height, tiles_along(picture->width),
          tiles_along(picture->height)};
  f->gaussians = gaussians;
  f->tiles = f->c.tiles_x * f->c.tiles_y;
  for (const auto &a : fit_arrays(f))
    device_reserve(&f->memory, a.first, a.second, "memory for the fit");
  f->begin.resize(f->tiles + 1);
  place_gaussians(f, picture, seed);
  host_to_device(f->target.data, picture->rgb.data(), f->target.bytes, "the picture");
  fit_reset(f);
}

static void fit_end(fit *f) {
  for (const auto &a : fit_arrays(f)) device_release(&f->memory, a.first);
}

/* Splats and tile lists of the parameters as they are; the host turns counts into positions. */
static void fit_lists(fit *f) {
  long long total = 0;
  device_clear(f->cursors.data, f->cursors.bytes);
  SIMT_LAUNCH(prepare_splats, line_blocks(f->gaussians), LINE_THREADS, 0, 0,
              (const float *)f->parameters.data, f->gaussians, f->c, (splat *)f->splats.data,
              (tile_box *)f->boxes.data, (int *)f->cursors.data);
  device_to_host(f->begin.data(), f->cursors.data, f->cursors.bytes, "counting tiles");
  for (int &begin : f->begin) {
    const int count = &begin == &f->begin.back() ? 0 : begin;
    begin = (int)total;
    total += count;
  }
  if (total > INT_MAX / 2) {
    fprintf(stderr,
            "fit_image: the Gaussians touch %lld tiles, of which lists hold %d; use fewer "
            "Gaussians or lower --lr-scale\n",
            total, INT_MAX / 2);
    exit(1);
  }
  if ((size_t)total * sizeof(int) > f->keys.bytes)
    device_reserve(&f->memory, &f->keys, (size_t)(total + total / 4) * sizeof(int),
                   "memory for the lists");
  host_to_device(f->begins.data, f->begin.data(), f->begins.bytes, "the tiles");
  host_to_device(f->cursors.data, f->begin.data(), f->cursors.bytes, "the tiles");
  f->lists = {(int *)f->begins.data, (int *)f->keys.data, (int)(f->keys.bytes / sizeof(int))};
  SIMT_LAUNCH(fill_tiles, line_blocks(f->gaussians), LINE_THREADS, 0, 0,
              (const tile_box *)f->boxes.data, f->gaussians, f->c, (int *)f->cursors.data,
              f->lists);
}

/* The picture of the parameters as they are, and its loss; clears the gradients. */
static void fit_forward(fit *f) {
  fit_lists(f);
  device_clear(f->gradients.data, f->gradients.bytes);
  SIMT_LAUNCH(forward, f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists, (const splat *)f->splats.data,
              (const float *)f->target.data, (float *)f->residual.data,
              (float *)f->tile_losses.data);
}

static void fit_backward(fit *f, int way, int threshold, unsigned long long *counts) {
  typedef void kernel(canvas, tile_lists, const splat *, const float *, float *, int,
                      unsigned long long *);
#define BACKWARD(way) backward<way>
  static kernel *const kernels[] = {EACH_WAY(BACKWARD)};
  SIMT_LAUNCH(kernels[way + 1], f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists,
              (const splat *)f->splats.data, (const float *)f->residual.data,
              (float *)f->gradients.data, threshold, counts);
}

/* Step number `step`, from 1 on. rates: of means, log scales, angles and colours. */
static void fit_update(fit *f, int step, const float rates[4], float falling) {
  static const int rate_of[GAUSSIAN_WIDTH] = {0, 0, 1, 1, 2, 3, 3, 3};
  const float side = (float)(f->c.width > f->c.height ? f->c.width : f->c.height);
  const size_t count = (size_t)f->gaussians * GAUSSIAN_WIDTH;
  adam_columns<GAUSSIAN_WIDTH> s = {adam_decay_at(0.9, 0.999, 1, step), 1e-8f, {}, {}, {}};
  for (int k = 0; k < GAUSSIAN_WIDTH; ++k) {
    const bool is_scale = k == LOG_SCALE_U || k == LOG_SCALE_V;
    s.rate[k] = rates[rate_of[k]] * falling;
    s.low[k] = is_scale ? logf(SMALLEST_SCALE) : -INFINITY;
    s.high[k] = is_scale ? logf(side) : INFINITY;
  }
  SIMT_LAUNCH(adam_rows<GAUSSIAN_WIDTH>, line_blocks(count), LINE_THREADS, 0, 0,
              (float *)f->parameters.data, (const float *)f->gradients.data, (float *)f->means.data,
              (float *)f->squares.data, count, s);
}

/* Of the latest forward kernel. */
static double fit_loss(fit *f) {
  double loss = 0.0;
  for (float of_tile : device_read<float>(f->tile_losses.data, f->tiles, "the loss"))
    loss += of_tile;
  return loss;
}

/* ---- >>program ------------------------------------------------------------------------------ */

static fit the_fit;
static image target;
static int iterations;
static struct {
  const char *picture;
  int size[2], gaussians; /* 0: not given */
  float rates[4];
} settings = {nullptr, {0, 0}, 0, {0.4f, 0.06f, 0.06f, 0.01f}};

static option options[] = {
    {"fit_image: fits a picture with 2D Gaussians.\n\nusage: fit_image [options]\n"},
    {"--picture", OPTION_INPUT, &settings.picture, "PPM (P6) or PNG; without it a built-in one"},
    {"--size", OPTION_SIZE, settings.size,
     "shrinks the picture; of the built-in one 1080x1920, on the CPU warp 64x64", 1, 4096},
    {"--gaussians", OPTION_INT, &settings.gaussians, "without it one for 20 pixels, at most 50000",
     1, SIMT_ON_CPU ? 100000 : 10000000},
    {"--lr-mean", OPTION_REAL, &settings.rates[0],
     "pixels a step; this and the other rates fall to a tenth", 0, 1000},
    {"--lr-scale", OPTION_REAL, &settings.rates[1], "of log scales", 0, 1000},
    {"--lr-angle", OPTION_REAL, &settings.rates[2], "of angles, in radians", 0, 1000},
    {"--lr-colour", OPTION_REAL, &settings.rates[3], "of colours, 0 to 1", 0, 1000},
    {}};

static bool begin(const char *, workload_options *o, error_line *error) {
  const int built_in[2] = {SIMT_ON_CPU ? 64 : 1080, SIMT_ON_CPU ? 64 : 1920};
  if (!image_load(&target, settings.picture, settings.size, built_in, error)) return false;
  const int fitting = target.width * target.height / 20;
  const int gaussians = settings.gaussians > 0 ? settings.gaussians
                        : fitting < 1          ? 1
                        : fitting > 50000      ? 50000
                                               : fitting;
  printf("picture    %s, %d x %d pixels\ngaussians  %d, %d values each\n",
         settings.picture ? printable(settings.picture) : "built-in", target.width, target.height,
         gaussians, (int)GAUSSIAN_WIDTH);
  iterations = o->iterations;
  fit_begin(&the_fit, &target, gaussians, o->seed);
  return true;
}

static void reset(void) { fit_reset(&the_fit); }
static void forward_of(int) { fit_forward(&the_fit); }
static void gradient(int way, int threshold) {
  fit_backward(&the_fit, way, threshold, workload_counts());
}

/* Steps become ten times shorter as the training goes on. */
static void update(int iteration) {
  fit_update(&the_fit, iteration + 1, settings.rates,
             powf(0.1f, (float)iteration / (float)iterations));
}

static workload_sums sums(void) {
  return {(const float *)the_fit.gradients.data, (size_t)the_fit.gaussians * GAUSSIAN_WIDTH};
}

/* What is missing at each channel of each pixel. */
static std::vector<float> read_residual(const fit *f) {
  return device_read<float>(f->residual.data, f->residual.bytes / sizeof(float), "the picture");
}

static bool judge(int done, workload_quality *q, error_line *error) {
  double distance = 0.0;
  fit_forward(&the_fit);
  const double loss = fit_loss(&the_fit);
  const std::vector<float> residual = read_residual(&the_fit);
  for (float missing : residual) distance += fabs(missing);
  const double numbers = (double)residual.size();
  *q = {image_psnr(loss, numbers), distance / numbers, NAN, NAN};
  return isfinite(loss) ||
         error_set(error,
                   "the loss is not finite after %d iterations; lower the learning rates "
                   "(--lr-mean, --lr-scale, --lr-angle, --lr-colour)",
                   done);
}

static bool write(const char *file, error_line *error) {
  fit_forward(&the_fit);
  image fitted = {target.width, target.height, read_residual(&the_fit)};
  for (size_t i = 0; i < fitted.rgb.size(); ++i) fitted.rgb[i] += target.rgb[i];
  return image_write(&fitted, file, error);
}

static void end(void) { fit_end(&the_fit); }

int main(int argc, char **argv) {
  static const char *const datasets[] = {"picture", nullptr};
  const workload w = {
      "fit_image", options, datasets,   255u,     nullptr, 0u,   SIMT_ON_CPU ? 30 : 500,
      begin,       reset,   forward_of, gradient, update,  sums, judge,
      write,       end};
  return workload_main(argc, argv, &w);
}
