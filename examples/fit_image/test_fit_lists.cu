/* arc example fit_image: tile lists hold what they must, once, and grow.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "simt/simt.cuh"

#include "test_scene.cuh"

typedef struct host_lists {
  int *begin, *keys;
  int total;
} host_lists;

static host_lists read_lists(const fit *f) {
  host_lists h;
  h.begin = (int *)malloc(sizeof(int) * (f->tiles + 1));
  device_check(
      cudaMemcpy(h.begin, f->lists.begin, sizeof(int) * (f->tiles + 1), cudaMemcpyDeviceToHost),
      "reading begin");
  h.total = h.begin[f->tiles];
  h.keys = (int *)malloc(sizeof(int) * (h.total + 1));
  device_check(cudaMemcpy(h.keys, f->lists.keys, sizeof(int) * h.total, cudaMemcpyDeviceToHost),
               "reading keys");
  return h;
}

static void free_lists(host_lists *h) {
  free(h->begin);
  free(h->keys);
}

/* Whether a Gaussian's box, grown by `margin` pixels, overlaps a tile. */
static bool overlaps(const double *g, double margin, int tile_x, int tile_y) {
  double c = cos(g[ANGLE]), s = sin(g[ANGLE]);
  double p = exp(2.0 * g[LOG_SCALE_U]), q = exp(2.0 * g[LOG_SCALE_V]);
  double half_x = sqrt((double)HIT_LIMIT * (p * c * c + q * s * s)) + margin;
  double half_y = sqrt((double)HIT_LIMIT * (p * s * s + q * c * c)) + margin;
  double x = g[MEAN_X] - TILE_SIDE * tile_x, y = g[MEAN_Y] - TILE_SIDE * tile_y;
  return x + half_x >= 0.0 && x - half_x < TILE_SIDE && y + half_y >= 0.0 && y - half_y < TILE_SIDE;
}

/* Every Gaussian stands once in each tile that its box surely overlaps, and nowhere far off. */
static void check_lists(const fit *f, const scene *s) {
  host_lists h = read_lists(f);
  int *seen = (int *)malloc(sizeof(int) * s->count);
  CHECK(h.begin[0] == 0, "lists begin at %d", h.begin[0]);
  CHECK(h.total <= f->lists.capacity, "%d keys in room for %d", h.total, f->lists.capacity);
  for (int t = 0; t < f->tiles; ++t) {
    int tile_x = t % f->c.tiles_x, tile_y = t / f->c.tiles_x;
    for (int i = 0; i < s->count; ++i) seen[i] = 0;
    CHECK(h.begin[t] <= h.begin[t + 1], "tile %d ends before it begins", t);
    for (int k = h.begin[t]; k < h.begin[t + 1]; ++k) {
      bool legal = h.keys[k] >= 0 && h.keys[k] < s->count;
      CHECK(legal, "tile %d holds key %d", t, h.keys[k]);
      if (legal) seen[h.keys[k]] += 1;
    }
    for (int i = 0; i < s->count; ++i) {
      const double *g = s->gaussian + GAUSSIAN_WIDTH * i;
      CHECK(seen[i] <= 1, "tile %d holds Gaussian %d %d times", t, i, seen[i]);
      CHECK(seen[i] == 1 || !overlaps(g, -0.01, tile_x, tile_y), "tile %d lacks Gaussian %d", t, i);
      CHECK(seen[i] == 0 || overlaps(g, 0.01, tile_x, tile_y), "tile %d needs no %d", t, i);
    }
  }
  free(seen);
  free_lists(&h);
}

static void test_lists(int width, int height, int count, double largest_scale) {
  scene s;
  fit f;
  scene_make(&s, width, height, count, largest_scale, 11);
  test_begin_scene(&f, &s);
  fit_build_lists(&f);
  check_lists(&f, &s);
  fit_build_lists(&f); /* a second time: counts start from zero again */
  check_lists(&f, &s);
  fit_end(&f);
  scene_free(&s);
}

/* Wider Gaussians than the lists have room for: the lists grow, nothing is lost. */
static void test_growth(void) {
  scene s;
  fit f;
  scene_make(&s, 90, 60, 50, 2.0, 12);
  test_begin_scene(&f, &s);
  fit_build_lists(&f);
  int small = f.lists.capacity;
  scene_free(&s);
  fit_end(&f);

  scene_make(&s, 90, 60, 50, 30.0, 12);
  test_begin_scene(&f, &s);
  device_check(cudaMalloc((void **)&f.lists.keys, sizeof(int) * small), "small lists");
  f.lists.capacity = small;
  fit_build_lists(&f);
  CHECK(f.lists.capacity > small, "room for %d keys, as before", small);
  check_lists(&f, &s);
  fit_end(&f);
  scene_free(&s);
}

