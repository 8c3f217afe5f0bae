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

/* One odd value in a random parameter of one active lane of every warp; or nothing else: sums of
   denormals, of zeros, of infinities of one sign. */
static void run_odd(int entry, int path, int odd, int width, bool alone) {
  struct check_case c;
  if (!check_open(&c, alone ? "one odd value" : "nothing but odd values", width, 4,
                  entry == MASKED ? 75 : 96, 1))
    return;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 200, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill(&c, alone && odd % 2 ? 32 : 1 + check_below(&c.random, 32), entry == UNIFORM);
  c.exact = 0;
  c.uniform = entry == UNIFORM;
  check_draw_values(&c);
  for (int w = 0; w < c.warps; ++w) {
    const int parameter = check_below(&c.random, width);
    int one = check_below(&c.random, 32);
    while (c.active[w] && !(c.active[w] >> one & 1)) one = (one + 1) & 31;
    for (int lane = 0; lane < 32; ++lane)
      for (int k = 0; k < width && c.active[w] >> lane & 1; ++k)
        if (!alone || (lane == one && k == parameter))
          c.values[(size_t)(w * 32 + lane) * width + k] = odd_values[odd];
  }
  check_run(&c, check_launches[entry]);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  const int widths[] = {1, 2, 3, 5, 9, 10, 16, 31, 32, 33};
  int turn = 0;
  for (int entry = 0; entry < ENTRIES; ++entry)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      for (int odd = 0; odd < ODD_VALUES; ++odd, ++turn) {
        for (int i = 0; i < 3; ++i) run_odd(entry, path, odd, widths[(turn + 3 * i) % 10], true);
        run_odd(entry, path, odd, widths[turn % 10], false);
      }
  return check_finish();
}
