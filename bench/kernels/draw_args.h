/* draw_args.h - what the generator of draw.cuh is told. Plain C++.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a lane of every warp is told. In memory, not among the arguments, so that it stays in
   registers: a constant that is loaded again in the loop would share the shuffles' pipe. */
struct sweep_lane_setup {
  int rank;     /* active if rank (permuted, see below) < the update's count of active lanes */
  int position; /* of the lane along the warp's keys, see group below */
  float inactive_value;
  long long never; /* 0, which the compiler cannot tell */
};

/* Of a file of masks: the first `lanes` lanes are active; their keys change as by rate, below. */
struct sweep_mask {
  int lanes, rate;
};
enum { SWEEP_MASKS = 1024 };

struct sweep_args {
  float *rows;                          /* or of another type */
  const struct sweep_lane_setup *lanes; /* 32 */
  const struct sweep_mask *masks;       /* SWEEP_MASKS, of which each update draws one; or null */
  int stride;                           /* values from one row to the next */
  int row_count, updates, threshold;
  unsigned seed;
  /* count = count_base + (drawn bits & mask), mask = count_mask_many or, for every other draw,
     count_mask_many ^ count_mask_flip; above 32 is all lanes. empty_mask: one bit, then every
     other draw has no active lane; or 0 */
  int count_base, count_mask_many, count_mask_flip;
  unsigned empty_mask;
  unsigned rank_step_mask, rank_shift_mask; /* nonzero: ranks are permuted anew in every update */
  /* rate = (rate_base + (drawn bits & mask)) << (drawn bits & mask)
     group = (position * rate + (drawn bits & mask)) / 128: lanes whose groups are equal share their
     key; along the lanes, keys change every 128 / rate positions */
  int rate_base, rate_add_mask, rate_shift_mask, phase_mask;
  unsigned random_groups; /* > 0: a lane draws its group among so many */
  /* key = (hash of the warp's state + group * spread, below key_count) >> (drawn bits & mask)
           + group * step */
  int key_count, group_step;
  unsigned group_spread, key_shift_mask;
  int width; /* for kernels without a literal width */
};
