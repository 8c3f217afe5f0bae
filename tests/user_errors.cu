/* user_errors.cu - what a user of arc can do wrong with the adds, and who reports it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "user_errors.cuh"

/* ---- who calls ------------------------------------------------------------------------------ */

USER_ERROR(1, whole_warp_call_in_if, 32, 66, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool hit = lane_index() % 3 == 0;
  if (hit || !wrong) arc_add_f32(right_target(rows), KEY, values, hit);
}

USER_ERROR(2, calls_in_if_and_else, 32, 192, MEET, MEET, NULL) {
  const bool low = lane_index() < 12;
  const arc_target_f32 target = right_target(rows);
  if (!wrong)
    arc_add_f32(target, low ? 1 : 2, values, true);
  else if (low)
    arc_add_f32(target, 1, values, true);
  else
    arc_add_f32(target, 2, values, true);
}

USER_ERROR(3, lanes_have_returned, 32, 120, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool inside = lane_index() < 20;
  if (wrong && !inside) return;
  arc_add_f32(right_target(rows), KEY, values, inside);
}

/* Launched with 20 threads. */
USER_ERROR(4, block_of_20, 20, 120, ABSENT, ABSENT, NOT_HERE, 1) {
  const arc_target_f32 target = right_target(rows);
  if (wrong)
    arc_add_f32(target, KEY, values, true);
  else
    arc_add_masked_f32(target, KEY, values, true, 0x000fffffu);
}

USER_ERROR(5, masks_differ, 32, 192, MASKS_MEET, MASKS_MEET, NULL) {
  const unsigned mask = wrong ? ~(1u << (lane_index() + 1) % 32) : 0xffffffffu;
  arc_add_masked_f32(right_target(rows), KEY, values, true, mask);
}

USER_ERROR(6, mask_of_before_the_branch, 32, 96, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool hit = lane_index() % 2 == 0;
  const unsigned mask = __ballot_sync(0xffffffffu, hit);
  if (hit && (lane_index() < 20 || !wrong))
    arc_add_masked_f32(right_target(rows), KEY, values, true, mask);
}

USER_ERROR(13, loop_with_own_trip_count, 32, 378, ABSENT, ABSENT, NOT_HERE, 1) {
  const int count = lane_index() % 3 + 1;
  const arc_target_f32 target = right_target(rows);
  for (int i = 0; i < (wrong ? count : 3); ++i) arc_add_f32(target, KEY, values, i < count);
}

USER_ERROR(23, vote_and_own_flag, 32, 66, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool hit = lane_index() % 3 == 0, any = __any_sync(0xffffffffu, hit);
  if (any && (hit || !wrong)) arc_add_uniform_f32(right_target(rows), KEY, values, hit);
}

/* Launched with two warps: 20 lanes of the first and 12 of the second call. */
USER_ERROR(25, mask_of_another_warp, 64, 192, "simt: misuse: a lane is not in its own mask", "mask",
           "arc: ...mask") {
  const bool first = threadIdx.x < 32;
  const unsigned mask = first || wrong ? 0x000fffffu : 0xfff00000u;
  if (first ? lane_index() < 20 : lane_index() >= 20)
    arc_add_masked_f32(right_target(rows), KEY, values, true, mask);
}

/* ---- what differs among the lanes ------------------------------------------------------------ */

USER_ERROR(7, two_targets, 32, 192, NULL, CHECK_SAYS("target")) {
  float *base = wrong && lane_index() >= 16 ? rows + 512 : rows;
  arc_add_f32(right_target(base), KEY, values, true);
}

USER_ERROR(8, thresholds_differ, 32, 192, ABSENT, CHECK_SAYS("threshold")) {
  add_at(right_target(rows), wrong && lane_index() % 2 ? 33 : 2);
}

USER_ERROR(9, uniform_call_with_two_keys, 32, 192, NULL, CHECK_SAYS("key")) {
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_add_uniform_f32(right_target(rows), key, values, true);
}

USER_ERROR(22, uniform_call_with_two_keys_by_atomics, 32, 192, NULL, CHECK_SAYS("key")) {
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_options options = promising(ARC_PROMISE_ONE_KEY);
  options.path = ARC_PATH_ATOMIC;
  arc_add_with_f32(right_target(rows), key, values, true, options);
}

USER_ERROR(10, target_of_another_lane, 32, 192, NULL, CHECK_SAYS("lane")) {
  __shared__ arc_target_f32 shared;
  if (lane_index() == 0) shared = right_target(rows);
  __syncthreads();
  arc_add_f32(wrong ? shared : right_target(rows), KEY, values, true);
}

USER_ERROR(17, pointers_of_a_key_differ, 32, 192, NULL, CHECK_SAYS("pointer")) {
  float *row = rows + STRIDE * (wrong && lane_index() == 9 ? KEY + 1 : KEY);
  float *const pointers[WIDTH] = {row, row + 1, row + 2};
  arc_add_pointers_f32(pointers, WIDTH, KEY, values, true);
}

