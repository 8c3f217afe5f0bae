/* arc study hashgrid: what is learnt, and where samples of it lie. SPDX-License-Identifier:
   Apache-2.0 */
#include "trainer.h"

#include "../../bench/common/random.h"
#include "../common/numbers.cuh"

DEVICE float random_of(const sample_draw *d, int item, int which) {
  return hashed_random(d->seed, (unsigned long long)item * 8ull + (unsigned long long)which);
}

/* A ray's random numbers are those of samples that are not. */
DEVICE void ray_point(const sample_draw *d, int i, float p[3]) {
  const int ray = d->samples + i / RAY_SAMPLES;
  const float along = ((float)(i % RAY_SAMPLES) + random_of(d, i, 0)) / (float)RAY_SAMPLES;
  for (int a = 0; a < 3; ++a) {
    const float begin = random_of(d, ray, a), end = random_of(d, ray, 3 + a);
    p[a] = begin + along * (end - begin);
  }
}

DEVICE void draw_point(const scene *s, const sample_draw *d, int i, float p[3]) {
  const int pixel = d->first + i;
  if (d->order == ORDER_RAYS) {
    ray_point(d, i, p);
  } else if (d->order == ORDER_RANDOM) {
    for (int a = 0; a < 3; ++a) p[a] = random_of(d, i, a);
  } else {
    p[0] = ((float)(pixel % s->width) + 0.5f) / (float)s->width;
    p[1] = fminf(((float)(pixel / s->width) + 0.5f) / (float)s->height, 1.0f);
    p[2] = 0.5f;
  }
}

DEVICE float picture_at(const scene *s, const float p[3], int channel) {
  const int column = min((int)(p[0] * (float)s->width), s->width - 1);
  const int row = min((int)(p[1] * (float)s->height), s->height - 1);
  return s->rgb[((size_t)row * s->width + column) * 3 + channel];
}

DEVICE float distance_at(const float p[3]) {
  const float x = 2.0f * p[0] - 1.0f, y = 2.0f * p[1] - 1.0f, z = 2.0f * p[2] - 1.0f;
  const float ring = sqrtf(x * x + y * y) - 0.6f;
  const float to_ring = sqrtf(ring * ring + z * z) - 0.2f;
  const float a = fabsf(x) - 0.25f, b = fabsf(y) - 0.15f, c = fabsf(z) - 0.5f;
  const float u = fmaxf(a, 0.0f), v = fmaxf(b, 0.0f), w = fmaxf(c, 0.0f);
  const float to_box = sqrtf(u * u + v * v + w * w) + fminf(fmaxf(a, fmaxf(b, c)), 0.0f);
  return fminf(to_ring, to_box);
}

__global__ void __launch_bounds__(LINE_THREADS)
    draw(scene s, sample_draw d, float *positions, float *targets) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float p[3];
  if (i >= d.samples) return;
  draw_point(&s, &d, i, p);
  for (int a = 0; a < s.axes; ++a) positions[(size_t)a * d.samples + i] = p[a];
  for (int o = 0; o < s.outputs; ++o)
    targets[(size_t)o * d.samples + i] = s.rgb ? picture_at(&s, p, o) : distance_at(p);
}

void scene_draw(const scene *s, const sample_draw *d, float *positions, float *targets) {
  SIMT_LAUNCH(draw, line_blocks((size_t)d->samples), LINE_THREADS, 0, 0, *s, *d, positions,
              targets);
}
