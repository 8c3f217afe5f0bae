/* bench/gaussians --papers: the backward pass as the papers describe it, with their reductions and
   with arc in place of its atomics.
   SPDX-License-Identifier: Apache-2.0

   Written from the papers alone (3D Gaussian Splatting, section 6; DISTWAR, figures 5, 12 to 14).
   A block of 16 x 16 threads draws a tile, each thread one pixel: a warp has two rows of 16. The
   block loads 256 splats at a time, back to front, and each thread visits all of them. What a splat
   does to a pixel is computed by the functions of render/backward.cuh. */
#define BACKWARD_PIXELS 1
#define BACKWARD_BLOCKS 5
#include "ways.cuh"

#include <math.h>
#include <stdlib.h>

#include "measure.h"

enum {
  /* A thread leaves a step by `continue` where the splat does not reach its pixel: lanes part. */
  PAPERS_ATOMIC,    /* nine atomicAdds */
  PAPERS_SW_S,      /* SW-S in their place */
  PAPERS_DIVERGENT, /* arc's divergent call in their place: the smallest diff */
  /* It stays, not active and with zeros: lanes are kept together. */
  PAPERS_SW_B,      /* SW-B, figure 14; also steps without an active lane are computed */
  PAPERS_SW_B_SKIP, /* the same, and the warp leaves such steps, which the papers do not say */
  PAPERS_WHOLE,     /* the warp leaves them, too: arc with a renderer's promises */
  PAPERS_WAYS
};

/* ---- the kernel ----------------------------------------------------------------------------- */

static __device__ __forceinline__ pixel papers_pixel(const render_arguments *r) {
  int column = (int)(blockIdx.x % r->tiles_x * TILE_SIDE + threadIdx.x % TILE_SIDE);
  int row = (int)(blockIdx.x / r->tiles_x * TILE_SIDE + threadIdx.x / TILE_SIDE);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < r->width && row < r->height;
  p.index = p.inside ? row * r->width + column : 0;
  return p;
}

/* Of the columns in which the whole warp comes to the call, and with other promises than SW_B's. */
template <int way>
using papers_sums = way_sums<way == PAPERS_SW_B_SKIP ? ADD_BUTTERFLY
                             : way == PAPERS_WHOLE   ? ADD_DEFAULT
                                                     : ADD_PLAIN,
                             SUMS_ARRAYS>;

/* Where lanes part, those that are hit call, else the whole warp. */
template <int way>
static __device__ __forceinline__ void papers_add(papers_sums<way> *to, int key, float *v,
                                                  bool hit) {
  arc_options options = arc_options_default();
  options.threshold = to->a->threshold;
  if constexpr (way == PAPERS_SW_S) {
    options.path = ARC_PATH_SERIALIZED;
    options.lane_mask = ARC_LANES_HERE;
    arc_add_with_f32(to->target, key, v, true, options);
  } else if constexpr (way == PAPERS_DIVERGENT) {
    arc_add_divergent_f32(to->target, key, v);
  } else if constexpr (way == PAPERS_SW_B) {
    options.path = ARC_PATH_BUTTERFLY;
    options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
    arc_add_with_f32(to->target, key, v, hit, options);
  } else {
    to->add(key, v, hit);
  }
}

template <int way>
__global__ void __launch_bounds__(TILE_PIXELS) papers_backward(way_arguments a) {
  constexpr bool parts = way <= PAPERS_DIVERGENT, skips = way > PAPERS_SW_B;
  __shared__ splat batch[TILE_PIXELS];
  const int *list = a.render.lists.list + a.render.lists.first[blockIdx.x];
  backward_lane lane;
  lane.first = papers_pixel(&a.render);
  lane.slopes[0] = load_pixel(&a, lane.first);
  papers_sums<way> to(&a);
  int end = block_largest(warp_largest(lane.slopes[0].drawn));
  for (; end > 0; end -= TILE_PIXELS) {
    int start = max(end - (int)TILE_PIXELS, 0);
    load_batch(batch, &a.render, list + start, end - start);
    for (int k = end - start - 1; k >= 0; --k) {
      const splat *s = &batch[k];
      splat_view view;
      float v[SPLAT_WIDTH];
      if (parts && start + k >= lane.slopes[0].drawn) continue;
      bool hit = view_splat(&view, lane.slopes, lane.first, s, start + k);
      if (parts && !hit) continue;
      if (skips && !__any_sync(WHOLE_WARP, hit)) continue;
      splat_slopes(lane.slopes, s, &view, 1.0f, v);
      papers_add<way>(&to, s->key, v, hit);
    }
  }
}

