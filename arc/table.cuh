/* table.cuh - skewed keys: a warp keeps the rows that come most in shared memory.
   SPDX-License-Identifier: Apache-2.0

       arc_table_f32 arc_table_begin_f32(arc_target_f32 target, void *shared, int rows);
       void arc_table_add_f32(arc_table_f32 *table, long long key, const float *values,
                              bool active);
       void arc_table_add_with_f32(arc_table_f32 *table, long long key, const float *values,
                                   bool active, arc_options options);
       void arc_table_end_f32(arc_table_f32 *table);
   Adds as arc_add_f32 does, where nobody knows which few keys come most. The lanes of one key are
   summed first; the sum goes to the key's row of the table or, where another key has its place, to
   memory. A key takes a place from one that others have missed as often as it came. Only after end
   are all sums in memory.
       void arc_table_gather_add_f32(arc_table_f32 *table, arc_gather_f32 *gather, long long key,
                                     long long row, bool active);   and _with, with options
   The same for rows in memory, which a gather that was begun on the same target reads. It keeps
   nothing from call to call, and need not end.
   target: one array of rows, not in shared memory.
   Needs #define ARC_TABLES 1 above the include of arc.cuh. rows: of each warp, 1 or more.
   shared: ARC_TABLE_BYTES(sizeof of a sum in memory, rows, width, threads of the block) bytes,
   aligned to 16, that nobody else uses between begin and end.
   Who calls: all 32 lanes of the warp, each of them; a warp may begin and end without the others.
   options: key_bits (the same in all calls), scope. No path, threshold or promises. Sums in fixed
   targets are exact; halves are rounded at each addition to the table, as they are in memory.
   Cost: beside the sums' own, 2 shuffles and a few loads of shared memory; a sum that hits is a load
   and a store. Keys that hardly repeat cost more than by arc_add_f32. Suffixes: all of arc.cuh.
   Source: the local aggregation buffer (LAB) of the ARC paper, in software. */
#ifndef ARC_CUH
#error "arc/table.cuh: include arc.cuh first"
#endif
#if !ARC_TABLES
#error "arc/table.cuh: #define ARC_TABLES 1 above the include of arc.cuh"
#endif
#ifndef ARC_TABLE_CUH
#define ARC_TABLE_CUH

#include "arc/gather.cuh"
#include "arc/hot.cuh"

/* Bytes of shared memory for the tables of a block; bytes: of a sum in memory. */
#define ARC_TABLE_BYTES(bytes, rows, width, threads) \
  (((rows) * (ARC__ROW_BYTES(bytes, width) + 12) + 7) / 8 * 8 * (((threads) + 31) / 32))
#define ARC__ROW_BYTES(bytes, width) (((bytes) * (width) + 3) / 4 * 4)

/* Where a row of the table may lie. */
typedef struct arc__place_in_table {
  int low, carry; /* the key */
  int state;      /* how many sums of others it still keeps its key from */
} arc__place_in_table;
#define ARC__ADDRESSES ((char *)4096) /* where key 0 would lie; not null, by the rules of C */
#define ARC__PLACE_IS_FREE (-1)
#define ARC__PLACE_CLAIM (-2) /* less a lane: of several that claim it, the last to write gets it */
#define ARC__PLACE_MOST 64    /* so that what was hot leaves some day */

/* arc__request where no compiler can see that the address is one of global memory. */
ARC__FN void arc__request_global(int memory, int scope, char *address, const arc__word *w,
                                 int count) {
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 600 && ARC_CHECK < 2
  arc__u64 at = __cvta_generic_to_global(address);
  if (memory == ARC__F32 && count == 1) {
    ARC__RED(".f32", "%1", "f"(__uint_as_float(w[0].lo)));
  } else if (memory == ARC__F64) {
    ARC__RED(".f64", "%1", "d"(arc__f64(w[0])));
  } else if (memory == ARC__I32) {
    ARC__RED(".u32", "%1", "r"(w[0].lo));
  } else if (memory == ARC__I64 || memory == ARC__FIXED) {
    ARC__RED(".u64", "%1", "l"(arc__bits(w[0])));
  } else
#endif
    arc__request(memory, scope, address, w, count);
}

