// studies/hardware: carries out recorded steps through arc on the CPU warp, and writes down what it
// counts. SPDX-License-Identifier: Apache-2.0
#include "simt/simt.cuh"
#include "trace.h"

#include "arc.cuh"

enum { BUILT }; /* a path of none */

/* The last block's step: 0 and 1 are of the two halves by which auto decides. */
template <int width, int stride, unsigned promises>
static __global__ void replay(const int *keys, float *rows, int path, int threshold) {
  if (blockIdx.x + 1 < gridDim.x) return;
  const arc_target_f32 target = arc_target_f32_rows(rows, stride, width);
  if (path == BUILT) return;
  const int key = keys[threadIdx.x], lane = (int)threadIdx.x;
  float v[width];
  for (int i = 0; i < width; ++i) v[i] = key < 0 ? 0.0f : (float)(lane + i);
  int any = key;
  for (int i = 0; i < 32; ++i) any = any < 0 ? keys[i] : any;
  arc_options o = arc_options_default();
  o.path = path;
  o.threshold = threshold;
  o.promises = promises;
  if (path == ARC_PATH_ATOMIC) {
    for (int i = 0; i < width && key >= 0; ++i) atomicAdd(rows + (long long)key * stride + i, v[i]);
    return;
  }
  arc_add_with_f32(target, key < 0 ? any : key, v, key >= 0, o);
}

struct call_form {
  int width, stride;
  void (*kernel)(const int *, float *, int, int);
};
enum : unsigned {
  PROMISED = ARC_PROMISE_RENDERER,
  ONE_KEY = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO,
  SWEPT = ARC_PROMISE_ONE_KEY
};
#define SWEEP(width) \
  { width, (width + 3) / 4 * 4, replay<width, (width + 3) / 4 * 4, SWEPT> }
static const call_form forms_of_calls[CALL_END] = {
    {9, 12, replay<9, 12, PROMISED | ONE_KEY>},
    {3, 3, replay<3, 3, ONE_KEY>},
    {3, 3, replay<3, 3, PROMISED>},
    {20, 20, replay<20, 20, PROMISED | ARC_PROMISE_ALIGNED_16>},
    {1, 1, replay<1, 1, 0>},
    SWEEP(1),
    SWEEP(3),
    SWEEP(9),
    SWEEP(10),
    SWEEP(16),
    SWEEP(32)};

// An instruction, as it is put together from its lanes.
struct instruction {
  const void *site;
  unsigned phase, mask, bytes;
  uint32_t words[32];
};
struct replaying {
  const float *rows;
  std::vector<instruction> list;
};

static void on_replayed(const struct simt_atomic *a, void *user) {
  replaying *r = (replaying *)user;
  const unsigned lane = threadIdx.x, bit = 1u << lane;
  size_t i = 0;
  for (; i < r->list.size(); ++i) {
    const instruction *k = &r->list[i];
    if (k->site == a->site && k->phase == a->phase && k->bytes == a->bytes && !(k->mask & bit))
      break;
  }
  if (i == r->list.size()) r->list.push_back({a->site, a->phase, 0, a->bytes, {}});
  r->list[i].mask |= bit;
  r->list[i].words[lane] = (uint32_t)((const float *)a->address - r->rows);
}

static bool continues(const instruction *a, const instruction *b, size_t distance) {
  bool same = a->mask == b->mask && a->bytes == b->bytes;
  for (int i = 0; i < 32 && same; ++i)
    same = !(a->mask >> i & 1u) || b->words[i] == a->words[i] + distance;
  return same;
}

static trace_request request_of(const instruction *k, size_t repeats) {
  trace_request q = {k->mask, (int)repeats, (int)k->bytes / 4, {}};
  for (unsigned rest = k->mask; rest; rest &= rest - 1)
    q.words.push_back(k->words[__builtin_ctz(rest)]);
  return q;
}

// A target is built once a kernel, not in each step.
static trace_form form_of(const call_form *f, int block, const int *keys, float *rows, int path,
                          int threshold) {
  replaying r = {rows, {}};
  simt_counters_reset();
  SIMT_LAUNCH(f->kernel, 1, 32, 0, 0, keys, rows, BUILT, 0);
  const simt_counters built = simt_counters_read();
  simt_set_atomic_trace(on_replayed, &r);
  simt_counters_reset();
  SIMT_LAUNCH(f->kernel, block + 1, 32, 0, 0, keys, rows, path, threshold);
  simt_set_atomic_trace(NULL, NULL);
  const simt_counters c = simt_counters_read();
  trace_form form = {
      (int)c.shuffles, (int)c.votes, (int)c.matches, (int)(c.scans - built.scans), {}};
  for (size_t i = 0, end; i < r.list.size(); i = end) {
    for (end = i + 1; end < r.list.size() && continues(&r.list[i], &r.list[end], end - i);) ++end;
    form.requests.push_back(request_of(&r.list[i], end - i));
  }
  return form;
}

// A path of the papers may change at a threshold above the size of each group.
static trace_step step_of(const call_form *f, int block, const int keys[32], float *rows) {
  static const int paths[TRACE_PATHS] = {ARC_PATH_ATOMIC, ARC_PATH_SERIALIZED, ARC_PATH_BUTTERFLY,
                                         ARC_PATH_AUTO};
  bool changes[THRESHOLDS] = {};
  trace_step s;
  for (int i = 0; i < 32; ++i) {
    int size = 0;
    for (int k = 0; k < 32; ++k) size += keys[k] == keys[i];
    if (keys[i] >= 0) changes[size + 1] = true;
  }
  for (int path = 0; path < TRACE_PATHS; ++path) {
    const bool of_papers = path == TRACE_SERIALIZED || path == TRACE_BUTTERFLY;
    for (int t = 0; t < THRESHOLDS; ++t) {
      const int threshold = path == TRACE_AUTO ? (int)ARC_THRESHOLD_AUTO : t;
      if (t == 0 || (of_papers && changes[t]))
        s.forms[path].push_back(form_of(f, block, keys, rows, paths[path], threshold));
      s.form_at[path][t] = (int)s.forms[path].size() - 1;
    }
  }
  return s;
}

trace trace_of(const recording *r) {
  const call_form *f = &forms_of_calls[r->call];
  int rows = 0, warp = -1;
  for (const recorded_step &s : r->steps)
    for (int key : s.keys) rows = key >= rows ? key + 1 : rows;
  float *memory = NULL;
  cudaMalloc(&memory, (size_t)rows * (size_t)f->stride * sizeof(float));
  trace t = {f->width, {}};
  for (const recorded_step &s : r->steps) {
    if (t.warps.empty() || s.warp != warp) t.warps.emplace_back();
    warp = s.warp;
    t.warps.back().push_back(step_of(f, s.warp % 2, s.keys, memory));
  }
  cudaFree(memory);
  return t;
}
