/* patterns.cu - how to call arc in nine kinds of kernels: a width that is known only at run time; a
   target in a lambda; a loop whose lanes stay together; a loop that lanes leave and skip; optional
   outputs; rows of three values; a function that knows only an address; several rows per key; a
   histogram.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/patterns.cu -o patterns                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/patterns.cu -x none simt/simt.cpp -o patterns   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#define ARC_MAX_PIECES 2 /* of `asked` */
#include "arc.cuh"
#include "arc/sums.cuh"

enum { ROWS = 40, WIDTH = 7, PIXELS = 4000, THREADS = 128, BLOCKS = PIXELS / THREADS + 1 };

/* Neighbouring pixels share a row; every fifth one has nothing to add. Whole numbers, so that sums
   are exact in any order. */
static __host__ __device__ int row_of(int pixel) { return pixel / 9 % ROWS; }
static __host__ __device__ bool hits(int pixel) { return pixel < PIXELS && pixel % 5 != 3; }
static __host__ __device__ float value_of(int pixel, int k) { return (float)((pixel + k) % 9 - 4); }
static __device__ int pixel_of_thread(void) { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }

/* A width known only at run time: the kernel computes values into a local array, which then lies in
   local memory, and arc adds four of them at a time. */
__global__ void dynamic(float *rows, int width) {
  arc_target_f32 target = arc_target_f32_dynamic(rows, width /* stride */, width);
  int pixel = pixel_of_thread();
  float values[WIDTH]; /* a bound of width */
  for (int k = 0; k < width; ++k) values[k] = value_of(pixel, k);
  arc_add_f32(target, row_of(pixel), values, hits(pixel));
}

/* The same by the caller's own loop over literal widths, 4 and then 1: nothing lies in memory, but
   each call looks for its groups anew. */
__global__ void chunks(float *rows, int width) {
  int pixel = pixel_of_thread(), row = row_of(pixel), k = 0;
  bool hit = hits(pixel);
  for (; k + 4 <= width; k += 4) {
    float values[4];
    for (int i = 0; i < 4; ++i) values[i] = value_of(pixel, k + i);
    arc_add_f32(arc_target_f32_rows(rows + k, width, 4), row, values, hit);
  }
  for (; k < width; ++k) {
    float value = value_of(pixel, k);
    arc_add_f32(arc_target_f32_rows(rows + k, width, 1), row, &value, hit);
  }
}

/* A target above, a lambda called several times, as for the corners of a grid's cell. The attribute
   keeps the target in registers: without it nvcc may call the lambda, and a target captured by
   reference lies in memory. A target built inside the lambda needs no attribute. */
__global__ void lambda(float *rows) {
  int pixel = pixel_of_thread();
  if (pixel >= PIXELS) return;
  arc_target_f32 target = arc_target_f32_rows(rows, 1, 1);
  auto add = [&](int k) __attribute__((always_inline)) {
    float value = value_of(pixel, k);
    if (hits(pixel)) arc_add_divergent_f32(target, WIDTH * row_of(pixel) + k, &value);
  };
  for (int k = 0; k < WIDTH; ++k) add(k);
}

/* A loop that a lane left or skipped: `if (!hits(pixel)) continue;` became a lane that is not
   active, so that all lanes come to the add together. */
__global__ void kept_together(float *rows) {
  int first = (pixel_of_thread() & ~31) * 4; /* a warp's 128 pixels, its lanes stride over them */
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
  for (int pixel = first + (int)(threadIdx.x & 31); pixel < first + 128; pixel += 32) {
    bool active = hits(pixel);
    float values[WIDTH];
    for (int k = 0; k < WIDTH; ++k) values[k] = value_of(pixel, k);
    arc_add_f32(target, row_of(pixel), values, active);
  }
}

/* for (i = 0; i < n && !done; ++i) { if (...) continue; ... } in which lanes leave and skip. The
   least change is arc_add_divergent_f32 in place of the atomics. To keep the lanes together, loop
   until all lanes of the warp are done, and put the body into do { } while (0): each `continue` of
   the old loop becomes a `break`, after which the lane is not active. */
