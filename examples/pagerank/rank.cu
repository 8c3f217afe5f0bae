/* arc example pagerank: ranks on the device, by pushing along edges. SPDX-License-Identifier:
   Apache-2.0

   Every vertex pushes its rank, divided by the number of its edges, along each of them. Who adds to
   a vertex is anybody, so all sums are atomic; lanes of a warp seldom push to one vertex. */
#include "rank.h"

#include "arc.cuh"

const char *way_name(int way) {
  static const char *const names[WAYS] = {"plain", "serialized", "butterfly",
                                          "tree",  "auto",       "atomred"};
  return names[way];
}

const char *by_name(int by) { return by == BY_EDGE ? "edge" : "vertex"; }

/* ---- kernels -------------------------------------------------------------------------------- */

/* What each vertex pushes along each of its edges. A vertex without edges gives to all: the whole
   grid adds to that one sum, a hot row. */
__global__ void __launch_bounds__(LINE_THREADS)
    divide(int vertices, const long long *begin, const float *rank, float *share, float *sums,
           double *dangling) {
  __shared__ float block_sum[ARC_HOT_SUMS(1, 1, LINE_THREADS)];
  const arc_hot_f32 hot =
      arc_hot_begin_f32(arc_target_f32_rows_f64(dangling, 1, 1), block_sum, 0, 1);
  const int v = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const bool is_vertex = v < vertices;
  const long long degree = is_vertex ? begin[v + 1] - begin[v] : 1;
  const float left = is_vertex && degree == 0 ? rank[v] : 0.0f;
  if (is_vertex) {
    share[v] = degree > 0 ? rank[v] / (float)degree : 0.0f;
    sums[v] = 0.0f;
  }
  arc_hot_add_f32(&hot, 0, &left, left > 0.0f, ARC_BALANCE_THRESHOLD);
  arc_hot_end_f32(&hot, true);
}

/* `way` is a literal: compilers fold the choice. All lanes of the warp call. */
static __device__ __forceinline__ void add(float *sums, int key, float value, bool active, int way,
                                           int threshold) {
  const arc_target_f32 target = arc_target_f32_rows(sums, 1, 1);
  arc_options o = arc_options_default();
  o.threshold = threshold;
  o.path = way == WAY_SERIALIZED  ? ARC_PATH_SERIALIZED
           : way == WAY_BUTTERFLY ? ARC_PATH_BUTTERFLY
           : way == WAY_TREE      ? ARC_PATH_TREE
                                  : ARC_PATH_AUTO;
  if (way != WAY_PLAIN && way != WAY_ATOMRED)
    arc_add_with_f32(target, key, &value, active, o);
  else if (active && way == WAY_PLAIN)
    atomicAdd(sums + key, value);
  else if (active)
    arc_atomred_f32(sums + key, value);
}

#define PUSH_KERNELS(NAME, WAY)                                                                    \
  __global__ void __launch_bounds__(LINE_THREADS)                                                  \
      push_edge_##NAME(long long edges, const int *source, const int *target,                      \
                       const long long *begin, const float *share, float *sums, int threshold) {   \
    const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;                          \
    const bool active = e < edges;                                                                 \
    (void)begin;                                                                                   \
    add(sums, active ? target[e] : 0, active ? share[source[e]] : 0.0f, active, WAY, threshold);   \
  }                                                                                                \
  __global__ void __launch_bounds__(LINE_THREADS)                                                  \
      push_vertex_##NAME(long long vertices, const int *source, const int *target,                 \
                         const long long *begin, const float *share, float *sums, int threshold) { \
    const long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;                          \
    const float value = v < vertices ? share[v] : 0.0f;                                            \
    long long e = v < vertices ? begin[v] : 0;                                                     \
    const long long end = v < vertices ? begin[v + 1] : 0;                                         \
    (void)source;                                                                                  \
    for (; __any_sync(ARC_LANES_ALL, e < end); ++e)                                                \
      add(sums, e < end ? target[e] : 0, value, e < end, WAY, threshold);                          \
  }
PUSH_KERNELS(plain, WAY_PLAIN)
PUSH_KERNELS(serialized, WAY_SERIALIZED)
PUSH_KERNELS(butterfly, WAY_BUTTERFLY)
PUSH_KERNELS(tree, WAY_TREE)
PUSH_KERNELS(auto, WAY_AUTO)
PUSH_KERNELS(atomred, WAY_ATOMRED)

