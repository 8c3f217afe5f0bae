// studies/hardware: records the backward pass of Gaussians. SPDX-License-Identifier: Apache-2.0
//
// usage: FILE [options of gaussians]
#include "../gaussians/train/setup.h"
#include "../gaussians/bench/ways.h"
#include "record.h"

/* A procedural scene is drawn from its truth, others from the model that --init names. */
static bool load(scene *data, gaussians_host *model, options *o, error_line *error) {
  if (!setup_load(data, o, error)) return false;
  if (o->input.path != nullptr) return setup_first_model(model, data, o, error);
  scene again;
  return setup_truth(&again, model, o, o->kind, error);
}

int main(int argc, char **argv) {
  scene data;
  gaussians_host model;
  trainer t;
  error_line error;
  options o = options_default();
  const bool parsed = argc > 1 ? options_parse(&o, argc - 1, argv + 1, &error)
                               : error_set(&error, "takes FILE [options of gaussians]");
  o.train.full_degree = true;
  if (!parsed || !load(&data, &model, &o, &error)) {
    fprintf(stderr, "hardware: %s\n", error.text);
    return 2;
  }
  trainer_begin(&t, &data, &o.train);
  trainer_set_model(&t, &model);
  trainer_draw(&t, 0);
  frame_measure(&t.f, (const unsigned char *)t.targets[0].data, (double *)t.losses.data);
  t.f.backward = way_launcher(ADD_SERIALIZED, SUMS_ROWS, 1);
  t.f.settings.threshold = 33;
  frame_clear_sums(&t.f);
  record_begin(frame_sums(&t.f).rows, (size_t)t.count * SPLAT_ROW, SPLAT_ROW);
  frame_backward(&t.f);
  const int status = record_end(CALL_GAUSSIANS, argv[1]);
  trainer_end(&t);
  return status;
}
