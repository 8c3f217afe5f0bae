/* table.cuh - skewed keys: a warp keeps the rows that come most in shared memory. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

   Until 1.0 the choice of rows, ARC_TABLE_BYTES and the options may change in a minor version.

       arc_table_f32 arc_table_begin_f32(arc_target_f32 target, void *shared, int rows);
       void arc_table_add_f32(arc_table_f32 *table, arc_key key, const float *values,
                              bool active);
       void arc_table_add_with_f32(arc_table_f32 *table, arc_key key, const float *values,
                                   bool active, arc_options options);
       void arc_table_end_f32(arc_table_f32 *table);
   Adds as arc_add_f32 does, if a few keys come most and you do not know which. The lanes of one key
   are summed first. The sum goes to the key's row of the table or, if it has none, to memory. A key
   gets a row when two lanes of a warp hold it, or when it comes again before another key of the
   same bucket. A new key evicts it only after as many misses as it had hits. Of up to 4 values, a
   literal number, each lane sums its own while all lanes of a call have the key of the one before:
   pass such a table by its address, since a copy would keep sums of its own. All sums are in memory
   only after end.
       void arc_table_index_add_f32(arc_table_f32 *table, arc_row_adder_f32 *index_add,
                                    arc_key key, long long row, bool active);   and _with
   The same for rows in memory, read by an index_add that was begun on the same target. It keeps
   nothing from call to call here; it needs an end only for what it adds without the table.
   target: one array of rows, not in shared memory.
   Needs #define ARC_TABLES 1 above the include of arc.cuh. rows: of each warp, 1 or more.
   shared: ARC_TABLE_BYTES(sizeof of a sum in memory, rows, width, threads of the block) bytes,
   aligned to 16, used for nothing else between begin and end.
   Who calls: all 32 lanes of the warp make each call; a warp may begin and end without the others.
   options: key_bits and scope, the same in all calls; end adds with that scope too. No path,
   threshold or promises. Sums in fixed targets are exact; halves are rounded at each addition to
   the table, as they are in memory.
   Cost: the sums, 2 shuffles and a few loads of shared memory; a sum that hits is a load and a
   store. On an H200 (forms.csv, tables.csv) 4 hot rows take 0.14 to 0.35 of the time of
   arc_add_f32, skewed keys of 1 value 0.2 to 0.8, keys that hardly repeat 1.0 to 1.1, sorted keys
   0.9 to 1.2 or, where a warp makes only four calls, 1.1 to 1.8. The gain shrinks with the width:
   rows of more values in memory, half of them on one key, take 1.1 to 1.5, since index_add by
   itself keeps that key in registers. Suffixes: all of arc.cuh.
   Source: the local aggregation buffer (LAB) of the ARC paper, in software. */
#ifndef ARC_CUH
#error "arc/table.cuh: include arc.cuh first"
#elif !defined(__CUDACC_RTC__) /* NVRTC has it by another name */
#include "../arc_policy.cuh"
#endif
#ifndef ARC__IN_TABLE
#error "arc/table.cuh: #define ARC_TABLES 1 above the include of arc.cuh"
#endif
#ifndef ARC_TABLE_CUH
#define ARC_TABLE_CUH

#include "arc/index_add.cuh"
#include "arc/hot.cuh"

/* Bytes of shared memory for the tables of a block; bytes: of a sum in memory. */
#define ARC_TABLE_BYTES(bytes, rows, width, threads) \
  (ARC__TABLE_BYTES(bytes, rows, width) * (((threads) + 31) / 32))
#define ARC__TABLE_BYTES(bytes, rows, width) /* of a warp */ \
  (((rows) * (ARC__ROW_BYTES(bytes, width) + 12) + 7) / 8 * 8 + ARC__STATE_BYTES)
#define ARC__ROW_BYTES(bytes, width) (((bytes) * (width) + 3) / 4 * 4)

/* A row of the table: whose it is. */
typedef struct arc__bucket {
  int low, carry; /* the key */
  int state;      /* how many misses by other keys this key still survives */
} arc__bucket;
#define ARC__BUCKET_IS_FREE (-3)
#define ARC__BUCKET_IS_CLAIMED (-2) /* by a lane of this call */
#define ARC__BUCKET_IS_NAMED (-1)   /* by a key that came once, and has no sums yet */
#define ARC__BUCKET_MOST 64         /* so that a formerly hot key is evicted at last */

