/* index_add.cuh - rows of values that lie in memory, as in index_add or a graph network.
   SPDX-License-Identifier: Apache-2.0

   A warp adds up to 32 rows per call. Its lanes read along the columns, and one coalesced request
   adds the sum of all rows with the same key. If a key has many rows, its sum stays in registers
   from call to call. Like a target, an index_add belongs to its lane. Suffixes: all of arc.cuh.

       arc_index_add_f32 sums = arc_index_add_begin_f32(target, values, stride);
       for (...) arc_index_add_rows_f32(&sums, key, row, active);
       arc_index_add_end_f32(&sums);

   Begins: says where the values lie. Row r begins at values[r * stride] and has as many values as
   the target is wide. _from_f16 and _from_bf16 read 16-bit floats, for targets that take floats.
   Who calls: all 32 lanes of the warp.
     target  any
     values  global or shared memory, aligned to one value. The call reads four values at a time if
             values, stride and target are aligned to four values and the width is a multiple of 4.
     stride  values from one row to the next, below 2^31 bytes
   Cost: a few instructions; call it above your loop.
   Reported: ARC_CHECK 1 a stride of 2^31 bytes or more.
       arc_index_add_f32 arc_index_add_begin_f32(arc_target_f32 target, const float *values,
                                                 int stride);
       arc_index_add_f32 arc_index_add_begin_f32_from_f16(arc_target_f32 target, const void *values,
                                                          int stride);   and _from_bf16

   Adds one row per active lane. Sums are complete in memory only after end. Sums in fixed targets
   are exact. Lanes read each other's rows: if your warp writes values itself, call __syncwarp after
   the write, and again after this call before you overwrite them.
   Who calls: all 32 lanes of the warp.
     key, row  in any order; the rows of one call less than 2^31 apart. An inactive lane may pass
               anything.
     options   key_bits; scope, the same in all calls, end included. Path and threshold count only
               if one request adds a row (1 column, or 2 or 4 aligned ones): then each lane adds its
               own row. Promises are ignored.
   Cost: a match, 8 to 18 votes, and 2 shuffles per 1 to 32 rows side by side.
   Reported: ARC_CHECK 1 missing lanes; 2 lanes that differ in target, rows too far apart.
       void arc_index_add_rows_f32(arc_index_add_f32 *index_add, arc_key key, long long row,
                                   bool active);
       void arc_index_add_rows_with_f32(arc_index_add_f32 *index_add, arc_key key, long long row,
                                        bool active, arc_options options);

   Ends: adds the sum that is still in registers. Reads no values.
   Who calls: all 32 lanes of the warp.
   Cost: a request per 32 columns, or per 128 if they are read four at a time.
   Reported: ARC_CHECK 2 rows that were added without an end.
       void arc_index_add_end_f32(arc_index_add_f32 *index_add); */
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_INDEX_ADD_CUH) /* the former is not without CUDA */
#define ARC_INDEX_ADD_CUH

/* Rows that lie in memory. The 32 rows of a call are ordered so that those of a key are neighbours.
   Each lane has `vector` columns of a row, so the warp divides into bands, one for each row that
   fits side by side. Each band sums a stretch of the order, and adds a sum to memory at the end of
   each key. Eight rows, two bands:

     keys   7 4 7 9 4 7 7 4
     order  rows 3 | 1 4 7 | 0 2 5 6
     band 0      3 | 1 4 7             adds row 3, then the sum of three
     band 1                  0 2 5 6   adds the sum of four

   A sum that begins in a lower band is added last, with that band's share. A key of many rows comes
   last and has no end: each band keeps its own sum of it from call to call. */
#define ARC__NARROW 4 /* columns that a lane may add by itself */
#define ARC__VECTOR 4 /* most columns of a lane */
#define ARC__AHEAD 8  /* most rows of a band that are read before they are summed */
#define ARC__MANY 4   /* rows of a key that is worth keeping */

typedef struct ARC__FORM_TAG(arc__index_add) {
  arc__target target;
  const char *base;
  int source, stride_bytes;
  int vector;          /* columns of a lane: 1 or 4 */
  bool is_narrow;      /* one request adds a row: a lane takes one by itself */
  bool keeps, has_sum; /* a key; and a sum of it, */
  int scope;           /* which leaves with that of the last call */
  arc__key key;
  arc__word sum[ARC__VECTOR];
  ARC__DUTY
} arc__index_add;

