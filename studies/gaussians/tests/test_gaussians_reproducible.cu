/* arc study gaussians: with --reproducible every run gives the same bits, whatever the order of
   its lanes and warps. Compared are the model, the moments, the statistics of densification, and
   the slopes by the cameras.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../../common/test_files.h"
#include "../train/setup.h"
#include "test_frame.cuh"

/* A schedule is the order of lanes and warps, which a GPU chooses and the CPU warp draws. */
#if SIMT_ON_CPU
enum { SCHEDULES = 2, GAUSSIANS = 60, WIDTH = 32, HEIGHT = 16, STEPS = 16 };
static void set_schedule(unsigned long long seed) { simt_seed(seed); }
#else
enum { SCHEDULES = 4, GAUSSIANS = 20000, WIDTH = 640, HEIGHT = 400, STEPS = 300 };
static void set_schedule(unsigned long long) {}
#endif

/* Grows and prunes six times, and loses its opacity once. */
static options test_options(bool reproducible) {
  options o = options_default();
  o.kind = SCENE_MEDIUM;
  o.gaussians = GAUSSIANS, o.views = 6, o.size[0] = WIDTH, o.size[1] = HEIGHT;
  o.input.hold_out = 3;
  o.train.iterations = o.train.densify_until = STEPS;
  o.train.seed = 3;
  o.train.densify_from = STEPS / 4, o.train.densify_every = STEPS / 8;
  o.train.reset_every = STEPS / 2;
  o.train.most_gaussians = 4 * GAUSSIANS;
  o.train.frame.reproducible = reproducible;
  return o;
}

/* Each Gaussian four times, in four colours, in warps far apart: all are equally deep. */
static void make_copies(gaussians_host *copies, const gaussians_host *model) {
  enum { COPIES = 4 };
  CHECK(gaussians_allocate(copies, COPIES * model->count, 3, &error), "%s", error.text);
  for (int c = 0; c < COPIES; ++c) {
    size_t n = (size_t)model->count, at = c * n;
    std::copy(model->position.begin(), model->position.end(), &copies->position[3 * at]);
    std::copy(model->scale.begin(), model->scale.end(), &copies->scale[3 * at]);
    std::copy(model->rotation.begin(), model->rotation.end(), &copies->rotation[4 * at]);
    std::copy(model->opacity.begin(), model->opacity.end(), &copies->opacity[at]);
    for (size_t i = 0; i < SH_FLOATS * n; ++i)
      copies->sh[SH_FLOATS * at + i] = model->sh[i] + 0.1f * (float)c;
  }
}

/* What a training leaves behind. */
typedef struct outcome {
  std::string checkpoint;
  int grown; /* in how many steps Gaussians became more */
  std::vector<float> cameras;
} outcome;

static bool same_outcome(const outcome *a, const outcome *b) {
  return a->checkpoint == b->checkpoint && a->cameras == b->cameras;
}

static void step_to(trainer *t, int iteration) {
  while (t->iteration < iteration) trainer_step(t);
}

/* Stops between two densifications and goes on from a checkpoint. */
static void stop_and_go_on(trainer *t, const options *o) {
  const char *path = test_path("checkpoint");
  const scene *data = t->data;
  step_to(t, STEPS / 2 + 2);
  CHECK(checkpoint_write(t, path, &error), "%s", error.text);
  const std::string whole = test_read_file(path);
  trainer_end(t);
  trainer_begin(t, data, &o->train);
  CHECK(checkpoint_read(t, path, &error) && checkpoint_write(t, path, &error), "%s", error.text);
  CHECK(test_read_file(path) == whole, "a checkpoint that is read is written as another");
}

static outcome train(const options *o, const scene *data, const gaussians_host *model,
                     unsigned long long schedule, bool stops) {
  const char *path = test_path("outcome");
  trainer t;
  outcome result;
  set_schedule(schedule);
  trainer_begin(&t, data, &o->train);
  trainer_set_model(&t, model);
  if (stops) stop_and_go_on(&t, o);
  step_to(&t, STEPS);
  CHECK(checkpoint_write(&t, path, &error), "%s", error.text);
  result.checkpoint = test_read_file(path);
  result.grown = 0;
  for (int i = t.first_iteration + 1; i < STEPS; ++i)
    result.grown += t.records[i].gaussians > t.records[i - 1].gaussians;
  result.cameras = trainer_camera_slopes(&t);
  trainer_end(&t);
  return result;
}

/* How many schedules do not give what the first one gives. */
static int count_others(const options *o, int schedules, const scene *data,
                        const gaussians_host *model) {
  outcome first = train(o, data, model, 1, false);
  int others = 0;
  CHECK(first.grown > 0, "the Gaussians have not become more");
  for (int s = 1; s < schedules; ++s) {
    outcome next = train(o, data, model, 1 + s, s == 1);
    others += !same_outcome(&first, &next);
  }
  return others;
}

static void test_reproducible(const scene *data, const gaussians_host *model) {
  options o = test_options(true);
  int others = count_others(&o, SCHEDULES, data, model);
  CHECK(others == 0, "%d of %d schedules give another model", others, (int)SCHEDULES);
}

/* Sums of floats show that schedules differ. A GPU may repeat one. */
static void test_irreproducible(const scene *data, const gaussians_host *model) {
  options o = test_options(false);
  int others = count_others(&o, 2, data, model);
  CHECK(others > 0 || !SIMT_ON_CPU, "two schedules are the same");
}

int main(void) {
  scene data;
  gaussians_host model, copies;
  if (!test_has_device("test_gaussians_reproducible")) return TEST_SKIPPED;
  options o = test_options(true);
  test_folder_make();
  bool made = setup_load(&data, &o, &error) && setup_first_model(&model, &data, &o, &error);
  CHECK(made, "%s", error.text);
  if (made) {
    make_copies(&copies, &model);
    test_reproducible(&data, &copies);
    test_irreproducible(&data, &copies);
  }
  test_folder_remove();
  return test_end("test_gaussians_reproducible");
}
