/* measure.cu - launches, times (GPU) or counts (CPU warp) and checks the cells of a group.
   SPDX-License-Identifier: Apache-2.0

   The cells of a group take turns, round after round, so that drift of clocks and temperature is
   the same for all of them. Each launch starts from zeroed rows; the zeroing is outside of the
   events. */
#include "simt/simt.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "arc_policy.cuh"

#include "../common/device_describe.h"
#include "../common/program_run.h"
#include "oracle.cuh"
#include "sweep.h"

#if SIMT_ON_CPU
#include "../common/model.h"
#endif

bool sweep_on_cpu_warp(void) { return SIMT_ON_CPU; }

struct sweep_bench {
  sweep_options options;
  float *rows;
  sweep_lane_setup *lanes; /* device */
  sweep_mask *masks;       /* the same; null without a file */
  sweep_expected *expected;
  sweep_verified *verified; /* device: of each cell of a group */
  sweep_cell expected_of;   /* the cell whose sums `expected` holds; width 0: none */
  void *flush;              /* what is overwritten for a cold cache */
  size_t flush_bytes;
  double clock_mhz, lowest_clock_mhz; /* at the start, and after any group; GPU only */
  int groups, slow_groups;            /* measured; of them with a clock that had fallen */
};

static sweep_args args_of(const sweep_bench *b, const sweep_cell &c) {
  sweep_args a;
  sweep_workload_args(c, b->options, &a);
  a.rows = b->rows;
  a.lanes = b->lanes;
  a.masks = c.workload == SWEEP_WORKLOAD_FILE ? b->masks : NULL;
  return a;
}

/* ---- device ---- */

static int failed(cudaError_t error, const std::string &what) {
  if (error == cudaSuccess) return 0;
  fprintf(stderr, "ERROR: %s: %s\n", what.c_str(), cudaGetErrorString(error));
  return 1;
}

#if SIMT_ON_CPU

static double measure_clock_mhz(long long) {
  return 1980.0; /* the model's; no figure is computed from it */
}

#else

static __global__ void spin(long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {
  }
}

/* A fixed number of clocks, timed. */
static double measure_clock_mhz(long long clocks) {
  const float ms = device_time([&] { SIMT_LAUNCH(spin, 1, 32, 0, 0, clocks); });
  return ms > 0.0f ? (double)clocks / ((double)ms * 1000.0) : 0.0;
}

#endif

static const long long wake_up_clocks = 200000000, group_clocks = 1000000;

static int open_buffers(sweep_bench *b, const sweep_plan &plan) {
  size_t rows = (size_t)b->options.rows, row = 1, cells = 1;
  const std::vector<sweep_mask> &masks = b->options.masks;
  for (const auto &group : plan) {
    row = std::max(row, (size_t)sweep_row_bytes(&group[0].cell));
    cells = std::max(cells, group.size());
  }
  return failed(cudaMalloc(&b->rows, rows * row), "rows") ||
         failed(cudaMalloc(&b->expected, rows * sizeof *b->expected), "expected sums") ||
         failed(cudaMalloc(&b->lanes, 32 * sizeof *b->lanes), "lanes") ||
         failed(cudaMalloc(&b->verified, cells * sizeof *b->verified), "check") ||
         (!masks.empty() &&
          (failed(cudaMalloc(&b->masks, masks.size() * sizeof masks[0]), "masks") ||
           failed(cudaMemcpy(b->masks, masks.data(), masks.size() * sizeof masks[0],
                             cudaMemcpyHostToDevice),
                  "masks")));
}

static int open_device(sweep_bench *b) {
#if !SIMT_ON_CPU
  int device = 0, l2_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
  b->flush_bytes = b->options.cold ? 2 * (size_t)l2_bytes : 0;
  if (b->flush_bytes && failed(cudaMalloc(&b->flush, b->flush_bytes), "--cache cold"))
    return exit_wrong;
#endif
  measure_clock_mhz(wake_up_clocks); /* idle clocks take a while to rise */
  b->clock_mhz = b->lowest_clock_mhz = measure_clock_mhz(group_clocks);
  return 0;
}

int sweep_bench_open(sweep_bench **bench, const sweep_options &o, const sweep_plan &plan) {
  int devices = 0;
  if (SIMT_ON_CPU) memory_limit();
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    sweep_complain("there is no CUDA device here; arc_sweep_simt runs without one");
    return exit_no_gpu;
  }
  sweep_bench *b = *bench = new sweep_bench();
  b->options = o;
  int status = open_buffers(b, plan) ? exit_wrong : open_device(b);
  if (status == exit_wrong && cudaGetLastError() == cudaErrorMemoryAllocation)
    status = exit_no_memory;
  if (status) sweep_bench_close(b);
  return status;
}

void sweep_bench_close(sweep_bench *b) {
  cudaFree(b->rows);
  cudaFree(b->expected);
  cudaFree(b->lanes);
  cudaFree(b->masks);
  cudaFree(b->verified);
  cudaFree(b->flush);
  delete b;
}