typedef struct ARC__FORM_TAG(arc__table) {
  arc__target target; /* memory */
  arc__target found;  /* addresses for keys: of rows in memory, or in the table */
  char *sums;         /* of this warp */
  arc__bucket *buckets;
  int rows, row_bytes;
  int scope; /* of the last call: sums leave with it. Unset before, where there is none */
  /* Of few values: the key that all lanes had in the last call, and each lane's sums. */
  bool has_run;
  arc__key run_key;
  arc__word run[ARC__NARROW];
  ARC__DUTY
} arc__table;

/* Takes value i of a row out of the table. */
ARC__FN arc__word arc__take_sum(const arc__table *t, int bucket, int i) {
  const int kind = t->target.memory;
  char *row = t->sums + bucket * t->row_bytes;
  arc__word sum = arc__read(kind, row, i);
  arc__write(kind, row, i, arc__neutral(kind));
  if (arc__is_half(kind)) ((unsigned short *)row)[i] = 0x8000u; /* -0 */
  return sum;
}

ARC__FN arc__key arc__key_in_table(const arc__table *t, const arc__call *c, int bucket) {
  const arc__bucket *p = &t->buckets[bucket];
  arc__key key = {p->low, c->key.bits == 64 ? p->carry : 0, c->key.bits};
  return key;
}

#if ARC_CHECK >= 2
ARC__FN void arc__table_check_begin(arc__table *t) {
  arc__u64 digest = arc__digest_target((unsigned)t->rows, &t->target);
  digest = arc__digest(digest, (arc__u64)t->sums);
  ARC__CHECK(2, digest == __shfl_sync(ARC_LANES_ALL, digest, 0),
             "the lanes of a warp begin a table with another target, memory or number of rows");
  t->duty.state = (arc__state *)(t->sums - ARC__STATE_BYTES);
  if (arc__lane() == 0) t->duty.state->begun = (unsigned)clock64();
  __syncwarp(ARC_LANES_ALL);
  t->duty.begun = t->duty.state->begun;
}

/* The index_add and the table must have one target. */
ARC__FN void arc__table_check_index_add(const arc__table *t, const arc__index_add *r) {
  ARC__CHECK(2, arc__digest_target(0u, &t->target) == arc__digest_target(0u, &r->target),
             "the index_add and the table were begun on different targets");
}
#define arc__table_check_copy(t) \
  ARC__CHECK(2, !(t)->duty.is_copy, "a copy of a table of up to 4 values adds")
#else
#define arc__table_check_copy(t) ((void)0)
#define arc__table_check_begin(t) ((void)0)
#define arc__table_check_index_add(t, r) ((void)0)
#endif

ARC__FN void arc__table_begin(arc__table *t, void *shared, int rows) {
  const int bytes = arc__bytes(t->target.memory), width = t->target.width;
  const int mine = ARC__TABLE_BYTES(bytes, rows, width);
  ARC__CHECK(1, rows >= 1, "a table must have at least 1 row");
  ARC__CHECK(1, t->target.pieces == 1 && arc__has_rows(&t->target),
             "the target of a table must be one array of rows");
  ARC__CHECK(1, __isGlobal(t->target.piece[0].base), "the target of a table is in shared memory");
  ARC__CHECK(1, ((arc__u64)shared & 15u) == 0u, "the memory of a table is not aligned to 16 bytes");
  ARC__CHECK(1, arc__is_shared_memory((char *)shared, (long long)mine * arc__warps()),
             "the memory of a table is not shared memory, or too small for its rows");
  arc__check_lanes(ARC_LANES_ALL);
  t->rows = rows, t->row_bytes = ARC__ROW_BYTES(bytes, width);
  t->sums = (char *)shared + mine * (arc__thread() / ARC__WARP) + ARC__STATE_BYTES;
  arc__table_check_begin(t);
  t->buckets = (arc__bucket *)(t->sums + rows * t->row_bytes);
  t->has_run = false;
  t->found = t->target;
  t->found.piece[0].base = (char *)ARC__ADDRESSES;
  t->found.piece[0].stride_bytes = 1;
  arc__target_end(&t->found); /* but decisions depend on the rows: */
  t->found.min_lanes_to_match = t->target.min_lanes_to_match;
  t->found.min_lanes_to_reduce = t->target.min_lanes_to_reduce;
  for (int bucket = arc__lane(); bucket < rows; bucket += ARC__WARP) {
    t->buckets[bucket].state = ARC__BUCKET_IS_FREE;
    t->buckets[bucket].carry = 0; /* which keys of 32 bits do not write */
  }
  for (int i = arc__lane(); i < rows * width; i += ARC__WARP) /* lanes side by side: no conflicts */
    (void)arc__take_sum(t, i / width, i % width);
  __syncwarp(ARC_LANES_ALL);
}

