/* arc study environment: the filters and shading against a serial version in double precision,
   the whole gradient against its differences, every way against the others, and what meshes are
   read. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <vector>

#include "../../bench/common/test_device.h"
#include "../common/arrays.h"
#include "../common/test_files.h"
#include "../common/workload.h"
#include "environment.h"

#include "arc.cuh"

typedef std::vector<double> doubles;
static const double PI = 3.14159265358979323846;

unsigned long long *workload_counts(void) {
  static device_memory memory;
  static device_array counts;
  device_reserve(&memory, &counts, 66 * sizeof(unsigned long long), "counts");
  return (unsigned long long *)counts.data;
}

static device_pool arrays; /* of the test that runs */

template <typename type>
static type *take(const std::vector<type> &values) {
  return take_copy(&arrays, values, "values");
}

static float *to_device(const doubles &values) {
  return take(std::vector<float>(values.begin(), values.end()));
}

static doubles from_device(const float *data, size_t count) {
  const auto floats = device_read<float>(data, count);
  return doubles(floats.begin(), floats.end());
}

static cube_filter make_filter(int side, float roughness) {
  std::vector<cube_texel> texels;
  for (int k = 0; k < cube_count(side); ++k) texels.push_back(cube_texel_of(k, side));
  return cube_filter_make(side, roughness, take(texels), to_device(doubles(texels.size())));
}

static doubles random_doubles(size_t count, unsigned long long seed) {
  doubles values(count);
  for (double &v : values) v = (float)(test_random(&seed) + 0.1);
  return values;
}

static void check_near(const doubles &is, const doubles &wanted, double bound, const char *what) {
  double largest = 0, worst = 0;
  size_t at = 0;
  for (double w : wanted) largest = fmax(largest, fabs(w));
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!(fabs(is[i] - wanted[i]) <= worst)) worst = fabs(is[i] - wanted[i]), at = i;
  CHECK(worst <= bound * largest, "%s: number %zu is %.9g, must be %.9g; the largest is %.3g", what,
        at, is[at], wanted[at], largest);
}

/* ---- the serial version --------------------------------------------------------------------- */

typedef struct direction {
  double d[3];
} direction;

static direction unit(double x, double y, double z) {
  const double length = sqrt(x * x + y * y + z * z);
  return {{x / length, y / length, z / length}};
}

static double dot(direction a, direction b) {
  return a.d[0] * b.d[0] + a.d[1] * b.d[1] + a.d[2] * b.d[2];
}

static direction direction_at(int face, double u, double v) {
  double d[3];
  d[face / 2] = face % 2 ? -1 : 1;
  d[(face / 2 + 1) % 3] = u;
  d[(face / 2 + 2) % 3] = v;
  return unit(d[0], d[1], d[2]);
}

static direction direction_of(int key, int side) {
  return direction_at(key / (side * side), (2.0 * (key % side) + 1) / side - 1,
                      (2.0 * (key / side % side) + 1) / side - 1);
}

/* By integration: Gauss's two points a direction in each cell of a grid. */
static double area_of(int key, int side) {
  enum { GRID = 8 };
  const double step = 2.0 / side / GRID, point = 0.5 * step / sqrt(3);
  double area = 0;
  for (int i = 0; i < 4 * GRID * GRID; ++i) {
    const int cell = i / 4;
    const double u = -1 + (key % side) * 2.0 / side + (cell % GRID + 0.5) * step;
    const double v = -1 + (key / side % side) * 2.0 / side + (cell / GRID + 0.5) * step;
    const double x = i & 1 ? u + point : u - point, y = i & 2 ? v + point : v - point;
    area += 0.25 * step * step / pow(1 + x * x + y * y, 1.5);
  }
  return area;
}

static double ggx(double alpha2, double cosine) {
  return alpha2 / (PI * pow(cosine * cosine * (alpha2 - 1) + 1, 2));
}