template <int way>
static void papers_launch(int tiles, const backward_arguments *a) {
  SIMT_LAUNCH(papers_backward<way>, tiles, TILE_PIXELS, 0, 0, way_arguments_of(a));
}

static const struct {
  const char *name;
  add_way like; /* of the same threshold: none, at run time, the default */
  backward_launcher launch;
} papers_ways[PAPERS_WAYS] = {{"atomic", ADD_PLAIN, papers_launch<PAPERS_ATOMIC>},
                              {"sw_s", ADD_SERIALIZED, papers_launch<PAPERS_SW_S>},
                              {"divergent", ADD_DEFAULT, papers_launch<PAPERS_DIVERGENT>},
                              {"sw_b", ADD_BUTTERFLY, papers_launch<PAPERS_SW_B>},
                              {"sw_b_skip", ADD_BUTTERFLY, papers_launch<PAPERS_SW_B_SKIP>},
                              {"whole", ADD_DEFAULT, papers_launch<PAPERS_WHOLE>}};

/* ---- one dataset ---------------------------------------------------------------------------- */

typedef struct papers_row {
  const char *dataset;
  int way, threshold;
  float ms, noise;   /* the median, and the distance of the quartiles over it */
  double difference; /* the largest of a sum, over what rounding may make: above 1 is an error */
} papers_row;

enum { PAPERS_ROWS = 3 + 3 * 33 /* of a dataset: three ways take thresholds 0 to 32 */ };

typedef struct papers_table {
  papers_row rows[4 * PAPERS_ROWS];
  int count;
} papers_table;

static void papers_plan(papers_row *rows, const char *dataset) {
  for (int way = 0; way < PAPERS_WAYS; ++way)
    for (int k = 0; k <= (add_way_has_threshold(papers_ways[way].like) ? 32 : 0); ++k) {
      const papers_row row = {dataset, way, k, 0.0f, 0.0f, 0.0};
      *rows++ = row;
    }
}

static float papers_measure_row(trainer *t, const papers_row *row) {
  return measure_backward(t, papers_ways[row->way].launch, row->threshold);
}

/* Launch by launch the rows take turns, so that clocks drift alike for all. */
static void papers_measure(trainer *t, papers_row *rows, int repeats) {
  float *times = (float *)host_memory(sizeof(float) * PAPERS_ROWS * repeats);
  for (int round = 0; round < repeats && !interrupts; ++round)
    for (int i = 0; i < PAPERS_ROWS && !interrupts; ++i)
      times[i * repeats + round] = papers_measure_row(t, &rows[i]);
  for (int i = 0; i < PAPERS_ROWS; ++i) {
    const float *sorted = times + i * repeats;
    rows[i].ms = median(times + i * repeats, repeats);
    rows[i].noise = (sorted[3 * repeats / 4] - sorted[repeats / 4]) / rows[i].ms;
  }
  free(times);
}

/* An interrupt leaves the dataset out. */
static void papers_view(trainer *t, const char *dataset, int repeats, void *state) {
  papers_table *table = (papers_table *)state;
  papers_row *rows = table->rows + table->count;
  t->f.settings.test = TILE_CIRCLE; /* the lists that the papers describe */
  trainer_draw(t, 0);
  measure_slope(t);
  printf("%s: %d Gaussians, %d x %d pixels, %d pairs\n", printable(dataset), t->count,
         t->cameras[0].width, t->cameras[0].height, t->f.pairs);
  sums_oracle oracle = oracle_of(t);
  papers_plan(rows, dataset);
  for (int i = 0; i < PAPERS_ROWS && !interrupts; ++i) {
    papers_measure_row(t, &rows[i]);
    rows[i].difference = sums_difference(t, SUMS_ARRAYS, &oracle);
  }
  papers_measure(t, rows, repeats);
  if (!interrupts) table->count += PAPERS_ROWS;
  oracle_free(&oracle);
}

