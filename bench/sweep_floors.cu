/* sweep_floors.cu - the chip's own ceilings, measured, and the floor they put under a group.
   SPDX-License-Identifier: Apache-2.0

   The floor is what no policy can beat that is made of arc's and the peers' reductions, even if it
   knows every warp beforehand, decides for nothing and overlaps everything. README.md has the
   formula. */
#include "simt/simt.cuh"

#include <math.h>
#include <string.h>

#include "sweep.h"
#include "sweep_draw.cuh"
#if SIMT_ON_CPU
#include "model.h"
#endif

int sweep_transposed_shuffles(int width) {
  int shuffles = 0;
  for (int step = 0, live = width; step < 5; ++step, live = (live + 1) / 2)
    shuffles += (live + 1) / 2;
  return shuffles;
}

/* Two for each pair of values at each step: one keeps, one sends. */
int sweep_transposed_selects(int width) {
  int selects = 0;
  for (int step = 0, live = width; step < 5; ++step, live = (live + 1) / 2)
    selects += 2 * (live / 2);
  return selects;
}

/* ---- ceilings ---- */

#if SIMT_ON_CPU

/* Those of model.h, a clock of the chip. It charges nothing for selects nor for
   other arithmetic, and nothing more for a hot row. */
int sweep_rates_measure(struct sweep_rates *rates, int rows, FILE *err) {
  const unsigned long long million = 1000000;
  struct simt_counters shuffles = simt_counters(), requests = shuffles, lanes = shuffles;
  (void)rows, (void)err;
  shuffles.shuffles = requests.reductions = lanes.conflicts = million;
  rates->shuffle = (double)million / model_clocks(&shuffles, 0, "h200");
  rates->select = rates->issue = INFINITY; /* a price of zero */
  rates->coalesced = rates->hot = (double)million / model_clocks(&requests, 0, "h200");
  rates->same_address = (double)million / model_clocks(&lanes, 0, "h200") / 32;
  rates->hot_same_address = rates->same_address;
  rates->vector = 1;
  return 0;
}

void sweep_rates_describe(const struct sweep_rates *rates, FILE *out, const char *prefix) {
  fprintf(out,
          "%sceilings: of the *model*, warp instructions a clock: shuffles %.4g, requests %.4g, "
          "32 lanes on one address %.4g\n",
          prefix, rates->shuffle, rates->coalesced, rates->same_address);
}

#else

enum { chains = 8, floor_threads = 256, floor_stride = 16 };

/* Eight independent chains, so that latency is hidden. */
static __global__ void shuffle_ceiling(float *out, int rounds) {
  unsigned v[chains];
  for (int i = 0; i < chains; ++i) v[i] = threadIdx.x * (unsigned)(i + 1);
  for (int r = 0; r < rounds; ++r) SWEEP_UNROLL
  for (int i = 0; i < chains; ++i) v[i] = __shfl_xor_sync(0xffffffffu, v[i], 1 + i);
  for (int i = 1; i < chains; ++i) v[0] += v[i];
  if (v[0] == 0xffffffffu) out[0] = 1.0f;
}

static __global__ void select_ceiling(float *out, int rounds) {
  unsigned v[chains], other = threadIdx.x ^ 0x55u;
  for (int i = 0; i < chains; ++i) v[i] = threadIdx.x * (unsigned)(i + 1);
  for (int r = 0; r < rounds; ++r)
    asm volatile(
        "{ .reg .pred p; setp.gt.u32 p, %8, %9;\n"
        "selp.b32 %0, %1, %8, p; selp.b32 %1, %2, %8, p; selp.b32 %2, %3, %8, p;\n"
        "selp.b32 %3, %4, %8, p; selp.b32 %4, %5, %8, p; selp.b32 %5, %6, %8, p;\n"
        "selp.b32 %6, %7, %8, p; selp.b32 %7, %0, %8, p; }"
        : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]), "+r"(v[4]), "+r"(v[5]), "+r"(v[6]),
          "+r"(v[7])
        : "r"(other), "r"(r));
  for (int i = 1; i < chains; ++i) v[0] += v[i];
  if (v[0] == 0xffffffffu) out[0] = 1.0f;
}

