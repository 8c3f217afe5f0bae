/* sweep.h - what the files of arc_sweep share: the axes of a sweep, a cell, a result.
   SPDX-License-Identifier: Apache-2.0

   A *cell* is one point of the sweep. Cells that differ only in path and threshold form a *group*:
   they add the very same values, so they share the kernel without adding (`none`, the base of every
   net column) and the expected sums. */
#ifndef ARC_BENCH_SWEEP_H
#define ARC_BENCH_SWEEP_H

#include <stdio.h>

/* Enumerators start at 1, as in arc_policy.cuh; the order is the order in the tables. */
enum sweep_path {
  SWEEP_PATH_NONE = 1,
  SWEEP_PATH_PLAIN,
  SWEEP_PATH_VECTOR,
  SWEEP_PATH_ATOMIC,
  SWEEP_PATH_SERIALIZED,
  SWEEP_PATH_BUTTERFLY,
  SWEEP_PATH_TRANSPOSED,
  SWEEP_PATH_TREE,
  SWEEP_PATH_AUTO,
  SWEEP_PATH_BROKEN, /* loses the values of one lane: shows that the check bites */
  SWEEP_PATH_END
};
enum sweep_shape {
  SWEEP_SHAPE_PREFIX = 1,
  SWEEP_SHAPE_SCATTERED,
  SWEEP_SHAPE_STRIDED,
  SWEEP_SHAPE_RANDOM,
  SWEEP_SHAPE_SINGLE,
  SWEEP_SHAPE_END
};
enum sweep_layout {
  SWEEP_LAYOUT_INTERLEAVED = 1,
  SWEEP_LAYOUT_CONTIGUOUS,
  SWEEP_LAYOUT_RANDOM,
  SWEEP_LAYOUT_END
};
enum sweep_call { SWEEP_CALL_UNIFORM = 1, SWEEP_CALL_KEYED, SWEEP_CALL_END };

#define SWEEP_LANES_MIXED (-1)      /* half of the updates 1-4 active lanes, half 1-32 */
#define SWEEP_THRESHOLD_UNUSED (-1) /* the path has no threshold */
#define SWEEP_THRESHOLD_DEFAULT 34  /* ARC_BALANCE_THRESHOLD's own default, ARC_THRESHOLD_AUTO */
#define SWEEP_MAX_WIDTH 32

/* The widths that have kernels: a literal at every call. */
#define SWEEP_WIDTHS(X) X(1) X(2) X(3) X(4) X(6) X(8) X(9) X(10) X(12) X(14) X(16) X(20) X(32)

struct sweep_sizes {
  int rows;    /* parameter rows */
  int padding; /* a row is padded to a multiple of this many floats */
  int blocks, threads, updates;
  int repeat; /* timed launches of a cell, at least; ignored on the CPU warp */
  int seed;
};

struct sweep_cell {
  int width;
  int lanes; /* 0..32 or SWEEP_LANES_MIXED */
  int shape, keys, layout, call;
  int zeros; /* 1: inactive lanes hold zeros and arc is told so; 0: they hold garbage */
  int path;
  int threshold;
  char section; /* the part of a preset that asked for this cell: 'a', 'b', ... or '-' */
};

/* Milliseconds on the GPU; *model* clocks per warp and update on the CPU warp. */
struct sweep_result {
  struct sweep_cell cell;
  double gross, net;
  double low, high, quartile_low, quartile_high; /* of the launches, GPU only */
  int launches;
  int registers, local_bytes; /* per thread, GPU only */
  /* counted per warp and update, CPU warp only */
  double shuffles, votes, matches, reductions, lane_adds, sectors, conflicts;
  double to_plain;    /* net over net of `plain` in the group, < 0: no plain there */
  long wrong;         /* parameters whose sum is outside the error bound */
  double worst_error; /* largest error as a fraction of its bound */
};

struct sweep_results {
  struct sweep_result *item;
  int count, capacity;
};

/* ---- options and plan ---- */

