/* studies/gaussians/bench: the histogram of lanes, against a count by the host.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../tests/test_frame.cuh"
#include "ways.h"

static bool hits_on_host(const splat *s, float x, float y) {
  float dx = s->x - x, dy = s->y - y;
  float q = fmaf(dx, fmaf(s->a, dx, s->b * dy), s->c * dy * dy);
  return !signbit(q) && q <= s->limit;
}

/* What the kernel must count, from the splats, the lists and how far each pixel has looked. */
static void count_on_host(const test_frame *t, int pixels, unsigned long long *histogram) {
  const device_camera *c = &t->camera;
  const std::vector<int> first = device_read<int>(t->f.first.data, (size_t)t->f.tiles + 1);
  const std::vector<int> drawn = device_read<int>(t->f.drawn.data, (size_t)c->width * c->height);
  const std::vector<int> list = test_read_list(&t->f);
  const std::vector<splat> splats = test_read_splats(t);
  for (int warp = 0; warp < t->f.tiles * TILE_WARPS / pixels; ++warp) {
    int tile = warp / (TILE_WARPS / pixels), in_tile = warp % (TILE_WARPS / pixels), last = 0;
    int x0 = tile % c->tiles_x * TILE_SIDE + in_tile % 2 * WARP_COLUMNS;
    int y0 = tile / c->tiles_x * TILE_SIDE + in_tile / 2 * WARP_ROWS * pixels;
    int x1 = min(x0 + WARP_COLUMNS, c->width), y1 = min(y0 + WARP_ROWS * pixels, c->height);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) last = max(last, drawn[y * c->width + x]);
    for (int k = 0; k < last; ++k) {
      const splat *s = &splats[list[first[tile] + k]];
      bool hit[32] = {false};
      int lanes = 0;
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
          if (k < drawn[y * c->width + x] && hits_on_host(s, (float)x + 0.5f, (float)y + 0.5f))
            hit[(y - y0) % WARP_ROWS * WARP_COLUMNS + x - x0] = true;
      for (int i = 0; i < 32; ++i) lanes += hit[i];
      histogram[lanes] += 1;
    }
  }
}

static void test_counts(void) {
  reference r;
  test_frame t;
  device_array device = {nullptr, 0};
  test_frame_begin_crowd(&t, &r);
  device_reserve(&t.memory, &device, 33 * sizeof(unsigned long long), "test");
  frame_clear_sums(&t.f);
  for (int pixels = 1; pixels <= MOST_PIXELS; ++pixels) {
    unsigned long long wanted[33] = {0}, got[33];
    backward_arguments a = frame_backward_arguments(&t.f);
    a.sums.words = (long long *)device.data;
    device_clear(device.data, device.bytes);
    way_launcher(ADD_COUNT, SUMS_ROWS, pixels)(t.f.tiles, &a);
    device_to_host(got, device.data, sizeof got, "test");
    count_on_host(&t, pixels, wanted);
    for (int i = 0; i < 33; ++i)
      CHECK(got[i] == wanted[i], "pixels %d: %llu steps of %d lanes, not %llu", pixels, got[i], i,
            wanted[i]);
  }
  device_release(&t.memory, &device);
  test_frame_end(&t);
}

int main(void) {
  if (!test_has_device("test_lanes")) return TEST_SKIPPED;
  test_counts();
  return test_end("test_lanes");
}
