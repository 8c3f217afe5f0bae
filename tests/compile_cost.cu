/* compile_cost.cu - kernels as users write them, and the same with plain atomics: compile_cost.py
   times the compiler and reads its report. -DKERNEL=name, -DPLAIN=0 or 1.
   SPDX-License-Identifier: Apache-2.0 */
#define NAME_one_add 1
#define NAME_four_adds 2
#define NAME_hot 3
#define NAME_index_add 4
#define NAME_pieces 5
#define NAME_lambda 6
#define NAME_lambda_keyed 7
#define NAME_lambda_f16 8
#define NAME_by_value 9
#define NAME_run_time 10

#define WIDTH 9
#if !PLAIN
#if KERNEL == NAME_pieces
#define ARC_MAX_PIECES 5
#endif
#include "arc.cuh"
#if KERNEL == NAME_hot
#include "arc/hot.cuh"
#elif KERNEL == NAME_index_add
#include "arc/index_add.cuh"
#endif
#endif

struct updates {
  const int *keys;
  const float *values;
  int count, width;
};

#define EACH_UPDATE                                   \
  for (int u = threadIdx.x; u < all.count; u += 32) { \
    int key = all.keys[u];                            \
    bool hit = key >= 0;                              \
    float values[WIDTH];                              \
    for (int i = 0; i < WIDTH; ++i) values[i] = all.values[32 * i + u];
#define ADD_PLAIN(rows, width) \
  for (int i = 0; hit && i < (width); ++i) atomicAdd(&(rows)[key * (width) + i], values[i]);

#if KERNEL == NAME_one_add
__global__ void kernel(float *rows, updates all) {
#if !PLAIN
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
#endif
  EACH_UPDATE
#if PLAIN
  ADD_PLAIN(rows, WIDTH)
#else
  arc_add_f32(target, key, values, hit);
#endif
}
}

#elif KERNEL == NAME_four_adds
__global__ void kernel(float *a, float *b, float *c, float *d, updates all) {
#if !PLAIN
  arc_target_f32 nine = arc_target_f32_rows(a, 9, 9), three = arc_target_f32_rows(b, 3, 3);
  arc_target_f32 four = arc_target_f32_rows(c, 4, 4), six = arc_target_f32_rows(d, 6, 6);
#endif
  EACH_UPDATE
#if PLAIN
  ADD_PLAIN(a, 9)
  ADD_PLAIN(b, 3)
  ADD_PLAIN(c, 4)
  ADD_PLAIN(d, 6)
#else
  arc_add_f32(nine, key, values, hit);
  arc_add_f32(three, key, values, hit);
  arc_add_uniform_f32(four, key, values, hit);
  arc_add_uniform_f32(six, key, values, hit);
#endif
}
}

#elif KERNEL == NAME_hot
__global__ void kernel(float *rows, updates all) {
#if !PLAIN
  __shared__ float shared[ARC_HOT_SUMS(4, WIDTH, 256)];
  arc_hot_f32 hot = arc_hot_begin_f32(arc_target_f32_rows(rows, WIDTH, WIDTH), shared, 0, 4);
#endif
  EACH_UPDATE
#if PLAIN
  ADD_PLAIN(rows, WIDTH)
}
#else
  arc_hot_add_f32(&hot, key, values, hit);
}
arc_hot_end_f32(&hot, true);
#endif
}

#elif KERNEL == NAME_index_add
__global__ void kernel(float *rows, updates all) {
#if PLAIN
  EACH_UPDATE
  ADD_PLAIN(rows, WIDTH)
}
#else
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
  arc_index_add_f32 gather = arc_index_add_begin_f32(target, all.values, WIDTH);
  for (int u = threadIdx.x; u < all.count; u += 32)
    arc_index_add_rows_f32(&gather, all.keys[u], u, all.keys[u] >= 0);
  arc_index_add_end_f32(&gather);
#endif
}

#elif KERNEL == NAME_pieces
__global__ void kernel(float *a, float *b, float *c, float *d, float *e, updates all) {
#if !PLAIN
  const arc_piece_f32 pieces[5] = {{a, 2, 2}, {b, 3, 3}, {c, 1, 1}, {d, 2, 2}, {e, 1, 1}};
  arc_target_f32 target = arc_target_f32_pieces(pieces, 5);
#endif
  EACH_UPDATE
#if PLAIN
  ADD_PLAIN(a, 2)
  ADD_PLAIN(b, 3)
  ADD_PLAIN(c, 1)
  ADD_PLAIN(d, 2)
  ADD_PLAIN(e, 1)
#else
  arc_add_f32(target, key, values, hit);
#endif
}
}

