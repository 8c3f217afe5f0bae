/* grid_sample.cuh - the gradients of grid_sample, of the input as sums in fixed point.
   SPDX-License-Identifier: Apache-2.0

   A sample reads TAPS places an axis: one, a cell of two, or four. A warp takes 32 samples side by
   side and walks down; a lane has WIDTH channels. As long as its samples stay in a cell, it keeps
   the cell's sums; if the next one is a row lower, it keeps one row. What two neighbours have at
   the same places, the left one gives to the right one. All sums are integers, so that none of
   this changes a bit. The includer defines to_float and store. */
#define ARC_MAX_PIECES 4
#include "arc.cuh"
#include "grid_sample.h"
#include "job.cuh"

#if defined(__CUDA_ARCH__)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#endif

namespace {

enum { LANES = ARC_LANES_ALL, CROWD = 20, NOWHERE = -0x40000000 };

template <int TAPS>
struct taps {
  int at[TAPS];
  float weight[TAPS], slope[TAPS]; /* by the coordinate */
};

__device__ __forceinline__ float clip(float x, int size, float *slope) {
  const float most = (float)(size - 1);
  if (x <= 0.f || x >= most) *slope = 0.f;
  return x <= 0.f ? 0.f : x >= most ? most : x;
}

__device__ __forceinline__ float reflect(float x, float low, float span, float *slope) {
  if (span == 0.f) return *slope = 0.f;
  x -= low;
  const float flips = floorf(fabsf(x) / span), rest = fmodf(fabsf(x), span);
  const bool is_even = flips < 2147483648.f && (int)flips % 2 == 0;
  *slope *= (x < 0.f) == is_even ? -1.f : 1.f;
  return is_even ? rest + low : span - rest + low;
}

/* A place in the picture, or one outside. */
__device__ __forceinline__ float pad(float x, int size, const grid_job &j, float *slope) {
  if (j.padding == PAD_REFLECTION)
    x = reflect(x, j.aligned ? 0.f : -0.5f, (float)(j.aligned ? size - 1 : size), slope);
  if (j.padding != PAD_ZEROS) x = clip(x, size, slope);
  return fabsf(x) < 2147483648.f ? x : -100.f;
}

/* The cubic convolution with A = -0.75, at 1 + t, t, 1 - t and 2 - t. */
__device__ __forceinline__ void set_cubic(float t, float *weight, float *slope) {
  const float a = -0.75f;
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const float x = i < 2 ? t + (1 - i) : (i - 1) - t, sign = i < 2 ? 1.f : -1.f;
    const bool is_far = i == 0 || i == 3;
    weight[i] = is_far ? ((x - 5) * x + 8) * x * a - 4 * a : ((a + 2) * x - (a + 3)) * x * x + 1;
    slope[i] = sign * (is_far ? ((3 * x - 10) * x + 8) * a : (3 * (a + 2) * x - 2 * (a + 3)) * x);
  }
}

template <int TAPS>
__device__ __forceinline__ taps<TAPS> locate(float x, int size, const grid_job &j) {
  taps<TAPS> t;
  float slope = (j.aligned ? size - 1 : size) * 0.5f;
  x = j.aligned ? (x + 1.f) / 2 * (size - 1) : ((x + 1.f) * size - 1) / 2;
  if constexpr (TAPS == 4) {
    const float first = floorf(x);
    float unused;
    set_cubic(x - first, t.weight, t.slope);
    UNROLL
    for (int i = 0; i < TAPS; ++i) {
      t.at[i] = (int)pad(first + (i - 1), size, j, &unused);
      if (j.padding != PAD_ZEROS) t.at[i] = max(t.at[i], 0); /* of a NaN, as PyTorch */
      t.slope[i] *= slope;
    }
  } else {
    x = pad(x, size, j, &slope);
    t.at[0] = (int)(TAPS == 1 ? nearbyintf(x) : floorf(x)), t.weight[0] = 1.f, t.slope[0] = 0.f;
    if constexpr (TAPS == 2) {
      t.at[1] = t.at[0] + 1;
      t.weight[0] = t.at[1] - x, t.weight[1] = x - t.at[0];
      t.slope[0] = -slope, t.slope[1] = slope;
    }
  }
  return t;
}

