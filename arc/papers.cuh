/* papers.cuh - the papers' interfaces: arrays of pointers (DISTWAR) and atomred (ARC, section 5.1).
   SPDX-License-Identifier: Apache-2.0

   They are for comparison; prefer a target. Suffixes: f32, f64, i32, u32, i64, u64.

   Adds value i to *pointers[i], by the papers' paths only: atomic, serialized or butterfly. With
   any other path, auto too, the call takes butterfly if the active lanes of a full warp hold one
   key, else serialized.
   Who calls: as for the adds of the same names in arc.cuh.
     pointers  `width` pointers to global or shared memory; all lanes of one key hold the same ones
     width     number of values, a literal
     key       tells which lanes add to the same pointers; it is not an address
   Cost: 5 shuffles per value (butterfly), or one per value and lane of the largest group
   (serialized); a request per value. No vector reductions.
   Reported: as for the adds; ARC_CHECK 2 lanes of one key that hold different pointers.
       void arc_add_pointers_f32(float *const *pointers, int width, arc_key key,
                                 const float *values, bool active);
       void arc_add_pointers_masked_f32(..., bool active, unsigned lane_mask);
       void arc_add_pointers_divergent_f32(...);
       void arc_add_pointers_with_f32(..., bool active, arc_options options);

   Adds one value, as atomicAdd(address, value) without a result does. Lanes that arrive together
   with one address are summed first. But each lane adds its own value if addresses rise from lane
   to lane, or if no lane shares its address with one of the three lanes below it. Use it for
   scalars that go to few addresses.
   Who calls: any lane, in any control flow.
     address  global or shared memory, aligned to one value
   Cost: if about 17 lanes or more arrive, a match; if addresses differ, also up to 3 shuffles and 2
   votes; if lanes are summed, one more match and up to 5 rounds of 2 shuffles.
   Reported: ARC_CHECK 1 an address that is not aligned to its value.
       void arc_atomred_f32(float *address, float value); */
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_PAPERS_CUH) /* the former is not without CUDA */
#define ARC_PAPERS_CUH

#if ARC_CHECK >= 2
/* That the lanes of a key hold the same pointers. All of c->lanes call. */
ARC__FN void arc__check_pointers(const arc__call *call, void *const *pointers) {
  arc__call c = *call;
  arc__u64 digest = 0u;
  c.present = __ballot_sync(c.lanes, c.active);
  for (int i = 0; c.active && i < c.width; ++i) digest = arc__digest(digest, (arc__u64)pointers[i]);
  unsigned group = arc__match(&c);
  arc__u64 leaders = __shfl_sync(c.lanes, digest, group ? arc__highest(group) : c.lane);
  ARC__CHECK(2, digest == leaders, "lanes with one key hold different pointers");
}
#else
#define arc__check_pointers(c, pointers) ((void)0)
#endif

/* A target without memory, for calls that need only kind and width of the values: they add to an
   address, and C adds nothing to a null one. */
#define ARC__ANY_ADDRESS 4096
ARC__FN void arc__no_target(arc__target *t, int kind, int width) {
  arc__target_begin(t, kind, kind, 1);
  arc__target_piece(t, 0, (void *)ARC__ANY_ADDRESS, width, width, 0);
  arc__target_end(t);
}

/* path: a literal. A lane that `adds` adds its values or, after a reduction, its sums. */
ARC__FN void arc__add_pointer_chunks(const arc__call *c, void *const *pointers, int path,
                                     bool adds) {
  ARC__CHUNKS(c, first, ARC__WARP) {
    int count = arc__chunk_width(c, first, ARC__WARP);
    ARC__WORDS(w, ARC__WARP);
    ARC__EACH(i, count, ARC__WARP)
      w[i] = arc__is_source(c) ? arc__load(c, first + i, 0) : arc__neutral(c->literal.kind);
    if (path == ARC_PATH_BUTTERFLY) arc__reduce_butterfly(c, w, count);
    if (path == ARC_PATH_SERIALIZED) arc__reduce_serialized(c, w, count);
    if (!adds) continue;
    ARC__EACH(i, count, ARC__WARP)
      arc__atomic_add(c->literal.memory, c->literal.scope, (char *)pointers[first + i], w[i]);
  }
}

