// bench/hardware: records the backward pass of Gaussians, and hot rows.
// SPDX-License-Identifier: Apache-2.0
//
// usage: FILE NAME [options of gaussians], or FILE sweep... WIDTH ROWS: steps of the sweep's kernel,
// which draws its keys. Of few rows: all lanes of a warp in one of them.
#include <stdlib.h>
#include <string.h>

#include "../../examples/common/random.h"
#include "../../examples/gaussians/train/setup.h"
#include "../gaussians/ways.h"
#include "record.h"

static int fail(const char *text) {
  fprintf(stderr, "hardware: %s\n", text);
  return 2;
}

/* A procedural scene is drawn from its truth, others from the model that --init names. */
static bool load(scene *data, gaussians_host *model, options *o, error_line *error) {
  if (!setup_load(data, o, error)) return false;
  if (o->input.path != nullptr) return setup_first_model(model, data, o, error);
  scene again;
  const procedural_size size = procedural_size_of(o, o->kind);
  return scene_procedural(&again, model, (scene_kind)o->kind, size.gaussians, size.views,
                          size.width, size.height, o->train.seed, error);
}

/* Steps of the sweep's kernel with one key a block: a block for each count of lanes. */
static int record_sweep(const char *file, const char *name, int width, int rows) {
  static const int widths[] = {1, 3, 4, 9, 10, 16, 32}, lanes[] = {1, 4, 8, 16, 32};
  const bool hot = rows < 100;
  int call = 0, steps = hot ? 12 : 6, blocks = hot ? 48 : 5;
  while (call < 7 && widths[call] != width) ++call;
  if (call == 7) return fail("WIDTH must be 1, 3, 4, 9, 10, 16 or 32");
  for (int w = 0; w < 8 * blocks; ++w)
    for (int s = 0; s < steps; ++s) {
      int keys[32];
      const unsigned long long step = (unsigned long long)((hot ? w : w / 8) * steps + s);
      const int key = (int)(hashed_random(1, step) * (float)rows);
      for (int i = 0; i < 32; ++i) keys[i] = hot || i < lanes[w / 8] ? key : -1;
      record_step(w, keys);
    }
  return record_end((record_call)(CALL_SWEEP + call), name, file);
}

int main(int argc, char **argv) {
  scene data;
  gaussians_host model;
  trainer t;
  error_line error;
  options o = options_default();
  if (argc < 3) return fail("takes FILE NAME [options of gaussians]");
  if (!strncmp(argv[2], "sweep", 5) && argc == 5)
    return record_sweep(argv[1], argv[2], atoi(argv[3]), atoi(argv[4]));
  if (!options_parse(&o, argc - 2, argv + 2, &error)) return fail(error.text);
  o.train.full_degree = true;
  if (!load(&data, &model, &o, &error)) return fail(error.text);
  trainer_begin(&t, &data, &o.train);
  trainer_set_model(&t, &model);
  trainer_draw(&t, 0);
  frame_measure(&t.f, (const unsigned char *)t.targets[0].data, (double *)t.losses.data);
  t.f.backward = way_launcher(ADD_SERIALIZED, SUMS_ROWS, 1);
  t.f.settings.threshold = 33;
  frame_clear_sums(&t.f);
  record_begin(frame_sums(&t.f).rows, (size_t)t.count * SPLAT_ROW, SPLAT_ROW);
  frame_backward(&t.f);
  const int status = record_end(CALL_GAUSSIANS, argv[2], argv[1]);
  trainer_end(&t);
  gaussians_free(&model);
  scene_free(&data);
  return status;
}
