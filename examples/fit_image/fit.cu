/* arc example fit_image: the fit, from the first guess to the last step.
   SPDX-License-Identifier: Apache-2.0 */
#include "fit.h"

#include <limits.h>
#include <math.h>

#include "../common/random.h"
#include "kernels.cuh"

static void *fit_device_array(size_t bytes, const char *what) {
  void *array = nullptr;
  device_check(cudaMalloc(&array, bytes), what);
  device_check(cudaMemset(array, 0, bytes), what);
  return array;
}

/* ---- the first guess ------------------------------------------------------------------------ */

gaussians split_gaussians(float *block, int count) {
  size_t n = (size_t)count;
  gaussians g = {block, block + 2 * n, block + 4 * n, block + 5 * n};
  return g;
}

/* One Gaussian in each cell of a grid, at a random place of the cell; round, but turned at random,
   since a round one feels no pull to turn; coloured so that neighbours add up to the picture. */
static void place_gaussians(gaussians g, int count, const image *picture, unsigned long long seed) {
  double width = picture->width, height = picture->height;
  int rows = (int)(sqrt((double)count * height / width) + 0.5);
  rows = rows < 1 ? 1 : rows > count ? count : rows;
  float scale = 0.5f * (float)sqrt(width * height / count);
  scale = scale < SMALLEST_SCALE ? SMALLEST_SCALE : scale;
  float overlap = (float)(2.0 * 3.14159265 * scale * scale * count / (width * height));
  unsigned long long drawn = 0;
  for (int row = 0; row < rows; ++row) {
    int first = (int)((long long)count * row / rows);
    int last = (int)((long long)count * (row + 1) / rows);
    for (int i = first; i < last; ++i) {
      float x = (float)((i - first + hashed_random(seed, drawn++)) * width / (last - first));
      float y = (float)((row + hashed_random(seed, drawn++)) * height / rows);
      int column_at = (int)fmin(x, width - 1), row_at = (int)fmin(y, height - 1);
      const float *pixel = picture->rgb + 3 * ((size_t)row_at * picture->width + column_at);
      g.means[2 * i + 0] = x;
      g.means[2 * i + 1] = y;
      g.log_scales[2 * i + 0] = g.log_scales[2 * i + 1] = logf(scale);
      g.angles[i] = 3.14159265f * hashed_random(seed, drawn++);
      for (int k = 0; k < 3; ++k) g.colours[3 * i + k] = pixel[k] / overlap;
    }
  }
}

/* ---- begin and end -------------------------------------------------------------------------- */

static canvas canvas_of(int width, int height) {
  canvas c = {width, height, tiles_along(width), tiles_along(height)};
  return c;
}

static gaussians fit_device_gaussians(int count) {
  size_t bytes = (size_t)count * GAUSSIAN_WIDTH * sizeof(float);
  return split_gaussians((float *)fit_device_array(bytes, "memory for the Gaussians"), count);
}

void fit_begin(fit *f, const image *picture, const fit_settings *settings) {
  int n = settings->gaussians;
  size_t pixels = (size_t)picture->width * picture->height;
  size_t block_bytes = (size_t)n * GAUSSIAN_WIDTH * sizeof(float);
  f->settings = *settings;
  f->c = canvas_of(picture->width, picture->height);
  f->tiles = f->c.tiles_x * f->c.tiles_y;
  f->steps_done = 0;

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

  float *block = (float *)host_memory(block_bytes);
  place_gaussians(split_gaussians(block, n), n, picture, settings->seed);
  device_check(cudaMemcpy(f->parameters.means, block, block_bytes, cudaMemcpyHostToDevice),
               "copying the Gaussians");
  free(block);
  device_check(
      cudaMemcpy(f->target, picture->rgb, pixels * 3 * sizeof(float), cudaMemcpyHostToDevice),
      "copying the picture");

  for (int i = 0; i < 2 * FIT_MARKS; ++i)
    device_check(cudaEventCreate(&f->marks[i / FIT_MARKS][i % FIT_MARKS]), "creating an event");
  f->times.whole = (float *)host_memory(settings->steps * sizeof(float));
  f->times.forward = (float *)host_memory(settings->steps * sizeof(float));
  f->times.backward = (float *)host_memory(settings->steps * sizeof(float));
  f->times.rest = (float *)host_memory(settings->steps * sizeof(float));
}

