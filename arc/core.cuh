/* core.cuh - how a call of arc works. Included by arc.cuh, which says what a call does.
   SPDX-License-Identifier: Apache-2.0

   It uses arc/words.cuh, which defines what a word is. Read it from top to bottom:
       >>call         keys, targets, calls; which lanes hold a key
       >>kinds        what halves, and sums of several words, need beside other words
       >>target       where the parameters of a row lie
       >>emit         words leave for memory
       >>serialized   the papers' SW-S: by the leader of each group, any lanes
       >>butterfly    the papers' SW-B: one key, a full warp
       >>transposed   one key or two, a full warp: each sum ends in a lane of its own, the owner
       >>tree         all groups at once, any lanes
       >>checks       what ARC_CHECK reports of a call
       >>paths        the decision, and what follows from it
       >>interface    what the forms in arc/ may use

   What a call does: the first row whose condition holds. Each row is a return of the function that
   stands above it. Words: few: fewer lanes are active than the threshold; one key: promised; whole:
   all 32 lanes call; each lane: every active lane adds its own values.
       path              if                                     what is done
     arc__vote_empty
       all but atomic    no lane is active                      nothing
     arc__decide
       atomic                                                   each lane
     arc__decide_what
       auto              not one key, few or none               each lane
       auto, transposed  one key, whole, few                    each lane
                         one key, whole                         arc__add_one_group
       transposed        whole                                  arc__add_each_group
       butterfly         few, or several keys, or not whole     each lane
     arc__add_groups
       auto              not one key, all keys differ, a width  each lane
                         that is known only at run time
                         not one key, whole, one group          arc__add_one_group
                         not one key, whole, two large groups   arc__add_two_groups
       butterfly                                                arc__reduce_butterfly
       serialized                                               arc__reduce_serialized
       any other                                                arc__reduce_tree
   If a group is smaller than the threshold, its lanes add their own values. If auto also chooses
   the threshold, it reduces where that is cheaper for all lanes together, and each group counts as
   large.

   What one call costs per warp, with n values. S(n) is the shuffles of the transposed reduction
   (n = 1: 5, 3: 6, 4: 6, 8: 9, 9: 12, 10: 12, 12: 13, 16: 16, 32: 31)
       path         shuffles                    requests
       atomic       0                           n from every lane; n/4 with vector reductions of
                                                floats, n/8 of halves
       serialized   n x (largest group - 1)     n from one lane per group
       butterfly    5 n                         n from one lane
       transposed   S(n) per group              1 per group, coalesced
       two groups   n + S of 16 lanes (n = 8:   1, coalesced; auto only
                    8; 9 and 10: 11)
       tree         n per round; n + 1 if the   n from one lane per group, or as atomic
                    lanes of a group are not
                    neighbours
   The tree has ceil(log2(largest group)) rounds. On sm_80 and newer, 32-bit integers of width 1
   with one key take one redux.sync instead. 64-bit types take two shuffles instead of one. A warp
   without an active lane costs one vote, or nothing on the atomic path. */
#ifndef ARC_CUH
#error "arc/core.cuh: include arc.cuh"
#endif
#ifndef ARC_CORE_CUH
#define ARC_CORE_CUH

/* ---- >>call ------------------------------------------------------------------------------ */

/* The statements for each piece i of a target. */
#if ARC__PIECES == 1
#define ARC__EACH_PIECE(i, count, ...) ARC__ONE_OF(i, 0, count, __VA_ARGS__)
#elif ARC__PIECES == 4
#define ARC__EACH_PIECE ARC__EACH_OF_4
#else
#define ARC__EACH_PIECE(i, count, ...)  \
  ARC__EACH_OF_4(i, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 4, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 5, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 6, count, __VA_ARGS__) ARC__ONE_OF(i, 7, count, __VA_ARGS__)
#endif

/* for first = 0, most, ... below the width: all walks over chunks use this. Unrolled if the width
   is a literal. */
#define ARC__CHUNKS(c, first, most) \
  ARC__UNROLL for (int first = 0; first < (c)->width; first += (most))
#define ARC__DYNAMIC 4 /* values of a chunk, if the width is known only at run time */

/* key = low + 2^32 carry: carry is 0 if the key fits an int. */
typedef struct arc__key {
  int low, carry;
  int bits; /* 32 or 64, a literal */
} arc__key;

ARC__FN arc__key arc__key_from(long long id, int bits) {
  unsigned carry = (unsigned)((arc__u64)id >> 32) + ((unsigned)id >> 31);
  arc__key key = {(int)id, bits == 64 ? (int)carry : 0, bits};
  return key;
}

ARC__FN long long arc__key_id(arc__key key) {
  return (long long)((arc__u64)(long long)key.low + ((arc__u64)(unsigned)key.carry << 32));
}

/* base + key * stride, 64 bits wide: one multiply-add on the device. Without the asm, compilers
   share the sign extension of key between its uses and pay three instructions for each. */
ARC__FN char *arc__offset(char *base, arc__key key, int stride_bytes) {
#if defined(__CUDA_ARCH__)
  long long offset;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(key.low), "r"(stride_bytes));
  if (key.bits == 64) offset += (long long)((arc__u64)key.carry * (arc__u64)stride_bytes << 32);
  return base + offset;
#else
  return base + (long long)((arc__u64)arc__key_id(key) * (arc__u64)stride_bytes);
#endif
}

typedef struct arc__piece {
  char *base;
  int stride_bytes, width;
  int vector_log2; /* bytes one reduction instruction may add: 4 (16), 3 (8), 2 (a word) or 1 (2) */
  float scale;     /* of a fixed target */
} arc__piece;

/* Where the sum goes that a transposed reduction leaves in this lane. */
typedef struct arc__slot {
  char *base;
  int stride_bytes;
  int owned; /* this lane adds it */
  float scale;
  bool is_value;          /* there is a sum; of two halves of a word one lane owns both */
  bool follows, precedes; /* the lane below, above has the value next to it in the row */
  bool odd;               /* of a half: it is the upper one of its word */
  union {                 /* nvcc does not inline lambdas that capture a larger target */
    unsigned taken;       /* of a half: what __byte_perm takes of two sums */
    int place;            /* else: the value's number in the piece */
  };
  int width; /* of the piece */
} arc__slot;

typedef struct ARC__TARGET_TAG(arc__target) {
  arc__piece piece[ARC__PIECES];
  int kind, memory; /* literals */
  int pieces, width;
  int chunk; /* values that are reduced at once: 32 or, of a width known at run time only, 4 */
  int step;  /* values from one parameter of a row to the next: 1, but of planes */
  /* The default decision, by the strides: bases are aligned as these allow. */
  int min_lanes_to_reduce;  /* the smallest group that is reduced in this block; */
  int min_lanes_to_match;   /* the fewest lanes whose keys are matched */
  arc__slot warp_slot;      /* after a reduction over the warp */
  arc__slot half_warp_slot; /* after one over each half-warp */
  int lane_and_owner;       /* one register for two: arc__builder, arc__owns_warp_slot */
} arc__target;

