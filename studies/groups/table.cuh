/* table.cuh - a table of rows that a warp keeps in shared memory, for skewed keys: the local
   aggregation buffer (LAB) of the ARC paper, in software. SPDX-License-Identifier: Apache-2.0

   First the lanes of one key are summed. The sum goes to the key's row in the table or, if the key
   has no row, to memory. A key gets a row when two lanes of a warp hold it, or when it comes twice
   before another key of the same place. A new key evicts an old one only after as many misses as
   the old one had hits.

   The table uses the interface of arc/core.cuh (>>interface). All 32 lanes of a warp make each
   call. `call` describes an add of the whole warp to one array of rows of up to TABLE_COLUMNS
   values, a literal; sums have the type of the array. */
#ifndef GROUPS_TABLE_CUH
#define GROUPS_TABLE_CUH

#include "arc.cuh"

enum { TABLE_COLUMNS = 8, TABLE_MOST_HITS = 64 };
enum {
  PLACE_IS_FREE = -3,
  PLACE_IS_CLAIMED,
  PLACE_IS_NAMED
}; /* by a lane of this call; by a key
                                                                 that came once, without sums */

typedef struct table_place {
  int key;
  int state; /* how many misses by other keys this key still survives */
} table_place;

typedef struct table {
  char *sums;
  table_place *places;
  int rows, row_bytes;
} table;

/* Bytes of shared memory, aligned to 16, for the tables of a block; bytes: of a sum. */
static inline size_t table_bytes(int bytes, int rows, int columns, int threads) {
  return (size_t)((rows * (bytes * columns + 8) + 15) / 16 * 16) * (threads / 32);
}

/* Takes the sums of a place. */
DEVICE void table_take(const table *t, const arc__call *c, int place, arc__word *sums) {
  char *row = t->sums + place * t->row_bytes;
  ARC__EACH(i, c->width, TABLE_COLUMNS) {
    sums[i] = arc__read(c->literal.memory, row, i);
    arc__write(c->literal.memory, row, i, arc__neutral(c->literal.memory));
  }
}

/* Adds the sums of a place to memory, by one lane. */
DEVICE void table_release(const table *t, arc__call call, int place) {
  ARC__WORDS(sums, ARC__WARP);
  table_take(t, &call, place, sums);
  call.key = arc__key_from(t->places[place].key, 32);
  arc__emit(&call, sums, 0, call.width);
}

DEVICE table table_begin(const arc__call *call, char *shared, int rows) {
  const int lane = arc__lane(), row_bytes = arc__bytes(call->literal.memory) * call->width;
  const int mine = (rows * (row_bytes + 8) + 15) / 16 * 16;
  table t = {shared + mine * (int)(threadIdx.x / 32), 0, rows, row_bytes};
  ARC__WORDS(sums, ARC__WARP);
  t.places = (table_place *)(t.sums + (rows * row_bytes + 7) / 8 * 8);
  for (int place = lane; place < rows; place += 32) {
    t.places[place].state = PLACE_IS_FREE;
    table_take(&t, call, place, sums);
  }
  __syncwarp();
  return t;
}

/* The place of each leader whose sums go to the table, or -1. Of keys that miss one place the first
   gets its state, the others PLACE_IS_CLAIMED. */
DEVICE int table_find(const table *t, const arc__call *c) {
  const bool leads = arc__leads(c->group, c->lane);
  const int lanes = __popc(c->group);
  const int mine = (int)__umulhi((unsigned)c->key.low * 0x9e3779b1u, (unsigned)t->rows);
  table_place *place = &t->places[mine];
  int state = place->state;
  const bool hits = leads && state >= PLACE_IS_NAMED && place->key == c->key.low;
  const bool misses = leads && !hits, may_take = misses && state <= 0;
  const bool any_may_take = __any_sync(ARC_LANES_ALL, may_take);
  if (misses && state > 0) place->state = state - 1; /* all that miss it write the same */
  __syncwarp();
  if (hits && state < TABLE_MOST_HITS) place->state = (state < 0 ? 0 : state) + lanes;
  if (!any_may_take) return hits ? mine : -1;
  __syncwarp();
  if (may_take) state = atomicExch(&place->state, PLACE_IS_CLAIMED);
  __syncwarp();
  const bool claims = may_take && state != PLACE_IS_CLAIMED, takes = claims && state <= 0;
  const bool keeps = takes && lanes > 1; /* a lane alone only gives the place its key */
  if (claims && !takes) place->state = state - 1;
  if (takes && state == 0) table_release(t, *c, mine);
  if (takes) {
    place->key = c->key.low;
    place->state = keeps ? lanes : PLACE_IS_NAMED;
  }
  __syncwarp();
  return hits || keeps ? mine : -1;
}

DEVICE void table_add(const table *t, arc__call call) {
  ARC__WORDS(sums, ARC__WARP);
  const float scale = call.target->piece[0].scale;
  arc__check_call(&call);
  __syncwarp();
  call.present = __ballot_sync(ARC_LANES_ALL, call.active);
  if (call.present == 0u) return;
  call.group = arc__match(&call);
  arc__find_leaders(&call);
  ARC__EACH(i, call.width, TABLE_COLUMNS)
    sums[i] = call.active ? arc__load(&call, i, scale) : arc__neutral(call.literal.kind);
  arc__reduce_tree(&call, sums, call.width);
  const int place = table_find(t, &call);
  char *row = t->sums + place * t->row_bytes;
  if (place >= 0) {
    ARC__EACH(i, call.width, TABLE_COLUMNS) {
      arc__word sum =
          arc__sum(call.literal.memory, arc__read(call.literal.memory, row, i), sums[i]);
      arc__write(call.literal.memory, row, i, sum);
    }
  } else if (arc__leads(call.group, call.lane)) {
    arc__emit(&call, sums, 0, call.width);
  }
  __syncwarp();
}

/* All sums are in memory after it. */
DEVICE void table_end(const table *t, const arc__call *call) {
  __syncwarp();
  for (int place = arc__lane(); place < t->rows; place += 32)
    if (t->places[place].state >= 0) table_release(t, *call, place);
}

#endif
