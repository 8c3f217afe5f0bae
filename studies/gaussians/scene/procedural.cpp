/* arc study gaussians: a scene with known ground truth.
   SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include "../../../bench/common/program_run.h"
#include "../../../bench/common/random.h"

#include <math.h>

enum { CLUSTERS = 48, POINTS_PER_GAUSSIANS = 4 };

static const double RING_RADIUS = 2.6, RING_HEIGHT = 0.45, RING_SWING = 0.3;
static const double ROOM_RADIUS = 1.1, FLOOR_HEIGHT = -0.5;
static const double TAU = 6.283185307179586;
static const double SH_C0 = 0.28209479177387814; /* the first spherical harmonic, a constant */

/* Where a number of Gaussians gather: in a ball, or flattened to a disc. */
typedef struct cluster {
  double centre[3], radius[3];
  double colour[3];
} cluster;

/* ---- chance --------------------------------------------------------------------------------- */

typedef struct dice {
  unsigned long long seed, rolled;
} dice;

/* Uniform in 0..1. */
static double roll(dice *d) {
  return (double)(splitmix64(d->seed, d->rolled++) >> 11) / 9007199254740992.0;
}

static double roll_between(dice *d, double low, double high) {
  return low + (high - low) * roll(d);
}

/* Normal, of mean 0 and deviation 1. */
static double roll_normal(dice *d) {
  double length = sqrt(-2.0 * log(1.0 - roll(d)));
  return length * cos(TAU * roll(d));
}

/* ---- Gaussians ------------------------------------------------------------------------------ */

static void draw_cluster(dice *d, cluster *c) {
  double angle = TAU * roll(d), away = ROOM_RADIUS * sqrt(roll(d)), size = roll(d);
  int flat = (int)(5.0 * roll(d)); /* three in five are discs across one of the axes */
  c->centre[0] = away * cos(angle);
  c->centre[1] = away * sin(angle);
  c->centre[2] = roll_between(d, FLOOR_HEIGHT, -FLOOR_HEIGHT);
  for (int k = 0; k < 3; ++k) {
    c->radius[k] = (0.03 + 0.15 * size) * (k == flat ? 0.08 : 1.0);
    c->colour[k] = roll_between(d, 0.15, 0.9);
  }
}

/* The floor is chequered, so that its Gaussians differ. */
static void draw_on_floor(dice *d, double *position, double *colour) {
  double angle = TAU * roll(d), away = 1.3 * ROOM_RADIUS * sqrt(roll(d));
  position[0] = away * cos(angle);
  position[1] = away * sin(angle);
  position[2] = FLOOR_HEIGHT + 0.01 * roll_normal(d);
  bool dark = ((int)floor(4.0 * position[0]) + (int)floor(4.0 * position[1])) & 1;
  colour[0] = dark ? 0.25 : 0.8;
  colour[1] = dark ? 0.3 : 0.75;
  colour[2] = dark ? 0.45 : 0.65;
}

/* The colour's constant, then harmonics that weaken with the degree; one Gaussian in three has
   each degree from 1 to 3 as its highest. */
static void draw_harmonics(dice *d, const double *colour, float *sh) {
  int degree = 1 + (int)(3.0 * roll(d));
  for (int channel = 0; channel < 3; ++channel) {
    double base = fmin(fmax(colour[channel] + 0.06 * roll_normal(d), 0.02), 0.98);
    sh[channel] = (float)((base - 0.5) / SH_C0);
  }
  for (int l = 1; l <= degree; ++l)
    for (int i = l * l; i < (l + 1) * (l + 1); ++i)
      for (int channel = 0; channel < 3; ++channel)
        sh[3 * i + channel] = (float)(0.12 / l * roll_normal(d));
}

