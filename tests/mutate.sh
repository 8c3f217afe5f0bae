#!/bin/sh
# mutate.sh - breaks the header in many ways and shows that the tests catch each of them.
# SPDX-License-Identifier: Apache-2.0
#
# mutate.sh <repository> <scratch folder> [jobs] [name of one mutation]
# Each mutation is a sed command on a copy of arc.cuh and the tests that must catch it, tried in
# turn. A mutation that changes nothing (the header has moved on) or does not compile is an error;
# one that every test passes is a survivor. CXX names the compiler. Everything runs on the CPU warp.
set -u
root=$1 work=$2/mutations jobs=${3:-2} only=${4:-}
cxx=${CXX:-g++}

# <name> <test[:definition][,test...]> <sed command>
mutations() {
  cat <<'END'
dropped_leftover_value test_uniform s/if (live % 2 != 0) {/if (live < 0) {/
doubled_owner_of_leftover test_uniform s/owner = owner \&\& !upper;/(void)upper;/
wrong_half_kept test_uniform s/\*low = upper ? high : \*low;/*low = upper ? *low : high;/
wrong_shuffle_distance test_uniform s/w, live, distance, lane);/w, live, distance == 2 ? 1 : distance, lane);/
butterfly_short_one_step test_uniform s/for (int distance = 16; distance >= 1; distance \/= 2)$/for (int distance = 16; distance >= 2; distance \/= 2)/
wrong_neutral_element test_uniform s/? 0x80000000u : 0u; }/? 0x3f800000u : 0u; }/
inactive_lanes_not_masked test_uniform s/w\[i\] = active ? arc__load(kind, values, first + i) : arc__neutral(kind);/w[i] = arc__load(kind, values, first + i);/
key_from_the_wrong_lane test_uniform s/key = __shfl_sync(ARC__ALL_LANES, key, source);/key = __shfl_sync(ARC__ALL_LANES, key, 0);/
key_promised_of_a_keyed_add test_policies:ARC_INACTIVE_HAS_KEY=1 s/known = keys == ARC__UNIFORM \&\& ARC_INACTIVE_HAS_KEY/known = ARC_INACTIVE_HAS_KEY/
key_promised_by_nobody test_uniform s/known = keys == ARC__UNIFORM \&\& ARC_INACTIVE_HAS_KEY/known = keys == ARC__UNIFORM/
sum_emitted_by_lane_0 test_uniform s/if (lane == arc__highest(present)) arc__emit/if (lane == 0) arc__emit/
sum_emitted_by_every_lane test_uniform s/if (lane == arc__highest(present)) arc__emit/if (active) arc__emit/
inactive_lanes_counted test_threshold s/__popc(present) >= threshold/__popc(lanes) >= threshold/
threshold_off_by_one_each test_threshold s/if (__popc(group) >= threshold)/if (__popc(group) > threshold)/
threshold_off_by_one_grouped test_threshold s/|| __popc(group) >= threshold ? group/|| __popc(group) > threshold ? group/
threshold_off_by_one_butterfly test_threshold s/!one_key || __popc(present) < threshold/!one_key || __popc(present) <= threshold/
threshold_off_by_one_auto test_paths s/__popc(present) < (least/__popc(present) <= (least/
keys_looked_at_by_few test_paths s/__popc(present) < (least/__popc(lanes) < (least/
table_of_the_wrong_vectors test_paths s/? 16 : 3 \* requests/? 4 : 3 * requests/
threshold_off_by_one_pair test_paths s/!active || __popc(group) >= threshold/!active || __popc(group) > threshold/
lost_last_group test_add s/for (unsigned rest = present; rest != 0u;)/for (unsigned rest = present; (rest \& (rest - 1u)) != 0u;)/
lost_groups_below_threshold test_add s/if (plain) arc__add_plain/if (plain \&\& !active) arc__add_plain/
members_of_other_groups_added test_add s/bool member = active \&\& key == group_key;/bool member = active;/
inactive_lanes_in_a_group test_add,test_masked s/active ? key : 0) \& present;/active ? key : 0);/
garbage_keys_matched test_add s/__match_any_sync(lanes, active ? key : 0)/__match_any_sync(lanes, key)/
butterfly_of_several_keys test_add s/one_key = one_key \&\& __all_sync(.*/one_key = true;/
tree_skips_a_lane test_add s/lower != 0u ? (unsigned)arc__highest(lower)/lower != 0u ? (unsigned)arc__lowest(lower)/
tree_adds_itself test_add s/bool takes = next < ARC__NO_LANE;/bool takes = true;/
tree_ends_after_four_rounds test_add s/define ARC__ROUNDS 5/define ARC__ROUNDS 4/
tree_goes_on_for_nothing test_paths s/if (round > 0 \&\& !__any_sync(lanes, next < ARC__NO_LANE)) break;//
tree_where_nobody_shares test_empty_cost s/if (leaders == present) return;//
runs_end_a_round_early test_add s/reach >= distance)) break/reach > distance)) break/
runs_go_on_for_nothing test_paths s/asks \&\& !__any_sync(ARC__ALL_LANES, reach >= distance)/false/
runs_reach_into_the_next test_add s/lane - distance >= start/lane - distance >= start - 1/
runs_where_groups_mix test_add s/others <= (~group \& (group - 1u))/true/
runs_seldom_seen test_paths s/others <= (~group \& (group - 1u))/others < group/
runs_on_a_partial_warp test_masked s/if (lanes == ARC__ALL_LANES) {/if (true) {/
small_group_joins_a_run test_threshold s/|| __popc(group) >= threshold ? group : 1u << lane/|| true ? group : 1u << lane/
keyed_looks_at_an_empty_warp test_empty_cost s/least > 1 ? least : 1/least/
serialized_forgets_a_lane test_add s/__any_sync(lanes, rest != 0u); rest/__any_sync(lanes, (rest \& (rest - 1u)) != 0u); rest/
pair_trades_the_wrong_group test_add s/bool stays = active \&\& first_group != upper/bool stays = active \&\& first_group == upper/
pair_trades_inactive_lanes test_add s/leaves = active \&\& first_group == upper/leaves = first_group == upper/
pair_takes_the_wrong_keys test_add s/upper ? low : leaders ^ low/upper ? leaders ^ low : low/
pair_of_three_groups test_add s/__popc(leaders) <= 2/__popc(leaders) <= 3/
pair_in_the_slots_of_a_warp test_add s/lanes == ARC__CHUNK ? \&t->slot : \&t->half/\&t->slot/
one_value_from_every_lane test_add s/if (group >> lane == 1u) arc__emit(kind, t, key, w, 0, 1/if (member) arc__emit(kind, t, key, w, 0, 1/
skipped_tail_of_the_width test_add s/for (int first = ARC__CHUNK; first < t->width; first += ARC__CHUNK)/for (int first = ARC__CHUNK; first + ARC__CHUNK <= t->width; first += ARC__CHUNK)/
wrong_words_for_a_piece test_targets s/w + (from - first), to - from,/w, to - from,/
caller_values_modified test_add s/ARC__EACH(i, count, ARC__CHUNK) w\[i\] = arc__load(kind, values, first + i);/ARC__EACH(i, count, ARC__CHUNK) { w[i] = arc__load(kind, values, first + i); ((float *)values)[first + i] = 0.0f; }/
rounding_to_half_precision test_add s/? __float_as_uint(__uint_as_float(a) + __uint_as_float(b)) :/? (__float_as_uint(__uint_as_float(a) + __uint_as_float(b)) \& 0xffffe000u) :/
wrong_piece_offset test_targets s/arc__row(p, key) + 4 \* (from - begin), w/arc__row(p, key) + 4 * from, w/
slot_in_the_wrong_piece test_targets s/if (owned >= first) {/if (owned > first) {/
wide_value_in_the_wrong_piece test_targets s/arc__row(p, key) + 4ll \* (value - begin)/arc__row(p, key) + 4ll * value/
stride_left_out_of_the_alignment test_targets s/| (unsigned)p->stride_bytes | 16u/| 16u/
base_left_out_of_the_alignment test_targets s/(unsigned)(unsigned long long)p->base | //
vectors_from_the_middle_of_a_row test_targets s/vectors \&\& (from - begin) % 4 == 0 ?/vectors ?/
pair_beyond_the_row test_targets s/(count - 4 \* fours) \/ 2 : 0;/(count - 4 * fours + 1) \/ 2 : 0;/
address_of_32_bits test_targets s/return base + (long long)key \* stride_bytes;/return base + (int)((unsigned)key * (unsigned)stride_bytes);/
pointers_of_the_wrong_lane test_pointers s/__shfl_sync(ARC__ALL_LANES, mine, source)/__shfl_sync(ARC__ALL_LANES, mine, 0)/
pointers_off_by_one test_pointers s/if (owned == i) address = its;/if (owned <= i) address = its;/
butterfly_on_a_partial_warp test_masked s/bool one_key = lanes == ARC__ALL_LANES;/bool one_key = true;/
divergent_call_as_whole_warp test_divergent s/unsigned here = __activemask();/unsigned here = ARC__ALL_LANES;/
empty_warp_goes_on test_empty_cost s/if (!ARC_WARP_IS_ACTIVE \&\& !counts_first \&\& !__any_sync(lanes, active)) return;//
old_group_of_every_lane test_policies:SIMT_ARCH=600 s/if (active \&\& key == first) group = same;/group = same;/
scalar_add_is_a_store test_atomic s/arc__red(ARC__KIND_F32, (char \*)address, __float_as_uint(value));/*address = value;/
unreadable_values_read test_inactive s/w\[i\] = active ? arc__load(kind, values, first + i) : arc__neutral(kind);/{ w[i] = arc__load(kind, values, first + i); if (!active) w[i] = arc__neutral(kind); }/
END
}

# build <folder with the header> <test[:definition]> : makes <folder>/<test>
build() {
  define=
  case $2 in *:*) define=-D${2#*:} ;; esac
  "$cxx" -x c++ -std=c++17 -O1 -w $define -I"$1" -I"$root" "$root/tests/${2%:*}.cu" \
    -x none "$work/simt.o" -o "$1/${2%:*}" >"$1/${2%:*}.build.txt" 2>&1
}

if [ -n "$only" ] && [ "${5:-}" = one ]; then
  line=$(mutations | grep "^$only ") || exit 255
  rest=${line#* } tests=${line#* }
  tests=${tests%% *} command=${rest#* } folder=$work/$only
  mkdir -p "$folder"
  cp "$root/arc_policy.cuh" "$folder"
  sed -e "$command" "$root/arc.cuh" >"$folder/arc.cuh"
  if cmp -s "$root/arc.cuh" "$folder/arc.cuh"; then
    echo "ERROR    $only: matches nothing in arc.cuh any more"
    exit 1
  fi
  for test in $(echo "$tests" | tr ',' ' '); do
    if ! build "$folder" "$test"; then
      echo "ERROR    $only: does not compile: $(grep -m 1 error "$folder/${test%:*}.build.txt")"
      exit 1
    fi
    timeout 120 "$folder/${test%:*}" >"$folder/${test%:*}.txt" 2>&1
    status=$?
    if [ $status -ne 0 ] && [ $status -ne 77 ]; then
      echo "caught   $only: by $test, exit code $status"
      rm -rf "$folder"
      exit 0
    fi
  done
  echo "SURVIVED $only: $tests"
  exit 1
fi

mkdir -p "$work/unbroken"
"$cxx" -x c++ -std=c++17 -O2 -w -I"$root" -c "$root/simt/simt.cpp" -o "$work/simt.o" || exit 1
cp "$root/arc.cuh" "$root/arc_policy.cuh" "$work/unbroken"
mutations | cut -d ' ' -f 1 | grep -x "${only:-.*}" >"$work/names"
count=$(grep -c . "$work/names")
[ "$count" -gt 0 ] || {
  echo "no mutation is called $only"
  exit 1
}

# What fails on the unbroken header catches nothing.
if [ -z "$only" ]; then
  for test in $(mutations | cut -d ' ' -f 2 | tr ',' '\n' | sort -u); do
    if ! build "$work/unbroken" "$test" || ! timeout 300 "$work/unbroken/${test%:*}" >/dev/null 2>&1; then
      echo "ERROR    $test fails on the unbroken header"
      exit 1
    fi
    echo "passes   $test on the unbroken header"
  done
fi
echo "$count mutations"
xargs -P "$jobs" -I NAME sh "$0" "$root" "$2" "$jobs" NAME one <"$work/names"
status=$?
[ $status -eq 0 ] && echo "all $count caught"
exit $status
