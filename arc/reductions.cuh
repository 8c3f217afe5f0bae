/* reductions.cuh - how a warp sums: the papers' two ways, transposed, and the tree.
   SPDX-License-Identifier: Apache-2.0

   A part of arc.cuh, which includes it. Each reduction takes the words of every lane of a call and
   leaves each sum in one lane, its owner; what they cost stands in arc.cuh. Who calls, if nothing
   else is said: all of c->lanes.

       >>serialized   the papers' SW-S: by the leader of each group, any lanes
       >>butterfly    the papers' SW-B: one key, a full warp
       >>transposed   one key or two, a full warp: each sum ends in a lane of its own, and leaves
       >>tree         all groups at once, any lanes */
#ifndef ARC_REDUCTIONS_CUH
#define ARC_REDUCTIONS_CUH

/* ---- >>serialized ------------------------------------------------------------------------ */
/* SW-S (ARC paper, 5.5.1): the leader of each group walks its other lanes, and has the sums. */
ARC__FN void arc__reduce_serialized(const arc__call *c, arc__word *w, int count) {
  bool leader = arc__leads(c->group, c->lane);
  unsigned rest = c->group != 0u ? c->group & ~(1u << arc__highest(c->group)) : 0u;
  for (; __any_sync(c->lanes, rest != 0u); rest &= rest - 1u) {
    int source = rest != 0u ? arc__lowest(rest) : c->lane;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->kind, c->lanes, w[i], source);
      if (leader && rest != 0u) w[i] = arc__sum(c->kind, w[i], other);
    }
  }
}

/* ---- >>butterfly ------------------------------------------------------------------------- */
/* SW-B (ARC paper, 5.5.2): five shuffles a value, and every lane ends with every sum. All 32
   lanes take part, inactive ones with neutral words. */