#define SWEEP_LIST_MAX 64
struct sweep_list {
  int count;
  int value[SWEEP_LIST_MAX];
};

/* An empty list of calls or thresholds: the plan chooses for each cell. */
struct sweep_axes {
  struct sweep_list widths, lanes, shapes, keys, layouts, calls, thresholds, paths, zeros;
};

struct sweep_options {
  const char *preset; /* NULL: the axes below */
  struct sweep_axes axes;
  int axes_given;
  struct sweep_sizes sizes;
  const char *csv;
  int quiet, help, self_check;
  int interrupt_after; /* tests only: behave as if interrupted after so many groups, 0: never */
  int wrong_oracle;    /* tests only: expect a slightly different sum */
};

/* Reads the command line. Returns 0, or 2 after one line on `err` that names what is legal. */
int sweep_options_read(struct sweep_options *o, int argc, char **argv, FILE *err);
void sweep_options_help(FILE *out);

struct sweep_plan {
  struct sweep_cell *cell;
  int count, capacity;
};
void sweep_plan_build(struct sweep_plan *plan, const struct sweep_options *o);
void sweep_plan_free(struct sweep_plan *plan);
int sweep_same_group(const struct sweep_cell *a, const struct sweep_cell *b);
int sweep_list_add(struct sweep_list *list, int value);
int sweep_list_has(const struct sweep_list *list, int value);

const char *sweep_path_name(int path);
const char *sweep_shape_name(int shape);
const char *sweep_layout_name(int layout);
const char *sweep_call_name(int call);
int sweep_path_has_threshold(int path);

/* ---- measuring ---- */

struct sweep_bench; /* buffers, events and expected sums */
/* NULL after a line on `err` where there is no device or no memory. */
struct sweep_bench *sweep_bench_open(const struct sweep_options *o, const struct sweep_plan *plan,
                                     FILE *err);
void sweep_bench_close(struct sweep_bench *b);
/* Measures the cells of one group in turns and fills one result each. Returns 0, or 1 after a line
   on `err` when a launch failed. */
int sweep_bench_group(struct sweep_bench *b, const struct sweep_cell *cells, int count,
                      struct sweep_result *results, FILE *err);
/* Writes `key: value` lines about machine, compiler and policy, each after `prefix`. */
void sweep_bench_describe(struct sweep_bench *b, FILE *out, const char *prefix);

/* Milliseconds that `clocks` of each warp and update occupy a scheduler; < 0 on the CPU warp. */
double sweep_bench_scheduler_ms(const struct sweep_bench *b, double clocks);
/* Updates of whole warps in one launch. */
double sweep_bench_warp_updates(const struct sweep_bench *b);

/* Set by SIGINT: launches stop after the round under way. */
int sweep_interrupted(void);

/* ---- output ---- */

struct sweep_csv {
  FILE *file;
  const char *name;
  char partial[4096];
};
/* Opens NAME.partial and writes the head. Returns 0, or 2 after a line on `err`. */
int sweep_csv_open(struct sweep_csv *csv, const char *name, struct sweep_bench *b, int argc,
                   char **argv, const struct sweep_options *o, FILE *err);
void sweep_csv_row(struct sweep_csv *csv, const struct sweep_result *r);
/* finished: NAME.partial becomes NAME; otherwise it stays. Returns 0, or 1 after a line on
   `err`. */
int sweep_csv_close(struct sweep_csv *csv, int finished, FILE *err);

void sweep_table_head(FILE *out, struct sweep_bench *b, const struct sweep_options *o);
void sweep_table_group(FILE *out, const struct sweep_result *results, int count);
void sweep_progress(int done, int total, double seconds, const struct sweep_cell *next);
void sweep_progress_clear(void);

/* The figures that the project promises against what was measured (preset `issue`). */
void sweep_verdict(FILE *out, const struct sweep_results *results, struct sweep_bench *b);

/* The whole program; the self-check calls it too. */
int sweep_main(int argc, char **argv, FILE *out, FILE *err);
int sweep_self_check(FILE *out);

#endif