__global__ void __launch_bounds__(LINE_THREADS)
    apply(int vertices, const float *sums, const double *dangling, float *rank) {
  const int v = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (v < vertices)
    rank[v] = (float)((1 - DAMPING) / vertices + DAMPING * (sums[v] + *dangling / vertices));
}

/* ---- host ----------------------------------------------------------------------------------- */

static void upload(ranking *r, device_array *array, const void *data, size_t bytes,
                   const char *what) {
  device_reserve(&r->memory, array, bytes, what);
  if (data != nullptr) host_to_device(array->data, data, bytes, what);
}

void ranking_begin(ranking *r, const graph *g) {
  const size_t n = (size_t)g->vertices, m = (size_t)g->edges;
  *r = {};
  r->g = g;
  upload(r, &r->source, g->source, m * sizeof(int), "edges");
  upload(r, &r->target, g->target, m * sizeof(int), "edges");
  upload(r, &r->begin, g->begin, (n + 1) * sizeof(long long), "vertices");
  upload(r, &r->rank, nullptr, n * sizeof(float), "ranks");
  upload(r, &r->share, nullptr, n * sizeof(float), "ranks");
  upload(r, &r->sums, nullptr, n * sizeof(float), "ranks");
  upload(r, &r->dangling, nullptr, sizeof(double), "a sum");
  device_check(cudaEventCreate(&r->start), "an event");
  device_check(cudaEventCreate(&r->stop), "an event");
}

void ranking_end(ranking *r) {
  device_array *arrays[] = {&r->source, &r->target, &r->begin,   &r->rank,
                            &r->share,  &r->sums,   &r->dangling};
  for (device_array *array : arrays) device_release(&r->memory, array);
  cudaEventDestroy(r->start);
  cudaEventDestroy(r->stop);
}

void ranking_reset(ranking *r) {
  const size_t n = (size_t)r->g->vertices;
  float *rank = (float *)host_memory(n * sizeof(float));
  for (size_t v = 0; v < n; ++v) rank[v] = 1.0f / (float)n;
  host_to_device(r->rank.data, rank, n * sizeof(float), "ranks");
  free(rank);
}

typedef void (*push_kernel)(long long, const int *, const int *, const long long *, const float *,
                            float *, int);
#define PUSH_PAIR(name) \
  { push_edge_##name, push_vertex_##name }
static const push_kernel kernels[WAYS][BYS] = {PUSH_PAIR(plain),     PUSH_PAIR(serialized),
                                               PUSH_PAIR(butterfly), PUSH_PAIR(tree),
                                               PUSH_PAIR(auto),      PUSH_PAIR(atomred)};

float ranking_step(ranking *r, int by, int way, int threshold) {
  const int n = r->g->vertices;
  const long long items = by == BY_EDGE ? r->g->edges : n;
  const push_kernel kernel = kernels[way][by];
  float ms = 0.0f;
  device_clear(r->dangling.data, sizeof(double));
  SIMT_LAUNCH(divide, line_blocks((size_t)n), LINE_THREADS, 0, 0, n,
              (const long long *)r->begin.data, (const float *)r->rank.data, (float *)r->share.data,
              (float *)r->sums.data, (double *)r->dangling.data);
  device_check(cudaEventRecord(r->start), "an event");
  SIMT_LAUNCH(kernel, line_blocks((size_t)items), LINE_THREADS, 0, 0, items,
              (const int *)r->source.data, (const int *)r->target.data,
              (const long long *)r->begin.data, (const float *)r->share.data, (float *)r->sums.data,
              threshold);
  device_check(cudaEventRecord(r->stop), "an event");
  SIMT_LAUNCH(apply, line_blocks((size_t)n), LINE_THREADS, 0, 0, n, (const float *)r->sums.data,
              (const double *)r->dangling.data, (float *)r->rank.data);
  device_check(cudaDeviceSynchronize(), "an iteration");
  device_check(cudaEventElapsedTime(&ms, r->start, r->stop), "a time");
  return ms;
}

float *ranking_read(const ranking *r) {
  const size_t bytes = (size_t)r->g->vertices * sizeof(float);
  float *rank = (float *)host_memory(bytes);
  device_to_host(rank, r->rank.data, bytes, "reading ranks");
  return rank;
}
