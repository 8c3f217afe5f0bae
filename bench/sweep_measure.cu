/* sweep_measure.cu - launches, times (GPU) or counts (CPU warp) and checks the cells of a group.
   SPDX-License-Identifier: Apache-2.0

   The cells of a group take turns, round after round, so that drift of clocks and temperature hits
   all of them alike. Each launch starts from zeroed rows; the zeroing is outside of the events. */
#include "simt/simt.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"

#include "energy_counter.h"
#include "kernel_clocks.h"
#include "sweep.h"
#include "sweep_kernel_table.h"
#include "sweep_oracle.cuh"

#if SIMT_ON_CPU
#include "model.h"
#elif __has_include(<cub/version.cuh>)
#include <cub/version.cuh>
#endif

struct sweep_bench {
  struct sweep_sizes sizes;
  struct sweep_rigour rigour;
  double tamper;
  float *rows;
  struct sweep_lane_setup *lanes; /* device */
  struct sweep_expected *expected;
  struct sweep_verified *verified;
  struct sweep_cell expected_of; /* the cell whose sums `expected` holds */
  int expected_known;
  int floors; /* whether rates are known */
  struct sweep_rates rates;
  energy_counter energy;
  cudaEvent_t start, stop;
  void *flush; /* what is overwritten for a cold cache */
  size_t flush_bytes;
  double clock_mhz;        /* measured at the start, GPU only */
  double lowest_clock_mhz; /* after any group */
  int groups, slow_groups; /* measured; of them with a clock that had fallen */
  int throttle_after;      /* tests only */
};

static struct sweep_args args_of(const struct sweep_bench *b, const struct sweep_cell *c) {
  struct sweep_args a;
  sweep_workload_args(c, &b->sizes, &a);
  a.rows = b->rows;
  a.lanes = b->lanes;
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

#if SIMT_ON_CPU

static double measure_clock_mhz(struct sweep_bench *b, long long clocks) {
  (void)b, (void)clocks;
  return 1980.0; /* the model's; no figure is computed from it */
}

#else

static __global__ void spin(long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {
  }
}

/* A fixed number of clocks, timed. */
static double measure_clock_mhz(struct sweep_bench *b, long long clocks) {
  float ms = 0.0f;
  cudaEventRecord(b->start, 0);
  SIMT_LAUNCH(spin, 1, 32, 0, 0, clocks);
  cudaEventRecord(b->stop, 0);
  cudaEventSynchronize(b->stop);
  cudaEventElapsedTime(&ms, b->start, b->stop);
  return ms > 0.0f ? (double)clocks / ((double)ms * 1000.0) : 0.0;
}

#endif

static const long long wake_up_clocks = 200000000, group_clocks = 4000000;

static int open_buffers(struct sweep_bench *b, const struct sweep_plan *plan, FILE *err) {
  size_t rows = (size_t)b->sizes.rows;
  return failed(cudaMalloc(&b->rows, rows * largest_stride(plan, &b->sizes) * sizeof(float)),
                "rows", err) ||
         failed(cudaMalloc(&b->expected, rows * sizeof *b->expected), "expected sums", err) ||
         failed(cudaMalloc(&b->lanes, 32 * sizeof *b->lanes), "lanes", err) ||
         failed(cudaMalloc(&b->verified, sizeof *b->verified), "check", err) ||
         failed(cudaEventCreate(&b->start), "event", err) ||
         failed(cudaEventCreate(&b->stop), "event", err);
}

static int open_device(struct sweep_bench *b, const struct sweep_options *o, FILE *err) {
#if SIMT_ON_CPU
  (void)o, (void)err;
#else
  int device = 0, l2_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
  b->flush_bytes = o->rigour.cold ? 2 * (size_t)l2_bytes : 0;
  if (b->flush_bytes && failed(cudaMalloc(&b->flush, b->flush_bytes), "--cache cold", err))
    return 1;
  if (o->rigour.energy) {
    b->energy = energy_open();
    if (!b->energy.energy) {
      fprintf(err, "arc_sweep: --energy: %s\n", b->energy.why);
      return 1;
    }
  }
#endif
  measure_clock_mhz(b, wake_up_clocks); /* idle clocks take a while to rise */
  b->clock_mhz = b->lowest_clock_mhz = measure_clock_mhz(b, group_clocks);
  b->floors = o->floors;
  return o->floors && sweep_rates_measure(&b->rates, o->sizes.rows, err);
}

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
  b->rigour = o->rigour;
  b->tamper = o->wrong_oracle ? 1.01 : 1.0;
  b->throttle_after = o->throttle_after;
  if (open_buffers(b, plan, err) || open_device(b, o, err)) {
    sweep_bench_close(b);
    return NULL;
  }
  return b;
}

void sweep_bench_close(struct sweep_bench *b) {
  if (!b) return;
  cudaFree(b->rows);
  cudaFree(b->expected);
  cudaFree(b->lanes);
  cudaFree(b->verified);
  cudaFree(b->flush);
  energy_close(&b->energy);
  if (b->start) cudaEventDestroy(b->start);
  if (b->stop) cudaEventDestroy(b->stop);
  free(b);
}

