/* wide_memory.cu - what the memory of sums that repeat costs: adding to it, clearing it, reading it.
   SPDX-License-Identifier: Apache-2.0

   wide_memory [OUT.csv]   floats, fixed and wide targets; widths 3, 9, 16; a million rows of a GPU

   Columns of one size, and columns that differ by 10^4 each: these use several windows of a row. The
   sweep's preset `types` has what adding costs by lanes and keys. */
#define ARC_WIDE 1
#include "../common/table_program.h"

#include "arc.cuh"

enum { F32, FIXED, WIDE, TARGETS };
enum { BLOCKS = SIMT_ON_CPU ? 2 : 1056, THREADS = SIMT_ON_CPU ? 64 : 256 };
enum { ROWS = SIMT_ON_CPU ? 50 : 1000000, UPDATES = SIMT_ON_CPU ? 8 : 256, RUNS = 9, SCALE = 24 };
enum { MOST_WIDTH = 16 };
static const char *const names[TARGETS] = {"f32", "fixed", "wide"};

/* Each warp adds to rows at random, with all its lanes. */
template <int WIDTH>
static __global__ void add(void *rows, int target, float step) {
  const arc_target_f32 f32 = arc_target_f32_rows((float *)rows, WIDTH, WIDTH);
  const arc_target_fixed fixed = arc_target_fixed_rows((long long *)rows, WIDTH, WIDTH, SCALE);
  const arc_target_wide wide = arc_target_wide_rows((long long *)rows, ARC_WIDE_ROW(WIDTH), WIDTH);
  const unsigned lane = threadIdx.x % 32u;
  unsigned bits = (blockIdx.x * blockDim.x + threadIdx.x) / 32u * 2654435761u + 12345u;
  for (int update = 0; update < UPDATES; ++update) {
    bits = bits * 1664525u + 1013904223u;
    const int key = (int)__umulhi(bits, ROWS);
    float values[WIDTH], size = 1e-4f / step;
    for (int i = 0; i < WIDTH; ++i) {
      size = i % 3 == 0 ? 1.0f : size * step;
      values[i] = size * (1.0f + (float)((bits >> (i + 4) ^ lane) & 0xffffu));
    }
    if (target == F32) arc_add_uniform_f32(f32, key, values, true);
    if (target == FIXED) arc_add_uniform_fixed(fixed, key, values, true);
    if (target == WIDE) arc_add_uniform_wide(wide, key, values, true);
  }
}

/* take: and clears them. */
template <int WIDTH>
static __global__ void read(long long *rows, float *sums, int target, bool take) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  long long *row = rows + (long long)(i / WIDTH) * ARC_WIDE_ROW(WIDTH);
  if (i >= ROWS * WIDTH) return;
  if (target == FIXED)
    sums[i] = arc_fixed_to_f32(rows[i], SCALE);
  else
    sums[i] =
        take ? arc_wide_take_f32(row, WIDTH, i % WIDTH) : arc_wide_to_f32(row, WIDTH, i % WIDTH);
}

/* False if the sums that are read and those that are taken differ. */
template <int WIDTH>
static bool measure(FILE *out, void *rows, float *sums, bool differ) {
  const float step = differ ? 1e4f : 1.0f;
  const int sum_blocks = (ROWS * WIDTH + 255) / 256;
  bool same = true;
  for (int target = 0; target < TARGETS; ++target) {
    const size_t words = target == WIDE ? ARC_WIDE_ROW(WIDTH) : WIDTH;
    const size_t bytes = words * ROWS * (target == F32 ? sizeof(float) : sizeof(long long));
    auto clear = [&] { device_clear(rows, bytes); };
    auto fill = [&] { SIMT_LAUNCH(add<WIDTH>, BLOCKS, THREADS, 0, 0, rows, target, step); };
    auto reads = [&](bool take) {
      SIMT_LAUNCH(read<WIDTH>, sum_blocks, 256, 0, 0, (long long *)rows, sums, target, take);
    };
    clear();
    fprintf(out, "%d,%s,%s,%.1f,%.4f,%.4f", WIDTH, differ ? "1e4" : "one", names[target],
            (double)bytes / 1e6, median_time(RUNS, fill), median_time(RUNS, clear, fill));
    clear(), fill();
    if (target != F32) fprintf(out, ",%.4f", median_time(RUNS, [&] { reads(false); }));
    if (target == WIDE) {
      const auto read_sums = device_read<float>(sums, ROWS * WIDTH);
      fprintf(out, ",%.4f\n",
              median_time(
                  RUNS, [&] { reads(true); }, [&] { clear(), fill(); }));
      same = same && device_read<float>(sums, ROWS * WIDTH) == read_sums;
    } else {
      fprintf(out, target == F32 ? ",,\n" : ",\n");
    }
  }
  return same;
}

static bool measure_all(FILE *out, error_line *error) {
  const size_t most = (size_t)ROWS * MOST_WIDTH;
  void *rows = nullptr, *sums = nullptr;
  bool same = true;
  device_check(cudaMalloc(&rows, (size_t)ROWS * ARC_WIDE_ROW(MOST_WIDTH) * 8), "memory for rows");
  device_check(cudaMalloc(&sums, most * sizeof(float)), "memory for sums");
  fprintf(out, "# rows: %d, windows: %d\n", ROWS, ARC_WIDE_WORDS);
  fprintf(out, "width,columns_differ_by,target,mb,add_ms,clear_ms,read_ms,take_ms\n");
  for (int differ = 0; differ < 2; ++differ) {
    same = measure<3>(out, rows, (float *)sums, differ) && same;
    same = measure<9>(out, rows, (float *)sums, differ) && same;
    same = measure<16>(out, rows, (float *)sums, differ) && same;
  }
  return same || error_set(error, "sums that were taken differ from those that were read");
}

int main(int argc, char **argv) { return table_program("wide_memory", argc, argv, measure_all); }
