/* arc studies: a warp multiplies matrices, on tensor cores or without.
   SPDX-License-Identifier: Apache-2.0

   The product of a warp has TILE rows and some columns. A lane holds half as many sums as there are
   columns:
       d[4 j], d[4 j + 1]        row lane / 4,      columns 8 j + 2 (lane % 4) and the next
       d[4 j + 2], d[4 j + 3]    row lane / 4 + 8,  the same columns
   mma.m16n8k16 returns sums in this order, and takes 16 columns of activations in the same order.
   So pairs of sums, rounded to halves, are the left side of the next product, and never leave their
   lane. Each product has two bodies, for floats and for halves; all else is common to both. */
#pragma once

#include "perceptron.h"
#include "numbers.cuh"

DEVICE int lane_of(void) { return (int)(threadIdx.x & 31u); }
/* Of sum i. */
DEVICE int tile_row(int i) { return lane_of() / 4 + 8 * (i / 2 % 2); }
DEVICE int tile_column(int i) { return 8 * (i / 4) + 2 * (lane_of() % 4) + i % 2; }

/* Of shared memory: 16 bytes or more beyond the row, so that rows begin in different banks. */
static __host__ __device__ constexpr __forceinline__ int stride_of(int columns) {
  return columns + 8;
}

/* What a warp knows of `tiles` tiles of a layer, that follow each other: pairs of sums, all of a
   tile before the next tile's; and rows in shared memory, of floats always, of halves where these
   are for others than this warp. */
template <typename number, int tiles, int columns>
struct activations {
  number *rows = nullptr;
  alignas(16) typename pair_of<number>::type pairs[tiles * columns / 4];
};

/* Of pair i. */
template <int columns>
DEVICE int pair_row(int i) {
  return TILE * (i / (columns / 4)) + tile_row(2 * i);
}
template <int columns>
DEVICE int pair_column(int i) {
  return tile_column(2 * (i % (columns / 4)));
}

template <typename number, int tiles, int columns>
DEVICE void store_rows(const activations<number, tiles, columns> &its) {
  UNROLL
  for (int i = 0; i < tiles * columns / 4; ++i) {
    number *to = its.rows + pair_row<columns>(i) * stride_of(columns) + pair_column<columns>(i);
    *reinterpret_cast<typename pair_of<number>::type *>(to) = its.pairs[i];
  }
}

/* ---- floats ---------------------------------------------------------------------------------- */

DEVICE void store_clamped(float *p, float x, float y) {
  store_pair(p, fmaxf(x, 0.0f), fmaxf(y, 0.0f));
}

/* d += rows * matrix^T, or rows * matrix, so many columns from `first` on: matrix m of p, whose
   width is a literal. */
template <int columns, bool transposed, int tiles, int depth>
DEVICE void multiply_rows(float *d, const activations<float, tiles, depth> &from,
                          const perceptron *p, int m, int first) {
  const float *weights = p->parameters + matrix_first(p->width, m);
  __syncwarp(); /* the rows are of all its lanes */
  for (int i = 0; i < tiles * columns / 2; ++i)
    for (int k = 0; k < depth; ++k) {
      const int tile = i / (columns / 2), c = first + tile_column(i % (columns / 2));
      d[i] += from.rows[(TILE * tile + tile_row(i)) * stride_of(depth) + k] *
              weights[transposed ? k * matrix_in(p->width, m) + c : c * depth + k];
    }
}

/* d += left^T * right, over so many rows: TILE columns of left, `columns` of right. has_sums: also
   sums[i] += the sum of column tile_row(i) of left. */
template <int columns, int depth>
DEVICE void multiply_columns(float *d, const float *left, int left_stride, const float *right,
                             int right_stride, bool has_sums, float sums[4]) {
  for (int k = 0; k < depth; ++k, left += left_stride, right += right_stride) {
    for (int i = 0; i < columns / 2; ++i) d[i] += left[tile_row(i)] * right[tile_column(i)];
    for (int i = 0; has_sums && i < 4; ++i) sums[i] += left[tile_row(i)];
  }
}

/* ---- halves ---------------------------------------------------------------------------------- */

#if !SIMT_ON_CPU
/* Four 8x8 matrices of halves; lane i tells the address of row i % 8 of matrix i / 8. */
#define LOAD_MATRICES(transposed, m, row)                                                       \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)                                     \
               : "r"((unsigned)__cvta_generic_to_shared(row))                                   \
               : "memory")

DEVICE uint4 load_matrices(const __half *row, bool transposed) {
  uint4 m = make_uint4(0u, 0u, 0u, 0u);
#if __CUDA_ARCH__ >= 800
  if (transposed)
    LOAD_MATRICES(".trans", m, row);
  else
    LOAD_MATRICES("", m, row);
#endif
  return m;
}

DEVICE void multiply_tile(float *d, uint4 a, unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

DEVICE void store_clamped(__half *p, float x, float y) {
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;"
      : "=r"(*reinterpret_cast<unsigned *>(p))
      : "f"(y), "f"(x));
#endif
}

/* Packed weights are in the order of the lanes: for each 16 of the depth and 16 columns, 16 bytes a
   lane. */
template <int columns, bool transposed, int tiles, int depth>
DEVICE void multiply_rows(float *d, const activations<__half, tiles, depth> &from,
                          const perceptron *p, int m, int first) {
  const int across = (transposed ? matrix_in(p->width, m) : matrix_out(p->width, m)) / 16;
  const __half *packed = (const __half *)p->packed[transposed] + matrix_first(p->width, m);
  const uint4 *weights = reinterpret_cast<const uint4 *>(packed) + lane_of();
  UNROLL
  for (int k = 0; k < depth / 16; ++k) {
    UNROLL
    for (int j = 0; j < columns / 16; ++j) {
      const uint4 b = weights[(k * across + first / 16 + j) * 32];
      UNROLL
      for (int i = 0; i < tiles; ++i) {
        const uint4 a = *reinterpret_cast<const uint4 *>(from.pairs + i * depth / 4 + 4 * k);
        multiply_tile(d + i * columns / 2 + 8 * j, a, b.x, b.y);
        multiply_tile(d + i * columns / 2 + 8 * j + 4, a, b.z, b.w);
      }
    }
  }
}

template <int columns, int depth>
DEVICE void multiply_columns(float *d, const __half *left, int left_stride, const __half *right,
                             int right_stride, bool has_sums, float sums[4]) {
  const unsigned ones = 0x3c003c00u; /* a product with ones sums */
  const int lane = lane_of();
  left += (lane % 8 + lane / 16 * 8) * left_stride + lane / 8 % 2 * 8;
  right += lane % 16 * right_stride + (columns > 8 ? lane / 16 * 8 : 0);
  UNROLL
  for (int k = 0; k < depth; k += 16) {
    const uint4 a = load_matrices(left + k * left_stride, true);
    if (has_sums) multiply_tile(sums, a, ones, ones);
    UNROLL
    for (int j = 0; j < columns / 8; j += 2) {
      const uint4 b = load_matrices(right + k * right_stride + 8 * j, true);
      multiply_tile(d + 4 * j, a, b.x, b.y);
      if (j + 1 < columns / 8) multiply_tile(d + 4 * j + 4, a, b.z, b.w);
    }
  }
}
#endif
