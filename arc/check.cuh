/* check.cuh - what ARC_CHECK 2 reports: lanes that differ where a warp must agree, promises that
   are broken, forms that are begun and not ended. arc.cuh includes it at that level only.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_CUH
#error "arc/check.cuh: include arc.cuh first"
#endif
#ifndef ARC_CHECK_CUH
#define ARC_CHECK_CUH

ARC__FN arc__u64 arc__digest(arc__u64 digest, arc__u64 x) {
  return (digest ^ x) * 0x100000001b3ull;
}

ARC__FN arc__u64 arc__digest_target(arc__u64 digest, const arc__target *t) {
  digest = arc__digest(digest, (unsigned)t->step);
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    digest = arc__digest(arc__digest(digest, (unsigned)p->stride_bytes), (unsigned)p->width);
    digest = arc__digest(digest, (arc__u64)p->base);
  })
  return digest;
}

/* That all lanes that must call are here, and agree on what a warp has in common. */
ARC__FN void arc__check_warp(const arc__call *c) {
  arc__u64 digest = arc__digest((unsigned)c->width, (unsigned)c->threshold);
  digest = arc__digest(digest, (unsigned)(c->literal.path << 8 | c->literal.promises));
  digest = arc__digest_target(digest, c->target);
  arc__u64 first = __shfl_sync(c->lanes, digest, arc__lowest(c->lanes));
  ARC__CHECK(2, digest == first,
             "the lanes of a warp differ in target, width, threshold, path or promises");
  ARC__CHECK(2, arc__builder(c->target) == c->lane,
             "the target was built in another lane: each lane builds its own");
}

/* The call's promises, if a lane is active. */
ARC__FN void arc__check_promises(const arc__call *c) {
  bool zeros = !c->active && arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool aligned = arc__most_log2(c->literal.memory) > 2 && arc__promised(c, ARC_PROMISE_ALIGNED_16);
  arc__key first = arc__key_of(c, arc__lowest(c->present));
  ARC__CHECK(2, !arc__promised(c, ARC_PROMISE_ONE_KEY) || arc__same_key(c->key, first),
             "the lanes of a uniform add hold different keys: inactive lanes need the key, too");
  for (int i = 0; zeros && i < c->width; ++i)
    ARC__CHECK(2, arc__is_zero(c->literal.kind, arc__load(c, i, 1)),
               "an inactive lane holds a value that is not zero, though this call promises zeros");
  ARC__EACH_PIECE(i, aligned ? c->target->pieces : 0, {
    ARC__CHECK(2, c->target->piece[i].vector_log2 == 4,
               "a row is not aligned to 16 bytes of global memory");
  })
}
ARC__FN void arc__check_agreement(const arc__call *call) {
  arc__call c = *call;
  arc__check_warp(&c);
  c.present = __ballot_sync(c.lanes, c.active);
  ARC__CHECK(2, !arc__promised(&c, ARC_PROMISE_WARP_IS_ACTIVE) || c.present != 0u,
             "no lane of the warp is active, though this call promises one: vote before it");
  if (c.present != 0u) arc__check_promises(&c);
}

/* In shared memory, in front of what a form keeps there. */
typedef struct arc__state {
  unsigned begun; /* when, which tells one set of hot rows from the next in this memory */
  /* Of hot rows: what all threads must agree on; lanes of the block that have not ended, nor left;
     the sums behind. */
  unsigned digest, lanes;
  int kind, words;
} arc__state;
#define ARC__STATE_BYTES 32

/* What a form has begun and not ended. The object reports it at the end of its scope, or when an
   assignment begins it anew. */
enum { ARC__NOTHING, ARC__A_SUM, ARC__INDEX_ADDED, ARC__HOT_ADDED, ARC__HOT_ENDED };

struct arc__duty {
  mutable int owed = ARC__NOTHING;
  mutable bool is_added = false;        /* the sum of this step */
  mutable int scope = ARC_SCOPE_DEVICE; /* of hot rows: that of an add */
  bool is_copy = false;                 /* which has nothing to end */
  arc__state *state = 0;
  unsigned begun = 0u; /* state->begun; of a sum, a digest of the values */

  __device__ void check() const {
    ARC__CHECK(2, owed != ARC__A_SUM,
               "a sum in two steps was left before arc_sum_next returned false");
    ARC__CHECK(2, owed != ARC__INDEX_ADDED,
               "rows in memory were added and arc_index_add_end was not called");
  }
  /* The last lane of the block to end hot rows, or to return, finds sums not in memory. */
  __device__ void leave_hot_rows() const {
    if (is_copy || state->begun != begun) return;
    __threadfence_block();
    if (atomicAdd(&state->lanes, 0u - 1u) != 1u) return;
    __threadfence_block();
    const char *sums = (const char *)state + ARC__STATE_BYTES;
    for (int i = 0; i < state->words; ++i)
      ARC__CHECK(2, arc__is_zero(state->kind, arc__read(state->kind, sums, i)),
                 "hot rows were added to and no arc_hot_end followed");
  }
  __device__ arc__duty &begin_anew(const arc__duty &other, bool copy) {
    check();
    ARC__CHECK(2, owed != ARC__HOT_ADDED, "hot rows are begun anew before arc_hot_end");
    owed = ARC__NOTHING, is_added = false, scope = ARC_SCOPE_DEVICE, is_copy = copy;
    state = other.state, begun = other.begun;
    return *this;
  }

  __device__ arc__duty() {}
  __device__ arc__duty(const arc__duty &other)
      : is_copy(true), state(other.state), begun(other.begun) {}
  /* Of what begin returns, where a compiler does not build it in place. */
  __device__ arc__duty(arc__duty &&other)
      : owed(other.owed),
        is_added(other.is_added),
        scope(other.scope),
        is_copy(other.is_copy),
        state(other.state),
        begun(other.begun) {
    other.owed = ARC__NOTHING, other.is_copy = true;
  }
  __device__ arc__duty &operator=(const arc__duty &other) { return begin_anew(other, true); }
  __device__ arc__duty &operator=(arc__duty &&other) { return begin_anew(other, other.is_copy); }
  __device__ ~arc__duty() {
    check();
    if (owed == ARC__HOT_ADDED) leave_hot_rows();
  }
};
#define ARC__DUTY arc__duty duty;
#define ARC__OWES(form, what) \
  ((form)->duty.is_added = false, (form)->duty.owed = (form)->duty.is_copy ? ARC__NOTHING : (what))
#define ARC__ADDS_ONCE(form)                                        \
  do {                                                              \
    ARC__CHECK(2, !(form)->duty.is_added, "a sum was added twice"); \
    (form)->duty.is_added = true;                                   \
  } while (0)
#define ARC__CHECK_MEMORY(form)                                  \
  ARC__CHECK(2, (form)->duty.state->begun == (form)->duty.begun, \
             "two sets of hot rows share one memory")

/* Of what a lane adds in a call. */
ARC__FN unsigned arc__digest_values(const arc__call *c) {
  arc__u64 digest = 0u;
  for (int i = 0; c->active && i < c->width; ++i)
    digest = arc__digest(digest, arc__bits(arc__read(c->literal.source, c->values, i)));
  return (unsigned)(digest >> 32);
}
#define ARC__KEEP_DIGEST(sum, call) ((sum)->duty.begun = arc__digest_values(call))
#define ARC__CHECK_DIGEST(sum, call)                           \
  ARC__CHECK(2, (sum)->duty.begun == arc__digest_values(call), \
             "the values of a sum have changed between its steps")

#endif /* ARC_CHECK_CUH */