/* ---- checking ---- */

/* The expected sums depend on masks, keys and sizes, not on width, type, path or garbage. */
static bool same_updates(const sweep_cell &a, const sweep_cell &b) {
  return a.workload == b.workload && a.lanes == b.lanes && a.shape == b.shape && a.keys == b.keys &&
         a.layout == b.layout && a.call == b.call;
}

static void prepare_expected(sweep_bench *b, const sweep_cell &c) {
  if (b->expected_of.width > 0 && same_updates(b->expected_of, c)) return;
  sweep_args a = args_of(b, c);
  int uniform = c.call == SWEEP_CALL_UNIFORM;
  cudaMemset(b->expected, 0, (size_t)b->options.rows * sizeof *b->expected);
#if SIMT_ON_CPU
  sweep_expect(&a, uniform, b->options.blocks, b->options.threads, b->expected);
#else
  SIMT_LAUNCH(sweep_expect_kernel, b->options.blocks, b->options.threads, 0, 0, a, uniform,
              b->expected);
#endif
  b->expected_of = c;
}

/* Checks the sums that are there, and waits for nothing. */
static void verify(sweep_bench *b, const sweep_cell &c, sweep_verified *verified) {
  sweep_args a = args_of(b, c);
  if (c.path == SWEEP_PATH_NONE) return;
#if SIMT_ON_CPU
  sweep_verify(&a, &c, b->expected, verified);
#else
  SIMT_LAUNCH(sweep_verify_kernel, 1056, 256, 0, 0, a, c, b->expected, verified);
#endif
}

/* The wrong sums of all checked launches, and the worst. */
static int take_verified(const sweep_bench *b, sweep_result *r, size_t count) {
  std::vector<sweep_verified> v(count);
  if (failed(cudaMemcpy(v.data(), b->verified, count * sizeof v[0], cudaMemcpyDeviceToHost),
             "check"))
    return 1;
  for (size_t i = 0; i < count; ++i) {
    float worst;
    memcpy(&worst, &v[i].worst, sizeof worst);
    r[i].wrong = (long)v[i].wrong;
    r[i].worst_error = worst;
  }
  return 0;
}

/* ---- one launch ---- */

static void launch(const sweep_bench *b, const sweep_planned &p) {
  SIMT_LAUNCH(p.kernel, b->options.blocks, b->options.threads, 0, 0, args_of(b, p.cell));
}

static void clear(const sweep_bench *b, const sweep_cell &c) {
  cudaMemsetAsync(b->rows, 0, (size_t)b->options.rows * (size_t)sweep_row_bytes(&c), 0);
  if (b->flush) cudaMemsetAsync(b->flush, 0, b->flush_bytes, 0);
}

#if SIMT_ON_CPU

