/* arc example gaussians: training, from the first model to the last step.
   SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <math.h>
#include <string.h>

#include "../../common/program_run.h"
#include "../render/sort.h"
#include "adam.cuh"
#include "densify.cuh"

/* The field's learning rates. Positions: of the scene's extent, falling to a hundredth. */
#define RATE_POSITION 0.00016f
#define RATE_COLOUR 0.0025f
#define RATE_HARMONICS 0.000125f
#define RATE_OPACITY 0.05f
#define RATE_SCALE 0.005f
#define RATE_ROTATION 0.001f

gaussians trainer_block(const trainer *t, int block) {
  return split_gaussians((float *)t->blocks[block].data, t->count);
}

size_t model_bytes(int count) { return (size_t)count * GAUSSIAN_FLOATS * sizeof(float); }

static view_statistics trainer_statistics(const trainer *t) {
  view_statistics s = {(float *)t->statistics.data, (float *)t->statistics.data + t->count};
  return s;
}

/* ---- tuning --------------------------------------------------------------------------------- */

/* The tuner's list of kernels: auto with 1, 2 and 4 pixels a lane, as
   compiled and with a threshold, and the papers' butterfly with the pixels of --pixels. It starts
   with ADD_DEFAULT. */
static int tuned_path(int pixels) { return ARC_PATH_AUTO + pixels / 2; }

static void trainer_begin_tuning(trainer *t) {
  arc_tune_config config = arc_tune_config_default();
  config.paths = 0;
  for (int pixels = 1; pixels <= MOST_PIXELS; pixels *= 2)
    for (int uses_threshold = 0; uses_threshold <= 1; ++uses_threshold) {
      config.path[config.paths].path = tuned_path(pixels);
      config.path[config.paths++].uses_threshold = uses_threshold;
    }
  config.path[config.paths].path = ARC_PATH_BUTTERFLY;
  config.path[config.paths++].uses_threshold = 1;
  config.start_path = tuned_path(t->settings.frame.pixels);
  config.seed = t->settings.seed;
  if (arc_tune_init(&t->tune, &config) == ARC_TUNE_OK) return;
  fprintf(stderr, "the tuner refuses its configuration\n");
  exit(1);
}

static void trainer_set_policy(trainer *t, arc_tune_policy policy) {
  frame_settings *s = &t->f.settings;
  bool butterfly = policy.path == ARC_PATH_BUTTERFLY;
  s->threshold = policy.threshold;
  s->pixels = butterfly ? t->settings.frame.pixels : 1 << (policy.path - ARC_PATH_AUTO);
  s->way = butterfly                                ? ADD_BUTTERFLY
           : policy.threshold == ARC_THRESHOLD_AUTO ? ADD_DEFAULT
                                                    : ADD_AUTO;
}

/* Before the backward kernel of a step. */
static void trainer_pick_policy(trainer *t) {
  arc_tune_policy *policy = &t->policies[t->iteration & 1];
  if (!t->settings.tunes) return;
  *policy = arc_tune_next(&t->tune);
  trainer_set_policy(t, *policy);
}

void trainer_take_choice(trainer *t) {
  if (t->settings.tunes) trainer_set_policy(t, t->tune.result.choice);
}

/* ---- begin and end -------------------------------------------------------------------------- */

static void trainer_load_target(trainer *t, int index) {
  const view *v = &t->data->views[index];
  size_t plane = (size_t)v->camera.width * v->camera.height;
  unsigned char *bytes = (unsigned char *)host_memory(3 * plane);
  for (size_t p = 0; p < plane; ++p)
    for (int k = 0; k < 3; ++k) {
      float value = fminf(fmaxf(v->picture.rgb[3 * p + k], 0.0f), 1.0f);
      bytes[k * plane + p] = (unsigned char)(255.0f * value + 0.5f);
    }
  device_reserve(&t->memory, &t->targets[index], 3 * plane, "memory for the pictures");
  host_to_device(t->targets[index].data, bytes, 3 * plane, "copying a picture");
  free(bytes);
}

static void trainer_load_views(trainer *t) {
  int views = t->data->view_count;
  t->targets = (device_array *)host_memory(sizeof(device_array) * views);
  t->cameras = (device_camera *)host_memory(sizeof(device_camera) * views);
  t->training = (int *)host_memory(sizeof(int) * views);
  for (int i = 0; i < views; ++i) {
    t->cameras[i] = camera_on_device(&t->data->views[i].camera);
    trainer_load_target(t, i);
    if (!t->data->views[i].held_out) t->training_count += 1;
  }
}

