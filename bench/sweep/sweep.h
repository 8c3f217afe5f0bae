/* sweep.h - what the files of arc_sweep share: the axes of a sweep, a cell, a result.
   SPDX-License-Identifier: Apache-2.0

   A *cell* is one point of the sweep. Cells that differ only in path and threshold form a *group*:
   they add the very same values, so they share the kernel without adding (`none`, the base of every
   net column) and the expected sums, and they take turns while they are measured. */
#pragma once

#include <stdio.h>

#include <array>
#include <string>
#include <vector>

#include "../common/output_file.h"
#include "../kernels/draw_args.h"
#include "../kernels/kernels.h"

/* ---- axes.cpp ---- */

/* The columns that make a cell, in order; all but the section are options. */
enum sweep_axis_index {
  AXIS_SECTION,
  AXIS_WORKLOAD,
  AXIS_WIDTH,
  AXIS_FORM,
  AXIS_LANES,
  AXIS_SHAPE,
  AXIS_KEYS,
  AXIS_LAYOUT,
  AXIS_CALL,
  AXIS_ZEROS,
  AXIS_PADDING,
  AXIS_TYPE,
  AXIS_PATH,
  AXIS_THRESHOLD,
  AXIS_END
};
typedef std::array<std::vector<int>, AXIS_END> sweep_axes;

using sweep_member = int sweep_cell::*; /* nvcc writes it with parentheses inside a struct */
struct sweep_axis {
  const char *column;
  sweep_member member;
  const char *option;
  int low, high;                   /* the legal numbers; none where low > high */
  std::vector<const char *> names; /* of the values high + 1, high + 2, ... up to a null */
  std::vector<int> start;          /* empty: the plan chooses for each cell */
  const char *meaning;
};
extern const sweep_axis sweep_axis_table[AXIS_END];

/* The value as it stands in tables and files. */
std::string sweep_word(int axis, int value);
std::string sweep_word_of(int axis, const sweep_cell &cell);
/* What the cells of a group have in common. */
std::string sweep_group_words(const sweep_cell &c);

/* Milliseconds on the GPU; *model* clocks per 1000 warp updates on the CPU warp. NAN: not known. */
struct sweep_result {
  sweep_cell cell;
  double gross, net;
  double to_plain;                               /* net over net of `plain` in the group */
  double low, high, quartile_low, quartile_high; /* of the launches, GPU only */
  double launches, registers, local_bytes;       /* the last two per thread, GPU only */
  double clock_mhz;                              /* right after the group, GPU only */
  /* counted per warp and update, CPU warp only */
  double shuffles, votes, matches, scans, reductions, lane_adds, sectors, conflicts;
  long wrong;         /* parameters whose sum is outside the error bound */
  double worst_error; /* largest error as a fraction of its bound */
};
typedef std::vector<sweep_result> sweep_results;

enum { exit_done, exit_wrong, exit_bad_option, exit_no_memory, exit_no_gpu = 77 };

/* ---- options.cpp: the command line to axes ---- */

static inline bool sweep_path_has_threshold(int path) {
  return path >= SWEEP_PATH_SERIALIZED && path <= SWEEP_PATH_AUTO;
}

struct sweep_options {
  int preset; /* its place; negative: axes were given */
  std::vector<sweep_axes> products;
  int rows, blocks, threads, updates, seed;
  int repeat;          /* timed launches, at least; GPU only like all below */
  float noise_percent; /* then until the quartiles are this close, */
  float cell_ms;       /* or this much time has been measured */
  int cold;
  const char *csv, *html, *policy_header, *workload_file; /* null: none */
  std::vector<sweep_mask> masks;                          /* of the last one */
  bool quiet, tables;
  int throttle_after; /* for tests only */
};

/* One line on stderr; returns 2. */
int sweep_complain(const std::string &what);
/* Returns 0, or 2 after one line on stderr that says what is legal. */
int sweep_options_read(sweep_options *o, int argc, char **argv);

/* ---- plan.cpp: axes to cells and their kernels ---- */

struct sweep_planned {
  sweep_cell cell;
  sweep_kernel kernel;
};
typedef std::vector<sweep_planned> sweep_planned_group; /* `none` is the first */
typedef std::vector<sweep_planned_group> sweep_plan;
/* Returns 0, or 2 after one line on stderr: what was asked for has no kernel. */
int sweep_plan_build(sweep_plan *plan, const sweep_options &o);
int sweep_plan_cells(const sweep_plan &plan);

/* ---- workloads: workload.cpp ---- */

/* Returns 0, or 2 after one line on stderr that names the line which is wrong. */
int sweep_workload_read(const char *name, std::vector<sweep_mask> *masks);
/* All of the generator's arguments but the addresses. */
void sweep_workload_args(const sweep_cell &c, const sweep_options &o, sweep_args *a);
/* All but the value of inactive lanes. */
void sweep_workload_lanes(const sweep_cell &c, int seed, sweep_lane_setup *lanes);
int sweep_workload_call(int workload);
/* Rows a workload needs at least: neighbouring keys must fit. */
int sweep_workload_rows(int workload);
/* Updates of whole warps in one launch. */
double sweep_warp_updates(const sweep_cell &c, const sweep_options &o);

/* ---- measuring: measure.cu ---- */

bool sweep_on_cpu_warp(void);

struct sweep_bench; /* buffers, events and expected sums */
/* Returns 0, or an exit status after a line on stderr: there is no device, no memory. */
int sweep_bench_open(sweep_bench **bench, const sweep_options &o, const sweep_plan &plan);
void sweep_bench_close(sweep_bench *b);
/* Measures the cells of one group in turns and appends one result each. Returns 0, or 1 if nothing
   is appended: after an interrupt, or a line on stderr when a launch failed. */
int sweep_bench_group(sweep_bench *b, const sweep_planned_group &group, sweep_results *results);
/* Writes lines about machine, compiler, policy and what this build lacks, in a file after "# ". */
void sweep_bench_describe(const sweep_bench *b, FILE *out, bool in_file);
/* One line on stderr if the clock fell while cells were measured. */
void sweep_bench_warn(const sweep_bench *b);

/* ---- output: csv.cpp, page.cpp, table.cpp, summary.cpp, costs.cpp ---- */

/* Writes the head. */
void sweep_csv_head(FILE *out, const sweep_bench *b, const sweep_options &o);
void sweep_csv_row(FILE *out, const sweep_result &r);
/* Writes page.html with the text of a result file in it. */
bool sweep_page(const std::string &name, const std::string &csv, error_line *error);

void sweep_table_head(const sweep_bench *b, const sweep_options &o);
void sweep_table_group(const sweep_result *results, int count);

/* Neighbours in the results that differ only in path and threshold. */
struct sweep_group {
  const sweep_result *first;
  size_t count;
  const sweep_cell &cell(void) const { return first->cell; }
};
bool sweep_same_group(const sweep_cell &a, const sweep_cell &b);
std::vector<sweep_group> sweep_groups(const sweep_results &results);
/* For the user: at most 24 lines, whose terms it explains, and a last one follows. */
void sweep_summary(FILE *out, const sweep_results &results);
void sweep_print_costs(FILE *out, const sweep_results &results);
/* Writes the constants that suit the results as a header. */
bool sweep_policy_header(const std::string &name, const sweep_results &results, error_line *error);