/* What a call does. Only arc__decide and arc__decide_least_lanes set it. */
typedef struct arc__decision {
  int what;        /* ARC__EACH_LANE and so on */
  int min_present; /* fewer active lanes send atomics, */
  int min_group;   /* as do the lanes of a smaller group */
} arc__decision;

/* What is literal in each call, so that the compiler drops all code that it does not need. */
typedef struct arc__literals {
  int source, kind, memory; /* of the values, of a word in registers, of the sums in memory */
  int path, promises, scope;
} arc__literals;

/* One warp's call, the same in every helper. */
typedef struct ARC__TARGET_TAG(arc__call) {
  const arc__target *target;
  const void *values;
  int width, chunk; /* the target's */
  arc__literals literal;
  arc__key key;
  int threshold, lane;
  bool active;
  unsigned lanes, present; /* who calls; the active ones among them */
  unsigned group;          /* the lanes that hold this lane's key; 0 for an inactive lane */
  unsigned leaders;        /* the highest lane of each group */
  arc__decision decision;
} arc__call;

/* The lane that built the target. */
ARC__FN int arc__builder(const arc__target *t) { return t->lane_and_owner % ARC__WARP; }

/* As warp_slot.owned. */
ARC__FN bool arc__owns_warp_slot(const arc__target *t) {
  return (t->lane_and_owner & ARC__WARP) != 0;
}

ARC__FN bool arc__promised(const arc__call *c, int promises) {
  return (c->literal.promises & promises) == promises;
}

ARC__FN bool arc__is_transposed(const arc__call *c) {
  bool path = c->literal.path == ARC_PATH_AUTO || c->literal.path == ARC_PATH_TRANSPOSED;
  return path && c->lanes == ARC_LANES_ALL;
}

/* The papers' paths add value by value: each value is a request and costs at most five shuffles. */
ARC__FN bool arc__adds_by_value(const arc__call *c) {
  return c->literal.path == ARC_PATH_SERIALIZED || c->literal.path == ARC_PATH_BUTTERFLY;
}

ARC__FN bool arc__is_auto_keyed(const arc__call *c) {
  return c->literal.path == ARC_PATH_AUTO && !arc__promised(c, ARC_PROMISE_ONE_KEY);
}

/* The kind of a word in registers that goes from values to a sum in memory. Of fixed sums, a float
   until the lanes are summed, if it need not be exact. */
ARC__FN int arc__kind_of(int source, int memory, bool exact) {
  if (memory == ARC__FIXED) return exact ? ARC__FIXED : ARC__ORDERED;
  return arc__has_windows(memory) ? ARC__ORDERED : source;
}

/* Whether f32 values are summed in fixed point: exact, in any order. */
ARC__FN bool arc__is_exact(const arc__call *c) { return c->literal.kind == ARC__FIXED; }

/* Whether one register of the target says which lane this is and whether it owns a sum: in calls on
   sums in windows, which take three registers more, that use the lane in reductions only. */
ARC__FN bool arc__saves_registers(const arc__call *c) {
  return arc__has_windows(c->literal.memory) &&
         arc__promised(c, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO);
}

/* One bit of the lane. In asm, or compilers keep each bit in a register. */
ARC__FN int arc__lane_bit(const arc__call *c, int bit) {
  if (!arc__saves_registers(c)) return c->lane & bit;
#if defined(__CUDA_ARCH__)
  asm volatile("and.b32 %0, %0, %1;" : "+r"(bit) : "r"(c->target->lane_and_owner));
  return bit;
#else
  return arc__builder(c->target) & bit;
#endif
}

/* Whether this lane's values may be read. */
ARC__FN bool arc__is_source(const arc__call *c) {
  return c->active || arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
}

/* `key` of another lane, or c's own key. All of c->lanes call. */
ARC__FN arc__key arc__key_at(const arc__call *c, arc__key key, int lane) {
  key.low = __shfl_sync(c->lanes, key.low, lane);
  if (key.bits == 64) key.carry = __shfl_sync(c->lanes, key.carry, lane);
  return key;
}

ARC__FN arc__key arc__key_of(const arc__call *c, int lane) { return arc__key_at(c, c->key, lane); }
ARC__FN bool arc__same_key(arc__key a, arc__key b) { return a.low == b.low && a.carry == b.carry; }

/* Takes the group of the highest lane of *rest, and its key. All of c->lanes call. */
ARC__FN unsigned arc__take_group(const arc__call *c, unsigned *rest, arc__key *key) {
  *key = arc__key_of(c, arc__highest(*rest));
  bool member = c->active && arc__same_key(c->key, *key);
  unsigned group = __ballot_sync(c->lanes, member);
  *rest &= ~group;
  return group;
}

/* c->group. All of c->lanes call. */
ARC__FN unsigned arc__match(const arc__call *c) {
  if (arc__promised(c, ARC_PROMISE_ONE_KEY)) return c->active ? c->present : 0u;
#if ARC__ARCH >= 700
  unsigned group = __match_any_sync(c->lanes, c->active ? c->key.low : 0) & c->present;
  if (c->key.bits == 64) group &= __match_any_sync(c->lanes, c->active ? c->key.carry : 0);
  return c->active ? group : 0u;
#else
  unsigned group = 0u;
  for (unsigned rest = c->present; rest != 0u;) {
    arc__key key;
    unsigned lanes = arc__take_group(c, &rest, &key);
    if (c->active && arc__same_key(c->key, key)) group = lanes;
  }
  return group;
#endif
}

/* ---- >>kinds ----------------------------------------------------------------------------- */
/* What differs where a value of memory is not one word: two halves share a word, and a sum in
   windows has several, which no single request adds: by the code of a form. */

ARC__FN bool arc__is_word(int memory) { return !arc__is_half(memory) && !arc__has_windows(memory); }

/* Of sums in windows. A form that needs them defines ARC__HAS_WINDOWS in front of arc.cuh: in every
   call their code would cost calls of other types registers (bench/NOTES.md). */
#if defined(ARC__HAS_WINDOWS)
ARC__FN void arc__emit_windows_sum(const arc__call *c, arc__slot slot, arc__key key, arc__word sum);
ARC__FN void arc__emit_windows(const arc__call *c, const arc__word *w, int first, int count);
ARC__FN void arc__add_windows_row(const arc__call *c, arc__key key, int word, arc__word sum);
ARC__FN int arc__windows_row(int width);
ARC__FN int arc__windows_words(const arc__target *t);
#else
#define arc__emit_windows_sum(c, slot, key, sum) ((void)0)
#define arc__emit_windows(c, w, first, count) ((void)0)
#define arc__add_windows_row(c, key, word, sum) ((void)(sum))
#define arc__windows_row(width) (width)
#define arc__windows_words(t) 0
#endif

/* How long a row is, in the unit of its stride. */
ARC__FN int arc__row_length(int memory, int width) {
  return arc__has_windows(memory) ? arc__windows_row(width) : width;
}

/* Words that a lane adds for so many values of a row, as the default decision counts them: a sum
   in windows takes as many instructions as three words. */
ARC__FN int arc__counted_words(int memory, int width) {
  return arc__is_half(memory) ? (width + 1) / 2 : arc__has_windows(memory) ? 3 * width : width;
}

/* Whether no group is too small to reduce. Then the long code that adds unreduced sums in
   windows is not there. */