/* How a row of so many columns lies across the lanes; literal where width and vector are. */
typedef struct arc__bands {
  int vector;
  int lanes;       /* of a row */
  int count, rows; /* bands of the warp, and rows of each */
  int mine, lane;  /* this lane's band, and its number there; lanes left over have band `count` */
} arc__bands;

/* The rows of a call, in order. */
typedef struct arc__order {
  arc__key key; /* of the row at this lane's position, */
  int row;      /* which is counted from the row at `first` */
  const char *first;
  unsigned rows, ends; /* positions with a row; with the last of a key that is not kept */
  int kept;            /* the first position of the kept key, or 32 */
} arc__order;

ARC__FN void arc__index_add_begin(arc__index_add *r, int source, const void *base, int stride) {
  const arc__target *t = &r->target;
  int bytes = arc__bytes(source), most = (1 << t->piece[0].vector_log2) / arc__bytes(t->memory);
  long long stride_bytes = (long long)stride * bytes, limit = 1ll << 31;
  ARC__CHECK(1, stride_bytes > -limit && stride_bytes < limit,
             "the stride of the rows must be below 2^31 bytes");
  r->base = (const char *)base;
  r->source = source;
  r->stride_bytes = (int)stride_bytes;
  arc__u64 aligned = (arc__u64)base | (unsigned)r->stride_bytes;
  bool vectors = t->pieces == 1 && most >= ARC__VECTOR && t->width % ARC__VECTOR == 0;
  r->vector = vectors && aligned % (unsigned)(ARC__VECTOR * bytes) == 0u ? ARC__VECTOR : 1;
  int words = arc__counted_words(t->memory, t->width);
  r->is_narrow =
      t->pieces == 1 && (t->width == 1 || arc__requests(words, t->piece[0].vector_log2) == 1);
  r->keeps = r->has_sum = false;
  const int kind = arc__kind_of(t->kind, t->memory, true);
  ARC__EACH_OF_4(i, ARC__VECTOR, { r->sum[i] = arc__neutral(kind); })
}

/* x / y. That y is never 0 lets compilers move it out of a loop. */
ARC__FN int arc__quotient(int x, int y) { return (int)((unsigned)x / (y > 1 ? (unsigned)y : 1u)); }

ARC__FN arc__bands arc__bands_of(int width, int vector) {
  arc__bands p;
  p.vector = vector;
  p.lanes = width / vector < ARC__WARP ? width / vector : ARC__WARP;
  p.count = arc__quotient(ARC__WARP, p.lanes);
  p.rows = arc__quotient(ARC__WARP + p.count - 1, p.count);
  p.mine = arc__quotient(arc__lane(), p.lanes);
  p.lane = arc__lane() - p.mine * p.lanes;
  return p;
}

/* The columns of a lane as they were read. Several rows are loaded before one is summed; conversion
   here would wait for each load. On the CPU warp: their address. */
#if defined(__CUDA_ARCH__)
typedef uint4 arc__columns;

ARC__FN arc__columns arc__read_columns(int kind, const char *at, int count) {
  uint4 x; /* zeros here would occupy registers: of rows that are not there, too */
  int bytes = count * arc__bytes(kind);
  if (bytes == 16) return *(const uint4 *)at;
  if (arc__bytes(kind) == 8) {
    arc__word w = arc__read(kind, at, 0);
    x.x = w.lo, x.y = w.hi;
  } else if (bytes == 8) {
    x.x = ((const uint2 *)at)->x, x.y = ((const uint2 *)at)->y;
  } else {
    x.x = bytes == 4 ? *(const unsigned *)at : *(const unsigned short *)at;
  }
  return x;
}

/* Value i of them, as arc__read has it. */
ARC__FN arc__word arc__column(int kind, arc__columns x, int i) {
  unsigned word = arc__is_half(kind) ? i / 2 : i;
  unsigned lo = word == 0 ? x.x : word == 1 ? x.y : word == 2 ? x.z : x.w;
  arc__word w = {lo, arc__bytes(kind) == 8 ? x.y : 0u};
  if (arc__is_half(kind)) w.lo = __float_as_uint(arc__half_value(kind, i % 2 ? lo >> 16 : lo));
  return w;
}
#else
typedef const char *arc__columns;
ARC__FN arc__columns arc__read_columns(int, const char *at, int) { return at; }
ARC__FN arc__word arc__column(int kind, arc__columns x, int i) { return arc__read(kind, x, i); }
#endif

