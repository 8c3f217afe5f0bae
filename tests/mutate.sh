#!/bin/sh
# mutate.sh - breaks the header on lines that the operators of mutate_tokens.py break once at most, or
# for each run (+), and shows that the tests catch it.
# SPDX-License-Identifier: Apache-2.0
#
#   mutate.sh <repository> <scratch folder>           those marked with +, and what a change touches
#   mutate.sh <repository> <scratch folder> --all     all of them
#   mutate.sh <repository> <scratch folder> <name>    one
#
# Each mutation is a sed command on arc.cuh and the folder arc, and the test that must catch it. A
# command must change exactly one line of all these files, and its result must compile; else that is
# an error. A mutation that its test passes is a survivor. All commands are checked, whichever run.
# A change is what differs from the commit BASE, HEAD~1 by default: it touches a mutation whose line
# is at most three lines from a changed one, or whose test has changed: of such, four a test.
# mutate_tokens.py runs them; BASE, CXX and JOBS are as there.
set -u
command -v python3 >/dev/null || {
  echo "skipped: no python3"
  exit 77
}

# [+]<name> <test[:definition[,definition]]> <sed command>
exec python3 -B "$1/tests/mutate_tokens.py" "$1" "$2" "--by-hand=${3:-+}" <<'END'
wrong_shuffle_distance test_property s/shfl_xor(c->literal.kind, ARC_LANES_ALL, send, distance)/shfl_xor(c->literal.kind, ARC_LANES_ALL, send, distance == 2 ? 1 : distance)/
key_promised_by_nobody test_property s/has_key = arc__promised(c, ARC_PROMISE_ONE_KEY);/has_key = true;/
butterfly_sums_from_every_lane test_property s/arc__add_chunks(c, true, arc__leads(c->group, c->lane));/arc__add_chunks(c, true, c->literal.path == ARC_PATH_BUTTERFLY ? c->active : arc__leads(c->group, c->lane));/
inactive_lanes_counted test_threshold s/below = __popc(c->present) < least/below = __popc(c->lanes) < least/
+threshold_off_by_one_grouped test_threshold s/__popc(c->group) < c->decision.min_group) c->group/__popc(c->group) <= c->decision.min_group) c->group/
decision_of_8_bytes_by_words test_paths s/FORMULA((unsigned)(work), (unsigned)arc__requests(words, 3))/FORMULA((unsigned)(work), (unsigned)words)/
decision_of_16_bytes_by_words test_paths s/FORMULA((long long)(work), (long long)arc__requests(words, 4))/FORMULA((long long)(work), (long long)words)/
decision_of_the_wrong_vectors test_paths s/return stride_bytes % 16 == 0 ? 4 : 3;/return 3;/
lost_last_lane test_property s/^  \*rest \&= ~group;/  *rest \&= ~group, *rest \&= *rest - 1u;/
tree_adds_itself test_property s/bool adds = next < ARC__NO_LANE;/bool adds = true;/
tree_ends_after_four_rounds test_property s/define ARC__ROUNDS 5/define ARC__ROUNDS 4/
runs_where_groups_mix test_property s/arc__leaders_below(c) <= below_group/true/
redux_of_several_groups test_types:TEST_TYPES_PART=2 s/ \&\& (c->leaders \& (c->leaders - 1u)) == 0u)$/)/
skipped_tail_of_the_width test_property s/first < (c)->width; first += (most))/first == 0 || first + (most) <= (c)->width; first += (most))/
dynamic_sums_of_all_lanes test_widths s/ + mine \/ most \* ARC__BEYOND;/;/
dynamic_loop_leaves_one test_widths s/for (; first < c->width; ++first, address += bytes)/for (; first + 1 < c->width; ++first, address += bytes)/
chunk_in_the_place_of_the_first test_property s/arc__location_of(c->target, first + i);/arc__location_of(c->target, i);/
+wrong_piece_offset test_property s/at.offset = value - begin;/at.offset = value;/
seventh_piece_lost test_property s/ARC__ONE_OF(i, 6, count/ARC__ONE_OF(i, 5, count/
vectors_on_a_papers_path test_policies:ARC_PATH=ARC_PATH_SERIALIZED s/^  if (arc__adds_by_value(c)) return 2;/  if (false) return 2;/
address_of_32_bits test_property s/return base + (long long)((arc__u64)arc__key_id(key) \* (arc__u64)stride_bytes);/return base + (int)((unsigned)key.low * (unsigned)stride_bytes);/
pointers_of_two_groups_as_of_one test_property s/bool leads = arc__leads(c.group, c.lane);/bool leads = arc__leads(c.present, c.lane);/
+divergent_call_as_whole_warp test_divergent s/here ? __activemask() :/here ? ARC_LANES_ALL :/
kept_threshold_is_one test_threshold s/__popcll((1ull << x) - 1u)/__popcll(1ull << x)/
shuffles_decide_for_one_key test_paths s/ARC_MIN_LANES_TO_REDUCE, t->width \* each);/ARC_MIN_LANES_TO_REDUCE, arc__shuffles(t->width) * each);/
doubles_decide_as_floats test_paths s/ARC_MIN_LANES_TO_REDUCE, t->width \* each);/ARC_MIN_LANES_TO_REDUCE, t->width);/
empty_warp_goes_on test_empty_cost s/return votes \&\& !__any_sync(c->lanes, c->active);/return false;/
scalar_add_is_a_store test_targets s/arc__atomic_add(KIND, ARC_SCOPE, (char \*)address, arc__read(KIND, \&value, 0));/*address = value;/
wrongly_checked_stride_0 user_errors:ARC_CHECK=2 s/stride == 0 || stride >= length/stride >= length/
upper_word_left_behind test_types:TEST_TYPES_PART=1 s/if (arc__bytes(kind) == 8) w.hi = __##name##_sync/if (false) w.hi = __##name##_sync/
upper_word_kept test_types:TEST_TYPES_PART=1 s/send.hi = arc__keep_and_send(c->literal.kind, may_clobber, upper, \&low.hi, high.hi);/send.hi = high.hi;/
planes_as_rows test_types:TEST_TYPES_PART=6 s/return (long long)t->step \* (arc__bytes/return 1ll * (arc__bytes/
+halves_swapped test_types:TEST_TYPES_PART=3 s/return arc__pack(memory, x, __uint_as_float(next.lo));/return arc__pack(memory, __uint_as_float(next.lo), x);/
half_behind_the_row test_types:TEST_TYPES_PART=3 s/arc__word next = none;/arc__word next = w[low];/
halves_of_old_architectures test_types:TEST_TYPES_PART=3,SIMT_ARCH=600 s/ + arc__half_value(memory, b.lo >> 16));/);/
fixed_unscaled test_types:TEST_TYPES_PART=4 s/return arc__fixed(x \* scale);/return arc__fixed(x);/
typed_by_the_values test_types:TEST_TYPES_PART=3 s/(target)->memory = (MEMORY))/(target)->memory = (KIND))/
+exact_forgotten test_repeatable s/arc__kind_of(target->kind, memory, o.exact || here)/arc__kind_of(target->kind, memory, here)/
scale_of_sums_that_do_not_round test_repeatable s/const double most = largest \* (1.0 + 1.0 \/ 524288.0)/const double most = largest * (1.0 + 0.0)/
key_cut_in_a_match test_keys s/if (key.bits == 64) key.carry = __shfl_sync/if (false) key.carry = __shfl_sync/
unchecked_key user_errors_forms:ARC_CHECK=0 s/if (o.key_bits == 32 \&\& active) arc__check_key(id);/;/
unchecked_key_below user_errors_forms:ARC_CHECK=0 s/if (key < -0x80000000ll) arc__refuse_key();/;/
sums_below_the_threshold test_forms s/if (__popc(s->group) < c->decision.min_group) s->group/if (__popc(s->group) < c->decision.min_group - 1) s->group/
hot_key_as_it_is test_keys s/arc__key_id(c.key) - (arc__u64)h->first/key - (arc__u64)h->first/
hot_key_of_32_bits test_keys s/arc__u64)arc__key_id(c.key) - /arc__u64)(int)key - /
unchecked_first_key user_errors_forms:ARC_CHECK=0 s/key_bits == 32 \&\& first > 0x7fffffffll/false/
hot_rows_of_one_warp test_forms s/^    warps = arc__warps();/    warps = 1;/
hot_rows_of_others_zero test_forms:CHECK_INACTIVE_ZERO=1 s/options.promises \&= ~ARC_PROMISE_INACTIVE_IS_ZERO;/;/
hot_fixed_as_floats test_types:TEST_TYPES_PART=4 s/int kind = arc__hot_kind(h->target.kind, h->target.memory);/int kind = h->target.kind;/
unchecked_sum_twice user_errors_forms:ARC_CHECK=2 s/ARC__CHECK(2, !(form)->duty.is_added,/ARC__CHECK(2, true,/
+unchecked_hot_end user_errors_forms:ARC_CHECK=2 s/ARC__CHECK(2, arc__is_zero(state->kind, /ARC__CHECK(2, true || arc__is_zero(state->kind, /
unchecked_memory user_errors_forms:ARC_CHECK=2 s/ARC__CHECK(2, (form)->duty.state->begun == (form)->duty.begun,/ARC__CHECK(2, true,/
unchecked_hot_size user_errors_forms:ARC_CHECK=1 s/return __isGlobal(shared) || !__isGlobal(shared + bytes - 1);/return true;/
unchecked_values_of_a_sum user_errors_forms:ARC_CHECK=2 s/ARC__CHECK(2, (sum)->duty.begun == arc__digest_values(call),/ARC__CHECK(2, true,/
sharers_of_one_address test_drop_in:ARC_DROP_IN=ARC_DROP_IN_SUMS s/  if (same) return lanes;/  return lanes;/
drop_in_added_twice test_drop_in s/^    used = true;/    used = false;/
drop_in_waits_for_shared_lanes test_drop_in_uses:ARC_DROP_IN=ARC_DROP_IN_SUMS s/  if (!__is_class(T) && arc__is_apart(p)) return (void)atomicAdd(p, v);/const unsigned all = arc__lanes_here(); const auto arc__lanes_here = [=] { return all; }; if (__isShared(p)) return (void)atomicAdd(p, v);/
profile_rows_where_others_have_enough test_profile:ARC_PROFILE=1 s/const bool all = !c->enough;/const bool all = !c->enough || c->all[here] < ARC__ALL;/
+rows_out_of_order test_index_add s/if (rank \& bit) below |= same \& ~ones;/;/
row_of_another_position test_index_add s/o.row = __shfl_sync(ARC_LANES_ALL, (int)distance, from);/o.row = (int)distance;/
kept_rows_never_added test_index_add s/    arc__release(\&index_add->any, \&c); *\\/ \\/
kept_words_mixed test_index_add s/if (vector > 1 || ARC__WARP \* i == first) __VA_ARGS__/if (vector > 1 || i == 0) __VA_ARGS__/
+wide_window_too_low test_wide s/(2u \* bits - ((unsigned)ARC__WIDE_FIRST << 24)) >> 28 : 0u;/(2u * bits - ((unsigned)ARC__WIDE_FIRST << 24)) >> 29 : 0u;/
learns_drawn_adds_twice test_drop_in s/    arc__drawn(lanes,/    atomicAdd(p, v), arc__drawn(lanes,/
learns_once test_drop_in s/  arc__drop_in_red((unsigned \*)&s->score/  if (taken < ARC__SAMPLES) arc__drop_in_red((unsigned *)\&s->score/
learns_never_known test_drop_in s/(unsigned)ARC__KNOWN;/0u;/
learns_known_for_all test_drop_in s/!known ? 0u/!known ? of/
learns_forgets_neighbours test_drop_in s/32u\], of, on)/32u], of | 1u << (line - 1u) % 32u, on)/
learns_where_memory_is_fast test_drop_in s/gain = summed ? 0 : -5/gain = 0/
learns_turns_at_zero test_drop_in s/sums = score > ARC__CLEAR/sums = score > 0/
learns_no_only_of_32 test_drop_in s/score <= -ARC__CLEAR/false/
learns_samples_no_oftener test_drop_in s/? 7 : 2);/? 2 : 2);/
learns_prices_of_one test_drop_in s/one ? 8 : sectors/one ? 5 : sectors/
learns_asks_as_often test_drop_in s/(0xff0u | (says \& ARC__KNOWN))/0xff0u/
+learns_where_lanes_part test_drop_in s|if (__any_sync(lanes, line & ARC__DRAWN))|if (line \& ARC__DRAWN)|
learns_nothing_behind_line_8388607 test_drop_in s/(unsigned)at.line << 9 >> 1 | entry/(unsigned)at.line << 8 | entry/
wide_subnormals_halved test_wide:ARC_WIDE_WORDS=16 s/^#define ARC__WIDE_EXACT (ARC__WIDE_FIRST > 0 ? ARC__WIDE_FIRST : 1)/#define ARC__WIDE_EXACT ARC__WIDE_FIRST/
wide_hot_infinities_added test_wide s/(arc__u64 \*)address, told);/(arc__u64 *)address, arc__bits(sum));/
wide_not_taken test_wide s/if (row\[w \* width + i\] != 0) row\[w \* width + i\] = 0;/;/
wide_infinities_not_taken test_wide s/!= 0) infinities\[0\] = infinities\[1\] = 0;/!= 0) infinities[0] = 0;/
overload_of_another_name test_overloads s/ARC__OVERLOAD_ADD(arc_add_uniform, S, T, ARC__ACTIVE, , active)/ARC__OVERLOAD_ADD(arc_add_uniform, S, T, ARC__ACTIVE, , true)/
overload_of_a_piece_less test_overloads s/return arc_target##S##_pieces(pieces, count);/return arc_target##S##_pieces(pieces, count - 1);/
END