/* ---- the table ------------------------------------------------------------------------------ */

static const papers_row *papers_best(const papers_row *rows, int way) {
  const papers_row *best = nullptr;
  for (int i = 0; i < PAPERS_ROWS; ++i)
    if (rows[i].way == way && (best == nullptr || rows[i].ms < best->ms)) best = &rows[i];
  return best;
}

static const char *papers_threshold(const papers_row *row, char *room) {
  return threshold_of_way(papers_ways[row->way].like, row->threshold, room);
}

static void papers_print(const papers_table *table) {
  static const int compared[] = {PAPERS_DIVERGENT, PAPERS_SW_B_SKIP, PAPERS_WHOLE};
  double logarithms[3] = {0.0, 0.0, 0.0};
  char room[16];
  printf(
      "\nms (best threshold), %s; behind them times as fast as the better of sw_s and sw_b\n%-9s",
      clock_name(), "");
  for (int way = 0; way < PAPERS_WAYS; ++way) printf(" %15s", papers_ways[way].name);
  for (int c = 0; c < 3; ++c) printf(" %9s", papers_ways[compared[c]].name);
  for (const papers_row *rows = table->rows; rows < table->rows + table->count;
       rows += PAPERS_ROWS) {
    float papers = fminf(papers_best(rows, PAPERS_SW_S)->ms, papers_best(rows, PAPERS_SW_B)->ms);
    printf("\n%-9s", printable(rows->dataset));
    for (int way = 0; way < PAPERS_WAYS; ++way) {
      const papers_row *best = papers_best(rows, way);
      printf(" %8.4f (%4s)", best->ms, papers_threshold(best, room));
    }
    for (int c = 0; c < 3; ++c) {
      double times = papers / papers_best(rows, compared[c])->ms;
      logarithms[c] += log(times);
      printf(" %9.3f", times);
    }
  }
  printf("\n%-105s", "geometric mean");
  for (int c = 0; c < 3; ++c) printf(" %9.3f", exp(logarithms[c] * PAPERS_ROWS / table->count));
  printf("\n");
}

static bool papers_write_csv(const char *path, const papers_table *table, error_line *error) {
  output_file file;
  char room[16];
  if (!measure_open_csv(&file, path, "dataset,kernel,threshold,ms,noise,difference,clock", error))
    return false;
  for (int i = 0; i < table->count; ++i) {
    const papers_row *r = &table->rows[i];
    fprintf(file.stream, "%s,%s,%s,%.6f,%.4f,%.3g,%s\n", r->dataset, papers_ways[r->way].name,
            papers_threshold(r, room), r->ms, r->noise, r->difference, clock_name());
  }
  return output_file_commit(&file, error);
}

/* The first row whose sums are wrong; null: none. */
static const papers_row *papers_wrong(const papers_table *table) {
  for (int i = 0; i < table->count; ++i)
    if (!(table->rows[i].difference <= 1.0)) return &table->rows[i];
  return nullptr;
}

int run_papers(const bench_options *b) {
  static papers_table table;
  error_line error;
  char room[16];
  bool done = measure_datasets(b, papers_view, &table, &error);
  if (done && table.count > 0) papers_print(&table);
  if (done && b->o.csv != nullptr) done = papers_write_csv(b->o.csv, &table, &error);
  if (!done) return fail(1, &error);
  const papers_row *wrong = papers_wrong(&table);
  if (wrong != nullptr) {
    error_set(&error, "%.100s: a sum by %s, threshold %s, is %.3g times as far off as it may be",
              wrong->dataset, papers_ways[wrong->way].name, papers_threshold(wrong, room),
              wrong->difference);
    return fail(1, &error);
  }
  return measure_status();
}
