/* arc study circles: a picture made of translucent circles, painted in order.
   SPDX-License-Identifier: Apache-2.0

   Where to read on: circles.h (what a circle is), render.cu (both passes), lists.cu (boxes). */
#include <math.h>
#include <string.h>

#include "../../bench/common/program_run.h"
#include "../common/workload.h"
#include "circles.h"

enum { SIDE_MOST = 4096 };

static struct {
  int kind, circles, size[2]; /* 0: by default */
  const char *picture;
} settings = {SCENE_FIT, 0, {0, 0}, nullptr};

static struct {
  scene s;
  image target;
  renderer r;
  int iterations;
} state;

static option options[] = {
    {"circles: fits translucent circles, painted in order, to a picture.\n"
     "\nusage: circles [options]\n"},
    {"--picture", OPTION_INPUT, &settings.picture,
     "the picture to fit, PPM or PNG; default: a built-in one"},
    {"--size", OPTION_SIZE, settings.size,
     "shrinks the picture to it; the built-in one has 1024x768, on the CPU warp 96x64", 1,
     SIDE_MOST},
    {"--scene", OPTION_NAME, &settings.kind, "the circles at the start", 0, -1, scene_names},
    {"--circles", OPTION_INT, &settings.circles, "how many circles; default: as the scene", 1,
     1000000},
    {"--scene", OPTION_WITHOUT, nullptr, "--dataset or --experiment"},
    {}};

static bool load_target(error_line *error) {
  image *t = &state.target;
  const int built_in[2] = {DEFAULT_WIDTH, DEFAULT_HEIGHT};
  if (!image_load(t, settings.picture, settings.size, built_in, error)) return false;
  if (t->width <= SIDE_MOST && t->height <= SIDE_MOST) return true;
  return error_set(error, "%d x %d pixels are too many; --size: at most 4096x4096", t->width,
                   t->height);
}

static void forward(int) {
  renderer_clear_sums(&state.r);
  renderer_lists(&state.r);
  renderer_pass(&state.r, PASS_DRAW, 0, nullptr);
}

static bool judge(int, workload_quality *q, error_line *error) {
  forward(0);
  image_error e;
  image_error_add(&e, renderer_read(&state.r), state.target.rgb);
  *q = {image_psnr(e.squares, e.numbers), e.absolute / e.numbers, NAN, NAN};
  return isfinite(e.squares) ||
         error_set(error, "the picture has pixels that are not finite numbers");
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  int kind = settings.kind;
  workload_quality quality;
  while (dataset != nullptr && strcmp(dataset, scene_names[kind])) kind = (kind + 1) % SCENES;
  if (!load_target(error)) return false;
  if (interrupts) return true;
  int circles = settings.circles > 0 ? settings.circles : scene_circles(kind);
  state.s = scene_make(kind, state.target.width, state.target.height, circles, o->seed);
  if (o->experiment != nullptr && kind != SCENE_FIT) o->iterations = 0;
  state.iterations = o->iterations;
  renderer_begin(&state.r, &state.s, &state.target);
  printf("scene      %s: %d circles, %d x %d pixels\n", scene_names[kind], circles, state.s.width,
         state.s.height);
  if (!judge(0, &quality, error)) return false;
  printf("before     PSNR %.3f dB, L1 %.5f\n", quality.train_psnr, quality.train_l1);
  return true;
}

static void reset(void) { renderer_reset(&state.r, &state.s); }

static void gradient(int way, int threshold) {
  renderer_pass(&state.r, way, threshold, workload_counts());
}

/* Steps become ten times shorter as the training goes on. */
static void update(int iteration) {
  renderer_update(&state.r, powf(0.1f, (float)iteration / (float)state.iterations));
}

static workload_sums sums(void) { return {state.r.sums, CIRCLE_ROW * state.s.circles.size()}; }

static bool write(const char *file, error_line *error) {
  forward(0);
  const image picture = {state.s.width, state.s.height, renderer_read(&state.r)};
  return image_write(&picture, file, error);
}

static void end(void) { renderer_end(&state.r); }

int main(int argc, char **argv) {
  const char *const *datasets = scene_names + SCENE_FIT; /* and those after it */
  const workload circles = {
      "circles", options, datasets, ~0u,      nullptr, 0u,   SIMT_ON_CPU ? 10 : 1000,
      begin,     reset,   forward,  gradient, update,  sums, judge,
      write,     end};
  return workload_main(argc, argv, &circles);
}
