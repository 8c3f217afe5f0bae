/* hot.cuh - rows to which the whole grid adds: a camera, a background, biases.
   SPDX-License-Identifier: Apache-2.0

   The block keeps the sums of a few dozen rows in shared memory until end adds them to global
   memory. Each warp has its own sums there, so it needs no atomics. Suffixes: all of arc.cuh.

       __shared__ float sums[ARC_HOT_BYTES(sizeof(float), rows, 9, 256) / sizeof(float)];
       arc_hot_f32 hot = arc_hot_begin_f32(target, sums, first_key, rows);
       arc_hot_add_f32(&hot, key, values, active);          // as often as you like
       arc_hot_end_f32(&hot);

   Begins hot rows: those of the keys first_key to first_key + rows - 1. Clears their sums.
   Who calls: all threads of the block, before any of them returns; it is a __syncthreads.
     shared     ARC_HOT_BYTES(bytes, rows, width, threads) bytes, aligned to a sum. `bytes` is the
                size of a sum: that of a value, or 8 (a long long) in fixed and wide targets.
                `width` is the target's; for a wide target add up ARC_WIDE_ROW of each piece. The
                memory serves one set of hot rows at a time: before you begin the next one, all
                threads must have ended this one and passed a __syncthreads.
     first_key  an int, or 64 bits if keys have 64 bits
     rows       1 or more
   Reported: ARC_CHECK 1 no rows, memory that is too small or not shared; 2 threads that differ in
   target, first_key or rows, rows that are begun anew before their end. A first_key that is no int
   stops the kernel at any level.
       arc_hot_f32 arc_hot_begin_f32(arc_target_f32 target, void *shared, arc_key first_key,
                                     int rows);

   Adds to the block's sums. If the key is not one of the hot rows, adds to memory as arc_add_f32
   does. Sums in fixed targets are exact.
   Who calls: as for arc_add_f32. With options: the lanes that options.lane_mask names; use
   ARC_LANES_HERE in divergent code.
   Cost: an add always reduces. It adds to shared memory by loads and stores if all lanes call, else
   by atomics.
   Reported: as for arc_add_f32; ARC_CHECK 2 two sets of hot rows in one memory.
       void arc_hot_add_f32(const arc_hot_f32 *hot, arc_key key, const float *values, bool active);
       void arc_hot_add_with_f32(..., arc_options options);

   Ends hot rows: adds the block's sums to memory.
   Who calls: all threads of the block; it is a __syncthreads.
     options  scope: the same as in the adds
   Cost: a request per 32 sums.
   Reported: ARC_CHECK 2 rows that were added to and not ended, another scope than in the adds.
       void arc_hot_end_f32(const arc_hot_f32 *hot);
       void arc_hot_end_with_f32(const arc_hot_f32 *hot, arc_options options);

   Ends hot rows warp by warp, if threads of the block have returned.
   Who calls: the remaining lanes. Each warp must end after its last add, and before it begins anew;
   any of its lanes may do it. If a lane has added and does not call end itself, that lane and those
   that do must pass a __syncwarp after the add.
   Cost, reported: as above.
       void arc_hot_end_warp_f32(const arc_hot_f32 *hot);
       void arc_hot_end_warp_with_f32(const arc_hot_f32 *hot, arc_options options); */
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_HOT_CUH) /* the former is not without CUDA */
#define ARC_HOT_CUH

/* The bytes of shared memory that a block of `threads` needs for hot rows whose sums have `bytes`
   each. 32 of them are for ARC_CHECK 2. */
#define ARC_HOT_BYTES(bytes, rows, width, threads) \
  ((bytes) * (rows) * (width) * (((threads) + 31) / 32) + 32)

typedef struct ARC__FORM_TAG(arc__hot) {
  arc__target target, own;
  char *shared; /* the sums of all warps */
  long long first;
  int rows;
  ARC__DUTY
} arc__hot;

ARC__FN int arc__threads(void) { return (int)(blockDim.x * blockDim.y * blockDim.z); }
ARC__FN int arc__warps(void) { return (arc__threads() + ARC__WARP - 1) / ARC__WARP; }

