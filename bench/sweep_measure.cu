/* sweep_measure.cu - launches, times (GPU) or counts (CPU warp) and checks the cells of a group.
   SPDX-License-Identifier: Apache-2.0

   The cells of a group take turns, round after round, so that drift of clocks and temperature hits
   all of them alike. Each launch starts from zeroed rows; the zeroing is outside of the events. */
#include "simt/simt.cuh"

#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"

#include "sweep.h"
#include "sweep_kernel_table.h"
#include "sweep_oracle.cuh"

struct sweep_bench {
  struct sweep_sizes sizes;
  double tamper;
  float *rows;
  struct sweep_lane_setup *lanes; /* device */
  struct sweep_expected *expected;
  struct sweep_verified *verified;
  struct sweep_cell expected_of; /* the cell whose sums `expected` holds */
  int expected_known;
  cudaEvent_t start, stop;
  double clock_mhz; /* GPU only, measured */
  int schedulers;   /* GPU only */
};

/* ---- kernels by cell ---- */

static const struct sweep_kernels *table_of(const struct sweep_cell *c) {
  int zeros = c->zeros;
  switch (c->path) {
    case SWEEP_PATH_NONE: return sweep_kernels_none;
    case SWEEP_PATH_PLAIN: return sweep_kernels_plain;
    case SWEEP_PATH_VECTOR: return sweep_kernels_vector;
    case SWEEP_PATH_BROKEN: return sweep_kernels_broken;
    case SWEEP_PATH_ATOMIC: return sweep_kernels_atomic;
    case SWEEP_PATH_SERIALIZED: return sweep_kernels_serialized;
    case SWEEP_PATH_BUTTERFLY:
      if (c->threshold == 0)
        return zeros ? sweep_kernels_butterfly_always_zeros : sweep_kernels_butterfly_always;
      return zeros ? sweep_kernels_butterfly_zeros : sweep_kernels_butterfly;
    case SWEEP_PATH_TRANSPOSED:
      if (c->threshold == 0)
        return zeros ? sweep_kernels_transposed_always_zeros : sweep_kernels_transposed_always;
      return zeros ? sweep_kernels_transposed_zeros : sweep_kernels_transposed;
    case SWEEP_PATH_TREE:
      if (c->threshold == 0 && !zeros) return sweep_kernels_tree_always;
      return zeros ? sweep_kernels_tree_zeros : sweep_kernels_tree;
    default: break;
  }
  if (c->threshold != SWEEP_THRESHOLD_DEFAULT) return sweep_kernels_auto;
  return zeros ? sweep_kernels_auto_default_zeros : sweep_kernels_auto_default;
}

static sweep_kernel kernel_of(const struct sweep_cell *c) {
  const struct sweep_kernels *table = table_of(c);
  for (int i = 0; i < SWEEP_WIDTH_COUNT; ++i)
    if (table[i].width == c->width)
      return c->call == SWEEP_CALL_UNIFORM ? table[i].uniform : table[i].keyed;
  abort();
}

/* ---- arguments by cell ---- */

static void shuffle_ranks(struct sweep_lane_setup *lanes, unsigned seed) {
  for (int i = 31; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    int j = (int)sweep_below(seed, (unsigned)(i + 1));
    int rank = lanes[i].rank;
    lanes[i].rank = lanes[j].rank;
    lanes[j].rank = rank;
  }
}

/* The first `count` ranks on evenly spaced lanes; for drawn counts a bit reversal, whose every
   prefix is nearly even. */
static void spread_ranks(struct sweep_lane_setup *lanes, int count) {
  if (count == SWEEP_LANES_MIXED) {
    for (int lane = 0; lane < 32; ++lane)
      lanes[lane].rank =
          (lane & 1) << 4 | (lane & 2) << 2 | (lane & 4) | (lane & 8) >> 2 | (lane & 16) >> 4;
    return;
  }
  int next = 0, other = count;
  for (int lane = 0; lane < 32; ++lane) {
    int chosen = next < count && lane == next * 32 / count;
    lanes[lane].rank = chosen ? next++ : other++;
  }
}

static void fill_lanes(struct sweep_lane_setup *lanes, const struct sweep_cell *c, unsigned seed) {
  for (int lane = 0; lane < 32; ++lane) {
    struct sweep_lane_setup *l = &lanes[lane];
    l->rank = c->shape == SWEEP_SHAPE_SINGLE ? 31 - lane : lane;
    l->group = 0;
    if (c->layout == SWEEP_LAYOUT_INTERLEAVED) l->group = lane % c->keys;
    if (c->layout == SWEEP_LAYOUT_CONTIGUOUS) l->group = lane * c->keys / 32;
    l->inactive_value = c->zeros ? 0.0f : simt_poison_f32();
    l->never = 0;
  }
  if (c->shape == SWEEP_SHAPE_SCATTERED) shuffle_ranks(lanes, seed);
  if (c->shape == SWEEP_SHAPE_STRIDED) spread_ranks(lanes, c->lanes);
}