/* The call by which sums of the table go to memory. */
ARC__FN arc__call arc__call_to_memory(const arc__table *t, const arc__call *c) {
  arc__call to = *c;
  to.target = &t->target;
  to.in_table = false;
  to.source = to.kind = arc__is_half(to.memory) ? ARC__F32 : to.memory;
  return to;
}

/* Adds the row of a bucket to memory, by one lane: it has few values. */
ARC__FN void arc__release_narrow(const arc__table *t, arc__call to, int bucket) {
  ARC__WORDS(w, ARC__WARP);
  ARC__EACH(i, to.width, ARC__NARROW) w[i] = arc__take_sum(t, bucket, i);
  to.key = arc__key_in_table(t, &to, bucket);
  arc__emit(&to, w, 0, to.width);
}

/* Value i of it, alone: no two values of a row leave together. */
ARC__FN void arc__release_value(const arc__table *t, const arc__call *to, int bucket, int i) {
  arc__emit_sum(to, arc__slot_of(&t->target, i, 1), arc__key_in_table(t, to, bucket),
                arc__take_sum(t, bucket, i), arc__neutral(ARC__F32));
}

/* Adds the rows of the buckets that lanes take from other keys to memory. The whole warp calls. */
ARC__FN void arc__release_taken(const arc__table *t, const arc__call *c, int mine, bool releases) {
  const arc__call to = arc__call_to_memory(t, c);
  if (c->width <= ARC__NARROW) {
    if (releases) arc__release_narrow(t, to, mine);
    return;
  }
  for (unsigned rest = __ballot_sync(ARC_LANES_ALL, releases); rest != 0u; rest &= rest - 1u) {
    const int its = __shfl_sync(ARC_LANES_ALL, mine, arc__lowest(rest));
    for (int i = c->lane; i < c->width; i += ARC__WARP) arc__release_value(t, &to, its, i);
  }
  __syncwarp(ARC_LANES_ALL);
}

/* The bucket of each leader whose sum goes to the table, or -1. The whole warp calls. Of keys that
   miss one bucket the first gets its state, the others ARC__BUCKET_IS_CLAIMED. */
ARC__FN int arc__find_buckets(const arc__table *t, const arc__call *c) {
  const bool leads = arc__leads(c->group, c->lane);
  const int lanes = __popc(c->group);
  unsigned hash = ((unsigned)c->key.low ^ (unsigned)c->key.carry * 0x85ebca6bu) * 0x9e3779b1u;
  const int mine = (int)__umulhi(hash, (unsigned)t->rows);
  arc__bucket *bucket = &t->buckets[mine];
  const arc__key held = arc__key_in_table(t, c, mine);
  int state = bucket->state;
  ARC__CHECK(2, c->key.bits == 64 || state < 0 || bucket->carry == 0,
             "key_bits differ between two calls of a table");
  const bool hits = leads && state >= ARC__BUCKET_IS_NAMED && arc__same_key(held, c->key);
  const bool misses = leads && !hits, may_take = misses && state <= 0;
  const bool any_may_take = __any_sync(ARC_LANES_ALL, may_take);
  if (misses && state > 0) bucket->state = state - 1; /* all that miss it write the same */
  __syncwarp(ARC_LANES_ALL);
  if (hits && state < ARC__BUCKET_MOST) bucket->state = (state < 0 ? 0 : state) + lanes;
  if (!any_may_take) return hits ? mine : -1;
  __syncwarp(ARC_LANES_ALL);
  if (may_take) state = atomicExch(&bucket->state, ARC__BUCKET_IS_CLAIMED);
  __syncwarp(ARC_LANES_ALL);
  const bool claims = may_take && state != ARC__BUCKET_IS_CLAIMED;
  const bool takes = claims && state <= 0, releases = takes && state == 0;
  const bool keeps = takes && lanes > 1; /* a lane alone only gives the bucket its key */
  if (claims && !takes) bucket->state = state - 1;
  arc__release_taken(t, c, mine, releases);
  if (takes) {
    bucket->low = c->key.low;
    if (c->key.bits == 64) bucket->carry = c->key.carry;
    bucket->state = keeps ? lanes : ARC__BUCKET_IS_NAMED;
  }
  __syncwarp(ARC_LANES_ALL);
  return hits || keeps ? mine : -1;
}

