/* arc study radiance: the room and its cameras. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "radiance.h"

static surface matt(float red, float green, float blue) { return {{red, green, blue}, 0.0f, 1.0f}; }

static surface glossy(surface s, float shine, float sharpness) {
  s.shine = shine;
  s.sharpness = sharpness;
  return s;
}

static void add_box(room *r, const float low[3], const float high[3], surface skin) {
  box *b = &r->boxes[r->box_count++];
  memcpy(b->low, low, sizeof b->low);
  memcpy(b->high, high, sizeof b->high);
  b->skin = skin;
}

static void add_ball(room *r, float x, float z, float radius, surface skin) {
  const ball b = {{x, radius, z}, radius, skin};
  r->balls[r->ball_count++] = b;
}

void room_make(room *r, int setting) {
  static const float wall_low[3] = {0.60f, 0.0f, 0.0f}, wall_high[3] = {0.63f, 1.0f, 0.72f};
  static const float shelf_low[3] = {0.0f, 0.30f, 0.0f}, shelf_high[3] = {0.38f, 0.33f, 0.16f};
  static const float cube_low[3] = {0.08f, 0.0f, 0.22f}, cube_high[3] = {0.26f, 0.18f, 0.40f};
  static const float step_low[3] = {0.44f, 0.0f, 0.0f}, step_high[3] = {0.60f, 0.10f, 0.20f};
  const surface white = matt(0.75f, 0.75f, 0.72f), wood = matt(0.55f, 0.36f, 0.2f);
  *r = {};
  for (int i = 0; i < 6; ++i) r->wall[i] = white;
  r->wall[0] = matt(0.65f, 0.12f, 0.1f);
  r->wall[1] = matt(0.2f, 0.35f, 0.65f);
  r->wall[2] = glossy(wood, 0.3f, 200.0f); /* the floor */
  add_box(r, wall_low, wall_high, white);
  add_box(r, shelf_low, shelf_high, wood);
  add_box(r, cube_low, cube_high, matt(0.2f, 0.5f, 0.25f));
  add_box(r, step_low, step_high, white);
  add_ball(r, 0.40f, 0.42f, 0.09f, glossy(matt(0.8f, 0.8f, 0.8f), 0.9f, 2000.0f));
  add_ball(r, 0.24f, 0.56f, 0.06f, glossy(matt(0.75f, 0.55f, 0.1f), 0.5f, 60.0f));
  add_ball(r, 0.50f, 0.66f, 0.05f, matt(0.2f, 0.3f, 0.7f));
  const bool behind = setting == SETTING_INDIRECT;
  r->light[0] = behind ? 0.82f : 0.42f;
  r->light[1] = 0.97f;
  r->light[2] = behind ? 0.60f : 0.45f;
  r->light_half[0] = r->light_half[1] = 0.08f;
  for (float &e : r->emission) e = behind ? 60.0f : 25.0f;
}

void room_move(room *r, int what, float phase) {
  const float along = sinf(6.2831853f * phase);
  float *colour = r->wall[0].albedo;
  if (what == MOVES_BALL) r->balls[1].centre[0] -= 0.12f * along;
  if (what == MOVES_LAMP) r->light[2] += 0.12f * along;
  for (int i = 0; i < 3 && what == MOVES_MATERIAL; ++i)
    colour[i] += along * along * (r->wall[1].albedo[i] - colour[i]);
}

static void cross(const float a[3], const float b[3], float c[3]) {
  for (int i = 0; i < 3; ++i)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void normalize(float v[3]) {
  const float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3; ++i) v[i] /= length;
}

static void camera_look(camera *c, const float eye[3], const float at[3], int width, int height) {
  static const float up[3] = {0.0f, 1.0f, 0.0f};
  const float step = 1.6f / (float)width; /* 77 degrees across */
  float ahead[3], right[3], below[3];
  for (int i = 0; i < 3; ++i) ahead[i] = at[i] - eye[i];
  normalize(ahead);
  cross(ahead, up, right);
  normalize(right);
  cross(ahead, right, below);
  for (int i = 0; i < 3; ++i) {
    c->eye[i] = eye[i];
    c->right[i] = step * right[i];
    c->down[i] = step * below[i];
    c->corner[i] = ahead[i] - 0.5f * ((float)width * c->right[i] + (float)height * c->down[i]);
  }
  c->width = width;
  c->height = height;
}

void camera_make(camera *c, int view, int width, int height) {
  static const float eyes[VIEWS][3] = {{0.40f, 0.50f, 0.97f}, {0.05f, 0.75f, 0.90f}};
  static const float at[VIEWS][3] = {{0.33f, 0.24f, 0.30f}, {0.45f, 0.15f, 0.30f}};
  camera_look(c, eyes[view], at[view], width, height);
}

void camera_around(camera *c, int i, int count, int width, int height) {
  static const float at[3] = {0.33f, 0.18f, 0.35f};
  const float across = ((float)i + 0.5f) / (float)count, up = fmodf((float)i * 0.618034f, 1.0f);
  const float eye[3] = {0.06f + 0.5f * across, 0.2f + 0.6f * up, 0.96f};
  camera_look(c, eye, at, width, height);
}