/* Adds the sums of a lane's columns where it `ends` a key. The whole warp calls. */
ARC__FN void arc__emit_columns(const arc__call *c, arc__slot slot, arc__key key,
                               const arc__word *sum, int vector, bool ends) {
  slot.is_value = ends;
  slot.owned = ends && !(vector == 1 && slot.odd && slot.follows);
  if (vector == 1) arc__emit_slot(c, slot, key, sum[0]);
  if (vector == 1 || !slot.owned) return;
  int each = arc__is_half(c->literal.memory) ? 2 : 1;
  arc__word w[ARC__VECTOR];
  ARC__UNROLL
  for (int i = 0; i < vector / each; ++i)
    w[i] = arc__stored(c->literal.kind, c->literal.memory, sum[each * i], sum[each * i + each - 1],
                       slot.scale);
  arc__add_words(c, arc__offset(slot.base, key, slot.stride_bytes), w, vector / each);
}

/* The position of this lane's rank (0 to 31), if all lanes' are put in order. */
ARC__FN int arc__position(int rank, int lane) {
  unsigned below = 0u, same = ARC_LANES_ALL;
  ARC__UNROLL
  for (int bit = ARC__WARP / 2; bit > 0; bit /= 2) {
    unsigned ones = __ballot_sync(ARC_LANES_ALL, (rank & bit) != 0);
    if (rank & bit) below |= same & ~ones;
    same &= rank & bit ? ones : ~ones;
  }
  return __popc(below) + __popc(same & arc__lanes_below(lane));
}

/* The lane whose position is this lane's number. */
ARC__FN int arc__lane_at(int position, int lane) {
  unsigned at = ARC_LANES_ALL;
  ARC__UNROLL
  for (int bit = ARC__WARP / 2; bit > 0; bit /= 2) {
    unsigned ones = __ballot_sync(ARC_LANES_ALL, (position & bit) != 0);
    at &= lane & bit ? ones : ~ones;
  }
  return arc__highest(at);
}

/* The slot of this lane's columns in the panel that begins with column `first`. */
ARC__FN arc__slot arc__column_slot(const arc__call *c, const arc__bands *p, int first) {
  int column = p->mine < p->count ? first + p->lane * p->vector : c->width;
  return arc__slot_of(c->target, column, ARC__WARP);
}

/* Adds to the sums those of the bands below, from band `start` on. */
ARC__FN void arc__sum_bands(const arc__call *c, const arc__bands *p, arc__word *sum, int start) {
  ARC__UNROLL
  for (int bands = 1; bands < ARC__WARP; bands *= 2) {
    if (bands >= p->count) continue;
    ARC__EACH_OF_4(i, p->vector, {
      sum[i] = arc__sum_from_below(c->literal.kind, sum[i], bands * p->lanes,
                                   start * p->lanes + p->lane);
    })
  }
}

/* The kept words of the panel from column `first` on, `mine` of a lane, i of all: four of a lane
   or, one column per lane, those of four panels. No index into *r, or all of it stays in memory. */
#define ARC__EACH_KEPT(i, mine, vector, first, ...)       \
  ARC__EACH_OF_4(i, ARC__VECTOR, {                        \
    const int mine = vector > 1 ? i : 0;                  \
    if (vector > 1 || ARC__WARP * i == first) __VA_ARGS__ \
  })

ARC__FN void arc__release_panels(arc__index_add *r, const arc__call *c, int vector) {
  arc__bands p = arc__bands_of(c->width, vector);
  const int first_band = 0;
  for (int first = 0; first < c->width; first += ARC__WARP * vector) {
    arc__slot slot = arc__column_slot(c, &p, first);
    arc__word sum[ARC__VECTOR];
    ARC__EACH_KEPT(i, mine, vector, first, {
      sum[mine] = r->sum[i];
      r->sum[i] = arc__neutral(c->literal.kind);
    })
    arc__sum_bands(c, &p, sum, first_band);
    arc__emit_columns(c, slot, r->key, sum, vector, slot.is_value && p.mine == p.count - 1);
  }
}