static struct sweep_args args_of(const struct sweep_bench *b, const struct sweep_cell *c) {
  struct sweep_args a;
  memset(&a, 0, sizeof a);
  a.rows = b->rows;
  a.lanes = b->lanes;
  a.stride = (c->width + b->sizes.padding - 1) / b->sizes.padding * b->sizes.padding;
  a.row_count = b->sizes.rows;
  a.updates = b->sizes.updates;
  a.threshold = c->threshold;
  a.seed = (unsigned)b->sizes.seed;
  a.count_base = c->lanes;
  if (c->lanes == SWEEP_LANES_MIXED) {
    a.count_base = 1;
    a.count_mask_many = 31;
    a.count_mask_flip = 31 ^ 3;
  }
  if (c->shape == SWEEP_SHAPE_RANDOM) {
    a.rank_step_mask = 30;
    a.rank_shift_mask = 31;
  }
  if (c->layout == SWEEP_LAYOUT_RANDOM && c->call == SWEEP_CALL_KEYED)
    a.random_groups = (unsigned)c->keys;
  return a;
}

/* ---- device ---- */

static int failed(cudaError_t error, const char *what, FILE *err) {
  if (error == cudaSuccess) return 0;
  fprintf(err, "ERROR: %s: %s\n", what, cudaGetErrorString(error));
  return 1;
}

static size_t largest_stride(const struct sweep_plan *plan, const struct sweep_sizes *sizes) {
  int width = 1;
  for (int i = 0; i < plan->count; ++i)
    if (plan->cell[i].width > width) width = plan->cell[i].width;
  return (size_t)((width + sizes->padding - 1) / sizes->padding * sizes->padding);
}

#if !SIMT_ON_CPU
static __global__ void spin(long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {
  }
}

/* Wakes the clocks up and reads them: a fixed number of clocks, timed. */
static double measure_clock_mhz(struct sweep_bench *b) {
  const long long clocks = 200000000;
  float ms = 0.0f;
  cudaEventRecord(b->start, 0);
  SIMT_LAUNCH(spin, 1, 32, 0, 0, clocks);
  cudaEventRecord(b->stop, 0);
  cudaEventSynchronize(b->stop);
  cudaEventElapsedTime(&ms, b->start, b->stop);
  return ms > 0.0f ? (double)clocks / ((double)ms * 1000.0) : 0.0;
}
#endif

struct sweep_bench *sweep_bench_open(const struct sweep_options *o, const struct sweep_plan *plan,
                                     FILE *err) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(err, "arc_sweep: there is no GPU here; arc_sweep_simt runs without one\n");
    return NULL;
  }
  struct sweep_bench *b = (struct sweep_bench *)calloc(1, sizeof *b);
  if (!b) return NULL;
  b->sizes = o->sizes;
  b->tamper = o->wrong_oracle ? 1.01 : 1.0;
  size_t rows = (size_t)o->sizes.rows;
  if (failed(cudaMalloc(&b->rows, rows * largest_stride(plan, &o->sizes) * sizeof(float)), "rows",
             err) ||
      failed(cudaMalloc(&b->expected, rows * sizeof *b->expected), "expected sums", err) ||
      failed(cudaMalloc(&b->lanes, 32 * sizeof *b->lanes), "lanes", err) ||
      failed(cudaMalloc(&b->verified, sizeof *b->verified), "check", err) ||
      failed(cudaEventCreate(&b->start), "event", err) ||
      failed(cudaEventCreate(&b->stop), "event", err)) {
    sweep_bench_close(b);
    return NULL;
  }
#if !SIMT_ON_CPU
  b->clock_mhz = measure_clock_mhz(b);
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  b->schedulers = 4 * multiprocessors;
#endif
  return b;
}

void sweep_bench_close(struct sweep_bench *b) {
  if (!b) return;
  cudaFree(b->rows);
  cudaFree(b->expected);
  cudaFree(b->lanes);
  cudaFree(b->verified);
  if (b->start) cudaEventDestroy(b->start);
  if (b->stop) cudaEventDestroy(b->stop);
  free(b);
}

/* ---- checking ---- */

/* The expected sums depend on masks, keys and sizes, not on width, path or garbage. */
static int same_updates(const struct sweep_cell *a, const struct sweep_cell *b) {
  return a->lanes == b->lanes && a->shape == b->shape && a->keys == b->keys &&
         a->layout == b->layout && a->call == b->call;
}

