/* arc study gaussians: a reference scene on the device, for the tests.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_TEST_FRAME_CUH
#define GAUSSIANS_TEST_FRAME_CUH

#include <math.h>
#include <string.h>

#include <vector>

#include "../../../bench/common/test_device.h"
#include "../render/frame.h"
#include "test_reference.h"

static inline frame_settings test_frame_settings(const reference *r) {
  frame_settings s = {TILE_EXACT,
                      false,
                      ARC_BALANCE_THRESHOLD,
                      {(float)r->background[0], (float)r->background[1], (float)r->background[2]}};
  return s;
}

/* Number k (in the order of the reference) of Gaussian i. */
static inline float *test_number(gaussians g, int i, int k) {
  if (k < REF_SCALE) return &g.position[3 * i + k];
  if (k < REF_ROTATION) return &g.scale[3 * i + k - REF_SCALE];
  if (k < REF_OPACITY) return &g.rotation[4 * i + k - REF_ROTATION];
  if (k < REF_SH) return &g.opacity[i];
  return &g.sh[SH_FLOATS * i + k - REF_SH];
}

static inline device_camera test_camera(const reference *r) {
  camera c;
  memset(&c, 0, sizeof c);
  c.width = r->width;
  c.height = r->height;
  c.fx = (float)r->fx, c.fy = (float)r->fy, c.cx = (float)r->cx, c.cy = (float)r->cy;
  for (int k = 0; k < 12; ++k) c.world_to_camera[k / 4][k % 4] = (float)r->camera[k];
  return camera_on_device(&c);
}

typedef struct test_frame {
  device_memory memory;
  frame f;
  device_camera camera;
  int count, degree;
  device_array parameters, gradients, by_camera; /* gradients: with the statistics */
} test_frame;

static inline void test_frame_begin(test_frame *t, const reference *r) {
  std::vector<float> block((size_t)GAUSSIAN_FLOATS * r->count);
  const std::vector<float> slope(r->slope.begin(), r->slope.end());
  const size_t bytes = sizeof(float) * block.size(), slope_bytes = sizeof(float) * slope.size();
  memset(t, 0, sizeof *t);
  frame_settings settings = test_frame_settings(r);
  frame_begin(&t->f, &settings, &t->memory);
  t->camera = test_camera(r);
  t->count = r->count;
  t->degree = r->degree;
  device_reserve(&t->memory, &t->parameters, bytes, "test");
  device_reserve(&t->memory, &t->gradients, sizeof(long long) * GRADIENT_FLOATS * r->count, "test");
  device_reserve(&t->memory, &t->by_camera, 3 * sizeof(long long) * CAMERA_FLOATS, "test");
  device_reserve(&t->memory, &t->f.slope, slope_bytes, "test");
  for (int i = 0; i < r->count; ++i)
    for (int k = 0; k < GAUSSIAN_FLOATS; ++k)
      *test_number(split_gaussians(block.data(), r->count), i, k) =
          (float)r->gaussian[REF_WIDTH * i + k];
  host_to_device(t->parameters.data, block.data(), bytes, "test");
  host_to_device(t->f.slope.data, slope.data(), slope_bytes, "test");
}

static inline void test_frame_end(test_frame *t) {
  device_array *arrays[] = {&t->parameters, &t->gradients, &t->by_camera};
  frame_end(&t->f);
  for (size_t i = 0; i < 3; ++i) device_release(&t->memory, arrays[i]);
  CHECK(t->memory.now == 0, "%zu bytes of the device are not given back", t->memory.now);
}

static inline void test_frame_forward(test_frame *t) {
  frame_forward(&t->f, split_gaussians((float *)t->parameters.data, t->count), t->count, t->degree,
                &t->camera);
  device_check(cudaGetLastError(), "forward");
}

/* What is drawn has lists longer than a batch, and tiles cut by the picture's edge. */
enum { TEST_CROWD = 300 };
static inline void test_frame_begin_crowd(test_frame *t, reference *r) {
  reference_make(r, 39, 23, TEST_CROWD, 3, 8.0, 11);
  for (int i = 0; i < TEST_CROWD; ++i) r->gaussian[REF_WIDTH * i + REF_OPACITY] -= 3.0;
  test_frame_begin(t, r);
  test_frame_forward(t);
}

static inline int test_longest_list(const test_frame *t) {
  const std::vector<int> first = device_read<int>(t->f.first.data, (size_t)t->f.tiles + 1);
  int longest = 0;
  for (int i = 0; i < t->f.tiles; ++i) longest = max(longest, first[i + 1] - first[i]);
  return longest;
}

static inline std::vector<splat> test_read_splats(const test_frame *t) {
  return device_read<splat>(t->f.splats.data, (size_t)t->count);
}

/* The lists of all tiles. */
static inline std::vector<int> test_read_list(const frame *f) {
  return device_read<int>(f->list, (size_t)f->pairs);
}

#endif