/* Multiply-adds leave every scheduler an issue slot a clock. */
static __global__ void issue_ceiling(float *out, int rounds) {
  float v[chains], factor = (float)threadIdx.x;
  for (int i = 0; i < chains; ++i) v[i] = factor + (float)i;
  for (int r = 0; r < rounds; ++r) SWEEP_UNROLL
  for (int i = 0; i < chains; ++i) v[i] = v[i] * factor + factor;
  for (int i = 1; i < chains; ++i) v[0] += v[i];
  if (v[0] == 1.25f) out[0] = 1.0f;
}

/* The first `lanes` lanes add to `lanes` floats of a row, or to its first one where spread is 0. */
static __global__ void request_ceiling(float *out, int rounds, int rows, int lanes, int spread) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned state = sweep_mix(warp + 1);
  for (int r = 0; r < rounds; ++r) {
    state = state * 1664525u + 1013904223u;
    float *row = out + (long long)sweep_below(state, (unsigned)rows) * floor_stride;
    if ((int)lane < lanes) atomicAdd(row + (int)lane * spread, 1.0f);
  }
}

struct ceiling_run {
  cudaEvent_t start, stop;
  float *out;
  int blocks;
};

enum ceiling { ceiling_shuffle, ceiling_select, ceiling_issue, ceiling_request };

/* Warp instructions a millisecond, the best of three launches after a first one. */
static double best_rate(const struct ceiling_run *c, enum ceiling which, int rounds, int rows,
                        int lanes, int spread) {
  double per_round = which == ceiling_request ? 1.0 : (double)chains, best = 0.0;
  double instructions = (double)c->blocks * (floor_threads / 32) * rounds * per_round;
  for (int i = 0; i < 4; ++i) {
    float ms = 0.0f;
    cudaEventRecord(c->start, 0);
    if (which == ceiling_shuffle)
      SIMT_LAUNCH(shuffle_ceiling, c->blocks, floor_threads, 0, 0, c->out, rounds);
    if (which == ceiling_select)
      SIMT_LAUNCH(select_ceiling, c->blocks, floor_threads, 0, 0, c->out, rounds);
    if (which == ceiling_issue)
      SIMT_LAUNCH(issue_ceiling, c->blocks, floor_threads, 0, 0, c->out, rounds);
    if (which == ceiling_request)
      SIMT_LAUNCH(request_ceiling, c->blocks, floor_threads, 0, 0, c->out, rounds, rows, lanes,
                  spread);
    cudaEventRecord(c->stop, 0);
    cudaEventSynchronize(c->stop);
    cudaEventElapsedTime(&ms, c->start, c->stop);
    if (i > 0 && ms > 0.0f && instructions / (double)ms > best) best = instructions / (double)ms;
  }
  return best;
}

static void measure_all(const struct ceiling_run *c, int rows, struct sweep_rates *rates) {
  rates->shuffle = best_rate(c, ceiling_shuffle, 400, 0, 0, 0);
  rates->select = best_rate(c, ceiling_select, 800, 0, 0, 0);
  rates->issue = best_rate(c, ceiling_issue, 1600, 0, 0, 0);
  rates->coalesced = best_rate(c, ceiling_request, 512, rows, 10, 1);
  rates->same_address = best_rate(c, ceiling_request, 256, rows, 32, 0);
  rates->hot = best_rate(c, ceiling_request, 64, 1, 10, 1);
  rates->hot_same_address = best_rate(c, ceiling_request, 4, 1, 32, 0);
}

int sweep_rates_measure(struct sweep_rates *rates, int rows, FILE *err) {
  struct ceiling_run c;
  int device = 0, multiprocessors = 0, major = 0;
  memset(&c, 0, sizeof c);
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  c.blocks = 8 * multiprocessors;
  cudaError_t error = cudaMalloc(&c.out, (size_t)rows * floor_stride * sizeof(float));
  if (error == cudaSuccess) error = cudaEventCreate(&c.start);
  if (error == cudaSuccess) error = cudaEventCreate(&c.stop);
  if (error == cudaSuccess) {
    cudaMemset(c.out, 0, (size_t)rows * floor_stride * sizeof(float));
    measure_all(&c, rows, rates);
    rates->vector = major >= 9;
    error = cudaGetLastError();
  }
  if (c.start) cudaEventDestroy(c.start);
  if (c.stop) cudaEventDestroy(c.stop);
  cudaFree(c.out);
  if (error == cudaSuccess) return 0;
  fprintf(err, "ERROR: ceilings: %s\n", cudaGetErrorString(error));
  return 1;
}

