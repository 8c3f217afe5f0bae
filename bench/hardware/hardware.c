/* bench/hardware: what the papers' hardware would gain, over plain atomics and over arc.
   SPDX-License-Identifier: Apache-2.0

   usage: hardware TRACES SWEEP.csv [OUT.csv]

   TRACES: the folder of recorded steps. SWEEP.csv: a measured default sweep of an H200. All that it
   prints is a model's. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"

enum { WORKLOADS = 10, PAPERS = 7, MACHINES = 3, CEILING_STEPS = 24 };
enum { TRANSISTORS_K = 70, TREE_ADDERS = 31 };

/* README.md says where each constant is from. */
static const machine machines[MACHINES] = {
    {"4090-Sim", 8, 11, 16, 2.24, 4, 8, 16, 1, 1, 0, 1, 1, 128 << 10},
    {"3060-Sim", 7, 12, 4, 1.32, 4, 8, 16, 1, 1, 0, 1, 1, 128 << 10},
    {"H200", 11, 16, 12, 1.98, 8, 8, 16, 5.8, 0.6, 2.0, 2.5, 3.3, 256 << 10}};
static const machine *const h200 = &machines[2];

/* The first PAPERS are the nearest to the papers' workloads. */
static const kernel_cost workloads[WORKLOADS] = {
    {"small", 47, 3},    {"medium", 47, 3},  {"large", 47, 3},    {"fox", 47, 3},
    {"specular", 33, 1}, {"diffuse", 24, 1}, {"spheres", 130, 2}, {"lookup", 228, 0},
    {"pagerank", 32, 3}, {"hot", 60, 0}};

/* ---- loading --------------------------------------------------------------------------------- */

static const char *folder;

static trace *load(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.trace", folder, name);
  trace *t = trace_read(path);
  if (t == NULL) exit(2);
  return t;
}

/* Twice what is resident, so that the last warps, which run alone, do not count for much. */
static int rounds_of(const machine *m, const trace *t) {
  return (2 * m->multiprocessors * 4 * m->warps + t->warp_count - 1) / t->warp_count;
}

static job job_of(const machine *m, const trace *t, kernel_cost cost) {
  job j = {m, t, cost, BASELINE, TRACE_PLAIN, 0, 100, rounds_of(m, t), 0, true};
  return j;
}

/* ---- the ceilings of one chip ---------------------------------------------------------------- */

