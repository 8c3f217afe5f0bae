/* arc.cuh - "many lanes add to the same few addresses", made cheap on any NVIDIA GPU.
   SPDX-License-Identifier: Apache-2.0

   before
       for (int i = 0; i < 9; ++i)
         if (hit) atomicAdd(&grad[9 * id + i], g[i]);

   after
       arc_target_f32 t = arc_target_f32_rows(grad, 9, 9);             // once, above the loop
       arc_add_f32(t, id, g, hit, ARC_BALANCE_THRESHOLD);              // the whole warp calls

   Each call looks at who is there: how many lanes of the warp are active, and how many of them
   add to the same primitive. Few: plain (vector) atomics. Many: the values are summed in
   registers and each sum leaves the warp once.

   Words: a lane adds n values (n: the width) to the parameters of the primitive its key names; the
   target says where they live. A group is the active lanes of a warp that hold one key. The lane
   that ends up with a finished sum is its owner.

   Contents (search for the mark)
       >>api          targets, the five adds, the scalar drop-in
       >>platform     architecture, lane masks, checks
       >>values       the only code that knows the type of a value
       >>target       where parameters live, which lane owns which
       >>emit         sums and values leave for memory
       >>serialized   >>butterfly   >>transposed   >>tree      the paths
       >>auto         which path when
       >>entries      the public names, bound to the paths

   What one call costs a warp, n values, S(n) = shuffles of the transposed reduction
   (n = 1: 5, 3: 6, 4: 6, 8: 9, 9: 12, 10: 12, 12: 13, 16: 16, 32: 31)
       path         shuffles                         requests
       atomic       0                                n from every lane (*)
       serialized   n x (largest group - 1)          n from one lane a group
       butterfly    5 n                              n from one lane
       transposed   S(n) a group                     1 a group, coalesced
       two groups   n + S16(n) (***)                 1, coalesced (auto only)
       tree         n a round, n + 1 mixed (**)      n from one lane a group (*)
       (*) n/4 with vector reductions. (**) ceil(log2(largest group)) rounds; n + 1 where the lanes
       of a group do not have a stretch of the warp for themselves.
       (***) S of 16 lanes: 8 for n = 8, 11 for n = 9 and 10, 15 for n = 16.
       An empty warp costs one vote, on the atomic path nothing. Promises of the caller save more:
       ARC_INACTIVE_IS_ZERO, ARC_INACTIVE_HAS_KEY, ARC_WARP_IS_ACTIVE, see arc_policy.cuh.

   Contract of every add. Each active lane's values are added to its key's parameters exactly
   once. The caller's values are not modified. An inactive lane's key, values and pointers are
   never read, garbage or not, but for what is promised. NaN or infinity in one value reaches that
   parameter of that key and no other. The order of additions is unspecified, so float results may
   differ in the last bits from run to run and with the threshold. Additions are relaxed and return
   nothing.

   A width that is a literal where the target is built compiles to registers only, no stack frame.
   A width known at run time works, at the price of 32 values. Widths above 32 work too, in chunks
   of 32.

   JIT users: pass arc.cuh and arc_policy.cuh as two named strings; nothing else is included.
   Licence: Apache-2.0, see the end of this file. */
#ifndef ARC_CUH
#define ARC_CUH

#include "arc_policy.cuh"

/* ------------------------------------------------------------------------------------------ */
/* >>api                                                                                        */

#define ARC_MAX_PIECES 8

#define ARC__FN static __device__ __forceinline__

/* One array of rows that holds some of a primitive's parameters: parameter i of key k lives at
   base[k * stride + i], 0 <= i < width. stride and width in values; |stride| < 2^29; keys may be
   negative and k * stride may exceed 2^31. base: aligned to one value. Rows aligned to 16 bytes
   (base and stride) get 16-byte reductions on sm_90 and newer, to 8 bytes 8-byte ones. */
typedef struct arc_piece_f32 {
  float *base;
  int stride;
  int width;
} arc_piece_f32;

typedef struct arc__piece {
  char *base;
  int stride_bytes;
  int width;
  int vector_log2; /* bytes one reduction instruction may add: 4 (16), 3 (8) or 2 (4) */
} arc__piece;

/* The parameter whose sum a transposed reduction leaves in this lane; its address is one
   multiply-add. */
typedef struct arc__slot {
  char *base;
  int stride_bytes;
  int owned;
} arc__slot;

/* All pieces of a target, and this lane's slots. */
typedef struct arc__target {
  arc__piece piece[ARC_MAX_PIECES];
  int pieces;
  int width;
  bool by_pointer;             /* the papers' form: one pointer a value instead of pieces */
  const void *const *pointers; /* anything in an inactive lane, so never to be asked for null */
  int auto_threshold;          /* lanes with one key that are reduced; */
  int auto_keyed;              /* lanes, whatever their keys, that look at them */
  arc__slot slot;              /* after a reduction over the warp */
  arc__slot half;              /* after one over each half-warp */
} arc__target;

typedef struct arc_target_f32 {
  arc__target any;
} arc_target_f32;

/* Builds a target from one array of rows.
   Who calls: any lane, in any control flow; it belongs above the loop, once a thread. A target is
   bound to the calling lane: do not pass it to another one.
   Cost: about 20 instructions with a literal width. */
ARC__FN arc_target_f32 arc_target_f32_rows(float *base, int stride, int width);

/* Builds a target from 1 to 8 arrays: piece 0 holds a primitive's first parameters, and so on. The
   target's width is the sum of theirs. Who calls and cost as above, about 4 instructions a piece
   more. ARC_CHECK 1 reports a wrong count, width or stride. */
ARC__FN arc_target_f32 arc_target_f32_pieces(const arc_piece_f32 *pieces, int count);

/* The adds. `values` holds as many values as the target is wide; `threshold` is the balancing
   threshold: a group is reduced in registers if and only if it has at least this many lanes (0
   always, 33 never); ARC_BALANCE_THRESHOLD is the compile-time default to pass. With
   ARC_THRESHOLD_AUTO, the decision is arc's; ARC_THRESHOLD_CONTENDED is for rows that the whole
   grid adds to at once. On every path a group below the threshold goes to plain atomics. Source:
   ARC paper, sections 4.4 and 5.5. */

/* Adds, keys may differ from lane to lane.
   Who calls: all 32 lanes of the warp, converged or not, with the same target and threshold.
   active: whether this lane takes part; nothing else is read from a lane that does not. */
ARC__FN void arc_add_f32(arc_target_f32 target, int key, const float *values, bool active,
                         int threshold);

/* Adds, one key a warp: all active lanes hold the same key, so that no match is paid.
   Who calls: all 32 lanes of the warp. ARC_CHECK 2 reports keys that differ. */
ARC__FN void arc_add_uniform_f32(arc_target_f32 target, int key, const float *values, bool active,
                                 int threshold);