USER_ERROR(21, widths_differ, 32, 192, ABSENT, CHECK_SAYS("width")) {
  const int width = wrong && lane_index() >= 16 ? 2 : WIDTH;
  arc_add_f32(arc_target_f32_rows(rows, STRIDE, width), KEY, values, true);
}

/* ---- arguments ------------------------------------------------------------------------------- */

USER_ERROR(11, width_0_literal, 32, 192, EVERYBODY_SAYS("arc: ...width")) {
  if (wrong)
    arc_add_f32(arc_target_f32_rows(rows, STRIDE, 0), KEY, values, true);
  else
    arc_add_f32(right_target(rows), KEY, values, true);
}

USER_ERROR(27, width_0_at_run_time, 32, 192, EVERYBODY_SAYS("arc: ...width")) {
  const int width = wrong ? 0 : WIDTH;
  arc_add_f32(arc_target_f32_rows(rows, STRIDE, width), KEY, values, true);
}

USER_ERROR(14, nine_pieces, 32, 1152, NULL, CHECK_SAYS("pieces")) {
  const float nine[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  arc_piece_f32 pieces[9];
  for (int i = 0; i < 9; ++i) {
    pieces[i].base = rows + 100 * i;
    pieces[i].stride = pieces[i].width = 1;
  }
  if (wrong)
    arc_add_f32(arc_target_f32_pieces(pieces, 9), KEY, nine, true);
  else
    arc_add_f32(arc_target_f32_pieces(pieces, 8), KEY, nine, true);
}

USER_ERROR(20, threshold_below_0, 32, 192, NULL, CHECK_SAYS("threshold"), 1) {
  add_at(right_target(rows), wrong ? -1 : 1);
}
USER_ERROR(109, threshold_of_35, 32, 192, NULL, CHECK_SAYS("threshold"), 1) {
  add_at(right_target(rows), wrong && lane_index() == 10 ? 35 : 1);
}

USER_ERROR(119, planes_0_apart, 32, 192, NULL, CHECK_SAYS("planes"), 1) {
  arc_add_f32(arc_target_f32_planes(rows, wrong ? 0 : 100, WIDTH), KEY, values, true);
}

USER_ERROR(114, pointers_of_width_0, 32, 192, EVERYBODY_SAYS("arc: ...width"), 0) {
  float *const row = rows + STRIDE * KEY, *const pointers[WIDTH] = {row, row + 1, row + 2};
  arc_add_pointers_f32(pointers, wrong ? 0 : WIDTH, KEY, values, true);
}

/* Negative keys are legal: row -1 is there. */
USER_ERROR(12, key_below_0, 32, 192, EVERYBODY_SAYS(LEGAL)) {
  arc_add_f32(right_target(rows + STRIDE), wrong ? -1 : 0, values, true);
}

/* A stride of 0 is legal: all keys have one row. */
USER_ERROR(106, stride_0, 32, 192, EVERYBODY_SAYS(LEGAL)) {
  arc_add_f32(arc_target_f32_rows(rows, wrong ? 0 : STRIDE, WIDTH), KEY, values, true);
}

USER_ERROR(18, key_far_outside, 32, 192, "memory that is not there", "memory that is not there",
           "illegal memory access", 2, 0, "AddressSanitizer") {
  const int key = wrong && lane_index() == 9 ? 1 << 30 : KEY;
  arc_add_f32(right_target(rows), key, values, true);
}

USER_ERROR(19, misaligned_base, 32, 192, "simt: misuse: a misaligned", CHECK_SAYS("not aligned"),
           1) {
  float *base = (float *)((char *)rows + (wrong ? 2 : 0));
  arc_add_f32(right_target(base), KEY, values, true);
}

/* Two values where three are read: the last two of the array. */
USER_ERROR(24, values_too_short, 32, 0, NULL, NULL, NULL, 2, 0,
           "AddressSanitizer: heap-buffer-overflow") {
  const float *last = rows + ROW_FLOATS - (wrong ? 2 : WIDTH);
  arc_add_f32(right_target(rows), KEY, last, true);
}

/* ---- promises -------------------------------------------------------------------------------- */

USER_ERROR(15, zeros_promised, 32, 120, NULL, CHECK_SAYS("zero")) {
  const bool active = lane_index() < 20;
  const float one = active || (wrong && lane_index() == 25) ? 1.0f : 0.0f;
  const float mine[WIDTH] = {one, 2 * one, 3 * one};
  arc_add_with_f32(right_target(rows), KEY, mine, active,
                   promising(ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO));
}

USER_ERROR(16, keys_promised, 32, 120, NULL, CHECK_SAYS("key")) {
  const int key = wrong && lane_index() == 25 ? KEY + 1 : KEY;
  arc_add_with_f32(right_target(rows), key, values, lane_index() < 20,
                   promising(ARC_PROMISE_ONE_KEY));
}

USER_ERROR(26, active_lane_promised, 32, 192, NULL, CHECK_SAYS("active")) {
  arc_add_with_f32(right_target(rows), KEY, values, !wrong, promising(ARC_PROMISE_WARP_IS_ACTIVE));
}

int main(int argc, char **argv) { return run_errors(argc, argv); }