/* To a row of a table by loads and stores, since nobody else adds there. */
ARC__FN void arc__leave(const arc__call *c, char *address, const arc__word *w, int count) {
  const int memory = c->memory, bytes = arc__is_half(memory) ? 4 : arc__bytes(memory);
  const int kind = memory == ARC__FIXED ? ARC__I64 : arc__is_half(memory) ? ARC__I32 : memory;
  const arc__u64 offset = (arc__u64)address - (arc__u64)c->table;
  if (!c->in_table) {
    arc__request(memory, c->scope, address, w, count);
  } else if (offset >= (arc__u64)c->table_bytes) {
    arc__request_global(memory, c->scope, address, w, count);
  } else { /* from the table's address on, which compilers know to be one of shared memory */
    char *row = c->table + (int)(unsigned)offset;
    ARC__EACH_OF_4(i, count, {
      arc__word old = arc__read(kind, row + i * bytes, 0);
      arc__write(kind, row + i * bytes, 0, arc__sum_stored(memory, old, w[i]));
    })
  }
}

typedef struct arc__table {
  arc__target target; /* memory */
  arc__target found;  /* addresses for keys: of rows in memory, or in the table */
  char *sums;         /* of this warp */
  arc__place_in_table *places;
  int rows, row_bytes, key_bits;
  ARC__DUTY
} arc__table;

ARC__FN int arc__table_kind(const arc__table *t) {
  return t->target.memory == ARC__FIXED ? ARC__I64 : t->target.memory;
}

/* Takes value i of a row out of the table. */
ARC__FN arc__word arc__take_sum(const arc__table *t, int place, int i) {
  const int kind = arc__table_kind(t);
  char *row = t->sums + place * t->row_bytes;
  arc__word sum = arc__read(kind, row, i);
  arc__write(kind, row, i, arc__neutral(kind));
  if (arc__is_half(kind)) ((unsigned short *)row)[i] = 0x8000u; /* -0 */
  return sum;
}

ARC__FN arc__key arc__key_in_table(const arc__table *t, const arc__call *c, int place) {
  const arc__place_in_table *p = &t->places[place];
  arc__key key = {p->low, c->key.bits == 64 ? p->carry : 0, c->key.bits};
  return key;
}

ARC__FN void arc__table_begin(arc__table *t, void *shared, int rows) {
  const int bytes = arc__bytes(t->target.memory), width = t->target.width;
  const int mine = ARC_TABLE_BYTES(bytes, rows, width, ARC__WARP);
  ARC__CHECK(1, rows >= 1, "a table must have at least 1 row");
  ARC__CHECK(1, t->target.pieces == 1, "the target of a table must be one array of rows");
  ARC__CHECK(1, arc__is_shared_memory((char *)shared, (long long)mine * arc__warps()),
             "the memory of a table is not shared memory, or too small for its rows");
  t->rows = rows, t->row_bytes = ARC__ROW_BYTES(bytes, width), t->key_bits = ARC_KEY_BITS;
  t->sums = (char *)shared + mine * (arc__thread() / ARC__WARP);
  t->places = (arc__place_in_table *)(t->sums + rows * t->row_bytes);
  t->found = t->target;
  t->found.piece[0].base = ARC__ADDRESSES;
  t->found.piece[0].stride_bytes = 1;
  arc__target_end(&t->found); /* but decisions are those of the rows: */
  t->found.min_lanes_to_match = t->target.min_lanes_to_match;
  t->found.min_lanes_to_reduce = t->target.min_lanes_to_reduce;
  for (int place = arc__lane(); place < rows; place += ARC__WARP) {
    t->places[place].state = ARC__PLACE_IS_FREE;
    for (int i = 0; i < width; ++i) (void)arc__take_sum(t, place, i);
  }
  __syncwarp(ARC_LANES_ALL);
}

/* The call by which sums of the table go to memory. */
ARC__FN arc__call arc__call_to_memory(const arc__table *t, const arc__call *c) {
  arc__call to = *c;
  to.target = &t->target;
  to.in_table = false;
  to.source = to.kind = arc__is_half(to.memory) ? ARC__F32 : arc__table_kind(t);
  return to;
}

