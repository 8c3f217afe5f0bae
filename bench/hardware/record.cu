// bench/hardware: records warp steps on the CPU warp. SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <stdint.h>
#include <string.h>

#include <map>
#include <vector>

#include "../../examples/common/output_file.h"
#include "simt/simt.cuh"
#include "trace.h"

#include "arc.cuh"

enum { MOST_WARPS = 384, MOST_STEPS = 12, MOST_FORMS = 34 };

// ---- the first pass: who adds to which row ------------------------------------------------------

struct step {
  unsigned phase;
  int keys[32];  // -1: the lane is not active
};
typedef std::vector<step> steps;

struct recording {
  const float *rows;
  size_t floats;
  int stride;
  std::map<unsigned, steps> warps;  // by block and warp
};
static recording the;

static step *next_step_of(steps *all, int lane, unsigned phase) {
  size_t i = all->size();
  while (i > 0 && (*all)[i - 1].phase == phase) --i;
  while (i < all->size() && ((*all)[i].phase != phase || (*all)[i].keys[lane] >= 0)) ++i;
  if (i == all->size()) {
    step s = {phase, {}};
    memset(s.keys, -1, sizeof s.keys);
    all->push_back(s);
  }
  return &(*all)[i];
}

static void on_atomic(const struct simt_atomic *a, void *) {
  const size_t at = (size_t)((const float *)a->address - the.rows);
  if ((const float *)a->address < the.rows || at >= the.floats || at % (size_t)the.stride) return;
  const unsigned warp = threadIdx.x / 32;
  steps *all = &the.warps[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + warp];
  if (all->size() > 4 * MOST_STEPS) return;
  next_step_of(all, (int)threadIdx.x % 32, a->phase)->keys[threadIdx.x % 32] =
      (int)(at / (size_t)the.stride);
}

void record_begin(const float *rows, size_t floats, int stride) {
  the.rows = rows;
  the.floats = floats;
  the.stride = stride;
  simt_set_atomic_trace(on_atomic, NULL);
}

void record_step(int warp, const int keys[32]) {
  step s = {0, {}};
  memcpy(s.keys, keys, sizeof s.keys);
  the.warps[(unsigned)warp].push_back(s);
}

// ---- the second pass: what arc executes ---------------------------------------------------------

template <int width, int stride, unsigned promises>
static __global__ void replay(const int *keys, float *rows, int path, int threshold) {
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
  arc_add_with_f32(arc_target_f32_rows(rows, stride, width), key < 0 ? any : key, v, key >= 0, o);
}

struct call_form {
  int width, stride;
  void (*kernel)(const int *, float *, int, int);
};
enum : unsigned {
  PROMISED = ARC_PROMISE_RENDERER,
  ONE_KEY = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO
};
#define SWEEP(width) \
  { width, (width + 3) / 4 * 4, replay<width, (width + 3) / 4 * 4, SWEPT> }