void trainer_begin(trainer *t, const scene *data, const train_settings *settings) {
  memset(t, 0, sizeof *t);
  t->settings = *settings;
  t->data = data;
  size_t steps = settings->iterations > 0 ? (size_t)settings->iterations : 1;
  frame_begin(&t->f, &settings->frame, &t->memory);
  trainer_begin_tuning(t);
  device_reserve(&t->memory, &t->losses, steps * LOSS_PARTS * sizeof(double),
                 "memory for the losses");
  t->records = (step_record *)host_memory(steps * sizeof(step_record));
  trainer_load_views(t);
  for (int i = 0; i < 2 * MARKS; ++i)
    device_check(cudaEventCreate(&t->marks[i / MARKS][i % MARKS]), "creating an event");
}

void trainer_end(trainer *t) {
  frame_end(&t->f);
  for (int i = 0; i < BLOCKS; ++i) device_release(&t->memory, &t->blocks[i]);
  device_release(&t->memory, &t->statistics);
  device_release(&t->memory, &t->losses);
  for (int i = 0; i < t->data->view_count; ++i) device_release(&t->memory, &t->targets[i]);
  for (int i = 0; i < 2 * MARKS; ++i) cudaEventDestroy(t->marks[i / MARKS][i % MARKS]);
  free(t->targets);
  free(t->cameras);
  free(t->training);
  free(t->records);
}

void trainer_make_room(trainer *t, int count) {
  t->count = count;
  for (int i = 0; i < BLOCKS; ++i) {
    device_reserve(&t->memory, &t->blocks[i], model_bytes(count), "memory for the Gaussians");
    device_clear(t->blocks[i].data, model_bytes(count));
  }
  device_reserve(&t->memory, &t->statistics, 2 * sizeof(float) * count, "memory for statistics");
  device_clear(t->statistics.data, 2 * sizeof(float) * count);
}

/* Copies the arrays of a host model to the device or back. */
static void copy_model(const gaussians_host *host, gaussians device, bool to_device) {
  size_t n = (size_t)host->count * sizeof(float);
  cudaMemcpyKind kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  float *pairs[][2] = {{host->rotation, device.rotation},
                       {host->sh, device.sh},
                       {host->position, device.position},
                       {host->scale, device.scale},
                       {host->opacity, device.opacity}};
  const size_t widths[] = {4, SH_FLOATS, 3, 3, 1};
  for (int i = 0; i < 5; ++i)
    device_check(
        cudaMemcpy(pairs[i][to_device ? 1 : 0], pairs[i][to_device ? 0 : 1], widths[i] * n, kind),
        "copying the Gaussians");
}

void trainer_set_model(trainer *t, const gaussians_host *model) {
  trainer_make_room(t, model->count);
  copy_model(model, trainer_block(t, BLOCK_PARAMETERS), true);
}

bool trainer_get_model(const trainer *t, gaussians_host *model, error_line *error) {
  if (!gaussians_allocate(model, t->count, t->settings.sh_degree, error)) return false;
  copy_model(model, trainer_block(t, BLOCK_PARAMETERS), false);
  return true;
}

/* ---- schedules ------------------------------------------------------------------------------ */

int degree_at(const train_settings *s, int iteration) {
  if (s->full_degree) return s->sh_degree;
  int every = s->iterations / (s->sh_degree + 1) + 1;
  int degree = iteration / (every < 1000 ? every : 1000);
  return degree < s->sh_degree ? degree : s->sh_degree;
}

/* The views in an order of seed and epoch only, so that a resumed run has the same. */
static void trainer_shuffle(trainer *t, int epoch) {
  unsigned long long seed = t->settings.seed * 0x100000001b3ull + (unsigned long long)epoch;
  int count = 0;
  for (int i = 0; i < t->data->view_count; ++i)
    if (!t->data->views[i].held_out) t->training[count++] = i;
  for (int i = count - 1; i > 0; --i) {
    int k = (int)(hashed_random(seed, (unsigned long long)i) * (float)(i + 1));
    int kept = t->training[i];
    t->training[i] = t->training[k];
    t->training[k] = kept;
  }
}