__global__ void left_early(float *rows) {
  const int first = (pixel_of_thread() & ~31) * 4;
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
  bool done = false;
  for (int i = 0; i < 4 && __any_sync(0xffffffff, !done); ++i) { /* was: i < 4 && !done */
    const int pixel = first + 32 * i + (int)(threadIdx.x & 31);
    bool active = false;
    float values[WIDTH] = {0};
    do {
      if (done) break; /* new */
      if (pixel >= PIXELS) {
        done = true;
        break; /* was: continue */
      }
      if (!hits(pixel)) break; /* was: continue */
      for (int k = 0; k < WIDTH; ++k) values[k] = value_of(pixel, k);
      active = true; /* was: the atomics */
    } while (0);
    arc_add_f32(target, row_of(pixel), values, active);
  }
}

/* An optional output: if nobody asks for it, the host chooses the kernel with one piece less, a
   literal count. A null piece would be summed for nothing. */
#define ASKED(name, count)                                                           \
  __global__ void name(float *means, float *others) {                                \
    const arc_piece_f32 pieces[2] = {{means, WIDTH, 3}, {others, WIDTH, WIDTH - 3}}; \
    arc_target_f32 target = arc_target_f32_pieces(pieces, count);                    \
    int pixel = pixel_of_thread();                                                   \
    float values[WIDTH];                                                             \
    for (int k = 0; k < WIDTH; ++k) values[k] = value_of(pixel, k);                  \
    arc_add_f32(target, row_of(pixel), values, hits(pixel));                         \
  }
ASKED(asked_means, 1)
ASKED(asked_both, 2)

/* Rows of three values (colours, forces) in rows of four: one request of 16 bytes adds a whole row,
   where rows of three take three requests (sm_90 and newer). Put nothing into the fourth place of a
   row: the call adds 0 to it. */
__global__ void three_in_four(float *rows) {
  arc_target_f32 target = arc_target_f32_rows(rows, 4, 4);
  int pixel = pixel_of_thread();
  float values[4] = {value_of(pixel, 0), value_of(pixel, 1), value_of(pixel, 2), 0};
  arc_add_f32(target, row_of(pixel), values, hits(pixel));
}

/* A function in place of atomicAdd(address, value) knows no array: its key is the number of the
   float in memory, which takes 64 bits and a second match. It counts from float 1, since C++ adds
   nothing to a null pointer. Lanes with the same address are summed first. */
__device__ __forceinline__ void add_at(float *address, float value) {
  arc_options options = arc_options_default();
  options.lane_mask = ARC_LANES_HERE; /* any lanes may call, as in the divergent call */
  options.key_bits = 64;
  arc_key key = (arc_key)((unsigned long long)address / sizeof(float)) - 1;
  arc_add_with_f32(arc_target_f32_rows((float *)sizeof(float), 1, 1), key, &value, true, options);
}
__global__ void by_address(float *rows) {
  int pixel = pixel_of_thread();
  if (!hits(pixel)) return;
  for (int k = 0; k < WIDTH; ++k) add_at(&rows[WIDTH * row_of(pixel) + k], value_of(pixel, k));
}

/* One key with several rows, as a triangle has three vertices: each sum of a triangle is made once,
   and goes to the row that its parameter names. */
static __host__ __device__ int vertex_of(int triangle, int corner) {
  return (triangle + 3 * corner) % ROWS;
}
__global__ void triangles(float *rows) {
  enum { CORNERS = 3, EACH = 2 };
  arc_target_f32 no_rows = arc_target_f32_rows(rows, 0, CORNERS * EACH); /* says the width */
  int pixel = pixel_of_thread();
  float values[CORNERS * EACH];
  for (int k = 0; k < CORNERS * EACH; ++k) values[k] = value_of(pixel, k);
  arc_sum_f32 sum = arc_sum_begin_f32(no_rows, row_of(pixel), values, hits(pixel));
  while (arc_sum_next_f32(&sum)) {
    int vertex = vertex_of((int)sum.key, sum.parameter / EACH);
    if (sum.owned) arc_atomic_add_f32(&rows[WIDTH * vertex + sum.parameter % EACH], sum.value);
  }
}

