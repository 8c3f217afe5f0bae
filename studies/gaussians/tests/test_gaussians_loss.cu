/* arc study gaussians: loss, its slope and the figures against double precision.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "test_frame.cuh"

/* More than one tile each way, cut at the edge. */
enum { WIDTH = 27, HEIGHT = 21, PLANE = WIDTH * HEIGHT, VALUES = 3 * PLANE };

typedef struct pictures {
  double drawn[VALUES];
  unsigned char wanted[VALUES];
} pictures;

static void make_pictures(pictures *p, unsigned long long seed) {
  for (int i = 0; i < VALUES; ++i) {
    p->wanted[i] = (unsigned char)(256.0 * test_random(&seed));
    double noise = 0.6 * test_random(&seed) - 0.3;
    p->drawn[i] = (float)(p->wanted[i] / 255.0 + noise); /* some beyond 0..1 */
  }
}

static double clamped(double x, bool clamps) { return clamps ? fmin(fmax(x, 0.0), 1.0) : x; }

/* Straight from the definition: all 121 pixels of the window, zeros beyond the edge. */
static double ssim_at(const pictures *p, int channel, int x, int y, bool clamps) {
  double weights[11], whole = 0.0, mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (int k = 0; k < 11; ++k) whole += weights[k] = exp(-(k - 5) * (k - 5) / (2.0 * 1.5 * 1.5));
  for (int i = 0; i < 121; ++i) {
    int u = x + i % 11 - 5, v = y + i / 11 - 5;
    double w = weights[i % 11] * weights[i / 11] / (whole * whole);
    if (u < 0 || v < 0 || u >= WIDTH || v >= HEIGHT) continue;
    int index = channel * PLANE + v * WIDTH + u;
    double a = clamped(p->drawn[index], clamps), b = p->wanted[index] / 255.0;
    mx += w * a, my += w * b, xx += w * a * a, yy += w * b * b, xy += w * a * b;
  }
  double c1 = 1e-4, c2 = 9e-4;
  return (2 * mx * my + c1) * (2 * (xy - mx * my) + c2) /
         ((mx * mx + my * my + c1) * (xx - mx * mx + yy - my * my + c2));
}

static loss_figures figures_of(const pictures *p, bool clamps) {
  loss_figures f = {0.0, 0.0, 0.0, 0.0};
  double squares = 0.0;
  for (int i = 0; i < VALUES; ++i) {
    double difference = clamped(p->drawn[i], clamps) - p->wanted[i] / 255.0;
    f.l1 += fabs(difference) / VALUES;
    squares += difference * difference / VALUES;
    f.ssim += ssim_at(p, i / PLANE, i % PLANE % WIDTH, i % PLANE / WIDTH, clamps) / VALUES;
  }
  f.psnr = 10.0 * log10(1.0 / squares);
  f.loss = 0.8 * f.l1 + 0.2 * (1.0 - f.ssim);
  return f;
}

/* Only the windows around a pixel change with it. */
static double slope_at(pictures *p, int i) {
  const double step = 1e-5;
  int x = i % PLANE % WIDTH, y = i % PLANE / WIDTH;
  double kept = p->drawn[i], loss[2];
  for (int side = 0; side < 2; ++side) {
    p->drawn[i] = kept + (side ? step : -step);
    loss[side] = 0.8 * fabs(p->drawn[i] - p->wanted[i] / 255.0) / VALUES;
    for (int v = y - 5; v <= y + 5; ++v)
      for (int u = x - 5; u <= x + 5; ++u)
        if (u >= 0 && v >= 0 && u < WIDTH && v < HEIGHT)
          loss[side] -= 0.2 * ssim_at(p, i / PLANE, u, v, false) / VALUES;
  }
  p->drawn[i] = kept;
  return (loss[1] - loss[0]) / (2.0 * step);
}

typedef struct loss_frame {
  device_memory memory;
  frame f;
  device_array wanted, sums;
} loss_frame;

static void begin(loss_frame *l, const pictures *p) {
  float drawn[VALUES];
  frame_settings settings;
  memset(l, 0, sizeof *l);
  memset(&settings, 0, sizeof settings);
  frame_begin(&l->f, &settings, &l->memory);
  l->f.camera.width = WIDTH;
  l->f.camera.height = HEIGHT;
  l->f.tiles = ((WIDTH + TILE_SIDE - 1) / TILE_SIDE) * ((HEIGHT + TILE_SIDE - 1) / TILE_SIDE);
  device_reserve(&l->memory, &l->wanted, VALUES, "test");
  device_reserve(&l->memory, &l->sums, LOSS_PARTS * sizeof(double), "test");
  device_reserve(&l->memory, &l->f.colour, sizeof drawn, "test");
  for (int i = 0; i < VALUES; ++i) drawn[i] = (float)p->drawn[i];
  host_to_device(l->f.colour.data, drawn, sizeof drawn, "test");
  host_to_device(l->wanted.data, p->wanted, VALUES, "test");
}

static void end(loss_frame *l) {
  frame_end(&l->f);
  device_release(&l->memory, &l->wanted);
  device_release(&l->memory, &l->sums);
}

static void check_figures(loss_frame *l, const pictures *p, bool clamps) {
  double sums[LOSS_PARTS];
  device_to_host(sums, l->sums.data, sizeof sums, "test");
  loss_figures got = loss_figures_of(sums, WIDTH, HEIGHT), wanted = figures_of(p, clamps);
  CHECK(fabs(got.l1 - wanted.l1) < 1e-6, "L1 is %.9g, not %.9g", got.l1, wanted.l1);
  CHECK(fabs(got.ssim - wanted.ssim) < 1e-5, "SSIM is %.9g, not %.9g", got.ssim, wanted.ssim);
  CHECK(fabs(got.psnr - wanted.psnr) < 1e-4, "PSNR is %.9g, not %.9g", got.psnr, wanted.psnr);
  CHECK(fabs(got.loss - wanted.loss) < 1e-5, "the loss is %.9g, not %.9g", got.loss, wanted.loss);
}

static void test_pictures(unsigned long long seed) {
  static pictures p;
  loss_frame l;
  make_pictures(&p, seed);
  begin(&l, &p);
  frame_measure(&l.f, (const unsigned char *)l.wanted.data, (double *)l.sums.data);
  check_figures(&l, &p, false);
  const std::vector<float> slope = device_read<float>(l.f.slope.data, VALUES);
  for (int i = 0; i < VALUES; ++i) {
    double wanted = slope_at(&p, i);
    CHECK(fabs(slope[i] - wanted) < 2e-4 / VALUES, "slope %d is %.8g, not %.8g", i, slope[i],
          wanted);
  }
  frame_judge(&l.f, (const unsigned char *)l.wanted.data, (double *)l.sums.data);
  check_figures(&l, &p, true);
  end(&l);
}

int main(void) {
  if (!test_has_device("test_gaussians_loss")) return TEST_SKIPPED;
  test_pictures(1);
  test_pictures(2);
  return test_end("test_gaussians_loss");
}