/* Adds for a partial warp: a block whose size is not a multiple of 32, lanes that have returned.
   Who calls: exactly the lanes named in lane_mask, with the same mask; keys may differ.
   A full mask is as fast as arc_add_f32; any other one is correct and reduces with the tree. */
ARC__FN void arc_add_masked_f32(arc_target_f32 target, int key, const float *values, bool active,
                                unsigned lane_mask, int threshold);

/* Adds from divergent code: whichever lanes get here, in any subset and interleaving; each is
   active. Lanes that happen to arrive together are reduced together, the others are correct all
   the same. Below sm_70 this is plain atomics. */
ARC__FN void arc_add_divergent_f32(arc_target_f32 target, int key, const float *values,
                                   int threshold);

/* The papers' form: value i goes to *pointers[i], and all lanes of one key hold the same pointers.
   Who calls: all 32 lanes of the warp. Cost: no vector reductions; the transposed path pays two
   shuffles a pointer. Prefer a target. */
ARC__FN void arc_add_pointers_f32(float *const *pointers, int width, int key, const float *values,
                                  bool active, int threshold);

/* Each add by path, whatever ARC_PATH says: arc_add_atomic_f32, arc_add_uniform_tree_f32,
   arc_add_masked_auto_f32, arc_add_divergent_serialized_f32, arc_add_pointers_butterfly_f32, ...
   (atomic, serialized, butterfly, transposed, tree, auto). Where a path cannot serve (butterfly:
   several keys or a partial warp; transposed: a partial warp), the papers' fallback does: plain
   atomics for butterfly, the tree for transposed. */

/* Adds value to *address without a result: the scalar drop-in for atomicAdd.
   Who calls: any lane. address: global or shared memory, aligned to 4 bytes. */
ARC__FN void arc_atomic_add_f32(float *address, float value);

/* ------------------------------------------------------------------------------------------ */
/* >>platform                                                                                   */

#if defined(__CUDA_ARCH__)
#define ARC__ARCH __CUDA_ARCH__
#elif defined(SIMT_ARCH)
#define ARC__ARCH SIMT_ARCH
#else
#define ARC__ARCH 0 /* nvcc's host pass: parsed, never run */
#endif

#if defined(__CUDACC__)
#define ARC__UNROLL _Pragma("unroll")
#else
#define ARC__UNROLL
#endif

/* for i in [0, count), where count never exceeds the literal `most`. The literal bound lets every
   compiler unroll before it knows count, so that arrays indexed by i are registers. */
#define ARC__EACH(i, count, most) ARC__UNROLL for (int i = 0; i < (most); ++i) if (i < (count))

#define ARC__ALL_LANES 0xffffffffu
#define ARC__CHUNK 32 /* values reduced at a time: one for each lane to own */

/* Words to reduce, in registers. Host compilers do not see that each is written before it is
   read. */
#if defined(__CUDACC__)
#define ARC__WORDS(w, count) unsigned w[count]
#else
#define ARC__WORDS(w, count) unsigned w[count] = {0u}
#endif

/* A failed check ends the way a device assert() does: message, file and line reach stderr when the
   host next synchronises, and the launch fails. __assertfail is what the CUDA driver provides for
   it; NVRTC declares it by itself. */
#if defined(__CUDACC__)
#if ARC_CHECK > 0 && !defined(__CUDACC_RTC__)
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line,
                                        const char *function, size_t char_bytes);
#endif
#define ARC__FAIL(message) __assertfail(message, __FILE__, __LINE__, __func__, 1)
#else
#define ARC__FAIL(message) SIMT_CHECK_FAILED(message)
#endif
#if ARC_CHECK == 0
#define ARC__CHECK(level, condition, message) ((void)0)
#else
#define ARC__CHECK(level, condition, message)                             \
  do {                                                                    \
    if (ARC_CHECK >= (level) && !(condition)) ARC__FAIL("arc: " message); \
  } while (0)
#endif

ARC__FN int arc__lane(void) {
#if defined(__CUDA_ARCH__)
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u);
#endif
}

ARC__FN unsigned arc__lanes_below(int lane) { return (1u << lane) - 1u; }

/* mask must not be empty. The highest lane is one instruction cheaper to find than the lowest. */
ARC__FN int arc__lowest(unsigned mask) { return __ffs((int)mask) - 1; }
ARC__FN int arc__highest(unsigned mask) { return 31 - __clz((int)mask); }

/* base + key * stride, 64 bits wide: one multiply-add on the device, where a compiler left to
   itself shares the sign extension of key between its uses and pays three instructions for each. */
ARC__FN char *arc__offset(char *base, int key, int stride_bytes) {
#if defined(__CUDA_ARCH__)
  long long offset;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(key), "r"(stride_bytes));
  return base + offset;
#else
  return base + (long long)key * stride_bytes;
#endif
}

/* The lanes of `present` that hold this lane's key; 0 for lanes outside it. All of `lanes` call. */
ARC__FN unsigned arc__group(unsigned lanes, unsigned present, int key, bool active) {
#if ARC__ARCH >= 700
  unsigned group = __match_any_sync(lanes, active ? key : 0) & present;
  return active ? group : 0u;
#else
  unsigned group = 0u;
  for (unsigned rest = present; rest != 0u;) {
    int first = __shfl_sync(lanes, key, arc__highest(rest));
    unsigned same = __ballot_sync(lanes, active && key == first);
    if (active && key == first) group = same;
    rest &= ~same;
  }
  return group;
#endif
}

/* ------------------------------------------------------------------------------------------ */
/* >>values                                                                                     */
/* Every type adds as 32-bit words, so that the paths are written once: they move words, and only
   the functions of this section know what a word means. kind is always a literal. */

#define ARC__KIND_F32 1

/* x + neutral is x, bit for bit: negative zero, since -0 + 0 would be +0. */
ARC__FN unsigned arc__neutral(int kind) { return kind == ARC__KIND_F32 ? 0x80000000u : 0u; }

ARC__FN unsigned arc__sum(int kind, unsigned a, unsigned b) {
  return kind == ARC__KIND_F32 ? __float_as_uint(__uint_as_float(a) + __uint_as_float(b)) : a + b;
}

/* Inlined on a host, a run-time width stands beside the caller's array of 9, and gcc warns of the
   chunk of values 32 and up that such a width never enters. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
ARC__FN unsigned arc__load(int kind, const void *values, int i) {
  return kind == ARC__KIND_F32 ? __float_as_uint(((const float *)values)[i])
                               : ((const unsigned *)values)[i];
}
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC diagnostic pop
#endif

/* Of *low and high a lane keeps one, in *low, and sends the other, which is returned: the lower
   lane (upper is 0) keeps *low, the upper one high. On the device the word kept moves by an
   addition, because selects are what the reduction has most of, and their unit its bound; but only
   `in_place`: a word that another branch still needs would be copied first, and a select copies. */