ARC__FN bool arc__reduces_all(const arc__call *c, int min_lanes) {
  return arc__has_windows(c->literal.memory) && min_lanes == 1;
}

ARC__FN bool arc__is_odd(const char *base) { return ((arc__u64)base & 2u) != 0u; }

/* The slot of a half that is the upper one of its word or, if not odd, the lower. The owner of the
   lower one adds both. */
ARC__FN void arc__set_odd(arc__slot *slot, bool odd) {
  slot->base += (slot->odd ? 2 : 0) - (odd ? 2 : 0);
  slot->odd = odd;
  slot->owned = slot->is_value && !(odd && slot->follows);
  slot->taken = odd ? 0x1054u : slot->precedes ? 0x3210u : 0x5410u; /* 54: -0 */
}

/* The word of two halves, of which the lower one may be the next lane's, in the row of this key. */
ARC__FN void arc__fit_word(arc__slot *slot, arc__key key, arc__word *w) {
  if (slot->stride_bytes % 4 != 0) /* else the same for every key */
    arc__set_odd(slot,
                 (((unsigned)key.low * (unsigned)slot->stride_bytes & 2u) != 0u) != slot->odd);
  w->lo = __byte_perm(w->lo, 0x8000u, slot->taken);
}

/* ---- >>target ---------------------------------------------------------------------------- */

/* How many bytes one instruction may add to rows of this stride, as a power of two, if the base is
   aligned to 16 bytes; 2 for a word of any type, 1 for one half. */
ARC__FN int arc__largest_log2(int memory, int stride_bytes) {
  if (arc__is_half(memory) && stride_bytes % 4 != 0) return 1;
  if (arc__most_log2(memory) == 2 || stride_bytes % 8 != 0) return 2;
  return stride_bytes % 16 == 0 ? 4 : 3;
}

/* The same for this base. By __popc: ptxas computes a plain minimum anew in every call. */
ARC__FN int arc__vector_log2(int memory, const char *base, int stride_bytes) {
  bool half = arc__is_half(memory);
  int largest = arc__largest_log2(memory, stride_bytes);
  if (largest <= (half ? 1 : 2)) return largest; /* a literal decides at once */
  unsigned bits = (unsigned)(arc__u64)base | 1u << largest;
  return half || __isGlobal(base) ? __popc((bits & (0u - bits)) - 1u) : 2;
}

/* 2^log2, for |log2| < 128. */
static __host__ __device__ inline double arc__power(int log2) {
  int n = log2 < 0 ? -log2 : log2;
  double power = (double)(1ull << n % 64) * (n < 64 ? 1.0 : 18446744073709551616.0);
  return log2 < 0 ? 1.0 / power : power;
}

ARC__FN void arc__target_begin(arc__target *t, int kind, int memory, int pieces) {
  ARC__CHECK(1, pieces >= 1 && pieces <= ARC_MAX_PIECES, "a target has 1 to ARC_MAX_PIECES pieces");
  t->kind = kind;
  t->memory = memory;
  t->pieces = pieces;
  t->width = 0;
  t->chunk = ARC__WARP;
  t->step = 1;
}

/* Between arc__target_begin and a piece of stride 1, which makes all requests those of one word. */
ARC__FN void arc__target_planes(arc__target *t, int plane) {
  ARC__CHECK(1, plane != 0, "the distance of two planes must not be 0");
  t->step = plane;
}

/* Whether the parameters of a row lie side by side. */
ARC__FN bool arc__has_rows(const arc__target *t) { return t->step == 1; }

/* Bytes from parameter 0 of a row to another one. */
ARC__FN long long arc__bytes_to(const arc__target *t, int parameter) {
  return (long long)t->step * (arc__bytes(t->memory) * parameter);
}

ARC__FN void arc__target_piece(arc__target *t, int i, void *base, int stride, int width,
                               int scale_log2) {
  ARC__CHECK(ARC__WIDTH_CHECK, width >= 1, "the width of a piece must be at least 1");
  long long bytes = (long long)stride * arc__bytes(t->memory), most = 1ll << 31;
  int length = arc__has_rows(t) ? arc__row_length(t->memory, width) : 1;
  ARC__CHECK(1, bytes > -most && bytes < most, "the stride of a piece must be below 2^31 bytes");
  ARC__CHECK(1, stride == 0 || stride >= length || -stride >= length,
             "the stride of a piece is below its width: rows overlap");
  ARC__CHECK(1, scale_log2 >= -126 && scale_log2 <= 126, "scale_log2 must be -126..126");
  ARC__CHECK(1, (arc__u64)base % (unsigned)arc__bytes(t->memory) == 0u,
             "the base of a piece is not aligned to its values");
  ARC__CHECK(1, arc__is_word(t->memory) || __isGlobal(base),
             "rows of halves, and of sums of several words, must lie in global memory");
  arc__piece *p = &t->piece[i];
  p->base = (char *)base;
  p->stride_bytes = (int)bytes;
  p->width = width;
  p->vector_log2 = arc__vector_log2(t->memory, p->base, p->stride_bytes);
  p->scale = (float)arc__power(scale_log2);
  t->width += width;
}

/* Whether a piece has memory: all but the first may have no base. */
ARC__FN bool arc__is_there(const arc__target *t, int piece) {
  return piece == 0 || t->piece[piece].base != 0;
}

/* Where the given value of key 0 lies, in the last piece that begins at or below it; lanes: so many
   values leave together. Compilers keep what a branch on `owned` chooses; they would recompute a
   plain sum in each call. */
ARC__FN arc__slot arc__slot_of(const arc__target *t, int value, int lanes) {
  const arc__piece *first = &t->piece[0];
  const bool inside = value < t->width;
  arc__slot slot = {
      first->base, first->stride_bytes, inside, first->scale, inside, false, false, false,
      {0u},        first->width};
  int begin = 0, place = value;
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    if (inside && value >= begin) {
      slot.owned = slot.is_value = arc__is_there(t, i);
      if (slot.owned) slot.base = p->base + arc__bytes_to(t, value - begin);
      slot.stride_bytes = p->stride_bytes;
      slot.scale = p->scale;
      place = value - begin;
      slot.width = p->width;
      slot.follows = value > begin && value % lanes != 0;
      slot.precedes = value + 1 < begin + p->width && (value + 1) % lanes != 0;
    }
    begin += p->width;
  })
  slot.place = place;
  if (arc__is_half(t->memory)) arc__set_odd(&slot, arc__is_odd(slot.base));
  return slot;
}

/* What a reduction sums for a value; scale: of its piece. */
ARC__FN arc__word arc__summand(const arc__call *c, arc__word value, float scale) {
  return arc__is_exact(c) ? arc__fixed(__uint_as_float(value.lo) * scale) : value;
}

/* The same for value i of this lane. */
ARC__FN arc__word arc__load(const arc__call *c, int i, float scale) {
  return arc__summand(c, arc__read(c->literal.source, c->values, i), scale);
}

/* The scale of a fixed target's value; else any number. */
ARC__FN float arc__scale_of(const arc__call *c, int value) {
  return arc__is_exact(c) ? arc__slot_of(c->target, value, ARC__WARP).scale : 0;
}