typedef struct ceiling {
  const char *what;
  int lanes, distance, words; /* between the lanes' addresses, and of each lane */
  bool hot;
  double measured; /* G warp instructions a second, on an H200: bench/NOTES.md */
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
static trace *ceiling_trace(const ceiling *c) {
  trace *t = calloc(1, sizeof *t);
  uint32_t random = 1;
  t->width = 1;
  t->warp_count = 8 * 44;
  t->warps = calloc((size_t)t->warp_count, sizeof *t->warps);
  for (int w = 0; w < t->warp_count; ++w) {
    t->warps[w].step_count = CEILING_STEPS;
    t->warps[w].steps = calloc(CEILING_STEPS, sizeof *t->warps[w].steps);
    for (int s = 0; s < CEILING_STEPS; ++s) {
      trace_form *f = calloc(1, sizeof *f);
      trace_request *q = calloc(1, sizeof *q);
      random = random * 1664525u + 1013904223u;
      *q = (trace_request){0xffffffffu >> (32 - c->lanes), 1, (uint8_t)c->words, false, NULL};
      q->words = calloc(32, sizeof *q->words);
      for (int i = 0; i < c->lanes; ++i)
        q->words[i] = (c->hot ? 0 : (random >> 8) % 100000 * 32) + (uint32_t)(i * c->distance);
      *f = (trace_form){0, 0, 0, 0, 1, q};
      t->warps[w].steps[s].forms[TRACE_PLAIN] = f;
    }
  }
  return t;
}

/* A row's ROP units are as fast in the scaled machine as in the whole. */
static double ceiling_modelled(const ceiling *c) {
  trace *t = ceiling_trace(c);
  kernel_cost none = {"", 1, 0};
  job j = job_of(h200, t, none);
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

/* ---- the order of paths in a measured sweep -------------------------------------------------- */

static const int sweep_widths[] = {1, 3, 9, 10, 16, 32}, sweep_lanes[] = {1, 4, 8, 16, 32};
enum { SWEEP_WIDTHS = 6, SWEEP_LANES = 5 };
static const char *const path_names[TRACE_PATHS] = {"plain", "serialized", "butterfly", "auto"};

static double measured[SWEEP_WIDTHS][SWEEP_LANES][TRACE_PATHS]; /* ms; 0: not there */

static int index_of(const int *list, int count, int value) {
  int i = 0;
  while (i < count && list[i] != value) ++i;
  return i;
}

static void read_sweep(const char *file) {
  char line[1024], path[32], lanes[16];
  int width;
  double ms;
  FILE *f = fopen(file, "r");
  if (f == NULL) {
    fprintf(stderr, "hardware: %s is missing; it must be a sweep's CSV\n", file);
    exit(2);
  }
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "-,axes,%d,%15[0-9],prefix,1,contiguous,uniform,0,%31[^,],%*[^,],%lf", &width,
               lanes, path, &ms) != 4)
      continue;
    int w = index_of(sweep_widths, SWEEP_WIDTHS, width);
    int l = index_of(sweep_lanes, SWEEP_LANES, atoi(lanes));
    for (int p = 0; p < TRACE_PATHS && w < SWEEP_WIDTHS && l < SWEEP_LANES; ++p)
      if (!strcmp(path, path_names[p])) measured[w][l][p] = ms;
  }
  fclose(f);
}

/* Clocks of a cell: 8 warps of the trace have this count of lanes. */
static double sweep_clocks(const trace *all, int width, int l, int path) {
  trace part = *all;
  part.warp_count = 8;
  part.warps += 8 * l;
  kernel_cost cost = {"", (int)(45.2 + 1.1 * width), 0}; /* bench/common/model.h */
  job j = job_of(h200, &part, cost);
  j.path = path;
  j.spread = 32 * 1013;
  return machine_run(&j).clocks;
}

static void print_order(const char *file) {
  int clear = 0, right = 0;
  char name[24];
  read_sweep(file);
  for (int w = 0; w < SWEEP_WIDTHS; ++w) {
    snprintf(name, sizeof name, "sweep_%d", sweep_widths[w]);
    const trace *t = load(name);
    for (int l = 0; l < SWEEP_LANES; ++l) {
      double clocks[TRACE_PATHS];
      const double *ms = measured[w][l];
      for (int p = 0; p < TRACE_PATHS; ++p) clocks[p] = sweep_clocks(t, sweep_widths[w], l, p);
      for (int a = 0; a < TRACE_PATHS; ++a)
        for (int b = 0; b < TRACE_PATHS; ++b) {
          if (ms[a] <= 0 || ms[b] < 1.15 * ms[a]) continue;
          bool agrees = clocks[a] < clocks[b];
          clear += 1;
          right += agrees;
          if (!agrees)
            printf("model:   width %d, %d lanes: %s is %.2f times as fast as %s, modelled %.2f\n",
                   sweep_widths[w], sweep_lanes[l], path_names[a], ms[b] / ms[a], path_names[b],
                   clocks[b] / clocks[a]);
        }
    }
  }
  printf(
      "model: %d of %d clear pairs (15 %% apart) of the sweep in the measured order, %.0f %%\n\n",
      right, clear, 100.0 * right / (clear ? clear : 1));
}

/* ---- workloads ------------------------------------------------------------------------------- */

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
  cell best = {0};
  j.path = path;
  for (j.threshold = 0; j.threshold < THRESHOLDS; j.threshold += 4) keep_best(&best, &j);
  int middle = best.threshold;
  for (j.threshold = middle - 3; j.threshold <= middle + 3; ++j.threshold)
    if (j.threshold >= 0 && j.threshold < THRESHOLDS && j.threshold != middle) keep_best(&best, &j);
  return best;
}