ARC__FN unsigned arc__part(int kind, bool in_place, int upper, unsigned *low, unsigned high) {
#if defined(__CUDA_ARCH__)
  if (kind == ARC__KIND_F32 && in_place) {
    float keep = __uint_as_float(*low), send;
    asm("{\n\t.reg .pred upper;\n\t"
        "setp.ne.s32 upper, %3, 0;\n\t"
        "selp.f32 %1, %0, %2, upper;\n\t"
        "@upper add.f32 %0, %2, 0f80000000;\n\t}"
        : "+f"(keep), "=&f"(send)
        : "f"(__uint_as_float(high)), "r"(upper));
    *low = __float_as_uint(keep);
    return __float_as_uint(send);
  }
#endif
  (void)kind, (void)in_place;
  unsigned send = upper ? *low : high;
  *low = upper ? high : *low;
  return send;
}

/* w plus the word of the lane `distance` below, if that is lane `start` or a higher one; else w.
   The whole warp calls. On the device the shuffle itself tells whether it is. */
ARC__FN unsigned arc__sum_from_below(int kind, unsigned w, int distance, int start, int lane) {
#if defined(__CUDA_ARCH__)
  if (kind == ARC__KIND_F32) {
    float sum = __uint_as_float(w);
    asm volatile(
        "{\n\t.reg .pred inside;\n\t.reg .f32 other;\n\t"
        "shfl.sync.up.b32 other|inside, %0, %1, %2, 0xffffffff;\n\t"
        "@inside add.f32 %0, %0, other;\n\t}"
        : "+f"(sum)
        : "r"(distance), "r"(start));
    return __float_as_uint(sum);
  }
#endif
  unsigned other = __shfl_up_sync(ARC__ALL_LANES, w, distance);
  return lane - distance >= start ? arc__sum(kind, w, other) : w;
}

/* One reduction instruction, one value. */
ARC__FN void arc__red(int kind, char *address, unsigned w) {
  (void)kind;
#if ARC_SCOPE == ARC_SCOPE_SYSTEM && ARC__ARCH >= 600 && defined(__CUDA_ARCH__)
  atomicAdd_system((float *)address, __uint_as_float(w));
#else
  atomicAdd((float *)address, __uint_as_float(w));
#endif
}

#if ARC_SCOPE == ARC_SCOPE_SYSTEM
#define ARC__PTX_SCOPE "sys"
#else
#define ARC__PTX_SCOPE "gpu"
#endif

/* Two and four values; address in global memory, aligned to 8 and 16 bytes; sm_90 and newer. */
ARC__FN void arc__red2(int kind, char *address, const unsigned *w) {
  (void)kind;
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 900
  asm volatile("red.relaxed." ARC__PTX_SCOPE
               ".global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(address)),
               "f"(__uint_as_float(w[0])), "f"(__uint_as_float(w[1]))
               : "memory");
#elif ARC__ARCH >= 900
  simt_red_add_v2_f32((float *)address, __uint_as_float(w[0]), __uint_as_float(w[1]));
#else
  arc__red(kind, address, w[0]);
  arc__red(kind, address + 4, w[1]);
#endif
}

ARC__FN void arc__red4(int kind, char *address, const unsigned *w) {
  (void)kind;
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 900
  asm volatile("red.relaxed." ARC__PTX_SCOPE ".global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(address)),
               "f"(__uint_as_float(w[0])), "f"(__uint_as_float(w[1])), "f"(__uint_as_float(w[2])),
               "f"(__uint_as_float(w[3]))
               : "memory");
#elif ARC__ARCH >= 900
  simt_red_add_v4_f32((float *)address, __uint_as_float(w[0]), __uint_as_float(w[1]),
                      __uint_as_float(w[2]), __uint_as_float(w[3]));
#else
  arc__red2(kind, address, w);
  arc__red2(kind, address + 8, w + 2);
#endif
}

/* Copies `count` values from `first` on into words. A lane that is not active gets neutral ones,
   and nothing is read from it, unless the caller knows better (`trusted`). */
ARC__FN void arc__gather(int kind, unsigned *w, const void *values, int first, int count,
                         bool active, bool trusted) {
  if (trusted) {
    ARC__EACH(i, count, ARC__CHUNK) w[i] = arc__load(kind, values, first + i);
  } else {
    ARC__EACH(i, count, ARC__CHUNK)
      w[i] = active ? arc__load(kind, values, first + i) : arc__neutral(kind);
  }
}

/* ------------------------------------------------------------------------------------------ */
/* >>target                                                                                     */

/* Which of `count` (1..lanes) values the transposed reduction over `lanes` (32 or 16) leaves in
   `lane`; -1: none. Walks the exchanges backwards, from the one word that is left to its place
   among the first ones. */
ARC__FN int arc__owned_value(int lanes, int count, int lane) {
  int live[5];
  live[0] = count;
  ARC__UNROLL
  for (int step = 1; step < 5; ++step) live[step] = (live[step - 1] + 1) / 2;
  int place = 0;
  bool owner = true;
  ARC__UNROLL
  for (int step = 4; step >= 0; --step) {
    if (lanes >> step < 2) continue;
    int half = live[step] / 2;
    bool upper = (lane & (lanes / 2 >> step)) != 0;
    if (place < half) {
      place += upper ? half : 0;
    } else { /* the leftover of an odd count: both partners hold its sum, the lower one owns it */
      place = 2 * half;
      owner = owner && !upper;
    }
  }
  return owner ? place : -1;
}

/* How many bytes one instruction may add to this piece, as a power of two: the largest up to 16
   that divides both base and stride. (A population count, because a compiler that finds the plain
   minimum cheap computes it anew in every call.) */
ARC__FN int arc__vector_log2(const arc__piece *p) {
#if ARC__ARCH >= 900 && ARC_VECTOR_ATOMICS
#if defined(__CUDA_ARCH__)
  bool global = __isGlobal(p->base) != 0;
#else
  bool global = simt_is_global(p->base) != 0;
#endif
  unsigned bits = (unsigned)(unsigned long long)p->base | (unsigned)p->stride_bytes | 16u;
  return global ? __popc((bits & (0u - bits)) - 1u) : 2;
#else
  (void)p;
  return 2;
#endif
}

ARC__FN arc__target arc__target_begin(void) {
  arc__target t;
  t.pieces = 0;
  t.width = 0;
  t.by_pointer = false;
  t.pointers = 0;
  t.auto_threshold = 0;
  t.auto_keyed = 0;
  return t;
}

ARC__FN void arc__target_piece(arc__target *t, int i, void *base, int stride, int width,
                               int value_bytes) {
  ARC__CHECK(1, width >= 1, "the width of a piece must be at least 1");
  ARC__CHECK(1, stride > -(1 << 29) && stride < (1 << 29),
             "the stride of a piece must lie between -2^29 and 2^29");
  arc__piece *p = &t->piece[i];
  p->base = (char *)base;
  p->stride_bytes = stride * value_bytes;
  p->width = width;
  p->vector_log2 = arc__vector_log2(p);
  t->pieces = i + 1;
  t->width += width;
}