/* This band's stretch of the order, as masks whose bit 0 is its first position: a branch that some
   lanes take in the loop over it would make them diverge there for good. */
typedef struct arc__stretch {
  int begin;             /* the first position */
  unsigned all;          /* positions; none in a lane without columns */
  bool continues;        /* a sum that begins in a band below */
  unsigned rows, ends;   /* positions with a row; with the last of a key that is not kept: */
  unsigned waits, emits; /* of the sum that continues; of others */
} arc__stretch;

ARC__FN arc__stretch arc__stretch_of(const arc__bands *p, const arc__order *o, bool has_columns) {
  arc__stretch s;
  s.begin = p->mine * p->rows;
  s.all = has_columns && s.begin < ARC__WARP ? (2u << (p->rows - 1)) - 1u : 0u;
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(s.all));
#endif
  s.rows = o->rows >> (s.begin & 31) & s.all;
  s.ends = o->ends >> (s.begin & 31) & s.all;
  s.continues = s.all != 0u && s.begin > 0 && (o->ends >> (s.begin - 1) & 1u) == 0u;
  s.waits = s.continues ? s.ends & (0u - s.ends) : 0u;
  s.emits = s.ends ^ s.waits;
  return s;
}

/* Adds each sum that began in a band below where it ends; waiting: this band's share of it, which
   the bands below have in `sum`. The whole warp calls. */
ARC__FN void arc__add_continued(const arc__call *c, const arc__bands *p, const arc__order *o,
                                arc__slot slot, arc__stretch s, arc__word *sum,
                                arc__word *waiting) {
  if (!__any_sync(ARC_LANES_ALL, s.continues)) return;
  /* The last sum of this band begins after the last end that is not beyond the band. */
  int last = s.begin + p->rows < ARC__WARP ? s.begin + p->rows : ARC__WARP;
  unsigned below = o->ends & (ARC_LANES_ALL >> (ARC__WARP - last));
  int open = below != 0u ? arc__highest(below) + 1 : 0;
  arc__sum_bands(c, p, sum, arc__quotient(open, p->rows));
  ARC__EACH_OF_4(i, p->vector, {
    arc__word other = arc__shfl_up(c->literal.kind, ARC_LANES_ALL, sum[i], p->lanes);
    waiting[i] = arc__sum(c->literal.kind, waiting[i], other);
  })
  unsigned wait = s.continues ? o->ends >> s.begin & s.all : 0u;
  arc__key key = arc__key_at(c, o->key, s.begin + __ffs((int)wait) - 1);
  arc__emit_columns(c, slot, key, waiting, p->vector, wait != 0u);
}

/* The panel of up to 32 * vector columns from `first` on. */
ARC__FN void arc__add_panel(arc__index_add *r, const arc__call *c, const arc__bands *p,
                            const arc__order *o, int first) {
  const int vector = p->vector;
  /* Rows that are read before they are summed: as many each time, at most `most`. */
  const int most = vector == ARC__VECTOR ? 4 : ARC__AHEAD;
  int ahead = arc__quotient(p->rows + most - 1, most);
  ahead = arc__quotient(p->rows + ahead - 1, ahead);
  arc__slot slot = arc__column_slot(c, p, first);
  char *columns = (char *)o->first + arc__bytes(c->literal.source) * (first + p->lane * vector);
  const arc__stretch s = arc__stretch_of(p, o, slot.is_value);
  unsigned rows = s.rows, ends = s.ends, waits = s.waits, emits = s.emits;
  arc__word sum[ARC__VECTOR], waiting[ARC__VECTOR];
  ARC__EACH_OF_4(i, vector, { sum[i] = waiting[i] = arc__neutral(c->literal.kind); })
  for (int step = 0; step < p->rows; step += ahead) {
    arc__columns x[ARC__AHEAD];
    ARC__UNROLL
    for (int k = 0; k < most; ++k) {
      if (k >= ahead) continue;
      int row = __shfl_sync(ARC_LANES_ALL, o->row, s.begin + step + k);
      const char *at = arc__offset(columns, arc__key_from(row, 32), r->stride_bytes);
      if (rows >> k & 1u) x[k] = arc__read_columns(c->literal.source, at, vector);
    }
    ARC__UNROLL
    for (int k = 0; k < most; ++k) {
      if (k >= ahead) continue;
      const unsigned bit = 1u << k;
      arc__key key = arc__key_at(c, o->key, s.begin + step + k);
      ARC__EACH_OF_4(i, vector, {
        if (rows & bit)
          sum[i] = arc__sum(c->literal.kind, sum[i],
                            arc__summand(c, arc__column(c->literal.source, x[k], i), slot.scale));
        if (waits & bit) waiting[i] = sum[i];
      })
      arc__emit_columns(c, slot, key, sum, vector, (emits & bit) != 0u);
      ARC__EACH_OF_4(i, vector, {
        if (ends & bit) sum[i] = arc__neutral(c->literal.kind);
      })
    }
    rows >>= ahead, waits >>= ahead, emits >>= ahead, ends >>= ahead;
  }
  if (s.begin + p->rows > o->kept) { /* what is left is of the kept key */
    ARC__EACH_KEPT(i, mine, vector, first, {
      r->sum[i] = arc__sum(c->literal.kind, r->sum[i], sum[mine]);
      sum[mine] = arc__neutral(c->literal.kind);
    })
  }
  arc__add_continued(c, p, o, slot, s, sum, waiting);
}

