// collectives.cu -- every collective against its definition, on random masks; both builds.
// SPDX-License-Identifier: Apache-2.0
//
// The references below are written from the CUDA programming guide, one lane at a time, and share
// nothing with the engine. The same program run on a GPU shows that they say what hardware does.
#include "../../bench/common/test_device.h"
#include "../../bench/common/test_memory.h"

#include <string.h>

#include <random>

enum kind { by_index, up, down, by_xor };
enum vote { vote_ballot, vote_any, vote_all };
enum reduction { add, least, most, bit_and, bit_or, bit_xor };

struct operation {
  int kind;
  unsigned mask;
  int argument, width;
};

template <class T>
static __global__ void run_shuffles(const operation *operations, int count, const T *values,
                                    T *results) {
  int lane = (int)threadIdx.x;
  for (int i = 0; i < count; ++i) {
    operation o = operations[i];
    if (!(o.mask >> lane & 1u)) continue;
    T value = values[32 * i + lane], result = value;
    // The source of a shuffle by index may differ from lane to lane.
    int argument = o.kind == by_index ? o.argument + lane * (o.argument & 3) : o.argument;
    if (o.kind == by_index) result = __shfl_sync(o.mask, value, argument, o.width);
    if (o.kind == up) result = __shfl_up_sync(o.mask, value, (unsigned)argument, o.width);
    if (o.kind == down) result = __shfl_down_sync(o.mask, value, (unsigned)argument, o.width);
    if (o.kind == by_xor) result = __shfl_xor_sync(o.mask, value, argument, o.width);
    results[32 * i + lane] = result;
  }
}

static int expected_source(const operation &o, int lane) {
  int segment = lane / o.width, position = lane % o.width;
  if (o.kind == by_index) {
    int argument = o.argument + lane * (o.argument & 3);
    return segment * o.width + ((argument % o.width) + o.width) % o.width;
  }
  if (o.kind == up) return position - o.argument < 0 ? lane : lane - o.argument;
  if (o.kind == down) return position + o.argument >= o.width ? lane : lane + o.argument;
  // Earlier segments may be read, later ones not.
  int source = lane ^ o.argument;
  return source / o.width > segment ? lane : source;
}

// A shuffle may only read lanes that take part.
static bool legal(const operation &o) {
  for (int lane = 0; lane < 32; ++lane)
    if ((o.mask >> lane & 1u) && !(o.mask >> expected_source(o, lane) & 1u)) return false;
  return true;
}

static std::mt19937 generator(20);
// Of all lanes, of one, of about half, of about a quarter; never empty.
static unsigned random_mask(void) {
  const unsigned r = (unsigned)generator(), kind = (unsigned)generator() % 4;
  if (kind == 0) return 0xffffffffu;
  const unsigned mask = kind == 1 ? 1u << (r & 31) : kind == 2 ? r : r & (unsigned)generator();
  return mask ? mask : 1u;
}

static std::vector<operation> shuffle_operations(void) {
  std::vector<operation> operations;
  for (int kind = by_index; kind <= by_xor; ++kind)
    for (int width = 1; width <= 32; width *= 2)
      for (int argument = kind == by_index ? -40 : 0; argument < 32; ++argument) {
        operation o = {kind, 0xffffffffu, argument, width};
        operations.push_back(o);
      }
  while (operations.size() < 3000) {
    operation o = {(int)(generator() % 4), random_mask(), (int)(generator() % 32),
                   1 << generator() % 6};
    if (legal(o)) operations.push_back(o);
  }
  return operations;
}

template <class T>
static void test_shuffles(const char *name, const std::vector<operation> &operations) {
  std::vector<T> values(operations.size() * 32);
  for (T &v : values) v = (T)((double)(generator() >> 1) * 0.25);
  const test_memory<operation> device_operations(operations);
  const test_memory<T> device_values(values), device_results(values);
  SIMT_LAUNCH(run_shuffles<T>, 1, 32, 0, 0, device_operations.at, (int)operations.size(),
              device_values.at, device_results.at);
  std::vector<T> results = device_results.read();
  for (size_t i = 0; i < operations.size(); ++i)
    for (int lane = 0; lane < 32; ++lane) {
      const operation &o = operations[i];
      if (!(o.mask >> lane & 1u)) continue;
      T expected = values[32 * i + (size_t)expected_source(o, lane)];
      CHECK(memcmp(&results[32 * i + (size_t)lane], &expected, sizeof(T)) == 0,
            "%s kind %d mask 0x%08x argument %d width %d lane %d", name, o.kind, o.mask, o.argument,
            o.width, lane);
    }
}

// --------------------------------------------------------------- votes, matches, reductions