int trainer_view(trainer *t) {
  int place = t->iteration % t->training_count;
  if (place == 0 || t->iteration == t->first_iteration)
    trainer_shuffle(t, t->iteration / t->training_count);
  return t->training[place];
}

/* ---- one step ------------------------------------------------------------------------------- */

static adam_step adam_at(const trainer *t, float rate) {
  double step = t->iteration + 1;
  adam_step a = {rate, rate, 1, 1, (float)(1.0 - pow(0.9, step)), (float)(1.0 - pow(0.999, step))};
  return a;
}

void adam_move(float *parameters, const float *gradients, float *means, float *squares,
               size_t count, adam_step step) {
  SIMT_LAUNCH(adam, line_blocks(count), LINE_THREADS, 0, 0, parameters, gradients, means, squares,
              count, step);
}

static void trainer_move(trainer *t, float *parameters, int width, adam_step step) {
  size_t first = (size_t)(parameters - (float *)t->blocks[BLOCK_PARAMETERS].data);
  size_t count = (size_t)width * t->count;
  adam_move(parameters, (const float *)t->blocks[BLOCK_GRADIENTS].data + first,
            (float *)t->blocks[BLOCK_MEANS].data + first,
            (float *)t->blocks[BLOCK_SQUARES].data + first, count, step);
}

static void trainer_move_all(trainer *t) {
  gaussians g = trainer_block(t, BLOCK_PARAMETERS);
  double done = t->iteration / (double)t->settings.iterations;
  float falling = (float)pow(0.01, done);
  adam_step colour = adam_at(t, RATE_COLOUR);
  colour.rate_of_others = RATE_HARMONICS;
  colour.period = SH_FLOATS;
  colour.first = 3;
  trainer_move(t, g.position, 3, adam_at(t, RATE_POSITION * t->data->extent * falling));
  trainer_move(t, g.scale, 3, adam_at(t, RATE_SCALE));
  trainer_move(t, g.rotation, 4, adam_at(t, RATE_ROTATION));
  trainer_move(t, g.opacity, 1, adam_at(t, RATE_OPACITY));
  trainer_move(t, g.sh, SH_FLOATS, colour);
}

static void trainer_mark(trainer *t, int mark) {
  device_check(cudaEventRecord(t->marks[t->iteration & 1][mark], 0), "recording an event");
}

void trainer_read_times(trainer *t, int iteration) {
  cudaEvent_t *marks = t->marks[iteration & 1];
  step_record *r = &t->records[iteration];
  float rest = 0.0f, ms[MARKS - 1];
  device_check(cudaEventSynchronize(marks[MARK_END]), "waiting for a step");
  for (int i = 0; i + 1 < MARKS; ++i)
    device_check(cudaEventElapsedTime(&ms[i], marks[i], marks[i + 1]), "timing a step");
  rest = ms[MARK_DRAWN] + ms[MARK_BACKWARD];
  r->forward_ms = ms[MARK_START];
  r->backward_ms = ms[MARK_MEASURED];
  r->rest_ms = rest;
  if (t->settings.tunes)
    arc_tune_report(&t->tune, t->policies[iteration & 1].ticket, 1000.0 * r->backward_ms);
}

/* A new block for `to` Gaussians in the place of an old one, which is returned. */
static device_array trainer_swap_block(trainer *t, int block, int to) {
  device_array old = t->blocks[block], fresh = {nullptr, 0};
  device_reserve(&t->memory, &fresh, model_bytes(to), "memory for the Gaussians");
  device_clear(fresh.data, model_bytes(to));
  t->blocks[block] = fresh;
  return old;
}

/* Fates as chosen, places as scanned: everything moves into new blocks. */
static void trainer_repopulate(trainer *t, const int *fates, const int *places, int to,
                               unsigned long long seed) {
  int from = t->count, blocks = line_blocks(from);
  device_release(&t->memory, &t->blocks[BLOCK_GRADIENTS]);
  for (int block = 0; block < BLOCKS; ++block) {
    if (block == BLOCK_GRADIENTS) continue;
    device_array old = trainer_swap_block(t, block, to);
    gaussians before = split_gaussians((float *)old.data, from);
    gaussians after = split_gaussians((float *)t->blocks[block].data, to);
    if (block == BLOCK_PARAMETERS) {
      SIMT_LAUNCH(move_gaussians, blocks, LINE_THREADS, 0, 0, before, from, fates, places, after,
                  seed);
    } else {
      SIMT_LAUNCH(move_moments, blocks, LINE_THREADS, 0, 0, before, from, fates, places, after);
    }
    device_check(cudaDeviceSynchronize(), "densifying");
    device_release(&t->memory, &old);
  }
  t->count = to;
  device_reserve(&t->memory, &t->blocks[BLOCK_GRADIENTS], model_bytes(to),
                 "memory for the Gaussians");
  device_reserve(&t->memory, &t->statistics, 2 * sizeof(float) * to, "memory for statistics");
  device_clear(t->statistics.data, 2 * sizeof(float) * to);
}

