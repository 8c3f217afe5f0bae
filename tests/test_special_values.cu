/* test_special_values.cu - NaN, infinity, denormals, -0.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One odd value of one lane reaches exactly that parameter of that key: all other floats are
 * compared with the oracle as always, and those around the rows must keep their sentinel.
 */
#include "check.cuh"

enum { KEYED = CHECK_KEYED, UNIFORM = CHECK_UNIFORM, MASKED = CHECK_MASKED, ENTRIES };

static const float odd_values[] = {NAN,         INFINITY, -INFINITY, 0x1p-149f, -0x1p-130f,
                                   0x1.fp-127f, -0.0f,    0.0f,      0x1p-126f};

enum { ODD_VALUES = sizeof odd_values / sizeof odd_values[0] };

static void fill(struct check_case *c, int entry, int count) {
  for (int w = 0; w < c->warps; ++w) {
    c->active[w] = check_mask(check_below(&c->random, SHAPE_COUNT), count, &c->random);
    if (entry == UNIFORM)
      check_rows(c, 0, w, KEYS_CONTIGUOUS, 1, check_below(&c->random, c->key_count));
    else
      check_fill_rows(c, 0, w, check_below(&c->random, CHECK_GROUPINGS));
  }
}

/* Puts one odd value into a random parameter of one active lane of every warp. */
static void place(struct check_case *c, float odd) {
  for (int w = 0; w < c->warps; ++w) {
    const unsigned there = c->active[w] & c->alive[w];
    int lane = check_below(&c->random, 32);
    if (!there) continue;
    while (!(there >> lane & 1)) lane = (lane + 1) & 31;
    const size_t call = (size_t)w * 32 + lane;
    c->values[call * c->plan.width + check_below(&c->random, c->plan.width)] = odd;
  }
}

static void one_odd_value(int entry, int path, int odd, int width) {
  struct check_case c;
  if (!check_open(&c, "one odd value", width, 4, entry == MASKED ? 75 : 96, 1)) return;
  c.uniform = entry == UNIFORM;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 200, width + check_below(&c.random, 4), check_below(&c.random, 4));
  fill(&c, entry, odd % 2 ? 32 : 1 + check_below(&c.random, 32));
  c.exact = 0;
  check_draw_values(&c);
  place(&c, odd_values[odd]);
  check_run(&c, check_launches[entry]);
}

/* Nothing but odd values: sums of denormals, of zeros, of infinities of one sign. */
static void all_odd(int entry, int path, int odd, int width) {
  struct check_case c;
  if (!check_open(&c, "nothing but odd values", width, 3, 64, 1)) return;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 200, width, check_below(&c.random, 4));
  fill(&c, entry, 1 + check_below(&c.random, 32));
  c.exact = 0;
  check_draw_values(&c);
  for (int t = 0; t < c.threads; ++t)
    if (check_is_active(&c, 0, t))
      for (int k = 0; k < width; ++k) c.values[(size_t)t * width + k] = odd_values[odd];
  check_run(&c, check_launches[entry]);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  const int widths[] = {1, 2, 3, 5, 9, 10, 16, 31, 32, 33};
  int turn = 0;
  for (int entry = 0; entry < ENTRIES; ++entry)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      for (int odd = 0; odd < ODD_VALUES; ++odd, ++turn) {
        for (int i = 0; i < 3; ++i) one_odd_value(entry, path, odd, widths[(turn + 3 * i) % 10]);
        all_odd(entry, path, odd, widths[turn % 10]);
      }
  return check_finish();
}