static void prepare_expected(struct sweep_bench *b, const struct sweep_cell *c) {
  if (b->expected_known && same_updates(&b->expected_of, c)) return;
  struct sweep_args a = args_of(b, c);
  int uniform = c->call == SWEEP_CALL_UNIFORM;
  cudaMemset(b->expected, 0, (size_t)b->sizes.rows * sizeof *b->expected);
#if SIMT_ON_CPU
  sweep_expect(&a, uniform, b->sizes.blocks, b->sizes.threads, b->expected);
#else
  SIMT_LAUNCH(sweep_expect_kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a, uniform,
              b->expected);
#endif
  b->expected_of = *c;
  b->expected_known = 1;
}

static void verify(struct sweep_bench *b, const struct sweep_cell *c, struct sweep_result *r) {
  struct sweep_args a = args_of(b, c);
  struct sweep_verified v;
  if (c->path == SWEEP_PATH_NONE) return;
  cudaMemset(b->verified, 0, sizeof *b->verified);
#if SIMT_ON_CPU
  sweep_verify(&a, c->width, b->tamper, b->expected, b->verified);
#else
  SIMT_LAUNCH(sweep_verify_kernel, 1056, 256, 0, 0, a, c->width, b->tamper, b->expected,
              b->verified);
#endif
  cudaMemcpy(&v, b->verified, sizeof v, cudaMemcpyDeviceToHost);
  r->wrong = (long)v.wrong;
  float worst;
  memcpy(&worst, &v.worst, sizeof worst);
  r->worst_error = (double)worst;
}

/* ---- one launch ---- */

/* Returns the milliseconds of the launch; on the CPU warp the counters are what is wanted. */
static double launch(struct sweep_bench *b, const struct sweep_cell *c, sweep_kernel kernel) {
  struct sweep_args a = args_of(b, c);
  float ms = 0.0f;
  cudaMemsetAsync(b->rows, 0, (size_t)a.row_count * (size_t)a.stride * sizeof(float), 0);
#if SIMT_ON_CPU
  simt_counters_reset();
  SIMT_LAUNCH(kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a);
#else
  cudaEventRecord(b->start, 0);
  SIMT_LAUNCH(kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a);
  cudaEventRecord(b->stop, 0);
  cudaEventSynchronize(b->stop);
  cudaEventElapsedTime(&ms, b->start, b->stop);
#endif
  return (double)ms;
}

#if SIMT_ON_CPU

static void fill_counts(const struct sweep_bench *b, struct sweep_result *r) {
  struct simt_counters c = simt_counters_read();
  double updates = sweep_bench_warp_updates(b);
  r->gross = 1000.0 * simt_model_clocks(&c, "h200") / updates;
  r->shuffles = (double)c.shuffles / updates;
  r->votes = (double)c.votes / updates;
  r->matches = (double)c.matches / updates;
  r->reductions = (double)c.reductions / updates;
  r->lane_adds = (double)c.lane_adds / updates;
  r->sectors = (double)c.sectors / updates;
  r->conflicts = (double)c.conflicts / updates;
  r->launches = 1;
}

static int measure_cells(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                         struct sweep_result *results, FILE *err) {
  for (int i = 0; i < count; ++i) {
    launch(b, &cells[i], kernel_of(&cells[i]));
    if (failed(cudaGetLastError(), sweep_path_name(cells[i].path), err)) return 1;
    fill_counts(b, &results[i]);
    verify(b, &cells[i], &results[i]);
  }
  return 0;
}

#else