/* Instructions with which the atomic path adds one lane's values. */
ARC__FN int arc__requests(const arc__target *t) {
  if (t->by_pointer) return t->width;
  int requests = 0;
  ARC__EACH(i, t->pieces, ARC_MAX_PIECES) {
    int width = t->piece[i].width, log2 = t->piece[i].vector_log2;
    requests += log2 == 4   ? width / 4 + width % 4 / 2 + width % 2
                : log2 == 3 ? width / 2 + width % 2
                            : width;
  }
  return requests;
}

/* The vectors, in bytes, that bring most of a lane's values to memory on the atomic path. */
ARC__FN int arc__vector_bytes(const arc__target *t) {
  int requests = arc__requests(t);
  if (t->width == 1) return 16; /* one request, as if */
  return 3 * requests <= t->width + 1 ? 16 : 3 * requests <= 2 * t->width ? 8 : 4;
}

/* arc's own choices, from the tables at the end of arc_policy.cuh: the newest measured architecture
   that is not newer than this one. */
#if ARC__ARCH >= 900
#define ARC__AUTO_THRESHOLD(width, bytes) ARC_AUTO_THRESHOLD_SM90(width, bytes)
#define ARC__AUTO_KEYED(width, bytes) ARC_AUTO_KEYED_SM90(width, bytes)
#else
#define ARC__AUTO_THRESHOLD(width, bytes) ARC_AUTO_THRESHOLD_MODEL(width, bytes)
#define ARC__AUTO_KEYED(width, bytes) ARC_AUTO_KEYED_MODEL(width, bytes)
#endif

/* (Population counts once more.) */
ARC__FN void arc__target_choices(arc__target *t) {
  int bytes = arc__vector_bytes(t);
  (void)bytes;
  t->auto_threshold = __popc(arc__lanes_below(ARC__AUTO_THRESHOLD(t->width, bytes)));
  t->auto_keyed = __popc(arc__lanes_below(ARC__AUTO_KEYED(t->width, bytes)));
}

/* The slot of this lane among `lanes` that reduce the target's first values together. */
ARC__FN arc__slot arc__slot_of(const arc__target *t, int lanes, int value_bytes) {
  int owned = arc__owned_value(lanes, t->width < lanes ? t->width : lanes, arc__lane());
  int first = 0;
  arc__slot slot = {t->piece[0].base, t->piece[0].stride_bytes, owned >= 0};
  ARC__EACH(i, t->pieces, ARC_MAX_PIECES) {
    const arc__piece *p = &t->piece[i];
    if (owned >= first) { /* the last piece that begins at or below it */
      slot.base = p->base + (long long)(owned - first) * value_bytes;
      slot.stride_bytes = p->stride_bytes;
    }
    first += p->width;
  }
  return slot;
}

ARC__FN void arc__target_end(arc__target *t, int value_bytes) {
  arc__target_choices(t);
  t->slot = arc__slot_of(t, ARC__CHUNK, value_bytes);
  t->half = arc__slot_of(t, ARC__CHUNK / 2, value_bytes);
}

ARC__FN arc_target_f32 arc_target_f32_rows(float *base, int stride, int width) {
  arc_target_f32 t;
  t.any = arc__target_begin();
  arc__target_piece(&t.any, 0, base, stride, width, 4);
  arc__target_end(&t.any, 4);
  return t;
}

ARC__FN arc_target_f32 arc_target_f32_pieces(const arc_piece_f32 *pieces, int count) {
  ARC__CHECK(1, count >= 1 && count <= ARC_MAX_PIECES, "a target has 1 to 8 pieces");
  arc_target_f32 t;
  t.any = arc__target_begin();
  ARC__EACH(i, count, ARC_MAX_PIECES)
    arc__target_piece(&t.any, i, pieces[i].base, pieces[i].stride, pieces[i].width, 4);
  arc__target_end(&t.any, 4);
  return t;
}

ARC__FN char *arc__row(const arc__piece *p, int key) {
  return arc__offset(p->base, key, p->stride_bytes);
}

/* ------------------------------------------------------------------------------------------ */
/* >>emit                                                                                       */

/* Values of the chunk that starts at `first`, of `most` at a time. */
ARC__FN int arc__chunk_width(const arc__target *t, int first, int most) {
  return t->width - first < most ? t->width - first : most;
}

/* Adds words [0, count) to consecutive values at address, up to 2^vector_log2 bytes (a literal) a
   request. */
ARC__FN void arc__emit_vectors(int kind, char *address, const unsigned *w, int count,
                               int vector_log2) {
  int fours = vector_log2 >= 4 ? count / 4 : 0;
  int twos = vector_log2 >= 3 ? (count - 4 * fours) / 2 : 0;
  ARC__EACH(i, fours, ARC__CHUNK / 4) arc__red4(kind, address + 16 * i, w + 4 * i);
  ARC__EACH(i, 2 * fours + twos, ARC__CHUNK / 2)
    if (i >= 2 * fours) arc__red2(kind, address + 8 * i, w + 2 * i);
  ARC__EACH(i, count, ARC__CHUNK)
    if (i >= 4 * fours + 2 * twos) arc__red(kind, address + 4 * i, w[i]);
}

ARC__FN void arc__emit_run(int kind, char *address, const unsigned *w, int count, int vector_log2) {
  if (vector_log2 >= 4 && count >= 4)
    arc__emit_vectors(kind, address, w, count, 4);
  else if (vector_log2 >= 3 && count >= 2)
    arc__emit_vectors(kind, address, w, count, 3);
  else
    arc__emit_vectors(kind, address, w, count, 2);
}

/* Adds words [0, count) to the values [first, first + count) of a key. */
ARC__FN void arc__emit(int kind, const arc__target *t, int key, const unsigned *w, int first,
                       int count, bool vectors) {
  if (t->by_pointer) {
    ARC__EACH(i, count, ARC__CHUNK) arc__red(kind, (char *)t->pointers[first + i], w[i]);
    return;
  }
  int begin = 0; /* the piece's first value, counted in the whole target */
  ARC__EACH(i, t->pieces, ARC_MAX_PIECES) {
    const arc__piece *p = &t->piece[i];
    int from = begin > first ? begin : first;
    int to = begin + p->width < first + count ? begin + p->width : first + count;
    if (from < to) {
      int vector_log2 = vectors && (from - begin) % 4 == 0 ? p->vector_log2 : 2;
      arc__emit_run(kind, arc__row(p, key) + 4 * (from - begin), w + (from - first), to - from,
                    vector_log2);
    }
    begin += p->width;
  }
}