/* weight[o * count + k], rows summing to 1. Returns how near a pair is to the lobe's end. */
static double serial_weights(cube_filter f, float roughness, doubles *weight) {
  const int count = cube_count(f.side);
  double nearest = 1;
  doubles area;
  for (int k = 0; k < count; ++k) area.push_back(area_of(k, f.side));
  weight->assign((size_t)count * count, 0.0);
  for (int o = 0; o < count; ++o) {
    double *row = &(*weight)[(size_t)o * count], sum = 0;
    for (int k = 0; k < count; ++k) {
      const direction n = direction_of(o, f.side), l = direction_of(k, f.side);
      const direction h = unit(n.d[0] + l.d[0], n.d[1] + l.d[1], n.d[2] + l.d[2]);
      const double c = dot(n, l), end = 1 - 0.5 * f.farthest;
      if (f.diffuse) row[k] = fmax(c, 0) * area[(size_t)k];
      if (!f.diffuse) nearest = fmin(nearest, fabs(c - end));
      if (!f.diffuse && c >= end)
        row[k] = c * ggx(pow(roughness, 4), dot(n, h)) * area[(size_t)k] / 4;
      sum += row[k];
    }
    for (int k = 0; k < count; ++k) row[k] /= sum;
  }
  return nearest;
}

static doubles apply(const doubles &weight, const double *in, bool transposed) {
  const int count = (int)sqrt((double)weight.size());
  doubles out(3 * (size_t)count, 0.0);
  for (int o = 0; o < count; ++o)
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < 3; ++i)
        out[3 * (transposed ? k : o) + i] +=
            weight[(size_t)o * count + k] * in[3 * (transposed ? o : k) + i];
  return out;
}

/* Bilinear; outside of a face, the nearest texel to that point of the plane of the face. */
static void serial_lookup(const double *map, int side, vec3 at, double out[3]) {
  const direction d = unit(at.x, at.y, at.z);
  int axis = 0;
  for (int i = 1; i < 3; ++i)
    if (fabs(d.d[i]) > fabs(d.d[axis])) axis = i;
  const int face = 2 * axis + (d.d[axis] < 0);
  const double scale = 1 / fabs(d.d[axis]);
  const double x = (d.d[(axis + 1) % 3] * scale + 1) * side / 2 - 0.5;
  const double y = (d.d[(axis + 2) % 3] * scale + 1) * side / 2 - 0.5;
  out[0] = out[1] = out[2] = 0;
  for (int tap = 0; tap < 4; ++tap) {
    const int tx = (int)floor(x) + tap % 2;
    int ty = (int)floor(y) + tap / 2;
    const double weight = (1 - fabs(x - tx)) * (1 - fabs(y - ty));
    if (tx < 0 || tx >= side) ty = ty < 0 ? 0 : ty < side ? ty : side - 1; /* a corner */
    const direction there =
        direction_at(face, (2.0 * tx + 1) / side - 1, (2.0 * ty + 1) / side - 1);
    double best = -2;
    int key = 0;
    for (int k = 0; k < cube_count(side); ++k) { /* the nearest one; of equals the first */
      const double c = dot(direction_of(k, side), there);
      if (c > best + 1e-9) best = c, key = k;
    }
    for (int i = 0; i < 3; ++i) out[i] += weight * map[3 * key + i];
  }
}

/* Colours of the pixels; maps: levels, then the diffuse one. */
static doubles serial_shade(const std::vector<surface_pixel> &pixels, cube_pyramid form,
                            const std::vector<doubles> &maps) {
  doubles colours(3 * pixels.size(), 0.0);
  for (size_t k = 0; k < pixels.size(); ++k) {
    const surface_pixel *p = &pixels[k];
    const int low = p->level < form.levels - 2 ? (int)p->level : form.levels - 2;
    double diffuse[3], fine[3], coarse[3];
    if (p->near <= 0) continue;
    serial_lookup(maps[(size_t)form.levels].data(), form.side >> (form.levels - 1), p->normal,
                  diffuse);
    serial_lookup(maps[(size_t)low].data(), form.side >> low, p->reflection, fine);
    serial_lookup(maps[(size_t)low + 1].data(), form.side >> (low + 1), p->reflection, coarse);
    for (int i = 0; i < 3; ++i)
      colours[3 * k + i] =
          diffuse[i] * p->albedo + p->gloss * (fine[i] + (p->level - low) * (coarse[i] - fine[i]));
  }
  return colours;
}