/* A capacity that is wrong: fill_tiles stays inside it. */
static void test_bounded_fill(void) {
  enum { ROOM = 10, BEHIND = 500 };
  scene s;
  fit f;
  int behind[ROOM + BEHIND];
  scene_make(&s, 90, 60, 50, 8.0, 13);
  test_begin_scene(&f, &s);
  f.lists.keys = (int *)test_device_array(sizeof behind, "canaries");
  device_check(cudaMemset(f.lists.keys, 0x5a, sizeof behind), "canaries");
  f.lists.capacity = ROOM + BEHIND;
  fit_build_lists(&f);
  host_lists h = read_lists(&f);
  CHECK(h.total > ROOM && h.total <= ROOM + BEHIND, "choose another scene: %d keys", h.total);
  free_lists(&h);

  device_check(cudaMemset(f.lists.keys, 0x5a, sizeof behind), "canaries");
  device_check(
      cudaMemcpy(f.cursors, f.lists.begin, sizeof(int) * f.tiles, cudaMemcpyDeviceToDevice),
      "cursors");
  f.lists.capacity = ROOM;
  fit_fill_tiles(&f);
  device_check(cudaMemcpy(behind, f.lists.keys, sizeof behind, cudaMemcpyDeviceToHost), "canaries");
  for (int i = ROOM; i < ROOM + BEHIND; ++i)
    CHECK(behind[i] == 0x5a5a5a5a, "position %d of %d was written", i, (int)ROOM);
  fit_end(&f);
  scene_free(&s);
}

/* Not a number, infinite, far away: no tile, and above all no fault. */
static void test_wild_parameters(void) {
  static const double wild[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30};
  scene s;
  fit f;
  scene_make(&s, 40, 40, 5, 3.0, 14);
  for (int i = 0; i < 5; ++i) s.gaussian[GAUSSIAN_WIDTH * i + MEAN_X] = wild[i];
  test_begin_scene(&f, &s);
  fit_build_lists(&f);
  host_lists h = read_lists(&f);
  CHECK(h.total == 0, "%d tiles are touched by Gaussians that are nowhere", h.total);
  free_lists(&h);
  fit_forward(&f);
  CHECK(isfinite(fit_latest_loss(&f)), "the loss is not finite");
  fit_end(&f);
  scene_free(&s);
}

/* More tiles than the scan has threads, so that each thread owns several. */
static void test_scan(int tiles) {
  unsigned long long seed = 15, total = 0;
  int *counts = (int *)malloc(sizeof(int) * (tiles + 1));
  int *begin = (int *)malloc(sizeof(int) * (tiles + 1));
  long long got_total;
  for (int t = 0; t < tiles; ++t) counts[t] = (int)(100.0 * test_random(&seed));
  int *device_counts = (int *)test_device_array(sizeof(int) * tiles, "counts");
  int *device_begin = (int *)test_device_array(sizeof(int) * (tiles + 1), "begin");
  long long *device_total = (long long *)test_device_array(sizeof(long long), "total");
  device_check(cudaMemcpy(device_counts, counts, sizeof(int) * tiles, cudaMemcpyHostToDevice),
               "scan");
  fit_scan_tiles(tiles, device_counts, device_begin, device_total);
  device_check(cudaMemcpy(begin, device_begin, sizeof(int) * (tiles + 1), cudaMemcpyDeviceToHost),
               "scan");
  device_check(cudaMemcpy(&got_total, device_total, sizeof got_total, cudaMemcpyDeviceToHost),
               "scan");
  for (int t = 0; t < tiles; ++t) {
    CHECK(begin[t] == (int)total, "%d tiles: tile %d begins at %d, not %llu", tiles, t, begin[t],
          total);
    total += (unsigned long long)counts[t];
  }
  CHECK(begin[tiles] == (int)total && got_total == (long long)total, "%d tiles: total %d, %lld",
        tiles, begin[tiles], got_total);
  cudaFree(device_counts);
  cudaFree(device_begin);
  cudaFree(device_total);
  free(counts);
  free(begin);
}

int main(void) {
  if (!test_has_device("test_fit_lists")) return TEST_SKIPPED;
  test_lists(1, 1, 1, 1.0);
  test_lists(16, 16, 40, 4.0);
  test_lists(100, 49, 400, 9.0);
  test_lists(17, 130, 300, 60.0);
  test_growth();
  test_bounded_fill();
  test_wild_parameters();
  test_scan(1);
  test_scan(255); /* a thread has one tile or none, one, up to two */
  test_scan(256);
  test_scan(257);
  test_scan(8160);
  return test_end("test_fit_lists");
}
