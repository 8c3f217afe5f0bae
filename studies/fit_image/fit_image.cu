/* arc example fit_image: fits a picture with 2D Gaussians by gradient descent. It is the smallest
   program with the shape of a splatting trainer. SPDX-License-Identifier: Apache-2.0

   fit_image --picture photo.ppm --gaussians 50000 --iterations 1000 --out fitted.ppm
   fit_image --path plain                       the same sums by atomicAdd alone, to compare times

       >>model     one Gaussian at one pixel: weight and gradient
       >>lists     which Gaussians touch which tile of 16 x 16 pixels
       >>pixels    forward and backward: a block paints a tile, a thread one pixel
       >>fit       memory, the Gaussians at the start, Adam
       >>pictures  PPM files, the built-in picture
       >>program   options, training, output */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include <vector>

#include "../../bench/common/device.h"
#include "../../bench/common/device_describe.h"
#include "../../bench/common/option_table.h"
#include "../../bench/common/random.h"
#include "arc.cuh"

/* ---- >>model -------------------------------------------------------------------------------- */
/* A picture is the sum of Gaussians: colour(pixel) = sum of weight * colour of each, where

       weight = exp(-(u*u + v*v) / 2),   u = ( cos(angle) dx + sin(angle) dy) / scale_u,
                                         v = (-sin(angle) dx + cos(angle) dy) / scale_v

   and (dx, dy) is the pixel's centre minus the mean. Below a weight of 1/255 per Gaussian does not
   touch the pixel. A sum has no order, so nothing is sorted; opacity would only scale the colour.

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

enum { TILE_SIDE = 16, TILE_PIXELS = TILE_SIDE * TILE_SIDE };

/* What the kernels work on. Tile t holds the Gaussians keys[begin[t]] to keys[begin[t + 1] - 1], in
   no particular order. */
typedef struct board {
  int width, height, tiles_x, tiles_y, gaussians;
  float *parameters, *gradients, *means, *squares; /* a row per Gaussian */
  float *target, *residual;                        /* the picture, and what it lacks: 3 per pixel */
  splat *splats;
  int *begin, *cursors, *keys, capacity; /* of keys */
} board;

/* Clamped before it becomes an integer, so that no value, NaN included, is out of range. */
DEVICE int tile_of(float pixels, int tiles) {
  return (int)fminf(fmaxf(floorf(pixels / TILE_SIDE), 0.0f), (float)tiles);
}

/* One thread per Gaussian: makes its splat, and takes the next place of each tile that it may
   touch. cursors: begin of the lists; or zeros, and a capacity of 0, to count a tile's Gaussians.
   The capacity keeps a wrong count from ever writing elsewhere. */
__global__ void list_splats(board b) {
  const int key = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= b.gaussians) return;
  float2 half;
  const splat s = make_splat(b.parameters + (size_t)GAUSSIAN_WIDTH * key, key, &half);
  const int x0 = tile_of(s.mean_x - half.x, b.tiles_x);
  const int y0 = tile_of(s.mean_y - half.y, b.tiles_y);
  const int x1 = tile_of(s.mean_x + half.x + TILE_SIDE, b.tiles_x); /* the first behind it */
  const int y1 = tile_of(s.mean_y + half.y + TILE_SIDE, b.tiles_y);
  b.splats[key] = s;
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) {
      const int place = atomicAdd(&b.cursors[y * b.tiles_x + x], 1);
      if (place < b.capacity) b.keys[place] = key;
    }
}

/* ---- >>pixels ------------------------------------------------------------------------------- */

typedef struct pixel {
  float x, y; /* its centre */
  size_t index;
  bool inside; /* the last tiles of a row or column stick out of the picture */
} pixel;

/* A warp covers 8 x 4 pixels rather than 16 x 2: a Gaussian hits most of it or nothing. */
DEVICE pixel pixel_of_thread(const board *b) {
  const int thread = (int)threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int column = (int)blockIdx.x % b->tiles_x * TILE_SIDE + (warp & 1) * 8 + (lane & 7);
  const int row = (int)blockIdx.x / b->tiles_x * TILE_SIDE + (warp >> 1) * 4 + (lane >> 3);
  const bool inside = column < b->width && row < b->height;
  return {(float)column + 0.5f, (float)row + 0.5f, inside ? (size_t)row * b->width + column : 0,
          inside};
}