/* The address of one value of a key. */
ARC__FN char *arc__value_address(const arc__target *t, int key, int value) {
  char *address = arc__row(&t->piece[0], key) + 4ll * value;
  int begin = 0;
  ARC__EACH(i, t->pieces, ARC_MAX_PIECES) {
    const arc__piece *p = &t->piece[i];
    if (value >= begin) address = arc__row(p, key) + 4ll * (value - begin);
    begin += p->width;
  }
  return address;
}

ARC__FN void arc__chunk_plain(int kind, const arc__target *t, int key, const void *values,
                              bool vectors, int first) {
  int count = arc__chunk_width(t, first, ARC__CHUNK);
  ARC__WORDS(w, ARC__CHUNK);
  arc__gather(kind, w, values, first, count, true, true);
  arc__emit(kind, t, key, w, first, count, vectors);
}

/* Every path treats the first chunk apart from the others, so that a literal width up to 32 meets
   no loop and its words stay in registers. */
ARC__FN void arc__add_plain(int kind, const arc__target *t, int key, const void *values,
                            bool vectors) {
  arc__chunk_plain(kind, t, key, values, vectors, 0);
  for (int first = ARC__CHUNK; first < t->width; first += ARC__CHUNK)
    arc__chunk_plain(kind, t, key, values, vectors, first);
}

/* ------------------------------------------------------------------------------------------ */
/* >>serialized                                                                                 */
/* SW-S (ARC paper, 5.5.1): one leader a group, its highest lane, walks the others. All groups walk
   at once. lanes: who calls; group: 0 for a lane that stays out. The leader ends with the sums. */
ARC__FN void arc__reduce_serialized(int kind, unsigned *w, int count, unsigned lanes,
                                    unsigned group, int lane) {
  bool leader = group != 0u && lane == arc__highest(group);
  unsigned rest = group != 0u ? group & ~(1u << arc__highest(group)) : 0u;
  for (; __any_sync(lanes, rest != 0u); rest &= rest - 1u) {
    int source = rest != 0u ? arc__lowest(rest) : lane;
    ARC__EACH(i, count, ARC__CHUNK) {
      unsigned other = __shfl_sync(lanes, w[i], source);
      if (leader && rest != 0u) w[i] = arc__sum(kind, w[i], other);
    }
  }
}

/* ------------------------------------------------------------------------------------------ */
/* >>butterfly                                                                                  */
/* SW-B (ARC paper, 5.5.2): five shuffles a value, and every lane ends with every sum. All 32
   lanes take part, inactive ones with neutral words. */
ARC__FN void arc__reduce_butterfly(int kind, unsigned *w, int count) {
  ARC__EACH(i, count, ARC__CHUNK) {
    ARC__UNROLL
    for (int distance = 16; distance >= 1; distance /= 2)
      w[i] = arc__sum(kind, w[i], __shfl_xor_sync(ARC__ALL_LANES, w[i], distance));
  }
}

/* ------------------------------------------------------------------------------------------ */
/* >>transposed                                                                                 */
/* A reduce-scatter over the warp: in each of five exchanges with partner lanes 16, 8, 4, 2 and 1
   apart, a lane keeps one half of its live words and trades the other half for the partner's
   share of the kept one. All words shrink to one, S(n) shuffles instead of 5 n, and lane l ends
   with the sum of value arc__owned_value(count, l). */
ARC__FN int arc__exchange(int kind, bool in_place, unsigned *w, int live, int distance, int lane) {
  int half = live / 2;
  int upper = lane & distance;
  ARC__EACH(i, half, ARC__CHUNK / 2) {
    unsigned send = arc__part(kind, in_place, upper, &w[i], w[half + i]);
    w[i] = arc__sum(kind, w[i], __shfl_xor_sync(ARC__ALL_LANES, send, distance));
  }
  if (live % 2 != 0) {
    unsigned both = w[2 * half];
    w[half] = arc__sum(kind, both, __shfl_xor_sync(ARC__ALL_LANES, both, distance));
  }
  return half + live % 2;
}

/* in_place: nobody needs the words but this reduction. */
ARC__FN unsigned arc__reduce_transposed(int kind, bool in_place, unsigned *w, int lanes, int count,
                                        int lane) {
  int live = count;
  ARC__UNROLL
  for (int distance = lanes / 2; distance >= 1; distance /= 2)
    live = arc__exchange(kind, in_place || distance < lanes / 2, w, live, distance, lane);
  return w[0];
}

/* The address of the value this lane owns, in the papers' form: of all the pointers that lane
   `source` holds, the one that belongs to it. gives: this lane is some lane's source. */
ARC__FN char *arc__owned_pointer(const arc__target *t, int first, int count, int owned, int source,
                                 bool gives) {
  unsigned long long address = 0u;
  ARC__EACH(i, count, ARC__CHUNK) {
    unsigned long long mine = gives ? (unsigned long long)t->pointers[first + i] : 0u;
    unsigned long long its = __shfl_sync(ARC__ALL_LANES, mine, source);
    if (owned == i) address = its;
  }
  return (char *)address;
}

/* Adds the sum that a transposed reduction over `lanes` (32 or 16) of the chunk at `first` left in
   this lane. key: that of the group it is about; source, gives: as above. */
ARC__FN void arc__emit_owned(int kind, const arc__target *t, int lanes, int key, unsigned sum,
                             int first, int count, int source, bool gives, int lane) {
  if (!t->by_pointer && first == 0) {
    const arc__slot *slot = lanes == ARC__CHUNK ? &t->slot : &t->half;
    if (slot->owned) arc__red(kind, arc__offset(slot->base, key, slot->stride_bytes), sum);
    return;
  }
  int owned = arc__owned_value(lanes, count, lane);
  char *address = t->by_pointer ? arc__owned_pointer(t, first, count, owned, source, gives)
                                : arc__value_address(t, key, first + owned);
  if (owned >= 0) arc__red(kind, address, sum);
}

ARC__FN void arc__chunk_transposed(int kind, bool in_place, const arc__target *t, int key,
                                   const void *values, bool member, bool trusted, int source,
                                   int lane, int first) {
  int count = arc__chunk_width(t, first, ARC__CHUNK);
  ARC__WORDS(w, ARC__CHUNK);
  arc__gather(kind, w, values, first, count, member, trusted);
  unsigned sum = arc__reduce_transposed(kind, in_place, w, ARC__CHUNK, count, lane);
  arc__emit_owned(kind, t, ARC__CHUNK, key, sum, first, count, source, lane == source, lane);
}

/* One transposed reduction of one group of a full warp. group: its lanes, of which each knows the
   key; known: every lane does. trusted: lanes outside hold zeros, or there are none. in_place: no
   other branch of the caller reads the values, or they are copied because they are masked. */