ARC__FN void arc__table_begin_call(arc__table *t, const arc__call *c) {
  arc__check_call(c);
  ARC__CHECK_MEMORY(t);
  ARC__OWES(t, ARC__TABLED);
  __syncwarp(ARC_LANES_ALL);
  t->scope = c->scope;
}

ARC__FN void arc__find_groups(arc__call *c) {
  c->present = __ballot_sync(ARC_LANES_ALL, c->active);
  c->group = arc__match(c);
}

/* Finds a row for each group, in the table or, for others, in memory. */
ARC__FN void arc__find_rows(arc__table *t, arc__call *c) {
  c->in_table = true;
  c->table = t->sums;
  int bucket = arc__find_buckets(t, c);
  bucket = __shfl_sync(ARC_LANES_ALL, bucket, c->active ? arc__highest(c->group) : c->lane);
  const arc__piece *memory = &t->target.piece[0];
  const char *row =
      c->active ? arc__offset(memory->base, c->key, memory->stride_bytes) : memory->base;
  c->key = arc__key_from(
      bucket >= 0 ? ARC__IN_TABLE + bucket * t->row_bytes : (long long)row - ARC__ADDRESSES, 64);
  c->target = &t->found;
}

/* Whether calls have few values, a literal number. */
ARC__FN bool arc__has_runs(const arc__call *c) {
  return c->chunk == ARC__WARP && c->width <= ARC__NARROW;
}

/* Adds the sums of the last run, which all lanes have, to the row of its key in memory; to: a call
   on the table's target, since a run's words are of the kind of a call's. */
ARC__FN void arc__end_run(arc__table *t, arc__call to) {
  const arc__input whole = {true, false, true};
  arc__word sums[ARC__NARROW];
  if (!t->has_run) return;
  to.scope = t->scope;
  ARC__EACH_OF_4(i, to.width, { sums[i] = t->run[i]; })
  t->has_run = false;
  to.source = ARC__WORD;
  to.values = sums;
  arc__add_group(&to, ARC_LANES_ALL, t->run_key, ARC__WARP, whole);
}

/* A call of few values. One in which many lanes have one key, and no lane another, begins a run:
   each lane sums its own values of that key, until a lane has another one. */
ARC__FN void arc__table_add_narrow(arc__table *t, arc__call c) {
  arc__table_check_copy(t);
  arc__word values[ARC__NARROW];
  ARC__EACH_OF_4(i, c.width, {
    values[i] = c.active ? arc__load(&c, i, c.target->piece[0].scale) : arc__neutral(c.kind);
  })
  const bool in_run = t->has_run && c.active && arc__same_key(c.key, t->run_key);
  ARC__EACH_OF_4(i, c.width, {
    if (in_run) t->run[i] = arc__sum(c.kind, t->run[i], values[i]);
  })
  c.active = c.active && !in_run;
  arc__find_groups(&c);
  if (c.present == 0u) return;
  const bool begins = __popc(c.present) >= ARC__MANY &&
                      __all_sync(ARC_LANES_ALL, !c.active || c.group == c.present);
  /* Adds the run that ends, then this call. A loop, or both would have the code of an add. */
  ARC__NO_UNROLL for (int of_call = !t->has_run; of_call < (begins ? 1 : 2); ++of_call) {
    arc__call adds = c;
    arc__word words[ARC__NARROW];
    ARC__EACH_OF_4(i, c.width, { words[i] = of_call ? values[i] : t->run[i]; })
    adds.source = ARC__WORD;
    adds.values = words;
    if (!of_call) {
      adds.key = t->run_key;
      adds.active = true;
      adds.present = adds.group = ARC_LANES_ALL;
    }
    arc__find_rows(t, &adds);
    arc__add(adds);
    __syncwarp(ARC_LANES_ALL);
  }
  t->has_run = begins;
  if (!begins) return;
  t->run_key = arc__key_of(&c, arc__highest(c.present));
  ARC__EACH_OF_4(i, c.width, { t->run[i] = c.active ? values[i] : arc__neutral(c.kind); })
}

ARC__FN void arc__table_add(arc__table *t, arc__call c) {
  arc__table_begin_call(t, &c);
  if (arc__has_runs(&c)) {
    arc__table_add_narrow(t, c);
  } else {
    arc__find_groups(&c);
    arc__find_rows(t, &c);
    arc__add(c);
  }
  __syncwarp(ARC_LANES_ALL);
}

