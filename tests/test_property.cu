/* test_property.cu - random masks, keys, widths, thresholds, paths, layouts, forms and odd values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lanes outside a mask do not exist (blocks of 1 to 130 threads), have returned, or make a call of
 * their own with the complementary mask, at the same place or in the other branch.
 *
 * test_property --seed S --cases N draws N cases; a failing one prints how to run it alone.
 */
#include "check.cuh"

#ifndef TEST_PROPERTY_EXACT
#define TEST_PROPERTY_EXACT 0 /* 1: whole numbers only */
#endif

/* The lanes of plan.calling make one call, all others alive another. */
CHECK_KERNEL(branches, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, {
  if (check_calling(&plan, update) >> check_lane() & 1)
    CHECK_CALL_NULL(CHECK_MASKED);
  else
    CHECK_CALL_NULL(CHECK_MASKED);
})

static int draw_width(struct check_random *r) {
  static const int wide[] = {33, 34, 63, 64, 65, 100, 129, 256};
  return check_below(r, 12) ? check_between(r, 1, 32) : wide[check_below(r, 8)];
}

static void draw_layout(struct check_case *c, int form) {
  struct check_random *r = &c->random;
  const int keys = check_below(r, 4) ? check_between(r, 1, 40) : 1000;
  if (form >= CHECK_POINTERS && check_below(r, 3))
    check_layout_scattered(c, keys);
  else if (form == CHECK_PIECES) {
    check_layout_pieces(c, keys, check_between(r, 1, CHECK_MAX_PIECES));
    if (check_below(r, 3) == 0) c->missing = check_bits(r) & ~1u;
  } else
    check_layout_rows(c, keys, c->plan.width + check_below(r, 9), check_below(r, 4));
  if (check_below(r, 4) == 0) c->key_low = (long)check_bits(r) - 0x80000000l;
  if (c->key_low + keys > 0x7fffffffl) c->key_low -= keys;
}

static void draw_warp(struct check_case *c, int form, int update, int warp) {
  struct check_random *r = &c->random;
  const int at = update * c->warps + warp;
  c->active[at] = check_any_mask(-1, r) & c->alive[warp];
  c->calling[at] = check_any_mask(-1, r);
  if (form == CHECK_UNIFORM)
    check_rows(c, update, warp, KEYS_CONTIGUOUS, 1, check_below(r, 1 << 20));
  else if (check_below(r, 2))
    check_fill_rows(c, update, warp, check_below(r, CHECK_GROUPINGS));
  else
    check_rows(c, update, warp, check_below(r, KEYS_PATTERN_COUNT), check_between(r, 1, 32),
               check_below(r, 1 << 20));
}

/* NaN, infinity, a denormal, a zero: in one parameter of one active lane of every warp, where it
   must reach exactly that parameter of that key; or nothing else: sums of such values. */
static void put_odd_values(struct check_case *c) {
  static const float odd_values[] = {NAN,         INFINITY, -INFINITY, 0x1p-149f, -0x1p-130f,
                                     0x1.fp-127f, -0.0f,    0.0f,      0x1p-126f};
  struct check_random *r = &c->random;
  const float odd = odd_values[check_below(r, sizeof odd_values / sizeof *odd_values)];
  const bool alone = check_below(r, 4) != 0;
  c->exact = 0;
  check_draw_values(c);
  for (int i = 0; i < c->warps * c->plan.updates; ++i) {
    const unsigned active = c->active[i] & c->alive[i % c->warps];
    const int parameter = check_below(r, c->plan.width);
    int one = check_below(r, 32);
    while (active && !(active >> one & 1)) one = (one + 1) & 31;
    for (int lane = 0; lane < 32; ++lane)
      for (int k = 0; k < c->plan.width && active >> lane & 1; ++k)
        if (!alone || (lane == one && k == parameter))
          c->values[(size_t)(i * 32 + lane) * c->plan.width + k] = odd;
  }
}

static void random_case(void) {
  struct check_random random;
  if (!check_begin("random", &random)) return;
  struct check_case c;
  const int form = check_below(&random, CHECK_FORMS), width = draw_width(&random);
  const int whole = form == CHECK_KEYED || form == CHECK_UNIFORM || form == CHECK_PIECES ||
                    form == CHECK_POINTERS;
  const int block = whole ? 32 * check_between(&random, 1, 4) : check_between(&random, 1, 130);
  const int path = check_between(&random, ARC_PATH_ATOMIC, ARC_PATH_AUTO);
  check_case_init(&c, random, width, check_between(&random, 1, 3), block,
                  check_between(&random, 1, 3));
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  c.exact = check_below(&c.random, 4) != 0 || TEST_PROPERTY_EXACT;
  draw_layout(&c, form);
  for (int w = 0; w < c.warps; ++w)
    if (!whole && check_below(&c.random, 3) == 0) c.alive[w] &= check_any_mask(-1, &c.random);
  for (int u = 0; u < c.plan.updates; ++u)
    for (int w = 0; w < c.warps; ++w) draw_warp(&c, form, u, w);
  if (check_below(&c.random, 4) == 0 && !TEST_PROPERTY_EXACT) put_odd_values(&c);
  const bool branch = form == CHECK_MASKED && check_below(&c.random, 2);
  check_run_form(&c, branch ? branches_launch : check_launches[form], form >= CHECK_POINTERS);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  long cases = check.cases >= 0 ? check.cases : 1500;
  if (check.only >= cases) cases = check.only + 1; /* to repeat a case of a longer run */
  for (long i = 0; i < cases; ++i) random_case();
  return check_finish();
}
