/* arc example environment: learns the light around a mesh from pictures of it.
   SPDX-License-Identifier: Apache-2.0

   environment --out learnt.png
   environment --mesh spot.obj --path plain
   environment --dataset specular_29 --compare-paths
   environment --help

   Where to read on: prefilter.cu (the kernels that are measured), shade.cu, cube.h. */
#include <string.h>

#include "../common/image_io.h"
#include "../common/program_run.h"
#include "../common/random.h"
#include "prefilter.h"
#include "shade.h"

enum { LEAST_SIDE = SIMT_ON_CPU ? 4 : 16, MOST_MAPS = 8, MOST_VIEWS = 64, HOLD_OUT = 4 };

/* The first are kernels alone: the gradient of one filter. The sides are the original's, of a
   light of 6 x 512 x 512 texels, but none is below 64, which would leave the chip empty. */
static const char *datasets[] = {"diffuse",     "specular_08",         "specular_18",
                                 "specular_29", "specular_50",         "lookup",
                                 "sphere",      nullptr /* or mesh */, nullptr};
enum { KERNELS = 5 };
static const float kernel_roughness[KERNELS] = {0.0f /* diffuse */, 0.08f, 0.185f, 0.29f, 0.5f};
static const int kernel_side[KERNELS] = {64, 512, 256, 128, 64};

static struct {
  const char *mesh_file;
  int dataset, side, size, views; /* dataset -1: mesh or sphere; side 0: by dataset */
} chosen = {nullptr, -1, 0, SIMT_ON_CPU ? 24 : 256, SIMT_ON_CPU ? 4 : 16};

/* Of a pyramid's texels, but for the last two, which are of a view's pixels. */
enum { LIGHT, BY_LIGHT, MAPS, BY_MAPS, MEAN, SQUARE, COLOURS, BY_COLOUR, ARRAYS };

static struct {
  device_memory memory;
  device_array arrays[ARRAYS];
  cube_pyramid form;
  prefilter filters[MOST_MAPS];
  int first_map, end_map; /* whose filters are part of the gradient step */
  shaded_view views[MOST_VIEWS];
  int size, view_count, current; /* size: of views */
  bool trains;
} the;

/* Adam; light is not negative. */
__global__ void descend(int count, float rate, const float *by_light, float *light, float *mean,
                        float *square) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  mean[i] = 0.9f * mean[i] + 0.1f * by_light[i];
  square[i] = 0.99f * square[i] + 0.01f * by_light[i] * by_light[i];
  light[i] = fmaxf(light[i] - rate * mean[i] / (sqrtf(square[i]) + 1e-12f), 0.0f);
}

/* ---- a step --------------------------------------------------------------------------------- */

/* Map 0 is where an array begins. The diffuse map is filtered from the last level of light. */
static float *at(int array, int map) {
  if (array <= BY_LIGHT && map == the.form.levels) map -= 1;
  return (float *)the.arrays[array].data + 3 * (size_t)pyramid_first(the.form, map);
}

static size_t map_floats(void) { return 3 * (size_t)pyramid_first(the.form, the.form.levels + 1); }

static void filter_light(void) {
  pyramid_shrink(the.form, at(LIGHT, 0));
  for (int map = the.first_map; map < the.end_map; ++map)
    prefilter_forward(&the.filters[map], at(LIGHT, map), at(MAPS, map));
}

static void forward(int iteration) {
  const int learnt = the.view_count - the.view_count / HOLD_OUT;
  device_clear(at(BY_LIGHT, 0), map_floats() * sizeof(float));
  if (the.view_count > 0) device_clear(at(BY_MAPS, 0), map_floats() * sizeof(float));
  if (!the.trains) return;
  the.current = iteration % learnt + iteration % learnt / (HOLD_OUT - 1);
  filter_light();
  shade_view(&the.views[the.current], the.form, at(MAPS, 0), at(COLOURS, 0), at(BY_COLOUR, 0));
}

