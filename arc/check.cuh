/* check.cuh - what ARC_CHECK 2 reports: lanes that differ in what a warp has in common, promises
   that are not kept, forms that are begun and not ended. Included by arc.cuh at that level only.
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
  digest = arc__digest_target(digest, c->target);
  arc__u64 first = __shfl_sync(c->lanes, digest, arc__lowest(c->lanes));
  ARC__CHECK(2, digest == first, "the lanes of a warp differ in target, width or threshold");
  ARC__CHECK(2, c->target->builder == c->lane, "the target was built in another lane");
}

/* What the call promises, where a lane is active. */
ARC__FN void arc__check_promises(const arc__call *c) {
  bool zeros = !c->active && arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool aligned = arc__most_log2(c->memory) > 2 && arc__promised(c, ARC_PROMISE_ALIGNED_16);
  arc__key first = arc__key_of(c, arc__lowest(c->present));
  ARC__CHECK(2, !arc__promised(c, ARC_PROMISE_ONE_KEY) || arc__same_key(c->key, first),
             "the keys of a uniform add differ");
  for (int i = 0; zeros && i < c->width; ++i)
    ARC__CHECK(2, arc__is_zero(c->kind, arc__load(c, i, 1)),
               "an inactive lane holds a value that is not zero");
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
             "no lane of the warp is active");
  if (c.present != 0u) arc__check_promises(&c);
}

/* What a form has begun and not ended: reported by the object when it leaves its scope. */
enum { ARC__NOTHING, ARC__A_SUM, ARC__GATHERED, ARC__HOT_ADDED, ARC__HOT_ENDED, ARC__TABLED };

struct arc__duty {
  mutable int owed;
  mutable bool is_added; /* the sum of this step */
  bool is_copy;          /* which owes nothing */
  __device__ arc__duty() : owed(ARC__NOTHING), is_added(false), is_copy(false) {}
  __device__ arc__duty(const arc__duty &) : owed(ARC__NOTHING), is_added(false), is_copy(true) {}
  __device__ ~arc__duty() {
    ARC__CHECK(2, owed != ARC__A_SUM,
               "a sum in two halves was left before arc_sum_next returned false");
    ARC__CHECK(2, owed != ARC__GATHERED, "rows were gathered and arc_gather_end was not called");
    ARC__CHECK(2, owed != ARC__TABLED, "a table was added to and arc_table_end was not called");
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

#endif /* ARC_CHECK_CUH */
