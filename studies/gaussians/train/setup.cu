/* arc study gaussians: the scene of the options, with its pictures and first model.
   SPDX-License-Identifier: Apache-2.0 */
#include "setup.h"

#include "../../../bench/common/program_run.h"

/* What the options leave open is less for the CPU warp, which takes seconds for what a GPU does in a
   millisecond. */
bool setup_truth(scene *data, gaussians_host *truth, const options *o, int kind,
                 error_line *error) {
  static const int counts[] = {1000000, 300000, 50000};
  if (kind == 0) kind = SCENE_SMALL;
  const int count = SIMT_ON_CPU ? 120 : counts[kind - SCENE_SMALL];
  const bool sized = o->size[0] > 0;
  return scene_procedural(data, truth, (scene_kind)kind, o->gaussians > 0 ? o->gaussians : count,
                          o->views > 0  ? o->views
                          : SIMT_ON_CPU ? 9
                                        : 24,
                          sized         ? o->size[0]
                          : SIMT_ON_CPU ? 48
                                        : 1920,
                          sized         ? o->size[1]
                          : SIMT_ON_CPU ? 32
                                        : 1080,
                          o->train.seed, error);
}

const char *scene_kind_name(int kind) {
  const char *const names[] = {"small", "medium", "large"};
  return names[kind - SCENE_SMALL];
}

/* Draws the truth from every view: the pictures to train on. */
static bool setup_draw(scene *data, const gaussians_host *truth, const frame_settings *settings,
                       error_line *error) {
  train_settings draw = {};
  trainer t;
  draw.frame = *settings;
  draw.sh_degree = truth->sh_degree;
  scene_blacken(data);
  trainer_begin(&t, data, &draw);
  trainer_set_model(&t, truth);
  const int views = (int)data->views.size();
  int drawn = 0;
  for (; drawn < views && !interrupts; ++drawn) {
    trainer_draw(&t, drawn);
    device_check(cudaGetLastError(), "drawing the procedural scene");
    frame_read_picture(&t.f, &data->views[drawn].picture);
  }
  trainer_end(&t);
  return drawn == views ||
         error_set(error, "interrupted after rendering %d of %d views", drawn, views);
}

static void print_loaded(const scene *data, double begin) {
  printf("loaded     %zu pictures in %.2f s\n", data->views.size(), seconds_now() - begin);
}

bool setup_procedural(scene *data, const options *o, int kind, error_line *error) {
  gaussians_host truth;
  double begin = seconds_now();
  printf("loading    %s, rendered by the program\n", scene_kind_name(kind));
  if (!setup_truth(data, &truth, o, kind, error)) return false;
  scene_split(data, o->input.hold_out);
  bool drawn = setup_draw(data, &truth, &o->train.frame, error);
  if (drawn) print_loaded(data, begin);
  return drawn;
}

bool setup_load(scene *data, const options *o, error_line *error) {
  if (o->input.path == nullptr)
    return setup_procedural(data, o, o->kind != 0 ? o->kind : (int)SCENE_SMALL, error);
  scene_options input = o->input;
  input.most_views = o->views;
  double begin = seconds_now();
  printf("loading    %s\n", printable(o->input.path));
  if (!scene_read(data, &input, error)) return false;
  print_loaded(data, begin);
  return true;
}

bool setup_first_model(gaussians_host *model, const scene *data, const options *o,
                       error_line *error) {
  int count = o->gaussians > 0 ? o->gaussians : SIMT_ON_CPU ? 200 : 100000;
  if (o->init != nullptr) return ply_read(model, o->init, error);
  return start_model(model, data, count, o->train.sh_degree, o->train.seed, error);
}