/* The whole block calls: brings the next up to 256 splats of the list into shared memory. */
DEVICE int load_batch(splat *batch, const board *b, int first, int end) {
  const int mine = first + (int)threadIdx.x;
  __syncthreads(); /* all warps are done with the batch before */
  if (mine < end) batch[threadIdx.x] = b->splats[b->keys[mine]];
  __syncthreads();
  return min(end - first, (int)TILE_PIXELS);
}

/* residual: the sum of the Gaussians minus the picture, 3 floats per pixel. */
__global__ void __launch_bounds__(TILE_PIXELS) forward(board b) {
  __shared__ splat batch[TILE_PIXELS];
  const pixel p = pixel_of_thread(&b);
  float sum[3] = {0.0f, 0.0f, 0.0f};
  const int end = b.begin[blockIdx.x + 1];
  for (int first = b.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    const int count = load_batch(batch, &b, first, end);
    for (int k = 0; k < count; ++k) {
      float u, v;
      const float weight = splat_weight(&batch[k], p.x, p.y, &u, &v);
      sum[0] += weight * batch[k].red;
      sum[1] += weight * batch[k].green;
      sum[2] += weight * batch[k].blue;
    }
  }
  for (int i = 0; i < 3 && p.inside; ++i)
    b.residual[3 * p.index + i] = sum[i] - b.target[3 * p.index + i];
}

/* Adds each Gaussian's 8 derivatives over all pixels: thousands of lanes add to one row. The whole
   warp walks the same list, so all lanes have one key, and lanes that miss hold zeros: what
   arc_add_renderer_f32 asks for. The smallest kernel of this kind is examples/renderer.cu. */
template <bool with_arc>
__global__ void __launch_bounds__(TILE_PIXELS) backward(board b) {
  __shared__ splat batch[TILE_PIXELS];
  const pixel p = pixel_of_thread(&b);
  const float *r = b.residual + 3 * p.index; /* that of pixel 0, outside the picture */
  const float3 slope = make_float3(2.0f * r[0], 2.0f * r[1], 2.0f * r[2]);
  const arc_target_f32 rows = arc_target_f32_rows(b.gradients, GAUSSIAN_WIDTH, GAUSSIAN_WIDTH);
  const int end = b.begin[blockIdx.x + 1];
  for (int first = b.begin[blockIdx.x]; first < end; first += TILE_PIXELS) {
    const int count = load_batch(batch, &b, first, end);
    for (int k = 0; k < count; ++k) {
      float g[GAUSSIAN_WIDTH];
      const int key = batch[k].key;
      const bool hit = splat_gradient(&batch[k], p.x, p.y, slope, p.inside, g);
      if (with_arc) { /* all 32 lanes call, if one of them hits */
        if (__any_sync(0xffffffffu, hit)) arc_add_renderer_f32(rows, key, g, hit);
      } else {
        for (int i = 0; i < GAUSSIAN_WIDTH; ++i)
          if (hit) atomicAdd(&b.gradients[(size_t)GAUSSIAN_WIDTH * key + i], g[i]);
      }
    }
  }
}

/* ---- >>fit ---------------------------------------------------------------------------------- */

typedef struct image {
  int width, height;
  std::vector<float> rgb; /* of each pixel, row by row from the top, 0 to 1 as stored */
} image;

typedef struct fit {
  board b;
  int tiles;
  std::vector<int> begin; /* b.begin on the host */
  device_pool pool;       /* of all in b, but its keys, which grow */
} fit;

/* Spread evenly, by multiples of the powers of the plastic number; round, but turned at random,
   since a round one feels no pull to turn; coloured so that neighbours add up to the picture. */
static std::vector<float> place_gaussians(const image *picture, int count, int seed) {
  const double width = picture->width, height = picture->height;
  const float scale = fmaxf(0.5f * (float)sqrt(width * height / count), SMALLEST_SCALE);
  const float overlap = (float)(2.0 * 3.14159265 * scale * scale * count / (width * height));
  std::vector<float> placed((size_t)count * GAUSSIAN_WIDTH);
  for (int i = 0; i < count; ++i) {
    float *p = &placed[(size_t)GAUSSIAN_WIDTH * i];
    const double x = width * fmod(0.7548776662466927 * i + hashed_random(seed, 0), 1.0);
    const double y = height * fmod(0.5698402909980532 * i + hashed_random(seed, 1), 1.0);
    p[MEAN_X] = (float)x, p[MEAN_Y] = (float)y;
    p[LOG_SCALE_U] = p[LOG_SCALE_V] = logf(scale);
    p[ANGLE] = 3.14159265f * hashed_random(seed, 2ull + i);
    for (int k = 0; k < 3; ++k)
      p[RED + k] = picture->rgb[3 * ((size_t)y * picture->width + (size_t)x) + k] / overlap;
  }
  return placed;
}