ARC__FN void arc__add_group_transposed(int kind, bool in_place, const arc__target *t, int key,
                                       const void *values, bool member, bool trusted,
                                       unsigned group, bool known, int lane) {
  if (t->width == 1) { /* every lane ends with the one sum: a lane of the group has the key too */
    ARC__WORDS(w, 1);
    arc__gather(kind, w, values, 0, 1, member, trusted);
    arc__reduce_transposed(kind, true, w, ARC__CHUNK, 1, lane);
    if (group >> lane == 1u) arc__emit(kind, t, key, w, 0, 1, false);
    return;
  }
  int source = known && !t->by_pointer ? 0 : arc__highest(group);
  if (!known) key = __shfl_sync(ARC__ALL_LANES, key, source);
  arc__chunk_transposed(kind, in_place, t, key, values, member, trusted, source, lane, 0);
  for (int first = ARC__CHUNK; first < t->width; first += ARC__CHUNK)
    arc__chunk_transposed(kind, in_place, t, key, values, member, trusted, source, lane, first);
}

/* Two groups at once. In the first exchange, lane and lane ^ 16 trade so that the lower half-warp
   keeps the group of the highest leader and the upper one the other; then each half reduces 16
   lanes. About the shuffles of one and a half reductions, and one request. */
ARC__FN void arc__chunk_pair(int kind, const arc__target *t, int key, const void *values,
                             bool stays, bool leaves, int source, bool leader, int lane,
                             int first) {
  int count = arc__chunk_width(t, first, ARC__CHUNK / 2);
  ARC__WORDS(w, ARC__CHUNK / 2);
  ARC__EACH(i, count, ARC__CHUNK / 2) {
    unsigned keep = stays ? arc__load(kind, values, first + i) : arc__neutral(kind);
    unsigned send = leaves ? arc__load(kind, values, first + i) : arc__neutral(kind);
    w[i] = arc__sum(kind, keep, __shfl_xor_sync(ARC__ALL_LANES, send, ARC__CHUNK / 2));
  }
  unsigned sum = arc__reduce_transposed(kind, true, w, ARC__CHUNK / 2, count, lane);
  arc__emit_owned(kind, t, ARC__CHUNK / 2, key, sum, first, count, source, leader, lane);
}

/* present: the lanes of both groups; leaders: the highest lane of each. */
ARC__FN void arc__add_pair_transposed(int kind, const arc__target *t, int key, const void *values,
                                      bool active, unsigned present, unsigned group,
                                      unsigned leaders, bool leader, int lane) {
  bool upper = (lane & ARC__CHUNK / 2) != 0;
  bool first_group = group > (present ^ group); /* it holds the highest lane */
  bool stays = active && first_group != upper, leaves = active && first_group == upper;
  unsigned low = leaders & (0u - leaders);
  int source = arc__highest(upper ? low : leaders ^ low);
  key = __shfl_sync(ARC__ALL_LANES, key, source);
  arc__chunk_pair(kind, t, key, values, stays, leaves, source, leader, lane, 0);
  for (int first = ARC__CHUNK / 2; first < t->width; first += ARC__CHUNK / 2)
    arc__chunk_pair(kind, t, key, values, stays, leaves, source, leader, lane, first);
}

/* ------------------------------------------------------------------------------------------ */
/* >>tree                                                                                       */
/* All groups at once. leaders: the highest lane of each group; it ends with the group's sums. Where
   all lanes that are present lead, nobody shares a key.

   In runs: where each group has a stretch of the warp for itself, as neighbours tend to, a lane
   adds what the lane 1, 2, 4, 8 and 16 below holds if that is not below the group's `start`. */
#define ARC__ROUNDS 5

ARC__FN void arc__reduce_runs(int kind, unsigned *w, int count, int start, bool leader, int lane) {
  int reach = leader ? lane - start : 0;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    int distance = 1 << round;
    bool asks = round > 0 && count > 2; /* a round of two values costs no more than the vote */
    if (asks && !__any_sync(ARC__ALL_LANES, reach >= distance)) break;
    ARC__EACH(i, count, ARC__CHUNK) w[i] = arc__sum_from_below(kind, w[i], distance, start, lane);
  }
}

/* By pointer jumping, on any subset of lanes: each lane knows the next lower one of its group, adds
   what it holds, and then points where that one pointed: after r rounds a lane holds the sum of 2^r
   lanes of its group. No loop: with one, the compiler loads a kernel's constants anew around it. */
#define ARC__NO_LANE 32u /* marks a lane that nobody follows; what a shuffle reads is then itself */

ARC__FN void arc__reduce_jumping(int kind, unsigned *w, int count, unsigned lanes, unsigned group,
                                 int lane) {
  unsigned lower = group & arc__lanes_below(lane);
  unsigned next = lower != 0u ? (unsigned)arc__highest(lower) : ARC__NO_LANE | (unsigned)lane;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    if (round > 0 && !__any_sync(lanes, next < ARC__NO_LANE)) break;
    bool takes = next < ARC__NO_LANE;
    ARC__EACH(i, count, ARC__CHUNK) {
      unsigned other = __shfl_sync(lanes, w[i], (int)next);
      if (takes) w[i] = arc__sum(kind, w[i], other);
    }
    next = __shfl_sync(lanes, next, (int)next);
  }
}

ARC__FN void arc__reduce_tree(int kind, unsigned *w, int count, unsigned lanes, unsigned present,
                              unsigned group, unsigned leaders, int lane) {
  if (leaders == present) return;
  if (lanes == ARC__ALL_LANES) {
    unsigned others = leaders & arc__lanes_below(lane);         /* lower groups lead there */
    if (__all_sync(lanes, others <= (~group & (group - 1u)))) { /* all below the group's lowest */
      int start = arc__highest(2u * others + 1u);
      arc__reduce_runs(kind, w, count, start, group >> lane == 1u, lane);
      return;
    }
  }
  arc__reduce_jumping(kind, w, count, lanes, group, lane);
}

ARC__FN void arc__chunk_groups(int kind, bool serialized, const arc__target *t, int key,
                               const void *values, bool active, unsigned lanes, unsigned present,
                               unsigned group, unsigned leaders, int lane, int first) {
  int count = arc__chunk_width(t, first, ARC__CHUNK);
  ARC__WORDS(w, ARC__CHUNK);
  arc__gather(kind, w, values, first, count, active, ARC_INACTIVE_IS_ZERO);
  if (serialized)
    arc__reduce_serialized(kind, w, count, lanes, group, lane);
  else
    arc__reduce_tree(kind, w, count, lanes, present, group, leaders, lane);
  if (group >> lane == 1u) arc__emit(kind, t, key, w, first, count, !serialized);
}

/* Reduces the groups with the tree, or serially, and the leader of each emits its sums. group: 0
   for an inactive lane; leaders: needed by the tree only. */
