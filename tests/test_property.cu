/* test_property.cu - random masks, keys, widths, thresholds, paths, layouts and form points.
 * SPDX-License-Identifier: Apache-2.0
 *
 * test_property --seed S --cases N draws N cases; a failing one prints how to run it alone.
 */
#include "check.cuh"

#ifndef TEST_PROPERTY_EXACT
#define TEST_PROPERTY_EXACT 0 /* 1: whole numbers only */
#endif

static int draw_width(struct check_random *r) {
  static const int wide[] = {33, 34, 63, 64, 65, 100, 129, 256};
  return check_below(r, 12) ? check_between(r, 1, 32) : wide[check_below(r, 8)];
}

static void draw_layout(struct check_case *c, int form) {
  struct check_random *r = &c->random;
  const int keys = check_below(r, 4) ? check_between(r, 1, 40) : 1000;
  if (form >= CHECK_POINTERS && check_below(r, 3))
    check_layout_scattered(c, keys);
  else if (form == CHECK_PIECES)
    check_layout_pieces(c, keys, check_between(r, 1, CHECK_MAX_PIECES));
  else
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
  check_run_form(&c, check_launches[form], form >= CHECK_POINTERS);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  long cases = check.cases >= 0 ? check.cases : 4000;
  if (check.only >= cases) cases = check.only + 1; /* to repeat a case of a longer run */
  for (long i = 0; i < cases; ++i) random_case();
  return check_finish();
}