/* A target above, a lambda called for the corners of a grid's cell. */
#elif KERNEL == NAME_lambda || KERNEL == NAME_lambda_keyed || KERNEL == NAME_lambda_f16
__global__ void kernel(float *grid, const float *positions, const float *slopes, int count) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  bool is_point = n < count;
#if KERNEL != NAME_lambda_keyed
  if (!is_point) return;
#endif
#if PLAIN
#elif KERNEL == NAME_lambda_f16
  arc_target_f16 target = arc_target_f16_rows(grid, 2, 2);
#else
  arc_target_f32 target = arc_target_f32_rows(grid, 2, 2);
#endif
  const float *at = positions + 3 * n, slope[2] = {slopes[2 * n], slopes[2 * n + 1]};
  int x = 64 * at[0], y = 64 * at[1], z = 64 * at[2];
  float right = 64 * at[0] - x, down = 64 * at[1] - y, back = 64 * at[2] - z;
  auto add = [&](int column, int row, int slice, float weight) {
    unsigned hash = column ^ row * 2654435761u ^ slice * 805459861u;
    int key = (int)(hash % 524288u);
    float values[2] = {slope[0] * weight, slope[1] * weight};
#if PLAIN
    for (int i = 0; is_point && i < 2; ++i) atomicAdd(&grid[2 * key + i], values[i]);
#elif KERNEL == NAME_lambda_f16
    arc_add_divergent_f16(target, key, values);
#elif KERNEL == NAME_lambda_keyed
    arc_add_f32(target, key, values, is_point);
#else
    arc_add_divergent_f32(target, key, values);
#endif
  };
#pragma unroll
  for (int corner = 0; corner < 8; ++corner) {
    int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
    float weight = (i ? right : 1 - right) * (j ? down : 1 - down) * (k ? back : 1 - back);
    add(x + i, y + j, z + k, weight);
  }
}

#elif KERNEL == NAME_by_value
#if PLAIN
#define TARGET rows
__device__ __noinline__ void add(float *rows, int key, const float *values, bool hit) {
  for (int i = 0; hit && i < WIDTH; ++i) atomicAdd(&rows[key * WIDTH + i], values[i]);
}
#else
#define TARGET arc_target_f32_rows(rows, WIDTH, WIDTH)
__device__ __noinline__ void add(arc_target_f32 target, int key, const float *values, bool hit) {
  arc_add_f32(target, key, values, hit);
}
#endif
__global__ void kernel(float *rows, updates all) {
  EACH_UPDATE
  add(TARGET, key, values, hit);
}
}

/* As nvdiffrast's backward pass of interpolation: attributes in a loop, two vertices, and others
   that live on. */
#elif KERNEL == NAME_run_time
enum { MOST = 32, OTHERS = 20 };
__global__ void kernel(float *a, float *b, const int *triangles, const float *slopes,
                       const float *weights, const float *others, int width, int count) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, pixel = n < count ? n : 0;
  float kept[OTHERS], first = weights[2 * pixel], second = weights[2 * pixel + 1], sum = 0;
  for (int i = 0; i < OTHERS; ++i) kept[i] = others[OTHERS * pixel + i];
  int one = triangles[2 * pixel], other = triangles[2 * pixel + 1];
  const float *slope = slopes + (long long)pixel * width;
#if PLAIN
  for (int i = 0; n < count && i < width; ++i) {
    atomicAdd(&a[(long long)one * width + i], slope[i] * first);
    atomicAdd(&b[(long long)other * width + i], slope[i] * second);
  }
#else
  float values[MOST], more[MOST];
  for (int i = 0; i < width; ++i) values[i] = slope[i] * first, more[i] = slope[i] * second;
  arc_add_f32(arc_target_f32_dynamic(a, width, width), one, values, n < count);
  arc_add_f32(arc_target_f32_dynamic(b, width, width), other, more, n < count);
#endif
  for (int i = 0; i < OTHERS; ++i) sum += kept[i] * first + second;
  if (n < count) a[n] = sum;
}
#endif