ARC__FN void arc__add_groups(int kind, bool serialized, const arc__target *t, int key,
                             const void *values, bool active, unsigned lanes, unsigned present,
                             unsigned group, unsigned leaders, int lane) {
  arc__chunk_groups(kind, serialized, t, key, values, active, lanes, present, group, leaders, lane,
                    0);
  for (int first = ARC__CHUNK; first < t->width; first += ARC__CHUNK)
    arc__chunk_groups(kind, serialized, t, key, values, active, lanes, present, group, leaders,
                      lane, first);
}

/* ------------------------------------------------------------------------------------------ */
/* >>auto                                                                                       */

#define ARC__KEYED 1   /* keys may differ */
#define ARC__UNIFORM 2 /* one key a warp, promised */

/* The paths below share their parameters: `lanes` all call; `present` are the active ones among
   them, at least one unless said otherwise; threshold is resolved. */

/* The lanes of a group below the threshold become groups of one, which the reductions leave
   alone. */
ARC__FN unsigned arc__large_or_alone(unsigned group, int threshold, bool active, int lane) {
  return !active || __popc(group) >= threshold ? group : 1u << lane;
}

ARC__FN void arc__path_grouped(int kind, bool serialized, int keys, const arc__target *t, int key,
                               const void *values, bool active, unsigned lanes, unsigned present,
                               int threshold, int lane) {
  unsigned group =
      keys == ARC__UNIFORM ? (active ? present : 0u) : arc__group(lanes, present, key, active);
  group = arc__large_or_alone(group, threshold, active, lane);
  unsigned leaders = serialized ? 0u : __ballot_sync(lanes, group >> lane == 1u);
  arc__add_groups(kind, serialized, t, key, values, active, lanes, present, group, leaders, lane);
}

ARC__FN void arc__chunk_butterfly(int kind, const arc__target *t, int key, const void *values,
                                  bool active, unsigned present, int lane, int first) {
  int count = arc__chunk_width(t, first, ARC__CHUNK);
  ARC__WORDS(w, ARC__CHUNK);
  arc__gather(kind, w, values, first, count, active, ARC_INACTIVE_IS_ZERO);
  arc__reduce_butterfly(kind, w, count);
  if (lane == arc__highest(present)) arc__emit(kind, t, key, w, first, count, false);
}

ARC__FN void arc__path_butterfly(int kind, int keys, const arc__target *t, int key,
                                 const void *values, bool active, unsigned lanes, unsigned present,
                                 int threshold, int lane) {
  bool one_key = lanes == ARC__ALL_LANES;
  if (keys == ARC__KEYED) {
    unsigned group = arc__group(lanes, present, key, active);
    one_key = one_key && __all_sync(lanes, !active || group == present) != 0;
  }
  if (!one_key || __popc(present) < threshold) {
    if (active) arc__add_plain(kind, t, key, values, false);
    return;
  }
  arc__chunk_butterfly(kind, t, key, values, active, present, lane, 0);
  for (int first = ARC__CHUNK; first < t->width; first += ARC__CHUNK)
    arc__chunk_butterfly(kind, t, key, values, active, present, lane, first);
}

/* One key a warp. Where every lane is active, or holds zeros, nothing is masked: one code for both.
   On the path auto other branches read the values too. */
ARC__FN void arc__add_present_transposed(int kind, int path, int keys, const arc__target *t,
                                         int key, const void *values, bool active, unsigned present,
                                         int lane) {
  bool full = present == ARC__ALL_LANES, known = keys == ARC__UNIFORM && ARC_INACTIVE_HAS_KEY;
  if (t->width > 1 && (full || (ARC_INACTIVE_IS_ZERO && !t->by_pointer))) {
    if (!known && !full) key = __shfl_sync(ARC__ALL_LANES, key, arc__highest(present));
    arc__add_group_transposed(kind, path != ARC_PATH_AUTO, t, key, values, true, true, present,
                              true, lane);
  } else {
    arc__add_group_transposed(kind, true, t, key, values, active, ARC_INACTIVE_IS_ZERO, present,
                              known, lane);
  }
}

/* One group after the other; groups below the threshold go to plain atomics. */
ARC__FN void arc__add_each_transposed(int kind, const arc__target *t, int key, const void *values,
                                      bool active, unsigned present, int threshold, int lane) {
  bool plain = false;
  for (unsigned rest = present; rest != 0u;) {
    int source = arc__highest(rest);
    int group_key = __shfl_sync(ARC__ALL_LANES, key, source);
    bool member = active && key == group_key;
    unsigned group = __ballot_sync(ARC__ALL_LANES, member);
    if (__popc(group) >= threshold)
      arc__add_group_transposed(kind, true, t, group_key, values, member, false, group, true, lane);
    else
      plain = plain || member;
    rest &= ~group;
  }
  if (plain) arc__add_plain(kind, t, key, values, true);
}

ARC__FN void arc__path_transposed(int kind, int path, int keys, const arc__target *t, int key,
                                  const void *values, bool active, unsigned lanes, unsigned present,
                                  int threshold, int lane) {
  if (lanes != ARC__ALL_LANES) {
    arc__path_grouped(kind, false, keys, t, key, values, active, lanes, present, threshold, lane);
  } else if (keys == ARC__KEYED) {
    arc__add_each_transposed(kind, t, key, values, active, present, threshold, lane);
  } else if (__popc(present) >= threshold) {
    arc__add_present_transposed(kind, path, keys, t, key, values, active, present, lane);
  } else if (active) {
    arc__add_plain(kind, t, key, values, true);
  }
}

/* Keys may differ, and there may be no active lane. So few lanes that no reduction can pay do not
   even look at their keys. One group or two get a transposed reduction, more are reduced all at
   once by the tree. If the threshold is arc's to choose, a reduction must pay for all lanes
   together. */
ARC__FN void arc__auto_keyed(int kind, const arc__target *t, int key, const void *values,
                             bool active, unsigned lanes, unsigned present, int threshold,
                             int lane) {
  bool automatic = threshold == ARC_THRESHOLD_AUTO;
  int least = automatic ? t->auto_keyed : threshold;
  if (__popc(present) < (least > 1 ? least : 1)) {
    if (active) arc__add_plain(kind, t, key, values, true);
    return;
  }
  unsigned group = arc__group(lanes, present, key, active);
  bool leader = group >> lane == 1u;
  unsigned leaders = __ballot_sync(lanes, leader);
  if (lanes == ARC__ALL_LANES && __popc(leaders) <= 2) {
    if ((leaders & (leaders - 1u)) == 0u) {
      arc__add_present_transposed(kind, ARC_PATH_AUTO, ARC__KEYED, t, key, values, active, present,
                                  lane);
      return;
    }
    if (automatic || __all_sync(lanes, !active || __popc(group) >= threshold)) {
      arc__add_pair_transposed(kind, t, key, values, active, present, group, leaders, leader, lane);
      return;
    }
  }
  if (!automatic) {
    group = arc__large_or_alone(group, threshold, active, lane);
    leaders = __ballot_sync(lanes, group >> lane == 1u);
  }
  arc__add_groups(kind, false, t, key, values, active, lanes, present, group, leaders, lane);
}

