/* studies/hardware: what the papers' hardware would gain, over plain atomics and over arc.
   SPDX-License-Identifier: Apache-2.0

   usage: hardware TRACES OUT.csv

   TRACES is the folder of recorded steps. The program prints the ceilings of one chip, and writes
   the clocks of workloads and of a sweep's cells, for figure.py. All figures come from a model. */
#include <math.h>
#include <string.h>

#include <string>

#include "../../arc_policy.cuh"
#include "../../bench/common/program_run.h"
#include "../../bench/common/random.h"
#include "machine.h"

enum { MACHINES = 3, CEILING_STEPS = 24 };

/* README.md says where each constant is from. */
static const machine machines[MACHINES] = {
    {"4090-Sim", 8, 11, 16, 2.24, 4, 8, 16, 1, 1, 0, 1, 1, 128 << 10},
    {"3060-Sim", 7, 12, 4, 1.32, 4, 8, 16, 1, 1, 0, 1, 1, 128 << 10},
    {"H200", 11, 16, 12, 1.98, 8, 8, 16, 5.8, 0.6, 2.0, 2.5, 3.3, 256 << 10}};
static const machine *const h200 = &machines[2];

static const kernel_cost workloads[] = {
    {"small", 47, 3},    {"medium", 47, 3},  {"large", 47, 3},    {"fox", 47, 3},
    {"specular", 33, 1}, {"diffuse", 24, 1}, {"spheres", 130, 2}, {"lookup", 228, 0},
    {"pagerank", 32, 3}, {"hot", 60, 0}};

/* ---- steps ----------------------------------------------------------------------------------- */

/* Those of the sweep's kernel, for each of the counts of lanes per block of 8 warps, which have one
   key. If there are few rows, each warp has keys of its own. */
static recording sweep_steps(int call, int rows, const std::vector<int> &lanes) {
  const bool hot = rows < 100;
  const int steps = hot ? 12 : 6;
  recording r = {(record_call)call, {}};
  for (int w = 0; w < 8 * (int)lanes.size(); ++w)
    for (int s = 0; s < steps; ++s) {
      recorded_step step;
      const int key =
          (int)(hashed_random(1, (unsigned)((hot ? w : w / 8) * steps + s)) * (float)rows);
      step.warp = w;
      for (int i = 0; i < 32; ++i) step.keys[i] = i < lanes[(size_t)w / 8] ? key : -1;
      r.steps.push_back(step);
    }
  return r;
}

/* Of all workloads; the last one has no kernel to record. */
static bool read_steps(const char *folder, std::vector<recording> *all, error_line *error) {
  for (const kernel_cost &w : workloads) {
    recording r = sweep_steps(CALL_SWEEP + 3, 4, std::vector<int>(48, 32));
    const std::string path = std::string(folder) + "/" + w.trace + ".trace";
    if (strcmp(w.trace, "hot") && !recording_read(&r, path.c_str(), error)) return false;
    all->push_back(r);
  }
  return true;
}

/* Twice what is resident, so that the last warps, which run alone, do not count for much. */
static int rounds_of(const machine *m, const trace *t) {
  const int warps = (int)t->warps.size();
  return (2 * m->multiprocessors * 4 * m->warps + warps - 1) / warps;
}

static job job_of(const machine *m, const trace *t, kernel_cost cost) {
  return {m, t, cost, BASELINE, TRACE_PLAIN, 0, 100, rounds_of(m, t), 0, true};
}

/* ---- the ceilings of one chip ---------------------------------------------------------------- */

typedef struct ceiling {
  const char *what;
  int lanes, distance, words; /* between the lanes' addresses, and of each lane */
  bool hot;
  double measured; /* G warp instructions per second, on an H200: bench/NOTES.md */
} ceiling;

