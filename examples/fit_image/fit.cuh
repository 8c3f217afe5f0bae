/* arc example fit_image: the fit, from the first guess to the last step. Host code.
   SPDX-License-Identifier: Apache-2.0

       fit f;
       fit_begin(&f, &picture, &settings);
       for (int i = 0; i < settings.steps; ++i) fit_step(&f);
       double loss = fit_loss(&f);
       fit_end(&f);

   A CUDA call that fails ends the program with one line: this is an example, not a library. */
#ifndef FIT_FIT_CUH
#define FIT_FIT_CUH

#include <limits.h>
#include <stdlib.h>

#include "kernels.cuh"
#include "arc_tune.h" /* after the policy macros, which kernels.cuh sets */
#include "options.h"

/* No narrower than this, in pixels: a thinner Gaussian would slip between pixel centres. */
#define SMALLEST_SCALE 0.3f

typedef void (*backward_kernel)(canvas, tile_lists, const splat *, const float *, gaussians, int);

/* In the order of fit_path. */
static const backward_kernel backward_kernels[FIT_PATHS] = {
    backward_plain,      backward_atomic, backward_serialized, backward_butterfly,
    backward_transposed, backward_tree,   backward_auto,       backward};

/* Events of one step, in this order. */
enum { MARK_START, MARK_LISTS, MARK_FORWARD, MARK_BACKWARD, MARK_END, FIT_MARKS };

/* Milliseconds: on a GPU by its events, on the CPU warp the host's time for the emulation. */
typedef struct step_times {
  float *whole, *forward, *backward, *rest; /* one each step */
} step_times;

typedef struct fit {
  fit_settings settings;
  canvas c;
  int tiles;
  int steps_done;

  gaussians parameters, gradients, first_moments, second_moments;
  float *target, *residual; /* 3 a pixel */
  float *tile_losses;
  splat *splats;
  tile_box *boxes;
  int *cursors;
  long long *total;
  tile_lists lists;

  cudaEvent_t marks[2][FIT_MARKS]; /* this step's and the one before's, which has surely ended */
  step_times times;

  arc_tune tune;
  arc_tune_policy policies[2]; /* this step's and the one before's */
} fit;

static inline void fit_check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "fit_image: %s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

static inline void *fit_device_array(size_t bytes, const char *what) {
  void *array = nullptr;
  fit_check(cudaMalloc(&array, bytes), what);
  fit_check(cudaMemset(array, 0, bytes), what);
  return array;
}

static inline void *fit_host_array(size_t bytes) {
  void *array = malloc(bytes);
  if (array == nullptr) {
    fprintf(stderr, "fit_image: not enough memory on the host for %zu bytes\n", bytes);
    exit(1);
  }
  return array;
}

static inline int blocks_for(int threads) { return (threads + LINE_THREADS - 1) / LINE_THREADS; }

/* ---- the first guess ------------------------------------------------------------------------ */

/* Uniform in 0..1; a counter, hashed. */
static inline float next_random(unsigned long long *state) {
  unsigned long long z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (float)((z ^ (z >> 31)) >> 40) * (1.0f / 16777216.0f);
}

/* Four arrays in one block of 8 floats a Gaussian. */
static inline gaussians split_gaussians(float *block, int count) {
  size_t n = (size_t)count;
  gaussians g = {block, block + 2 * n, block + 4 * n, block + 5 * n};
  return g;
}

/* One Gaussian in each cell of a grid, at a random place of the cell; round, but turned at random,
   since a round one feels no pull to turn; coloured so that neighbours add up to the picture. */
static inline void place_gaussians(gaussians g, int count, const image *picture,
                                   unsigned long long seed) {
  double width = picture->width, height = picture->height;
  int rows = (int)(sqrt((double)count * height / width) + 0.5);
  rows = rows < 1 ? 1 : rows > count ? count : rows;
  float scale = 0.5f * (float)sqrt(width * height / count);
  scale = scale < SMALLEST_SCALE ? SMALLEST_SCALE : scale;
  float overlap = (float)(2.0 * 3.14159265 * scale * scale * count / (width * height));
  for (int row = 0; row < rows; ++row) {
    int first = (int)((long long)count * row / rows);
    int last = (int)((long long)count * (row + 1) / rows);
    for (int i = first; i < last; ++i) {
      float x = (float)((i - first + next_random(&seed)) * width / (last - first));
      float y = (float)((row + next_random(&seed)) * height / rows);
      int column_at = (int)fmin(x, width - 1), row_at = (int)fmin(y, height - 1);
      const float *pixel = picture->rgb + 3 * ((size_t)row_at * picture->width + column_at);
      g.means[2 * i + 0] = x;
      g.means[2 * i + 1] = y;
      g.log_scales[2 * i + 0] = g.log_scales[2 * i + 1] = logf(scale);
      g.angles[i] = 3.14159265f * next_random(&seed);
      for (int k = 0; k < 3; ++k) g.colours[3 * i + k] = pixel[k] / overlap;
    }
  }
}

