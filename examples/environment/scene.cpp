/* arc example environment: a mesh, what a camera sees of it, and a sky. SPDX-License-Identifier:
   Apache-2.0 */
#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const float PI = 3.14159265f;

static vec3 cross(vec3 a, vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

cube_texel cube_texel_of(int key, int side) {
  const int face = key / (side * side);
  const double h = 1.0 / side;
  const double u = (2 * (key % side) + 1) * h - 1, v = (2 * (key / side % side) + 1) * h - 1;
  const double scale = 1 / sqrt(1 + u * u + v * v);
  double area = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = u + (corner & 1 ? h : -h), y = v + (corner & 2 ? h : -h);
    area += (corner == 0 || corner == 3 ? 1 : -1) * atan2(x * y, sqrt(x * x + y * y + 1));
  }
  const vec3 d = cube_direction(face, (float)u, (float)v);
  const cube_texel texel = {(float)(d.x * scale), (float)(d.y * scale), (float)(d.z * scale),
                            (float)area};
  return texel;
}

/* ---- meshes --------------------------------------------------------------------------------- */

/* Normals are means over the triangles around, by area. */
static void finish(mesh *m) {
  vec3 low = m->positions[0], high = low;
  float radius = 0.0f;
  for (vec3 p : m->positions) {
    low = {fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z)};
    high = {fmaxf(high.x, p.x), fmaxf(high.y, p.y), fmaxf(high.z, p.z)};
  }
  for (vec3 &p : m->positions) {
    p = vec3_add(p, -0.5f, vec3_add(low, 1.0f, high));
    radius = fmaxf(radius, sqrtf(vec3_dot(p, p)));
  }
  for (vec3 &p : m->positions) p = vec3_scale(1.0f / fmaxf(radius, 1e-20f), p);
  m->normals.assign(m->positions.size(), {0, 0, 0});
  for (size_t t = 0; t < m->corners.size(); t += 3) {
    const int *c = &m->corners[t];
    const vec3 p = m->positions[(size_t)c[0]];
    const vec3 normal = cross(vec3_add(m->positions[(size_t)c[1]], -1.0f, p),
                              vec3_add(m->positions[(size_t)c[2]], -1.0f, p));
    for (int i = 0; i < 3; ++i)
      m->normals[(size_t)c[i]] = vec3_add(m->normals[(size_t)c[i]], 1.0f, normal);
  }
}

/* The corners of an `f` line: v, v/vt, v//vn or v/vt/vn; counted from 1, or back from the last.
   Returns what is wrong, or null. */
static const char *read_face(mesh *m, char *text) {
  const long count = (long)m->positions.size();
  std::vector<int> face;
  for (char *word = strtok(text, " \t\r\n"); word != nullptr; word = strtok(nullptr, " \t\r\n")) {
    char *end;
    const long number = strtol(word, &end, 10), index = number < 0 ? count + number : number - 1;
    if (end == word || (*end != '\0' && *end != '/') || index < 0 || index >= count)
      return "a corner is no vertex before it";
    face.push_back((int)index);
  }
  for (size_t i = 2; i < face.size(); ++i)
    m->corners.insert(m->corners.end(), {face[0], face[i - 1], face[i]});
  return face.size() < 3 ? "a face has three corners or more" : nullptr;
}

static const char *read_vertex(mesh *m, const char *text) {
  vec3 p;
  if (sscanf(text, "%f %f %f", &p.x, &p.y, &p.z) != 3 || !isfinite(p.x + p.y + p.z))
    return "a vertex is three numbers";
  m->positions.push_back(p);
  return nullptr;
}

bool mesh_read(mesh *m, const char *file, error_line *error) {
  char text[4096];
  const char *wrong = nullptr;
  int line = 0;
  FILE *stream = fopen(file, "r");
  *m = {};
  if (stream == nullptr) return error_set(error, "'%s' cannot be read: %s", file, strerror(errno));
  for (; wrong == nullptr && fgets(text, sizeof text, stream) != nullptr; ++line) {
    if (!strncmp(text, "f ", 2)) wrong = read_face(m, text + 2);
    if (!strncmp(text, "v ", 2)) wrong = read_vertex(m, text + 2);
  }
  if (wrong == nullptr && ferror(stream)) wrong = strerror(errno);
  fclose(stream);
  if (wrong != nullptr) return error_set(error, "'%s', line %d: %s", file, line, wrong);
  if (m->corners.empty())
    return error_set(error, "'%s' holds no face; it must be a Wavefront OBJ mesh", file);
  finish(m);
  return true;
}