/* Reduction instructions with which one lane adds that many words. */
ARC__FN int arc__requests(int words, int vector_log2) {
  return vector_log2 == 4   ? words / 4 + words % 4 / 2 + words % 2
         : vector_log2 == 3 ? words / 2 + words % 2
                            : words;
}

/* S(n): shuffles of the transposed reduction of n values. */
ARC__FN int arc__shuffles(int n) {
  return n / 32 * 31 + (n % 32 + 1) / 2 + (n % 32 + 3) / 4 + (n % 32 + 7) / 8 + (n % 32 + 15) / 16 +
         (n % 32 + 31) / 32;
}

/* Whether one instruction, redux.sync, sums the one value of each lane. */
ARC__FN bool arc__has_redux(const arc__target *t) {
  return ARC__ARCH >= 800 && t->kind == ARC__I32 && t->width == 1 && t->chunk == ARC__WARP;
}

/* The fewest lanes that are reduced, by a formula of arc_policy.cuh; work: its shuffles
   or values. Of one piece of literal width a lane's requests are one of three constants. Each
   division has a type of its own, or compilers make one of them before they know the width. */
#define ARC__LEAST_LANES(FORMULA, work)                                            \
  (t->pieces > 1 || t->chunk == ARC__DYNAMIC ? FORMULA(work, requests)             \
   : log2 <= 2                               ? FORMULA(work, words)                \
   : log2 == 3 ? (int)FORMULA((unsigned)(work), (unsigned)arc__requests(words, 3)) \
               : (int)FORMULA((long long)(work), (long long)arc__requests(words, 4)))

/* Whether this block is one of the half of all blocks that reduce only from more lanes on. With as
   many lanes as make both equally fast, plain additions keep the L2 busy, and reductions the
   schedulers; if half of the warps do each, both work at once. By the block: compilers know that
   its lanes agree. Hashed, since the blocks of a multiprocessor may be evenly apart. */
ARC__FN bool arc__reduces_later(void) {
  return ((blockIdx.x + blockIdx.y + blockIdx.z) * 0x9E3779B9u >> 31) != 0u;
}

ARC__FN void arc__target_end(arc__target *t) {
  int requests = 0, lane = arc__opaque(arc__lane()), each = arc__bytes(t->kind) / 4;
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    requests += arc__requests(arc__counted_words(t->memory, p->width),
                              arc__largest_log2(t->memory, p->stride_bytes));
  })
  int log2 = arc__largest_log2(t->memory, t->piece[0].stride_bytes);
  int words = arc__counted_words(t->memory, t->width);
  int shuffles = arc__has_redux(t) ? 1 : arc__shuffles(t->width);
  t->min_lanes_to_reduce = ARC__LEAST_LANES(ARC_MIN_LANES_TO_REDUCE, t->width * each);
  t->min_lanes_to_match = ARC__LEAST_LANES(ARC_MIN_LANES_TO_MATCH, shuffles * each);
  if (!arc__has_windows(t->memory) && arc__reduces_later()) /* else 1 must stay a literal */
    t->min_lanes_to_reduce += 2 * (t->min_lanes_to_reduce - 1) / 3;
  t->warp_slot = arc__slot_of(t, lane, ARC__WARP);
  t->half_warp_slot = arc__slot_of(t, lane % (ARC__WARP / 2), ARC__WARP / 2);
  t->lane_and_owner = arc__opaque(arc__lane() + (t->warp_slot.owned ? ARC__WARP : 0));
#if defined(__CUDA_ARCH__) /* or each call recomputes them */
  if (t->pieces > 1) asm("" : "+r"(t->warp_slot.stride_bytes));
  if (arc__is_half(t->memory)) asm("" : "+l"(t->warp_slot.base));
#endif
}

/* Leaves out the pieces from `count` on, whose values no lane owns. */
ARC__FN void arc__keep_first(arc__target *t, int count) {
  ARC__CHECK(1, count >= 1 && count <= t->pieces,
             "count must be 1 to the number of pieces of the target");
  t->width = 0;
  ARC__EACH_PIECE(i, t->pieces, {
    ARC__CHECK(1, i < count || t->piece[i].base == 0, "a piece that is left out is not null");
    if (i < count) t->width += t->piece[i].width;
  })
  t->pieces = count;
}

/* ---- >>emit ------------------------------------------------------------------------------ */

/* Adds words that lie side by side in memory. */
ARC__FN void arc__add_words(const arc__call *c, char *address, const arc__word *w, int count) {
  arc__request(c->literal.memory, c->literal.scope, address, w, count);
}

/* The values of a chunk at most. */
ARC__FN int arc__chunk_of(const arc__call *c, int lanes) {
  return c->chunk < lanes ? c->chunk : lanes;
}

/* Those of the chunk at `first`. */
ARC__FN int arc__chunk_width(const arc__call *c, int first, int most) {
  return c->width - first < most ? c->width - first : most;
}

/* The words that are reduced for them: a literal number. If the width is known only at run time,
   the words after the last value are neutral. */
ARC__FN int arc__chunk_words(const arc__call *c, int first, int most) {
  return c->chunk == ARC__DYNAMIC ? ARC__DYNAMIC : arc__chunk_width(c, first, most);
}

/* The value of a target: its piece, and its place there. */
typedef struct arc__location {
  arc__piece piece;
  int offset;
  bool is_there;
} arc__location;

ARC__FN arc__location arc__location_of(const arc__target *t, int value) {
  arc__location at = {t->piece[0], value, true};
  int begin = 0;
  ARC__EACH_PIECE(i, t->pieces, {
    if (i > 0 && value >= begin) {
      at.piece = t->piece[i];
      at.offset = value - begin;
      at.is_there = arc__is_there(t, i);
    }
    begin += t->piece[i].width;
  })
  return at;
}

/* Bytes that one request may add to the piece, as a power of two. */
ARC__FN int arc__request_log2(const arc__call *c, const arc__piece *p) {
  if (arc__adds_by_value(c)) return 2;
  return arc__promised(c, ARC_PROMISE_ALIGNED_16) ? arc__most_log2(c->literal.memory)
                                                  : p->vector_log2;
}

/* Adds `count` words of memory: value i of a chunk and those behind it, at most `left` values. A
   word has two 16-bit values; -0 is added to one that is not of this row. odd: value i is the upper
   one of its word. With a struct for these arguments nvcc does not inline a lambda of halves. */
ARC__FN void arc__emit_request(const arc__call *c, const arc__word *w, int i, int left, bool odd,
                               float scale, char *address, int count) {
  const int each = arc__is_half(c->literal.memory) ? 2 : 1; /* values of a word */
  const arc__word none = arc__neutral(ARC__F32);
  arc__word words[4];
  ARC__UNROLL
  for (int k = 0; k < 4; ++k) {
    const int low = i + each * k, high = low + 1;
    words[k] = none;
    if (low >= ARC__WARP || low >= i + left) continue;
    arc__word next = none;
    if (each == 2 && high < ARC__WARP && high < i + left) next = w[high];
    words[k] = arc__stored(c->literal.kind, c->literal.memory, odd ? none : w[low],
                           odd ? w[low] : next, scale);
  }
  arc__add_words(c, odd ? address - arc__bytes(c->literal.memory) : address, words, count);
}