/* How many there will be; fates and places are filled. */
static int trainer_choose(trainer *t, densify_rules rules, int *fates, int *counts, int *places,
                          device_array *scratch) {
  int last[2];
  SIMT_LAUNCH(choose_fates, line_blocks(t->count), LINE_THREADS, 0, 0,
              trainer_block(t, BLOCK_PARAMETERS), t->count, trainer_statistics(t), rules, fates,
              counts);
  if (!scan_counts(counts, places, t->count, scratch->data, scratch->bytes))
    device_check(cudaGetLastError(), "densifying");
  device_to_host(&last[0], counts + t->count - 1, sizeof(int), "densifying");
  device_to_host(&last[1], places + t->count - 1, sizeof(int), "densifying");
  return last[0] + last[1];
}

void trainer_densify(trainer *t) {
  const train_settings *s = &t->settings;
  float extent = t->data->extent;
  bool late = t->iteration + 1 > s->reset_every;
  densify_rules rules = {s->densify_pull, 0.01f * extent, late ? 0.1f * extent : INFINITY,
                         s->seed * 0x9e3779b97f4a7c15ull + (unsigned long long)t->iteration};
  device_array room = {nullptr, 0}, scratch = {nullptr, 0};
  device_reserve(&t->memory, &room, 3 * sizeof(int) * t->count, "memory for densifying");
  device_reserve(&t->memory, &scratch, sort_scratch_bytes(t->count), "memory for densifying");
  int *fates = (int *)room.data, *counts = fates + t->count, *places = counts + t->count;
  int to = trainer_choose(t, rules, fates, counts, places, &scratch);
  if (to > s->most_gaussians) {
    rules.pull = INFINITY;
    to = trainer_choose(t, rules, fates, counts, places, &scratch);
  }
  if (to > 0) trainer_repopulate(t, fates, places, to, rules.seed);
  device_release(&t->memory, &room);
  device_release(&t->memory, &scratch);
}

void trainer_reset_opacity(trainer *t) {
  SIMT_LAUNCH(reset_opacity, line_blocks(t->count), LINE_THREADS, 0, 0,
              trainer_block(t, BLOCK_PARAMETERS).opacity, trainer_block(t, BLOCK_MEANS).opacity,
              trainer_block(t, BLOCK_SQUARES).opacity, t->count);
}

/* After the iteration of that number (from 1). */
static void trainer_follow_schedule(trainer *t, int number) {
  const train_settings *s = &t->settings;
  if (!s->densifies || number >= s->densify_until) return;
  if (number >= s->densify_from && number % s->densify_every == 0) trainer_densify(t);
  if (number % s->reset_every == 0) trainer_reset_opacity(t);
}

static double *trainer_losses(const trainer *t, int iteration) {
  return (double *)t->losses.data + LOSS_PARTS * (size_t)iteration;
}

void trainer_step(trainer *t) {
  int index = trainer_view(t), iteration = t->iteration;
  frame *f = &t->f;
  trainer_mark(t, MARK_START);
  /* Waits for the step before: its times can be read without another wait. */
  frame_forward(f, trainer_block(t, BLOCK_PARAMETERS), t->count, degree_at(&t->settings, iteration),
                &t->cameras[index]);
  trainer_mark(t, MARK_DRAWN);
  if (iteration > t->first_iteration) trainer_read_times(t, iteration - 1);
  step_record record = {index, t->count, f->pairs, 0.0f, 0.0f, 0.0f};
  t->records[iteration] = record;
  frame_measure(f, (const unsigned char *)t->targets[index].data, trainer_losses(t, iteration));
  frame_clear_sums(f);
  trainer_pick_policy(t);
  trainer_mark(t, MARK_MEASURED);
  frame_backward(f);
  trainer_mark(t, MARK_BACKWARD);
  frame_project_backward(f, trainer_block(t, BLOCK_GRADIENTS), trainer_statistics(t));
  trainer_move_all(t);
  trainer_follow_schedule(t, iteration + 1);
  trainer_mark(t, MARK_END);
  device_check(cudaGetLastError(), "launching a step");
  t->iteration += 1;
}