/* Whether so many bytes of shared memory exist, as far as can be seen: a GPU detects the end of the
   last array, the CPU warp the end of a dynamic one; under AddressSanitizer it knows no other. */
ARC__FN bool arc__is_shared_memory(const char *shared, long long bytes) {
#if defined(__CUDA_ARCH__)
  unsigned size, reserved = ARC__ARCH >= 800 ? 1024u : 0u; /* by the system, in front of all */
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(size));
  long long begin = (long long)__cvta_generic_to_shared(shared);
  return !__isGlobal(shared) && begin + bytes <= (long long)size + reserved;
#else
  return __isGlobal(shared) || !__isGlobal(shared + bytes - 1);
#endif
}

/* The kind of a sum in shared memory. */
ARC__FN int arc__hot_kind(int kind, int memory) {
  return arc__has_windows(memory) ? ARC__I64 : arc__kind_of(kind, memory, true);
}

/* The sums of a row. */
ARC__FN int arc__hot_words(const arc__target *t) {
  return arc__has_windows(t->memory) ? arc__windows_words(t) : t->width;
}

#if ARC_CHECK >= 2
ARC__FN void arc__hot_check_begin(arc__hot *h) {
  arc__state *state = (arc__state *)(h->shared - ARC__STATE_BYTES);
  arc__u64 digest = arc__digest((arc__u64)h->first, (unsigned)h->rows);
  digest = arc__digest_target(digest, &h->target);
  if (arc__thread() == 0) {
    state->begun = (unsigned)clock64();
    state->digest = (unsigned)digest;
    state->lanes = (unsigned)arc__threads();
    state->kind = h->own.kind;
    state->words = h->rows * arc__hot_words(&h->target) * arc__warps();
  }
  __syncthreads();
  h->duty.state = state;
  h->duty.begun = state->begun;
  ARC__CHECK(2, state->digest == (unsigned)digest,
             "the threads of a block begin hot rows with another first_key, count or target");
}

ARC__FN void arc__hot_check_add(const arc__hot *h, int scope) {
  ARC__CHECK_MEMORY(h);
  if (h->duty.owed == ARC__HOT_ENDED) atomicAdd(&h->duty.state->lanes, 1u);
  ARC__OWES(h, ARC__HOT_ADDED);
  if (scope == ARC_SCOPE_SYSTEM) h->duty.scope = scope;
}

ARC__FN void arc__hot_check_end(const arc__hot *h, int scope) {
  ARC__CHECK(2, scope == ARC_SCOPE_SYSTEM || h->duty.scope == ARC_SCOPE_DEVICE,
             "hot rows were added to with system scope, which arc_hot_end_with must name, too");
  if (h->duty.owed == ARC__HOT_ENDED) return;
  ARC__OWES(h, ARC__HOT_ENDED);
  h->duty.leave_hot_rows();
}
#else
#define arc__hot_check_begin(h) ((void)0)
#define arc__hot_check_add(h, scope) ((void)0)
#define arc__hot_check_end(h, scope) ((void)0)
#endif

ARC__FN void arc__hot_begin(arc__hot *h, void *shared, long long first, int rows) {
  arc__target *own = &h->own;
  int kind = arc__hot_kind(h->target.kind, h->target.memory);
  int bytes = arc__bytes(kind), row = arc__hot_words(&h->target), words = rows * row, begin = 0;
  ARC__CHECK(1, rows >= 1, "there must be at least 1 hot row");
  h->shared = (char *)shared + ARC__STATE_BYTES;
  h->first = ARC_KEY_BITS == 32 && first == (unsigned)first ? (int)first : first;
  h->rows = rows;
  ARC__CHECK(1, arc__is_shared_memory(h->shared, (long long)bytes * words * arc__warps()),
             "the memory of hot rows is not shared memory, or too small for their sums");
  char *sums = h->shared + (long long)bytes * words * (arc__thread() / ARC__WARP);
  *own = h->target;
  own->kind = kind;
  own->memory = kind | ARC__OWN;
  own->step = 1; /* memory may have planes */
  ARC__EACH_PIECE(i, own->pieces, {
    own->piece[i].base = sums + bytes * begin;
    own->piece[i].stride_bytes = bytes * row;
    own->piece[i].vector_log2 = 2;
    begin += arc__row_length(h->target.memory, own->piece[i].width);
  })
  arc__target_end(own);
  for (int i = arc__thread(); i < words * arc__warps(); i += arc__threads())
    arc__write(kind, h->shared, i, arc__neutral(kind));
  __syncthreads();
  arc__hot_check_begin(h);
}