static void fit_begin(fit *f, const image *picture, int gaussians, int seed) {
  const std::vector<float> placed = place_gaussians(picture, gaussians, seed);
  const size_t rows = placed.size() * sizeof(float), rgb = picture->rgb.size() * sizeof(float);
  const auto take = [f](size_t bytes) { return device_take(&f->pool, bytes, "the fit's memory"); };
  board *b = &f->b;
  b->width = picture->width, b->tiles_x = (picture->width + TILE_SIDE - 1) / TILE_SIDE;
  b->height = picture->height, b->tiles_y = (picture->height + TILE_SIDE - 1) / TILE_SIDE;
  b->gaussians = gaussians;
  f->tiles = b->tiles_x * b->tiles_y;
  f->begin.resize(f->tiles + 1);
  for (float **of : {&b->parameters, &b->gradients, &b->means, &b->squares})
    *of = (float *)take(rows);
  for (float **of : {&b->target, &b->residual}) *of = (float *)take(rgb);
  for (int **of : {&b->begin, &b->cursors}) *of = (int *)take(f->begin.size() * sizeof(int));
  b->splats = (splat *)take(gaussians * sizeof(splat));
  host_to_device(b->parameters, placed.data(), rows, "the Gaussians");
  host_to_device(b->target, picture->rgb.data(), rgb, "the picture");
}

static void fit_end(fit *f) {
  cudaFree(f->b.keys);
  device_give_back(&f->pool);
}

/* Splats and tile lists of the parameters as they are; the host turns counts into positions. */
static void fit_lists(fit *f) {
  const size_t bytes = f->begin.size() * sizeof(int);
  board counting = f->b;
  counting.capacity = 0;
  device_clear(f->b.cursors, bytes);
  SIMT_LAUNCH(list_splats, line_blocks(f->b.gaussians), LINE_THREADS, 0, 0, counting);
  device_to_host(f->begin.data(), f->b.cursors, bytes, "counting tiles");
  long long total = 0; /* the last count, behind all tiles, is 0 */
  for (int &begin : f->begin) {
    const int count = begin;
    begin = (int)total;
    total += count;
  }
  device_check(total > 1 << 30 ? cudaErrorMemoryAllocation : cudaSuccess,
               "fit_image: too many Gaussians touch the tiles; use fewer, or lower --lr-scale");
  if (total > f->b.capacity) {
    cudaFree(f->b.keys);
    f->b.capacity = (int)(total + total / 4);
    device_check(cudaMalloc(&f->b.keys, f->b.capacity * sizeof(int)), "memory for lists");
  }
  for (int *to : {f->b.begin, f->b.cursors}) host_to_device(to, f->begin.data(), bytes, "tiles");
  SIMT_LAUNCH(list_splats, line_blocks(f->b.gaussians), LINE_THREADS, 0, 0, f->b);
}

/* What the picture of the parameters as they are lacks; clears the gradients. */
static void fit_forward(fit *f) {
  fit_lists(f);
  device_clear(f->b.gradients, (size_t)f->b.gaussians * GAUSSIAN_WIDTH * sizeof(float));
  SIMT_LAUNCH(forward, f->tiles, TILE_PIXELS, 0, 0, f->b);
}

static void fit_backward(fit *f, bool with_arc) {
  const auto kernel = with_arc ? backward<true> : backward<false>;
  SIMT_LAUNCH(kernel, f->tiles, TILE_PIXELS, 0, 0, f->b);
}

/* A step of Adam (Kingma and Ba 2015), one thread a number. shares: what the moments have, of what
   they would have without their first zeros. */
__global__ void adam(board b, float4 rates, float2 shares) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), k = i % GAUSSIAN_WIDTH;
  if (i >= b.gaussians * GAUSSIAN_WIDTH) return;
  const float rate = (&rates.x)[k < ANGLE ? k / 2 : k == ANGLE ? 2 : 3];
  const float g = b.gradients[i], largest = logf((float)max(b.width, b.height));
  const float mean = b.means[i] = 0.9f * b.means[i] + 0.1f * g;
  const float square = b.squares[i] = 0.999f * b.squares[i] + 0.001f * g * g;
  float next = b.parameters[i] - rate * mean / shares.x / (sqrtf(square / shares.y) + 1e-8f);
  if (k == LOG_SCALE_U || k == LOG_SCALE_V)
    next = fminf(fmaxf(next, logf(SMALLEST_SCALE)), largest);
  b.parameters[i] = next;
}