/* In fixed point; or, of what is not finite, a count of +infinity and, 2^32 of it, of -infinity. A
   NaN is both. */
__device__ __forceinline__ long long summand(float x, const grid_job &j) {
  if (fabsf(x) < 9223372036854775808.f) return j.counts_others ? 0 : __float2ll_rn(x);
  if (!j.counts_others) j.largest[1] = 1u;
  return j.counts_others ? (x < 0.f ? 0 : 1) + (x > 0.f ? 0 : 1ll << 32) : 0;
}

__device__ __forceinline__ bool is_within(int at, int size) {
  return (unsigned)at < (unsigned)size;
}

__host__ __device__ __forceinline__ long long grid_pixels(const grid_job &j) {
  return (long long)j.size[0] * j.size[1] * j.size[2];
}
__host__ __device__ __forceinline__ long long grid_samples(const grid_job &j) {
  return (long long)j.samples[0] * j.samples[1] * j.samples[2];
}
__device__ __forceinline__ int grid_scale(const grid_job &j) {
  return scale_log2(j.largest, 2 * grid_samples(j)); /* cubic weights sum up to less than 2 */
}

template <class T, int AXES, int TAPS, int WIDTH>
struct sampler {
  enum { ROWS = AXES == 2 ? TAPS : TAPS * TAPS, KEEPS = TAPS < 4 };
  typedef long long sums[ROWS][TAPS][WIDTH];

  const grid_job &j;
  const int lane, channel, image; /* the first of WIDTH channels; both of the launch */
  const long long pixels;
  long long *const base; /* of the channel's sums */
  int cell[AXES];        /* the first place of the sums that are kept */
  sums sum;
  float power;

  __device__ sampler(const grid_job &j)
      : j(j),
        lane(threadIdx.x % 32),
        channel(blockIdx.y * WIDTH),
        image(blockIdx.z),
        pixels(grid_pixels(j)),
        base(j.sums + (image * (long long)j.channels + channel) * pixels),
        sum{},
        power(ldexpf(1.f, grid_scale(j))) {
    for (int d = 0; d < AXES; ++d) cell[d] = NOWHERE;
  }

  __device__ bool is_there(int i) const { return channel + i < j.channels; }

  /* Row r of a cell is y + r % TAPS, z + r / TAPS. */
  __device__ bool has_row(const int *y, const int *z, int r) const {
    return is_within(y[r % TAPS], j.size[1]) && (AXES == 2 || is_within(z[r / TAPS], j.size[2]));
  }
  __device__ int key(const int *y, const int *z, int r) const {
    return ((AXES == 2 ? 0 : z[r / TAPS] * j.size[1]) + y[r % TAPS]) * j.size[0];
  }

  /* Where hardly two lanes have one key. */
  __device__ void send(int key, const long long *its, bool active) const {
    UNROLL
    for (int i = 0; i < WIDTH; ++i)
      if (active && is_there(i)) arc_atomic_add_i64(base + i * pixels + key, its[i]);
  }

  /* The places of `goes`, a bit each, by arc's decision. All lanes call. */
  template <class Key, class Value>
  __device__ void send_crowd(int places, unsigned goes, Key key_of_place, Value value) const {
    arc_piece_i64 pieces[WIDTH];
    UNROLL
    for (int i = 0; i < WIDTH; ++i) pieces[i] = {is_there(i) ? base + i * pixels : nullptr, 1, 1};
    const arc_target_i64 target = arc_target_i64_pieces(pieces, WIDTH);
    NO_UNROLL /* its code is long */
        for (int place = 0; place < places; ++place) {
      const bool active = goes >> place & 1u;
      long long its[WIDTH];
      UNROLL
      for (int i = 0; i < WIDTH; ++i) its[i] = value(place, i);
      arc_add_i64(target, active ? key_of_place(place) : 0, its, active);
    }
  }