/* Adds the words of the values [first, first + count) to the row of this lane's key. A request adds
   as many words as the alignment allows: 2^vector_log2 bytes or, if vector_log2 is 0, what each
   piece allows. */
ARC__FN void arc__emit_values(const arc__call *c, const arc__word *w, int first, int count,
                              int vector_log2) {
  const int each = arc__is_half(c->literal.memory) ? 2 : 1; /* of a word */
  ARC__EACH(i, count, ARC__WARP) {
    if (i >= c->chunk) continue; /* never; tells the compiler the largest count */
    arc__location at = arc__location_of(c->target, first + i);
    if (!at.is_there) continue;
    int log2 = vector_log2 ? vector_log2 : arc__request_log2(c, &at.piece);
    int left = at.piece.width - at.offset < count - i ? at.piece.width - at.offset : count - i;
    char *address = arc__offset(at.piece.base, c->key, at.piece.stride_bytes) +
                    arc__bytes_to(c->target, at.offset);
    int in_four = at.offset % (4 * each), in_two = at.offset % (2 * each);
    bool four = log2 >= 4 && i >= in_four && left + in_four >= 4 * each;
    bool two = log2 >= 3 && i >= in_two && left + in_two >= 2 * each;
    bool odd = each == 2 && (log2 <= 2 ? arc__is_odd(address) : at.offset % 2 != 0);
    bool goes_before = odd && i > 0 && at.offset > 0;
    if (four ? in_four > 0 : two ? in_two > 0 : goes_before) continue;
    arc__emit_request(c, w, i, left, odd, at.piece.scale, address, four ? 4 : two ? 2 : 1);
  }
}

/* Adds the words of a chunk of this lane's key. One array of rows has a loop for each alignment;
   otherwise each four values branch. */
ARC__FN void arc__emit(const arc__call *c, const arc__word *w, int first, int count) {
  const int log2 = arc__request_log2(c, &c->target->piece[0]);
  const int bytes = arc__bytes(c->literal.memory) * count;
  if (arc__has_windows(c->literal.memory))
    arc__emit_windows(c, w, first, count);
  else if (c->target->pieces > 1 || c->chunk == ARC__DYNAMIC)
    arc__emit_values(c, w, first, count, 0);
  else if (log2 >= 4 && bytes >= 16)
    arc__emit_values(c, w, first, count, 4);
  else if (log2 >= 3 && bytes >= 8)
    arc__emit_values(c, w, first, count, 3);
  else
    arc__emit_values(c, w, first, count, 2);
}

/* ---- >>serialized ------------------------------------------------------------------------ */
/* SW-S (ARC paper, 5.5.1): the leader of each group adds up its other lanes, one by one. */
ARC__FN void arc__reduce_serialized(const arc__call *c, arc__word *w, int count) {
  bool leader = arc__leads(c->group, c->lane);
  unsigned rest = c->group != 0u ? c->group & ~(1u << arc__highest(c->group)) : 0u;
  for (; __any_sync(c->lanes, rest != 0u); rest &= rest - 1u) {
    int source = rest != 0u ? arc__lowest(rest) : c->lane;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->literal.kind, c->lanes, w[i], source);
      if (leader && rest != 0u) w[i] = arc__sum(c->literal.kind, w[i], other);
    }
  }
}

/* ---- >>butterfly ------------------------------------------------------------------------- */
/* SW-B (ARC paper, 5.5.2): five shuffles per value, and every lane ends with every sum. All 32
   lanes take part, inactive ones with neutral words. */
ARC__FN void arc__reduce_butterfly(const arc__call *c, arc__word *w, int count) {
  ARC__EACH(i, count, ARC__WARP) {
    ARC__UNROLL
    for (int distance = ARC__WARP / 2; distance >= 1; distance /= 2)
      w[i] = arc__sum(c->literal.kind, w[i],
                      arc__shfl_xor(c->literal.kind, ARC_LANES_ALL, w[i], distance));
  }
}

/* ---- >>transposed ------------------------------------------------------------------------ */
/* A reduce-scatter: exchanges with partners 1, 2, 4, 8 and 16 lanes apart. Each halves the words:
   of two neighbouring words the lower lane keeps the first and sends the second, the upper lane the
   other way round, and both add what they receive. S(n) shuffles instead of 5 n, and lane l ends
   with the sum of value l. Four lanes and three values, "a 01" being a summed over lanes 0, 1:

             words         exchange 1 apart              exchange 2 apart
     lane 0  a0 b0 c0  ->  a 01  c 01    keeps a, c  ->  a 0123    keeps a
     lane 1  a1 b1 c1  ->  b 01  c 01    keeps b, c  ->  b 0123    keeps b
     lane 2  a2 b2 c2  ->  a 23  c 23    keeps a, c  ->  c 0123    keeps c
     lane 3  a3 b3 c3  ->  b 23  c 23    keeps b, c  ->  c 0123    keeps c: a copy, not owned

   c has no neighbour in the first exchange: both partners sum it, which needs no select. */
ARC__FN arc__word arc__exchange(const arc__call *c, arc__word low, arc__word high, bool paired,
                                int distance, bool may_clobber) {
  arc__word send = low;
  const int upper = paired ? arc__lane_bit(c, distance) : 0;
  if (paired) send.lo = arc__keep_and_send(c->literal.kind, may_clobber, upper, &low.lo, high.lo);
  if (paired && arc__bytes(c->literal.kind) == 8)
    send.hi = arc__keep_and_send(c->literal.kind, may_clobber, upper, &low.hi, high.hi);
  return arc__sum(c->literal.kind, low,
                  arc__shfl_xor(c->literal.kind, ARC_LANES_ALL, send, distance));
}

/* Which of a lane's values go into a reduction. */
typedef struct arc__input {
  bool stays;       /* its values belong to its sums, */
  bool leaves;      /* with 16 lanes to those of lane ^ 16 */
  bool may_clobber; /* a literal: no other branch of the caller reads the values */
} arc__input;

/* The chunk at `first` of up to `lanes` (32 or 16) values; lane l ends with the sum of value l of
   them, l modulo `lanes`. */
ARC__FN arc__word arc__reduce_chunk(const arc__call *c, int first, int lanes, arc__input part) {
  const int most = arc__chunk_of(c, lanes);
  int count = arc__chunk_words(c, first, most);
  ARC__WORDS(w, ARC__WARP);
  ARC__EACH(i, count, ARC__WARP) {
    bool is_value = first + i < c->width;
    float scale = arc__scale_of(c, first + i);
    w[i] = part.stays && is_value ? arc__load(c, first + i, scale) : arc__neutral(c->literal.kind);
    if (lanes == ARC__WARP) continue;
    arc__word other =
        part.leaves && is_value ? arc__load(c, first + i, scale) : arc__neutral(c->literal.kind);
    other = arc__shfl_xor(c->literal.kind, ARC_LANES_ALL, other, ARC__WARP / 2);
    w[i] = arc__sum(c->literal.kind, w[i], other);
  }
  ARC__UNROLL
  for (int distance = 1; distance < lanes; distance *= 2) {
    bool copied = part.may_clobber || distance > 1 || lanes < ARC__WARP;
    ARC__EACH(i, (count + 1) / 2, lanes / (2 * distance))
      w[i] = arc__exchange(c, w[2 * i], w[2 * i + 1], 2 * i + 1 < count, distance, copied);
    count = (count + 1) / 2;
  }
  return w[0];
}

