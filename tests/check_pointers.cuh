/* check_pointers.cuh - the calls of a plan by the papers' arrays of pointers.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_CHECK_POINTERS_CUH
#define ARC_TESTS_CHECK_POINTERS_CUH

#include "check.cuh"

#include "arc/papers.cuh"

/* As check_add; a call without values has no pointers either. */
static __device__ __forceinline__ void check_add_pointers(int form, int path,
                                                          const struct check_plan *plan, int update,
                                                          const struct check_call &c) {
  const int width = plan->width;
  float *const *pointers = plan->pointers + check_call_index(plan, update) * width;
  if (!c.values) pointers = NULL;
  if (form == CHECK_POINTERS_DIVERGENT && !c.active) return;
  if (path == 0 && CHECK_PROMISES == 0 && c.threshold == ARC_BALANCE_THRESHOLD) {
    if (form == CHECK_POINTERS)
      arc_add_pointers_f32(pointers, width, c.key, c.values, c.active);
    else if (form == CHECK_POINTERS_MASKED)
      arc_add_pointers_masked_f32(pointers, width, c.key, c.values, c.active, c.mask);
    else
      arc_add_pointers_divergent_f32(pointers, width, c.key, c.values);
    return;
  }
  arc_options o = arc_options_default();
  o.path = path == 0 ? ARC_PATH : path;
  o.threshold = c.threshold;
  o.promises = CHECK_PROMISES;
  if (form == CHECK_POINTERS_MASKED) o.lane_mask = c.mask;
  if (form == CHECK_POINTERS_DIVERGENT) o.lane_mask = ARC_LANES_HERE;
  arc_add_pointers_with_f32(pointers, width, c.key, c.values, c.active, o);
}

#define CHECK_CALL_POINTERS(form, call) \
  ((void)target, check_add_pointers(form, path, &plan, update, call(&plan, update, values)))

#endif
