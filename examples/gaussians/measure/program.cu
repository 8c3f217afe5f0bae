/* arc example gaussians: what training, --bench-backward and --experiment share.
   SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>

int fail(int status, const error_line *error) {
  fprintf(stderr, "gaussians: %s\n", error->text);
  return status;
}

const char *threshold_name(add_way way, int threshold, char *room) {
  if (way == ADD_DEFAULT)
    threshold = ARC_BALANCE_THRESHOLD;
  else if (!add_way_has_threshold(way))
    return "-";
  if (threshold == ARC_THRESHOLD_AUTO) return "auto";
  snprintf(room, 16, "%d", threshold);
  return room;
}

const char *clock_name(void) { return SIMT_ON_CPU ? "host_emulation" : "gpu_events"; }

static void show_progress(const trainer *t, double begin) {
  if (!progress_due()) return;
  loss_figures figures = trainer_figures(t, t->iteration - 1);
  int done = t->iteration - t->first_iteration, left = t->settings.iterations - t->iteration;
  fprintf(stderr, "\riteration %d of %d  loss %.5f  PSNR %.2f dB  %d Gaussians  ETA %.0f s\033[K",
          t->iteration, t->settings.iterations, figures.loss, figures.psnr, t->count,
          (seconds_now() - begin) / done * left);
}

bool train_on(trainer *t, checkpoint_plan plan, double *seconds, error_line *error) {
  double begin = seconds_now();
  bool written = true;
  while (t->iteration < t->settings.iterations && !interrupts && written) {
    trainer_step(t);
    show_progress(t, begin);
    if (plan.every > 0 && t->iteration % plan.every == 0 && t->iteration < t->settings.iterations)
      written = checkpoint_write(t, plan.path, error);
  }
  device_check(cudaDeviceSynchronize(), "training");
  if (t->iteration > t->first_iteration) trainer_read_times(t, t->iteration - 1);
  trainer_take_choice(t);
  *seconds = seconds_now() - begin;
  progress_clear();
  return written;
}

step_medians medians_of(const trainer *t) {
  int count = t->iteration - t->first_iteration;
  step_medians m = {0.0f, 0.0f, 0.0f};
  float *values = (float *)host_memory(3 * sizeof(float) * count);
  for (int i = 0; i < count; ++i) {
    const step_record *r = &t->records[t->first_iteration + i];
    values[i] = r->forward_ms;
    values[count + i] = r->backward_ms;
    values[2 * count + i] = r->rest_ms;
  }
  if (count > 0) {
    m.forward = median(values, count);
    m.backward = median(values + count, count);
    m.rest = median(values + 2 * count, count);
  }
  free(values);
  return m;
}

unsigned datasets_of(const options *o) {
  if (o->datasets != 0u) return o->datasets;
  if (o->input.path != nullptr) return 1u;
  if (o->kind != 0) return 1u << o->kind;
  return 1u << SCENE_SMALL | 1u << SCENE_MEDIUM | 1u << SCENE_LARGE;
}

const char *dataset_name(const options *o, int kind) {
  return kind != 0 ? scene_kind_name(kind) : o->input.path;
}

void count_lanes_of_frame(trainer *t, unsigned long long *histogram) {
  unsigned long long host[LANE_COUNTS];
  device_array device = {nullptr, 0};
  device_reserve(&t->memory, &device, sizeof host, "memory for the histogram");
  device_clear(device.data, sizeof host);
  backward_arguments a = frame_backward_arguments(&t->f);
  a.histogram = (unsigned long long *)device.data;
  backward_launch(ADD_COUNT, t->f.tiles, &a, t->f.settings.pixels);
  device_to_host(host, device.data, sizeof host, "counting lanes");
  for (int i = 0; i < LANE_COUNTS; ++i) histogram[i] += host[i];
  device_release(&t->memory, &device);
}

void print_lanes(const unsigned long long *histogram) {
  double all = 0.0, met = 0.0, lanes = 0.0, few = 0.0;
  for (int i = 0; i < LANE_COUNTS; ++i) {
    all += (double)histogram[i];
    if (i == 0) continue;
    met += (double)histogram[i];
    lanes += (double)i * (double)histogram[i];
    few += i <= 4 ? (double)histogram[i] : 0.0;
  }
  if (met == 0.0) return;
  printf(
      "warp steps %.0f, %.1f %% empty; of the others %.1f %% have 1-4 lanes, %.1f %% are full, "
      "mean %.1f lanes\n",
      all, 100.0 * (all - met) / all, 100.0 * few / met, 100.0 * (double)histogram[32] / met,
      lanes / met);
}
