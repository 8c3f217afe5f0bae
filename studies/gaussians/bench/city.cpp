/* studies/gaussians/bench: a synthetic city to render.
   SPDX-License-Identifier: Apache-2.0

   Square blocks of 100 metres: a house of four facades and a roof, or a park; streets with lanes
   and trees. A hash of a Gaussian's number says what the Gaussian is part of. Every block has the
   same number of Gaussians, whatever the city's size; the area of the part gives the size of its
   Gaussians. Shape, opacity and harmonics are those of a random Gaussian of a trained model. */
#include <math.h>
#include <string.h>

#include "../../../bench/common/random.h"
#include "city.h"

enum { PER_BLOCK = 50000, PART = 1 << 16, NUMBERS = 16 /* a Gaussian's share of the sequence */ };

static const double BLOCK = 100.0, STREET = 20.0; /* metres; the street's width */
static const double HOUSE = 80.0, TREE = 3.0;     /* a house's side, a crown's radius */
static const double WIDTH = 0.9;                  /* a Gaussian's deviation: of its area's side */
static const double TAU = 6.283185307179586, SH_C0 = 0.28209479177387814;

typedef struct city {
  gaussians_host *g;
  const gaussians_host *like;
  int blocks; /* along each side */
  unsigned long long seed;
} city;

/* A place of the city, before its shape is known. */
typedef struct spot {
  double position[3], normal[3], colour[3];
  double area; /* square metres that are its own */
} spot;

/* Uniform in 0..1: number k of Gaussian or block i. */
static double chance(const city *c, long long i, int k) {
  return hashed_random(c->seed, (unsigned long long)i * NUMBERS + (unsigned long long)k);
}

/* The same for all that belongs to a block. */
static double chance_of_block(const city *c, int block, int k) { return chance(c, -1 - block, k); }

static void set(double *v, double x, double y, double z) { v[0] = x, v[1] = y, v[2] = z; }

/* As the sun lights it. */
static void shade(spot *s) {
  static const double SUN[3] = {-0.48, -0.36, 0.8};
  double towards = 0.0;
  for (int k = 0; k < 3; ++k) towards += SUN[k] * s->normal[k];
  for (double &colour : s->colour) colour *= 0.7 + 0.4 * towards;
}

/* Shares of a block's Gaussians. */
static const double GROUND = 0.3, FACADES = 0.45, ROOF = 0.1; /* the rest: trees */

static void on_ground(spot *s, double u, double v) {
  double x = BLOCK * (u - 0.5), y = BLOCK * (v - 0.5),
         off = fmin(BLOCK / 2 - fabs(x), BLOCK / 2 - fabs(y));
  bool is_street = off < STREET / 2, is_walk = is_street && off > 0.7 * STREET / 2;
  bool is_lane = off < 0.5 && fmod(fabs(x) + fabs(y), 12.0) < 6.0;
  set(s->position, x, y, 0.0);
  set(s->normal, 0.0, 0.0, 1.0);
  set(s->colour, 0.4, 0.48, 0.26);
  if (is_street) set(s->colour, 0.3, 0.3, 0.32);
  if (is_walk) set(s->colour, 0.62, 0.6, 0.57);
  if (is_lane) set(s->colour, 0.9, 0.9, 0.85);
  s->area = BLOCK * BLOCK / (GROUND * PER_BLOCK);
}

/* Windows of 3 by 2 metres in a wall of the house's colour. */
static void on_facade(spot *s, double u, double v, double height, const double *wall) {
  int side = (int)(4.0 * u);
  double along = HOUSE * (4.0 * u - side - 0.5), across = HOUSE / 2, z = height * v;
  double sign = side < 2 ? 1.0 : -1.0;
  bool is_window = fmod(along + HOUSE, 6.0) < 3.0 && fmod(z, 4.5) > 1.5 && fmod(z, 4.5) < 3.5;
  if (side % 2 == 0) {
    set(s->position, sign * across, along, z);
    set(s->normal, sign, 0.0, 0.0);
  } else {
    set(s->position, along, sign * across, z);
    set(s->normal, 0.0, sign, 0.0);
  }
  for (int k = 0; k < 3; ++k) s->colour[k] = is_window ? 0.15 + 0.05 * k : wall[k];
  s->area = 4.0 * HOUSE * height / (FACADES * PER_BLOCK);
}