/* ---- cubes ---------------------------------------------------------------------------------- */

static void test_cube(int side) {
  double all = 0;
  for (int key = 0; key < cube_count(side); ++key) {
    const cube_texel t = cube_texel_of(key, side);
    const direction d = direction_of(key, side);
    all += t.area;
    CHECK(cube_key_of({t.x, t.y, t.z}, side) == key, "side %d, texel %d", side, key);
    CHECK(fabs(t.x - d.d[0]) + fabs(t.y - d.d[1]) + fabs(t.z - d.d[2]) < 1e-6, "texel %d", key);
    CHECK(fabs(t.area / area_of(key, side) - 1) < 1e-5, "side %d, texel %d: area", side, key);
  }
  CHECK(fabs(all - 4 * PI) < 1e-5, "side %d: areas sum to %.9g", side, all);
}

/* On both sides of an edge, lookups of a random map give the same. */
static void test_seams(int side) {
  unsigned long long seed = (unsigned long long)side;
  const doubles map = random_doubles((size_t)cube_count(side), 5);
  for (int i = 0; i < 300; ++i) {
    const float v = (float)(2 * test_random(&seed) - 1) * (1.0f - 1.0f / (float)side);
    const int face = i % 6;
    double value[2] = {0, 0}, weights = 0;
    for (int beyond = 0; beyond < 2; ++beyond)
      for (int tap = 0; tap < 4; ++tap) {
        const float u = beyond ? 1.00001f : 0.99999f;
        const vec3 d = i % 2 ? cube_direction(face, u, v) : cube_direction(face, v, -u);
        float weight;
        const int key = cube_tap(cube_meet(d, side), side, tap, &weight);
        value[beyond] += weight * map[(size_t)key];
        weights += weight;
      }
    CHECK(fabs(value[0] - value[1]) < 1e-3 && fabs(weights - 2) < 1e-5,
          "side %d, face %d, %.6f along an edge: %.6f and %.6f, weights %.6f", side, face, v,
          value[0], value[1], weights);
  }
}

static void test_forms(void) {
  const cube_pyramid form = {16, 3};
  const int first[] = {0, 1536, 1920, 2016, 2112};
  for (int map = 0; map < 5; ++map)
    CHECK(pyramid_first(form, map) == first[map], "map %d begins at %d", map,
          pyramid_first(form, map));
  const cube_filter f = cube_filter_make(8, 1.0f, nullptr, nullptr);
  CHECK(fabs(acos(1 - 0.5 * f.farthest) - 0.99 * PI / 2) < 1e-3, "a lobe of roughness 1");
}

/* ---- filters -------------------------------------------------------------------------------- */

static const int thresholds[] = {0, 8, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_AUTO};

/* roughness 0: diffuse. Every way adds to sums that are not 0. */
static void test_filter(int side, float roughness) {
  char what[100];
  const cube_filter f = make_filter(side, roughness);
  const size_t floats = 3 * (size_t)cube_count(side);
  const doubles light = random_doubles(floats, 1), slope = random_doubles(floats, 2);
  doubles weight;
  snprintf(what, sizeof what, "side %d, roughness %.3f", side, roughness);
  CHECK(serial_weights(f, roughness, &weight) > 1e-6, "%s: a texel is too near a lobe's end", what);
  float *by_filtered = to_device(slope), *in = to_device(light), *out = to_device(light);
  filter_forward(&f, in, out);
  check_near(from_device(out, floats), apply(weight, light.data(), false), 2e-6, what);
  doubles wanted = apply(weight, slope.data(), true);
  for (size_t i = 0; i < floats; ++i) wanted[i] += light[i];
  for (int way = 0; way <= OWN_FOUR; ++way)
    for (int threshold : thresholds) {
      const bool has_threshold = way == OWN_FOUR || way_has_threshold(way);
      if (!way_runs_here(way) || (threshold != 0 && !has_threshold)) continue;
      if (SIMT_ON_CPU && side > 4 && has_threshold && threshold != thresholds[way % 4]) continue;
      snprintf(what, sizeof what, "side %d, roughness %.3f, way %d, threshold %d", side, roughness,
               way, threshold);
      float *sums = to_device(light);
      filter_backward(&f, way, threshold, by_filtered, sums);
      check_near(from_device(sums, floats), wanted, 4e-6, what);
    }
  device_give_back(&arrays);
}