  /* Sends what the next cell does not hold. All lanes call. */
  __device__ void move(const int *next) {
    bool stays = true, is_lower = TAPS == 2, is_near = lane > 0;
    const bool was_there = cell[0] != NOWHERE;
    UNROLL
    for (int d = 0; d < AXES; ++d) {
      stays = stays && next[d] == cell[d];
      is_lower = is_lower && next[d] == cell[d] + (d == 1);
    }
    const bool leaves = was_there && !stays;
    if (__any_sync(LANES, leaves)) {
      const int before = __shfl_up_sync(LANES, cell[0], 1);
      UNROLL
      for (int d = 1; d < AXES; ++d) {
        const int its = __shfl_up_sync(LANES, cell[d], 1);
        is_near = is_near && its == cell[d];
      }
      const bool is_same = leaves && is_near && before == cell[0];
      const bool is_crowded = __popc(__ballot_sync(LANES, is_same)) >= CROWD;
      const int y[2] = {cell[1], cell[1] + 1}, z[2] = {cell[AXES - 1], cell[AXES - 1] + 1};
      unsigned goes = 0u; /* bits of places, row after row */
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        const bool row = leaves && has_row(y, z, r) && !(is_lower && r % TAPS == 1);
        UNROLL
        for (int a = 0; a < TAPS; ++a)
          goes |= (unsigned)(row && is_within(cell[0] + a, j.size[0])) << (r * TAPS + a);
      }
      const auto key_of_place = [&](int place) __attribute__((always_inline)) {
        return key(y, z, place / TAPS) + cell[0] + place % TAPS;
      };
      if (is_crowded) {
        send_crowd(
            ROWS * TAPS, goes, key_of_place, [&](int place, int i) __attribute__((always_inline)) {
              long long its = 0;
              UNROLL
              for (int k = 0; k < ROWS * TAPS; ++k)
                if (k == place) its = sum[k / TAPS][k % TAPS][i];
              return its;
            });
      } else {
        UNROLL
        for (int r = 0; r < ROWS; ++r) {
          if constexpr (TAPS == 2) give(r, is_near && before + 1 == cell[0], &goes);
          UNROLL
          for (int a = 0; a < TAPS; ++a)
            send(key_of_place(r * TAPS + a), sum[r][a], goes >> (r * TAPS + a) & 1u);
        }
      }
      UNROLL
      for (int r = 0; r < ROWS; ++r) UNROLL
      for (int a = 0; a < TAPS; ++a) UNROLL
      for (int i = 0; i < WIDTH; ++i) {
        const bool lower = r % TAPS == 0 && is_lower && was_there;
        if (!stays) sum[r][a][i] = lower ? sum[(r + 1) % ROWS][a][i] : 0;
      }
    }
    UNROLL
    for (int d = 0; d < AXES; ++d) cell[d] = next[d];
  }

  /* Of row r, the right sums of a lane to the next one, if its left ones go to the same places. */
  __device__ void give(int r, bool is_beside, unsigned *goes) {
    const unsigned left = 1u << (2 * r), right = 2u << (2 * r);
    const int gives = __shfl_up_sync(LANES, (int)(*goes & right), 1);
    const bool takes = is_beside && (*goes & left) != 0u && gives != 0;
    const unsigned taking = __ballot_sync(LANES, takes);
    if (taking == 0u) return;
    UNROLL
    for (int i = 0; i < WIDTH; ++i) {
      const long long its = __shfl_up_sync(LANES, sum[r][1][i], 1);
      if (takes) sum[r][0][i] += its;
    }
    if (taking >> 1 >> lane & 1u) *goes &= ~right;
  }

  /* Sixteen places are too many to keep. All lanes call. */
  __device__ void add_all(const taps<TAPS> *t, const float *g, bool active) const {
    const int x = __shfl_up_sync(LANES, t[0].at[1], 1), y = __shfl_up_sync(LANES, t[1].at[1], 1);
    const bool is_same = active && x == t[0].at[1] && y == t[1].at[1];
    const bool is_crowded = __popc(__ballot_sync(LANES, is_same)) >= CROWD;
    unsigned goes = 0u;
    UNROLL
    for (int k = 0; k < TAPS * TAPS; ++k)
      goes |= (unsigned)(active && is_within(t[0].at[k % TAPS], j.size[0]) &&
                         is_within(t[1].at[k / TAPS], j.size[1]))
              << k;
    const auto pick = [&](const auto *of, int k) __attribute__((always_inline)) {
      return k == 0 ? of[0] : k == 1 ? of[1] : k == 2 ? of[2] : of[3];
    };
    const auto key_of_place = [&](int place) __attribute__((always_inline)) {
      return pick(t[1].at, place / TAPS) * j.size[0] + pick(t[0].at, place % TAPS);
    };
    const auto value = [&](int place, int i) __attribute__((always_inline)) {
      const float w = pick(t[1].weight, place / TAPS) * pick(t[0].weight, place % TAPS) * power;
      return goes >> place & 1u ? summand(g[i] * w, j) : 0;
    };
    if (is_crowded) {
      send_crowd(TAPS * TAPS, goes, key_of_place, value);
      return;
    }
    UNROLL
    for (int place = 0; place < TAPS * TAPS; ++place) {
      long long its[WIDTH];
      UNROLL
      for (int i = 0; i < WIDTH; ++i) its[i] = value(place, i);
      send(key_of_place(place), its, goes >> place & 1u);
    }
  }

  /* Of this group of channels, to its part. */
  __device__ void add_to_grid(const taps<TAPS> *t, const float *g, long long sample) const {
    float slope[AXES] = {};
    const T *input = (const T *)j.input.at + (j.first_image + image) * j.input.image +
                     (j.first_channel + channel) * j.input.channel;
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      const int y = r % TAPS, z = r / TAPS;
      float value = 0.f, steep = 0.f; /* of the row, and by x */
      UNROLL
      for (int a = 0; a < TAPS; ++a) {
        if (!has_row(t[1].at, t[AXES - 1].at, r) || !is_within(t[0].at[a], j.size[0])) continue;
        const T *from = input + t[0].at[a] * j.input.x + t[1].at[y] * j.input.y +
                        (AXES == 2 ? 0 : t[AXES - 1].at[z] * j.input.z);
        float product = 0.f;
        UNROLL
        for (int i = 0; i < WIDTH; ++i)
          if (is_there(i)) product += g[i] * to_float(from[i * j.input.channel]);
        value += product * t[0].weight[a];
        steep += product * t[0].slope[a];
      }
      const float of_z = AXES == 2 ? 1.f : t[AXES - 1].weight[z];
      slope[0] += steep * t[1].weight[y] * of_z;
      slope[1] += value * t[1].slope[y] * of_z;
      if (AXES == 3) slope[AXES - 1] += value * t[1].weight[y] * t[AXES - 1].slope[z];
    }
    const long long samples = grid_samples(j);
    float *part =
        j.parts + (((blockIdx.y + 1) * (long long)j.images + image) * samples + sample) * AXES;
    UNROLL
    for (int d = 0; d < AXES; ++d) part[d] = slope[d];
  }

  __device__ void take(const taps<TAPS> *t, const float *g) {
    UNROLL
    for (int r = 0; r < ROWS; ++r) UNROLL
    for (int a = 0; a < TAPS; ++a) {
      const float of_row = t[1].weight[r % TAPS] * (AXES == 2 ? 1.f : t[AXES - 1].weight[r / TAPS]);
      const float w = t[0].weight[a] * of_row * power;
      UNROLL
      for (int i = 0; i < WIDTH; ++i) sum[r][a][i] += summand(g[i] * w, j);
    }
  }

  __device__ void walk() {
    const int across = (j.samples[0] + 31) / 32;
    const long long warp = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
    const long long first = warp / across * j.step;
    const int lines = j.samples[1] * j.samples[2], x = (int)(warp % across) * 32 + lane;
    if (first >= lines) return;
    const int end = min((int)first + j.step, lines);
    int y = (int)first % j.samples[1], z = (int)first / j.samples[1];
    const T *gradient = (const T *)j.gradient.at + (j.first_image + image) * j.gradient.image +
                        (j.first_channel + channel) * j.gradient.channel + x * j.gradient.x;
    const T *grid = (const T *)j.grid.at + (j.first_image + image) * j.grid.image + x * j.grid.x;
    float next_g[WIDTH], next_x[AXES];
    const auto fetch = [&](int line) __attribute__((always_inline)) { /* ahead of its use */
      const bool is_sample = line < end && x < j.samples[0];
      UNROLL
      for (int i = 0; i < WIDTH; ++i)
        next_g[i] =
            is_sample && is_there(i)
                ? to_float(gradient[i * j.gradient.channel + y * j.gradient.y + z * j.gradient.z])
                : 0.f;
      UNROLL
      for (int d = 0; d < AXES; ++d)
        next_x[d] =
            is_sample ? to_float(grid[d * j.grid.channel + y * j.grid.y + z * j.grid.z]) : 0.f;
      if (++y == j.samples[1]) y = 0, ++z;
    };
    fetch((int)first);
    for (int line = (int)first; line < end; ++line) {
      taps<TAPS> t[AXES];
      float g[WIDTH];
      const bool active = x < j.samples[0];
      UNROLL
      for (int i = 0; i < WIDTH; ++i) g[i] = next_g[i];
      UNROLL
      for (int d = 0; d < AXES; ++d) t[d] = locate<TAPS>(next_x[d], j.size[d], j);
      fetch(line + 1);
      if (j.out != nullptr) {
        if constexpr (KEEPS) {
          int next[AXES];
          UNROLL
          for (int d = 0; d < AXES; ++d) next[d] = active ? t[d].at[0] : +NOWHERE;
          move(next);
          if (active) take(t, g);
        } else {
          add_all(t, g, active);
        }
      }
      if (TAPS > 1 && j.parts != nullptr && active && !j.counts_others)
        add_to_grid(t, g, (long long)line * j.samples[0] + x);
    }
    if constexpr (KEEPS) {
      int next[AXES];
      for (int d = 0; d < AXES; ++d) next[d] = NOWHERE;
      move(next);
    }
  }
};