void sweep_rates_describe(const struct sweep_rates *rates, FILE *out, const char *prefix) {
  const double giga = 1e-6; /* a millisecond to G a second */
  fprintf(out,
          "%sceilings: measured, G warp instructions a second: issue %.0f, selects %.0f, shuffles "
          "%.0f; requests %.1f, 32 lanes on one address %.2f; into one hot row %.3f, %.4f\n",
          prefix, giga * rates->issue, giga * rates->select, giga * rates->shuffle,
          giga * rates->coalesced, giga * rates->same_address, giga * rates->hot,
          giga * rates->hot_same_address);
}

#endif

/* ---- the floor of a group ---- */

/* What limits a kernel: each is a time, and none overlaps itself. */
enum resource {
  resource_issue,
  resource_select,
  resource_shuffle, /* up to here inside the multiprocessors */
  resource_requests,
  resource_lanes,
  resource_hot_requests,
  resource_hot_lanes,
  resource_count
};
struct cost {
  double of[resource_count]; /* milliseconds, or clocks on the CPU warp */
};

/* How much of each resource the instructions of a warp update take. */
struct prices {
  int width, pieces; /* pieces: reduction instructions in which a lane adds its values */
  struct cost select, shuffle, request;
  struct cost row, lane; /* the first lane of a request on a row, the others */
};

/* The active lanes of one warp update by key, the largest group first; `count` like it. */
struct warp_update {
  int groups, size[32];
  int count;
};

enum { sample_warps = 64, sample_updates = 16, samples = sample_warps * sample_updates };

static void sort_down(int *value, int count) {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && value[j] > value[j - 1]; --j) {
      int kept = value[j];
      value[j] = value[j - 1];
      value[j - 1] = kept;
    }
}

static struct warp_update groups_of(const struct sweep_update *d) {
  struct warp_update u;
  int counted[32] = {0};
  memset(&u, 0, sizeof u);
  u.count = 1;
  for (int i = 0; i < 32; ++i) {
    if (!d[i].active || counted[i]) continue;
    int size = 0;
    for (int j = i; j < 32; ++j)
      if (d[j].active && d[j].key == d[i].key) counted[j] = 1, ++size;
    u.size[u.groups++] = size;
  }
  sort_down(u.size, u.groups);
  return u;
}

static int add_update(struct warp_update *all, int count, const struct warp_update *u) {
  for (int i = 0; i < count; ++i) {
    if (all[i].groups != u->groups) continue;
    if (memcmp(all[i].size, u->size, sizeof u->size) != 0) continue;
    ++all[i].count;
    return count;
  }
  all[count] = *u;
  return count + 1;
}

/* Draws some updates on the host, as the kernels do. Returns how many differ. */
static int sample(const struct sweep_cell *c, const struct sweep_sizes *s,
                  struct warp_update *all) {
  struct sweep_lane_setup setup[32];
  struct sweep_args a;
  int count = 0;
  sweep_workload_args(c, s, &a);
  sweep_workload_lanes(c, s->seed, setup);
  a.lanes = setup;
  for (unsigned warp = 0; warp < sample_warps; ++warp) {
    struct sweep_lane lane[32];
    for (unsigned i = 0; i < 32; ++i) lane[i] = sweep_lane_begin(&a, warp, i, 32);
    for (int u = 0; u < sample_updates; ++u) {
      struct sweep_update d[32];
      for (int i = 0; i < 32; ++i)
        d[i] = c->call == SWEEP_CALL_UNIFORM ? sweep_draw_uniform(&a, &lane[i])
                                             : sweep_draw_keyed(&a, &lane[i]);
      struct warp_update groups = groups_of(d);
      count = add_update(all, count, &groups);
    }
  }
  return count;
}