/* ---- tuning --------------------------------------------------------------------------------- */

/* The kernels that may win, each with a threshold, and `backward` as compiled, where it starts. */
static inline void fit_begin_tuning(fit *f) {
  static const int paths[] = {ARC_PATH_AUTO, ARC_PATH_TRANSPOSED, ARC_PATH_BUTTERFLY};
  arc_tune_config config = arc_tune_config_default();
  for (int i = 0; i < 3; ++i) {
    config.path[1 + i].path = paths[i];
    config.path[1 + i].uses_threshold = 1;
  }
  config.paths = 4;
  config.seed = (unsigned)f->settings.seed;
  int error = arc_tune_init(&f->tune, &config);
  if (error != ARC_TUNE_OK) {
    fprintf(stderr, "fit_image: tuning: %s\n", arc_tune_error_text(error));
    exit(1);
  }
}

static inline fit_path fit_path_of(arc_tune_policy policy) {
  switch (policy.path) {
    case ARC_PATH_TRANSPOSED: return FIT_TRANSPOSED;
    case ARC_PATH_BUTTERFLY: return FIT_BUTTERFLY;
    default: return policy.threshold == ARC_THRESHOLD_AUTO ? FIT_DEFAULT : FIT_AUTO;
  }
}

/* Before the backward kernel of a step. */
static inline void fit_pick_policy(fit *f) {
  arc_tune_policy *policy = &f->policies[f->steps_done & 1];
  if (!f->settings.tune) return;
  arc_tune_next(&f->tune, policy);
  f->settings.path = fit_path_of(*policy);
  f->settings.threshold = policy->threshold;
}

/* The time of a backward kernel that has ended. */
static inline void fit_report_time(fit *f, int step) {
  if (!f->settings.tune) return;
  arc_tune_report_ticket(&f->tune, f->policies[step & 1].ticket, 1000.0 * f->times.backward[step]);
}

/* ---- begin and end -------------------------------------------------------------------------- */

static inline canvas canvas_of(int width, int height) {
  canvas c = {width, height, (width + TILE_SIDE - 1) / TILE_SIDE,
              (height + TILE_SIDE - 1) / TILE_SIDE};
  return c;
}

static inline gaussians fit_device_gaussians(int count) {
  size_t bytes = (size_t)count * GAUSSIAN_WIDTH * sizeof(float);
  return split_gaussians((float *)fit_device_array(bytes, "memory for the Gaussians"), count);
}

static inline void fit_begin(fit *f, const image *picture, const fit_settings *settings) {
  int n = settings->gaussians;
  size_t pixels = (size_t)picture->width * picture->height;
  size_t block_bytes = (size_t)n * GAUSSIAN_WIDTH * sizeof(float);
  f->settings = *settings;
  f->c = canvas_of(picture->width, picture->height);
  f->tiles = f->c.tiles_x * f->c.tiles_y;
  f->steps_done = 0;
  fit_begin_tuning(f);

  f->parameters = fit_device_gaussians(n);
  f->gradients = fit_device_gaussians(n);
  f->first_moments = fit_device_gaussians(n);
  f->second_moments = fit_device_gaussians(n);
  f->target = (float *)fit_device_array(pixels * 3 * sizeof(float), "memory for the picture");
  f->residual = (float *)fit_device_array(pixels * 3 * sizeof(float), "memory for the picture");
  f->tile_losses = (float *)fit_device_array(f->tiles * sizeof(float), "memory for the losses");
  f->splats = (splat *)fit_device_array(n * sizeof(splat), "memory for the splats");
  f->boxes = (tile_box *)fit_device_array(n * sizeof(tile_box), "memory for the boxes");
  f->cursors = (int *)fit_device_array(f->tiles * sizeof(int), "memory for the tiles");
  f->total = (long long *)fit_device_array(sizeof(long long), "memory for the total");
  f->lists.begin = (int *)fit_device_array((f->tiles + 1) * sizeof(int), "memory for the tiles");
  f->lists.capacity = 0;
  f->lists.keys = nullptr;

  float *block = (float *)fit_host_array(block_bytes);
  place_gaussians(split_gaussians(block, n), n, picture, settings->seed);
  fit_check(cudaMemcpy(f->parameters.means, block, block_bytes, cudaMemcpyHostToDevice),
            "copying the Gaussians");
  free(block);
  fit_check(cudaMemcpy(f->target, picture->rgb, pixels * 3 * sizeof(float),
                       cudaMemcpyHostToDevice), "copying the picture");

  for (int i = 0; i < 2 * FIT_MARKS; ++i)
    fit_check(cudaEventCreate(&f->marks[i / FIT_MARKS][i % FIT_MARKS]), "creating an event");
  f->times.whole = (float *)fit_host_array(settings->steps * sizeof(float));
  f->times.forward = (float *)fit_host_array(settings->steps * sizeof(float));
  f->times.backward = (float *)fit_host_array(settings->steps * sizeof(float));
  f->times.rest = (float *)fit_host_array(settings->steps * sizeof(float));
}

