/* arc example gaussians: the scene that was asked for, with its pictures and first model.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_WORLD_CUH
#define GAUSSIANS_WORLD_CUH

#include "options.h"
#include "train.cuh"

/* What the procedural scene is where the options leave it open. The CPU warp takes seconds for what
   a GPU does in a millisecond. */
typedef struct world_size {
  int gaussians, views, width, height;
} world_size;

static inline world_size world_default_size(int kind) {
  const int counts[] = {1000000, 300000, 50000};
  world_size gpu = {counts[kind - SCENE_SMALL], 24, 1920, 1080}, cpu = {120, 9, 48, 32};
  return SIMT_ON_CPU ? cpu : gpu;
}

static inline world_size world_size_of(const options *o, int kind) {
  world_size size = world_default_size(kind);
  if (o->gaussians > 0) size.gaussians = o->gaussians;
  if (o->views > 0) size.views = o->views;
  if (o->width > 0) {
    size.width = o->width;
    size.height = o->height;
  }
  return size;
}

static inline const char *world_kind_name(int kind) {
  const char *const names[] = {"small", "medium", "large"};
  return names[kind - SCENE_SMALL];
}

/* Draws the truth from every view: the pictures to train on. */
static inline bool world_draw(scene *world, const gaussians_host *truth,
                              const frame_settings *settings, error_line *error) {
  train_settings draw;
  trainer t;
  memset(&draw, 0, sizeof draw);
  draw.frame = *settings;
  draw.sh_degree = truth->sh_degree;
  for (int i = 0; i < world->view_count; ++i) {
    view *v = &world->views[i];
    if (!image_allocate(&v->picture, v->camera.width, v->camera.height, error)) return false;
  }
  trainer_begin(&t, world, &draw);
  trainer_set_model(&t, truth);
  for (int i = 0; i < world->view_count; ++i) {
    trainer_draw(&t, i);
    device_check(cudaGetLastError(), "drawing the procedural scene");
    trainer_read_picture(&t, &world->views[i].picture);
  }
  trainer_end(&t);
  return true;
}

static inline bool world_make(scene *world, const options *o, int kind, error_line *error) {
  gaussians_host truth;
  world_size size = world_size_of(o, kind);
  if (!scene_procedural(world, &truth, (scene_kind)kind, size.gaussians, size.views, size.width,
                        size.height, o->train.seed, error))
    return false;
  scene_split(world, o->input.hold_out);
  bool drawn = world_draw(world, &truth, &o->train.frame, error);
  gaussians_free(&truth);
  if (!drawn) scene_free(world);
  return drawn;
}

static inline bool world_load(scene *world, const options *o, error_line *error) {
  if (o->input.path == nullptr)
    return world_make(world, o, o->kind != 0 ? o->kind : (int)SCENE_SMALL, error);
  scene_options input = o->input;
  input.most_views = o->views;
  return scene_read(world, &input, error);
}

/* The Gaussians to start from, with --resume none. */
static inline bool world_first_model(gaussians_host *model, const scene *world, const options *o,
                                     error_line *error) {
  int count = o->gaussians > 0 ? o->gaussians : SIMT_ON_CPU ? 200 : 100000;
  if (o->init != nullptr) return ply_read(model, o->init, error);
  return start_model(model, world, count, o->train.sh_degree, o->train.seed, error);
}

#endif