/* deviation: of the Gaussian, the mean over all of them, in the world. */
static void draw_gaussian(dice *d, const cluster *clusters, double deviation, int at,
                          gaussians_host *g) {
  double position[3], colour[3];
  const cluster *c = &clusters[(int)(CLUSTERS * roll(d))];
  bool on_floor = roll(d) < 0.2;
  for (int k = 0; k < 3; ++k) {
    position[k] = c->centre[k] + c->radius[k] * roll_normal(d);
    colour[k] = c->colour[k];
  }
  if (on_floor) draw_on_floor(d, position, colour);
  double size = deviation * exp(0.4 * roll_normal(d) - 0.08); /* of mean `deviation` */
  for (int k = 0; k < 3; ++k) {
    g->position[3 * (size_t)at + k] = (float)position[k];
    g->scale[3 * (size_t)at + k] = (float)log(size * roll_between(d, 0.5, 1.5));
  }
  double share = roll_between(d, 0.1, 0.97);
  g->opacity[at] = (float)log(share / (1.0 - share));
  for (int k = 0; k < 4; ++k) g->rotation[4 * (size_t)at + k] = (float)roll_normal(d);
  draw_harmonics(d, colour, &g->sh[48 * (size_t)at]);
}

/* ---- cameras and points --------------------------------------------------------------------- */

static double focal_length(int width, int height) {
  static const double HALF_ANGLE = 0.47; /* radians, of a square picture */
  return 0.5 * sqrt((double)width * height) / tan(HALF_ANGLE);
}

void camera_look(camera *c, const double from[3], const double at[3], int width, int height) {
  double forward[3], length = 0.0;
  for (int k = 0; k < 3; ++k) forward[k] = at[k] - from[k];
  for (int k = 0; k < 3; ++k) length += forward[k] * forward[k];
  for (int k = 0; k < 3; ++k) forward[k] /= sqrt(length);
  double level = sqrt(forward[0] * forward[0] + forward[1] * forward[1]);
  const double right[3] = {forward[1] / level, -forward[0] / level, 0.0};
  const double down[3] = {forward[1] * right[2] - forward[2] * right[1],
                          forward[2] * right[0] - forward[0] * right[2],
                          forward[0] * right[1] - forward[1] * right[0]};
  const double *rows[3] = {right, down, forward};
  c->width = width;
  c->height = height;
  c->fx = c->fy = (float)focal_length(width, height);
  c->cx = 0.5f * width;
  c->cy = 0.5f * height;
  for (int row = 0; row < 3; ++row) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      c->world_to_camera[row][k] = (float)rows[row][k];
      sum += rows[row][k] * from[k];
    }
    c->world_to_camera[row][3] = (float)-sum;
    c->position[row] = (float)from[row];
  }
}

/* About which cameras stand. */
typedef struct ring {
  double centre[3], scale, phase;
  int width, height; /* of the pictures */
} ring;

/* Looks from the ring at its centre, level horizon, z up. */
static void place_on_ring(camera *c, const ring *r, double turn, double height_phase) {
  double angle = TAU * turn + r->phase;
  const double from[3] = {RING_RADIUS * cos(angle), RING_RADIUS * sin(angle),
                          RING_HEIGHT + RING_SWING * sin(height_phase)};
  double at[3];
  for (int k = 0; k < 3; ++k) at[k] = r->centre[k] + r->scale * from[k];
  camera_look(c, at, r->centre, r->width, r->height);
}

static void make_views(scene *s, const ring *r) {
  const int views = (int)s->views.size();
  for (int i = 0; i < views; ++i) {
    view *v = &s->views[i];
    snprintf(v->name, sizeof v->name, "view_%05d", i);
    /* Heights go up and down in steps that no every-nth choice of views shares. */
    place_on_ring(&v->camera, r, (double)i / views, 2.4 * i);
    v->picture.width = r->width;
    v->picture.height = r->height;
  }
}

static void make_points(dice *d, scene *s, const gaussians_host *truth, double deviation) {
  for (size_t i = 0; i < s->points.size() && !interrupts; ++i) {
    size_t at = i * POINTS_PER_GAUSSIANS;
    for (int k = 0; k < 3; ++k) {
      float colour = (float)(SH_C0 * truth->sh[48 * at + k] + 0.5);
      s->points[i].position[k] = (float)(truth->position[3 * at + k] + deviation * roll_normal(d));
      s->points[i].rgb[k] = fminf(fmaxf(colour, 0.0f), 1.0f);
    }
  }
}