static void gradient(int way, int threshold) {
  if (the.view_count > 0)
    shade_backward(&the.views[the.current], the.form, way, threshold, at(BY_COLOUR, 0),
                   at(BY_MAPS, 0));
  for (int map = the.first_map; map < the.end_map; ++map)
    prefilter_backward(&the.filters[map], way, threshold, at(BY_MAPS, map), at(BY_LIGHT, map));
}

static workload_sums sums(void) {
  return {at(the.end_map > 0 ? BY_LIGHT : BY_MAPS, 0), map_floats()};
}

static void update(int iteration) {
  const int count = 3 * cube_count(the.form.side);
  const float steps = (float)(iteration + 1);
  const float rate = 0.03f * sqrtf(1.0f - powf(0.99f, steps)) / (1.0f - powf(0.9f, steps));
  pyramid_shrink_backward(the.form, at(BY_LIGHT, 0));
  SIMT_LAUNCH(descend, line_blocks((size_t)count), LINE_THREADS, 0, 0, count, rate, at(BY_LIGHT, 0),
              at(LIGHT, 0), at(MEAN, 0), at(SQUARE, 0));
}

/* ---- begin, end ----------------------------------------------------------------------------- */

static void set_light(bool to_truth) {
  std::vector<vec3> light((size_t)cube_count(the.form.side), {0.5f, 0.5f, 0.5f});
  for (size_t k = 0; k < light.size() && to_truth; ++k) {
    const cube_texel t = cube_texel_of((int)k, the.form.side);
    light[k] = scene_light({t.x, t.y, t.z});
  }
  host_to_device(at(LIGHT, 0), light.data(), light.size() * sizeof(vec3), "a light");
}

static void reset(void) {
  if (!the.trains) return;
  set_light(false);
  device_clear(at(MEAN, 0), map_floats() * sizeof(float));
  device_clear(at(SQUARE, 0), map_floats() * sizeof(float));
}

