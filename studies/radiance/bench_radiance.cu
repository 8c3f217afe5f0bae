/* bench_radiance.cu - what the cache costs per frame, and what it gains over paths
   alone. SPDX-License-Identifier: Apache-2.0

   bench_radiance [OUT.csv]

   Rows of `what`:
     ms      a frame at full HD, and its parts; medians
     error   a picture at rest: by the cache, and by paths alone that take at least as long
     bias    many samples by the cache: error, and mean light over the reference's, less 1
     moving  a ball, a wall's colour or the lamp moves in each frame, and the cache learns one frame
             in each place: error of one sample and of many
     rest    the same errors of a cache that has learnt in that place alone
   The error is the mean of (x - r)^2 / (r^2 + 0.01) over the colours of all pixels, without the
   largest 0.1 %. The reference r has paths of 2^16 samples, or of 2^12 where something moves.
   Pictures for errors have a sixteenth of full HD's pixels: the error is one per pixel, and the
   cache learns the same records at either size. */
#include <math.h>

#include <algorithm>
#include <vector>

#include "../common/table_program.h"
#include "radiance.h"

#include "arc.cuh"

enum { WIDTH = SIMT_ON_CPU ? 16 : 1920, HEIGHT = SIMT_ON_CPU ? 9 : 1080 };
enum { SMALL_WIDTH = SIMT_ON_CPU ? 16 : 480, SMALL_HEIGHT = SIMT_ON_CPU ? 9 : 270 };
enum { REFERENCE = SIMT_ON_CPU ? 16 : 65536, MANY = SIMT_ON_CPU ? 2 : 1024 };
enum { LEARNT = SIMT_ON_CPU ? 1 : 256, RUNS = SIMT_ON_CPU ? 1 : 21, STEPS = SIMT_ON_CPU ? 1 : 12 };

typedef std::vector<float> floats;

static cache its, rested;
static film full, small;
static unsigned frame; /* of training, so that no random number comes twice */

static void learn(cache *c, const room *r, int view, int frames) {
  camera eye;
  camera_make(&eye, view, WIDTH, HEIGHT);
  for (int i = 0; i < frames && !interrupts; ++i) {
    cache_learn(c, r, &eye, frame++);
    if (i % 16 == 0) device_check(cudaDeviceSynchronize(), "training");
  }
}

static floats draw(const room *r, int view, const cache *by, int samples, unsigned seed) {
  camera eye;
  camera_make(&eye, view, SMALL_WIDTH, SMALL_HEIGHT);
  return film_draw(&small, by, r, &eye, samples, seed);
}

static double error_of(const floats &got, const floats &reference) {
  floats errors(got.size());
  double sum = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    const float difference = got[i] - reference[i];
    errors[i] = difference * difference / (reference[i] * reference[i] + 0.01f);
  }
  const size_t kept = errors.size() - errors.size() / 1000;
  std::nth_element(errors.begin(), errors.begin() + (ptrdiff_t)kept - 1, errors.end());
  errors.resize(kept);
  for (float e : errors) sum += e;
  return sum / (double)errors.size();
}

