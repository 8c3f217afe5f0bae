/* arc example hashgrid: a warp multiplies matrices, on tensor cores or without.
   SPDX-License-Identifier: Apache-2.0

   A warp's part of a product is TILE rows by some columns. A lane holds of 8 columns, number j,
       d[j][0], d[j][1]    row lane / 4,      columns 8 j + 2 (lane % 4) and the next
       d[j][2], d[j][3]    row lane / 4 + 8,  the same columns
   which is how mma.m16n8k16 returns sums. Each function has two bodies, for floats and for halves;
   all else is common to both. Rows of activations lie in shared memory, `stride` apart. */
#ifndef HASHGRID_TILES_CUH
#define HASHGRID_TILES_CUH

#include "halves.cuh"
#include "perceptron.h"

DEVICE int lane_of(void) { return (int)(threadIdx.x & 31u); }
/* Of d[j][e]. */
DEVICE int tile_row(int e) { return lane_of() / 4 + 8 * (e / 2); }
DEVICE int tile_column(int j, int e) { return 8 * j + 2 * (lane_of() % 4) + e % 2; }

/* ---- floats ----------------------------------------------------------------------------------- */

/* Weights of one matrix, `out` rows of `in`. */
typedef struct float_weights {
  const float *weights;
  int in;
} float_weights;

/* d += rows * matrix^T, or rows * matrix: columns, depth and transposed are literals. */
template <int columns, int depth, bool transposed>
DEVICE void multiply_rows(float d[columns / 8][4], const float *rows, int stride, float_weights w) {
  for (int j = 0; j < columns / 8; ++j)
    for (int e = 0; e < 4; ++e)
      for (int k = 0; k < depth; ++k) {
        const int c = tile_column(j, e);
        d[j][e] +=
            rows[tile_row(e) * stride + k] * w.weights[transposed ? k * w.in + c : c * w.in + k];
      }
}

/* d += left^T * right, over so many rows: TILE columns of left, columns of right. has_sums: also
   sums[e] += the sum of column tile_row(e) of left. */
template <int columns, int depth>
DEVICE void multiply_columns(float d[columns / 8][4], const float *left, int left_stride,
                             const float *right, int right_stride, bool has_sums, float sums[4]) {
  for (int e = 0; has_sums && e < 4; ++e)
    for (int k = 0; k < depth; ++k) sums[e] += left[k * left_stride + tile_row(e)];
  for (int j = 0; j < columns / 8; ++j)
    for (int e = 0; e < 4; ++e)
      for (int k = 0; k < depth; ++k)
        d[j][e] +=
            left[k * left_stride + tile_row(e)] * right[k * right_stride + tile_column(j, e)];
}

/* ---- halves ----------------------------------------------------------------------------------- */

#if !SIMT_ON_CPU
/* In the order of the lanes: for each 16 of the depth and 16 columns, 16 bytes a lane. */
typedef struct half_weights {
  const uint4 *packed;
} half_weights;

/* Four 8x8 matrices of halves; lane i tells the address of row i % 8 of matrix i / 8. */
DEVICE uint4 load_matrices(const __half *row, bool transposed) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  uint4 m = make_uint4(0u, 0u, 0u, 0u);
#if __CUDA_ARCH__ >= 800
  if (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
#endif
  return m;
}

DEVICE void multiply_tile(float d[4], uint4 a, unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/* Packed weights hold both kinds of product in one order: `transposed` chose the array. */
template <int columns, int depth, bool transposed>
DEVICE void multiply_rows(float d[columns / 8][4], const __half *rows, int stride, half_weights w) {
  const int lane = lane_of();
  const __half *row = rows + lane % 16 * stride + lane / 16 * 8;
  UNROLL
  for (int k = 0; k < depth / 16; ++k) {
    const uint4 a = load_matrices(row + 16 * k, false);
    UNROLL
    for (int j = 0; j < columns / 16; ++j) {
      const uint4 b = __ldg(&w.packed[(k * (columns / 16) + j) * 32 + lane]);
      multiply_tile(d[2 * j], a, b.x, b.y);
      multiply_tile(d[2 * j + 1], a, b.z, b.w);
    }
  }
}

template <int columns, int depth>
DEVICE void multiply_columns(float d[columns / 8][4], const __half *left, int left_stride,
                             const __half *right, int right_stride, bool has_sums, float sums[4]) {
  const unsigned ones = 0x3c003c00u; /* a product with ones sums */
  const int lane = lane_of();
  const __half *a_row = left + (lane % 8 + lane / 16 * 8) * left_stride + lane / 8 % 2 * 8;
  const __half *b_row = right + lane % 16 * right_stride + (columns > 8 ? lane / 16 * 8 : 0);
  UNROLL
  for (int k = 0; k < depth / 16; ++k) {
    const uint4 a = load_matrices(a_row + 16 * k * left_stride, true);
    if (has_sums) multiply_tile(sums, a, ones, ones);
    UNROLL
    for (int j = 0; j < columns / 8; j += 2) {
      const uint4 b = load_matrices(b_row + 16 * k * right_stride + 8 * j, true);
      multiply_tile(d[j], a, b.x, b.y);
      if (j + 1 < columns / 8) multiply_tile(d[j + 1], a, b.z, b.w);
    }
  }
}
#endif

#endif