enum : unsigned { SWEPT = ARC_PROMISE_ONE_KEY };
static const call_form forms_of_calls[] = {
    {9, 12, replay<9, 12, PROMISED | ONE_KEY>},
    {3, 3, replay<3, 3, ONE_KEY>},
    {3, 3, replay<3, 3, PROMISED>},
    {20, 20, replay<20, 20, PROMISED | ARC_PROMISE_ALIGNED_16>},
    {1, 1, replay<1, 1, 0>},
    SWEEP(1),
    SWEEP(3),
    SWEEP(4),
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

// ---- writing ------------------------------------------------------------------------------------

typedef std::vector<uint8_t> bytes;

static void put(bytes *out, uint32_t value) {
  for (; value > 127; value >>= 7) out->push_back((uint8_t)(value | 128));
  out->push_back((uint8_t)value);
}

static bool continues(const instruction *a, const instruction *b, unsigned distance) {
  bool same = a->mask == b->mask && a->bytes == b->bytes;
  for (int i = 0; i < 32 && same; ++i)
    same = !(a->mask >> i & 1u) || b->words[i] == a->words[i] + distance;
  return same;
}

// Whether each lane's address is so many words above the one before.
static bool is_run(const instruction *k, uint32_t distance) {
  uint32_t word = k->words[__builtin_ctz(k->mask)];
  bool run = (k->mask & (k->mask - 1)) != 0;
  for (unsigned rest = k->mask; rest; rest &= rest - 1, word += distance)
    run = run && k->words[__builtin_ctz(rest)] == word;
  return run;
}

// Where the next request continues: the word and the lanes of the last one.
struct position {
  uint32_t word, mask;
};

static void put_request(bytes *out, const instruction *k, unsigned repeats, position *last) {
  const unsigned run = is_run(k, 0) ? TRACE_SAME : is_run(k, 1) ? TRACE_RUN : TRACE_ANY;
  put(out, repeats << 5 | (k->bytes / 4) << 2 | run);
  put(out, k->mask == last->mask ? 0 : k->mask);
  last->mask = k->mask;
  for (unsigned rest = k->mask; rest; rest &= rest - 1) {
    const uint32_t word = k->words[__builtin_ctz(rest)], difference = word - last->word;
    put(out, difference << 1 ^ (0u - (difference >> 31)));
    last->word = word;
    if (run != TRACE_ANY) return;
  }
}

// One form of a step; words are relative to the last one written.
static void put_form(bytes *out, const simt_counters *c, const std::vector<instruction> &list,
                     position *last) {
  bytes requests;
  unsigned count = 0;
  for (size_t i = 0; i < list.size(); ++count) {
    size_t end = i + 1;
    while (end < list.size() && continues(&list[i], &list[end], (unsigned)(end - i))) ++end;
    put_request(&requests, &list[i], (unsigned)(end - i), last);
    i = end;
  }
  for (unsigned long long n : {c->shuffles, c->votes, c->matches, c->scans}) put(out, (uint32_t)n);
  put(out, count);
  out->insert(out->end(), requests.begin(), requests.end());
}

struct replayed {
  simt_counters counters;
  std::vector<instruction> list;
};

static replayed replay_step(const call_form *f, const step *s, float *rows, int path,
                            int threshold) {
  replaying r = {rows, {}};
  simt_set_atomic_trace(on_replayed, &r);
  simt_counters_reset();
  SIMT_LAUNCH(f->kernel, 1, 32, 0, 0, (const int *)s->keys, rows, path, threshold);
  return {simt_counters_read(), r.list};
}

// The thresholds at which a path may change: 0, and above the size of each group.
static std::vector<int> thresholds_of(const step *s, int path) {
  bool starts[34] = {true};
  std::vector<int> list;
  for (int i = 0; i < 32; ++i) {
    int size = 0;
    for (int k = 0; k < 32; ++k) size += s->keys[k] == s->keys[i];
    if (s->keys[i] >= 0) starts[size + 1] = true;
  }
  for (int t = 0; t < 34 && (t == 0 || path == TRACE_SERIALIZED || path == TRACE_BUTTERFLY); ++t)
    if (starts[t]) list.push_back(t);
  return list;
}

static void put_step(bytes *out, const call_form *f, const step *s, float *rows, position *last) {
  static const int paths[TRACE_PATHS] = {ARC_PATH_ATOMIC, ARC_PATH_SERIALIZED, ARC_PATH_BUTTERFLY,
                                         ARC_PATH_AUTO};
  uint32_t lanes = 0;
  for (int key : s->keys) lanes += key >= 0;
  put(out, lanes);
  for (int path = 0; path < TRACE_PATHS; ++path) {
    const std::vector<int> starts = thresholds_of(s, path);
    put(out, (uint32_t)starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      const int threshold = path == TRACE_AUTO ? (int)ARC_THRESHOLD_AUTO : starts[i];
      const replayed r = replay_step(f, s, rows, paths[path], threshold);
      put_form(out, &r.counters, r.list, last);
      put(out, i + 1 < starts.size() ? (uint32_t)starts[i + 1] : (uint32_t)THRESHOLDS);
    }
  }
}

// Whole blocks, evenly spread: their warps run side by side.
static std::vector<const steps *> sample(void) {
  std::map<unsigned, std::vector<const steps *>> blocks;
  std::vector<const steps *> list;
  size_t number = 0;
  for (const auto &w : the.warps) blocks[w.first / 32].push_back(&w.second);
  const size_t every = (the.warps.size() + MOST_WARPS - 1) / MOST_WARPS;
  for (const auto &b : blocks)
    if (number++ % every == 0) list.insert(list.end(), b.second.begin(), b.second.end());
  if (list.size() > MOST_WARPS) list.resize(MOST_WARPS);
  return list;
}

static bytes encode(const call_form *f, const char *name, float *rows) {
  bytes out;
  position last = {0, 0};
  char title[sizeof trace().name] = {};
  const std::vector<const steps *> warps = sample();
  for (const char *c = "arc-steps 1\n"; *c; ++c) out.push_back((uint8_t)*c);
  snprintf(title, sizeof title, "%s", name);
  out.insert(out.end(), title, title + sizeof title);
  put(&out, (uint32_t)f->width);
  put(&out, (uint32_t)warps.size());
  for (const steps *w : warps) {
    const size_t count = w->size() < MOST_STEPS ? w->size() : (size_t)MOST_STEPS;
    put(&out, (uint32_t)count);
    for (size_t i = 0; i < count; ++i) put_step(&out, f, &(*w)[i], rows, &last);
  }
  return out;
}

static int record_fail(const error_line *error) {
  fprintf(stderr, "hardware: %s\n", error->text);
  return 1;
}

int record_end(record_call call, const char *name, const char *file) {
  const call_form *f = &forms_of_calls[call];
  size_t rows = 1;
  simt_set_atomic_trace(NULL, NULL);
  for (const auto &w : the.warps)
    for (const step &s : w.second)
      for (int key : s.keys) rows = key >= (int)rows ? (size_t)key + 1 : rows;
  float *memory = NULL;
  cudaMalloc(&memory, rows * (size_t)f->stride * sizeof(float));
  const bytes out = encode(f, name, memory);
  cudaFree(memory);
  simt_set_atomic_trace(NULL, NULL);
  error_line error;
  output_file to;
  if (!output_file_open(&to, file, &error)) return record_fail(&error);
  fwrite(out.data(), 1, out.size(), to.stream);
  if (!output_file_commit(&to, &error)) return record_fail(&error);
  printf("%-12s %zu warps, %zu bytes\n", name, the.warps.size(), out.size());
  return 0;
}