/* Step number `step`, from 1 on, at so much of the rates: of means, log scales, angles, colours. */
static void fit_update(fit *f, int step, const float rates[4], float part) {
  const float4 r = make_float4(rates[0] * part, rates[1] * part, rates[2] * part, rates[3] * part);
  const float2 shares = make_float2((float)(1.0 - pow(0.9, step)), (float)(1.0 - pow(0.999, step)));
  const int blocks = line_blocks((size_t)f->b.gaussians * GAUSSIAN_WIDTH);
  SIMT_LAUNCH(adam, blocks, LINE_THREADS, 0, 0, f->b, r, shares);
}

/* The loss of the latest forward kernel; adds its residual to the picture that it was to be. */
static double fit_read(const fit *f, image *picture) {
  double loss = 0.0;
  float *value = picture->rgb.data();
  for (float missing : device_read<float>(f->b.residual, picture->rgb.size(), "the picture")) {
    *value++ += missing;
    loss += (double)missing * missing;
  }
  return loss;
}

/* ---- >>pictures ----------------------------------------------------------------------------- */

/* Binary ones of one byte per channel; with comments behind P6, as GIMP writes them. */
static bool ppm_read(const char *file, image *picture, error_line *error) {
  int kind = 0, width = 0, height = 0, most = 0, c;
  FILE *in = fopen(file, "rb");
  if (in == nullptr) return error_set(error, "cannot read '%.200s': %s", file, strerror(errno));
  bool legal = fscanf(in, "P%1d ", &kind) == 1 && kind == 6;
  while ((c = fgetc(in)) == '#') legal = fscanf(in, "%*[^\n] ") == 0 && legal;
  ungetc(c, in);
  legal = legal && fscanf(in, "%6d %6d %6d", &width, &height, &most) == 3 && isspace(fgetc(in)) &&
          min(width, height) >= 1 && max(width, height) <= 16384 && most >= 1 && most <= 255;
  std::vector<unsigned char> bytes(legal ? (size_t)3 * width * height : 1);
  const bool whole = fread(bytes.data(), 1, bytes.size(), in) == bytes.size();
  fclose(in);
  if (!legal || !whole)
    return error_set(
        error, "cannot read '%.200s': %s (README.md: how to convert)", file,
        legal ? "the PPM is cut short"
              : "no PPM: its header must be 'P6 width height maximum', each side at most "
                "16384, maximum at most 255");
  *picture = {width, height, {bytes.begin(), bytes.end()}};
  for (float &value : picture->rgb) value = fminf(value / (float)most, 1.0f);
  return true;
}

static bool ppm_write(const char *path, const image *picture, error_line *error) {
  output_file file;
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream, "P6\n%d %d\n255\n", picture->width, picture->height);
  for (float value : picture->rgb)
    fputc((int)(255.0f * fminf(fmaxf(value, 0.0f), 1.0f) + 0.5f), file.stream);
  return output_file_commit(&file, error);
}

/* Slow gradients, a disc, stripes of rising frequency, grain of single pixels. */
static image built_in_picture(int width, int height) {
  image picture = {width, height, {}};
  const float unit = 1.0f / (float)min(width, height);
  for (int i = 0; i < width * height; ++i) {
    const float x = ((float)(i % width) + 0.5f) * unit, y = ((float)(i / width) + 0.5f) * unit;
    const float disc = hypotf(x - 0.3f, y - 0.3f) < 0.17f ? 0.3f : 0.0f;
    const float stripe = y > 0.55f ? 0.15f * sinf(12.0f * x + 36.0f * x * x) : 0.0f;
    const float base = 0.2f + disc + 0.04f * hashed_random(0, i);
    for (float value : {base + 0.3f * x + stripe, base + 0.3f * y, base + 0.4f - 0.2f * y - stripe})
      picture.rgb.push_back(fminf(value, 1.0f));
  }
  return picture;
}

/* ---- >>program ------------------------------------------------------------------------------ */

enum { PLAIN, ARC };
static const char *const path_names[] = {"plain", "arc", nullptr};
static const char *picture_file, *out_file;
static int size[] = {SIMT_ON_CPU ? 64 : 1080, SIMT_ON_CPU ? 64 : 1920};
static int gaussians, path = ARC, iterations = SIMT_ON_CPU ? 30 : 500, seed = 1;
static float rates[] = {0.4f, 0.06f, 0.06f, 0.01f};

