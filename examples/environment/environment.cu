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

enum { LEAST_SIDE = SIMT_ON_CPU ? 4 : 16, MOST_MAPS = 10, MOST_VIEWS = 64, HOLD_OUT = 4 };

/* Kernels alone: a filter of one map. The original's pyramid from 6 x 512 x 512 texels on, but none
   below 64 x 64, which would not fill the chip. */
typedef struct kernel_dataset {
  const char *name;
  float roughness; /* 0: diffuse */
  int side;
} kernel_dataset;
static const kernel_dataset kernel_datasets[] = {
    {"diffuse", 0.0f, 64},       {"specular_08", 0.08f, 512}, {"specular_18", 0.185f, 256},
    {"specular_29", 0.29f, 128}, {"specular_39", 0.395f, 64}, {"specular_50", 0.5f, 64},
    {"specular_100", 1.0f, 64}};
static const char *datasets[] = {"diffuse",     "specular_08", "specular_18",  "specular_29",
                                 "specular_39", "specular_50", "specular_100", "lookup",
                                 "sphere",      nullptr,       nullptr};

static struct {
  const char *mesh_file;
  int dataset, side, size, views; /* dataset: -1: the mesh, or the sphere; side 0: by dataset */
} chosen = {nullptr, -1, 0, SIMT_ON_CPU ? 24 : 256, SIMT_ON_CPU ? 4 : 16};

static struct {
  device_memory memory;
  cube_pyramid form;
  int first_map, end_map; /* whose filters are part of the gradient step */
  prefilter filters[MOST_MAPS];
  shaded_view views[MOST_VIEWS];
  int view_count, current;
  bool trains;
  device_array light, by_light, maps, by_maps, colours, by_colour, mean, square;
} the;

/* ---- kernels of the training -------------------------------------------------------------------- */

/* Adam; light is not negative. */
__global__ void descend(int count, float rate, const float *by_light, float *light, float *mean,
                        float *square) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  mean[i] = 0.9f * mean[i] + 0.1f * by_light[i];
  square[i] = 0.99f * square[i] + 0.01f * by_light[i] * by_light[i];
  light[i] = fmaxf(light[i] - rate * mean[i] / (sqrtf(square[i]) + 1e-12f), 0.0f);
}

/* ---- a step ------------------------------------------------------------------------------------- */

static float *floats(const device_array *array) { return (float *)array->data; }

static size_t map_floats(void) { return 3 * (size_t)pyramid_first(the.form, the.form.levels + 1); }

static float *map_of(const device_array *array, int map) {
  return floats(array) + 3 * (size_t)pyramid_first(the.form, map);
}

/* Of the light that map `map` is filtered from. */
static float *light_of(const device_array *array, int map) {
  return map_of(array, map < the.form.levels ? map : the.form.levels - 1);
}

static void filter_light(void) {
  pyramid_shrink(the.form, floats(&the.light));
  for (int map = the.first_map; map < the.end_map; ++map)
    prefilter_forward(&the.filters[map], light_of(&the.light, map), map_of(&the.maps, map));
}

static bool is_held_out(int view) { return view % HOLD_OUT == HOLD_OUT - 1; }

static void forward(int iteration) {
  device_clear(the.by_light.data, map_floats() * sizeof(float));
  if (!the.trains && the.view_count == 0) return;
  device_clear(the.by_maps.data, map_floats() * sizeof(float));
  if (!the.trains) return;
  const int learnt = the.view_count - the.view_count / HOLD_OUT, nth = iteration % learnt;
  the.current = nth + nth / (HOLD_OUT - 1);
  filter_light();
  shade_view(&the.views[the.current], the.form, floats(&the.maps), floats(&the.colours),
             floats(&the.by_colour));
}

static void gradient(int way, int threshold) {
  if (the.view_count > 0)
    shade_backward(&the.views[the.current], the.form, way, threshold, floats(&the.by_colour),
                   floats(&the.by_maps));
  for (int map = the.first_map; map < the.end_map; ++map)
    prefilter_backward(&the.filters[map], way, threshold, map_of(&the.by_maps, map),
                       light_of(&the.by_light, map));
}

static workload_sums sums(void) {
  const workload_sums all = {floats(the.end_map > 0 ? &the.by_light : &the.by_maps), map_floats()};
  return all;
}

static void update(int iteration) {
  const int count = 3 * cube_count(the.form.side);
  const float rate = 0.03f * sqrtf(1.0f - powf(0.99f, (float)(iteration + 1))) /
                     (1.0f - powf(0.9f, (float)(iteration + 1)));
  pyramid_shrink_backward(the.form, floats(&the.by_light));
  SIMT_LAUNCH(descend, line_blocks((size_t)count), LINE_THREADS, 0, 0, count, rate,
              floats(&the.by_light), floats(&the.light), floats(&the.mean), floats(&the.square));
}

/* ---- begin, end --------------------------------------------------------------------------------- */

