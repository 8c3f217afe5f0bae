/* arc study pagerank: ranks on the device, by pushing along edges. SPDX-License-Identifier:
   Apache-2.0

   Every vertex pushes its rank, divided by the number of its edges, along each of its edges. Any
   thread may add to any vertex, so additions are atomic. Lanes of a warp seldom share a vertex. */
#include "rank.h"

#include "../common/arrays.h"
#include "../common/ways.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"

/* ---- kernels -------------------------------------------------------------------------------- */

/* What each vertex pushes along each of its edges. A vertex without edges gives to all: the whole
   grid adds to that one sum, a hot row. */
__global__ void __launch_bounds__(LINE_THREADS)
    divide(int vertices, const long long *begin, const float *rank, float *share, float *sums,
           double *dangling) {
  __shared__ float block_sum[ARC_HOT_BYTES(sizeof(float), 1, 1, LINE_THREADS) / sizeof(float)];
  const arc_target_f32_to_f64 target = arc_target_f32_to_f64_rows(dangling, 1, 1);
  const arc_hot_f32_to_f64 hot = arc_hot_begin_f32_to_f64(target, block_sum, 0, 1);
  const int v = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const bool is_vertex = v < vertices;
  const long long degree = is_vertex ? begin[v + 1] - begin[v] : 1;
  const float left = is_vertex && degree == 0 ? rank[v] : 0.0f;
  if (is_vertex) {
    share[v] = degree > 0 ? rank[v] / (float)degree : 0.0f;
    sums[v] = 0.0f;
  }
  arc_hot_add_f32_to_f64(&hot, 0, &left, left > 0.0f);
  arc_hot_end_f32_to_f64(&hot);
}

/* What a push reads and adds to. */
typedef struct push {
  long long items; /* edges or vertices */
  const int *source, *target;
  const long long *begin;
  const float *share;
  float *sums;
  int threshold;
  unsigned long long *counts;
} push;

/* All lanes of the warp call. promises: a literal. */
template <int way>
DEVICE void add(const push *p, int key, float value, bool active, unsigned promises) {
  const way_rows sums = way_rows_begin(p->sums, 1, 1, p->counts);
  if constexpr (way != WAY_ATOMRED)
    way_add(&sums, key, &value, active, way, p->threshold, promises);
  else if (active)
    arc_atomred_f32(p->sums + key, value);
}

template <int way>
__global__ void __launch_bounds__(LINE_THREADS) push_edges(push p) {
  const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const bool active = e < p.items;
  add<way>(&p, active ? p.target[e] : 0, active ? p.share[p.source[e]] : 0.0f, active, 0u);
}

template <int way>
__global__ void __launch_bounds__(LINE_THREADS) push_vertices(push p) {
  const long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const float value = v < p.items ? p.share[v] : 0.0f;
  const long long end = v < p.items ? p.begin[v + 1] : 0;
  long long e = v < p.items ? p.begin[v] : 0;
  int key = e < end ? p.target[e] : 0;
  for (; __any_sync(ARC_LANES_ALL, e < end); ++e) {
    const int next = e + 1 < end ? p.target[e + 1] : 0; /* is on its way while this one is added */
    add<way>(&p, key, value, e < end, ARC_PROMISE_WARP_IS_ACTIVE);
    key = next;
  }
}

__global__ void __launch_bounds__(LINE_THREADS)
    apply(int vertices, const float *sums, const double *dangling, float *rank) {
  const int v = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (v < vertices)
    rank[v] = (float)((1 - DAMPING) / vertices + DAMPING * (sums[v] + *dangling / vertices));
}

/* ---- host ----------------------------------------------------------------------------------- */

void ranking_begin(ranking *r, const graph *g) {
  *r = {};
  r->g = g;
  r->source = take_copy(&r->arrays, g->source, "edges");
  r->target = take_copy(&r->arrays, g->target, "edges");
  r->begin = take_copy(&r->arrays, g->begin, "vertices");
  for (float **array : {&r->rank, &r->share, &r->sums})
    *array = take_zeros<float>(&r->arrays, (size_t)g->vertices, "ranks");
  r->dangling = take_zeros<double>(&r->arrays, 1, "a sum");
}

void ranking_end(ranking *r) { device_give_back(&r->arrays); }

void ranking_reset(ranking *r) {
  const size_t n = (size_t)r->g->vertices;
  const std::vector<float> rank(n, 1.0f / (float)n);
  host_to_device(r->rank, rank.data(), n * sizeof(float), "ranks");
}

void ranking_divide(ranking *r) {
  const int n = r->g->vertices;
  device_clear(r->dangling, sizeof(double));
  SIMT_LAUNCH(divide, line_blocks((size_t)n), LINE_THREADS, 0, 0, n, r->begin, r->rank, r->share,
              r->sums, r->dangling);
}

template <int way>
static void push_by(int by, const push *p) {
  if (by == BY_EDGE)
    SIMT_LAUNCH(push_edges<way>, line_blocks((size_t)p->items), LINE_THREADS, 0, 0, *p);
  else
    SIMT_LAUNCH(push_vertices<way>, line_blocks((size_t)p->items), LINE_THREADS, 0, 0, *p);
}

void ranking_push(ranking *r, int by, int way, int threshold, unsigned long long *counts) {
#define PUSH(way) push_by<way>
  static void (*const pushes[])(int, const push *) = {EACH_WAY(PUSH), PUSH(WAY_ATOMRED)};
  const long long items = by == BY_EDGE ? r->g->edges : r->g->vertices;
  const push p = {items, r->source, r->target, r->begin, r->share, r->sums, threshold, counts};
  pushes[way + 1](by, &p);
}

void ranking_apply(ranking *r) {
  const int n = r->g->vertices;
  SIMT_LAUNCH(apply, line_blocks((size_t)n), LINE_THREADS, 0, 0, n, r->sums, r->dangling, r->rank);
}

std::vector<float> ranking_read(const ranking *r) {
  return device_read<float>(r->rank, (size_t)r->g->vertices, "reading ranks");
}
