/* arc study environment: learns the light around a mesh from pictures of it.
   SPDX-License-Identifier: Apache-2.0

   Where to read on: prefilter.cu (the kernels that are measured), shade.cu, environment.h. */
#include "environment.h"

#include <string.h>

#include "../common/adam.h"
#include "../common/arrays.h"
#include "../common/image_io.h"
#include "../../bench/common/random.h"
#include "../common/workload.h"

#include "arc_policy.cuh"

enum { LEAST_SIDE = SIMT_ON_CPU ? 4 : 16, VIEWS = SIMT_ON_CPU ? 4 : 16, HOLD_OUT = 4 };
enum { LOOKUP = 4, SPHERE, MESH }; /* those before are kernels alone: one filter's gradient */

static const char *datasets[] = {"diffuse", "specular_08", "specular_29", "specular_50",
                                 "lookup",  "sphere",      "mesh",        nullptr};
/* The sides are the original's, of a light of 6 x 512 x 512 texels, but none is below 64, which
   would leave the chip empty. */
static const float kernel_roughness[] = {0.0f, 0.08f, 0.29f, 0.5f};
static const int sides[2][7] = {{64, 512, 128, 64, 256, 256, 256}, {8, 8, 8, 8, 16, 16, 16}};

static struct {
  const char *mesh_file;
  int side, size; /* of the light, of views; 0: not given */
} chosen = {nullptr, 0, 0};

static struct {
  device_pool arrays;
  cube_pyramid form;
  size_t floats; /* of each of these pyramids: */
  float *light, *by_light, *maps, *by_maps, *mean, *square;
  float *colours, *by_colour; /* of a view */
  cube_filter filters[10];    /* of 9 levels, where the CPU warp has sides from 4 to 1024 */
  int first_map, end_map;     /* whose filters are part of the gradient step */
  shaded_view views[VIEWS];
  int size, view_count, current; /* size: of views */
  bool trains;
} the;

/* ---- a step --------------------------------------------------------------------------------- */

/* The diffuse map is filtered from the last level of light. */
static size_t map_at(int map) { return 3 * (size_t)pyramid_first(the.form, map); }
static size_t light_at(int map) { return map_at(map < the.form.levels ? map : map - 1); }

static void filter_light(void) {
  pyramid_shrink(the.form, the.light, true);
  for (int map = the.first_map; map < the.end_map; ++map)
    filter_forward(&the.filters[map], the.light + light_at(map), the.maps + map_at(map));
}

static void forward(int iteration) {
  const int turn = iteration % (VIEWS - VIEWS / HOLD_OUT);
  device_clear(the.by_light, the.floats * sizeof(float));
  if (the.view_count > 0) device_clear(the.by_maps, the.floats * sizeof(float));
  if (!the.trains) return;
  the.current = turn + turn / (HOLD_OUT - 1);
  filter_light();
  shade_view(&the.views[the.current], the.form, the.maps, the.colours, the.by_colour);
}

static void gradient(int way, int threshold) {
  if (the.view_count > 0)
    shade_backward(&the.views[the.current], the.form, way, threshold, the.by_colour, the.by_maps);
  for (int map = the.first_map; map < the.end_map; ++map)
    filter_backward(&the.filters[map], way, threshold, the.by_maps + map_at(map),
                    the.by_light + light_at(map));
}

static workload_sums sums(void) {
  return {the.end_map > 0 ? the.by_light : the.by_maps, the.floats};
}

/* Light is not negative. */
static void update(int iteration) {
  const size_t count = (size_t)3 * (size_t)cube_count(the.form.side);
  const adam_columns<1> step = {
      adam_decay_at(0.9, 0.99, 1, iteration + 1), 1e-12f, {0.03f}, {0.0f}, {INFINITY}};
  pyramid_shrink(the.form, the.by_light, false);
  SIMT_LAUNCH(adam_rows<1>, line_blocks(count), LINE_THREADS, 0, 0, the.light, the.by_light,
              the.mean, the.square, count, step);
}

/* ---- begin, end ----------------------------------------------------------------------------- */

/* On the device, to the end. */
template <typename type>
static type *take(const std::vector<type> &values) {
  return take_copy(&the.arrays, values, "maps and views");
}

static float *take_floats(size_t count) {
  return take_zeros<float>(&the.arrays, count, "maps and views");
}

static void end(void) { device_give_back(&the.arrays); }

static void reset(void) {
  const std::vector<float> grey(3 * (size_t)cube_count(the.form.side), 0.5f);
  if (!the.trains) return;
  host_to_device(the.light, grey.data(), grey.size() * sizeof(float), "a light");
  device_clear(the.mean, the.floats * sizeof(float));
  device_clear(the.square, the.floats * sizeof(float));
}