/* A histogram: each bin is a row of one unsigned. The suffix names the type of values and sums: f64
   adds doubles, f32_to_f64 floats to doubles. */
__global__ void histogram(unsigned *bins) {
  arc_target_u32 target = arc_target_u32_rows(bins, 1, 1);
  int pixel = pixel_of_thread();
  unsigned one = 1;
  arc_add_u32(target, row_of(pixel), &one, hits(pixel));
}

static float sums[ROWS * WIDTH], wanted[ROWS * WIDTH];

/* Compares the rows with what each pixel that hits adds to the first `width` values of its row. */
static int check(const char *name, float *rows, int stride, int width, bool of_vertices) {
  int wrong = 0;
  cudaError_t status = cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < ROWS * WIDTH; ++i) wanted[i] = 0;
  for (int pixel = 0; pixel < PIXELS; ++pixel)
    for (int k = 0; k < width && hits(pixel); ++k) {
      int row = of_vertices ? vertex_of(row_of(pixel), k / 2) : row_of(pixel);
      wanted[stride * row + (of_vertices ? k % 2 : k)] += value_of(pixel, k);
    }
  for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i];
  printf("patterns: %-14s %d of %d sums wrong, %s\n", name, wrong, ROWS * WIDTH,
         cudaGetErrorString(status));
  cudaMemset(rows, 0, sizeof sums);
  return status != cudaSuccess || wrong != 0;
}

static int check_histogram(const float *rows) {
  unsigned bins[ROWS], counted[ROWS] = {0};
  int wrong = cudaMemcpy(bins, rows, sizeof bins, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int pixel = 0; pixel < PIXELS; ++pixel) counted[row_of(pixel)] += hits(pixel);
  for (int i = 0; i < ROWS; ++i) wrong += bins[i] != counted[i];
  printf("patterns: histogram      %d of %d bins wrong\n", wrong, (int)ROWS);
  return wrong != 0;
}

int main(void) {
  float *rows;
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("patterns: skipped, no CUDA device\n");
    return 77;
  }
  cudaMemset(rows, 0, sizeof sums);
  SIMT_LAUNCH(dynamic, BLOCKS, THREADS, 0, 0, rows, (int)WIDTH);
  int failed = check("dynamic", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(chunks, BLOCKS, THREADS, 0, 0, rows, (int)WIDTH);
  failed |= check("chunks", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(lambda, BLOCKS, THREADS, 0, 0, rows);
  failed |= check("lambda", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(kept_together, BLOCKS / 4 + 1, THREADS, 0, 0, rows);
  failed |= check("kept together", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(left_early, BLOCKS / 4 + 1, THREADS, 0, 0, rows);
  failed |= check("left early", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(asked_both, BLOCKS, THREADS, 0, 0, rows, rows + 3);
  failed |= check("both outputs", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(asked_means, BLOCKS, THREADS, 0, 0, rows, (float *)nullptr);
  failed |= check("one output", rows, WIDTH, 3, false);
  SIMT_LAUNCH(three_in_four, BLOCKS, THREADS, 0, 0, rows);
  failed |= check("three in four", rows, 4, 3, false);
  SIMT_LAUNCH(by_address, BLOCKS, THREADS, 0, 0, rows);
  failed |= check("by address", rows, WIDTH, WIDTH, false);
  SIMT_LAUNCH(triangles, BLOCKS, THREADS, 0, 0, rows);
  failed |= check("triangles", rows, WIDTH, 6, true);
  SIMT_LAUNCH(histogram, BLOCKS, THREADS, 0, 0, (unsigned *)rows);
  failed |= check_histogram(rows);
  cudaFree(rows);
  return failed || fflush(stdout) != 0;
}