/* Of tiles, slate, gravel or grass, with a parapet. */
static void on_roof(spot *s, double u, double v, double height, double kind) {
  static const double COLOURS[4][3] = {
      {0.62, 0.33, 0.25}, {0.36, 0.38, 0.43}, {0.68, 0.65, 0.6}, {0.45, 0.5, 0.32}};
  const double *c = COLOURS[(int)(4.0 * kind)];
  bool is_edge = fmax(fabs(u - 0.5), fabs(v - 0.5)) > 0.48;
  set(s->position, HOUSE * (u - 0.5), HOUSE * (v - 0.5), height);
  set(s->normal, 0.0, 0.0, 1.0);
  set(s->colour, c[0], c[1], c[2]);
  if (is_edge) set(s->colour, 0.8, 0.78, 0.74);
  s->area = HOUSE * HOUSE / (ROOF * PER_BLOCK);
}

/* In a crown beside the street, or anywhere in a park. */
static void in_tree(const city *c, spot *s, int block, bool is_park, double which, double u,
                    double v, double w) {
  enum { TREES = 40 };
  int tree = (int)(TREES * which);
  double at = BLOCK * (chance_of_block(c, block * TREES + tree, 8) - 0.5);
  double off = is_park ? BLOCK * (chance_of_block(c, block * TREES + tree, 9) - 0.5)
                       : (tree % 2 ? 0.5 : -0.5) * (HOUSE + STREET / 4);
  double turn = TAU * u, up = 2.0 * v - 1.0, flat = sqrt(1.0 - up * up), away = TREE * cbrt(w);
  set(s->normal, flat * cos(turn), flat * sin(turn), up);
  set(s->position, tree % 4 < 2 ? at : off, tree % 4 < 2 ? off : at, 5.0);
  for (int k = 0; k < 3; ++k) s->position[k] += away * s->normal[k];
  set(s->colour, 0.2, 0.24 + 0.16 * w, 0.12);
  s->area = TREES * 2.0 * TAU * TREE * TREE / ((1.0 - GROUND - FACADES - ROOF) * PER_BLOCK);
}

static void find_spot(const city *c, int i, spot *s) {
  int block = (int)(chance(c, i, 0) * c->blocks * c->blocks);
  double what = chance(c, i, 1), u = chance(c, i, 2), v = chance(c, i, 3), wall[3];
  bool is_park = chance_of_block(c, block, 0) < 0.15;
  double tall = chance_of_block(c, block, 1), height = 9.0 + 60.0 * tall * tall * tall;
  for (int k = 0; k < 3; ++k)
    wall[k] = 0.5 + 0.3 * chance_of_block(c, block, 2) + 0.15 * chance_of_block(c, block, 3 + k);
  if (what < GROUND)
    on_ground(s, u, v);
  else if (what < GROUND + FACADES && !is_park)
    on_facade(s, u, v, height, wall);
  else if (what < GROUND + FACADES + ROOF && !is_park)
    on_roof(s, u, v, height, chance_of_block(c, block, 6));
  else
    in_tree(c, s, block, is_park, chance(c, i, 4), u, v, chance(c, i, 5));
  shade(s);
  s->position[0] += BLOCK * (block % c->blocks - 0.5 * (c->blocks - 1));
  s->position[1] += BLOCK * (block / c->blocks - 0.5 * (c->blocks - 1));
}

/* A quaternion that turns axis z to the normal, after a turn about z. */
static void turn_to(const double *normal, double turn, float *q) {
  double half = 0.5 * acos(fmin(fmax(normal[2], -1.0), 1.0)), flat = hypot(normal[0], normal[1]);
  double x = flat > 0.0 ? -normal[1] / flat * sin(half) : sin(half);
  double y = flat > 0.0 ? normal[0] / flat * sin(half) : 0.0;
  double w = cos(half), tw = cos(0.5 * turn), tz = sin(0.5 * turn);
  q[0] = (float)(w * tw), q[1] = (float)(x * tw + y * tz);
  q[2] = (float)(y * tw - x * tz), q[3] = (float)(w * tz);
}