ARC__FN void arc__reduce_butterfly(const arc__call *c, arc__word *w, int count) {
  ARC__EACH(i, count, ARC__WARP) {
    ARC__UNROLL
    for (int distance = ARC__WARP / 2; distance >= 1; distance /= 2)
      w[i] = arc__sum(c->kind, w[i], arc__shfl_xor(c->kind, ARC_LANES_ALL, w[i], distance));
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

   c has no neighbour in the first exchange: both partners sum it, which takes no select. */
ARC__FN arc__word arc__exchange(const arc__call *c, arc__word low, arc__word high, bool paired,
                                int distance, bool may_clobber) {
  arc__word send = low;
  int upper = c->lane & distance;
  if (paired) send.lo = arc__keep_and_send(c->kind, may_clobber, upper, &low.lo, high.lo);
  if (paired && arc__bytes(c->kind) == 8)
    send.hi = arc__keep_and_send(c->kind, may_clobber, upper, &low.hi, high.hi);
  return arc__sum(c->kind, low, arc__shfl_xor(c->kind, ARC_LANES_ALL, send, distance));
}

/* A lane's part in a reduction. */
typedef struct arc__part {
  bool stays;       /* its values belong to its sums, */
  bool leaves;      /* with 16 lanes to those of lane ^ 16 */
  bool may_clobber; /* a literal: no other branch of the caller reads the values */
} arc__part;

/* The chunk at `first` of up to `lanes` (32 or 16) values; lane l ends with the sum of value l of
   them, l modulo `lanes`. */
ARC__FN arc__word arc__reduce_chunk(const arc__call *c, int first, int lanes, arc__part part) {
  const int most = arc__chunk_of(c, lanes);
  int count = arc__chunk_words(c, first, most);
  ARC__WORDS(w, ARC__WARP);
  ARC__EACH(i, count, ARC__WARP) {
    bool is_value = first + i < c->width;
    float scale = arc__scale_of(c, first + i);
    w[i] = part.stays && is_value ? arc__load(c, first + i, scale) : arc__neutral(c->kind);
    if (lanes == ARC__WARP) continue;
    arc__word other =
        part.leaves && is_value ? arc__load(c, first + i, scale) : arc__neutral(c->kind);
    other = arc__shfl_xor(c->kind, ARC_LANES_ALL, other, ARC__WARP / 2);
    w[i] = arc__sum(c->kind, w[i], other);
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

/* Adds the sum of a slot, which its owner has; next: that of the next lane. */
ARC__FN void arc__emit_sum(const arc__call *c, arc__slot slot, arc__key key, arc__word sum,
                           arc__word next) {
  bool half = arc__is_half(c->memory);
  arc__word w = arc__stored(c->kind, c->memory, sum, next, slot.scale);
  if (half && slot.stride_bytes % 4 != 0) /* else the same for every key */
    arc__set_odd(&slot, (((unsigned)key.low * (unsigned)slot.stride_bytes & 2u) != 0u) != slot.odd);
  if (half) w.lo = __byte_perm(w.lo, 0x8000u, slot.halves);
  if (slot.owned) arc__leave(c, arc__offset(slot.base, key, slot.stride_bytes), &w, 1);
}

/* The same; the whole warp calls. */
ARC__FN void arc__emit_slot(const arc__call *c, arc__slot slot, arc__key key, arc__word sum) {
  bool half = arc__is_half(c->memory);
  arc__word next = half ? arc__shfl_down(c->kind, ARC_LANES_ALL, sum, 1) : sum;
  arc__emit_sum(c, slot, key, sum, next);
}

/* Whether there is one value, so that a reduction leaves its sum in each lane. */
ARC__FN bool arc__is_single(const arc__call *c) { return c->width == 1 && c->chunk == ARC__WARP; }

/* The slot of the sum that a reduction of the chunk at `first` leaves in this lane. Of a single
   value, each lane has the sum of `group`: its leader owns it, which has the key. */
ARC__FN arc__slot arc__chunk_slot(const arc__call *c, unsigned group, int first, int lanes) {
  const int most = arc__chunk_of(c, lanes);
  bool single = arc__is_single(c) && lanes == ARC__WARP;
  /* Lanes beyond a chunk's own get a value that is not there: by sums, since a branch that does not
     change in a loop would part the lanes in front of it. */
  int mine = c->lane % lanes, value = first + mine + (mine / most << 26);
  arc__slot slot = lanes == ARC__WARP ? c->target->warp_slot : c->target->half_warp_slot;
  if (first > 0 || single || most < lanes) {
    slot = arc__slot_of(c->target, single ? 0 : value, most);
    if (single) slot.owned = slot.is_value = arc__leads(group, c->lane);
  }
  return slot;
}

/* The key of a group, in every lane that will own a sum. */
ARC__FN arc__key arc__group_key(const arc__call *c, unsigned group, bool known) {
  return known || arc__is_single(c) ? c->key : arc__key_of(c, arc__highest(group));
}

/* A group, chunk by chunk. */
ARC__FN void arc__add_group(const arc__call *c, unsigned group, arc__key key, int lanes,
                            arc__part part) {
  ARC__CHUNKS(c, first, arc__chunk_of(c, lanes)) {
    arc__word sum = arc__reduce_chunk(c, first, lanes, part);
    arc__emit_slot(c, arc__chunk_slot(c, group, first, lanes), key, sum);
  }
}

/* One key a full warp. Where every lane is active, or holds zeros, nothing is masked: one code for
   both. may_clobber: as in arc__part; masked words are copies. */
ARC__FN void arc__add_one_group(const arc__call *c, bool may_clobber) {
  arc__part whole = {true, false, may_clobber}, masked = {arc__is_source(c), false, true};
  bool full = c->present == ARC_LANES_ALL, zeros = arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool has_key = arc__promised(c, ARC_PROMISE_ONE_KEY);
  if (!arc__is_single(c) && (full || zeros)) {
    arc__key key = arc__group_key(c, c->present, has_key || full);
    arc__add_group(c, c->present, key, ARC__WARP, whole);
  } else {
    arc__key key = arc__group_key(c, c->present, has_key);
    arc__add_group(c, c->present, key, ARC__WARP, masked);
  }
}

/* Two groups at once. In the first exchange, lane and lane ^ 16 trade so that the lower half-warp
   keeps the group of the highest leader and the upper one the other; then each half reduces 16
   lanes. About the shuffles of one and a half reductions, and one request. */
ARC__FN void arc__add_two_groups(const arc__call *c) {
  const int half = ARC__WARP / 2;
  bool upper = (c->lane & half) != 0;
  bool in_highest = c->group > (c->present ^ c->group); /* in the group of the highest leader */
  arc__part part = {c->active && in_highest != upper, c->active && in_highest == upper, true};
  unsigned low = c->leaders & (0u - c->leaders);
  arc__key key = arc__key_of(c, arc__highest(upper ? low : c->leaders ^ low));
  arc__add_group(c, c->group, key, half, part);
}

/* One group after the other. Returns whether this lane's group is below the threshold. */
ARC__FN bool arc__add_each_group(const arc__call *c, int threshold) {
  bool plain = false;
  for (unsigned rest = c->present; rest != 0u;) {
    arc__key key;
    unsigned group = arc__take_group(c, &rest, &key);
    bool member = c->active && arc__same_key(c->key, key);
    arc__part part = {member, false, true};
    if (__popc(group) < threshold)
      plain = plain || member;
    else
      arc__add_group(c, group, key, ARC__WARP, part);
  }
  return plain;
}

/* ---- >>tree ------------------------------------------------------------------------------ */
/* All groups at once; the leader of each ends with its sums. If every present lane leads, all keys
   differ and there is nothing to reduce.

   In runs: where the lanes of each group are neighbours, a lane adds what the lane 1, 2, 4, 8 and
   16 below holds, unless that is below the group's first lane `start`. */
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
    ARC__EACH(i, count, ARC__WARP) w[i] = arc__sum_from_below(c->kind, w[i], distance, start);
  }
}

/* By pointer jumping, on any subset of lanes: each lane knows the next lower one of its group, adds
   what it holds, and then points where that one pointed: after r rounds a lane holds the sum of 2^r
   lanes of its group. No loop: with one, the compiler loads a kernel's constants anew around it. */
#define ARC__NO_LANE 32u /* there is no lower lane; a shuffle then reads the lane itself */

ARC__FN void arc__reduce_jumping(const arc__call *c, arc__word *w, int count) {
  unsigned lower = c->group & arc__lanes_below(c->lane);
  unsigned next = lower != 0u ? (unsigned)arc__highest(lower) : ARC__NO_LANE | (unsigned)c->lane;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    bool adds = next < ARC__NO_LANE;
    if (round > 0 && !__any_sync(c->lanes, adds)) break;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->kind, c->lanes, w[i], (int)next);
      if (adds) w[i] = arc__sum(c->kind, w[i], other);
    }
    next = __shfl_sync(c->lanes, next, (int)next);
  }
}

ARC__FN void arc__reduce_tree(const arc__call *c, arc__word *w, int count) {
  if (c->leaders == c->present) return;
  if (c->lanes == ARC_LANES_ALL && arc__are_runs(c))
    arc__reduce_runs(c, w, count);
  else
    arc__reduce_jumping(c, w, count);
}

#endif /* ARC_REDUCTIONS_CUH */