static const ceiling ceilings[] = {{"1 lane", 1, 0, 1, false, 41.0},
                                   {"10 lanes, consecutive", 10, 1, 1, false, 41.0},
                                   {"32 lanes, consecutive", 32, 1, 1, false, 28.0},
                                   {"32 lanes, one address", 32, 0, 1, false, 3.1},
                                   {"32 lanes, own rows", 32, 0x1f00, 1, false, 3.2},
                                   {"32 lanes, v4, one address", 32, 0, 4, false, 3.1},
                                   {"8 lanes, v4, consecutive", 8, 4, 4, false, 28.0},
                                   {"hot row, 1 lane", 1, 0, 1, true, 0.57},
                                   {"hot row, 10 lanes", 10, 1, 1, true, 0.57},
                                   {"hot row, 32 lanes", 32, 1, 1, true, 0.40},
                                   {"hot row, 32 lanes, one address", 32, 0, 1, true, 0.0177}};

/* A warp of one instruction again and again, in rows drawn at random. */
static trace ceiling_trace(const ceiling *c) {
  trace t = {1, std::vector<trace_warp>(8 * 44, trace_warp(CEILING_STEPS))};
  uint32_t random = 1;
  for (trace_warp &warp : t.warps)
    for (trace_step &step : warp) {
      random = random * 1664525u + 1013904223u;
      trace_request q = {0xffffffffu >> (32 - c->lanes), 1, c->words, {}};
      for (int i = 0; i < c->lanes; ++i)
        q.words.push_back((c->hot ? 0 : (random >> 8) % 100000 * 32) + (uint32_t)(i * c->distance));
      step.forms[TRACE_PLAIN] = {{0, 0, 0, 0, {q}}};
      step.form_at[TRACE_PLAIN][0] = 0;
    }
  return t;
}

/* A row's ROP units are as fast in the scaled machine as in the whole. */
static double ceiling_modelled(const ceiling *c) {
  const trace t = ceiling_trace(c);
  job j = job_of(h200, &t, {"", 1, 0});
  j.rounds = 1;
  outcome o = machine_run(&j);
  return o.requests / o.clocks * h200->ghz * (c->hot ? 1 : h200->scale);
}

static void print_ceilings(void) {
  int within = 0, count = sizeof ceilings / sizeof *ceilings;
  printf("model: ceilings of the H200, G warp instructions a second\n");
  for (int i = 0; i < count; ++i) {
    double g = ceiling_modelled(&ceilings[i]), off = g / ceilings[i].measured - 1;
    within += fabs(off) <= 0.15;
    printf("model:   %-32s %7.4g  measured %7.4g  %+4.0f %%\n", ceilings[i].what, g,
           ceilings[i].measured, 100 * off);
  }
  printf("model: %d of %d within 15 %%\n\n", within, count);
}

/* ---- what is run ----------------------------------------------------------------------------- */

/* Columns: the mechanisms on plain atomics, then arc's paths without any of them. */
enum { SW_S = MECHANISMS, SW_B, AUTO, AUTO_HW, NOTHING, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "baseline", "ARC-HW", "ARC-always", "ARC-tree", "ARC-wide", "LAB-ideal", "LAB",
    "PHI",      "SW-S",   "SW-B",       "auto",     "auto+HW",  "none"};

typedef struct cell {
  outcome o;
  int threshold, lab_percent;
} cell;

static void keep_best(cell *best, const job *j) {
  outcome o = machine_run(j);
  if (best->o.clocks > 0 && best->o.clocks <= o.clocks) return;
  best->o = o;
  best->threshold = j->threshold;
  best->lab_percent = j->lab_percent;
}

/* Every fourth threshold, and then those about the best of them. */
static cell best_threshold(job j, int path) {
  cell best = {};
  j.path = path;
  for (j.threshold = 0; j.threshold < THRESHOLDS; j.threshold += 4) keep_best(&best, &j);
  int middle = best.threshold;
  for (j.threshold = middle - 3; j.threshold <= middle + 3; ++j.threshold)
    if (j.threshold >= 0 && j.threshold < THRESHOLDS && j.threshold != middle) keep_best(&best, &j);
  return best;
}