static float *take_random(size_t count, int seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = hashed_random((unsigned long long)seed, i) - 0.5f;
  return take(values);
}

static void begin_maps(int kind, int seed) {
  const int side = the.form.side, levels = the.form.levels;
  the.floats = map_at(levels + 1);
  the.first_map = kind == 0;
  the.end_map = kind < LOOKUP ? the.first_map + 1 : levels + 1;
  for (float **map : {&the.by_light, &the.maps, &the.mean, &the.square})
    *map = take_floats(the.floats);
  the.by_maps = take_random(the.floats, seed);
  for (int map = the.first_map; map < the.end_map; ++map) {
    const int map_side = pyramid_side(the.form, map);
    const float roughness = kind < LOOKUP ? kernel_roughness[kind] : scene_roughness(map, levels);
    std::vector<cube_texel> texels;
    for (int k = 0; k < cube_count(map_side) && !interrupts; ++k)
      texels.push_back(cube_texel_of(k, map_side));
    if (interrupts) return;
    the.filters[map] =
        cube_filter_make(map_side, roughness, take(texels), take_floats(texels.size()));
  }
  std::vector<vec3> truth(the.floats / 3);
  for (int k = 0; k < cube_count(side) && !interrupts; ++k) {
    const cube_texel t = cube_texel_of(k, side);
    truth[k] = scene_light({t.x, t.y, t.z});
  }
  the.light = (float *)take(truth);
  filter_light();
  printf("light      6 x %d x %d texels, %d levels\n", side, side, levels);
}

/* What the pictures show: the mesh under the true light. */
static void begin_views(const mesh *m, int seed) {
  const size_t count = (size_t)(the.size * the.size);
  std::vector<surface_pixel> pixels(count);
  the.colours = take_floats(3 * count);
  the.by_colour = take_random(3 * count, seed);
  for (int i = 0; i < the.view_count && !interrupts; ++i) {
    const int covered = scene_draw(m, i, the.view_count, the.size, the.form.levels, pixels.data());
    the.views[i] = {the.size, covered, take(pixels), take_floats(3 * count)};
    shade_view(&the.views[i], the.form, the.maps, the.views[i].target, nullptr);
  }
  printf("views      %d of %d x %d pixels, %zu triangles\n", the.view_count, the.size, the.size,
         m->corners.size() / 3);
}

/* What the chosen dataset would ignore. */
static bool check_dataset(const workload_options *o, int kind, error_line *error) {
  const bool measures = o->compare || o->experiment != nullptr;
  const char *other = kind == MESH ? nullptr : chosen.mesh_file ? "--mesh" : nullptr;
  if (kind < LOOKUP && chosen.size > 0) other = "--size";
  if (o->dataset != nullptr && other != nullptr)
    return error_set(error, "%s is not for --dataset %s; leave it out", other, o->dataset);
  if (kind == MESH && chosen.mesh_file == nullptr)
    return error_set(error, "--dataset mesh needs --mesh FILE");
  return kind > LOOKUP || measures ||
         error_set(error, "--dataset %s learns nothing; it is for --compare-paths or --experiment",
                   o->dataset);
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  const int size = chosen.size > 0 ? chosen.size : SIMT_ON_CPU ? 24 : 256;
  int kind = chosen.mesh_file != nullptr ? MESH : SPHERE, levels = 1;
  mesh m;
  for (int i = 0; dataset != nullptr && datasets[i] != nullptr; ++i)
    if (!strcmp(dataset, datasets[i])) kind = i;
  if (chosen.mesh_file == nullptr) datasets[MESH] = nullptr; /* --experiment leaves it out */
  if (!check_dataset(o, kind, error)) return false;
  const int side = chosen.side > 0 ? chosen.side : sides[SIMT_ON_CPU][kind];
  while (kind >= LOOKUP && side >> levels >= LEAST_SIDE) ++levels;
  if (kind >= LOOKUP && (levels < 3 || LEAST_SIDE << (levels - 1) != side))
    return error_set(error, "--side is '%d'; for a scene it must be %d, %d, %d, ... or 1024", side,
                     4 * LEAST_SIDE, 8 * LEAST_SIDE, 16 * LEAST_SIDE);
  if (kind == MESH && !mesh_read(&m, chosen.mesh_file, error)) return false;
  if (kind == MESH) o->file = chosen.mesh_file;
  if (kind != MESH) mesh_make_sphere(&m, SIMT_ON_CPU ? 6 : 32);
  the = {};
  the.form = {side, levels};
  the.trains = kind > LOOKUP;
  the.size = the.trains ? size : 4 * size;
  the.view_count = the.trains ? (int)VIEWS : kind == LOOKUP;
  begin_maps(kind, o->seed);
  if (the.view_count > 0 && !interrupts) begin_views(&m, o->seed);
  if (kind == LOOKUP) the.end_map = 0;
  if (!the.trains) o->iterations = 0;
  return true;
}

