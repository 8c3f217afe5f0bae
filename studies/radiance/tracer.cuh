/* arc study radiance: rays, surfaces and paths. SPDX-License-Identifier: Apache-2.0

   For the diffuse share of a surface, a path takes light from the lamp at each vertex. For the
   other share it takes light only when it arrives at the lamp. */
#pragma once

#include "../common/numbers.cuh"
#include "../../bench/common/random.h"
#include "../common/vectors.cuh"
#include "radiance.h"

#define PI 3.14159265f
#define SHINE_KEEPS 0.95f /* of light that is reflected around the mirror direction */
#define SPREAD_LIMIT 0.01f

typedef struct hit {
  float3 position, normal; /* towards the ray */
  surface skin;
  float distance;
  bool lamp;
} hit;

typedef struct walker {
  float3 origin, direction;
  float3 share;             /* of what is found from here on, that reaches the eye */
  float chance;             /* density of the direction, by solid angle */
  float spread, first_area; /* the root of the spread's area; that of the first vertex */
  bool sees_lamp;           /* it was not asked for the lamp's light at the last vertex */
  unsigned long long seed;
  unsigned draws;
} walker;

DEVICE float draw(walker *w) { return hashed_random(w->seed, w->draws++); }

/* ---- rays ------------------------------------------------------------------------------------ */

/* 1 over each component; huge where that is 0. */
DEVICE float3 inverse_of(float3 d) {
  return make_float3(1.0f / (fabsf(d.x) > 1e-20f ? d.x : 1e-20f),
                     1.0f / (fabsf(d.y) > 1e-20f ? d.y : 1e-20f),
                     1.0f / (fabsf(d.z) > 1e-20f ? d.z : 1e-20f));
}

/* Where the ray enters the box; huge where it does not. */
DEVICE float enter_box(const box *b, float3 origin, float3 inverse) {
  const float3 low = multiply(add_scaled(from(b->low), origin, -1.0f), inverse);
  const float3 high = multiply(add_scaled(from(b->high), origin, -1.0f), inverse);
  const float near = fmaxf(fmaxf(fminf(low.x, high.x), fminf(low.y, high.y)), fminf(low.z, high.z));
  const float far = fminf(fminf(fmaxf(low.x, high.x), fmaxf(low.y, high.y)), fmaxf(low.z, high.z));
  return near < far && near > 0.0f ? near : 1e9f;
}

DEVICE float enter_ball(const ball *b, float3 origin, float3 direction) {
  const float3 offset = add_scaled(origin, from(b->centre), -1.0f);
  const float along = dot(offset, direction);
  const float root = along * along - dot(offset, offset) + b->radius * b->radius;
  const float near = -along - sqrtf(fmaxf(root, 0.0f));
  return root > 0.0f && near > 0.0f ? near : 1e9f;
}

/* Whether a box or a ball is nearer than that. */
DEVICE bool is_blocked(const room *r, float3 origin, float3 direction, float distance) {
  const float3 inverse = inverse_of(direction);
  bool blocked = false;
  for (int i = 0; i < r->box_count; ++i)
    blocked |= enter_box(&r->boxes[i], origin, inverse) < distance;
  for (int i = 0; i < r->ball_count; ++i)
    blocked |= enter_ball(&r->balls[i], origin, direction) < distance;
  return blocked;
}

/* The axis along which v is largest in magnitude, with that sign. */
DEVICE float3 main_axis(float3 v) {
  const float x = fabsf(v.x), y = fabsf(v.y), z = fabsf(v.z);
  if (x > y && x > z) return make_float3(copysignf(1.0f, v.x), 0.0f, 0.0f);
  if (y > z) return make_float3(0.0f, copysignf(1.0f, v.y), 0.0f);
  return make_float3(0.0f, 0.0f, copysignf(1.0f, v.z));
}

