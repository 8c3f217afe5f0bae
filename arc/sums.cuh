/* sums.cuh - an add in two steps: you see each sum before it is added.
   SPDX-License-Identifier: Apache-2.0

   Between the steps you may clamp, scale, count or drop sums, or add them to several rows. All 32
   lanes of the warp make each of these calls. Suffixes: all of arc.cuh.

       arc_sum_f32 sum = arc_sum_begin_f32(t, id, g, hit);
       while (arc_sum_next_f32(&sum)) {
         sum.value = fminf(sum.value, 1);       // if sum.owned; else this lane has no sum
         arc_sum_add_f32(&sum);                 // to sum.key's parameter sum.parameter; optional
       }

   Begins the sums of all groups. arc_sum_begin_f32 ignores ARC_BALANCE_THRESHOLD: it reduces every
   group.
   Who calls: all 32 lanes of the warp.
     target, key, active  as for arc_add_f32
     values               do not change them before the last step
     options              promises, key_bits, scope and threshold. With a threshold above 0 each
                          lane of a smaller group is a group of its own, which changes any result
                          that is not linear in the sums. Path and exact are ignored: sums are
                          transposed, and lanes are summed as floats for fixed targets.
   Cost: a vote.
   Reported: as for arc_add_f32.
       arc_sum_f32 arc_sum_begin_f32(arc_target_f32 target, arc_key key, const float *values,
                                     bool active);
       arc_sum_f32 arc_sum_begin_with_f32(arc_target_f32 target, arc_key key, const float *values,
                                          bool active, arc_options options);

   Takes the next step; returns false at the end. A group takes one step per 32 values, or per four
   of a dynamic target. With one key (ARC_PROMISE_ONE_KEY), threshold 0 and a literal width up to 32
   there is one step, so `if` may replace `while`.
   Who calls: all 32 lanes of the warp.
   Result: sum->owned says whether this lane has a sum; a lane has at most one. sum->value is the
   sum of parameter sum->parameter in the row of sum->key.
   Cost: S(n) shuffles (head of arc/core.cuh).
   Reported: ARC_CHECK 2 values that have changed, a loop left before this call has returned false.
       bool arc_sum_next_f32(arc_sum_f32 *sum);

   Adds the sum of this step to memory. Optional: sum->owned = false drops a lane's sum. Do not
   change key and parameter.
   Who calls: all 32 lanes of the warp.
   Cost: one request. With many keys per warp all steps together run at a quarter of an add's speed,
   at worst.
   Reported: ARC_CHECK 2 another key, a sum that is added twice.
       void arc_sum_add_f32(const arc_sum_f32 *sum); */
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_SUMS_CUH) /* the former is not without CUDA */
#define ARC_SUMS_CUH

typedef struct ARC__FORM_TAG(arc__sums) {
  arc__target target;
  arc__call call;       /* its pointer to the target is set in every step */
  unsigned rest, group; /* the lanes whose groups are still to come; the group at hand, */
  arc__key key;         /* its key and the chunk of its values to come */
  int first;
  arc__slot slot; /* of the sum of this lane */
  ARC__DUTY
} arc__sums;

ARC__FN void arc__sum_begin(arc__sums *s, arc__call c) {
  arc__check_call(&c);
  s->rest = __ballot_sync(ARC_LANES_ALL, c.active);
  s->first = c.width;
  s->slot.is_value = false;
  arc__decide_least_lanes(&c);
  s->call = c;
  ARC__KEEP_DIGEST(s, &c);
}

/* Takes the next group: that of the highest remaining lane. */
ARC__FN void arc__sum_next_group(arc__sums *s, const arc__call *c) {
  bool one_key = arc__promised(c, ARC_PROMISE_ONE_KEY);
  s->key = one_key ? c->key : arc__key_of(c, arc__highest(s->rest));
  bool member = c->active && arc__same_key(c->key, s->key);
  s->group = one_key ? s->rest : __ballot_sync(ARC_LANES_ALL, member);
  if (__popc(s->group) < c->decision.min_group) s->group = 1u << arc__highest(s->rest);
  s->rest &= ~s->group;
  s->first = 0;
}

