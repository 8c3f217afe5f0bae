/* arc study environment: a mesh, what a camera sees of it, and a sky. SPDX-License-Identifier:
   Apache-2.0 */
#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "../../bench/common/program_run.h"

static vec3 cross(vec3 a, vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static vec3 least(vec3 a, vec3 b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}

static vec3 most(vec3 a, vec3 b) {
  return vec3_scale(-1, least(vec3_scale(-1, a), vec3_scale(-1, b)));
}

cube_texel cube_texel_of(int key, int side) {
  const double h = 1.0 / side;
  const double u = (2 * (key % side) + 1) * h - 1, v = (2 * (key / side % side) + 1) * h - 1;
  const vec3 d = vec3_unit(cube_direction(key / (side * side), (float)u, (float)v));
  double area = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = u + (corner & 1 ? h : -h), y = v + (corner & 2 ? h : -h);
    area += (corner == 0 || corner == 3 ? 1 : -1) * atan2(x * y, sqrt(x * x + y * y + 1));
  }
  return {d.x, d.y, d.z, (float)area};
}

/* ---- meshes --------------------------------------------------------------------------------- */

/* In double precision until the mesh is centred: coordinates may be those of a map. */
struct vertex {
  double x[3];
  int kept; /* its number in the mesh; -1: no face names it */
};

/* Normals are means over the triangles around, by area. */
static void finish(mesh *m, std::vector<vertex> *vertices) {
  double low[3], high[3], radius = 1e-150; /* the square of which is no 0 */
  for (int corner : m->corners) (*vertices)[corner].kept = 0;
  std::fill_n(low, 3, INFINITY), std::fill_n(high, 3, -INFINITY);
  for (const vertex &v : *vertices)
    for (int i = 0; i < 3 && v.kept == 0; ++i)
      low[i] = std::min(low[i], v.x[i]), high[i] = std::max(high[i], v.x[i]);
  for (vertex &v : *vertices) {
    for (int i = 0; i < 3; ++i) v.x[i] -= 0.5 * (low[i] + high[i]);
    if (v.kept == 0) radius = std::max(radius, hypot(hypot(v.x[0], v.x[1]), v.x[2]));
  }
  for (vertex &v : *vertices) {
    if (v.kept < 0) continue;
    v.kept = (int)m->positions.size();
    m->positions.push_back(
        {(float)(v.x[0] / radius), (float)(v.x[1] / radius), (float)(v.x[2] / radius)});
  }
  for (int &corner : m->corners) corner = (*vertices)[corner].kept;
  m->normals.assign(m->positions.size(), {0, 0, 0});
  for (size_t t = 0; t < m->corners.size(); t += 3) {
    const int *c = &m->corners[t];
    const vec3 p = m->positions[c[0]], side = vec3_add(m->positions[c[1]], -1.0f, p);
    const vec3 normal = cross(side, vec3_add(m->positions[c[2]], -1.0f, p));
    for (int i = 0; i < 3; ++i) m->normals[c[i]] = vec3_add(m->normals[c[i]], 1.0f, normal);
  }
}

static const char SPACE[] = " \t\r\n\v\f";

/* A line without its comment, and those that it continues on, by a backslash at its end. False at
   the end of the file. */
static bool next_statement(FILE *stream, std::string *text, int *line) {
  char *part = nullptr;
  size_t room = 0;
  bool goes_on = true;
  const int before = *line;
  text->clear();
  while (goes_on && getline(&part, &room, stream) >= 0) {
    *line += 1;
    *text += std::string(part, strcspn(part, "#"));
    text->erase(text->find_last_not_of(SPACE) + 1);
    goes_on = !text->empty() && text->back() == '\\';
    if (goes_on) text->back() = ' ';
  }
  free(part);
  return *line != before;
}

/* The rest of an `f` statement, corners v, v/vt, v//vn or v/vt/vn; counted from 1, or back from the
   last. Returns what is wrong, or null. */
static const char *read_face(mesh *m, long count) {
  std::vector<int> face;
  while (const char *word = strtok(nullptr, SPACE)) {
    char *end;
    const long number = strtol(word, &end, 10), index = number < 0 ? count + number : number - 1;
    if (end == word || (*end != '\0' && *end != '/') || index < 0 || index >= count)
      return "a corner names no vertex above this line";
    face.push_back((int)index);
  }
  for (size_t i = 2; i < face.size(); ++i)
    m->corners.insert(m->corners.end(), {face[0], face[i - 1], face[i]});
  return face.size() < 3 ? "a face needs three corners or more" : nullptr;
}

