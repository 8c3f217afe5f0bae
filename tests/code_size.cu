/* code_size.cu - kernels as users write them: machine_code.py counts their instructions, registers
   and bytes of stack. SPDX-License-Identifier: Apache-2.0 */
#include "arc.cuh"
#include "arc/hot.cuh"
#include "arc/index_add.cuh"

enum { WIDTH = 9 };

struct updates {
  const int *keys;
  const float *values;
  int count;
};
struct update {
  float values[WIDTH];
  int key;
  bool hit;
};

__device__ __forceinline__ update read(updates all, int u) {
  update one;
  one.hit = u < all.count;
  one.key = one.hit ? all.keys[u] : 0;
  for (int i = 0; i < WIDTH; ++i) one.values[i] = one.hit ? all.values[32 * i + u] : 0;
  return one;
}

#define KERNEL extern "C" __global__ void
/* The whole warp goes round as often, as arc's calls demand. */
#define EACH_UPDATE(all) \
  for (int first = 0, u = threadIdx.x; first < (all).count; first += 32, u += 32)

#if ARC_MAX_PIECES > 1
KERNEL pieces(float *a, float *b, float *c, float *d, float *e, updates all) {
  const arc_piece_f32 arrays[5] = {{a, 2, 2}, {b, 3, 3}, {c, 1, 1}, {d, 2, 2}, {e, 1, 1}};
  arc_target_f32 target = arc_target_f32_pieces(arrays, 5);
  EACH_UPDATE(all) {
    update one = read(all, u);
    arc_add_f32(target, one.key, one.values, one.hit);
  }
}

/* A loop in which the last array may be null. */
KERNEL first_pieces(float *a, float *b, float *c, float *d, float *e, updates all) {
  const arc_piece_f32 arrays[5] = {{a, 2, 2}, {b, 3, 3}, {c, 1, 1}, {d, 1, 1}, {e, 2, 2}};
  arc_target_f32 target = arc_target_f32_pieces(arrays, 5);
  for (int u = threadIdx.x; u < 32 * all.count; u += 32) {
    update one = read(all, u);
    if (e != 0)
      arc_add_renderer_f32(target, all.keys[0], one.values, one.hit);
    else
      arc_add_renderer_f32(arc_target_f32_first(target, 4), all.keys[0], one.values, one.hit);
  }
}
#else

KERNEL one_add(float *rows, updates all) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
  EACH_UPDATE(all) {
    update one = read(all, u);
    arc_add_f32(target, one.key, one.values, one.hit);
  }
}

KERNEL four_adds(float *a, float *b, float *c, float *d, updates all) {
  arc_target_f32 nine = arc_target_f32_rows(a, 9, 9), three = arc_target_f32_rows(b, 3, 3);
  arc_target_f32 four = arc_target_f32_rows(c, 4, 4), six = arc_target_f32_rows(d, 6, 6);
  EACH_UPDATE(all) {
    update one = read(all, u);
    arc_add_f32(nine, one.key, one.values, one.hit);
    arc_add_f32(three, one.key, one.values, one.hit);
    arc_add_uniform_f32(four, one.key, one.values, one.hit);
    arc_add_uniform_f32(six, one.key, one.values, one.hit);
  }
}

KERNEL hot(float *rows, updates all) {
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), 4, WIDTH, 256) / sizeof(float)];
  arc_hot_f32 sums = arc_hot_begin_f32(arc_target_f32_rows(rows, WIDTH, WIDTH), shared, 0, 4);
  EACH_UPDATE(all) {
    update one = read(all, u);
    arc_hot_add_f32(&sums, one.key, one.values, one.hit);
  }
  arc_hot_end_f32(&sums);
}

KERNEL rows_in_memory(float *rows, updates all) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH, WIDTH);
  arc_index_add_f32 sums = arc_index_add_begin_f32(target, all.values, WIDTH);
  EACH_UPDATE(all) {
    update one = read(all, u);
    arc_index_add_rows_f32(&sums, one.key, u, one.hit);
  }
  arc_index_add_end_f32(&sums);
}

/* The corners of a grid's cell: a target above, and a lambda that adds. */
#define GRID_KERNEL(name, type)                                                               \
  KERNEL name(float *grid, const float *positions, const float *slopes, int count) {          \
    int n = blockIdx.x * blockDim.x + threadIdx.x;                                            \
    if (n >= count) return;                                                                   \
    arc_target_##type target = arc_target_##type##_rows(grid, 2, 2);                          \
    const float *at = positions + 3 * n, slope[2] = {slopes[2 * n], slopes[2 * n + 1]};       \
    int x = 64 * at[0], y = 64 * at[1], z = 64 * at[2];                                       \
    float right = 64 * at[0] - x, down = 64 * at[1] - y, back = 64 * at[2] - z;               \
    auto add_corner = [&](int column, int row, int slice, float weight) {                     \
      unsigned hash = column ^ row * 2654435761u ^ slice * 805459861u;                        \
      int key = (int)(hash % 524288u);                                                        \
      float values[2] = {slope[0] * weight, slope[1] * weight};                               \
      arc_add_divergent_##type(target, key, values);                                          \
    };                                                                                        \
    _Pragma("unroll") for (int corner = 0; corner < 8; ++corner) {                            \
      int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;                               \
      float weight = (i ? right : 1 - right) * (j ? down : 1 - down) * (k ? back : 1 - back); \
      add_corner(x + i, y + j, z + k, weight);                                                \
    }                                                                                         \
  }
GRID_KERNEL(lambda, f32)
GRID_KERNEL(lambda_f16, f16)

/* As nvdiffrast's backward pass of interpolation: attributes in a loop, two vertices, and others
   that live on. */
KERNEL run_time(float *a, float *b, const int *triangles, const float *slopes, const float *weights,
                const float *others, int width, int count) {
  enum { MOST = 32, OTHERS = 20 };
  int n = blockIdx.x * blockDim.x + threadIdx.x, pixel = n < count ? n : 0;
  float kept[OTHERS], first = weights[2 * pixel], second = weights[2 * pixel + 1], sum = 0;
  for (int i = 0; i < OTHERS; ++i) kept[i] = others[OTHERS * pixel + i];
  int one = triangles[2 * pixel], other = triangles[2 * pixel + 1];
  const float *slope = slopes + (long long)pixel * width;
  float values[MOST], more[MOST];
  for (int i = 0; i < width; ++i) values[i] = slope[i] * first, more[i] = slope[i] * second;
  arc_add_f32(arc_target_f32_dynamic(a, width, width), one, values, n < count);
  arc_add_f32(arc_target_f32_dynamic(b, width, width), other, more, n < count);
  for (int i = 0; i < OTHERS; ++i) sum += kept[i] * first + second;
  if (n < count) a[n] = sum;
}
#endif
