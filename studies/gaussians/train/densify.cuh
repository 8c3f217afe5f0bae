/* arc study gaussians: Gaussians that are cloned, split, pruned; opacities that are reset.
   SPDX-License-Identifier: Apache-2.0

   These are the field's usual rules. If the loss has a large gradient by a Gaussian's centre, on
   average over the views that saw the Gaussian, the model lacks detail there. Then a small Gaussian
   is cloned, and a large one is replaced by two smaller ones, sampled from it. Transparent
   Gaussians and, later, huge ones are removed. */
#pragma once

#include "../../../bench/common/random.h"
#include "../render/footprint.cuh"
#include "train.h"

#define SPLIT_SHRINK 1.6f
#define LEAST_OPACITY 0.005f
#define RESET_OPACITY 0.01f

typedef struct densify_rules {
  float pull;          /* from here on it is cloned or split; infinite: neither */
  float small_scale;   /* up to here it is cloned, else split */
  float largest_scale; /* beyond it is pruned */
  unsigned long long seed;
} densify_rules;

/* How many there are afterwards. */
DEVICE int fate_count(int f) { return f == FATE_PRUNE ? 0 : f == FATE_KEEP ? 1 : 2; }

/* One thread per Gaussian. */
__global__ void __launch_bounds__(LINE_THREADS)
    choose_fates(gaussians g, int count, view_statistics s, densify_rules rules, int *fates,
                 int *counts) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float largest = g.scale[3 * (size_t)i];
  for (int k = 1; k < 3; ++k) largest = fmaxf(largest, g.scale[3 * (size_t)i + k]);
  largest = expf(largest);
  float opacity = 1.0f / (1.0f + expf(-g.opacity[i]));
  bool pulled = s.views[i] > 0.0f && s.pull[i] >= rules.pull * s.views[i];
  int f = !pulled ? FATE_KEEP : largest <= rules.small_scale ? FATE_CLONE : FATE_SPLIT;
  float after = f == FATE_SPLIT ? largest / SPLIT_SHRINK : largest;
  if (!(opacity >= LEAST_OPACITY) || !(after <= rules.largest_scale)) f = FATE_PRUNE;
  fates[i] = f;
  counts[i] = fate_count(f);
}

/* Normally distributed: Box and Muller. */
DEVICE float hashed_normal(unsigned long long seed, unsigned long long counter) {
  float radius = sqrtf(-2.0f * logf(hashed_random(seed, 2ull * counter)));
  return radius * __cosf(6.2831853f * hashed_random(seed, 2ull * counter + 1ull));
}

/* A child of a split Gaussian: drawn from it, and smaller. */
DEVICE void place_child(const gaussians *from, int i, const gaussians *to, int child,
                        unsigned long long seed) {
  footprint f;
  float offset[3];
  load_shape(&f, from, i);
  for (int k = 0; k < 3; ++k)
    offset[k] = f.s[k] * hashed_normal(seed, 3ull * (unsigned long long)child + k);
  for (int k = 0; k < 3; ++k) {
    to->position[3 * (size_t)child + k] =
        from->position[3 * (size_t)i + k] + dot3(f.r + 3 * k, offset);
    to->scale[3 * (size_t)child + k] = from->scale[3 * (size_t)i + k] - logf(SPLIT_SHRINK);
  }
}

DEVICE void copy_one(const gaussians *from, int i, const gaussians *to, int k) {
  for (int j = 0; j < 4; ++j) to->rotation[4 * (size_t)k + j] = from->rotation[4 * (size_t)i + j];
  for (int j = 0; j < SH_FLOATS; ++j)
    to->sh[SH_FLOATS * (size_t)k + j] = from->sh[SH_FLOATS * (size_t)i + j];
  for (int j = 0; j < 3; ++j) to->position[3 * (size_t)k + j] = from->position[3 * (size_t)i + j];
  for (int j = 0; j < 3; ++j) to->scale[3 * (size_t)k + j] = from->scale[3 * (size_t)i + j];
  to->opacity[k] = from->opacity[i];
}

/* One thread an old Gaussian. places: where its successors begin. */
__global__ void __launch_bounds__(LINE_THREADS)
    move_gaussians(gaussians from, int count, const int *fates, const int *places, gaussians to,
                   unsigned long long seed) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  for (int k = 0; k < fate_count(fates[i]); ++k) {
    copy_one(&from, i, &to, places[i] + k);
    if (fates[i] == FATE_SPLIT) place_child(&from, i, &to, places[i] + k, seed);
  }
}

/* Moments stay with a Gaussian; a clone and the children of a split begin with none (`to` is 0). */
__global__ void __launch_bounds__(LINE_THREADS)
    move_moments(gaussians from, int count, const int *fates, const int *places, gaussians to) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  if (fates[i] == FATE_KEEP || fates[i] == FATE_CLONE) copy_one(&from, i, &to, places[i]);
}

/* One thread per Gaussian: none stays more opaque than RESET_OPACITY, so that only those that are
   needed come back. */
__global__ void __launch_bounds__(LINE_THREADS)
    reset_opacity(float *opacity, float *means, float *squares, int count) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  opacity[i] = fminf(opacity[i], logf(RESET_OPACITY / (1.0f - RESET_OPACITY)));
  means[i] = 0.0f;
  squares[i] = 0.0f;
}