static option options[] = {
    {"fit_image: fits a picture with 2D Gaussians.\n\nusage: fit_image [options]\n"},
    {"--picture", OPTION_INPUT, &picture_file, "the picture, a PPM (P6); default: a built-in one"},
    {"--size", OPTION_SIZE, size, "size of the built-in picture", 1, 4096},
    {"--gaussians", OPTION_INT, &gaussians, "default: one per 20 pixels, at most 50000", 1,
     SIMT_ON_CPU ? 100000 : 10000000},
    {"--iterations", OPTION_INT, &iterations, "", 0, 1000000},
    {"--path", OPTION_NAME, &path, "how the backward kernel adds", 0, -1, path_names},
    {"--lr-mean", OPTION_REAL, &rates[0],
     "learning rate of places, in pixels per step; all rates fall to a tenth", 0, 1000},
    {"--lr-scale", OPTION_REAL, &rates[1], "learning rate of log scales", 0, 1000},
    {"--lr-angle", OPTION_REAL, &rates[2], "learning rate of angles, in radians", 0, 1000},
    {"--lr-colour", OPTION_REAL, &rates[3], "learning rate of colours, 0 to 1", 0, 1000},
    {"--seed", OPTION_INT, &seed, "of the Gaussians at the start", 0, 1000000},
    {"--out", OPTION_OUTPUT, &out_file, "the fitted picture, .ppm"},
    {"--size", OPTION_WITHOUT, nullptr, "--picture"},
    {OPTIONS_END},
    {}};

/* Steps become ten times shorter. Returns how many were done: Ctrl-C ends it early. */
static int train(fit *f) {
  std::vector<float> ms; /* of the backward kernel */
  const double begin = seconds_now();
  for (int i = 0; i < iterations && !interrupts; ++i) {
    fit_forward(f);
#if SIMT_ON_CPU
    simt_counters_reset();
#endif
    ms.push_back(device_time([f] { fit_backward(f, path == ARC); }));
    fit_update(f, i + 1, rates, powf(0.1f, (float)i / (float)iterations));
    if (progress_due()) progress_line("iteration %d of %d", i + 1, iterations);
  }
  const int done = (int)ms.size();
  progress_clear();
  printf("trained    %d iterations in %.2f s\n", done, seconds_now() - begin);
#if SIMT_ON_CPU
  const simt_counters n = simt_counters_read();
  if (done > 0) printf("backward   %llu atomic requests in the last iteration\n", n.reductions);
#else
  if (done > 0) printf("backward   %.4g ms, the kernel's median\n", median(ms.data(), done));
#endif
  return done;
}

int main(int argc, char **argv) {
  error_line error;
  image picture = {0, 0, {}};
  fit f = fit();
  if (program_begin("fit_image", argc, argv)) return 0;
  if (!options_read(options, argc, argv, &error)) return fail(2, &error);
  const size_t length = out_file != nullptr ? strlen(out_file) : 0;
  if (out_file != nullptr && (length < 4 || strcmp(out_file + length - 4, ".ppm") != 0))
    return error_set(&error, "--out is '%.200s'; it must end in .ppm", out_file), fail(2, &error);
  if (!has_device("fit_image", &error)) return fail(1, &error);
  catch_interrupts();
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  if (picture_file == nullptr) picture = built_in_picture(size[0], size[1]);
  if (picture_file != nullptr && !ppm_read(picture_file, &picture, &error)) return fail(2, &error);
  if (gaussians == 0) gaussians = min(max(picture.width * picture.height / 20, 1), 50000);
  printf("picture    %s, %d x %d pixels\ngaussians  %d, %d values each\n",
         picture_file ? printable(picture_file) : "built-in", picture.width, picture.height,
         gaussians, (int)GAUSSIAN_WIDTH);
  fit_begin(&f, &picture, gaussians, seed);
  printf("path       %s\n", path_names[path]);
  const int done = train(&f);
  fit_forward(&f);
  const double loss = fit_read(&f, &picture);
  fit_end(&f);
  if (!isfinite(loss))
    return error_set(&error, "the loss is not finite; lower --lr-mean and the other rates"),
           fail(1, &error);
  printf("fitted     PSNR %.3f dB\n", -10.0 * log10(loss / (double)picture.rgb.size()));
  if (out_file != nullptr && !ppm_write(out_file, &picture, &error)) return fail(1, &error);
  if (out_file != nullptr) printf("written    %s\n", printable(out_file));
  if (done < iterations) printf("interrupted after %d of %d iterations\n", done, iterations);
  return done < iterations ? interrupted_status() : 0;
}