/* Adds the sum of a slot, which this lane owns; next: that of the next lane. */
ARC__FN void arc__emit_sum(const arc__call *c, arc__slot slot, arc__key key, arc__word sum,
                           arc__word next) {
  arc__word w = arc__stored(c->literal.kind, c->literal.memory, sum, next, slot.scale);
  if (arc__has_windows(c->literal.memory)) {
    arc__emit_windows_sum(c, slot, key, sum);
    return;
  }
  if (arc__is_half(c->literal.memory)) arc__fit_word(&slot, key, &w);
  if (slot.owned) arc__add_words(c, arc__offset(slot.base, key, slot.stride_bytes), &w, 1);
}

/* The same; the whole warp calls. */
ARC__FN void arc__emit_slot(const arc__call *c, arc__slot slot, arc__key key, arc__word sum) {
  bool half = arc__is_half(c->literal.memory);
  arc__word next = half ? arc__shfl_down(c->literal.kind, ARC_LANES_ALL, sum, 1) : sum;
  arc__emit_sum(c, slot, key, sum, next);
}

/* Whether there is one value, so that a reduction leaves its sum in each lane. */
ARC__FN bool arc__is_single(const arc__call *c) { return c->width == 1 && c->chunk == ARC__WARP; }

#define ARC__BEYOND (1 << 26) /* beyond any width */

/* The slot of the sum that a reduction of the chunk at `first` leaves in this lane. With a single
   value each lane has the sum of `group`; its leader owns it, since it has the key. */
ARC__FN arc__slot arc__chunk_slot(const arc__call *c, unsigned group, int first, int lanes) {
  const int most = arc__chunk_of(c, lanes);
  bool single = arc__is_single(c) && lanes == ARC__WARP;
  /* Lanes beyond the chunk get a value beyond the width: by arithmetic, since compilers would move
     a loop-invariant branch out of the loop, and the warp would diverge there. */
  int mine = c->lane % lanes, value = first + mine + mine / most * ARC__BEYOND;
  arc__slot slot = lanes == ARC__WARP ? c->target->warp_slot : c->target->half_warp_slot;
  if (lanes == ARC__WARP && arc__saves_registers(c)) slot.owned = arc__owns_warp_slot(c->target);
  if (first > 0 || single || most < lanes) {
    slot = arc__slot_of(c->target, single ? 0 : value, most);
    if (single) slot.owned = slot.is_value = arc__leads(group, c->lane);
  }
  return slot;
}

/* The key of all active lanes, in every lane that will own a sum; known: in all lanes. */
ARC__FN arc__key arc__only_key(const arc__call *c, bool known) {
  return known || arc__is_single(c) ? c->key : arc__key_of(c, arc__highest(c->present));
}

/* A group, chunk by chunk. */
ARC__FN void arc__add_group(const arc__call *c, unsigned group, arc__key key, int lanes,
                            arc__input part) {
  ARC__CHUNKS(c, first, arc__chunk_of(c, lanes)) {
    arc__word sum = arc__reduce_chunk(c, first, lanes, part);
    arc__emit_slot(c, arc__chunk_slot(c, group, first, lanes), key, sum);
  }
}

/* One key a full warp. If every lane is active, or inactive ones hold zeros, nothing is masked: one
   code for both. may_clobber: as in arc__input; masked words are copies. */
ARC__FN void arc__add_one_group(const arc__call *c, bool may_clobber) {
  arc__input whole = {true, false, may_clobber}, masked = {arc__is_source(c), false, true};
  bool full = c->present == ARC_LANES_ALL, zeros = arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool has_key = arc__promised(c, ARC_PROMISE_ONE_KEY);
  if (!arc__is_single(c) && (full || zeros)) {
    arc__key key = arc__only_key(c, has_key || full);
    arc__add_group(c, c->present, key, ARC__WARP, whole);
  } else {
    arc__key key = arc__only_key(c, has_key);
    arc__add_group(c, c->present, key, ARC__WARP, masked);
  }
}

/* Two groups at once. First lane and lane ^ 16 exchange values, so that the lower half-warp holds
   the group of the highest leader and the upper half the other. Then each half reduces 16 lanes.
   About the shuffles of one and a half reductions, and one request. */
ARC__FN void arc__add_two_groups(const arc__call *c) {
  const int half = ARC__WARP / 2;
  bool upper = (c->lane & half) != 0;
  bool in_highest = c->group > (c->present ^ c->group); /* in the group of the highest leader */
  arc__input part = {c->active && in_highest != upper, c->active && in_highest == upper, true};
  unsigned low = c->leaders & (0u - c->leaders);
  arc__key key = arc__key_of(c, arc__highest(upper ? low : c->leaders ^ low));
  arc__add_group(c, c->group, key, half, part);
}

/* One group after the other. Returns whether this lane's group is below the threshold. */
ARC__FN bool arc__add_each_group(const arc__call *c) {
  bool plain = false;
  for (unsigned rest = c->present; rest != 0u;) {
    arc__key key;
    unsigned group = arc__take_group(c, &rest, &key);
    bool member = c->active && arc__same_key(c->key, key);
    arc__input part = {member, false, true};
    if (__popc(group) < c->decision.min_group)
      plain = plain || member;
    else
      arc__add_group(c, group, key, ARC__WARP, part);
  }
  return plain;
}

/* ---- >>tree ------------------------------------------------------------------------------ */
/* All groups at once; the leader of each ends with its sums. If every present lane leads, all keys
   differ and there is nothing to reduce.

   In runs: if the lanes of each group are neighbours, a lane adds the word of the lane 1, 2, 4, 8
   and 16 below, unless that lane is below the group's first lane `start`. */
#define ARC__ROUNDS 5

/* The leaders in lanes below this one: of lower groups, if each group's lanes are neighbours. */
ARC__FN unsigned arc__leaders_below(const arc__call *c) {
  return c->leaders & arc__lanes_below(c->lane);
}

/* Whether they are. The whole warp calls. */
ARC__FN bool arc__are_runs(const arc__call *c) {
  unsigned below_group = ~c->group & (c->group - 1u); /* lanes below the group's lowest */
  return __all_sync(ARC_LANES_ALL, arc__leaders_below(c) <= below_group);
}

ARC__FN void arc__reduce_runs(const arc__call *c, arc__word *w, int count) {
  int start = arc__highest(2u * arc__leaders_below(c) + 1u);
  int reach = arc__leads(c->group, c->lane) ? c->lane - start : 0;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    int distance = 1 << round;
    bool votes = round > 0 && count > 2; /* a round of two values costs no more than the vote */
    if (votes && !__any_sync(ARC_LANES_ALL, reach >= distance)) break;
    ARC__EACH(i, count, ARC__WARP)
      w[i] = arc__sum_from_below(c->literal.kind, w[i], distance, start);
  }
}