/* ---- the whole gradient --------------------------------------------------------------------- */

typedef struct serial_scene {
  cube_pyramid form;
  std::vector<doubles> weights; /* of each map's filter */
  std::vector<surface_pixel> pixels;
  int covered;
  doubles target;
} serial_scene;

static doubles serial_colours(const serial_scene *s, doubles light) {
  std::vector<doubles> maps;
  for (int level = 0; level < s->form.levels; ++level) {
    const int half = (s->form.side >> level) / 2;
    doubles coarse(18 * (size_t)half * half, 0.0);
    maps.push_back(apply(s->weights[(size_t)level], light.data(), false));
    if (level == s->form.levels - 1) break;
    for (size_t i = 0; i < light.size(); ++i) {
      const int texel = (int)i / 3, x = texel % (2 * half), y = texel / (2 * half) % (2 * half);
      const int face = texel / (4 * half * half);
      coarse[3 * (size_t)((face * half + y / 2) * half + x / 2) + i % 3] += light[i] / 4;
    }
    light = coarse;
  }
  maps.push_back(apply(s->weights.back(), light.data(), false));
  return serial_shade(s->pixels, s->form, maps);
}

static double serial_loss(const serial_scene *s, const doubles &light) {
  const doubles colours = serial_colours(s, light);
  double loss = 0;
  for (size_t i = 0; i < colours.size(); ++i)
    loss += 0.5 * (colours[i] - s->target[i]) * (colours[i] - s->target[i]);
  return loss / (3 * s->covered);
}

/* The gradient by the finest light through one way. colours: what is drawn. */
static doubles gradient_of(const serial_scene *s, const doubles &light, int way, int threshold,
                           int size, doubles *colours) {
  const size_t floats = 3 * (size_t)pyramid_first(s->form, s->form.levels + 1);
  const size_t view_floats = 3 * s->pixels.size();
  doubles all(floats, 0.0);
  std::vector<cube_filter> filters;
  for (size_t i = 0; i < light.size(); ++i) all[i] = light[i];
  float *in = to_device(all), *maps = to_device(doubles(floats, 0.0));
  float *by_maps = to_device(doubles(floats, 0.0)), *by_light = to_device(doubles(floats, 0.0));
  float *drawn = to_device(doubles(view_floats, 0.0)), *slope = to_device(s->target);
  const shaded_view v = {size, s->covered, take(s->pixels), to_device(s->target)};
  pyramid_shrink(s->form, in, true);
  for (int map = 0; map <= s->form.levels; ++map) {
    const int level = map < s->form.levels ? map : map - 1;
    filters.push_back(
        make_filter(pyramid_side(s->form, map), scene_roughness(map, s->form.levels)));
    filter_forward(&filters.back(), in + 3 * pyramid_first(s->form, level),
                   maps + 3 * pyramid_first(s->form, map));
  }
  shade_view(&v, s->form, maps, drawn, slope);
  shade_backward(&v, s->form, way, threshold, slope, by_maps);
  for (int map = 0; map <= s->form.levels; ++map) {
    const int level = map < s->form.levels ? map : map - 1;
    filter_backward(&filters[(size_t)map], way, threshold,
                    by_maps + 3 * pyramid_first(s->form, map),
                    by_light + 3 * pyramid_first(s->form, level));
  }
  pyramid_shrink(s->form, by_light, false);
  *colours = from_device(drawn, view_floats);
  doubles gradient = from_device(by_light, floats);
  device_give_back(&arrays);
  gradient.resize(light.size());
  return gradient;
}