/* ---- checking ---- */

/* The expected sums depend on masks, keys and sizes, not on width, path or garbage. */
static int same_updates(const struct sweep_cell *a, const struct sweep_cell *b) {
  return a->workload == b->workload && a->lanes == b->lanes && a->shape == b->shape &&
         a->keys == b->keys && a->layout == b->layout && a->call == b->call;
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
static double launch(struct sweep_bench *b, const struct sweep_cell *c) {
  struct sweep_args a = args_of(b, c);
  sweep_kernel kernel = sweep_kernel_of(c);
  float ms = 0.0f;
  cudaMemsetAsync(b->rows, 0, (size_t)a.row_count * (size_t)a.stride * sizeof(float), 0);
#if SIMT_ON_CPU
  simt_counters_reset();
  SIMT_LAUNCH(kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a);
#else
  if (b->flush) cudaMemsetAsync(b->flush, 0, b->flush_bytes, 0);
  cudaEventRecord(b->start, 0);
  SIMT_LAUNCH(kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a);
  cudaEventRecord(b->stop, 0);
  cudaEventSynchronize(b->stop);
  cudaEventElapsedTime(&ms, b->start, b->stop);
#endif
  return (double)ms;
}

#if SIMT_ON_CPU

static void fill_counts(const struct sweep_bench *b, const struct sweep_cell *cell,
                        struct sweep_result *r) {
  struct simt_counters c = simt_counters_read();
  double updates = sweep_warp_updates(cell, &b->sizes);
  double uncounted = sweep_kernel_clocks(cell->width, cell->call == SWEEP_CALL_KEYED) * updates;
  r->gross = 1000.0 * model_clocks(&c, uncounted, "h200") / updates;
  r->shuffles = (double)c.shuffles / updates;
  r->votes = (double)c.votes / updates;
  r->matches = (double)c.matches / updates;
  r->scans = (double)c.scans / updates;
  r->reductions = (double)c.reductions / updates;
  r->lane_adds = (double)c.lane_adds / updates;
  r->sectors = (double)c.sectors / updates;
  r->conflicts = (double)c.conflicts / updates;
  r->launches = 1;
}

static int measure_cells(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                         struct sweep_result *results, FILE *err) {
  for (int i = 0; i < count; ++i) {
    launch(b, &cells[i]);
    if (failed(cudaGetLastError(), sweep_path_name(cells[i].path), err)) return 1;
    fill_counts(b, &cells[i], &results[i]);
    verify(b, &cells[i], &results[i]);
  }
  return 0;
}

#else

enum { most_launches = 100 };

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

/* Launches back to back, from one tick of the energy counter to the first one that is far enough:
   the counter ticks every 20 to 100 ms. NAN where it does not move. */
static double measure_energy(struct sweep_bench *b, const struct sweep_cell *c) {
  const double least_ms = 60.0, most_ms = 1000.0;
  struct sweep_args a = args_of(b, c);
  sweep_kernel kernel = sweep_kernel_of(c);
  double first = energy_read(&b->energy), begin = -1.0, spent_ms = 0.0, since_ms = 0.0;
  double launches = 0.0;
  while (spent_ms < most_ms && first >= 0.0) {
    float ms = 0.0f;
    cudaEventRecord(b->start, 0);
    for (int i = 0; i < 4; ++i) SIMT_LAUNCH(kernel, b->sizes.blocks, b->sizes.threads, 0, 0, a);
    cudaEventRecord(b->stop, 0);
    cudaEventSynchronize(b->stop);
    cudaEventElapsedTime(&ms, b->start, b->stop);
    spent_ms += (double)ms;
    since_ms += (double)ms;
    launches += 4.0;
    double now = energy_read(&b->energy);
    if (begin >= 0.0 && now > begin && since_ms >= least_ms)
      return (now - begin) * 1e6 / (launches * sweep_warp_updates(c, &b->sizes));
    if (begin < 0.0 && now > first) begin = now, since_ms = launches = 0.0;
  }
  return NAN;
}

/* Warm-up; its sums are checked. */
static int warm_up(struct sweep_bench *b, const struct sweep_cell *c, struct sweep_result *r,
                   FILE *err) {
  cudaFuncAttributes attributes;
  if (failed(cudaFuncGetAttributes(&attributes, (const void *)sweep_kernel_of(c)),
             sweep_path_name(c->path), err))
    return 1;
  r->registers = attributes.numRegs;
  r->local_bytes = (int)attributes.localSizeBytes;
  launch(b, c);
  verify(b, c, r);
  return failed(cudaGetLastError(), sweep_path_name(c->path), err);
}

struct timed_cell {
  double ms[most_launches], sum;
  int done;
};

/* One more launch. The cell is done when the quartiles are close enough or its time is spent; the
   sums of its last launch are checked as those of the first were. */
static void time_once(struct sweep_bench *b, const struct sweep_cell *c, struct timed_cell *t,
                      struct sweep_result *r) {
  double sorted[most_launches], ms = launch(b, c);
  int count = ++r->launches;
  t->ms[count - 1] = ms;
  t->sum += ms;
  memcpy(sorted, t->ms, (size_t)count * sizeof *sorted);
  fill_times(r, sorted, count);
  double noise = 100.0 * (r->quartile_high - r->quartile_low) / r->gross;
  if (count < b->rigour.repeat) return;
  t->done =
      noise <= b->rigour.noise_percent || t->sum >= b->rigour.cell_ms || count == most_launches;
  if (!t->done) return;
  long wrong = r->wrong;
  double worst = r->worst_error;
  verify(b, c, r);
  if (wrong > r->wrong) r->wrong = wrong, r->worst_error = worst;
}

static int measure_cells(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                         struct sweep_result *results, FILE *err) {
  struct timed_cell *timed = (struct timed_cell *)calloc((size_t)count, sizeof *timed);
  int bad = !timed, busy = 1;
  for (int i = 0; i < count && !bad; ++i) bad = warm_up(b, &cells[i], &results[i], err);
  while (busy && !bad) {
    busy = 0;
    for (int i = 0; i < count; ++i) {
      if (timed[i].done) continue;
      time_once(b, &cells[i], &timed[i], &results[i]);
      busy |= !timed[i].done;
    }
  }
  for (int i = 0; i < count && !bad && b->energy.energy; ++i)
    results[i].energy_nj = measure_energy(b, &cells[i]);
  bad |= failed(cudaGetLastError(), "launch", err);
  free(timed);
  return bad;
}

#endif

/* What is known of a cell before it is measured: nothing. */
static void begin_results(const struct sweep_cell *cells, int count, struct sweep_result *results) {
  memset(results, 0, (size_t)count * sizeof *results);
  for (int i = 0; i < count; ++i) {
    results[i].cell = cells[i];
    results[i].to_plain = results[i].floor = results[i].to_floor = NAN;
    results[i].energy_nj = NAN;
  }
}

/* What the cells of a group say about each other. */
static void compare_results(const struct sweep_bench *b, int count, struct sweep_result *results) {
  double plain_net = 0.0, base = results[0].gross, floor = NAN; /* cell 0 is `none` */
  if (b->floors) floor = sweep_floor(&b->rates, &results[0].cell, &b->sizes, base);
  for (int i = 0; i < count; ++i) {
    results[i].net = results[i].gross - base;
    if (results[i].cell.path == SWEEP_PATH_PLAIN) plain_net = results[i].net;
  }
  for (int i = 0; i < count; ++i) {
    struct sweep_result *r = &results[i];
    r->floor = floor;
    if (r->cell.path == SWEEP_PATH_NONE) continue;
    if (plain_net > 0.0) r->to_plain = r->net / plain_net;
    if (floor > 0.0) r->to_floor = r->gross / floor;
  }
}

/* A clock that falls by more than this share is worth a warning. */
static const double slow_clock = 0.97;

static void note_clock(struct sweep_bench *b, int count, struct sweep_result *results) {
  double mhz = measure_clock_mhz(b, group_clocks);
  if (b->throttle_after && b->groups >= b->throttle_after) mhz *= 0.9;
  for (int i = 0; i < count; ++i) results[i].clock_mhz = mhz;
  if (mhz < b->lowest_clock_mhz) b->lowest_clock_mhz = mhz;
  ++b->groups;
  b->slow_groups += mhz < slow_clock * b->clock_mhz;
}

void sweep_bench_warn(const struct sweep_bench *b, FILE *err) {
  if (b->slow_groups == 0) return;
  fprintf(err,
          "WARNING: the clock fell from %.0f to %.0f MHz; %d of %d groups were measured below "
          "%.0f %% of the first\n",
          b->clock_mhz, b->lowest_clock_mhz, b->slow_groups, b->groups, 100.0 * slow_clock);
}

int sweep_bench_group(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                      struct sweep_result *results, FILE *err) {
  struct sweep_lane_setup lanes[32];
  begin_results(cells, count, results);
  sweep_workload_lanes(&cells[0], b->sizes.seed, lanes);
  cudaMemcpy(b->lanes, lanes, sizeof lanes, cudaMemcpyHostToDevice);
  prepare_expected(b, &cells[0]);
  if (measure_cells(b, cells, count, results, err)) return 1;
  compare_results(b, count, results);
  note_clock(b, count, results);
  return 0;
}

/* ---- description ---- */

const struct sweep_rates *sweep_bench_rates(const struct sweep_bench *b) {
  return b->floors ? &b->rates : NULL;
}

double sweep_bench_warp_updates(const struct sweep_bench *b, const struct sweep_cell *c) {
  return sweep_warp_updates(c, &b->sizes);
}

void sweep_bench_describe(struct sweep_bench *b, FILE *out, const char *prefix) {
#if SIMT_ON_CPU
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
  for (int path = 1; path < SWEEP_PATH_END; ++path)
    if (sweep_path_missing(path))
      fprintf(out, "%spath %s is unavailable: %s\n", prefix, sweep_path_name(path),
              sweep_path_missing(path));
  if (b->floors) sweep_rates_describe(&b->rates, out, prefix);
}