/* The rest of a `v` statement: a weight or a colour may follow. */
static const char *read_vertex(std::vector<vertex> *vertices) {
  vertex v = {{0, 0, 0}, -1};
  for (double &x : v.x) {
    char *word = strtok(nullptr, SPACE), *end = word;
    if (word != nullptr) x = strtod(word, &end);
    if (end == word || *end != '\0' || !(fabs(x) <= 1e100)) return "a vertex needs three numbers";
  }
  return vertices->push_back(v), nullptr;
}

bool mesh_read(mesh *m, const char *file, error_line *error) {
  std::vector<vertex> vertices;
  std::string text;
  const char *wrong = nullptr;
  int line = 0;
  FILE *stream = text_open(file);
  *m = {};
  if (stream == nullptr) return error_set(error, "'%s' cannot be read: %s", file, strerror(errno));
  while (wrong == nullptr && !interrupts && next_statement(stream, &text, &line)) {
    const char *word = strtok(&text[0], SPACE);
    if (word == nullptr) continue;
    if (!strcmp(word, "f")) wrong = read_face(m, (long)vertices.size());
    if (!strcmp(word, "v")) wrong = read_vertex(&vertices);
  }
  if (wrong == nullptr && ferror(stream)) wrong = strerror(errno);
  fclose(stream);
  if (wrong != nullptr) return error_set(error, "'%s', line %d: %s", file, line, wrong);
  if (interrupts) return error_set(error, "interrupted before the mesh was read");
  if (m->corners.empty())
    return error_set(error, "'%s' holds no face; it must be a Wavefront OBJ mesh", file);
  finish(m, &vertices);
  return true;
}

void mesh_make_sphere(mesh *m, int parts) {
  const float scale = 0.25f * 3.14159265f / (float)parts;
  *m = {};
  for (int face = 0; face < 6; ++face)
    for (int y = 0; y <= parts; ++y)
      for (int x = 0; x <= parts; ++x) {
        const int at = (int)m->positions.size(), below = at + parts + 1;
        const float u = tanf(scale * (float)(2 * x - parts));
        const float v = tanf(scale * (float)(2 * y - parts));
        m->positions.push_back(vec3_unit(cube_direction(face, u, v)));
        if (x == parts || y == parts) continue;
        m->corners.insert(m->corners.end(), {at, at + 1, below, below, at + 1, below + 1});
      }
  m->normals = m->positions;
}

/* ---- what a camera sees --------------------------------------------------------------------- */

float scene_roughness(int map, int levels) {
  if (map >= levels - 1) return map == levels ? 0.0f : 1.0f;
  return 0.08f + 0.42f * (float)map / fmaxf((float)(levels - 2), 1.0f);
}

/* How much of a white light a surface of reflectance 0.5 mirrors: the second factor of the split
   sum, by the fit of B. Karis, "Physically Based Shading on Mobile", 2014. */
static float split_sum_gloss(float roughness, float cosine) {
  const float x = 1.0f - roughness, y = 0.0425f - 0.0275f * roughness;
  const float a = fminf(x * x, exp2f(-9.28f * cosine)) * x + y;
  const float scale = -1.04f * a + 1.04f - 0.572f * roughness;
  return 0.5f * scale + 1.04f * a - 0.04f + 0.022f * roughness;
}

/* Position and normal of the mesh, the eye: a material that changes over the mesh. */
static surface_pixel shade_point(vec3 p, vec3 n, vec3 eye, int levels) {
  const vec3 to_eye = vec3_unit(vec3_add(eye, -1.0f, p));
  const float cosine = vec3_dot(n, to_eye), last = (float)(levels - 2);
  const float wave = 0.5f + 0.5f * sinf(9.0f * p.y + 2.0f * sinf(4.0f * p.x + 3.0f * p.z));
  const float rough = 0.08f + 0.92f * wave * wave;
  const float level = rough < 0.5f ? (rough - 0.08f) / 0.42f * last : last + (rough - 0.5f) / 0.5f;
  const vec3 reflection = vec3_add(vec3_scale(2.0f * cosine, n), -1.0f, to_eye);
  const float gloss = split_sum_gloss(rough, fmaxf(cosine, 0.0f));
  return {n, vec3_unit(reflection), 0.3f + 0.2f * wave, gloss, level, 0.0f};
}

