/* test_overloads.cu - the names without suffixes do what those with suffixes do, for each type; and
 * calls of both scopes in one file. SPDX-License-Identifier: Apache-2.0
 *
 * Each call adds the same integers, so that the rows of all calls and types must be alike.
 * TEST_TYPES_PART: 1 or 2, half of the types; default: all.
 */
#include "check.cuh"

#include "arc/overloads.cuh"

enum { WIDTH = 3, ROWS = 7, WARPS = 5, THREADS = 32 * WARPS, CELLS = ROWS * WIDTH };
/* clang-format off */
#define EACH_CALL(X)                                                                       \
  X(KEYED) X(UNIFORM) X(MASKED) X(DIVERGENT) X(WITH_SYSTEM) X(DYNAMIC) X(PLANES) X(PIECES) \
  X(SCALAR) X(GATHERED)
/* clang-format on */
#define NUMBER(call) call,
#define NAME(call) #call,
enum { EACH_CALL(NUMBER) CALLS };
static const char *const call_names[] = {EACH_CALL(NAME)};

template <class T>
static __global__ void add(T *cells, const T *all_values) {
  const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int key = thread * 5 % ROWS;
  const bool active = thread % 4 != 1;
  T values[WIDTH];
  for (int i = 0; i < WIDTH; ++i) values[i] = all_values[thread * WIDTH + i];
  arc_options system = arc_options_default(), device = system;
  system.scope = ARC_SCOPE_SYSTEM;
  device.scope = ARC_SCOPE_DEVICE;
  auto rows = [&](int call) { return arc_target_rows(cells + call * CELLS, WIDTH, WIDTH); };
  arc_add(rows(KEYED), key, values, active);
  for (int k = 0; k < ROWS; ++k) arc_add_uniform(rows(UNIFORM), k, values, active && key == k);
  const unsigned odd = 0xaaaaaaaau;
  arc_add_masked(rows(MASKED), key, values, active, thread % 2 ? odd : ~odd);
  if (active) arc_add_divergent(rows(DIVERGENT), key, values);
  arc_add_with(rows(WITH_SYSTEM), key, values, active && thread % 2, system);
  arc_add_with(rows(WITH_SYSTEM), key, values, active && !(thread % 2), device);
  arc_add(arc_target_dynamic(cells + DYNAMIC * CELLS, WIDTH, WIDTH), key, values, active);
  arc_add(arc_target_planes(cells + PLANES * CELLS, ROWS, WIDTH), key, values, active);
  T *two = cells + PIECES * CELLS;
  const arc_piece_of<T> pieces[] = {{two, WIDTH, 1}, arc_piece(two + 1, WIDTH, WIDTH - 1)};
  arc_add(arc_target_first(arc_target_pieces(pieces, 2), 2), key, values, active);
  for (int i = 0; active && i < WIDTH; ++i)
    arc_atomic_add(&cells[SCALAR * CELLS + key * WIDTH + i], values[i]);
  auto gather = arc_index_add_begin(rows(GATHERED), all_values, WIDTH);
  arc_index_add_rows_with(&gather, key, thread, active && thread % 3 == 0, device);
  arc_index_add_rows(&gather, key, thread, active && thread % 3 != 0);
  arc_index_add_end(&gather);
}

template <class T>
static void run(const char *type) {
  static T values[THREADS * WIDTH], must[CELLS];
  struct check_random random;
  if (!check_begin(type, &random)) return;
  memset(must, 0, sizeof must);
  for (int n = 0; n < THREADS; ++n)
    for (int i = 0; i < WIDTH; ++i) {
      values[n * WIDTH + i] = (T)check_below(&random, 100);
      if (n % 4 != 1) must[n * 5 % ROWS * WIDTH + i] += values[n * WIDTH + i];
    }
  const test_memory<T> device_cells(CALLS * CELLS), device_values(values);
  SIMT_LAUNCH(add<T>, dim3(WARPS), dim3(32), 0, 0, device_cells.at, device_values.at);
  const std::vector<T> cells = device_cells.read();
  for (int i = 0; i < CALLS * CELLS; ++i) {
    const int call = i / CELLS, cell = i % CELLS;
    const T sum = must[call == PLANES ? cell % ROWS * WIDTH + cell / ROWS : cell];
    CHECK(cells[i] == sum, "%s, %s: cell %d is %g and must be %g", type, call_names[call], cell,
          (double)cells[i], (double)sum);
  }
  check.compared += CALLS * CELLS;
}

int main(int argc, char **argv) {
  check_main(argc, argv);
#if !defined TEST_TYPES_PART || TEST_TYPES_PART == 1
  run<float>("float");
  run<double>("double");
  run<int>("int");
#endif
#if !defined TEST_TYPES_PART || TEST_TYPES_PART == 2
  run<unsigned>("unsigned");
  run<long long>("long long");
  run<unsigned long long>("unsigned long long");
#endif
  return check_finish();
}