/* Adds the row of a place to memory: one lane by itself, which has few values to add. */
ARC__FN void arc__release_narrow(const arc__table *t, arc__call to, int place) {
  ARC__WORDS(w, ARC__WARP);
  ARC__EACH(i, to.width, ARC__NARROW) w[i] = arc__take_sum(t, place, i);
  to.key = arc__key_in_table(t, &to, place);
  arc__emit(&to, w, 0, to.width);
}

/* Value i of it, alone: no two values of a row leave together. */
ARC__FN void arc__release_value(const arc__table *t, const arc__call *to, int place, int i) {
  arc__emit_sum(to, arc__slot_of(&t->target, i, 1), arc__key_in_table(t, to, place),
                arc__take_sum(t, place, i), arc__neutral(ARC__F32));
}

/* The place of each leader whose sum goes to the table, or -1. The whole warp calls. */
ARC__FN int arc__find_places(const arc__table *t, const arc__call *c) {
  const bool leads = arc__leads(c->group, c->lane);
  unsigned hash = ((unsigned)c->key.low ^ (unsigned)c->key.carry * 0x85ebca6bu) * 0x9e3779b1u;
  const int mine = (int)__umulhi(hash, (unsigned)t->rows);
  arc__place_in_table *place = &t->places[mine];
  int state = leads ? place->state : 0;
  bool hits = leads && state >= 0 && arc__same_key(arc__key_in_table(t, c, mine), c->key);
  if (hits) place->state = state < ARC__PLACE_MOST ? state + __popc(c->group) : state;
  __syncwarp(ARC_LANES_ALL);
  const bool misses = leads && !hits;
  if (!__any_sync(ARC_LANES_ALL, misses)) return hits ? mine : -1;
  if (misses) state = place->state; /* what a hit has left there, too */
  __syncwarp(ARC_LANES_ALL);
  if (misses) place->state = state > 0 ? state - 1 : ARC__PLACE_CLAIM - c->lane;
  __syncwarp(ARC_LANES_ALL);
  const bool takes = misses && state <= 0 && place->state == ARC__PLACE_CLAIM - c->lane;
  const bool releases = takes && state == 0;
  arc__call to = arc__call_to_memory(t, c);
  if (c->width <= ARC__NARROW) {
    if (releases) arc__release_narrow(t, to, mine);
  } else {
    for (unsigned rest = __ballot_sync(ARC_LANES_ALL, releases); rest != 0u; rest &= rest - 1u) {
      const int its = __shfl_sync(ARC_LANES_ALL, mine, arc__lowest(rest));
      for (int i = c->lane; i < c->width; i += ARC__WARP) arc__release_value(t, &to, its, i);
    }
    __syncwarp(ARC_LANES_ALL);
  }
  if (takes) {
    place->low = c->key.low;
    if (c->key.bits == 64) place->carry = c->key.carry;
    place->state = __popc(c->group);
  }
  __syncwarp(ARC_LANES_ALL);
  return hits || takes ? mine : -1;
}

/* Finds the groups of a call, and a row for each: in the table or, for others, in memory. */
ARC__FN void arc__find_rows(arc__table *t, arc__call *c) {
  ARC__OWES(t, ARC__TABLED);
  arc__check_call(c);
  __syncwarp(ARC_LANES_ALL);
  t->key_bits = c->key.bits;
  c->in_table = true;
  c->table = t->sums;
  c->table_bytes = t->rows * t->row_bytes;
  c->present = __ballot_sync(ARC_LANES_ALL, c->active);
  c->group = arc__match(c);
  int place = arc__find_places(t, c);
  place = __shfl_sync(ARC_LANES_ALL, place, c->active ? arc__highest(c->group) : c->lane);
  const arc__piece *memory = &t->target.piece[0];
  char *row = place >= 0  ? t->sums + place * t->row_bytes
              : c->active ? arc__offset(memory->base, c->key, memory->stride_bytes)
                          : memory->base;
  c->key = arc__key_from((long long)row - (long long)ARC__ADDRESSES, 64);
  c->target = &t->found;
}