/* ---- results -------------------------------------------------------------------------------- */

loss_figures trainer_figures(const trainer *t, int iteration) {
  double sums[LOSS_PARTS];
  const device_camera *c = &t->cameras[t->records[iteration].view];
  device_to_host(sums, trainer_losses(t, iteration), sizeof sums, "reading the loss");
  return loss_figures_of(sums, c->width, c->height);
}

void trainer_draw(trainer *t, int index) {
  frame_forward(&t->f, trainer_block(t, BLOCK_PARAMETERS), t->count, t->settings.sh_degree,
                &t->cameras[index]);
}

bool trainer_goes_on(const trainer *t) {
  return interrupts <= (t->iteration < t->settings.iterations ? 1 : 0);
}

bool trainer_next_view(const trainer *t, const char *what, int i) {
  if (progress_due()) fprintf(stderr, "\r%s  view %d of %d\033[K", what, i, t->data->view_count);
  if (i < t->data->view_count && trainer_goes_on(t)) return true;
  progress_clear();
  return false;
}

bool trainer_judge(trainer *t, bool held_out, loss_figures *mean) {
  device_array sums = {nullptr, 0};
  int views = 0;
  device_reserve(&t->memory, &sums, LOSS_PARTS * sizeof(double), "memory for the loss");
  memset(mean, 0, sizeof *mean);
  for (int i = 0; trainer_next_view(t, "judging", i); ++i) {
    double host[LOSS_PARTS];
    if (t->data->views[i].held_out != held_out) continue;
    trainer_draw(t, i);
    frame_judge(&t->f, (const unsigned char *)t->targets[i].data, (double *)sums.data);
    device_to_host(host, sums.data, sizeof host, "reading the loss");
    loss_figures one = loss_figures_of(host, t->cameras[i].width, t->cameras[i].height);
    mean->l1 += one.l1;
    mean->ssim += one.ssim;
    mean->psnr += one.psnr;
    mean->loss += one.loss;
    views += 1;
  }
  device_release(&t->memory, &sums);
  mean->l1 /= views;
  mean->ssim /= views;
  mean->psnr /= views;
  mean->loss /= views;
  return views > 0 && trainer_goes_on(t);
}

void trainer_read_picture(const trainer *t, image *picture) {
  size_t plane = (size_t)picture->width * picture->height;
  float *planes = (float *)host_memory(3 * plane * sizeof(float));
  device_to_host(planes, t->f.colour.data, 3 * plane * sizeof(float), "reading the picture");
  for (size_t p = 0; p < plane; ++p)
    for (int k = 0; k < 3; ++k) picture->rgb[3 * p + k] = planes[k * plane + p];
  free(planes);
}

float *trainer_camera_slopes(trainer *t) {
  size_t count = (size_t)CAMERA_FLOATS * t->data->view_count, bytes = count * sizeof(long long);
  device_array rows = {nullptr, 0}, sums = {nullptr, 0};
  long long *fixed = (long long *)host_memory(bytes);
  float *slopes = (float *)host_memory(count * sizeof(float));
  device_reserve(&t->memory, &rows, bytes, "memory for the cameras");
  device_reserve(&t->memory, &sums, LOSS_PARTS * sizeof(double), "memory for the loss");
  device_clear(rows.data, bytes);
  for (int i = 0; trainer_next_view(t, "cameras", i); ++i) {
    if (t->data->views[i].held_out) continue;
    trainer_draw(t, i);
    frame_measure(&t->f, (const unsigned char *)t->targets[i].data, (double *)sums.data);
    frame_clear_sums(&t->f);
    frame_backward(&t->f);
    frame_camera_backward(&t->f, i, (long long *)rows.data, CAMERA_BY_BLOCK);
  }
  device_to_host(fixed, rows.data, bytes, "reading the cameras");
  for (size_t i = 0; i < count; ++i) slopes[i] = arc_fixed_to_f32(fixed[i], CAMERA_SCALE_LOG2);
  device_release(&t->memory, &rows);
  device_release(&t->memory, &sums);
  free(fixed);
  if (trainer_goes_on(t)) return slopes;
  free(slopes);
  return nullptr;
}
