/* arc study groups: sums, counts and weights by key. SPDX-License-Identifier: Apache-2.0

   Where to read on: add.cu (kernels), cub.cu (the baseline), draw.cu (generates keys, and the right
   sums). */
#include <math.h>
#include <string.h>

#include <algorithm>

#include "groups.h"

#include "../../bench/common/option_table.h"
#include "../../bench/common/program_run.h"
#include "../common/table_program.h"

enum { MOST_RUNS = 1000, ALL_KEYS_BY = -1, LEAST_SWEPT = 1000 };

static const char *const what_names[] = {"sums", "counts", "weights", "wide", nullptr};
static const char *const by_names[] = {"uniform", "zipf-1.05", "zipf-1.2", "sorted",
                                       "half",    "all",       nullptr};
static const char *const adder_names[ADDERS] = {"plain", "arc", "table", "cub"};

static struct {
  int what, by, rows, keys, columns, table_rows, runs, seed; /* columns 0: not given */
  bool sweep;
  const char *csv;
} set = {WHAT_SUMS, ALL_KEYS_BY, SIMT_ON_CPU ? 10000 : 1 << 24, SIMT_ON_CPU ? 1000 : 100000,
         0,         64,          SIMT_ON_CPU ? 1 : 9,           1,
         false,     nullptr};
static grouping the_grouping;
static output_file csv;

static option table[] = {
    {"groups: adds the rows of each key: sums that repeat, counts or weights, and checks them.\n"
     "\nusage: groups [options]\n"},
    {"--what", OPTION_NAME, &set.what,
     "sums: floats in fixed point, the same bits in every run, compared with a sort and a "
     "reduction by key; counts: how many rows, compared with a histogram; weights: sums of one "
     "float per row; wide: sums that repeat and need no scale, for floats of any size",
     0, -1, what_names},
    {"--by", OPTION_NAME, &set.by,
     "how keys are generated; half: half of all rows have one key; default: all ways in turn", 0,
     -1, by_names},
    {"--rows", OPTION_INT, &set.rows, "", 1000, MOST_ROWS},
    {"--keys", OPTION_INT, &set.keys, "different keys", 1, MOST_ROWS},
    {"--columns", OPTION_INT, &set.columns, "floats per row of sums and wide; default: 4", 1,
     MOST_COLUMNS},
    {"--table-rows", OPTION_INT, &set.table_rows, "rows that a warp keeps in shared memory", 1,
     MOST_TABLE_ROWS},
    {"--sweep", OPTION_FLAG, &set.sweep,
     "1000 keys, then twice as many, and so on up to --rows: until CUB is faster"},
    {"--keys", OPTION_WITHOUT, nullptr, "--sweep"},
    {"--runs", OPTION_INT, &set.runs, "launches; times are their median", 1, MOST_RUNS},
    {"--csv", OPTION_OUTPUT, &set.csv, "writes the table"},
    {"--seed", OPTION_INT, &set.seed, "for keys and values", 0, 1000000},
    {OPTIONS_END},
    {}};