/* The thinnest axis is the last, along the normal; the other two are as wide as the area. */
static void shape(const city *c, int i, int from, const spot *s) {
  const float *scale = &c->like->scale[3 * (size_t)from];
  float low = fminf(fminf(scale[0], scale[1]), scale[2]);
  float high = fmaxf(fmaxf(scale[0], scale[1]), scale[2]);
  const float sorted[3] = {high, scale[0] + scale[1] + scale[2] - low - high, low};
  float shift = (float)(0.5 * log(WIDTH * WIDTH * s->area)) - 0.5f * (sorted[0] + sorted[1]);
  for (int k = 0; k < 3; ++k) c->g->scale[3 * (size_t)i + k] = sorted[k] + shift;
  turn_to(s->normal, TAU * chance(c, i, 6), &c->g->rotation[4 * (size_t)i]);
}

static void make_gaussian(const city *c, int i) {
  spot s;
  gaussians_host *g = c->g;
  int from = (int)(chance(c, i, 7) * c->like->count);
  float *sh = &g->sh[48 * (size_t)i];
  find_spot(c, i, &s);
  shape(c, i, from, &s);
  g->opacity[i] = c->like->opacity[from];
  memcpy(sh, &c->like->sh[48 * (size_t)from], 48 * sizeof *sh);
  for (int k = 0; k < 3; ++k) {
    g->position[3 * (size_t)i + k] = (float)s.position[k];
    sh[k] = (float)((s.colour[k] + 0.1 * (chance(c, i, 8 + k) - 0.5) - 0.5) / SH_C0);
  }
}

static bool make_part(const city *c, int part) {
  for (int i = part * PART; i < c->g->count && i < (part + 1) * PART; ++i) make_gaussian(c, i);
  return true;
}

/* By turns from the air, over the whole city, and along a street. */
static void make_views(const city *c, scene *s) {
  double side = BLOCK * c->blocks;
  for (int i = 0; i < (int)s->views.size(); ++i) {
    double turn = TAU * i / (double)s->views.size(),
           street = BLOCK * (i % (c->blocks + 1)) - side / 2;
    const double air[3] = {0.55 * side * cos(turn), 0.55 * side * sin(turn), 0.3 * side};
    const double eye[3] = {-0.4 * side, street, 2.0}, end[3] = {side, street, 10.0};
    const double middle[3] = {0.0, 0.0, 0.0};
    snprintf(s->views[i].name, sizeof s->views[i].name, "city_%05d", i);
    camera_look(&s->views[i].camera, i % 2 ? eye : air, i % 2 ? end : middle, 1920, 1080);
  }
}

bool make_city(gaussians_host *g, scene *s, const gaussians_host *like, int count, int views,
               unsigned seed, error_line *error) {
  int parts = (count - 1) / PART + 1;
  *s = {};
  if (!gaussians_allocate(g, count, like->sh_degree, error)) return false;
  city c = {g, like, (int)fmax(1.0, round(sqrt((double)count / PER_BLOCK))), seed};
  int made = parallel_for(parts, "loading    city", [&](int i) { return make_part(&c, i); });
  if (made < parts) return error_set(error, "interrupted before the city was made");
  s->views.resize((size_t)views);
  make_views(&c, s);
  return true;
}

bool write_city(const gaussians_host *g, const scene *s, const char *folder, error_line *error) {
  char path[4096];
  output_file file;
  snprintf(path, sizeof path, "%s/model.ply", folder);
  if (!ply_write(g, path, error)) return false;
  snprintf(path, sizeof path, "%s/cameras.txt", folder);
  if (!output_file_open(&file, path, error)) return false;
  fprintf(file.stream, "cameras %zu\n", s->views.size());
  for (const view &v : s->views) {
    const camera *c = &v.camera;
    fprintf(file.stream, "%d %d %.9g %.9g %.9g %.9g", c->width, c->height, c->fx, c->fy, c->cx,
            c->cy);
    for (const auto &row : c->world_to_camera)
      for (float value : row) fprintf(file.stream, " %.9g", value);
    fprintf(file.stream, " %s\n", v.name);
  }
  return output_file_commit(&file, error);
}