/* Returns false at the end; else *sum is that of s->slot, whose parameter is *parameter. */
ARC__FN bool arc__sum_next(arc__sums *s, arc__word *sum, int *parameter) {
  arc__call c = s->call;
  c.target = &s->target;
  arc__check_lanes(ARC_LANES_ALL);
  bool all_fit = c.width <= c.chunk; /* known at compile time, where s->first is not */
  if (all_fit || s->first >= c.width) {
    if (s->rest == 0u) return false;
    arc__sum_next_group(s, &c);
  }
  ARC__CHECK_DIGEST(s, &c);
  bool one_key = arc__promised(&c, ARC_PROMISE_ONE_KEY), full = s->group == ARC_LANES_ALL;
  bool zeros = arc__promised(&c, ARC_PROMISE_INACTIVE_IS_ZERO) && c.decision.min_group == 0;
  bool member = (s->group >> c.lane & 1u) != 0u;
  arc__input whole = {true, false, true}, masked = {member, false, true};
  ARC__CHUNKS(&c, first, c.chunk) {
    if (!all_fit && first != s->first) continue;
    if (one_key && (full || zeros))
      *sum = arc__reduce_chunk(&c, first, ARC__WARP, whole);
    else
      *sum = arc__reduce_chunk(&c, first, ARC__WARP, masked);
    s->slot = arc__chunk_slot(&c, s->group, first, ARC__WARP);
    *parameter = arc__is_single(&c) ? 0 : first + c.lane;
  }
  s->first += c.chunk;
  ARC__OWES(s, s->rest != 0u || s->first < c.width ? ARC__A_SUM : ARC__NOTHING);
  return true;
}

/* Adds a sum that the user may have changed or dropped. The whole warp calls. */
ARC__FN void arc__sum_add(const arc__sums *s, arc_key key, bool owned, arc__word sum) {
  arc__call c = s->call;
  arc__slot slot = s->slot;
  c.target = &s->target;
  ARC__CHECK(2, key == arc__key_id(s->key), "sum.key was changed: it is for reading only");
  ARC__ADDS_ONCE(s);
  if (arc__is_half(c.literal.memory) && !owned) sum = arc__neutral(c.literal.kind);
  if (!arc__is_half(c.literal.memory)) slot.owned = slot.owned && owned;
  arc__emit_slot(&c, slot, s->key, sum);
}

#define ARC__SUMS(S, T, M, KIND, MEMORY)                                                       \
  typedef struct ARC__FORM_TAG(arc_sum##S) {                                                   \
    T value;                                                                                   \
    int parameter;                                                                             \
    bool owned;                                                                                \
    arc_key key;                                                                               \
    arc__sums any;                                                                             \
  } arc_sum##S;                                                                                \
  ARC__FN arc_sum##S arc_sum_begin_with##S(arc_target##S target, arc_key key, const T *values, \
                                           bool active, arc_options options ARC__CALLER) {     \
    arc_sum##S sum;                                                                            \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                     \
    sum.owned = false;                                                                         \
    sum.any.target = target.any;                                                               \
    options.exact = false;                                                                     \
    options.lane_mask = ARC_LANES_ALL;                                                         \
    options.path = ARC_PATH_TRANSPOSED;                                                        \
    arc__sum_begin(&sum.any, arc__call_of(&target.any, key, values, active, options));         \
    return sum;                                                                                \
  }                                                                                            \
  ARC__FN arc_sum##S arc_sum_begin##S(arc_target##S target, arc_key key, const T *values,      \
                                      bool active ARC__CALLER) {                               \
    arc_options options = arc_options_default();                                               \
    options.threshold = 0;                                                                     \
    return arc_sum_begin_with##S(target, key, values, active, options);                        \
  }                                                                                            \
  ARC__FN bool arc_sum_next##S(arc_sum##S *sum ARC__CALLER) {                                  \
    arc__word w = arc__neutral(KIND);                                                          \
    bool is_there = arc__sum_next(&sum->any, &w, &sum->parameter);                             \
    arc__write(KIND, &sum->value, 0, w);                                                       \
    sum->owned = sum->any.slot.is_value;                                                       \
    sum->key = arc__key_id(sum->any.key);                                                      \
    return is_there;                                                                           \
  }                                                                                            \
  ARC__FN void arc_sum_add##S(const arc_sum##S *sum ARC__CALLER) {                             \
    arc__sum_add(&sum->any, sum->key, sum->owned, arc__read(KIND, &sum->value, 0));            \
  }
ARC__EACH_SUFFIX(ARC__SUMS)

#endif /* ARC_SUMS_CUH */
