/* arc studies: features of points, and their gradients. SPDX-License-Identifier:
   Apache-2.0

   The kernel to copy from is `scatter`. A thread has one sample at one level, and adds a row of two
   values for each corner of the sample's cell. All lanes of a warp are at the same level. */
#include "grid.h"

#include <math.h>

#include "simt/simt.cuh"

#include "arc/wide.cuh"
#include "ways.cuh"
#include "arc/hot.cuh"
#include "numbers.cuh"

enum { MOST_HOT_ROWS = 1024 }; /* 64 KiB of a block */
enum { ROWS_FLOAT, ROWS_HALF, ROWS_WIDE };
static_assert(GRID_WIDE == ARC_WIDE_ROW(FEATURES), "grid.h does not know how long a wide row is");

grid grid_make(int axes, int levels, int table_log2, int coarsest, int finest) {
  grid g = {};
  g.axes = axes;
  g.levels = levels;
  for (int i = 0; i < levels; ++i) {
    const double ratio = pow((double)finest / coarsest, i / (double)(levels - 1));
    grid_level *l = &g.level[i];
    double corners = 1.0;
    l->cells = (int)(coarsest * ratio + 1e-6);
    for (int a = 0; a < axes; ++a) corners *= l->cells + 1;
    l->hashed = corners > (double)(1 << table_log2);
    l->rows = l->hashed ? 1 << table_log2 : ((int)corners + 15) / 16 * 16; /* whole 128 bytes */
    l->first = g.rows;
    g.rows += l->rows;
  }
  return g;
}

/* ---- forward --------------------------------------------------------------------------------- */

template <typename number, int axes>
__global__ void __launch_bounds__(LINE_THREADS)
    encode(grid g, grid_points p, const float *table, number *features) {
  const int sample = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= p.samples) return;
  const grid_level l = g.level[blockIdx.y];
  const grid_cell cell = cell_of(&l, axes, p.positions + sample, (size_t)p.samples);
  float2 sum = make_float2(0.0f, 0.0f);
  UNROLL
  for (int which = 0; which < 1 << axes; ++which) {
    const int row = l.first + corner_row(&l, axes, &cell, which);
    const float2 feature = load_pair(table + (size_t)row * FEATURES);
    const float weight = corner_weight(axes, &cell, which);
    sum.x += weight * feature.x;
    sum.y += weight * feature.y;
  }
  store_pair(features + ((size_t)blockIdx.y * p.samples + sample) * FEATURES, sum.x, sum.y);
}

template <typename number>
static void encode_axes(const grid *g, grid_points p, const float *table, number *features) {
  void (*const kernel)(grid, grid_points, const float *, number *) =
      g->axes == 2 ? encode<number, 2> : encode<number, 3>;
  SIMT_LAUNCH(kernel, dim3((unsigned)line_blocks((size_t)p.samples), (unsigned)g->levels),
              LINE_THREADS, 0, 0, *g, p, table, features);
}