static cell run_column(const machine *m, const trace *t, kernel_cost cost, int column) {
  job j = job_of(m, t, cost);
  cell c = {};
  if (column == SW_S) return best_threshold(j, TRACE_SERIALIZED);
  if (column == SW_B) return best_threshold(j, TRACE_BUTTERFLY);
  j.how = column < MECHANISMS ? (mechanism)column : column == AUTO_HW ? ARC_ALWAYS : BASELINE;
  if (column == AUTO || column == AUTO_HW) j.path = TRACE_AUTO;
  j.adds = column != NOTHING;
  if (column != LAB) {
    keep_best(&c, &j);
    return c;
  }
  for (j.lab_percent = 25; j.lab_percent <= 75; j.lab_percent += 25) keep_best(&c, &j);
  return c;
}

static void write_row(FILE *f, const char *machine, const char *workload, const char *mechanism,
                      const cell *k) {
  const outcome *o = &k->o;
  fprintf(f, "%s,%s,%s,%d,%d", machine, workload, mechanism, k->threshold, k->lab_percent);
  for (double figure : {o->clocks, o->stalls[STALL_ATOMIC], o->stalls[STALL_LOAD],
                        o->stalls[STALL_SHUFFLE], o->stalls[STALL_DEPENDENCE], o->instructions,
                        o->requests, o->packets, o->sectors, o->reduced, o->merged})
    fprintf(f, ",%.0f", figure);
  fprintf(f, "\n");
}

static void run_workloads(FILE *f, const std::vector<recording> &all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const kernel_cost w = workloads[i];
    const trace t = trace_of(&all[i]);
    if (progress_due()) progress_line("workload %s", w.trace);
    for (const machine &m : machines)
      for (int c = 0; c < COLUMNS; ++c) {
        cell k = run_column(&m, &t, w, c);
        if (c != LAB) k.lab_percent = 0;
        write_row(f, m.name, w.trace, column_names[c], &k);
      }
  }
  progress_clear();
}

/* Cells of the sweep on the H200; the kernel's cost is bench/common/model.h's. */
static void run_sweep(FILE *f) {
  static const char *const path_names[TRACE_PATHS] = {"plain", "serialized", "butterfly", "auto"};
  static const int widths[] = {1, 3, 9, 10, 16, 32};
  static const std::vector<int> lanes = {1, 4, 8, 16, 32};
  for (int w = 0; w < 6; ++w) {
    const recording steps = sweep_steps(CALL_SWEEP + w, 100000, lanes);
    const trace all = trace_of(&steps);
    for (size_t l = 0; l < lanes.size(); ++l) {
      const auto first = all.warps.begin() + 8 * (int)l;
      const trace part = {all.width, {first, first + 8}};
      job j = job_of(h200, &part, {"", (int)(45.2 + 1.1 * widths[w]), 0});
      j.spread = 32 * 1013;
      for (j.path = 0; j.path < TRACE_PATHS; ++j.path) {
        const std::string name =
            "width " + std::to_string(widths[w]) + " lanes " + std::to_string(lanes[l]);
        const cell k = {machine_run(&j), 0, 0};
        write_row(f, "H200 sweep", name.c_str(), path_names[j.path], &k);
      }
    }
  }
}

int main(int argc, char **argv) {
  error_line error;
  output_file csv;
  std::vector<recording> steps;
  if (program_begin("hardware", argc, argv)) return 0;
  if (argc != 3) return error_set(&error, "takes TRACES OUT.csv"), fail(2, &error);
  if (!read_steps(argv[1], &steps, &error)) return fail(2, &error);
  if (!output_file_open(&csv, argv[2], &error)) return fail(1, &error);
  program_write_head(csv.stream);
  fprintf(csv.stream, "# policy: %s\n", ARC_POLICY_STRING);
  fprintf(csv.stream,
          "# clock: model\nmachine,workload,mechanism,threshold,lab_percent,clocks,atomic_stalls,"
          "load_stalls,shuffle_stalls,dependence_stalls,instructions,requests,packets,sectors,"
          "reduced,merged\n");
  print_ceilings();
  run_sweep(csv.stream);
  run_workloads(csv.stream, steps);
  return output_file_commit(&csv, &error) ? 0 : fail(1, &error);
}
