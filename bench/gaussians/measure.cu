/* What --bench-backward and --experiment of examples/gaussians share.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

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