static cell run_column(const machine *m, const trace *t, kernel_cost cost, int column) {
  job j = job_of(m, t, cost);
  cell c = {0};
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

static cell cells[MACHINES][WORKLOADS][COLUMNS];

static void run_all(void) {
  for (int w = 0; w < WORKLOADS; ++w) {
    const trace *t = load(workloads[w].trace);
    if (isatty(2)) fprintf(stderr, "\rworkload %d of %d \r", w + 1, WORKLOADS);
    for (int m = 0; m < MACHINES; ++m)
      for (int c = 0; c < COLUMNS; ++c)
        cells[m][w][c] = run_column(&machines[m], t, workloads[w], c);
  }
}

static double speedup(int m, int w, int over, int c) {
  return cells[m][w][over].o.clocks / cells[m][w][c].o.clocks;
}

/* The papers take arithmetic means. */
static double mean(int m, int over, int c) {
  double sum = 0;
  for (int w = 0; w < PAPERS; ++w) sum += speedup(m, w, over, c);
  return sum / PAPERS;
}

static double stall_ratio(int m, int w, int over, int c) {
  return (cells[m][w][over].o.stalls[STALL_ATOMIC] + 1) /
         (cells[m][w][c].o.stalls[STALL_ATOMIC] + 1);
}

static void print_machine(int m) {
  printf("model: %s, speed over plain atomics\nmodel:   %-10s", machines[m].name, "workload");
  for (int c = 1; c < COLUMNS; ++c) printf(" %10s", column_names[c]);
  printf("\n");
  for (int w = 0; w < WORKLOADS; ++w) {
    printf("model:   %-10s", workloads[w].trace);
    for (int c = 1; c < COLUMNS; ++c) printf(" %10.2f", speedup(m, w, BASELINE, c));
    printf("\n");
  }
  printf("model:   %-10s", "mean of 7");
  for (int c = 1; c < COLUMNS; ++c) printf(" %10.2f", mean(m, BASELINE, c));
  printf("\n\n");
}

/* ---- beside the papers ----------------------------------------------------------------------- */

typedef struct claim {
  const char *what;
  int over, column;
  double papers[2]; /* 4090-Sim, 3060-Sim */
} claim;

static const claim claims[] = {{"ARC-HW", BASELINE, ARC_HW, {2.06, 1.73}},
                               {"LAB-ideal", BASELINE, LAB_IDEAL, {1.40, 1.20}},
                               {"LAB-ideal over LAB", LAB, LAB_IDEAL, {1.05, 1.05}},
                               {"PHI", BASELINE, PHI, {1.01, 1.03}}};

/* ARC-SW: the better of the two paths, each at its best threshold. */
static double over_software(int m, int w, int column) {
  double s = speedup(m, w, SW_S, column), b = speedup(m, w, SW_B, column);
  return s < b ? s : b;
}

static void print_claim(const char *what, const char *name, double modelled, double papers) {
  printf("model:   %-9s %-28s %6.2f  papers %5.2f  %+4.0f %%%s\n", name, what, modelled, papers,
         100 * (modelled / papers - 1), fabs(modelled / papers - 1) <= 0.25 ? "" : "  MISSED");
}

static void print_papers(void) {
  static const double hw_over_sw[2] = {1.13, 1.14}, stalls[2] = {2.43, 2.28};
  printf("model: beside the papers' means\n");
  for (int m = 0; m < 2; ++m) {
    double over_sw = 0, sw = 0, base = 0, hw = 0;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; ++i)
      print_claim(claims[i].what, machines[m].name, mean(m, claims[i].over, claims[i].column),
                  claims[i].papers[m]);
    for (int w = 0; w < PAPERS; ++w) {
      over_sw += over_software(m, w, ARC_HW) / PAPERS;
      sw += speedup(m, w, BASELINE, ARC_HW) / over_software(m, w, ARC_HW) / PAPERS;
      base += cells[m][w][BASELINE].o.stalls[STALL_ATOMIC];
      hw += cells[m][w][ARC_HW].o.stalls[STALL_ATOMIC];
    }
    print_claim("ARC-HW over ARC-SW", machines[m].name, over_sw, hw_over_sw[m]);
    print_claim("atomic stalls, less in ARC-HW", machines[m].name, base / hw, stalls[m]);
    double order[] = {mean(m, BASELINE, ARC_HW),    sw,
                      mean(m, BASELINE, LAB_IDEAL), mean(m, BASELINE, LAB),
                      mean(m, BASELINE, PHI),       1};
    printf("model:   %-9s order", machines[m].name);
    for (int i = 0; i < 6; ++i)
      printf(" %s%.3f", i == 0 ? "" : order[i] <= order[i - 1] ? "> " : "< ", order[i]);
    printf("\n");
  }
  printf("\n");
}