enum { answers = 18 };
static __global__ void run_others(const unsigned *masks, int count, const unsigned *values,
                                  unsigned *results) {
  int lane = (int)threadIdx.x;
  for (int i = 0; i < count; ++i) {
    unsigned mask = masks[i];
    if (!(mask >> lane & 1u)) continue;
    unsigned value = values[32 * i + lane], *r = results + (32 * i + lane) * answers;
    unsigned long long wide = (unsigned long long)value << 32 | 7u;
    int same = -1, same_wide = -1;
    r[vote_ballot] = __ballot_sync(mask, value & 4u);
    r[vote_any] = (unsigned)__any_sync(mask, value & 4u);
    r[vote_all] = (unsigned)__all_sync(mask, value & 4u);
    r[3] = __match_any_sync(mask, value);
    r[4] = __match_any_sync(mask, wide);
    r[5] = __match_all_sync(mask, value, &same);
    r[6] = __match_all_sync(mask, wide, &same_wide);
    r[7] = (unsigned)same;
    r[8] = (unsigned)same_wide;
    r[9 + add] = __reduce_add_sync(mask, value);
    r[9 + least] = __reduce_min_sync(mask, value);
    r[9 + most] = __reduce_max_sync(mask, value);
    r[9 + bit_and] = __reduce_and_sync(mask, value);
    r[9 + bit_or] = __reduce_or_sync(mask, value);
    r[9 + bit_xor] = __reduce_xor_sync(mask, value);
    r[15] = (unsigned)__reduce_min_sync(mask, (int)value);
    r[16] = (unsigned)__reduce_max_sync(mask, (int)value);
    r[17] = (unsigned)__reduce_add_sync(mask, (int)value);
    __syncwarp(mask);
  }
}

static void expected_others(unsigned mask, const unsigned *values, int lane, unsigned *r) {
  bool alike = true, first = true;
  unsigned equal = 0;
  memset(r, 0, answers * sizeof *r);
  r[vote_all] = 1;
  for (int other = 0; other < 32; ++other) {
    if (!(mask >> other & 1u)) continue;
    unsigned v = values[other];
    if (v & 4u) r[vote_ballot] |= 1u << other;
    r[vote_any] |= (v & 4u) != 0;
    r[vote_all] &= (v & 4u) != 0;
    if (v == values[lane]) equal |= 1u << other;
    alike = alike && v == values[lane];
    r[9 + add] += v;
    r[9 + least] = first || v < r[9 + least] ? v : r[9 + least];
    r[9 + most] = first || v > r[9 + most] ? v : r[9 + most];
    r[9 + bit_and] = first ? v : r[9 + bit_and] & v;
    r[9 + bit_or] |= v;
    r[9 + bit_xor] ^= v;
    r[15] = first || (int)v < (int)r[15] ? v : r[15];
    r[16] = first || (int)v > (int)r[16] ? v : r[16];
    first = false;
  }
  r[3] = r[4] = equal;
  r[5] = r[6] = alike ? mask : 0;
  r[7] = r[8] = alike;
  r[17] = r[9 + add];
}

static void test_others(void) {
  enum { count = 600 };
  std::vector<unsigned> masks(count), values(count * 32);
  for (unsigned &m : masks) m = random_mask();
  for (size_t i = 0; i < values.size(); ++i) {
    // From all alike to all different, with the sign bit now and then.
    unsigned kinds = 1u << (i / 32 % 6), v = (unsigned)generator() % kinds;
    values[i] = i / 32 % 7 == 6 ? (unsigned)generator() : v * 0x10000003u;
  }
  const test_memory<unsigned> device_masks(masks), device_values(values);
  const test_memory<unsigned> device_results(count * 32 * answers);
  SIMT_LAUNCH(run_others, 1, 32, 0, 0, device_masks.at, (int)count, device_values.at,
              device_results.at);
  std::vector<unsigned> results = device_results.read();
  for (size_t i = 0; i < count; ++i)
    for (int lane = 0; lane < 32; ++lane) {
      if (!(masks[i] >> lane & 1u)) continue;
      unsigned expected[answers];
      expected_others(masks[i], &values[32 * i], lane, expected);
      for (int a = 0; a < answers; ++a) {
        unsigned got = results[(32 * i + (size_t)lane) * answers + (size_t)a];
        CHECK(got == expected[a], "answer %d mask 0x%08x lane %d: 0x%x, must be 0x%x", a, masks[i],
              lane, got, expected[a]);
      }
    }
}

int main(void) {
  if (!test_has_device("collectives")) return TEST_SKIPPED;
#if SIMT_ON_CPU
  simt_seed_from_env();
#endif
  std::vector<operation> operations = shuffle_operations();
  test_shuffles<int>("int", operations);
  test_shuffles<unsigned>("unsigned", operations);
  test_shuffles<float>("float", operations);
  test_shuffles<long long>("long long", operations);
  test_shuffles<unsigned long long>("unsigned long long", operations);
  test_shuffles<double>("double", operations);
  test_others();
  return test_end("collectives");
}
