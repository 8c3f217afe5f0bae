/* arc study groups: keys and rows of values, and what is added by key.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUPS_GROUPS_H
#define GROUPS_GROUPS_H

#include <vector>

#include "../common/device.h"

enum { WHAT_SUMS, WHAT_COUNTS, WHAT_WEIGHTS, WHAT_WIDE };
enum { BY_UNIFORM, BY_ZIPF_105, BY_ZIPF_12, BY_SORTED, BY_HALF, KEYS_BY };
enum { ADD_PLAIN, ADD_ARC, ADD_TABLE, ADD_CUB, ADDERS };
enum { MOST_COLUMNS = 8, MOST_TABLE_ROWS = 256, MOST_ROWS = 100000000 };

typedef struct grouping {
  int what, by, rows, keys, columns; /* columns: 1 of counts and weights */
  int table_rows;                    /* that a warp keeps in shared memory, of ADD_TABLE */
  unsigned long long seed;
  bool few_bits;  /* of values: float sums of 4096 of them do not round */
  int scale_log2; /* of sums in fixed point, and of the oracle's */
  device_memory memory;
  device_array key, value, shares; /* shares: of the keys up to each rank, for zipf */
  device_array sums; /* long long, unsigned or float, by `what`; of ADD_ARC's, wide rows */
  /* CUB's: */
  device_array order, sorted_key, sorted_order, found_key, found_sum, found, scratch;
} grouping;

/* What all adders must find: how many rows each key has, and their sums, as a long long each. */
typedef struct group_oracle {
  std::vector<int> rows;
  std::vector<long long> sums;
} group_oracle;

/* What a sweep has found: up to how many keys, from the least on, arc is three times as fast as CUB
   or more, and up to how many it is faster; 0: not even for the least. no_more: the first number of
   keys for which arc is not faster. */
typedef struct sweep_limits {
  int three, faster, no_more;
} sweep_limits;

/* Takes the next number of keys, until no_more. speed: arc's relative to CUB's. */
static inline void sweep_note(sweep_limits *l, int keys, double speed) {
  if (speed >= 3.0 && l->three == l->faster) l->three = keys;
  if (speed > 1.0) l->faster = keys;
  if (speed <= 1.0) l->no_more = keys;
}

/* Draws the rows anew; what, by, rows, keys, columns, table_rows and seed are set. This, the oracle
   and the check are incomplete after an interrupt. */
void grouping_draw(grouping *g);
void grouping_end(grouping *g);
group_oracle grouping_oracle(const grouping *g);

/* Whether this build has an adder for it. */
bool grouping_offers(const grouping *g, int adder);
/* From cleared sums on. */
void grouping_add(grouping *g, int adder);
/* Whether the adder that ran last has found the sums: to the bit, or within rounding of floats. To
   the bit, too, of up to 4096 rows with few bits. */
bool grouping_check(const grouping *g, int adder, const group_oracle *oracle, error_line *error);

/* The baseline, cub.cu: sorts and reduces, or counts. dense: a float for each sum. */
void cub_begin(grouping *g);
void cub_add(grouping *g);
void cub_read(const grouping *g, float *dense);

#endif