/* blockIdx.x: warps; y: groups of WIDTH channels; z: images. */
template <class T, int AXES, int TAPS, int WIDTH>
__global__ void __launch_bounds__(THREADS, 2) sample(grid_job j) {
  if (j.counts_others && j.largest[1] == 0u) return;
  sampler<T, AXES, TAPS, WIDTH>(j).walk();
}

/* Reads the launch's sums into out, and clears them. */
template <class T>
__global__ void __launch_bounds__(THREADS) finish_input(grid_job j) {
  if (j.counts_others && j.largest[1] == 0u) return;
  const int scale = grid_scale(j);
  const long long pixels = grid_pixels(j), count = j.images * j.channels * pixels;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    const long long sum = j.sums[i];
    if (sum != 0) j.sums[i] = 0;
    if (!j.counts_others)
      store((T *)j.out + i, arc_fixed_to_f32(sum, scale));
    else if (sum != 0)
      store((T *)j.out + i, __uint_as_float((unsigned)sum == 0u ? 0xff800000u
                                            : sum >> 32 == 0    ? 0x7f800000u
                                                                : 0x7fc00000u));
  }
}

/* Sums the parts, group after group; T: of the grid. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    finish_grid(grid_job j, int axes, int groups, bool is_last) {
  const long long count = j.images * grid_samples(j) * axes;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    float sum = j.first_channel == 0 ? 0.f : j.parts[i];
    for (int group = 1; group <= groups; ++group) sum += j.parts[group * count + i];
    if (is_last)
      store((T *)j.out_grid + i, sum);
    else
      j.parts[i] = sum;
  }
}

}  // namespace