ARC__FN void arc__table_index_add(arc__table *t, arc__index_add *r, arc__call c, long long row) {
  arc__table_check_index_add(t, r);
  if (c.width <= ARC__NARROW && r->is_narrow) {
    arc__take_rows(r, &c, row);
    arc__table_add(t, c);
    return;
  }
  arc__table_begin_call(t, &c);
  arc__find_groups(&c);
  arc__find_rows(t, &c);
  arc__index_add_rows(r, c, row);
  __syncwarp(ARC_LANES_ALL);
}

ARC__FN void arc__table_end(arc__table *t, const arc__call *c) {
  arc__call to = arc__call_to_memory(t, c);
  to.key.bits = 64; /* of any call */
  arc__check_call(c);
  ARC__CHECK_MEMORY(t);
  __syncwarp(ARC_LANES_ALL);
  if (arc__has_runs(c)) arc__end_run(t, *c);
  if (c->width <= ARC__NARROW) {
    for (int bucket = c->lane; bucket < t->rows; bucket += ARC__WARP)
      if (t->buckets[bucket].state >= 0) {
        to.scope = t->scope;
        arc__release_narrow(t, to, bucket);
      }
  } else {
    for (int i = c->lane; i < t->rows * c->width; i += ARC__WARP)
      if (t->buckets[i / c->width].state >= 0) {
        to.scope = t->scope;
        arc__release_value(t, &to, i / c->width, i % c->width);
      }
  }
  __syncwarp(ARC_LANES_ALL);
  ARC__OWES(t, ARC__NOTHING);
}

ARC__FN arc__call arc__call_of_table(const arc__table *t, arc_key key, const void *values,
                                     bool active, arc_options options) {
  options.path = ARC_PATH_AUTO;
  options.threshold = 0;
  options.promises = 0;
  options.lane_mask = ARC_LANES_ALL;
  options.exact = true;
  return arc__call_of(&t->target, key, values, active, options);
}

#define ARC__TABLE(S, T, M, KIND, MEMORY)                                                    \
  typedef struct ARC__FORM_TAG(arc_table##S) {                                               \
    arc__table any;                                                                          \
  } arc_table##S;                                                                            \
  ARC__FN arc_table##S arc_table_begin##S(arc_target##S target, void *shared,                \
                                          int rows ARC__CALLER) {                            \
    arc_table##S table;                                                                      \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                   \
    table.any.target = target.any;                                                           \
    arc__table_begin(&table.any, shared, rows);                                              \
    return table;                                                                            \
  }                                                                                          \
  ARC__FN arc__call arc__table_call##S(arc_table##S *table, arc_key key, const void *values, \
                                       bool active, arc_options options) {                   \
    ARC__TYPED(&table->any.target, KIND, MEMORY);                                            \
    ARC__TYPED(&table->any.found, KIND, MEMORY);                                             \
    return arc__call_of_table(&table->any, key, values, active, options);                    \
  }                                                                                          \
  ARC__FN void arc_table_add_with##S(arc_table##S *table, arc_key key, const T *values,      \
                                     bool active, arc_options options ARC__CALLER) {         \
    arc__table_add(&table->any, arc__table_call##S(table, key, values, active, options));    \
  }                                                                                          \
  ARC__FN void arc_table_add##S(arc_table##S *table, arc_key key, const T *values,           \
                                bool active ARC__CALLER) {                                   \
    arc_table_add_with##S(table, key, values, active, arc_options_default());                \
  }                                                                                          \
  ARC__FN void arc_table_index_add_with##S(arc_table##S *table, arc_row_adder##S *index_add, \
                                           arc_key key, long long row, bool active,          \
                                           arc_options options ARC__CALLER) {                \
    arc__call c = arc__table_call##S(table, key, 0, active, options);                        \
    c.source = index_add->any.source;                                                        \
    arc__table_index_add(&table->any, &index_add->any, c, row);                              \
  }                                                                                          \
  ARC__FN void arc_table_index_add##S(arc_table##S *table, arc_row_adder##S *index_add,      \
                                      arc_key key, long long row, bool active ARC__CALLER) { \
    arc_table_index_add_with##S(table, index_add, key, row, active, arc_options_default());  \
  }                                                                                          \
  ARC__FN void arc_table_end##S(arc_table##S *table ARC__CALLER) {                           \
    arc__call c = arc__table_call##S(table, 0, 0, false, arc_options_default());             \
    arc__table_end(&table->any, &c);                                                         \
  }
ARC__EACH_NUMBER(ARC__TABLE)
ARC__EACH_CONVERTED(ARC__TABLE)
ARC__TABLE(_fixed, float, long long, ARC__F32, ARC__FIXED)

#endif /* ARC_TABLE_CUH */