static void fill_counts(const sweep_bench *b, const sweep_cell &cell, sweep_result *r) {
  simt_counters c = simt_counters_read();
  double updates = sweep_warp_updates(cell, b->options);
  double uncounted = model_kernel_clocks(cell.width, cell.call == SWEEP_CALL_KEYED) * updates;
  r->gross = 1000.0 * model_clocks(&c, uncounted) / updates;
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

static int measure_cells(sweep_bench *b, const sweep_planned_group &group, sweep_result *r) {
  for (size_t i = 0; i < group.size(); ++i) {
    if (interrupts) return 1;
    clear(b, group[i].cell);
    simt_counters_reset();
    launch(b, group[i]);
    if (failed(cudaGetLastError(), sweep_word_of(AXIS_PATH, group[i].cell))) return 1;
    fill_counts(b, group[i].cell, &r[i]);
    verify(b, group[i].cell, &b->verified[i]);
  }
  return 0;
}

#else

enum { most_launches = 100 };

static double quantile(const std::vector<double> &sorted, double q) {
  double at = q * (double)(sorted.size() - 1);
  size_t below = (size_t)at, above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void fill_times(sweep_result *r, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  r->gross = quantile(ms, 0.5);
  r->low = ms.front();
  r->high = ms.back();
  r->quartile_low = quantile(ms, 0.25);
  r->quartile_high = quantile(ms, 0.75);
  r->launches = (double)ms.size();
}

/* The sums of the first launch are checked. */
static int warm_up(sweep_bench *b, const sweep_planned &p, sweep_result *r, sweep_verified *v) {
  cudaFuncAttributes attributes;
  std::string path = sweep_word_of(AXIS_PATH, p.cell);
  if (failed(cudaFuncGetAttributes(&attributes, (const void *)p.kernel), path)) return 1;
  r->registers = attributes.numRegs;
  r->local_bytes = (double)attributes.localSizeBytes;
  clear(b, p.cell);
  launch(b, p);
  verify(b, p.cell, v);
  return failed(cudaGetLastError(), path);
}

/* One more launch. Returns whether the cell is done: the quartiles are close enough or its time is
   spent; then the sums of the last launch are checked, too. */
static bool time_once(sweep_bench *b, const sweep_planned &p, std::vector<double> *ms,
                      sweep_result *r, sweep_verified *v) {
  const sweep_options &o = b->options;
  clear(b, p.cell);
  ms->push_back(device_time([&] { launch(b, p); }));
  fill_times(r, *ms);
  double spent = 0.0, noise = 100.0 * (r->quartile_high - r->quartile_low) / r->gross;
  for (double one : *ms) spent += one;
  if ((int)ms->size() < o.repeat) return false;
  if (noise > o.noise_percent && spent < o.cell_ms && ms->size() < most_launches) return false;
  verify(b, p.cell, v);
  return true;
}

static int measure_cells(sweep_bench *b, const sweep_planned_group &group, sweep_result *r) {
  size_t count = group.size();
  std::vector<std::vector<double> > ms(count);
  std::vector<char> done(count, 0);
  for (size_t i = 0; i < count; ++i)
    if (interrupts || warm_up(b, group[i], &r[i], &b->verified[i])) return 1;
  while (!interrupts && std::find(done.begin(), done.end(), 0) != done.end())
    for (size_t i = 0; i < count && !interrupts; ++i)
      if (!done[i]) done[i] = time_once(b, group[i], &ms[i], &r[i], &b->verified[i]);
  return failed(cudaGetLastError(), "launch") || interrupts > 0;
}

#endif

/* ---- a group ---- */

/* Derives net and ratio from the group; its first cell is `none`. */
static void derive(sweep_result *r, size_t count) {
  double plain_net = 0.0, base = r[0].gross;
  for (size_t i = 0; i < count; ++i) {
    r[i].net = r[i].gross - base;
    if (r[i].cell.path == SWEEP_PATH_PLAIN) plain_net = r[i].net;
  }
  for (size_t i = 1; i < count; ++i)
    if (plain_net > 0.0) r[i].to_plain = r[i].net / plain_net;
}

/* A clock that falls by more than this share is worth a warning. */
static const double slow_clock = 0.97;

static void note_clock(sweep_bench *b, sweep_result *r, size_t count) {
  double mhz = measure_clock_mhz(group_clocks);
  if (b->options.throttle_after && b->groups >= b->options.throttle_after) mhz *= 0.9;
  for (size_t i = 0; i < count; ++i) r[i].clock_mhz = mhz;
  b->lowest_clock_mhz = std::min(b->lowest_clock_mhz, mhz);
  ++b->groups;
  b->slow_groups += mhz < slow_clock * b->clock_mhz;
}

void sweep_bench_warn(const sweep_bench *b) {
  if (b->slow_groups == 0) return;
  fprintf(stderr,
          "WARNING: the clock fell from %.0f to %.0f MHz; %d of %d groups were measured below "
          "%.0f %% of the first\n",
          b->clock_mhz, b->lowest_clock_mhz, b->slow_groups, b->groups, 100.0 * slow_clock);
}

static bool has_garbage(const sweep_cell &c) {
  return c.zeros == SWEEP_ZEROS_NONE || c.zeros == SWEEP_ZEROS_NO_KEY_PROMISED;
}

int sweep_bench_group(sweep_bench *b, const sweep_planned_group &group, sweep_results *results) {
  const sweep_cell &any = group[0].cell;
  sweep_lane_setup lanes[32];
  size_t first = results->size();
  for (const sweep_planned &p : group) {
    sweep_result r = {};
    r.cell = p.cell;
    r.to_plain = NAN;
    results->push_back(r);
  }
  sweep_result *r = &(*results)[first];
  sweep_workload_lanes(any, b->options.seed, lanes);
  for (sweep_lane_setup &lane : lanes)
    lane.inactive_value = has_garbage(any) ? simt_poison_f32() : 0.0f;
  cudaMemcpy(b->lanes, lanes, sizeof lanes, cudaMemcpyHostToDevice);
  prepare_expected(b, any);
  cudaMemsetAsync(b->verified, 0, group.size() * sizeof *b->verified, 0);
  if (measure_cells(b, group, r) || take_verified(b, r, group.size())) {
    results->resize(first);
    return 1;
  }
  derive(r, group.size());
  note_clock(b, r, group.size());
  return 0;
}

/* ---- description ---- */

void sweep_bench_describe(const sweep_bench *b, FILE *out, bool in_file) {
  const char *form = in_file ? DEVICE_IN_FILE : DEVICE_ON_SCREEN;
  device_describe(out, form, b->clock_mhz);
  for (int path = 1; path < SWEEP_PATH_END; ++path) {
    if (!sweep_path_missing(path)) continue;
    fprintf(out, form, ("path " + sweep_word(AXIS_PATH, path)).c_str());
    fprintf(out, "%s\n", sweep_path_missing(path));
  }
}
