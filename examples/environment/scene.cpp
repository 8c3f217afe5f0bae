/* arc example environment: a mesh, what a camera sees of it, and a sky. SPDX-License-Identifier:
   Apache-2.0 */
#include "scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const float PI = 3.14159265f;

static vec3 cross(vec3 a, vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
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
  for (vec3 &p : m->positions) p = vec3_add({0, 0, 0}, 1.0f / fmaxf(radius, 1e-20f), p);
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

/* The corners of an `f` line: v, v/vt, v//vn or v/vt/vn; counted from 1, or back from the last. */
static bool read_face(mesh *m, char *text, int line, const char *file, error_line *error) {
  const long count = (long)m->positions.size();
  std::vector<int> face;
  for (char *word = strtok(text, " \t\r\n"); word != nullptr; word = strtok(nullptr, " \t\r\n")) {
    char *end;
    const long number = strtol(word, &end, 10), index = number < 0 ? count + number : number - 1;
    if (end == word || (*end != '\0' && *end != '/') || index < 0 || index >= count)
      return error_set(error, "'%s', line %d: '%.40s' is no vertex of the %ld before it", file,
                       line, word, count);
    face.push_back((int)index);
  }
  if (face.size() < 3)
    return error_set(error, "'%s', line %d: a face has three corners or more", file, line);
  for (size_t i = 2; i < face.size(); ++i) {
    const int corners[] = {face[0], face[i - 1], face[i]};
    m->corners.insert(m->corners.end(), corners, corners + 3);
  }
  return true;
}

static bool read_line(mesh *m, char *text, int line, const char *file, error_line *error) {
  vec3 p;
  if (!strncmp(text, "f ", 2)) return read_face(m, text + 2, line, file, error);
  if (strncmp(text, "v ", 2) != 0) return true;
  if (sscanf(text + 2, "%f %f %f", &p.x, &p.y, &p.z) != 3 || !isfinite(p.x + p.y + p.z))
    return error_set(error, "'%s', line %d: a vertex is three numbers", file, line);
  m->positions.push_back(p);
  return true;
}

bool mesh_read(mesh *m, const char *file, error_line *error) {
  char text[4096];
  bool right = true;
  FILE *stream = fopen(file, "r");
  *m = {};
  if (stream == nullptr) return error_set(error, "'%s' cannot be read: %s", file, strerror(errno));
  for (int line = 1; right && fgets(text, sizeof text, stream) != nullptr; ++line)
    right = read_line(m, text, line, file, error);
  const bool failed = ferror(stream) != 0;
  fclose(stream);
  if (right && failed) return error_set(error, "'%s' cannot be read", file);
  if (right && m->corners.empty())
    return error_set(error, "'%s' holds no face; it must be a Wavefront OBJ mesh", file);
  if (right) finish(m);
  return right;
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

float scene_roughness(int level, int levels) {
  const int steps = levels > 2 ? levels - 2 : 1;
  return level == levels - 1 ? 1.0f : 0.08f + 0.42f * (float)level / (float)steps;
}

static float level_of(float roughness, int levels) {
  const float last = (float)(levels - 2);
  if (roughness < 0.5f) return (roughness - 0.08f) / 0.42f * last;
  return last + (roughness - 0.5f) / 0.5f;
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
  const float cosine = vec3_dot(n, to_eye);
  const float wave = 0.5f + 0.5f * sinf(9.0f * p.y + 2.0f * sinf(4.0f * p.x + 3.0f * p.z));
  const float roughness = 0.08f + 0.92f * wave * wave;
  surface_pixel s = {n,
                     vec3_unit(vec3_add(vec3_add({0, 0, 0}, 2.0f * cosine, n), -1.0f, to_eye)),
                     0.3f + 0.2f * wave,
                     split_sum_gloss(roughness, fmaxf(cosine, 0.0f)),
                     level_of(roughness, levels),
                     1};
  return s;
}

typedef struct camera {
  vec3 eye, right, up, forward;
} camera;

static camera camera_of(int view, int views) {
  const float height = 0.8f * (1.0f - 2.0f * ((float)view + 0.5f) / (float)views);
  const float turn = 2.39996323f * (float)view, width = sqrtf(1.0f - height * height);
  const vec3 out = {width * cosf(turn), height, width * sinf(turn)};
  const vec3 right = vec3_unit(cross({0, 1, 0}, out));
  return {vec3_add({0, 0, 0}, 3.0f, out), right, cross(out, right),
          vec3_add({0, 0, 0}, -1.0f, out)};
}

/* x, y: in pixels; z: 1 / depth. The whole mesh lies in front of the camera. */
static vec3 project(const camera *c, vec3 p, int side) {
  const vec3 d = vec3_add(p, -1.0f, c->eye);
  const float near = 1.0f / vec3_dot(d, c->forward), scale = 1.35f * (float)side * near;
  return {0.5f * (float)side + scale * vec3_dot(d, c->right),
          0.5f * (float)side - scale * vec3_dot(d, c->up), near};
}

static float edge(vec3 a, vec3 b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

static void draw_triangle(const mesh *m, const int *corner, const camera *c, int side, int levels,
                          std::vector<float> *depth, surface_pixel *pixels) {
  vec3 s[3];
  for (int i = 0; i < 3; ++i) s[i] = project(c, m->positions[(size_t)corner[i]], side);
  const float area = edge(s[0], s[1], s[2].x, s[2].y), last = (float)(side - 1);
  const int left = (int)fmaxf(fminf(s[0].x, fminf(s[1].x, s[2].x)), 0.0f);
  const int right = (int)fminf(fmaxf(s[0].x, fmaxf(s[1].x, s[2].x)), last);
  const int top = (int)fmaxf(fminf(s[0].y, fminf(s[1].y, s[2].y)), 0.0f);
  const int bottom = (int)fminf(fmaxf(s[0].y, fmaxf(s[1].y, s[2].y)), last);
  for (int y = top; y <= bottom && area != 0.0f; ++y)
    for (int x = left; x <= right; ++x) {
      const size_t k = (size_t)y * (size_t)side + (size_t)x;
      float w[3], near = 0.0f;
      vec3 p = {0, 0, 0}, n = {0, 0, 0};
      for (int i = 0; i < 3; ++i)
        w[i] = edge(s[(i + 1) % 3], s[(i + 2) % 3], (float)x + 0.5f, (float)y + 0.5f) / area;
      if (w[0] < 0.0f || w[1] < 0.0f || w[2] < 0.0f) continue;
      for (int i = 0; i < 3; ++i) near += w[i] * s[i].z;
      if (near <= (*depth)[k]) continue;
      for (int i = 0; i < 3; ++i) {
        p = vec3_add(p, w[i] * s[i].z / near, m->positions[(size_t)corner[i]]);
        n = vec3_add(n, w[i] * s[i].z, vec3_unit(m->normals[(size_t)corner[i]]));
      }
      (*depth)[k] = near;
      pixels[k] = shade_point(p, vec3_unit(n), c->eye, levels);
    }
}

void scene_draw(const mesh *m, int view, int views, int side, int levels, surface_pixel *pixels) {
  const camera c = camera_of(view, views);
  std::vector<float> depth((size_t)side * (size_t)side, 0.0f);
  memset(pixels, 0, depth.size() * sizeof *pixels);
  for (size_t t = 0; t < m->corners.size(); t += 3)
    draw_triangle(m, &m->corners[t], &c, side, levels, &depth, pixels);
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