static void test_gradient(int side, int levels, int size) {
  unsigned long long seed = 9;
  serial_scene s;
  mesh m;
  doubles colours, differences, picked;
  char what[100];
  mesh_make_sphere(&m, 3);
  s.form = {side, levels};
  s.pixels.resize((size_t)size * size);
  s.covered = scene_draw(&m, 1, 5, size, levels, s.pixels.data());
  s.target = random_doubles(3 * s.pixels.size(), 4);
  for (size_t k = 0; k < s.pixels.size(); ++k)
    for (int i = 0; i < 3 && s.pixels[k].near <= 0; ++i) s.target[3 * k + (size_t)i] = 0;
  for (int map = 0; map <= levels; ++map) {
    const int of = pyramid_side(s.form, map);
    const float roughness = scene_roughness(map, levels);
    s.weights.push_back({});
    serial_weights(cube_filter_make(of, roughness, nullptr, nullptr), roughness, &s.weights.back());
  }
  const doubles light = random_doubles(3 * (size_t)cube_count(side), 3);
  std::vector<size_t> which;
  for (int i = 0; i < 12; ++i) {
    const size_t at = (size_t)(test_random(&seed) * (double)light.size());
    doubles more = light, less = light;
    more[at] += 0.01, less[at] -= 0.01; /* the loss is quadratic: no step is too large */
    which.push_back(at);
    differences.push_back((serial_loss(&s, more) - serial_loss(&s, less)) / 0.02);
  }
  for (int way = 0; way <= OWN_FOUR; ++way) {
    if (!way_runs_here(way)) continue;
    snprintf(what, sizeof what, "scene of side %d, %d levels, way %d", side, levels, way);
    const doubles g = gradient_of(&s, light, way, thresholds[way % 4], size, &colours);
    if (way == 0) check_near(colours, serial_colours(&s, light), 1e-5, "colours");
    picked.clear();
    for (size_t at : which) picked.push_back(g[at]);
    check_near(picked, differences, 1e-4, what);
  }
}

/* ---- meshes --------------------------------------------------------------------------------- */

static bool read_text(mesh *m, const char *text) {
  test_write_file(test_path("mesh.obj"), text);
  return mesh_read(m, test_path("mesh.obj"), &error);
}