void fit_end(fit *f) {
  void *arrays[] = {f->parameters.means,
                    f->gradients.means,
                    f->first_moments.means,
                    f->second_moments.means,
                    f->target,
                    f->residual,
                    f->tile_losses,
                    f->splats,
                    f->boxes,
                    f->cursors,
                    f->total,
                    f->lists.begin,
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
static void fit_make_room(fit *f) {
  long long total = 0;
  device_check(cudaMemcpy(&total, f->total, sizeof total, cudaMemcpyDeviceToHost),
               "counting tiles");
  if (total <= f->lists.capacity) return;
  long long room = total + total / 4;
  if (room > INT_MAX) {
    fprintf(stderr,
            "the Gaussians touch %lld tiles, more than the lists can hold; use "
            "fewer Gaussians or lower --lr-scale\n",
            total);
    exit(1);
  }
  device_check(cudaFree(f->lists.keys), "freeing the lists");
  device_check(cudaMalloc((void **)&f->lists.keys, room * sizeof(int)), "memory for the lists");
  f->lists.capacity = (int)room;
}

void fit_scan_tiles(int tiles, int *cursors, int *begin, long long *total) {
  SIMT_LAUNCH(scan_tiles, 1, SCAN_THREADS, 0, 0, tiles, cursors, begin, total);
}

void fit_fill_tiles(fit *f) {
  int n = f->settings.gaussians;
  SIMT_LAUNCH(fill_tiles, line_blocks(n), LINE_THREADS, 0, 0, f->boxes, n, f->c, f->cursors,
              f->lists);
}

void fit_build_lists(fit *f) {
  int n = f->settings.gaussians;
  device_check(cudaMemsetAsync(f->cursors, 0, f->tiles * sizeof(int), 0), "clearing the tiles");
  SIMT_LAUNCH(prepare_splats, line_blocks(n), LINE_THREADS, 0, 0, f->parameters, n, f->c, f->splats,
              f->boxes, f->cursors);
  fit_scan_tiles(f->tiles, f->cursors, f->lists.begin, f->total);
  fit_make_room(f);
  fit_fill_tiles(f);
}

void fit_forward(fit *f) {
  SIMT_LAUNCH(forward, f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists, f->splats, f->target,
              f->residual, f->tile_losses);
}

void fit_backward(fit *f) {
  static void (*const kernels[FIT_WAYS])(canvas, tile_lists, const splat *, const float *,
                                         gaussians) = {backward<FIT_PLAIN>, backward<FIT_BUTTERFLY>,
                                                       backward<FIT_DEFAULT>};
  SIMT_LAUNCH(kernels[f->settings.way], f->tiles, TILE_PIXELS, 0, 0, f->c, f->lists, f->splats,
              f->residual, f->gradients);
}

void fit_adam(float *parameters, float *gradients, float *means, float *squares, int count,
              adam_step step) {
  SIMT_LAUNCH(adam, line_blocks(count), LINE_THREADS, 0, 0, parameters, gradients, means, squares,
              count, step);
}

/* The learning rates fall evenly, in logarithm, to a tenth at the last step. */
static adam_step adam_of_step(const fit *f, int rate, float low, float high) {
  float falling = (float)pow(0.1, f->steps_done / (double)f->settings.steps);
  adam_step a = {f->settings.rates[rate] * falling, low, high,
                 adam_decay_at(0.9, 0.999, 1, f->steps_done + 1)};
  return a;
}

static void fit_move_all(fit *f) {
  gaussians *p = &f->parameters, *g = &f->gradients, *m = &f->first_moments;
  gaussians *s = &f->second_moments;
  int n = f->settings.gaussians;
  float side = (float)(f->c.width > f->c.height ? f->c.width : f->c.height);
  fit_adam(p->means, g->means, m->means, s->means, 2 * n,
           adam_of_step(f, RATE_MEAN, -INFINITY, INFINITY));
  fit_adam(p->log_scales, g->log_scales, m->log_scales, s->log_scales, 2 * n,
           adam_of_step(f, RATE_SCALE, logf(SMALLEST_SCALE), logf(side)));
  fit_adam(p->angles, g->angles, m->angles, s->angles, n,
           adam_of_step(f, RATE_ANGLE, -INFINITY, INFINITY));
  fit_adam(p->colours, g->colours, m->colours, s->colours, 3 * n,
           adam_of_step(f, RATE_COLOUR, -INFINITY, INFINITY));
}

static void fit_mark(fit *f, int mark) {
  device_check(cudaEventRecord(f->marks[f->steps_done & 1][mark], 0), "recording an event");
}

void fit_read_times(fit *f, int step) {
  cudaEvent_t *marks = f->marks[step & 1];
  device_check(cudaEventSynchronize(marks[MARK_END]), "waiting for a step");
  device_check(cudaEventElapsedTime(&f->times.whole[step], marks[MARK_START], marks[MARK_END]),
               "timing a step");
  device_check(
      cudaEventElapsedTime(&f->times.forward[step], marks[MARK_LISTS], marks[MARK_FORWARD]),
      "timing forward");
  device_check(
      cudaEventElapsedTime(&f->times.backward[step], marks[MARK_FORWARD], marks[MARK_BACKWARD]),
      "timing backward");
  f->times.rest[step] = f->times.whole[step] - f->times.forward[step] - f->times.backward[step];
}

void fit_step(fit *f) {
  fit_mark(f, MARK_START);
  fit_build_lists(f); /* waits for the step before: its times can be read without another wait */
  if (f->steps_done > 0) fit_read_times(f, f->steps_done - 1);
  fit_mark(f, MARK_LISTS);
  fit_forward(f);
  fit_mark(f, MARK_FORWARD);
  fit_backward(f);
  fit_mark(f, MARK_BACKWARD);
  fit_move_all(f);
  fit_mark(f, MARK_END);
  device_check(cudaGetLastError(), "launching a step");
  f->steps_done += 1;
}

/* ---- results -------------------------------------------------------------------------------- */

/* The loss of the latest forward kernel, in double precision from the sums of the tiles. */
double fit_latest_loss(const fit *f) {
  size_t bytes = f->tiles * sizeof(float);
  float *tile_losses = (float *)host_memory(bytes);
  double loss = 0.0;
  device_check(cudaMemcpy(tile_losses, f->tile_losses, bytes, cudaMemcpyDeviceToHost),
               "reading the loss");
  for (int t = 0; t < f->tiles; ++t) loss += tile_losses[t];
  free(tile_losses);
  return loss;
}

double fit_loss(fit *f) {
  fit_build_lists(f);
  fit_forward(f);
  device_check(cudaGetLastError(), "launching forward");
  return fit_latest_loss(f);
}

double fit_psnr(const fit *f, double loss) {
  return image_psnr(loss, 3.0 * f->c.width * f->c.height);
}

void fit_read_picture(const fit *f, const image *target, image *fitted) {
  size_t count = (size_t)f->c.width * f->c.height * 3;
  device_check(cudaMemcpy(fitted->rgb, f->residual, count * sizeof(float), cudaMemcpyDeviceToHost),
               "reading the picture");
  for (size_t i = 0; i < count; ++i) fitted->rgb[i] += target->rgb[i];
}