static void set_light(bool to_truth) {
  const int side = the.form.side, count = cube_count(side);
  vec3 *light = (vec3 *)host_memory((size_t)count * sizeof *light);
  for (int k = 0; k < count; ++k) {
    const cube_texel t = cube_texel_of(k, side);
    const vec3 grey = {0.5f, 0.5f, 0.5f};
    light[k] = to_truth ? scene_light({t.x, t.y, t.z}) : grey;
  }
  host_to_device(the.light.data, light, (size_t)count * sizeof *light, "a light");
  free(light);
}

static void reset(void) {
  if (!the.trains) return;
  set_light(false);
  device_clear(the.mean.data, the.mean.bytes);
  device_clear(the.square.data, the.square.bytes);
}

static void fill_random(const device_array *array, int seed) {
  const size_t count = array->bytes / sizeof(float);
  float *values = (float *)host_memory(array->bytes);
  for (size_t i = 0; i < count; ++i) values[i] = hashed_random((unsigned long long)seed, i) - 0.5f;
  host_to_device(array->data, values, array->bytes, "random values");
  free(values);
}

static void reserve_all(void) {
  const size_t map = map_floats() * sizeof(float);
  const size_t view = 3 * sizeof(float) * (size_t)chosen.size * (size_t)chosen.size;
  device_array *of_map[] = {&the.light,   &the.by_light, &the.maps,
                            &the.by_maps, &the.mean,     &the.square};
  for (device_array *array : of_map) device_reserve(&the.memory, array, map, "memory for maps");
  device_reserve(&the.memory, &the.colours, view, "memory for a view");
  device_reserve(&the.memory, &the.by_colour, view, "memory for a view");
  device_clear(the.light.data, map);
  device_clear(the.maps.data, map);
}

/* What the pictures show: the mesh under the true light. */
static void draw_views(const mesh *m) {
  const size_t count = (size_t)chosen.size * (size_t)chosen.size;
  std::vector<surface_pixel> pixels(count);
  for (int view = 0; view < the.view_count; ++view) {
    scene_draw(m, view, the.view_count, chosen.size, the.form.levels, pixels.data());
    shaded_view *v = &the.views[view];
    shaded_view_begin(v, pixels.data(), chosen.size, the.form, &the.memory);
    shade_view(v, the.form, floats(&the.maps), floats(&v->target), nullptr);
  }
}

static void begin_kernel(const kernel_dataset *k, int seed) {
  const int side = chosen.side > 0 ? chosen.side : SIMT_ON_CPU ? 8 : k->side;
  const bool diffuse = k->roughness == 0.0f;
  the.form = {side, 1};
  the.first_map = diffuse;
  the.end_map = the.first_map + 1;
  prefilter_begin(&the.filters[the.first_map],
                  diffuse ? cube_filter_diffuse(side) : cube_filter_specular(side, k->roughness),
                  &the.memory);
  reserve_all();
  filter_light();
  fill_random(&the.by_maps, seed);
  printf("filter     %s, 6 x %d x %d texels, lobe down to cosine %.4f\n", k->name, side, side,
         1.0 - 0.5 * the.filters[the.first_map].filter.farthest);
}

static bool begin_scene(bool trains, int seed, error_line *error) {
  mesh m;
  const int side = chosen.side > 0 ? chosen.side : SIMT_ON_CPU ? 16 : 256;
  int levels = 1;
  while (side >> levels >= LEAST_SIDE) ++levels;
  if (levels < 3 || LEAST_SIDE << (levels - 1) != side)
    return error_set(error, "--side is '%d'; for a scene it must be %d, %d, %d, ... or 1024", side,
                     4 * LEAST_SIDE, 8 * LEAST_SIDE, 16 * LEAST_SIDE);
  if (chosen.mesh_file != nullptr && !mesh_read(&m, chosen.mesh_file, error)) return false;
  if (chosen.mesh_file == nullptr) mesh_make_sphere(&m, SIMT_ON_CPU ? 6 : 32);
  the.form = {side, levels};
  the.end_map = levels + 1;
  for (int map = 0; map <= levels; ++map)
    prefilter_begin(&the.filters[map],
                    map == levels ? cube_filter_diffuse(pyramid_side(the.form, map))
                                  : cube_filter_specular(pyramid_side(the.form, map),
                                                         scene_roughness(map, levels)),
                    &the.memory);
  reserve_all();
  set_light(true);
  filter_light();
  the.trains = trains;
  the.view_count = trains ? chosen.views : 1;
  draw_views(&m);
  if (!trains) the.end_map = 0;
  if (!trains) fill_random(&the.by_colour, seed);
  printf("light      6 x %d x %d texels, %d specular levels\n", side, side, levels);
  printf("views      %d of %d x %d pixels, %zu triangles\n", the.view_count, chosen.size,
         chosen.size, m.corners.size() / 3);
  return true;
}