/* Adds the sums of the block to memory or, if not all its threads are here, those of this warp. */
ARC__FN void arc__hot_end(const arc__hot *h, arc__call c, bool all_threads) {
  const int alone = 1; /* no two values of a row leave together */
  const bool is_wide = arc__has_windows(c.literal.memory);
  const int kind = arc__hot_kind(c.literal.kind, c.literal.memory), bytes = arc__bytes(kind);
  int row = is_wide ? arc__windows_words(c.target) : c.width, words = h->rows * row, warps = 1;
  int word = __popc(c.lanes & arc__lanes_below(c.lane)), step = __popc(c.lanes);
  char *sums = h->own.piece[0].base;
  ARC__CHECK_MEMORY(h);
  if (all_threads) {
    word = arc__thread();
    step = arc__threads();
    warps = arc__warps();
    sums = h->shared;
    __syncthreads();
  } else {
    __syncwarp(c.lanes);
  }
  for (; word < words; word += step) {
    arc__word sum = arc__neutral(kind);
    for (int i = 0; i < warps; ++i) {
      char *at = sums + bytes * (i * words + word);
      sum = arc__sum(kind, sum, arc__atomic_exchange(kind, at, arc__neutral(kind)));
    }
    if (is_wide) {
      arc__add_windows_row(&c, arc__key_from(h->first + word / row, 64), word % row, sum);
      continue;
    }
    arc__slot slot = arc__slot_of(&h->target, word % row, alone);
    if (arc__is_zero(kind, sum)) continue;
    arc__emit_sum(&c, slot, arc__key_from(h->first + word / row, 64), sum, arc__neutral(kind));
  }
  arc__hot_check_end(h, c.literal.scope);
}

/* Adds to the warp's own sums. memory: of the target, a literal even where the target is not. */
ARC__FN void arc__hot_add_own(const arc__hot *h, int kind, int memory, int row, const void *values,
                              bool active, arc_options options) {
  arc__target own = h->own;
  const int sum_kind = arc__kind_of(kind, memory, true);
  /* without scales, what lies together is one piece */
  if (sum_kind == kind && !arc__has_windows(memory)) {
    own.pieces = 1;
    own.piece[0].width = own.width;
  }
  own.kind = sum_kind;
  own.memory = arc__has_windows(memory) ? memory | ARC__SHARED : sum_kind;
  if (options.lane_mask == ARC_LANES_ALL) own.memory |= ARC__OWN;
  arc__call c = arc__call_of(&own, row, values, active, options);
  c.literal.source = kind;
  c.literal.kind = sum_kind;
  arc__add(c);
}

/* As arc__check_key, but while the kernel runs: compilers may not know the first_key of hot rows in
   memory. */
ARC__FN void arc__hot_check_first(int key_bits, long long first) {
  if (key_bits == 32 && first > 0x7fffffffll) ARC__FAIL("arc: arc_key_is_no_int: first_key");
  if (key_bits == 32 && first < -0x80000000ll) ARC__FAIL("arc: arc_key_is_no_int: first_key");
}

/* Adds twice: hot keys to the warp's own sums, for which a threshold gains nothing, the others to
   memory. A lane is active in one of them: promises of inactive lanes hold if all have one key. */