static void fill_random(int array, int seed) {
  std::vector<float> values(the.arrays[array].bytes / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = hashed_random((unsigned long long)seed, i) - 0.5f;
  host_to_device(at(array, 0), values.data(), the.arrays[array].bytes, "random values");
}

static void begin_arrays(int side, int levels) {
  const size_t pixels = (size_t)the.size * (size_t)the.size;
  the.form = {side, levels};
  for (int i = 0; i < ARRAYS; ++i) {
    const size_t bytes = sizeof(float) * (i < COLOURS ? map_floats() : 3 * pixels);
    device_reserve(&the.memory, &the.arrays[i], bytes, "memory for maps");
    device_clear(the.arrays[i].data, bytes);
  }
}

static void begin_kernel(int kernel, int seed) {
  const int side = chosen.side > 0 ? chosen.side : SIMT_ON_CPU ? 8 : kernel_side[kernel];
  const cube_filter f = kernel == 0 ? cube_filter_diffuse(side)
                                    : cube_filter_specular(side, kernel_roughness[kernel]);
  begin_arrays(side, 1);
  the.first_map = f.diffuse;
  the.end_map = the.first_map + 1;
  prefilter_begin(&the.filters[the.first_map], f, &the.memory);
  filter_light();
  fill_random(BY_MAPS, seed);
  printf("filter     %s, 6 x %d x %d texels, lobe down to cosine %.4f\n", datasets[kernel], side,
         side, 1.0 - 0.5 * f.farthest);
}

/* Filters, and what the pictures show: the mesh under the true light. */
static void begin_views(const mesh *m) {
  std::vector<surface_pixel> pixels((size_t)the.size * (size_t)the.size);
  const int levels = the.form.levels;
  the.end_map = levels + 1;
  for (int map = 0; map <= levels; ++map) {
    const int side = pyramid_side(the.form, map);
    prefilter_begin(&the.filters[map],
                    map == levels ? cube_filter_diffuse(side)
                                  : cube_filter_specular(side, scene_roughness(map, levels)),
                    &the.memory);
  }
  set_light(true);
  filter_light();
  for (int view = 0; view < the.view_count; ++view) {
    shaded_view *v = &the.views[view];
    scene_draw(m, view, the.view_count, the.size, levels, pixels.data());
    shaded_view_begin(v, pixels.data(), the.size, the.form, &the.memory);
    shade_view(v, the.form, at(MAPS, 0), (float *)v->target.data, nullptr);
  }
}

static bool begin_scene(const char *file, error_line *error) {
  const int side = chosen.side > 0 ? chosen.side : SIMT_ON_CPU ? 16 : 256;
  mesh m;
  int levels = 1;
  while (side >> levels >= LEAST_SIDE) ++levels;
  if (levels < 3 || LEAST_SIDE << (levels - 1) != side)
    return error_set(error, "--side is '%d'; for a scene it must be %d, %d, %d, ... or 1024", side,
                     4 * LEAST_SIDE, 8 * LEAST_SIDE, 16 * LEAST_SIDE);
  if (file != nullptr && !mesh_read(&m, file, error)) return false;
  if (file == nullptr) mesh_make_sphere(&m, SIMT_ON_CPU ? 6 : 32);
  begin_arrays(side, levels);
  begin_views(&m);
  printf("light      6 x %d x %d texels, %d specular levels\n", side, side, levels);
  printf("views      %d of %d x %d pixels, %zu triangles\n", the.view_count, the.size, the.size,
         m.corners.size() / 3);
  return true;
}

static void end(void) {
  for (device_array &array : the.arrays) device_release(&the.memory, &array);
  for (prefilter &p : the.filters) prefilter_end(&p, &the.memory);
  for (shaded_view &v : the.views) shaded_view_end(&v, &the.memory);
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  if (dataset == nullptr && chosen.dataset >= 0) dataset = datasets[chosen.dataset];
  const bool is_lookup = dataset != nullptr && !strcmp(dataset, "lookup");
  const bool is_sphere = dataset != nullptr && !strcmp(dataset, "sphere");
  if (o->out != nullptr && !image_write_probe(o->out, error)) return false;
  the = {};
  for (int kernel = 0; kernel < KERNELS; ++kernel)
    if (dataset != nullptr && !strcmp(dataset, datasets[kernel])) {
      o->iterations = 0;
      begin_kernel(kernel, o->seed);
      return true;
    }
  the.trains = !is_lookup;
  the.size = is_lookup ? 4 * chosen.size : chosen.size;
  the.view_count = is_lookup ? 1 : chosen.views;
  if (!begin_scene(is_sphere ? nullptr : chosen.mesh_file, error)) return false;
  reset();
  if (!is_lookup) return true;
  o->iterations = the.end_map = 0;
  fill_random(BY_COLOUR, o->seed);
  return true;
}

/* ---- what came of it ------------------------------------------------------------------------ */

static float clamped(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

/* A view drawn with the maps as they are, or as it should be. */
static std::vector<vec3> read_view(const shaded_view *v, bool target) {
  std::vector<vec3> colours((size_t)v->side * (size_t)v->side);
  shade_view(v, the.form, at(MAPS, 0), at(COLOURS, 0), nullptr);
  device_to_host(colours.data(), target ? v->target.data : at(COLOURS, 0),
                 colours.size() * sizeof(vec3), "reading a view");
  return colours;
}

static bool judge(int, workload_quality *quality, error_line *) {
  double squares[2] = {0, 0}, differences[2] = {0, 0}, counts[2] = {0, 0};
  if (!the.trains) return true;
  filter_light();
  for (int view = 0; view < the.view_count; ++view) {
    const bool test = view % HOLD_OUT == HOLD_OUT - 1;
    const std::vector<vec3> is = read_view(&the.views[view], false);
    const std::vector<vec3> wanted = read_view(&the.views[view], true);
    for (size_t i = 0; i < 3 * is.size(); ++i) {
      const double d =
          clamped(vec3_part(is[i / 3], i % 3)) - clamped(vec3_part(wanted[i / 3], i % 3));
      squares[test] += d * d;
      differences[test] += fabs(d);
    }
    counts[test] += 3.0 * the.views[view].count; /* elsewhere both are 0 */
  }
  *quality = {-10 * log10(squares[0] / counts[0]), differences[0] / counts[0],
              -10 * log10(squares[1] / counts[1]), differences[1] / counts[1]};
  return true;
}

static void put_pixel(image *picture, int x, int y, vec3 colour) {
  float *rgb = picture->rgb + 3 * ((size_t)y * (size_t)picture->width + (size_t)x);
  for (int i = 0; i < 3; ++i) rgb[i] = powf(clamped(vec3_part(colour, i)), 1.0f / 2.2f);
}

/* A held-out view as learnt and as it should be; below, the same of the light, all around. */
static bool write(const char *file, error_line *error) {
  const int n = the.size, side = the.form.side;
  std::vector<vec3> light((size_t)cube_count(side));
  image picture;
  if (!the.trains) return error_set(error, "--out is for a scene");
  if (!image_allocate(&picture, 2 * n, n + n / 2, error)) return false;
  device_to_host(light.data(), at(LIGHT, 0), light.size() * sizeof(vec3), "reading the light");
  for (int half = 0; half < 2; ++half) {
    const std::vector<vec3> colours = read_view(&the.views[HOLD_OUT - 1], half == 1);
    for (int k = 0; k < n * n; ++k)
      put_pixel(&picture, half * n + k % n, k / n, colours[(size_t)k]);
    for (int k = 0; k < n * (n / 2); ++k) {
      const float turn = 6.2831853f * ((float)(k % n) + 0.5f) / (float)n;
      const float tilt = 3.14159265f * ((float)(k / n) + 0.5f) / (float)(n / 2);
      const vec3 d = {sinf(tilt) * sinf(turn), cosf(tilt), sinf(tilt) * cosf(turn)};
      put_pixel(&picture, half * n + k % n, n + k / n,
                half == 0 ? light[(size_t)cube_key_of(d, side)] : scene_light(d));
    }
  }
  const bool written = image_write(&picture, file, error);
  image_free(&picture);
  return written;
}

/* ---- options -------------------------------------------------------------------------------- */

static bool read_option(const char *name, const char *value, bool *known, error_line *error) {
  *known = value != nullptr;
  if (value == nullptr) return false;
  if (!strcmp(name, "--mesh")) {
    datasets[7] = "mesh";
    return parse_file(name, value, &chosen.mesh_file, error);
  }
  if (!strcmp(name, "--dataset")) return parse_name(name, value, datasets, &chosen.dataset, error);
  if (!strcmp(name, "--side")) return parse_integer(name, value, 1, 1024, &chosen.side, error);
  if (!strcmp(name, "--size")) return parse_integer(name, value, 8, 1024, &chosen.size, error);
  if (!strcmp(name, "--views"))
    return parse_integer(name, value, 4, MOST_VIEWS, &chosen.views, error);
  return *known = false;
}

static const char help[] =
    "learns the light around a mesh from pictures of it; the gradients of cube maps\n"
    "filtered by diffuse and specular lobes are added by atomics.\n"
    "\n"
    "usage: environment [options]\n"
    "\n"
    "  --mesh FILE        a Wavefront OBJ; default: a sphere\n"
    "  --side N           texels along a side of the light; default: 256, CPU warp: 16\n"
    "  --size N           of the views, in pixels, 8 to 1024; default: 256, CPU warp: 24\n"
    "  --views N          4 to 64; every fourth is held out; default: 16, CPU warp: 4\n"
    "  --dataset NAME     one of those of --experiment: diffuse, specular_08, specular_18,\n"
    "                     specular_29, specular_50 (a filter's gradient), lookup (that of a view\n"
    "                     four times as wide), sphere";

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"gather", "union", "four", nullptr};
  static const workload w = {"environment",
                             help,
                             datasets,
                             ~0u,
                             own_ways,
                             1u << (OWN_FOUR - WAYS),
                             SIMT_ON_CPU ? 3 : 200,
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