/* ---- the scene ------------------------------------------------------------------------------ */

/* Of a Gaussian in the world, so that three of it cover the kind's pixels at the room's middle.
   The mean of a projected ellipse's longer axis is 1.21 times that of its three. */
static double deviation_of(scene_kind kind, int width, int height) {
  static const double pixels[] = {0.0, 2.5, 8.0, 30.0};
  return pixels[kind] / 3.0 / 1.21 * RING_RADIUS / focal_length(width, height);
}

static bool check_request(scene_kind kind, int views, int width, int height, error_line *error) {
  static const int MOST_VIEWS = 99999;
  if (kind < SCENE_SMALL || kind > SCENE_LARGE)
    return error_set(error, "a scene of kind %d; it must be 1 (small), 2 (medium) or 3 (large)",
                     (int)kind);
  if (views < 1 || views > MOST_VIEWS)
    return error_set(error, "%d views; there must be 1 to %d", views, MOST_VIEWS);
  if (width < 1 || height < 1 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE)
    return error_set(error, "pictures of %d x %d pixels; each side must be 1 to %d", width, height,
                     IMAGE_MAX_SIDE);
  return true;
}

bool scene_procedural(scene *s, gaussians_host *truth, scene_kind kind, int count, int views,
                      int width, int height, unsigned seed, error_line *error) {
  dice d = {seed, 0};
  cluster clusters[CLUSTERS];
  *s = {};
  if (!check_request(kind, views, width, height, error)) return false;
  if (!gaussians_allocate(truth, count, 3, error)) return false;
  s->points.resize((size_t)(count + POINTS_PER_GAUSSIANS - 1) / POINTS_PER_GAUSSIANS);
  s->views.resize((size_t)views);
  double deviation = deviation_of(kind, width, height);
  for (int i = 0; i < CLUSTERS; ++i) draw_cluster(&d, &clusters[i]);
  for (int i = 0; i < count && !interrupts; ++i) draw_gaussian(&d, clusters, deviation, i, truth);
  const ring r = {{0.0, 0.0, 0.0}, 1.0, TAU * roll(&d), width, height};
  make_views(s, &r);
  make_points(&d, s, truth, deviation);
  scene_split(s, 8);
  scene_measure(s);
  return !interrupts || error_set(error, "interrupted before the scene was made");
}

/* ---- cameras for a model -------------------------------------------------------------------- */

/* The middle of the Gaussians and how far half of them lie from it: medians, since trained models
   have some far away; of at most SAMPLES. */
static void surround(ring *r, const gaussians_host *model) {
  enum { SAMPLES = 20000 };
  static float values[SAMPLES];
  int count = model->count < SAMPLES ? model->count : (int)SAMPLES;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < count; ++i) {
      const float *p = &model->position[3 * (size_t)((long long)i * model->count / count)];
      const double off[3] = {p[0] - r->centre[0], p[1] - r->centre[1], p[2] - r->centre[2]};
      double squares = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
      values[i] = k < 3 ? p[k] : (float)sqrt(squares);
    }
    (k < 3 ? r->centre[k] : r->scale) = median(values, count);
  }
  r->scale = r->scale > 0.0 ? 1.5 * r->scale / ROOM_RADIUS : 1.0;
}

void scene_orbit(scene *s, const gaussians_host *model, int views, int width, int height) {
  ring r = {{0.0, 0.0, 0.0}, 1.0, 0.0, width, height};
  *s = {};
  s->views.resize((size_t)views);
  surround(&r, model);
  make_views(s, &r);
}

void camera_resize(camera *c, int width, int height) {
  float x = (float)width / c->width, y = (float)height / c->height, scale = x < y ? x : y;
  c->cx = 0.5f * width + scale * (c->cx - 0.5f * c->width);
  c->cy = 0.5f * height + scale * (c->cy - 0.5f * c->height);
  c->fx *= scale;
  c->fy *= scale;
  c->width = width;
  c->height = height;
}