/* ---- what came of it ------------------------------------------------------------------------ */

static float clamped_part(vec3 a, int i) { return fminf(fmaxf(vec3_part(a, i), 0.0f), 1.0f); }

static std::vector<vec3> read_colours(const float *data, int count) {
  return device_read<vec3>(data, (size_t)count, "reading colours");
}

/* A view drawn with the maps as they are, or as it should be. */
static std::vector<vec3> read_view(int view, bool target) {
  shade_view(&the.views[view], the.form, the.maps, the.colours, nullptr);
  return read_colours(target ? the.views[view].target : the.colours, the.size * the.size);
}

static bool judge(int, workload_quality *quality, error_line *) {
  double squares[2] = {0, 0}, differences[2] = {0, 0}, counts[2] = {0, 0}; /* train, test */
  if (!the.trains) return true;
  filter_light();
  for (int view = 0; view < VIEWS && !interrupts; ++view) {
    const bool test = view % HOLD_OUT == HOLD_OUT - 1;
    const std::vector<vec3> is = read_view(view, false), wanted = read_view(view, true);
    for (size_t i = 0; i < 3 * is.size(); ++i) {
      const double d = clamped_part(is[i / 3], i % 3) - clamped_part(wanted[i / 3], i % 3);
      squares[test] += d * d;
      differences[test] += fabs(d);
    }
    counts[test] += 3.0 * the.views[view].covered; /* elsewhere both are 0 */
  }
  *quality = {image_psnr(squares[0], counts[0]), differences[0] / counts[0],
              image_psnr(squares[1], counts[1]), differences[1] / counts[1]};
  return true;
}

/* A held-out view as learnt and as it should be; below, the same of the light, all around. */
static bool write(const char *file, error_line *error) {
  const int n = the.size, side = the.form.side;
  const std::vector<vec3> light = read_colours(the.light, cube_count(side));
  image picture = image_of(2 * n, n + n / 2);
  for (int half = 0; half < 2; ++half) {
    const std::vector<vec3> view = read_view(HOLD_OUT - 1, half == 1);
    for (int k = 0; k < n * (n + n / 2); ++k) {
      const float turn = 6.2831853f * ((float)(k % n) + 0.5f) / (float)n;
      const float tilt = 3.14159265f * ((float)(k / n - n) + 0.5f) / (float)(n / 2);
      const vec3 d = {sinf(tilt) * sinf(turn), cosf(tilt), sinf(tilt) * cosf(turn)};
      const vec3 colour = k < n * n   ? view[(size_t)k]
                          : half == 0 ? light[(size_t)cube_key_of(d, side)]
                                      : scene_light(d);
      for (int i = 0; i < 3; ++i)
        picture.rgb[3 * (k / n * 2 * n + half * n + k % n) + i] =
            powf(clamped_part(colour, i), 1.0f / 2.2f);
    }
  }
  return image_write(&picture, file, error);
}

/* ---- options -------------------------------------------------------------------------------- */

static option options[] = {
    {"environment: learns the light around a mesh from pictures of it; the gradients of cube maps\n"
     "filtered by diffuse and specular lobes are added by atomics.\n"
     "\nusage: environment [options]\n"},
    {"--mesh", OPTION_INPUT, &chosen.mesh_file, "a Wavefront OBJ; default: a sphere"},
    {"--side", OPTION_INT, &chosen.side,
     "texels along a side of the light; for a scene a power of two, at least 64 (CPU warp: 16); "
     "default: 256 (CPU warp: 16)",
     1, 1024},
    {"--size", OPTION_INT, &chosen.size,
     "pixels along a side of a view; views of the dataset lookup are four times as wide; default: "
     "256 (CPU warp: 24)",
     8, 1024},
    {}};

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"gather", "four", nullptr};
  static const workload w = {
      "environment", options, datasets, ~0u,      own_ways, 0u,   SIMT_ON_CPU ? 3 : 200,
      begin,         reset,   forward,  gradient, update,   sums, judge,
      write,         end};
  return workload_main(argc, argv, &w);
}