/* Orders the rows of a call. */
ARC__FN arc__order arc__order_rows(const arc__index_add *r, arc__call *c, long long row) {
  arc__order o;
  arc__find_leaders(c);
  bool has_kept = r->keeps && c->active && arc__same_key(c->key, r->key);
  unsigned kept = __ballot_sync(ARC_LANES_ALL, has_kept);
  int last = kept != 0u ? arc__highest(kept) : ARC__WARP - 1;
  int leader = c->active ? arc__highest(c->group) : c->lane, from = c->lane;
  if (kept != 0u || !arc__are_runs(c))
    from = arc__lane_at(arc__position((leader - last - 1) & 31, c->lane), c->lane);
  long long first = __shfl_sync(ARC_LANES_ALL, row, arc__highest(c->present));
  long long distance = c->active ? row - first : 0;
  ARC__CHECK(2, distance == (int)distance, "the rows of a call are 2^31 or more apart");
  o.first = r->base + first * r->stride_bytes;
  o.row = __shfl_sync(ARC_LANES_ALL, (int)distance, from);
  o.key = arc__key_at(c, c->key, from);
  o.rows = __ballot_sync(ARC_LANES_ALL, (c->present >> from & 1u) != 0u);
  o.kept = ARC__WARP - __popc(kept);
  o.ends = __ballot_sync(ARC_LANES_ALL, (c->leaders >> from & 1u) != 0u && c->lane < o.kept);
  return o;
}

/* Adds the kept sum to memory. */
ARC__FN void arc__release(arc__index_add *r, const arc__call *c) {
  if (!r->has_sum) return;
  if (r->vector == ARC__VECTOR)
    arc__release_panels(r, c, ARC__VECTOR);
  else
    arc__release_panels(r, c, 1);
  r->has_sum = false;
}

/* Called if no row has the kept key: a key of many rows is kept from the next call on. */
ARC__FN void arc__change_kept(arc__index_add *r, const arc__call *c) {
  arc__release(r, c);
  bool has_many = arc__leads(c->group, c->lane) && __popc(c->group) >= ARC__MANY;
  unsigned many = __ballot_sync(ARC_LANES_ALL, has_many);
  r->keeps = many != 0u && c->width <= ARC__WARP * ARC__VECTOR;
  if (r->keeps) r->key = arc__key_of(c, arc__highest(many));
}

ARC__FN void arc__add_panels(arc__index_add *r, const arc__call *c, const arc__order *o,
                             int vector) {
  arc__bands p = arc__bands_of(c->width, vector);
  for (int first = 0; first < c->width; first += ARC__WARP * vector)
    arc__add_panel(r, c, &p, o, first);
}

/* Makes it the call of lanes that each add one row by themselves. */
ARC__FN void arc__take_rows(const arc__index_add *r, arc__call *c, long long row) {
  c->values = r->base + (c->active ? row : 0) * r->stride_bytes;
  c->width = c->width < ARC__NARROW ? c->width : ARC__NARROW; /* as compilers do not know */
}

/* The whole warp calls. __syncwarp, since ptxas does not know in the caller's loop that the warp is
   converged, and would guard every vote and shuffle. */