static void end(void) {
  device_array *arrays[] = {&the.light,   &the.by_light,  &the.maps, &the.by_maps,
                            &the.colours, &the.by_colour, &the.mean, &the.square};
  for (device_array *array : arrays) device_release(&the.memory, array);
  for (prefilter &p : the.filters) prefilter_end(&p, &the.memory);
  for (shaded_view &v : the.views) shaded_view_end(&v, &the.memory);
  the = {};
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  the = {};
  if (o->out != nullptr && !image_write_probe(o->out, error)) return false;
  if (dataset == nullptr && chosen.dataset >= 0) dataset = datasets[chosen.dataset];
  for (const kernel_dataset &k : kernel_datasets)
    if (dataset != nullptr && !strcmp(dataset, k.name)) {
      o->iterations = 0;
      begin_kernel(&k, o->seed);
      return true;
    }
  const bool trains = dataset == nullptr || strcmp(dataset, "lookup") != 0;
  if (!trains) o->iterations = 0;
  return begin_scene(trains, o->seed, error);
}

/* ---- what came of it ---------------------------------------------------------------------------- */

static float clamped(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

/* Draws a view with the maps as they are; to be freed. */
static float *read_view(const shaded_view *v, bool target) {
  const size_t bytes = 3 * sizeof(float) * (size_t)v->side * (size_t)v->side;
  float *colours = (float *)host_memory(bytes);
  shade_view(v, the.form, floats(&the.maps), floats(&the.colours), nullptr);
  device_to_host(colours, target ? v->target.data : the.colours.data, bytes, "reading a view");
  return colours;
}

static bool judge(int, workload_quality *quality, error_line *) {
  double squares[2] = {0, 0}, differences[2] = {0, 0}, counts[2] = {0, 0};
  if (!the.trains) return true;
  filter_light();
  for (int view = 0; view < the.view_count; ++view) {
    const shaded_view *v = &the.views[view];
    const bool test = is_held_out(view);
    float *is = read_view(v, false), *wanted = read_view(v, true);
    for (int i = 0; i < 3 * v->side * v->side; ++i) {
      const double d = clamped(is[i]) - clamped(wanted[i]);
      squares[test] += d * d;
      differences[test] += fabs(d);
    }
    counts[test] += 3.0 * v->count; /* elsewhere both are 0 */
    free(is);
    free(wanted);
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
  const int n = chosen.size, side = the.form.side;
  const shaded_view *v = &the.views[HOLD_OUT - 1 < the.view_count ? HOLD_OUT - 1 : 0];
  const size_t bytes = (size_t)cube_count(side) * sizeof(vec3);
  image picture;
  if (!the.trains) return error_set(error, "--out is for a scene");
  if (!image_allocate(&picture, 2 * n, n + n / 2, error)) return false;
  filter_light();
  vec3 *light = (vec3 *)host_memory(bytes);
  device_to_host(light, the.light.data, bytes, "reading the light");
  for (int half = 0; half < 2; ++half) {
    float *colours = read_view(v, half == 1);
    for (int k = 0; k < n * n; ++k)
      put_pixel(&picture, half * n + k % n, k / n, ((vec3 *)colours)[k]);
    for (int k = 0; k < n * (n / 2); ++k) {
      const float turn = 6.2831853f * ((float)(k % n) + 0.5f) / (float)n;
      const float tilt = 3.14159265f * ((float)(k / n) + 0.5f) / (float)(n / 2);
      const vec3 d = {sinf(tilt) * sinf(turn), cosf(tilt), sinf(tilt) * cosf(turn)};
      put_pixel(&picture, half * n + k % n, n + k / n,
                half == 0 ? light[cube_key_of(d, side)] : scene_light(d));
    }
    free(colours);
  }
  free(light);
  const bool written = image_write(&picture, file, error);
  image_free(&picture);
  return written;
}

/* ---- options ------------------------------------------------------------------------------------ */

static bool read_option(const char *name, const char *value, bool *known, error_line *error) {
  *known = value != nullptr;
  if (value == nullptr) return false;
  if (!strcmp(name, "--mesh")) {
    datasets[9] = "mesh";
    return parse_file(name, value, &chosen.mesh_file, error);
  }
  if (!strcmp(name, "--dataset")) return parse_name(name, value, datasets, &chosen.dataset, error);
  if (!strcmp(name, "--side")) return parse_integer(name, value, 1, 1024, &chosen.side, error);
  if (!strcmp(name, "--size")) return parse_integer(name, value, 8, 4096, &chosen.size, error);
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
    "  --size N           of the views, in pixels, 8 to 4096; default: 256, CPU warp: 24\n"
    "  --views N          4 to 64; every fourth is held out; default: 16, CPU warp: 4\n"
    "  --dataset NAME     one of those of --experiment: diffuse, specular_08, _18, _29, _39, _50,\n"
    "                     _100 (one filter's gradient), lookup (that of shading), sphere";

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"gather", "union", "four", nullptr};
  workload w = {};
  w.name = "environment";
  w.help = help;
  w.datasets = datasets;
  w.ways = ~0u;
  w.own_ways = own_ways;
  w.thresholds = 1u << (OWN_FOUR - WAYS);
  w.iterations = SIMT_ON_CPU ? 3 : 200;
  w.read_option = read_option;
  w.begin = begin;
  w.reset = reset;
  w.forward = forward;
  w.gradient = gradient;
  w.update = update;
  w.sums = sums;
  w.judge = judge;
  w.write = write;
  w.end = end;
  return workload_main(argc, argv, &w);
}