static struct prices prices_of(const struct sweep_rates *r, const struct sweep_cell *c,
                               const struct sweep_sizes *s) {
  struct prices p;
  struct sweep_args a;
  sweep_workload_args(c, s, &a);
  memset(&p, 0, sizeof p);
  p.width = c->width;
  p.pieces = c->width;
  if (r->vector && s->padding % 4 == 0)
    p.pieces = c->width / 4 + (c->width % 4 >= 2) + c->width % 2;
  p.select.of[resource_issue] = 1.0 / r->issue;
  p.select.of[resource_select] = 1.0 / r->select;
  p.shuffle.of[resource_issue] = 2.0 / r->issue; /* an addition follows */
  p.shuffle.of[resource_shuffle] = 1.0 / r->shuffle;
  p.request.of[resource_issue] = 1.0 / r->issue;
  p.request.of[resource_requests] = 1.0 / r->coalesced;
  p.request.of[resource_hot_requests] = 1.0 / (r->hot * a.key_count);
  p.lane.of[resource_lanes] = 1.0 / (32.0 * r->same_address);
  p.lane.of[resource_hot_lanes] = 1.0 / (32.0 * r->hot_same_address * a.key_count);
  p.row.of[resource_lanes] = p.lane.of[resource_lanes] * (a.stride < 8 ? a.stride / 8.0 : 1.0);
  return p;
}

static double weighted(const struct cost *c, const double *weight) {
  double sum = 0.0;
  for (int r = 0; r < resource_count; ++r)
    if (weight[r] > 0.0) sum += weight[r] * c->of[r];
  return sum;
}

/* The cheapest way to carry out an update: the `first` largest groups by one transposed reduction
   of all their values and coalesced requests, the groups up to `second` by one tree, the other
   lanes directly. A request pays each row that it goes to; narrow rows may share a sector. */
static double cheapest(const struct warp_update *u, const struct prices *p, const double *weight) {
  double select = weighted(&p->select, weight), shuffle = weighted(&p->shuffle, weight);
  double request = weighted(&p->request, weight), lane = weighted(&p->lane, weight);
  double row = weighted(&p->row, weight);
  double best = INFINITY;
  for (int first = 0; first <= u->groups; ++first) {
    int rows = u->groups - first, more_lanes = -rows, rounds = 0, values = first * p->width;
    double transposed = sweep_transposed_shuffles(values) * shuffle +
                        sweep_transposed_selects(values) * select + (values + 31) / 32 * request +
                        first * row;
    if (first == 0) transposed = 0.0;
    for (int g = first; g < u->groups; ++g) more_lanes += u->size[g];
    for (int second = first; second <= u->groups; ++second) {
      if (second > first) more_lanes -= u->size[second - 1] - 1;
      while (second > first && 1 << rounds < u->size[first]) ++rounds;
      double cost = transposed + rounds * p->width * shuffle +
                    p->pieces * ((rows > 0) * request + rows * row + more_lanes * lane);
      best = fmin(best, cost);
    }
  }
  return best;
}

/* Whoever is limited by two resources takes at least any weighted mean of their times. */
static double bound(const struct warp_update *all, int count, const struct prices *p,
                    double updates, double base, int a, int b, double share) {
  double weight[resource_count] = {0}, sum = 0.0;
  weight[a] = share;
  weight[b] = 1.0 - share;
  for (int i = 0; i < count; ++i) sum += all[i].count * cheapest(&all[i], p, weight);
  return weight[resource_issue] * base + sum / samples * updates;
}

double sweep_floor(const struct sweep_rates *rates, const struct sweep_cell *c,
                   const struct sweep_sizes *s, double base) {
  static struct warp_update all[samples];
  int count = sample(c, s, all);
  struct prices p = prices_of(rates, c, s);
  double updates = sweep_warp_updates(c, s), floor = base;
#if SIMT_ON_CPU
  updates = 1000.0; /* what the model's gross is for */
#endif
  for (int inside = resource_issue; inside <= resource_shuffle; ++inside)
    for (int outside = resource_requests; outside < resource_count; ++outside)
      for (int share = 0; share <= 4; ++share)
        floor = fmax(floor, bound(all, count, &p, updates, base, inside, outside, 0.25 * share));
  return floor;
}