/* Where the ray leaves the room. */
DEVICE hit leave_room(const room *r, float3 origin, float3 inverse) {
  const float x = ((inverse.x > 0.0f) - origin.x) * inverse.x;
  const float y = ((inverse.y > 0.0f) - origin.y) * inverse.y;
  const float z = ((inverse.z > 0.0f) - origin.z) * inverse.z;
  const int axis = fminf(y, z) < x ? (z < y ? 2 : 1) : 0;
  const float along = axis == 0 ? inverse.x : axis == 1 ? inverse.y : inverse.z;
  const float sign = along > 0.0f ? -1.0f : 1.0f;
  hit h = {};
  h.distance = axis == 0 ? x : axis == 1 ? y : z;
  h.normal = make_float3(axis == 0 ? sign : 0.0f, axis == 1 ? sign : 0.0f, axis == 2 ? sign : 0.0f);
  h.skin = r->wall[2 * axis + (along > 0.0f)];
  return h;
}

/* What the ray meets first. The room is closed. */
DEVICE hit find_hit(const room *r, float3 origin, float3 direction) {
  const float3 inverse = inverse_of(direction);
  hit h = leave_room(r, origin, inverse);
  int which = -1;
  for (int i = 0; i < r->box_count; ++i) {
    const float distance = enter_box(&r->boxes[i], origin, inverse);
    if (distance < h.distance) h.distance = distance, which = i;
  }
  for (int i = 0; i < r->ball_count; ++i) {
    const float distance = enter_ball(&r->balls[i], origin, direction);
    if (distance < h.distance) h.distance = distance, which = MOST_BOXES + i;
  }
  const float lamp = (r->light[1] - origin.y) * inverse.y;
  const float3 there = add_scaled(origin, direction, lamp);
  h.lamp = direction.y > 0.0f && lamp > 0.0f && lamp < h.distance &&
           fabsf(there.x - r->light[0]) < r->light_half[0] &&
           fabsf(there.z - r->light[2]) < r->light_half[1];
  h.position = add_scaled(origin, direction, h.lamp ? lamp : h.distance);
  if (which >= MOST_BOXES) {
    const ball *b = &r->balls[which - MOST_BOXES];
    h.normal = normalized(add_scaled(h.position, from(b->centre), -1.0f));
    h.skin = b->skin;
  } else if (which >= 0) {
    const box *b = &r->boxes[which];
    const float3 middle = scale(add_scaled(from(b->low), from(b->high), 1.0f), 0.5f);
    const float3 size = add_scaled(from(b->high), from(b->low), -1.0f);
    const float3 offset = add_scaled(h.position, middle, -1.0f);
    h.normal = main_axis(make_float3(offset.x / size.x, offset.y / size.y, offset.z / size.z));
    h.skin = b->skin;
  }
  return h;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* All that the surface reflects of white light. */
DEVICE float3 reflectance_of(const surface *s) {
  const float matt = 1.0f - s->shine, shine = s->shine * SHINE_KEEPS;
  return make_float3(matt * s->albedo[0] + shine, matt * s->albedo[1] + shine,
                     matt * s->albedo[2] + shine);
}

/* The direction at this cosine and angle around an axis (the basis of Duff et al. 2017). */
DEVICE float3 around(float3 axis, float cosine, float angle) {
  const float sign = copysignf(1.0f, axis.z), a = -1.0f / (sign + axis.z), b = axis.x * axis.y * a;
  const float3 x = make_float3(1.0f + sign * axis.x * axis.x * a, sign * b, -sign * axis.x);
  const float3 y = make_float3(b, sign + axis.y * axis.y * a, -axis.y);
  const float sine = sqrtf(fmaxf(0.0f, 1.0f - cosine * cosine));
  return normalized(
      add_scaled(add_scaled(scale(axis, cosine), x, sine * cosf(angle)), y, sine * sinf(angle)));
}

/* The lamp's light that the vertex reflects diffusely, by one point of the lamp. */
DEVICE float3 direct_light(const room *r, walker *w, const hit *h) {
  const float x = r->light[0] + r->light_half[0] * (2.0f * draw(w) - 1.0f);
  const float z = r->light[2] + r->light_half[1] * (2.0f * draw(w) - 1.0f);
  const float3 way = add_scaled(make_float3(x, r->light[1], z), h->position, -1.0f);
  const float square = dot(way, way), distance = sqrtf(square);
  const float3 direction = scale(way, 1.0f / distance);
  const float cosine = dot(direction, h->normal);
  if (cosine <= 0.0f || direction.y <= 0.0f ||
      is_blocked(r, w->origin, direction, distance - 1e-4f))
    return make_float3(0.0f, 0.0f, 0.0f);
  const float area = 4.0f * r->light_half[0] * r->light_half[1];
  const float share = (1.0f - h->skin.shine) * cosine * direction.y * area / (PI * square);
  return scale(multiply(from(h->skin.albedo), from(r->emission)), share);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Through a random point of the pixel. */
DEVICE walker begin_walk(const camera *c, int pixel, unsigned long long seed) {
  walker w = {};
  w.seed = seed;
  const float x = (float)(pixel % c->width) + draw(&w), y = (float)(pixel / c->width) + draw(&w);
  const float3 ahead = add_scaled(add_scaled(from(c->corner), from(c->right), x), from(c->down), y);
  w.origin = from(c->eye);
  w.direction = normalized(ahead);
  w.share = make_float3(1.0f, 1.0f, 1.0f);
  w.sees_lamp = true;
  return w;
}

/* To the next vertex. The spread of the path (Müller et al. 2021, after Bekaert et al. 2003). */
DEVICE hit walk(const room *r, walker *w) {
  const hit h = find_hit(r, w->origin, w->direction);
  const float distance = h.lamp ? 0.0f : h.distance;
  const float cosine = fmaxf(1e-3f, fabsf(dot(h.normal, w->direction)));
  if (w->first_area == 0.0f)
    w->first_area = distance * distance / (4.0f * PI * cosine);
  else
    w->spread += distance * rsqrtf(w->chance * cosine);
  w->origin = add_scaled(h.position, h.normal, 1e-4f);
  return h;
}

DEVICE bool is_spread(const walker *w) {
  return w->spread * w->spread > SPREAD_LIMIT * w->first_area;
}

/* Chooses where the path goes on from a vertex; returns the factor of what it finds. */
DEVICE float3 turn(walker *w, const hit *h) {
  const surface *s = &h->skin;
  const float first = draw(w), angle = 2.0f * PI * draw(w);
  w->sees_lamp = draw(w) < s->shine;
  if (!w->sees_lamp) {
    const float cosine = sqrtf(first);
    w->direction = around(h->normal, cosine, angle);
    w->chance = fmaxf(cosine, 1e-3f) / PI;
    return from(s->albedo);
  }
  const float cosine = powf(first, 1.0f / (s->sharpness + 1.0f));
  const float3 mirror = add_scaled(w->direction, h->normal, -2.0f * dot(w->direction, h->normal));
  w->direction = around(mirror, cosine, angle);
  w->chance = (s->sharpness + 1.0f) / (2.0f * PI) * fmaxf(powf(cosine, s->sharpness), 1e-3f);
  const float below = dot(w->direction, h->normal);
  if (below < 0.0f) w->direction = add_scaled(w->direction, h->normal, -2.0f * below);
  return make_float3(SHINE_KEEPS, SHINE_KEEPS, SHINE_KEEPS);
}

/* What arrives from the vertex beside what it reflects. */
DEVICE float3 emitted(const room *r, const walker *w, const hit *h) {
  if (h->lamp) return scale(from(r->emission), w->sees_lamp ? 1.0f : 0.0f);
  return make_float3(r->glow, r->glow, r->glow);
}

/* Follows the path from a vertex and returns the light that it brings from there on to the eye. If
   it ends in the cache, it does so at *h, for which the light is still to be added; returns true.
   Russian roulette from the fourth vertex on. */
DEVICE bool follow(const room *r, walker *w, hit *h, bool to_cache, float3 *light) {
  for (int vertex = 1; !h->lamp; ++vertex) {
    if (to_cache && vertex > 1 && is_spread(w)) return true;
    *light = add_scaled(*light, multiply(w->share, direct_light(r, w, h)), 1.0f);
    w->share = multiply(w->share, turn(w, h));
    if (vertex > 3) {
      const float stays = fminf(0.95f, fmaxf(w->share.x, fmaxf(w->share.y, w->share.z)));
      if (draw(w) >= stays) return false;
      w->share = scale(w->share, 1.0f / stays);
    }
    *h = walk(r, w);
    *light = add_scaled(*light, multiply(w->share, emitted(r, w, h)), 1.0f);
  }
  return false;
}
