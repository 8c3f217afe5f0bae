/* arc example spheres: spheres learnt from pictures of them. SPDX-License-Identifier: Apache-2.0

   spheres --scene large --compare-paths
   spheres --iterations 600 --out learnt.png
   spheres --help

   Where to read on: render.h (what is drawn), gradient.cu (the kernel with the atomics). */
#include <math.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "../common/image_io.h"
#include "../common/tiles.cuh"
#include "render.h"

enum { SMALL, LARGE, SCENES };
static const char *const scene_names[] = {"small", "large", nullptr};
static const int scene_spheres[SCENES] = {SIMT_ON_CPU ? 200 : 10000, SIMT_ON_CPU ? 800 : 250000};
static const char *const layout_names[] = {"spheres", "row", nullptr};

static int scene_name = SMALL, spheres, views = SIMT_ON_CPU ? 3 : 12;
static int width = SIMT_ON_CPU ? 48 : 1024, height = SIMT_ON_CPU ? 40 : 1024;
static int camera_layout = CAMERA_BY_SPHERE;

static scene the_scene;
static renderer the_renderer;
static std::vector<float> first_rows; /* where learning starts */
static device_array targets;          /* of all views, one after the other */
static int drawn_view;

static bool read_option(const char *name, const char *value, bool *known, error_line *error) {
  *known = value != nullptr;
  if (value == nullptr) return false;
  if (!strcmp(name, "--scene")) return parse_name(name, value, scene_names, &scene_name, error);
  if (!strcmp(name, "--camera"))
    return parse_name(name, value, layout_names, &camera_layout, error);
  if (!strcmp(name, "--size")) return parse_size(value, &width, &height, error);
  if (!strcmp(name, "--spheres")) return parse_integer(name, value, 1, 4000000, &spheres, error);
  if (!strcmp(name, "--views")) return parse_integer(name, value, 1, 100, &views, error);
  return *known = false;
}

static const float *target_of(int view) {
  return (const float *)targets.data + (size_t)view * (size_t)picture_floats(&the_renderer);
}

/* The picture of the view, as planes. */
static std::vector<float> draw(int view) {
  std::vector<float> planes((size_t)picture_floats(&the_renderer));
  renderer_draw(&the_renderer, &the_scene.cameras[view]);
  device_to_host(planes.data(), the_renderer.colour.data, planes.size() * sizeof(float),
                 "a picture");
  return planes;
}

static void draw_targets(void) {
  const size_t bytes = (size_t)picture_floats(&the_renderer) * sizeof(float);
  device_reserve(&the_renderer.memory, &targets, ((size_t)views + 1) * bytes, "pictures");
  renderer_set(&the_renderer, the_scene.rows);
  for (int v = 0; v <= views; ++v) {
    renderer_draw(&the_renderer, &the_scene.cameras[v]);
    device_check(
        cudaMemcpy((void *)target_of(v), the_renderer.colour.data, bytes, cudaMemcpyDeviceToDevice),
        "pictures");
  }
}

static void reset(void) { renderer_set(&the_renderer, first_rows.data()); }

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  int name = scene_name;
  if (o->out != nullptr && !image_write_probe(o->out, error)) return false;
  if (o->out != nullptr && 2 * width > IMAGE_MAX_SIDE)
    return error_set(error, "--out holds two pictures side by side: --size is at most %d wide",
                     IMAGE_MAX_SIDE / 2);
  for (int i = 0; dataset != nullptr && i < SCENES; ++i)
    if (!strcmp(dataset, scene_names[i])) name = i;
  scene_make(&the_scene, spheres > 0 ? spheres : scene_spheres[name], views, width, height,
             o->seed);
  first_rows.resize((size_t)the_scene.spheres * SPHERE_FLOATS);
  scene_disturb(&the_scene, o->seed, first_rows.data());
  renderer_begin(&the_renderer, the_scene.spheres, width, height);
  draw_targets();
  reset();
  printf("scene      %d spheres of mean radius %.4g, %d views and one to test, %d x %d pixels\n",
         the_scene.spheres, the_scene.radius, views, width, height);
  printf("gradient   %d floats and a count a sphere and pixel%s\n",
         camera_layout == CAMERA_ROW ? (int)SPHERE_FLOATS : (int)ROW_FLOATS,
         camera_layout == CAMERA_ROW ? ", 12 floats of the camera a pixel" : "");
  return true;
}