void grid_encode(const grid *g, grid_points points, const float *table, void *features,
                 bool half_features) {
#if !SIMT_ON_CPU
  if (half_features) return encode_axes(g, points, table, (__half *)features);
#endif
  (void)half_features;
  encode_axes(g, points, table, (float *)features);
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* One sample at one level. */
typedef struct corner_source {
  grid_cell cell;
  float2 slope;
  bool active;
} corner_source;

DEVICE corner_source load_source(const grid_scatter *s, const grid_level *l, int axes, int level,
                                 int sample) {
  const int n = s->points.samples;
  corner_source c;
  c.active = sample < n;
  sample = c.active ? sample : 0;
  c.cell = cell_of(l, axes, s->points.positions + sample, (size_t)n);
  c.slope = load_pair(s->slopes + ((size_t)level * n + sample) * FEATURES);
  return c;
}

/* What the sample adds to the row of one corner; returns the row. */
DEVICE int corner_values(const corner_source *c, const grid_level *l, int axes, int which,
                         float v[FEATURES]) {
  const float weight = corner_weight(axes, &c->cell, which);
  v[0] = weight * c->slope.x;
  v[1] = weight * c->slope.y;
  return corner_row(l, axes, &c->cell, which);
}

/* All three are literals. Halves have two ways: plainly, or through arc; wide sums have arc's. */
template <int way, int axes, int rows_of>
__global__ void __launch_bounds__(LINE_THREADS) scatter(grid_scatter s, int threshold) {
  const int level = s.first_level + (int)blockIdx.y;
  const grid_level l = s.g.level[level];
  const corner_source c =
      load_source(&s, &l, axes, level, (int)(blockIdx.x * blockDim.x + threadIdx.x));
  const size_t first = (size_t)l.first * FEATURES;
  char *halves = rows_of == ROWS_HALF ? (char *)s.half_sums + 2 * first : nullptr;
  long long *wide = rows_of == ROWS_WIDE ? s.wide_sums + (size_t)l.first * GRID_WIDE : nullptr;
  float *base = rows_of == ROWS_FLOAT ? s.sums + first : nullptr;
  arc_options options = arc_options_default();
  const way_rows rows = way_rows_begin(base, FEATURES, FEATURES, s.counts);
  if (way == WAY_LEVELS) threshold = s.threshold[level];
  options.threshold = threshold;
  UNROLL
  for (int which = 0; which < 1 << axes; ++which) {
    float v[FEATURES];
    const int row = corner_values(&c, &l, axes, which, v);
    const size_t place = (size_t)row * FEATURES;
    if (rows_of == ROWS_HALF && way == WAY_PLAIN) {
      if (c.active) add_half_pair(halves + 2 * place, v[0], v[1]);
    } else if (rows_of == ROWS_HALF) {
      arc_add_with_f16(arc_target_f16_rows(halves, FEATURES, FEATURES), row, v, c.active, options);
    } else if (rows_of == ROWS_WIDE) {
      arc_add_with_wide(arc_target_wide_rows(wide, GRID_WIDE, FEATURES), row, v, c.active, options);
    } else if (way == WAY_VECTOR) {
      if (c.active) add_pair(base + place, v[0], v[1]);
    } else {
      way_add(&rows, row, v, c.active, way == WAY_LEVELS ? WAY_AUTO : way, threshold, 0);
    }
  }
}

/* A whole level is hot rows: each warp of the block has sums for all of them, so a block takes many
   samples before it ends. */
template <int axes>
__global__ void __launch_bounds__(LINE_THREADS) scatter_hot(grid_scatter s) {
  SIMT_DYNAMIC_SHARED(float, shared);
  const grid_level l = s.g.level[s.first_level];
  float *base = s.sums + (size_t)l.first * FEATURES;
  const arc_target_f32 target = arc_target_f32_rows(base, FEATURES, FEATURES);
  const arc_hot_f32 hot = arc_hot_begin_f32(target, shared, 0, l.rows);
  const int step = (int)(gridDim.x * blockDim.x);
  for (int first = (int)(blockIdx.x * blockDim.x); first < s.points.samples; first += step) {
    const corner_source c = load_source(&s, &l, axes, s.first_level, first + (int)threadIdx.x);
    UNROLL
    for (int which = 0; which < 1 << axes; ++which) {
      float v[FEATURES];
      const int row = corner_values(&c, &l, axes, which, v);
      arc_hot_add_f32(&hot, row, v, c.active);
    }
  }
  arc_hot_end_f32(&hot);
}

/* ---- host ------------------------------------------------------------------------------------ */

typedef void (*scatter_kernel)(grid_scatter, int);

template <int axes>
static scatter_kernel kernel_of(int way, int rows_of) {
#define SCATTER_FLOATS(way) scatter<way, axes, ROWS_FLOAT>
  static const scatter_kernel kernels[1 + GRID_WAYS] = {
      EACH_WAY(SCATTER_FLOATS), SCATTER_FLOATS(WAY_VECTOR), SCATTER_FLOATS(WAY_LEVELS)};
  if (rows_of == ROWS_WIDE) return scatter<WAY_AUTO, axes, ROWS_WIDE>;
  if (rows_of == ROWS_FLOAT) return kernels[way + 1];
  return way == WAY_PLAIN ? scatter<WAY_PLAIN, axes, ROWS_HALF>
                          : scatter<WAY_AUTO, axes, ROWS_HALF>;
}

bool grid_level_fits_block(const grid *g, int level) {
  return g->level[level].rows <= MOST_HOT_ROWS;
}

static void add_hot_level(const grid_scatter *s, int level) {
  void (*const kernel)(grid_scatter) = s->g.axes == 2 ? scatter_hot<2> : scatter_hot<3>;
  const int rows = s->g.level[level].rows, whole = line_blocks((size_t)s->points.samples);
  const size_t bytes = ARC_HOT_BYTES(sizeof(float), (size_t)rows, FEATURES, LINE_THREADS);
  const int most = resident_blocks(kernel, LINE_THREADS, bytes);
  grid_scatter one = *s;
  one.first_level = level;
  SIMT_LAUNCH(kernel, whole < most ? whole : most, LINE_THREADS, bytes, 0, one);
}

void grid_add(const grid_scatter *s, int way, int threshold) {
  const int rows_of = way == WAY_COUNT          ? ROWS_FLOAT
                      : s->half_sums != nullptr ? ROWS_HALF
                      : s->wide_sums != nullptr ? ROWS_WIDE
                                                : ROWS_FLOAT;
  const scatter_kernel kernel = (s->g.axes == 2 ? kernel_of<2> : kernel_of<3>)(way, rows_of);
  const bool has_hot = way == WAY_LEVELS && rows_of == ROWS_FLOAT;
  grid_scatter rest = *s;
  for (; has_hot && rest.levels > 0 && rest.first_level < s->hot_levels; ++rest.first_level) {
    add_hot_level(s, rest.first_level);
    --rest.levels;
  }
  if (rest.levels == 0) return;
  const dim3 blocks((unsigned)line_blocks((size_t)s->points.samples), (unsigned)rest.levels);
  SIMT_LAUNCH(kernel, blocks, LINE_THREADS, 0, 0, rest, threshold);
}

__global__ void __launch_bounds__(LINE_THREADS)
    take_wide(long long *wide_sums, float *sums, size_t count) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    sums[i] =
        arc_wide_take_f32(wide_sums + i / FEATURES * GRID_WIDE, FEATURES, (int)(i % FEATURES));
}

void grid_take_wide(const grid *g, long long *wide_sums, float *sums) {
  const size_t count = (size_t)g->rows * FEATURES;
  SIMT_LAUNCH(take_wide, line_blocks(count), LINE_THREADS, 0, 0, wide_sums, sums, count);
}