/* ---- the new question ------------------------------------------------------------------------ */

static void print_question(void) {
  for (int m = 0; m < MACHINES; ++m) {
    printf("model: %s, speed over arc's auto, and in brackets the atomic stalls of auto over it\n",
           machines[m].name);
    for (int w = 0; w < WORKLOADS; ++w) {
      printf("model:   %-10s", workloads[w].trace);
      for (int c = ARC_HW; c <= ARC_WIDE; ++c)
        printf("  %s %5.2f (%7.3g)", column_names[c], speedup(m, w, AUTO, c),
               stall_ratio(m, w, AUTO, c));
      printf("  limit %5.2f\n", speedup(m, w, AUTO, NOTHING));
    }
    double adders = 4.0 * machines[m].multiprocessors * machines[m].scale;
    printf("model:   area: serial %.1f M transistors, tree %.1f M\n\n",
           adders * TRANSISTORS_K / 1000, adders * TREE_ADDERS * TRANSISTORS_K / 1000);
  }
}

static void write_csv(FILE *f) {
  fprintf(f,
          "# program: hardware\n# clock: model\nmachine,workload,mechanism,threshold,"
          "lab_percent,clocks,speedup,over_auto,atomic_stalls,load_stalls,shuffle_stalls,"
          "dependence_stalls,instructions,requests,packets,sectors,reduced,merged\n");
  for (int m = 0; m < MACHINES; ++m)
    for (int w = 0; w < WORKLOADS; ++w)
      for (int c = 0; c < COLUMNS; ++c) {
        const cell *k = &cells[m][w][c];
        fprintf(f,
                "%s,%s,%s,%d,%d,%.0f,%.4f,%.4f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n",
                machines[m].name, workloads[w].trace, column_names[c], k->threshold,
                c == LAB ? k->lab_percent : 0, k->o.clocks, speedup(m, w, BASELINE, c),
                speedup(m, w, AUTO, c), k->o.stalls[STALL_ATOMIC], k->o.stalls[STALL_LOAD],
                k->o.stalls[STALL_SHUFFLE], k->o.stalls[STALL_DEPENDENCE], k->o.instructions,
                k->o.requests, k->o.packets, k->o.sectors, k->o.reduced, k->o.merged);
      }
}

int main(int argc, char **argv) {
  char partial[4096];
  FILE *csv = NULL;
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "hardware: takes TRACES SWEEP.csv [OUT.csv]\n");
    return 2;
  }
  if (argc == 4) {
    snprintf(partial, sizeof partial, "%s.partial", argv[3]);
    csv = fopen(partial, "w");
    if (csv == NULL) return perror(partial), 1;
  }
  folder = argv[1];
  print_ceilings();
  print_order(argv[2]);
  run_all();
  for (int m = 0; m < MACHINES; ++m) print_machine(m);
  print_papers();
  print_question();
  if (csv == NULL) return 0;
  write_csv(csv);
  if (fclose(csv) != 0 || rename(partial, argv[3]) != 0) return perror(argv[3]), 1;
  return 0;
}