ARC__ADD_FN void arc__add_pointers(arc__call c, void *const *pointers) {
  const bool butterfly = c.literal.path == ARC_PATH_BUTTERFLY,
             serialized = c.literal.path == ARC_PATH_SERIALIZED;
  arc__check_call(&c);
  arc__check_pointers(&c, pointers);
  arc__make_mask_of_lane(&c);
  if (c.literal.path != ARC_PATH_ATOMIC) {
    if (!arc__promised(&c, ARC_PROMISE_WARP_IS_ACTIVE) && !__any_sync(c.lanes, c.active)) return;
    if (!serialized) c.literal.path = ARC_PATH_BUTTERFLY; /* of the same threshold */
    c.present = __ballot_sync(c.lanes, c.active);
    c.group = arc__match(&c);
    arc__decide_least_lanes(&c);
    bool one_key = !serialized && c.lanes == ARC_LANES_ALL;
    if (one_key && !arc__promised(&c, ARC_PROMISE_ONE_KEY))
      one_key = __all_sync(c.lanes, !c.active || c.group == c.present);
    if (one_key && __popc(c.present) >= c.decision.min_present) {
      bool leads = arc__leads(c.present, c.lane);
      arc__add_pointer_chunks(&c, pointers, ARC_PATH_BUTTERFLY, leads);
      return;
    }
    if (!one_key && !butterfly) {
      arc__dissolve_small_groups(&c);
      bool leads = arc__leads(c.group, c.lane);
      arc__add_pointer_chunks(&c, pointers, ARC_PATH_SERIALIZED, leads);
      return;
    }
  }
  if (c.active) arc__add_pointer_chunks(&c, pointers, ARC_PATH_ATOMIC, true);
}

ARC__FN void arc__atomred(arc__call c, char *address, arc__word w) {
  const int shuffles = 5 * (arc__bytes(c.literal.kind) / 4), requests = 1;
  const int many = ARC_MIN_LANES_TO_MATCH(shuffles, requests);
  ARC__CHECK(1, (arc__u64)address % (unsigned)arc__bytes(c.literal.memory) == 0u,
             "the address is not aligned to its value");
  c.lanes |= 1u << c.lane; /* as arc__make_mask_of_lane says */
  c.present = c.lanes;
  c.group = arc__sharers(c.lanes, c.lane, address, many, many);
  if (c.group != 0u) {
    arc__find_leaders(&c);
    arc__reduce_tree(&c, &w, 1);
    if (!arc__leads(c.group, c.lane)) return;
  }
  arc__atomic_add(c.literal.memory, c.literal.scope, address, w);
}

#define ARC__POINTERS_FORM(FORM, S, T, ARGUMENTS, ACTIVE, LANES)                            \
  ARC__FN void arc_add_pointers##FORM##S(T *const *pointers, int width, arc_key key,        \
                                         const T *values ARGUMENTS ARC__CALLER) {           \
    arc_add_pointers_with##S(pointers, width, key, values, ACTIVE, arc__options(0, LANES)); \
  }
#define ARC__PAPERS(S, T, M, KIND, MEMORY)                                                         \
  ARC__FN void arc_add_pointers_with##S(T *const *pointers, int width, arc_key key,                \
                                        const T *values, bool active,                              \
                                        arc_options options ARC__CALLER) {                         \
    arc__target none;                                                                              \
    arc__no_target(&none, KIND, width);                                                            \
    options.promises &= ~ARC_PROMISE_ALIGNED_16; /* of rows */                                     \
    arc__add_pointers(arc__call_of(&none, key, values, active, options), (void *const *)pointers); \
  }                                                                                                \
  ARC__POINTERS_FORM(, S, T, ARC__ACTIVE, active, ARC_LANES_ALL)                                   \
  ARC__POINTERS_FORM(_masked, S, T, ARC__ACTIVE_AND_MASK, active, lane_mask)                       \
  ARC__POINTERS_FORM(_divergent, S, T, , true, ARC_LANES_HERE)                                     \
  ARC__FN void arc_atomred##S(T *address, T value ARC__CALLER) {                                   \
    arc__target none;                                                                              \
    arc__no_target(&none, KIND, 1);                                                                \
    arc__call call = arc__call_of(&none, 0, 0, true, arc__options(0, ARC_LANES_HERE));             \
    arc__atomred(call, (char *)address, arc__read(KIND, &value, 0));                               \
  }
ARC__EACH_NUMBER(ARC__PAPERS)

#endif /* ARC_PAPERS_CUH */