void mesh_make_sphere(mesh *m, int parts) {
  *m = {};
  for (int face = 0; face < 6; ++face)
    for (int y = 0; y <= parts; ++y)
      for (int x = 0; x <= parts; ++x) {
        const int at = (int)m->positions.size(), below = at + parts + 1;
        const int corners[] = {at, at + 1, below, below, at + 1, below + 1};
        const float scale = 0.25f * PI / (float)parts;
        m->positions.push_back(vec3_unit(cube_direction(face, tanf(scale * (float)(2 * x - parts)),
                                                        tanf(scale * (float)(2 * y - parts)))));
        if (x < parts && y < parts) m->corners.insert(m->corners.end(), corners, corners + 6);
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
  return {n, vec3_unit(reflection), 0.3f + 0.2f * wave, gloss, level, 1};
}

static float edge(vec3 a, vec3 b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/* What is drawn: vertices in pixels with z = 1 / depth, seen from the eye. */
typedef struct drawing {
  const mesh *m;
  vec3 eye;
  int side, levels;
  std::vector<vec3> screen;
  std::vector<float> near; /* each pixel's 1 / depth */
  surface_pixel *pixels;
} drawing;

static void draw_triangle(drawing *d, const int *corner) {
  const vec3 s[3] = {d->screen[(size_t)corner[0]], d->screen[(size_t)corner[1]],
                     d->screen[(size_t)corner[2]]};
  const float area = edge(s[0], s[1], s[2].x, s[2].y), last = (float)(d->side - 1);
  const int left = (int)fmaxf(fminf(s[0].x, fminf(s[1].x, s[2].x)), 0.0f);
  const int right = (int)fminf(fmaxf(s[0].x, fmaxf(s[1].x, s[2].x)), last);
  const int top = (int)fmaxf(fminf(s[0].y, fminf(s[1].y, s[2].y)), 0.0f);
  const int bottom = (int)fminf(fmaxf(s[0].y, fmaxf(s[1].y, s[2].y)), last);
  for (int y = top; y <= bottom && area != 0.0f; ++y)
    for (int x = left; x <= right; ++x) {
      const size_t k = (size_t)(y * d->side + x);
      float w[3], near = 0.0f;
      vec3 p = {0, 0, 0}, n = {0, 0, 0};
      for (int i = 0; i < 3; ++i) {
        w[i] = edge(s[(i + 1) % 3], s[(i + 2) % 3], (float)x + 0.5f, (float)y + 0.5f) / area;
        near += w[i] * s[i].z;
        p = vec3_add(p, w[i] * s[i].z, d->m->positions[(size_t)corner[i]]);
        n = vec3_add(n, w[i] * s[i].z, vec3_unit(d->m->normals[(size_t)corner[i]]));
      }
      if (w[0] < 0.0f || w[1] < 0.0f || w[2] < 0.0f || near <= d->near[k]) continue;
      d->near[k] = near;
      d->pixels[k] = shade_point(vec3_scale(1.0f / near, p), vec3_unit(n), d->eye, d->levels);
    }
}

/* The whole mesh lies in front of the camera. */
int scene_draw(const mesh *m, int view, int views, int side, int levels, surface_pixel *pixels) {
  const float height = 0.8f * (1.0f - 2.0f * ((float)view + 0.5f) / (float)views);
  const float turn = 2.39996323f * (float)view, width = sqrtf(1.0f - height * height);
  const vec3 out = {width * cosf(turn), height, width * sinf(turn)};
  const vec3 right = vec3_unit(cross({0, 1, 0}, out)), up = cross(out, right);
  drawing d = {m, vec3_scale(3.0f, out), side, levels, {}, std::vector<float>(), pixels};
  int covered = 0;
  for (vec3 p : m->positions) {
    const float near = 1.0f / (3.0f - vec3_dot(p, out)), scale = 1.35f * (float)side * near;
    d.screen.push_back({0.5f * (float)side + scale * vec3_dot(p, right),
                        0.5f * (float)side - scale * vec3_dot(p, up), near});
  }
  d.near.assign((size_t)(side * side), 0.0f);
  memset(pixels, 0, d.near.size() * sizeof *pixels);
  for (size_t t = 0; t < m->corners.size(); t += 3) draw_triangle(&d, &m->corners[t]);
  for (float near : d.near) covered += near > 0.0f;
  return covered;
}

/* ---- the sky -------------------------------------------------------------------------------- */

static float lamp(vec3 d, vec3 at, float sharpness) {
  return expf(sharpness * (vec3_dot(d, vec3_unit(at)) - 1.0f));
}

vec3 scene_light(vec3 direction) {
  const vec3 d = vec3_unit(direction);
  const float up = 1.0f / (1.0f + expf(-20.0f * d.y)),
              cloud = 0.5f + 0.5f * sinf(6.0f * d.x + 4.0f * sinf(5.0f * d.z));
  const float tiles = 0.5f + 0.5f * sinf(8.0f * d.x) * sinf(8.0f * d.z);
  const float sun = 6.0f * lamp(d, {0.5f, 0.7f, 0.3f}, 120.0f);
  const float red = 1.5f * lamp(d, {-1.0f, 0.1f, 0.4f}, 40.0f);
  const float green = 1.2f * lamp(d, {0.2f, -0.4f, -1.0f}, 25.0f);
  return {up * (0.25f + 0.35f * cloud) + (1.0f - up) * (0.10f + 0.25f * tiles) + sun + red,
          up * (0.40f + 0.25f * cloud) + (1.0f - up) * (0.08f + 0.20f * tiles) + 0.9f * sun + green,
          up * 0.75f + (1.0f - up) * (0.06f + 0.15f * tiles) + 0.7f * sun + 0.2f * red};
}
