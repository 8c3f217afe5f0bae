/* sweep.h - what the files of arc_sweep share: the axes of a sweep, a cell, a result.
   SPDX-License-Identifier: Apache-2.0

   A *cell* is one point of the sweep. Cells that differ only in path and threshold form a *group*:
   they add the very same values, so they share the kernel without adding (`none`, the base of every
   net column), the expected sums and the floor. */
#ifndef ARC_BENCH_SWEEP_H
#define ARC_BENCH_SWEEP_H

#include <stddef.h>
#include <stdio.h>

/* Enumerators start at 1, as in arc_policy.cuh; the order is the order in the tables. */
enum sweep_path {
  SWEEP_PATH_NONE = 1,
  SWEEP_PATH_PLAIN,
  SWEEP_PATH_VECTOR,
  SWEEP_PATH_CG,
  SWEEP_PATH_CUB,
  SWEEP_PATH_CUB_BATCHED,
  SWEEP_PATH_SHUFFLE_SKIP,
  SWEEP_PATH_MATCH_SHARED,
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
enum sweep_workload {
  SWEEP_WORKLOAD_AXES = 1, /* what --lanes, --shape, --keys, --layout and --call say */
  SWEEP_WORKLOAD_TILE,
  SWEEP_WORKLOAD_SPHERES,
  SWEEP_WORKLOAD_CUBEMAP,
  SWEEP_WORKLOAD_HASHGRID,
  SWEEP_WORKLOAD_PAGERANK,
  SWEEP_WORKLOAD_HOT,
  SWEEP_WORKLOAD_END
};
enum sweep_call { SWEEP_CALL_UNIFORM = 1, SWEEP_CALL_KEYED, SWEEP_CALL_END };

#define SWEEP_LANES_MIXED (-1)      /* half of the updates 1-4 active lanes, half 1-32 */
#define SWEEP_LANES_MODEL (-2)      /* the workload model's own occupancy */
#define SWEEP_THRESHOLD_UNUSED (-1) /* the path has no threshold */
#define SWEEP_THRESHOLD_DEFAULT 34  /* ARC_BALANCE_THRESHOLD's own default, ARC_THRESHOLD_AUTO */
#define SWEEP_MAX_WIDTH 32

/* The widths that have kernels: a literal at every call. */
#define SWEEP_WIDTHS(X) X(1) X(2) X(3) X(4) X(6) X(8) X(9) X(10) X(12) X(14) X(16) X(20) X(32)

struct sweep_sizes {
  int rows;    /* parameter rows */
  int padding; /* a row is padded to a multiple of this many floats */
  int blocks, threads, updates;
  int seed;
};

/* How long a cell is measured; ignored on the CPU warp, where one launch gives all counts. */
struct sweep_rigour {
  int repeat;           /* timed launches, at least */
  double noise_percent; /* then until the quartiles are this close, */
  double cell_ms;       /* or this much time has been measured */
  int cold;             /* 1: the L2 cache is overwritten before each launch */
  int energy;           /* 1: NVML is asked for the energy of each cell */
};

struct sweep_cell {
  int workload;
  int width;
  int lanes; /* 0..32, SWEEP_LANES_MIXED or SWEEP_LANES_MODEL */
  int shape, call;
  int keys, layout; /* 0 where the workload is a model: it draws them */
  int zeros;        /* 1: inactive lanes hold zeros and arc is told so; 0: they hold garbage */
  int path;
  int threshold;
  char section; /* the part of a preset that asked for this cell: 'a', 'b', ... or '-' */
};

/* Milliseconds on the GPU; *model* clocks per 1000 warp updates on the CPU warp. NAN: not known. */
struct sweep_result {
  struct sweep_cell cell;
  double gross, net;
  double to_plain;        /* net over net of `plain` in the group */
  double floor, to_floor; /* of gross: what the measured ceilings allow, and gross over it */
  double low, high, quartile_low, quartile_high; /* of the launches, GPU only */
  int launches;
  int registers, local_bytes; /* per thread, GPU only */
  double clock_mhz;           /* right after the group, GPU only */
  double energy_nj;           /* per warp update, gross, GPU only */
  /* counted per warp and update, CPU warp only */
  double shuffles, votes, matches, scans, reductions, lane_adds, sectors, conflicts;
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

/* An empty list of lanes, calls or thresholds: the plan chooses for each cell. */
struct sweep_axes {
  struct sweep_list workloads, widths, lanes, shapes, keys, layouts, calls, thresholds, paths,
      zeros;
};

struct sweep_options {
  const char *preset; /* NULL: the axes below */
  struct sweep_axes axes;
  int axes_given, key_axes_given, paths_given;
  struct sweep_sizes sizes;
  struct sweep_rigour rigour;
  const char *csv, *json;
  int resume, floors;
  int quiet, help, self_check;
  /* for tests only */
  int interrupt_after; /* behave as if interrupted after so many groups, 0: never */
  int wrong_oracle;    /* expect a slightly different sum */
  int throttle_after;  /* behave as if the clock fell after so many groups, 0: never */
};

/* Reads the command line. Returns 0, or 2 after one line on `err` that names what is legal. */
int sweep_options_read(struct sweep_options *o, int argc, char **argv, FILE *err);
void sweep_options_default(struct sweep_options *o);
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
const char *sweep_workload_name(int workload);
int sweep_path_has_threshold(int path);
/* What this build lacks for the path, in words; NULL: it has it. */
const char *sweep_path_missing(int path);

/* ---- workloads: sweep_workload.cu ---- */

struct sweep_args;
struct sweep_lane_setup;
/* All of the generator's arguments but the addresses. */
void sweep_workload_args(const struct sweep_cell *c, const struct sweep_sizes *s,
                         struct sweep_args *a);
void sweep_workload_lanes(const struct sweep_cell *c, int seed, struct sweep_lane_setup *lanes);
int sweep_workload_call(int workload);
/* Rows a workload needs at least: neighbouring keys must fit. */
int sweep_workload_rows(int workload);
/* Updates of whole warps in one launch. */
double sweep_warp_updates(const struct sweep_cell *c, const struct sweep_sizes *s);

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

/* One line on `err` if the clock fell while cells were measured. */
void sweep_bench_warn(const struct sweep_bench *b, FILE *err);

/* ---- floors: sweep_floors.cu ---- */

/* What the chip can do: warp instructions a millisecond, or a clock on the CPU warp. */
struct sweep_rates {
  double shuffle, select, issue;
  double coalesced, same_address; /* reductions into many rows: 10 floats; 32 lanes, one address */
  double hot, hot_same_address;   /* the same into one row */
  int vector;                     /* 16-byte reductions exist */
};
/* Returns 0, or 1 after a line on `err`. */
int sweep_rates_measure(struct sweep_rates *rates, int rows, FILE *err);
void sweep_rates_describe(const struct sweep_rates *rates, FILE *out, const char *prefix);
/* The floor of a group's gross, in the unit of `base`, the gross of `none`. */
double sweep_floor(const struct sweep_rates *rates, const struct sweep_cell *c,
                   const struct sweep_sizes *s, double base);
/* Shuffles and selects of one transposed reduction. */
int sweep_transposed_shuffles(int width);
int sweep_transposed_selects(int width);

/* Those of the run; NULL with --floors 0. */
const struct sweep_rates *sweep_bench_rates(const struct sweep_bench *b);
double sweep_bench_warp_updates(const struct sweep_bench *b, const struct sweep_cell *c);

/* Set by SIGINT and SIGTERM: the sweep ends after the group under way. */
int sweep_interrupted(void);

/* ---- files ---- */

struct sweep_csv {
  FILE *file;
  const char *name;
  char partial[4096];
};
/* Opens NAME.partial and writes the head. With --resume, takes over what NAME.partial or NAME
   holds: fills `results` and counts them in `restored`, whole groups only. Returns 0, or 2 after a
   line on `err`; then no file has been touched. */
int sweep_csv_open(struct sweep_csv *csv, struct sweep_bench *b, int argc, char **argv,
                   const struct sweep_options *o, const struct sweep_plan *plan,
                   struct sweep_result *results, int *restored, FILE *err);
void sweep_csv_row(struct sweep_csv *csv, const struct sweep_result *r);
/* finished: NAME.partial becomes NAME; otherwise it stays. Returns 0, or 1 after a line on
   `err`. */
int sweep_csv_close(struct sweep_csv *csv, int finished, FILE *err);

/* The head of a result file, each line after `# `, the columns not among them. */
void sweep_csv_head(FILE *out, struct sweep_bench *b, int argc, char **argv,
                    const struct sweep_options *o, const struct sweep_plan *plan);
/* The line that names the columns, without its end. */
void sweep_csv_columns(FILE *out);
/* Reads a row of cell `c`. Returns 1, or 0 where it is no such row. */
int sweep_csv_read(const char *line, const struct sweep_cell *c, struct sweep_result *r);
/* Reads NAME.partial or NAME for --resume, see sweep_csv_open. */
int sweep_resume(const char *name, const char *head, const struct sweep_plan *plan,
                 struct sweep_result *results, int *restored, FILE *err);

/* What a column holds besides the words of the cell: a number somewhere in sweep_result. */
struct sweep_field {
  const char *name, *meaning;
  size_t offset;
  const char *format; /* NULL: an int; else of a double, whose NAN is an empty field */
};
/* Ends with a null name. */
const struct sweep_field *sweep_fields(void);
struct sweep_word {
  const char *name, *meaning;
};
enum { SWEEP_WORDS = 11, SWEEP_WORD_SIZE = 16 };
extern const struct sweep_word sweep_words[SWEEP_WORDS];
/* The words of a cell in the order of their columns. */
void sweep_cell_words(const struct sweep_cell *c, char words[SWEEP_WORDS][SWEEP_WORD_SIZE]);
const char *sweep_status(const struct sweep_result *r);

/* Whether NAME.partial can be written: 0, or 2 after a line on `err`. */
int sweep_json_check(const char *name, FILE *err);
/* Writes the whole file at once, through NAME.partial. Returns 0, or 1 after a line on `err`. */
int sweep_json_write(const char *name, struct sweep_bench *b, int argc, char **argv,
                     const struct sweep_options *o, const struct sweep_plan *plan,
                     const struct sweep_results *results, FILE *err);

/* ---- output ---- */

void sweep_table_head(FILE *out, struct sweep_bench *b, const struct sweep_options *o);
void sweep_table_group(FILE *out, const struct sweep_result *results, int count);
/* The line with the estimate of the time left; `taken_over` of the `done` cells took none. */
void sweep_progress(int done, int total, int taken_over, double seconds,
                    const struct sweep_cell *next);
void sweep_progress_clear(void);

/* The figures that the project promises against what was measured: presets `issue`, `peers`. */
void sweep_verdict(FILE *out, const struct sweep_results *results, struct sweep_bench *b);
void sweep_verdict_peers(FILE *out, const struct sweep_results *results);

/* The whole program; the self-check calls it too. */
int sweep_main(int argc, char **argv, FILE *out, FILE *err);
int sweep_self_check(FILE *out);

#endif