/* A short cell gets three times --repeat launches, as long as they fit into the budget. */
enum { rounds_per_repeat = 3 };
static const double cell_budget_ms = 20.0;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double q) {
  double at = q * (count - 1);
  int below = (int)at;
  int above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static void fill_times(struct sweep_result *r, double *ms, int count) {
  qsort(ms, (size_t)count, sizeof *ms, by_value);
  r->gross = quantile(ms, count, 0.5);
  r->low = ms[0];
  r->high = ms[count - 1];
  r->quartile_low = quantile(ms, count, 0.25);
  r->quartile_high = quantile(ms, count, 0.75);
  r->launches = count;
}

/* Warm-up, which also checks the sums and tells how many rounds a cell can afford. */
static int warm_up(struct sweep_bench *b, const struct sweep_cell *c, struct sweep_result *r,
                   int *rounds, FILE *err) {
  sweep_kernel kernel = kernel_of(c);
  cudaFuncAttributes attributes;
  if (failed(cudaFuncGetAttributes(&attributes, (const void *)kernel), sweep_path_name(c->path),
             err))
    return 1;
  r->registers = attributes.numRegs;
  r->local_bytes = (int)attributes.localSizeBytes;
  double ms = launch(b, c, kernel);
  verify(b, c, r);
  if (failed(cudaGetLastError(), sweep_path_name(c->path), err)) return 1;
  int most = rounds_per_repeat * b->sizes.repeat;
  double affordable = cell_budget_ms / (ms > 1e-3 ? ms : 1e-3);
  *rounds = affordable < b->sizes.repeat ? b->sizes.repeat
            : affordable > most ? most
                                : (int)affordable;
  return 0;
}

static int measure_cells(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                         struct sweep_result *results, FILE *err) {
  int most = rounds_per_repeat * b->sizes.repeat;
  int *rounds = (int *)calloc((size_t)count, sizeof *rounds);
  double *ms = (double *)calloc((size_t)count * (size_t)most, sizeof *ms);
  int bad = !rounds || !ms;
  for (int i = 0; i < count && !bad; ++i) bad = warm_up(b, &cells[i], &results[i], &rounds[i], err);
  for (int round = 0; round < most && !bad; ++round) {
    if (round > 0 && sweep_interrupted()) break;
    for (int i = 0; i < count; ++i) {
      if (round >= rounds[i]) continue;
      ms[(size_t)i * (size_t)most + (size_t)round] = launch(b, &cells[i], kernel_of(&cells[i]));
      results[i].launches = round + 1;
    }
  }
  for (int i = 0; i < count && !bad; ++i) {
    /* The last launch is checked as well as the first. */
    long wrong = results[i].wrong;
    double worst = results[i].worst_error;
    launch(b, &cells[i], kernel_of(&cells[i]));
    verify(b, &cells[i], &results[i]);
    if (wrong > results[i].wrong) results[i].wrong = wrong, results[i].worst_error = worst;
    fill_times(&results[i], ms + (size_t)i * (size_t)most, results[i].launches);
  }
  bad |= failed(cudaGetLastError(), "launch", err);
  free(rounds);
  free(ms);
  return bad;
}

#endif

int sweep_bench_group(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                      struct sweep_result *results, FILE *err) {
  struct sweep_lane_setup lanes[32];
  memset(results, 0, (size_t)count * sizeof *results);
  fill_lanes(lanes, &cells[0], (unsigned)b->sizes.seed);
  cudaMemcpy(b->lanes, lanes, sizeof lanes, cudaMemcpyHostToDevice);
  prepare_expected(b, &cells[0]);
  if (measure_cells(b, cells, count, results, err)) return 1;
  double plain_net = 0.0;
  for (int i = 0; i < count; ++i) {
    results[i].cell = cells[i];
    results[i].net = results[i].gross - results[0].gross; /* cell 0 is `none` */
    if (cells[i].path == SWEEP_PATH_PLAIN) plain_net = results[i].net;
  }
  for (int i = 0; i < count; ++i)
    results[i].to_plain = plain_net > 0.0 ? results[i].net / plain_net : -1.0;
  return 0;
}

/* ---- description ---- */

double sweep_bench_warp_updates(const struct sweep_bench *b) {
  return (double)b->sizes.blocks * (b->sizes.threads / 32) * b->sizes.updates;
}

double sweep_bench_scheduler_ms(const struct sweep_bench *b, double clocks) {
  if (b->schedulers == 0) return -1.0;
  return sweep_bench_warp_updates(b) / b->schedulers * clocks / (b->clock_mhz * 1000.0);
}

void sweep_bench_describe(struct sweep_bench *b, FILE *out, const char *prefix) {
#if SIMT_ON_CPU
  (void)b;
  fprintf(out, "%sdevice: CPU warp (simt), all figures are counts or *model* clocks of an H200\n",
          prefix);
#if defined(__clang__)
  fprintf(out, "%scompiler: %s\n", prefix, __VERSION__);
#else
  fprintf(out, "%scompiler: gcc %s\n", prefix, __VERSION__);
#endif
#else
  struct cudaDeviceProp p;
  int device = 0, clock_khz = 0, memory_khz = 0, driver = 0, runtime = 0;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&p, device);
  cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  fprintf(out, "%sdevice: %s, sm_%d%d, %d multiprocessors, L2 %.0f MiB\n", prefix, p.name, p.major,
          p.minor, p.multiProcessorCount, p.l2CacheSize / 1048576.0);
  fprintf(out, "%sclocks: up to %.0f MHz, %.0f MHz measured at the start, memory %.0f MHz\n",
          prefix, clock_khz / 1000.0, b->clock_mhz, memory_khz / 1000.0);
  fprintf(out, "%scuda: driver %d.%d, runtime %d.%d\n", prefix, driver / 1000, driver % 1000 / 10,
          runtime / 1000, runtime % 1000 / 10);
  fprintf(out, "%scompiler: nvcc %d.%d.%d, host %s\n", prefix, __CUDACC_VER_MAJOR__,
          __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, __VERSION__);
#endif
  fprintf(out, "%spolicy: %s\n", prefix, ARC_POLICY_STRING);
}