static float edge(vec3 a, vec3 b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/* screen: the vertices in pixels, z = 1 / depth. */
static void draw_triangle(const mesh *m, const int *corner, const std::vector<vec3> &screen,
                          vec3 eye, int side, int levels, surface_pixel *pixels) {
  const vec3 s[3] = {screen[corner[0]], screen[corner[1]], screen[corner[2]]};
  const vec3 low = least(s[0], least(s[1], s[2])), high = most(s[0], most(s[1], s[2]));
  const float area = edge(s[0], s[1], s[2].x, s[2].y);
  if (area == 0.0f) return;
  for (int y = std::max((int)low.y, 0); y <= std::min((int)high.y, side - 1); ++y)
    for (int x = std::max((int)low.x, 0); x <= std::min((int)high.x, side - 1); ++x) {
      surface_pixel *pixel = &pixels[y * side + x];
      float w[3], near = 0.0f;
      vec3 p = {0, 0, 0}, n = {0, 0, 0};
      for (int i = 0; i < 3; ++i) {
        w[i] = edge(s[(i + 1) % 3], s[(i + 2) % 3], (float)x + 0.5f, (float)y + 0.5f) / area;
        near += w[i] * s[i].z;
        p = vec3_add(p, w[i] * s[i].z, m->positions[corner[i]]);
        n = vec3_add(n, w[i] * s[i].z, vec3_unit(m->normals[corner[i]]));
      }
      if (w[0] < 0.0f || w[1] < 0.0f || w[2] < 0.0f || near <= pixel->near ||
          !(vec3_dot(n, n) > 0.0f)) /* a mesh may fold back on itself */
        continue;
      *pixel = shade_point(vec3_scale(1.0f / near, p), vec3_unit(n), eye, levels);
      pixel->near = near;
    }
}

/* The whole mesh lies in front of the camera. */
int scene_draw(const mesh *m, int view, int views, int side, int levels, surface_pixel *pixels) {
  const float height = 0.8f * (1.0f - 2.0f * ((float)view + 0.5f) / (float)views);
  const float turn = 2.39996323f * (float)view, width = sqrtf(1.0f - height * height);
  const vec3 out = {width * cosf(turn), height, width * sinf(turn)};
  const vec3 right = vec3_unit(cross({0, 1, 0}, out)), up = cross(out, right);
  std::vector<vec3> screen;
  int covered = 0;
  for (vec3 p : m->positions) {
    const float near = 1.0f / (3.0f - vec3_dot(p, out)), scale = 1.35f * (float)side * near;
    const float middle = 0.5f * (float)side;
    screen.push_back({middle + scale * vec3_dot(p, right), middle - scale * vec3_dot(p, up), near});
  }
  std::fill_n(pixels, side * side, surface_pixel{});
  for (size_t t = 0; t < m->corners.size() && !interrupts; t += 3)
    draw_triangle(m, &m->corners[t], screen, vec3_scale(3.0f, out), side, levels, pixels);
  for (int k = 0; k < side * side; ++k) covered += pixels[k].near > 0.0f;
  return covered;
}

static float lamp(vec3 d, vec3 at, float sharpness) {
  return expf(sharpness * (vec3_dot(d, vec3_unit(at)) - 1.0f));
}

vec3 scene_light(vec3 d) {
  const float up = 1.0f / (1.0f + expf(-20.0f * d.y)), down = 1.0f - up;
  const float cloud = 0.5f + 0.5f * sinf(6.0f * d.x + 4.0f * sinf(5.0f * d.z));
  const float tiles = 0.5f + 0.5f * sinf(8.0f * d.x) * sinf(8.0f * d.z);
  const float sun = 6.0f * lamp(d, {0.5f, 0.7f, 0.3f}, 120.0f);
  const float red = 1.5f * lamp(d, {-1.0f, 0.1f, 0.4f}, 40.0f);
  const float green = 1.2f * lamp(d, {0.2f, -0.4f, -1.0f}, 25.0f);
  return {up * (0.25f + 0.35f * cloud) + down * (0.10f + 0.25f * tiles) + sun + red,
          up * (0.40f + 0.25f * cloud) + down * (0.08f + 0.20f * tiles) + 0.9f * sun + green,
          up * 0.75f + down * (0.06f + 0.15f * tiles) + 0.7f * sun + 0.2f * red};
}