/* The same mesh, to the last bit of positions, of both texts. */
static void check_same_mesh(const char *what, const std::string &text, const std::string &plain) {
  mesh m, wanted;
  const bool read = read_text(&wanted, plain.c_str()) && read_text(&m, text.c_str());
  CHECK(read, "%s: %s", what, error.text);
  if (!read) return;
  CHECK(m.corners == wanted.corners, "%s: %zu corners, not %zu", what, m.corners.size(),
        wanted.corners.size());
  CHECK(m.positions.size() == wanted.positions.size() &&
            !memcmp(m.positions.data(), wanted.positions.data(), 12 * m.positions.size()),
        "%s: positions", what);
}

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/* What the format allows beside the plainest text. */
static void test_obj_text(void) {
  const std::string vertices = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 1\n";
  const std::string plain = vertices + "f 1 2 3 4\nf 4 3 2\n", spaces(9000, ' ');
  check_same_mesh("tabs", replaced(plain, " ", "\t"), plain);
  check_same_mesh("ahead", "  " + replaced(plain, "\n", " \n\t "), plain);
  check_same_mesh("CR LF", replaced(plain, "\n", "\r\n"), plain);
  check_same_mesh("a mark", "\xef\xbb\xbf" + plain, plain);
  check_same_mesh("long lines", replaced(plain, " ", spaces), plain);
  check_same_mesh("comments", "#\xff\n" + replaced(plain, "\n", "# f 9 \\\n"), plain);
  check_same_mesh("continued", replaced(plain, " ", " \\\n"), plain);
  check_same_mesh("continued, CR LF", replaced(plain, " ", "\\\r\n\\ \r\n\t"), plain);
  check_same_mesh("relative", vertices + "f -4 -3/1 -2//2 -1/1/2\nf -1 3 -3", plain);
  check_same_mesh("a corner relative to the vertices before it",
                  "v 0 0 0\nv 2 0 0\nv 2 2 0\nf -3 -2 -1\nv 0 2 1\nf -2 -1 -4\n",
                  vertices + "f 1 2 3\nf 3 4 1\n");
  check_same_mesh("words",
                  replaced(plain, "v ",
                           "vn 1 0 0\nvt 1 1\nvp 1\ng f 1 2 3\nusemtl v\n"
                           "o v 9 9 9\nl 1 1\nfoo 1 1 1\nv "),
                  plain);
  check_same_mesh("weights and colours",
                  replaced(replaced(plain, "v 2 2 0", "v 2 2 0 1"), "v 2 0 0", "v 2 0 0 1 .5 0"),
                  plain);
  check_same_mesh("far away",
                  "v 5411987 447123 -1e6\nv 5411987.25 447123 -1e6\nv 5411987.25 447123.25 -1e6\n"
                  "v 5411987 447123.25 -999999.875\nf 1 2 3 4\nf 4 3 2\n",
                  plain);
  check_same_mesh("not named", "v 1e30 1e99 -7\n" + vertices + "f -4 -3 -2 -1\nv 99 0 0\nf 5 4 3\n",
                  plain);
}

static void check_unreadable(const char *text, const char *part) {
  mesh m;
  test_refusal(!read_text(&m, text), part);
}

static void test_meshes(void) {
  static const char quad[] =
      "# a quad\nv 0 0 0\r\nv 2 0 0 1\nvt 0 0\nv 2 2 0\nv 0 2 0\nvn 0 0 1\n"
      "f 1/1/1 2//1 3/1 -1\n";
  mesh m;
  const bool read = read_text(&m, quad);
  CHECK(read, "a quad: %s", error.text);
  if (!read) return;
  CHECK(m.positions.size() == 4 && m.corners.size() == 6, "a quad: sizes");
  for (int i = 0; i < 6; ++i) CHECK(m.corners[(size_t)i] == "\0\1\2\0\2\3"[i], "corner %d", i);
  CHECK(fabsf(m.positions[2].x - sqrtf(0.5f)) < 1e-6f && m.normals[0].z > 0, "a quad: scaled");
  test_obj_text();
  check_unreadable("", "holds no face");
  check_unreadable("v 0 0 nan\n", "line 1: a vertex needs three numbers");
  check_unreadable("v 0 0\n", "line 1: a vertex needs three numbers");
  check_unreadable("v 0 0 0,5\n", "line 1: a vertex needs three numbers");
  check_unreadable("v 0 0 0\nv 1 0 0\nf 1 2\n", "line 3: a face needs three corners or more");
  check_unreadable("v 0 0 0\nf 1 1 -2\n", "a corner names no vertex");
  check_unreadable("v 0 0 0\nf 1 1 0\n", "a corner names no vertex");
}

int main(void) {
  test_folder_make();
  test_cube(1);
  test_cube(7);
  test_seams(2);
  test_seams(9);
  test_forms();
  test_meshes();
  const bool can_run = test_has_device("test_environment");
  if (can_run) {
    for (float roughness : {0.0f, 0.08f, 0.55f})
      for (int side : {1, 4, 5}) test_filter(side, roughness);
    if (!SIMT_ON_CPU) test_filter(17, 0.0f);
    test_filter(SIMT_ON_CPU ? 8 : 20, 0.4f);
    test_gradient(4, 2, 13);
    test_gradient(SIMT_ON_CPU ? 8 : 12, 3, 9);
  }
  test_folder_remove();
  return can_run || test_failures ? test_end("test_environment") : TEST_SKIPPED;
}