static inline void fit_end(fit *f) {
  void *arrays[] = {f->parameters.means,     f->gradients.means, f->first_moments.means,
                    f->second_moments.means, f->target,          f->residual,
                    f->tile_losses,          f->splats,          f->boxes,
                    f->cursors,              f->total,           f->lists.begin,
                    f->lists.keys};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) cudaFree(arrays[i]);
  for (int i = 0; i < 2 * FIT_MARKS; ++i) cudaEventDestroy(f->marks[i / FIT_MARKS][i % FIT_MARKS]);
  free(f->times.whole);
  free(f->times.forward);
  free(f->times.backward);
  free(f->times.rest);
}

/* ---- one step ------------------------------------------------------------------------------- */

/* Makes room for the keys of all tiles; waits for the count of this step. */
static inline void fit_make_room(fit *f) {
  long long total = 0;
  fit_check(cudaMemcpy(&total, f->total, sizeof total, cudaMemcpyDeviceToHost), "counting tiles");
  if (total <= f->lists.capacity) return;
  long long room = total + total / 4;
  if (room > INT_MAX) {
    fprintf(stderr, "fit_image: the Gaussians touch %lld tiles, more than the lists can hold; use "
                    "fewer Gaussians or lower --lr-scale\n", total);
    exit(1);
  }
  fit_check(cudaFree(f->lists.keys), "freeing the lists");
  fit_check(cudaMalloc((void **)&f->lists.keys, room * sizeof(int)), "memory for the lists");
  f->lists.capacity = (int)room;
}

/* Splats and tile lists of the parameters as they are. */
static inline void fit_build_lists(fit *f) {
  int n = f->settings.gaussians;
  fit_check(cudaMemsetAsync(f->cursors, 0, f->tiles * sizeof(int), 0), "clearing the tiles");
  SIMT_LAUNCH(prepare_splats, blocks_for(n), LINE_THREADS, 0, 0, f->parameters, n, f->c,
              f->splats, f->boxes, f->cursors);
  SIMT_LAUNCH(scan_tiles, 1, SCAN_THREADS, 0, 0, f->tiles, f->cursors, f->lists.begin, f->total);
  fit_make_room(f);
  SIMT_LAUNCH(fill_tiles, blocks_for(n), LINE_THREADS, 0, 0, f->boxes, n, f->c, f->cursors,
              f->lists);
}

static inline void fit_forward(fit *f) {
  SIMT_LAUNCH(forward, f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists, f->splats, f->target,
              f->residual, f->tile_losses);
}

/* Adds to the gradients, which are zero at the start of a step. */
static inline void fit_backward(fit *f) {
  backward_kernel kernel = backward_kernels[f->settings.path];
  SIMT_LAUNCH(kernel, f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists, f->splats, f->residual,
              f->gradients, f->settings.threshold);
}

/* Moves one array. The learning rates fall evenly, in logarithm, to a tenth at the last step. */
static inline void fit_move(fit *f, float *parameters, float *gradients, float *first,
                            float *second, int count, float rate, float low, float high) {
  double step = f->steps_done + 1;
  float falling = (float)pow(0.1, f->steps_done / (double)f->settings.steps);
  SIMT_LAUNCH(adam, blocks_for(count), LINE_THREADS, 0, 0, parameters, gradients, first, second,
              count, rate * falling, (float)(1.0 - pow(0.9, step)),
              (float)(1.0 - pow(0.999, step)), low, high);
}