ARC__ADD_FN void arc__index_add_rows(arc__index_add *r, arc__call c, long long row) {
  ARC__OWES(r, ARC__INDEX_ADDED);
  r->scope = c.literal.scope;
  if (c.width <= ARC__NARROW && r->is_narrow) {
    arc__take_rows(r, &c, row);
    arc__add(c);
    return;
  }
  arc__check_call(&c);
  __syncwarp(ARC_LANES_ALL);
  c.present = __ballot_sync(ARC_LANES_ALL, c.active);
  if (c.present == 0u) return;
  c.group = arc__match(&c);
  arc__order o = arc__order_rows(r, &c, row);
  if (o.kept == ARC__WARP) arc__change_kept(r, &c);
  r->has_sum = o.kept < ARC__WARP;
  if (r->vector == ARC__VECTOR)
    arc__add_panels(r, &c, &o, ARC__VECTOR);
  else
    arc__add_panels(r, &c, &o, 1);
}

ARC__FN arc__call arc__call_of_index_add(const arc__index_add *r, arc_key key, bool active,
                                         arc_options options) {
  options.promises = 0;
  options.lane_mask = ARC_LANES_ALL;
  arc__call c = arc__call_of(&r->target, active ? key : 0, 0, active, options);
  c.literal.source = r->source;
  c.literal.kind = arc__kind_of(r->target.kind, r->target.memory, true);
  return c;
}

#define ARC__INDEX_ADD_FROM(S, KIND, MEMORY, FROM, SOURCE, T)                                  \
  ARC__FN arc_index_add##S arc_index_add_begin##S##FROM(arc_target##S target, const T *values, \
                                                        int stride) {                          \
    arc_index_add##S g;                                                                        \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                     \
    g.any.target = target.any;                                                                 \
    arc__index_add_begin(&g.any, SOURCE, values, stride);                                      \
    return g;                                                                                  \
  }
#define ARC__INDEX_ADD(S, T, M, KIND, MEMORY)                                                      \
  typedef struct ARC__FORM_TAG(arc_index_add##S) {                                                 \
    arc__index_add any;                                                                            \
  } arc_index_add##S;                                                                              \
  ARC__INDEX_ADD_FROM(S, KIND, MEMORY, , KIND, T)                                                  \
  ARC__FN void arc_index_add_rows_with##S(arc_index_add##S *index_add, arc_key key, long long row, \
                                          bool active, arc_options options ARC__CALLER) {          \
    ARC__TYPED(&index_add->any.target, KIND, MEMORY);                                              \
    arc__index_add_rows(&index_add->any,                                                           \
                        arc__call_of_index_add(&index_add->any, key, active, options), row);       \
  }                                                                                                \
  ARC__FN void arc_index_add_rows##S(arc_index_add##S *index_add, arc_key key, long long row,      \
                                     bool active ARC__CALLER) {                                    \
    arc_index_add_rows_with##S(index_add, key, row, active, arc_options_default());                \
  }                                                                                                \
  ARC__FN void arc_index_add_end##S(arc_index_add##S *index_add ARC__CALLER) {                     \
    ARC__TYPED(&index_add->any.target, KIND, MEMORY);                                              \
    arc__call c = arc__call_of_index_add(&index_add->any, 0, false, arc_options_default());        \
    if (index_add->any.has_sum) c.literal.scope = index_add->any.scope;                            \
    arc__release(&index_add->any, &c);                                                             \
    index_add->any.keeps = false;                                                                  \
    ARC__OWES(&index_add->any, ARC__NOTHING);                                                      \
  }
ARC__EACH_SUFFIX(ARC__INDEX_ADD)

#define ARC__INDEX_ADD_HALVES(S, T, M, KIND, MEMORY)                  \
  ARC__INDEX_ADD_FROM(S, ARC__F32, MEMORY, _from_f16, ARC__F16, void) \
  ARC__INDEX_ADD_FROM(S, ARC__F32, MEMORY, _from_bf16, ARC__BF16, void)
ARC__EACH_FLOAT_SUFFIX(ARC__INDEX_ADD_HALVES)

#if defined(ARC_OVERLOADS_CUH)
ARC__EACH_SUFFIX(ARC__OVERLOAD_INDEX_ADD)
#endif

#endif /* ARC_INDEX_ADD_CUH */