static double mean_of(const floats &v) {
  double sum = 0.0;
  for (float x : v) sum += x;
  return sum / (double)v.size();
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Returns how many samples per pixel paths alone take in the time of a frame, rounded up. */
static int measure_times(FILE *out, const room *r, const char *setting, int view) {
  camera eye;
  camera_make(&eye, view, WIDTH, HEIGHT);
  const char *const names[] = {"paths", "frame", "trace", "learn", "picture", "ask", "encode"};
  const float ms[] = {median_time(RUNS, [&] { film_add(&full, nullptr, r, &eye, frame); }),
                      median_time(RUNS,
                                  [&] {
                                    cache_learn(&its, r, &eye, frame++);
                                    film_add(&full, &its, r, &eye, frame);
                                  }),
                      median_time(RUNS, [&] { cache_trace(&its, r, &eye, frame); }),
                      median_time(RUNS, [&] { cache_learn(&its, r, &eye, frame++); }),
                      median_time(RUNS, [&] { film_add(&full, &its, r, &eye, frame); }),
                      median_time(RUNS, [&] { cache_ask(&its, &full.ends, full.answers); }),
                      median_time(RUNS, [&] {
                        const grid_points points = {full.ends.positions, full.ends.samples};
                        grid_encode(&its.g, points, its.table_average, full.ends.features,
                                    its.o.tensor);
                      })};
  for (int i = 0; i < 7; ++i) fprintf(out, "ms,%s,%d,%s,1,%.4f\n", setting, view, names[i], ms[i]);
  return (int)ceilf(ms[1] / ms[0]);
}

static void measure_errors(FILE *out, const room *r, const char *setting, int view, int samples) {
  const floats reference = draw(r, view, nullptr, REFERENCE, 1u << 30);
  const floats cached = draw(r, view, &its, 1, 3u << 29),
               paths = draw(r, view, nullptr, samples, 7u);
  const floats many = draw(r, view, &its, MANY, 3u << 29);
  fprintf(out, "error,%s,%d,cache,1,%.6f\n", setting, view, error_of(cached, reference));
  fprintf(out, "error,%s,%d,paths,%d,%.6f\n", setting, view, samples, error_of(paths, reference));
  fprintf(out, "bias,%s,%d,error,%d,%.6f\n", setting, view, (int)MANY, error_of(many, reference));
  fprintf(out, "bias,%s,%d,mean,%d,%.6f\n", setting, view, (int)MANY,
          mean_of(many) / mean_of(reference) - 1.0);
}

/* A quarter of the way in STEPS frames. */
static void measure_moving(FILE *out, int setting, const char *name) {
  static const char *const names[MOVES] = {"ball", "material", "lamp"};
  room r;
  for (int what = 0; what < MOVES; ++what) {
    room_make(&r, setting);
    cache_reset(&its);
    learn(&its, &r, 0, LEARNT);
    for (int step = 1; step <= STEPS && !interrupts; ++step) {
      room_make(&r, setting);
      room_move(&r, what, 0.25f * (float)step / STEPS);
      learn(&its, &r, 0, 1);
      cache_reset(&rested);
      learn(&rested, &r, 0, LEARNT);
      const floats reference = draw(&r, 0, nullptr, REFERENCE / 16, 1u << 30);
      for (const cache *by : {&its, &rested})
        for (int samples : {1, (int)MANY})
          fprintf(out, "%s,%s,0,%s %d,%d,%.6f\n", by == &its ? "moving" : "rest", name, names[what],
                  step, samples, error_of(draw(&r, 0, by, samples, 3u << 29), reference));
    }
  }
}

static bool measure(FILE *out, error_line *) {
  static const char *const names[SETTINGS] = {"indirect", "direct"};
  const cache_options options = {SIMT_ON_CPU ? 32 : 16384, SIMT_ON_CPU ? 7 : 15,
                                 perceptron_has_tensor(), false, 1ull};
  cache_begin(&its, &options);
  cache_begin(&rested, &options);
  film_begin(&full, WIDTH, HEIGHT, options.tensor);
  film_begin(&small, SMALL_WIDTH, SMALL_HEIGHT, options.tensor);
  fprintf(out, "what,setting,view,by,samples,value\n");
  for (int setting = 0; setting < SETTINGS; ++setting) {
    room r;
    room_make(&r, setting);
    for (int view = VIEWS - 1; view >= 0 && !interrupts; --view) {
      cache_reset(&its);
      learn(&its, &r, view, LEARNT);
      const int samples = measure_times(out, &r, names[setting], view);
      measure_errors(out, &r, names[setting], view, samples);
    }
    if (!SIMT_ON_CPU || setting == 0) measure_moving(out, setting, names[setting]);
  }
  return true;
}

int main(int argc, char **argv) { return table_program("bench_radiance", argc, argv, measure); }