static inline void fit_move_all(fit *f) {
  gaussians *p = &f->parameters, *g = &f->gradients, *m = &f->first_moments;
  gaussians *s = &f->second_moments;
  const float *rates = f->settings.rates;
  int n = f->settings.gaussians;
  float side = (float)(f->c.width > f->c.height ? f->c.width : f->c.height);
  float narrow = logf(SMALLEST_SCALE), wide = logf(side);
  fit_move(f, p->means, g->means, m->means, s->means, 2 * n, rates[RATE_MEAN], -INFINITY,
           INFINITY);
  fit_move(f, p->log_scales, g->log_scales, m->log_scales, s->log_scales, 2 * n,
           rates[RATE_SCALE], narrow, wide);
  fit_move(f, p->angles, g->angles, m->angles, s->angles, n, rates[RATE_ANGLE], -INFINITY,
           INFINITY);
  fit_move(f, p->colours, g->colours, m->colours, s->colours, 3 * n, rates[RATE_COLOUR],
           -INFINITY, INFINITY);
}

static inline void fit_mark(fit *f, int mark) {
  fit_check(cudaEventRecord(f->marks[f->steps_done & 1][mark], 0), "recording an event");
}

/* The times of a step that has ended. */
static inline void fit_read_times(fit *f, int step) {
  cudaEvent_t *marks = f->marks[step & 1];
  fit_check(cudaEventSynchronize(marks[MARK_END]), "waiting for a step");
  fit_check(cudaEventElapsedTime(&f->times.whole[step], marks[MARK_START], marks[MARK_END]),
            "timing a step");
  fit_check(cudaEventElapsedTime(&f->times.forward[step], marks[MARK_LISTS], marks[MARK_FORWARD]),
            "timing forward");
  fit_check(cudaEventElapsedTime(&f->times.backward[step], marks[MARK_FORWARD],
                                 marks[MARK_BACKWARD]), "timing backward");
  f->times.rest[step] = f->times.whole[step] - f->times.forward[step] - f->times.backward[step];
  fit_report_time(f, step);
}

static inline void fit_step(fit *f) {
  fit_mark(f, MARK_START);
  fit_build_lists(f); /* waits for the step before: its times can be read without another wait */
  if (f->steps_done > 0) fit_read_times(f, f->steps_done - 1);
  fit_mark(f, MARK_LISTS);
  fit_forward(f);
  fit_pick_policy(f);
  fit_mark(f, MARK_FORWARD);
  fit_backward(f);
  fit_mark(f, MARK_BACKWARD);
  fit_move_all(f);
  fit_mark(f, MARK_END);
  fit_check(cudaGetLastError(), "launching a step");
  f->steps_done += 1;
}

/* ---- results -------------------------------------------------------------------------------- */

/* The loss of the latest forward kernel, in double precision from the sums of the tiles. */
static inline double fit_latest_loss(const fit *f) {
  size_t bytes = f->tiles * sizeof(float);
  float *tile_losses = (float *)fit_host_array(bytes);
  double loss = 0.0;
  fit_check(cudaMemcpy(tile_losses, f->tile_losses, bytes, cudaMemcpyDeviceToHost),
            "reading the loss");
  for (int t = 0; t < f->tiles; ++t) loss += tile_losses[t];
  free(tile_losses);
  return loss;
}

/* The loss of the parameters as they are, after the last step. */
static inline double fit_loss(fit *f) {
  fit_build_lists(f);
  fit_forward(f);
  fit_check(cudaGetLastError(), "launching forward");
  return fit_latest_loss(f);
}

static inline double fit_psnr(const fit *f, double loss) {
  return -10.0 * log10(loss / (3.0 * f->c.width * f->c.height));
}

/* The picture whose loss fit_loss has just told. fitted has the size of the target. */
static inline void fit_read_picture(const fit *f, const image *target, image *fitted) {
  size_t count = (size_t)f->c.width * f->c.height * 3;
  fit_check(cudaMemcpy(fitted->rgb, f->residual, count * sizeof(float), cudaMemcpyDeviceToHost),
            "reading the picture");
  for (size_t i = 0; i < count; ++i) fitted->rgb[i] += target->rgb[i];
}

#endif