/* By pointer jumping, on any subset of lanes: each lane has a pointer to the next lower lane of its
   group, adds that lane's word and takes over its pointer. After r rounds a lane holds the sum of
   2^r lanes of its group. Unrolled: around a loop the compiler reloads the kernel's constants. */
#define ARC__NO_LANE 32u /* there is no lower lane; a shuffle then reads the lane itself */

ARC__FN void arc__reduce_jumping(const arc__call *c, arc__word *w, int count) {
  unsigned lower = c->group & arc__lanes_below(c->lane);
  unsigned next = lower != 0u ? (unsigned)arc__highest(lower) : ARC__NO_LANE | (unsigned)c->lane;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    bool adds = next < ARC__NO_LANE;
    if (round > 0 && !__any_sync(c->lanes, adds)) break;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->literal.kind, c->lanes, w[i], (int)next);
      if (adds) w[i] = arc__sum(c->literal.kind, w[i], other);
    }
    next = __shfl_sync(c->lanes, next, (int)next);
  }
}

ARC__FN void arc__reduce_tree(const arc__call *c, arc__word *w, int count) {
  if (c->leaders == c->present) return;
  if (arc__has_redux(c->target) && (c->leaders & (c->leaders - 1u)) == 0u)
    w->lo = arc__redux(c->lanes, w->lo); /* an inactive lane has 0 */
  else if (c->lanes == ARC_LANES_ALL && arc__are_runs(c))
    arc__reduce_runs(c, w, count);
  else
    arc__reduce_jumping(c, w, count);
}

/* ---- >>checks ---------------------------------------------------------------------------- */

#if ARC_CHECK >= 2
#include "arc/check.cuh"
#else
#define arc__check_agreement(c) ((void)0)
#define ARC__STATE_BYTES 0
#define ARC__DUTY
#define ARC__OWES(form, what) ((void)0)
#define ARC__ADDS_ONCE(form) ((void)0)
#define ARC__CHECK_MEMORY(form) ((void)0)
#define ARC__KEEP_DIGEST(sum, call) ((void)0)
#define ARC__CHECK_DIGEST(sum, call) ((void)0)
#endif

ARC__FN void arc__check_lanes(unsigned lanes) {
  ARC__CHECK(1, __ballot_sync(lanes, true) == lanes,
             "not all lanes that must call are here: they have returned, or are elsewhere");
}

ARC__FN void arc__check_call(const arc__call *c) {
  ARC__CHECK(ARC__WIDTH_CHECK, c->width >= 1, "the width must be at least 1");
  ARC__CHECK(1, c->threshold >= 0 && c->threshold <= ARC_THRESHOLD_AUTO,
             "the threshold must be 0..33 or ARC_THRESHOLD_AUTO");
  ARC__CHECK(1, c->literal.path >= ARC_PATH_ATOMIC && c->literal.path <= ARC_PATH_AUTO,
             "the path must be one of ARC_PATH_ATOMIC to ARC_PATH_AUTO");
  ARC__CHECK(1, (c->lanes >> c->lane & 1u) != 0u, "the lane mask must name every lane that calls");
  arc__check_lanes(c->lanes);
  arc__check_agreement(c);
#if defined(SIMT_MEET)
  if (c->literal.path == ARC_PATH_ATOMIC) SIMT_MEET(c->lanes); /* no vote detects absent lanes */
#endif
}

/* ---- >>paths ----------------------------------------------------------------------------- */
/* The table at the head of this file has a row for each return of arc__vote_empty, arc__decide,
   arc__decide_what and arc__add_groups, in their order. The code has plain atomics and each
   reduction once, since the compiler inlines every branch before it knows the path. */

/* Each lane that `adds` adds its own values or, if the call `reduces`, the sums of the group that
   it leads, by the papers' paths or the tree. */
ARC__FN void arc__add_chunks(const arc__call *c, bool reduces, bool adds) {
  ARC__CHUNKS(c, first, c->chunk) {
    int count = arc__chunk_words(c, first, c->chunk);
    ARC__WORDS(w, ARC__WARP);
    ARC__EACH(i, count, ARC__WARP) {
      bool is_value = (adds && !reduces) || arc__is_source(c);
      w[i] = is_value && first + i < c->width ? arc__load(c, first + i, arc__scale_of(c, first + i))
                                              : arc__neutral(c->literal.kind);
    }
    if (reduces && c->literal.path == ARC_PATH_BUTTERFLY)
      arc__reduce_butterfly(c, w, count);
    else if (reduces && c->literal.path == ARC_PATH_SERIALIZED)
      arc__reduce_serialized(c, w, count);
    else if (reduces)
      arc__reduce_tree(c, w, count);
    if (adds) arc__emit(c, w, first, arc__chunk_width(c, first, c->chunk));
  }
}

/* Whether unreduced values are added in a loop. Halves and windows are added as sums are. */
ARC__FN bool arc__adds_in_a_loop(const arc__call *c) {
  return c->chunk == ARC__DYNAMIC && arc__is_word(c->literal.memory);
}

/* Value i of this lane as memory gets it. */
ARC__FN arc__word arc__stored_value(const arc__call *c, int i) {
  const float scale = c->target->piece[0].scale;
  arc__word w = arc__load(c, i, scale);
  return arc__stored(c->literal.kind, c->literal.memory, w, w, scale);
}

/* Adds this lane's values to one array, in a loop of requests as large as alignment allows. Only
   two places add: compilers do not inline a lambda with twice as many. */
ARC__FN void arc__add_in_a_loop(const arc__call *c) {
  const arc__piece *p = &c->target->piece[0];
  const int log2 = arc__request_log2(c, p), each = log2 >= 4 ? 4 : log2 == 3 ? 2 : 1;
  const int bytes = arc__bytes(c->literal.memory);
  char *address = arc__offset(p->base, c->key, p->stride_bytes);
  int first = 0;
  for (; each > 1 && first + each <= c->width; first += each, address += each * bytes) {
    arc__word w[4];
    ARC__EACH_OF_4(i, each, { w[i] = arc__stored_value(c, first + i); })
    arc__add_words(c, address, w, each);
  }
  for (; first < c->width; ++first, address += bytes) {
    arc__word w = arc__stored_value(c, first);
    arc__add_words(c, address, &w, 1);
  }
}

/* The mask of a vote must be right even if its lanes have diverged since it was taken: after a
   chunk that some lanes add and others do not, the next one votes. ptxas assumes that a mask from
   __activemask or a vote is one for all lanes that run together, and reads it from one of them
   (bench/NOTES.md). The lane's own bit, which is set already, makes it a value of each lane; of
   other compilers it is set in every call. */
ARC__FN void arc__make_mask_of_lane(arc__call *c) {
  if (ARC_SAFE_MASKS || c->width > c->chunk) c->lanes |= 1u << c->lane;
}

/* By the threshold that the options give, or arc's. Of promises, that of one key counts; and a
   renderer's, where only a lane by itself would be left out: it is reduced, since the code for few
   lanes takes registers. */