ARC__FN void arc__table_end(const arc__table *t, const arc__call *c) {
  arc__call to = arc__call_to_memory(t, c);
  to.key.bits = t->key_bits;
  __syncwarp(ARC_LANES_ALL);
  if (c->width <= ARC__NARROW) {
    for (int place = c->lane; place < t->rows; place += ARC__WARP)
      if (t->places[place].state >= 0) arc__release_narrow(t, to, place);
  } else {
    for (int i = c->lane; i < t->rows * c->width; i += ARC__WARP)
      if (t->places[i / c->width].state >= 0)
        arc__release_value(t, &to, i / c->width, i % c->width);
  }
  __syncwarp(ARC_LANES_ALL);
  ARC__OWES(t, ARC__NOTHING);
}

ARC__FN arc__call arc__call_of_table(const arc__table *t, long long key, const void *values,
                                     bool active, arc_options options) {
  options.path = ARC_PATH_AUTO;
  options.threshold = 0;
  options.promises = 0;
  options.lane_mask = ARC_LANES_ALL;
  options.exact = true;
  return arc__call_of(&t->target, key, values, active, options);
}

#define ARC__TABLE(S, T, M, KIND, MEMORY)                                                        \
  typedef struct arc_table_##S {                                                                 \
    arc__table any;                                                                              \
  } arc_table_##S;                                                                               \
  ARC__FN arc_table_##S arc_table_begin_##S(arc_target_##S target, void *shared,                 \
                                            int rows ARC__CALLER) {                              \
    arc_table_##S table;                                                                         \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                       \
    table.any.target = target.any;                                                               \
    arc__table_begin(&table.any, shared, rows);                                                  \
    return table;                                                                                \
  }                                                                                              \
  ARC__FN arc__call arc__table_call_##S(arc_table_##S *table, long long key, const void *values, \
                                        bool active, arc_options options) {                      \
    ARC__TYPED(&table->any.target, KIND, MEMORY);                                                \
    ARC__TYPED(&table->any.found, KIND, MEMORY);                                                 \
    return arc__call_of_table(&table->any, key, values, active, options);                        \
  }                                                                                              \
  ARC__FN void arc_table_add_with_##S(arc_table_##S *table, long long key, const T *values,      \
                                      bool active, arc_options options ARC__CALLER) {            \
    arc__call c = arc__table_call_##S(table, key, values, active, options);                      \
    arc__find_rows(&table->any, &c);                                                             \
    arc__add(c);                                                                                 \
    __syncwarp(ARC_LANES_ALL);                                                                   \
  }                                                                                              \
  ARC__FN void arc_table_add_##S(arc_table_##S *table, long long key, const T *values,           \
                                 bool active ARC__CALLER) {                                      \
    arc_table_add_with_##S(table, key, values, active, arc_options_default());                   \
  }                                                                                              \
  ARC__FN void arc_table_gather_add_with_##S(arc_table_##S *table, arc_gather_##S *gather,       \
                                             long long key, long long row, bool active,          \
                                             arc_options options ARC__CALLER) {                  \
    arc__call c = arc__table_call_##S(table, key, 0, active, options);                           \
    c.source = gather->any.source;                                                               \
    arc__find_rows(&table->any, &c);                                                             \
    arc__gather_add(&gather->any, c, row);                                                       \
    ARC__OWES(&gather->any, ARC__NOTHING);                                                       \
    __syncwarp(ARC_LANES_ALL);                                                                   \
  }                                                                                              \
  ARC__FN void arc_table_gather_add_##S(arc_table_##S *table, arc_gather_##S *gather,            \
                                        long long key, long long row, bool active ARC__CALLER) { \
    arc_table_gather_add_with_##S(table, gather, key, row, active, arc_options_default());       \
  }                                                                                              \
  ARC__FN void arc_table_end_##S(arc_table_##S *table ARC__CALLER) {                             \
    arc__call c = arc__table_call_##S(table, 0, 0, false, arc_options_default());                \
    arc__table_end(&table->any, &c);                                                             \
  }
ARC__EACH_SUFFIX(ARC__TABLE)

#endif /* ARC_TABLE_CUH */