static void forward(int iteration) {
  const int view = iteration % views;
  renderer_draw(&the_renderer, &the_scene.cameras[view]);
  renderer_clear_sums(&the_renderer);
  drawn_view = view;
}

static void gradient(int way, int threshold) {
  renderer_gradient(&the_renderer, target_of(drawn_view), way, threshold, camera_layout,
                    workload_counts());
}

static void update(int iteration) { renderer_step(&the_renderer, iteration, the_scene.radius); }

static workload_sums sums(void) {
  const workload_sums all = {(const float *)the_renderer.sums.data,
                             ((size_t)the_scene.spheres + 1) * ROW_FLOATS};
  return all;
}

typedef struct differences {
  double square, absolute; /* sums over a picture */
} differences;

static differences compare(int view) {
  const std::vector<float> drawn = draw(view);
  std::vector<float> wanted(drawn.size());
  differences d = {0, 0};
  device_to_host(wanted.data(), target_of(view), wanted.size() * sizeof(float), "a picture");
  for (size_t i = 0; i < drawn.size(); ++i) {
    const double difference = (double)drawn[i] - wanted[i];
    d.square += difference * difference;
    d.absolute += fabs(difference);
  }
  return d;
}

static double psnr(double mean_square) { return 10 * log10(1 / fmax(mean_square, 1e-12)); }

static bool judge(int, workload_quality *quality, error_line *error) {
  const double values = picture_floats(&the_renderer);
  differences train = {0, 0};
  for (int v = 0; v < views; ++v) {
    const differences d = compare(v);
    train.square += d.square;
    train.absolute += d.absolute;
  }
  const differences test = compare(views);
  quality->train_psnr = psnr(train.square / (views * values));
  quality->train_l1 = train.absolute / (views * values);
  quality->test_psnr = psnr(test.square / values);
  quality->test_l1 = test.absolute / values;
  return (train.square >= 0 && test.square >= 0) || error_set(error, "a picture holds no numbers");
}

/* Into the columns from `left` on. */
static void paste(image *picture, int left, const std::vector<float> &planes) {
  const size_t plane = planes.size() / 3;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (size_t k = 0; k < 3; ++k)
        picture->rgb[3 * ((size_t)y * (size_t)picture->width + (size_t)(left + x)) + k] =
            planes[k * plane + (size_t)y * (size_t)width + (size_t)x];
}

static bool write(const char *file, error_line *error) {
  const std::vector<float> drawn = draw(views);
  std::vector<float> wanted(drawn.size());
  image both;
  device_to_host(wanted.data(), target_of(views), wanted.size() * sizeof(float), "a picture");
  if (!image_allocate(&both, 2 * width, height, error)) return false;
  paste(&both, 0, drawn);
  paste(&both, width, wanted);
  const bool written = image_write(&both, file, error);
  image_free(&both);
  return written;
}

static void end(void) {
  device_release(&the_renderer.memory, &targets);
  renderer_end(&the_renderer);
  scene_free(&the_scene);
}

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"divergent", "walk", nullptr};
  const workload w = {
      "spheres",
      "learns spheres from pictures of them, through a differentiable renderer that\n"
      "blends the 5 closest spheres of a pixel (Pulsar's).\n"
      "\n"
      "usage: spheres [options]\n"
      "\n"
      "  --scene NAME       small or large; default: small\n"
      "  --spheres N        of the scene, 1 to 4000000; default: 10000 and 250000, on the CPU\n"
      "                     warp 200 and 800\n"
      "  --size WxH         of the pictures; default: 1024x1024, on the CPU warp 48x40\n"
      "  --views N          to learn from, 1 to 100; default: 12, on the CPU warp 3\n"
      "  --camera NAME      where the camera's gradient goes. spheres: a part to each sphere's\n"
      "                     row; row: to a row of its own; default: spheres",
      scene_names,
      1u << WAY_SERIALIZED | 1u << WAY_BUTTERFLY | 1u << WAY_TRANSPOSED | 1u << WAY_TREE |
          1u << WAY_AUTO | 1u << WAY_CUB | 1u << WAY_CG,
      own_ways,
      3u,
      SIMT_ON_CPU ? 6 : 600,
      read_option,
      begin,
      reset,
      forward,
      gradient,
      update,
      sums,
      judge,
      write,
      end};
  return workload_main(argc, argv, &w);
}