/* Every add of every path comes through here; kind, path and keys are literals. */
ARC__FN void arc__add(int kind, int path, int keys, const arc__target *t, int key,
                      const void *values, bool active, unsigned lanes, int threshold) {
  ARC__CHECK(1, t->width >= 1, "the width must be at least 1");
  ARC__CHECK(1, threshold >= 0 && threshold <= ARC_THRESHOLD_AUTO,
             "the threshold must be 0..33 or ARC_THRESHOLD_AUTO");
  int lane = arc__lane();
  ARC__CHECK(1, (lanes >> lane & 1u) != 0u, "the lane mask must name every lane that calls");
  if (path == ARC_PATH_ATOMIC) {
    if (active) arc__add_plain(kind, t, key, values, true);
    return;
  }
  bool counts_first = path == ARC_PATH_AUTO && keys == ARC__KEYED;
  if (!ARC_WARP_IS_ACTIVE && !counts_first && !__any_sync(lanes, active)) return;
  unsigned present = __ballot_sync(lanes, active);
#if ARC_CHECK >= 2
  ARC__CHECK(2, !ARC_WARP_IS_ACTIVE || present != 0u, "no lane of the warp is active");
  if (keys == ARC__UNIFORM) {
    int first = __shfl_sync(lanes, active ? key : 0, arc__lowest(present));
    ARC__CHECK(2, (!ARC_INACTIVE_HAS_KEY && !active) || key == first,
               "the keys of a uniform add differ");
  }
#if ARC_INACTIVE_IS_ZERO
  for (int i = 0; i < t->width; ++i)
    ARC__CHECK(2, active || arc__load(kind, values, i) << 1 == 0u,
               "an inactive lane holds a value that is not zero");
#endif
#endif
  int resolved = threshold == ARC_THRESHOLD_AUTO ? t->auto_threshold : threshold;
  if (counts_first)
    arc__auto_keyed(kind, t, key, values, active, lanes, present, threshold, lane);
  else if (path == ARC_PATH_BUTTERFLY)
    arc__path_butterfly(kind, keys, t, key, values, active, lanes, present, resolved, lane);
  else if (path == ARC_PATH_TRANSPOSED || path == ARC_PATH_AUTO)
    arc__path_transposed(kind, path, keys, t, key, values, active, lanes, present, resolved, lane);
  else
    arc__path_grouped(kind, path == ARC_PATH_SERIALIZED, keys, t, key, values, active, lanes,
                      present, resolved, lane);
}

ARC__FN void arc__add_divergent(int kind, int path, const arc__target *t, int key,
                                const void *values, int threshold) {
#if ARC__ARCH >= 700
  if (path != ARC_PATH_ATOMIC) {
    /* Lanes that execute this instruction together get the same mask and meet again at the first
       vote of arc__add; it claims nothing about lanes that come later. */
    unsigned here = __activemask();
    arc__add(kind, path, ARC__KEYED, t, key, values, true, here, threshold);
    return;
  }
#endif
  (void)path;
  arc__add(kind, ARC_PATH_ATOMIC, ARC__KEYED, t, key, values, true, ARC__ALL_LANES, threshold);
}

ARC__FN arc__target arc__target_pointers(const void *const *pointers, int width) {
  arc__target t = arc__target_begin();
  t.by_pointer = true;
  t.pointers = pointers;
  t.width = width;
  arc__target_choices(&t);
  return t;
}

/* ------------------------------------------------------------------------------------------ */
/* >>entries                                                                                    */
/* The public names: for each type, five adds by path, and the short ones bound to ARC_PATH. */

/* S: the type's suffix, T: the type, KIND: its literal, `_path`: empty or the path's name. */
#define ARC__ADDS(S, T, KIND, _path, PATH)                                                         \
  ARC__FN void arc_add##_path##_##S(arc_target_##S target, int key, const T *values, bool active,  \
                                    int threshold) {                                               \
    arc__add(KIND, PATH, ARC__KEYED, &target.any, key, values, active, ARC__ALL_LANES, threshold); \
  }                                                                                                \
  ARC__FN void arc_add_uniform##_path##_##S(arc_target_##S target, int key, const T *values,       \
                                            bool active, int threshold) {                          \
    arc__add(KIND, PATH, ARC__UNIFORM, &target.any, key, values, active, ARC__ALL_LANES,           \
             threshold);                                                                           \
  }                                                                                                \
  ARC__FN void arc_add_masked##_path##_##S(arc_target_##S target, int key, const T *values,        \
                                           bool active, unsigned lane_mask, int threshold) {       \
    arc__add(KIND, PATH, ARC__KEYED, &target.any, key, values, active, lane_mask, threshold);      \
  }                                                                                                \
  ARC__FN void arc_add_divergent##_path##_##S(arc_target_##S target, int key, const T *values,     \
                                              int threshold) {                                     \
    arc__add_divergent(KIND, PATH, &target.any, key, values, threshold);                           \
  }                                                                                                \
  ARC__FN void arc_add_pointers##_path##_##S(T *const *pointers, int width, int key,               \
                                             const T *values, bool active, int threshold) {        \
    arc__target target = arc__target_pointers((const void *const *)pointers, width);               \
    arc__add(KIND, PATH, ARC__KEYED, &target, key, values, active, ARC__ALL_LANES, threshold);     \
  }

#define ARC__TYPE(S, T, KIND)                             \
  ARC__ADDS(S, T, KIND, , ARC_PATH)                       \
  ARC__ADDS(S, T, KIND, _atomic, ARC_PATH_ATOMIC)         \
  ARC__ADDS(S, T, KIND, _serialized, ARC_PATH_SERIALIZED) \
  ARC__ADDS(S, T, KIND, _butterfly, ARC_PATH_BUTTERFLY)   \
  ARC__ADDS(S, T, KIND, _transposed, ARC_PATH_TRANSPOSED) \
  ARC__ADDS(S, T, KIND, _tree, ARC_PATH_TREE)             \
  ARC__ADDS(S, T, KIND, _auto, ARC_PATH_AUTO)

ARC__TYPE(f32, float, ARC__KIND_F32)

ARC__FN void arc_atomic_add_f32(float *address, float value) {
  arc__red(ARC__KIND_F32, (char *)address, __float_as_uint(value));
}

/* ------------------------------------------------------------------------------------------ */
/* >>licence                                                                                    */
/* Copyright 2026 the arc authors. Licensed under the Apache License, Version 2.0 (the "License");
   you may not use this file except in compliance with the License. You may obtain a copy of the
   License at http://www.apache.org/licenses/LICENSE-2.0. Unless required by applicable law or
   agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
   specific language governing permissions and limitations under the License. */

#endif /* ARC_CUH */