ARC__FN void arc__hot_add(const arc__hot *h, int kind, int memory, arc_key key, const void *values,
                          bool active, arc_options options) {
  arc__target target = h->target;
  ARC__TYPED(&target, kind, memory);
  arc__hot_check_add(h, options.scope);
  arc__hot_check_first(options.key_bits, h->first);
  bool all = options.lane_mask == ARC_LANES_ALL, here = options.lane_mask == ARC_LANES_HERE;
  bool alone = here && (ARC__ARCH < 700 || arc__has_windows(memory));
  if (here) { /* here, since the CPU warp distinguishes masks by the line that takes them */
    options.lane_mask = alone ? 1u << arc__lane() : __activemask();
  }
  if (alone) options.path = ARC_PATH_ATOMIC;
  options.promises &= ~ARC_PROMISE_WARP_IS_ACTIVE;
  if ((options.promises & ARC_PROMISE_ONE_KEY) == 0)
    options.promises &= ~ARC_PROMISE_INACTIVE_IS_ZERO;
  arc__call c = arc__call_of(&target, key, values, active, options);
  long long row = (long long)((arc__u64)arc__key_id(c.key) - (arc__u64)h->first);
  bool is_hot = row >= 0 && row < h->rows;
  c.literal.kind = arc__kind_of(kind, memory, options.exact || here);
  c.active = active && !is_hot;
  arc__add(c);
  options.promises &= ~ARC_PROMISE_ALIGNED_16; /* of memory */
  options.path = alone ? ARC_PATH_ATOMIC : ARC_PATH_AUTO;
  options.threshold = 0;
  options.key_bits = 32;
  /* Adds diverge: the mask is taken anew or, as by arc__make_mask_of_lane, one of each lane. */
  options.lane_mask = here && !alone ? __activemask() : options.lane_mask | 1u << arc__lane();
  /* All lanes add by plain loads and stores, which see what lanes added before by atomics, and
     which the next atomics see. A vote orders no memory. */
  if (all) __syncwarp(ARC_LANES_ALL);
  arc__hot_add_own(h, kind, memory, (int)row, values, active && is_hot, options);
  if (all) __syncwarp(ARC_LANES_ALL);
}

#define ARC__HOT(S, T, M, KIND, MEMORY)                                                      \
  typedef struct ARC__FORM_TAG(arc_hot##S) {                                                 \
    arc__hot any;                                                                            \
  } arc_hot##S;                                                                              \
  ARC__FN arc_hot##S arc_hot_begin##S(arc_target##S target, void *shared, arc_key first_key, \
                                      int rows ARC__CALLER) {                                \
    arc_hot##S hot;                                                                          \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                   \
    hot.any.target = target.any;                                                             \
    arc__hot_begin(&hot.any, shared, first_key, rows);                                       \
    return hot;                                                                              \
  }                                                                                          \
  ARC__FN void arc_hot_add_with##S(const arc_hot##S *hot, arc_key key, const T *values,      \
                                   bool active, arc_options options ARC__CALLER) {           \
    arc__hot_add(&hot->any, KIND, MEMORY, key, values, active, options);                     \
  }                                                                                          \
  ARC__FN void arc_hot_add##S(const arc_hot##S *hot, arc_key key, const T *values,           \
                              bool active ARC__CALLER) {                                     \
    arc_hot_add_with##S(hot, key, values, active, arc_options_default());                    \
  }                                                                                          \
  ARC__HOT_END(arc_hot_end, S, KIND, MEMORY, true)                                           \
  ARC__HOT_END(arc_hot_end_warp, S, KIND, MEMORY, false)
#define ARC__HOT_END(NAME, S, KIND, MEMORY, all_threads)                                \
  ARC__FN void NAME##_with##S(const arc_hot##S *hot, arc_options options ARC__CALLER) { \
    arc__target target = hot->any.target;                                               \
    ARC__TYPED(&target, KIND, MEMORY);                                                  \
    options.lane_mask = ARC_LANES_HERE;                                                 \
    arc__hot_end(&hot->any, arc__call_of(&target, 0, 0, true, options), all_threads);   \
  }                                                                                     \
  ARC__FN void NAME##S(const arc_hot##S *hot ARC__CALLER) {                             \
    NAME##_with##S(hot, arc_options_default());                                         \
  }
ARC__EACH_SUFFIX(ARC__HOT)

#endif /* ARC_HOT_CUH */