ARC__FN void arc__decide_least_lanes(arc__call *c) {
  const bool keyed = arc__is_auto_keyed(c);
  int lanes = c->threshold;
  if (lanes == ARC_THRESHOLD_AUTO) {
    lanes = arc__adds_by_value(c) ? ARC_MIN_LANES_TO_REDUCE(5 * c->width, c->width)
            : keyed               ? c->target->min_lanes_to_match
                                  : c->target->min_lanes_to_reduce;
    lanes = lanes < 1 ? 1 : lanes > 31 ? 31 : lanes;
    if (arc__promised(c, ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER) && lanes <= 2) lanes = 0;
  }
  if (keyed && lanes < 1) lanes = 1; /* so that an empty warp has few lanes */
  arc__decision *d = &c->decision;
  d->min_present = arc__reduces_all(c, lanes) ? 1 : arc__opaque(lanes); /* 1, a literal */
  d->min_group = !keyed ? d->min_present : c->threshold == ARC_THRESHOLD_AUTO ? 1 : c->threshold;
}

/* Whether the active lanes of a full warp hold one key. All of c->lanes call. */
ARC__FN bool arc__vote_one_key(const arc__call *c) {
  if (c->lanes != ARC_LANES_ALL || arc__promised(c, ARC_PROMISE_ONE_KEY))
    return c->lanes == ARC_LANES_ALL;
  unsigned group = arc__match(c);
  return __all_sync(c->lanes, !c->active || group == c->present);
}

/* Whether no lane is active. No vote on the atomic path, by promise, and where auto looks for keys,
   since it counts the lanes then. All of c->lanes call. */
ARC__FN bool arc__vote_empty(const arc__call *c) {
  bool votes = c->literal.path != ARC_PATH_ATOMIC && !arc__is_auto_keyed(c) &&
               !arc__promised(c, ARC_PROMISE_WARP_IS_ACTIVE);
  return votes && !__any_sync(c->lanes, c->active);
}

/* What is added: */
enum {
  ARC__EACH_LANE,  /* the values of each active lane, by itself */
  ARC__ONE_GROUP,  /* the sums of all active lanes */
  ARC__EACH_GROUP, /* those of one group after the other */
  ARC__GROUPS      /* whatever arc__add_groups finds */
};

/* By the lanes, the threshold and the promises. All of c->lanes call. */
ARC__FN int arc__decide_what(const arc__call *c) {
  const int least = c->decision.min_present;
  const bool below = __popc(c->present) < least;
  const bool few = !arc__reduces_all(c, least) && below; /* literally false if all reduce */
  if (arc__is_auto_keyed(c)) return below ? ARC__EACH_LANE : ARC__GROUPS;
  if (arc__is_transposed(c) && arc__promised(c, ARC_PROMISE_ONE_KEY))
    return few ? ARC__EACH_LANE : ARC__ONE_GROUP;
  if (arc__is_transposed(c)) return ARC__EACH_GROUP;
  if (c->literal.path != ARC_PATH_BUTTERFLY) return ARC__GROUPS;
  const bool one_key = arc__vote_one_key(c);
  return few || !one_key ? ARC__EACH_LANE : ARC__GROUPS;
}

/* Finds the active lanes, and decides. All of c->lanes call. */
ARC__FN void arc__decide(arc__call *c) {
  if (c->literal.path == ARC_PATH_ATOMIC) return; /* ARC__EACH_LANE */
  c->present = __ballot_sync(c->lanes, c->active);
  arc__decide_least_lanes(c);
  c->decision.what = arc__decide_what(c);
}

ARC__FN void arc__find_leaders(arc__call *c) {
  c->leaders = __ballot_sync(c->lanes, arc__leads(c->group, c->lane));
}

/* Auto, keys may differ: one group or two get a transposed reduction, and true is returned. */
ARC__FN bool arc__add_few_groups(const arc__call *c) {
  const int least = c->decision.min_group;
  bool all_large = least <= 1;
  if (c->lanes != ARC_LANES_ALL || __popc(c->leaders) > 2) return false;
  if ((c->leaders & (c->leaders - 1u)) == 0u) {
    arc__add_one_group(c, false);
    return true;
  }
  if (!all_large) all_large = __all_sync(c->lanes, !c->active || __popc(c->group) >= least);
  if (all_large) arc__add_two_groups(c);
  return all_large;
}

/* The lanes of a group below the threshold become groups of one, which no reduction touches. */
ARC__FN void arc__dissolve_small_groups(arc__call *c) {
  if (c->active && __popc(c->group) < c->decision.min_group) c->group = 1u << c->lane;
}

/* Finds the groups and adds those of enough lanes. Returns whether this lane must still add its
   values. */
ARC__FN bool arc__add_groups(arc__call *c) {
  const bool keyed = arc__is_auto_keyed(c);
  if (c->literal.path == ARC_PATH_BUTTERFLY) {
    c->group = c->present;
  } else {
    c->group = arc__match(c);
    if (keyed) arc__find_leaders(c);
    if (keyed && arc__adds_in_a_loop(c) && c->leaders == c->present) return c->active;
    if (keyed && arc__add_few_groups(c)) return false;
    if (!keyed || c->decision.min_group > 1) {
      arc__dissolve_small_groups(c);
      if (c->literal.path != ARC_PATH_SERIALIZED) arc__find_leaders(c);
    }
  }
  arc__add_chunks(c, true, arc__leads(c->group, c->lane));
  return false;
}

/* Every add calls this. */
ARC__ADD_FN void arc__add(arc__call c) {
  arc__check_call(&c);
  arc__make_mask_of_lane(&c);
  if (arc__vote_empty(&c)) return;
  arc__decide(&c);
  const int what = c.decision.what;
  if (what == ARC__ONE_GROUP) {
    const bool is_auto = c.literal.path == ARC_PATH_AUTO; /* which reads values elsewhere, too */
    arc__add_one_group(&c, !is_auto);
    return;
  }
  if (what == ARC__EACH_LANE) {
    if (!c.active) return;
  } else if (what == ARC__EACH_GROUP) {
    if (!arc__add_each_group(&c)) return;
  } else if (!arc__add_groups(&c)) {
    return;
  }
  if (arc__adds_in_a_loop(&c))
    arc__add_in_a_loop(&c);
  else
    arc__add_chunks(&c, false, true);
}

/* ---- >>interface ------------------------------------------------------------------------- */
/* What the forms in arc/ use of this file, beside its types and what only computes; none of it
   holds state or writes to the caller's values. Who calls:
       any lane         arc__call_of (a call without a group), arc__target_begin, _piece and _end,
                        arc__emit, arc__emit_sum, arc__add_words
       all of the call  arc__check_call or arc__check_lanes, first of all; arc__make_mask_of_lane
                        before a vote; with c->present arc__match, arc__find_leaders, arc__key_of,
                        arc__key_at, arc__decide_least_lanes; with c->group, after that,
                        arc__dissolve_small_groups; with c->leaders, too, arc__reduce_tree,
                        arc__reduce_serialized, arc__reduce_butterfly; arc__add
       a full warp      arc__are_runs, arc__reduce_chunk and arc__chunk_slot, arc__emit_slot;
                        arc__add_group
   A form in front of arc.cuh may give all others a type of sums: ARC__FORM_SUFFIX, and with
   ARC__HAS_WINDOWS the functions of >>kinds that add sums of several words. */

#endif /* ARC_CORE_CUH */