static bool check_columns(error_line *error) {
  const bool has_columns = set.what == WHAT_SUMS || set.what == WHAT_WIDE;
  if (set.columns > 0 && !has_columns)
    return error_set(error, "--columns is for --what sums or wide; %s have one column",
                     what_names[set.what]);
  if (set.columns == 0) set.columns = has_columns ? 4 : 1;
  return true;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* A line of the table: every adder on keys of this kind, up to an interrupt. speed: arc's, with
   tables or without, whichever is faster, relative to CUB's; NAN without CUB. False: a sum is
   wrong. */
static bool measure(int by, int keys, double *speed, error_line *error) {
  grouping *g = &the_grouping;
  float ms[ADDERS] = {NAN, NAN, NAN, NAN};
  g->by = by;
  g->keys = keys;
  grouping_draw(g);
  const group_oracle oracle = grouping_oracle(g);
  if (interrupts) return true;
  printf("%-10s %9d", by_names[by], keys);
  for (int adder = 0; adder < ADDERS && !interrupts; ++adder) {
    error_line what;
    if (!grouping_offers(g, adder)) continue;
    if (progress_due()) progress_line("%s of %d keys", adder_names[adder], keys);
    ms[adder] = median_time(set.runs, [&] { grouping_add(g, adder); });
    progress_clear();
    const bool right = grouping_check(g, adder, &oracle, &what);
    if (interrupts) break;
    if (!right)
      return printf("\n"),
             error_set(error, "%s, keys by %s: %s", adder_names[adder], by_names[by], what.text);
    printf(" %10.4f", ms[adder]);
    if (set.csv != nullptr)
      fprintf(csv.stream, "%s,%s,%d,%d,%d,%d,%s,%.4f\n", what_names[set.what], by_names[by],
              set.rows, keys, set.columns, set.table_rows, adder_names[adder], ms[adder]);
  }
  *speed = ms[ADD_CUB] / fminf(ms[ADD_ARC], ms[ADD_TABLE]);
  if (*speed == *speed) printf(" %7.2fx", *speed);
  printf("\n");
  return true;
}

static const char *up_to(int keys, char room[32]) {
  if (keys == 0) return "for none";
  snprintf(room, 32, "up to %d keys", keys);
  return room;
}

/* From where on CUB is faster. */
static bool sweep(int by, error_line *error) {
  sweep_limits l = {0, 0, 0};
  char room[2][32];
  for (long long keys = LEAST_SWEPT; keys <= set.rows && !l.no_more && !interrupts; keys *= 2) {
    double speed;
    if (!measure(by, (int)keys, &speed, error)) return false;
    sweep_note(&l, (int)keys, speed);
  }
  if (!grouping_offers(&the_grouping, ADD_CUB) || interrupts) return true;
  printf("%-10s at least 3x as fast as cub %s, faster %s", by_names[by], up_to(l.three, room[0]),
         up_to(l.faster, room[1]));
  if (l.no_more) printf(", not for %d", l.no_more);
  printf("\n");
  return true;
}

static bool measure_all(error_line *error) {
  double speed;
  printf("%-10s %9s", "keys by", "keys");
  for (int adder = 0; adder < ADDERS; ++adder)
    if (grouping_offers(&the_grouping, adder)) printf(" %7s ms", adder_names[adder]);
  printf("%s\n", grouping_offers(&the_grouping, ADD_CUB) ? "    x cub" : "");
  for (int by = 0; by < KEYS_BY && !interrupts; ++by) {
    if (set.by != ALL_KEYS_BY && set.by != by) continue;
    if (set.sweep ? !sweep(by, error) : !measure(by, set.keys, &speed, error)) return false;
  }
  return true;
}

/* ---- from the options to the end ------------------------------------------------------------ */

int main(int argc, char **argv) {
  error_line error;
  if (program_begin("groups", argc, argv)) return 0;
  if (!options_read(table, argc, argv, &error) || !check_columns(&error)) return fail(2, &error);
  if (!has_device("groups", &error)) return fail(1, &error);
  catch_interrupts();
  device_describe(stdout, DEVICE_ON_SCREEN, 0.0);
  printf(
      "%-10s %d rows of %d, %s\n", what_names[set.what], set.rows, set.columns,
      SIMT_ON_CPU ? "times are the emulation's; cub needs a GPU: groups_gpu" : "clearing included");
  grouping *g = &the_grouping;
  g->what = set.what, g->rows = set.rows, g->columns = set.columns;
  g->table_rows = set.table_rows, g->seed = (unsigned long long)set.seed;
  if (set.csv != nullptr &&
      !table_open(&csv, set.csv, "what,keys_by,rows,keys,columns,table_rows,adder,ms", &error))
    return fail(1, &error);
  const bool right = measure_all(&error);
  grouping_end(g);
  if (!right) return set.csv != nullptr ? output_file_abandon(&csv) : (void)0, fail(1, &error);
  if (set.csv != nullptr && !output_file_commit(&csv, &error)) return fail(1, &error);
  if (set.csv != nullptr) printf("written    %s\n", printable(set.csv));
  return interrupts ? printf("interrupted\n"), interrupted_status() : 0;
}
