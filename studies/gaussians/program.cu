/* arc study gaussians: what training and measuring share.
   SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <string.h>

#include <vector>

const char *clock_name(void) { return SIMT_ON_CPU ? "host_emulation" : "gpu_events"; }

/* The view's name without its folder and extension, in the folder, with ours. */
static void render_name(const view *v, const char *folder, char *path, size_t size) {
  const char *dot = strrchr(v->name, '.');
  int length = dot != nullptr && dot != v->name ? (int)(dot - v->name) : (int)strlen(v->name);
  snprintf(path, size, "%s/%.*s%s", folder, length, v->name, IMAGE_HAVE_PNG ? ".png" : ".ppm");
}

bool write_picture(const frame *f, const view *v, const char *folder, error_line *error) {
  char path[4096];
  image picture = image_of(v->camera.width, v->camera.height);
  render_name(v, folder, path, sizeof path);
  frame_read_picture(f, &picture);
  return image_write(&picture, path, error);
}

static void show_progress(const trainer *t, double begin) {
  if (t->last < 0 || !progress_due()) return;
  loss_figures figures = trainer_figures(t, t->last);
  int done = t->iteration - t->first_iteration, left = t->settings.iterations - t->iteration;
  progress_line("iteration %d of %d  loss %.5f  PSNR %.2f dB  ETA %.0f s  %d Gaussians",
                t->iteration, t->settings.iterations, figures.loss, figures.psnr,
                (seconds_now() - begin) / done * left, t->count);
}

/* Whether a multiple of plan.every lies in the step just done. One process writes for all. */
static bool checkpoint_due(const trainer *t, checkpoint_plan plan, int before) {
  return plan.every > 0 && t->iteration / plan.every > before / plan.every &&
         t->iteration < t->settings.iterations && t->team->rank == 0;
}

/* In a group all stop after the same step. */
static bool goes_on(const trainer *t) {
  bool stopped = t->team->size > 1 ? t->stopped || t->team->lost : interrupts > 0;
  return t->iteration < t->settings.iterations && !stopped;
}

void train_on(trainer *t, checkpoint_plan plan, double *seconds) {
  error_line error;
  double begin = seconds_now();
  while (goes_on(t)) {
    int before = t->iteration;
    trainer_step(t);
    show_progress(t, begin);
    if (!checkpoint_due(t, plan, before) || checkpoint_write(t, plan.path, &error)) continue;
    progress_clear();
    fail(0, &error);
  }
  progress_clear();
  if (t->team->lost) return;
  device_check(cudaDeviceSynchronize(), "training");
  if (t->last >= 0) trainer_read_times(t);
  trainer_take_choice(t);
  *seconds = seconds_now() - begin;
  if (t->stopped && !interrupts) interrupts = 1;
}

step_medians medians_of(const trainer *t) {
  int count = t->iteration - t->first_iteration;
  int sums = (count + t->settings.batch - 1) / t->settings.batch * t->team->size;
  step_medians m = {0.0f, 0.0f, 0.0f, 0.0f};
  std::vector<float> forward, backward, rest;
  for (int i = 0; i < count; ++i) {
    const step_record *r = &t->records[t->first_iteration + i];
    forward.push_back(r->forward_ms);
    backward.push_back(r->backward_ms);
    rest.push_back(r->rest_ms);
    m.sum += r->sum_ms / (float)sums;
  }
  if (count == 0) return m;
  return {median(forward.data(), count), median(backward.data(), count), median(rest.data(), count),
          m.sum};
}
