/* grid_sample.cuh - the gradients of grid_sample, of the input as sums in fixed point.
   SPDX-License-Identifier: Apache-2.0

   A sample reads TAPS places an axis: one, a cell of two, or four. Of the grid's gradient a thread
   takes one sample and all channels; where these are few, it also adds the input's. Else the
   channels of a sample are `width` lanes of a warp, and other lanes have other samples: so the sums
   of a place lie side by side. A lane walks from sample to sample, keeps the sums of its places,
   and adds to memory what the next sample does not reach. All sums are integers, so that none of
   this changes a bit. The includer defines to_float, store, add, `device` and LAUNCH. */
#include <algorithm>

#include "arc.cuh"
#include "grid_sample.h"
#include "job.cuh"

#if defined(__CUDA_ARCH__)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_8 _Pragma("unroll 8")
#else
#define UNROLL
#define UNROLL_BY_8
#endif

namespace {

enum { WALKERS = 4 /* warps of a block */, SUMS = 1024 /* that a warp reads */ };
enum { FINISHED = 8 * THREADS /* sums that a block reads */ };
enum { NOWHERE = -0x40000000 };

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

__host__ __device__ __forceinline__ long long grid_pixels(const grid_job &j) {
  return (long long)j.size[0] * j.size[1] * j.size[2];
}
__host__ __device__ __forceinline__ long long grid_samples(const grid_job &j) {
  return (long long)j.samples[0] * j.samples[1] * j.samples[2];
}

/* What is read once or written once leaves the sums in the L2 cache. */
#if defined(__CUDA_ARCH__)
#define READ_ONCE __ldcs
#define WRITE_ONCE __stcs
#else
#define READ_ONCE(at) (*(at))
#define WRITE_ONCE(at, value) (*(at) = (value))
#endif

template <class T>
__device__ __forceinline__ const T *at(const lattice &l, unsigned image, unsigned x, unsigned y,
                                       unsigned z) {
  return (const T *)l.at + image * l.image + x * l.x + y * l.y + z * l.z;
}

template <class T, int AXES, int TAPS>
__device__ __forceinline__ void locate_all(const T *grid, const grid_job &j, taps<TAPS> *t) {
  float x[AXES];
  for (int d = 0; d < AXES; ++d) x[d] = to_float(READ_ONCE(grid + d * j.grid.channel));
  UNROLL
  for (int d = 0; d < AXES; ++d) t[d] = locate<TAPS>(x[d], j.size[d], j);
}

__device__ __forceinline__ bool is_within(int at, int size) {
  return (unsigned)at < (unsigned)size;
}

template <int AXES, int TAPS>
constexpr int places = (AXES == 2 ? 1 : TAPS) * TAPS *TAPS;

/* Which of the taps of an axis place k of a sample has. */
template <int TAPS>
__host__ __device__ constexpr int tap(int k, int axis) {
  return (axis == 0 ? k : axis == 1 ? k / TAPS : k / TAPS / TAPS) % TAPS;
}

/* A sample of an image; beyond the samples its last one, which is not a new one. */
template <int AXES>
struct sample_of_thread {
  unsigned sample /* of the image */, image, x, y, z;
  bool is_new;

  __device__ sample_of_thread(const grid_job &j, unsigned first, unsigned image) : image(image) {
    const unsigned samples = (unsigned)grid_samples(j), wide = j.samples[0], high = j.samples[1];
    is_new = first < samples, sample = min(first, samples - 1);
    x = sample % wide, y = sample / wide, z = 0;
    if (AXES == 3) z = y / high, y %= high;
  }
};

__device__ __forceinline__ unsigned blocks_of_image(const grid_job &j) {
  return (unsigned)((grid_samples(j) + THREADS - 1) / THREADS);
}

/* The grid's gradient of a sample. */
template <class T, int AXES, int TAPS>
struct sample_slopes {
  enum { PLACES = places<AXES, TAPS> };

  taps<TAPS> t[AXES];
  const T *from;              /* the first place, of a channel */
  long long away[AXES][TAPS]; /* the others from there */
  bool reads[PLACES];         /* that are in the picture; of the others, the next in it is read */
  float sum[PLACES];          /* of the channels: gradient x input */

  __device__ sample_slopes(const grid_job &j, const sample_of_thread<AXES> &s) : sum{} {
    locate_all<T, AXES, TAPS>(at<T>(j.grid, s.image, s.x, s.y, s.z), j, t);
    const long long steps[] = {j.input.x, j.input.y, j.input.z};
    from = at<T>(j.input, s.image, 0, 0, 0);
    for (int d = 0; d < AXES; ++d) {
      int near[TAPS];
      for (int a = 0; a < TAPS; ++a) {
        near[a] = max(0, min(t[d].at[a], j.size[d] - 1));
        away[d][a] =
            TAPS == 2 ? (near[a] > near[0] ? steps[d] : 0) : (near[a] - near[0]) * steps[d];
      }
      from += (unsigned)near[0] * steps[d];
    }
    for (int k = 0; k < PLACES; ++k) {
      reads[k] = s.is_new;
      for (int d = 0; d < AXES; ++d)
        reads[k] = reads[k] && is_within(t[d].at[tap<TAPS>(k, d)], j.size[d]);
    }
  }

  /* f(gradient) for each of `count` channels, which are added if `adds`. */
  template <class F>
  __device__ __forceinline__ void each(const grid_job &j, const T *gradient, int count, bool adds,
                                       F f) {
    enum { AHEAD = PLACES > 8 ? 1 : PLACES > 4 ? 2 : PLACES > 1 ? 4 : 8 };
    const auto take = [&](int some) __attribute__((always_inline)) {
      float g[AHEAD], its[AHEAD][PLACES];
      UNROLL
      for (int i = 0; i < AHEAD; ++i) {
        if (i >= some) continue;
        g[i] = to_float(READ_ONCE(gradient)), gradient += j.gradient.channel;
        for (int k = 0; adds && k < PLACES; ++k) {
          const T *place = from;
          for (int d = AXES - 1; d >= 0; --d) place += away[d][tap<TAPS>(k, d)];
          its[i][k] = to_float(*place);
        }
        from += j.input.channel;
      }
      UNROLL
      for (int i = 0; i < AHEAD; ++i) {
        if (i >= some) continue;
        for (int k = 0; adds && k < PLACES; ++k) sum[k] += g[i] * its[i][k];
        f(g[i]);
      }
    };
    for (; count >= AHEAD; count -= AHEAD) take(AHEAD);
    if (count > 0) take(count);
  }

  __device__ void end(T *out) const {
    struct alignas(AXES == 2 ? 2 * sizeof(T) : sizeof(T)) {
      T of[AXES];
    } all;
    for (int d = 0; d < AXES; ++d) {
      float slope = 0.f;
      for (int k = 0; k < PLACES; ++k) {
        float w = reads[k] ? sum[k] : 0.f; /* 0 of a NaN's weights is NaN, as for PyTorch */
        for (int e = 0; e < AXES; ++e)
          w *= e == d ? t[e].slope[tap<TAPS>(k, e)] : t[e].weight[tap<TAPS>(k, e)];
        slope += w;
      }
      store(all.of + d, slope);
    }
    *(decltype(all) *)out = all;
  }
};

template <class T, int AXES>
__device__ __forceinline__ T *slopes_of(const grid_job &j, const sample_of_thread<AXES> &s) {
  return (T *)j.out_grid + (s.image * grid_samples(j) + s.sample) * AXES;
}

/* The grid's gradient, and the largest value of the gradient; clears the sums. */
template <class T, int AXES, int TAPS>
__global__ void __launch_bounds__(THREADS, places<AXES, TAPS> > 8   ? 2
                                           : places<AXES, TAPS> > 4 ? 3
                                                                    : 4) slope_samples(grid_job j) {
  for (long long i = blockIdx.x * (long long)THREADS + threadIdx.x; i < j.words;
       i += gridDim.x * (long long)THREADS)
    j.sums[i] = 0;
  const unsigned blocks = blocks_of_image(j);
  const unsigned first = blockIdx.x % blocks * THREADS + threadIdx.x;
  const sample_of_thread<AXES> s(j, first, blockIdx.x / blocks);
  sample_slopes<T, AXES, TAPS> slopes(j, s);
  const T *gradient = at<T>(j.gradient, s.image, s.x, s.y, s.z);
  unsigned largest = 0u, others = 0u;
  slopes.each(
      j, gradient, j.channels, true, [&](float g) __attribute__((always_inline)) {
        const unsigned bits = bits_of(g);
        largest = max(largest, bits < NOT_FINITE ? bits : 0u);
        others |= bits >= NOT_FINITE;
      });
  if (s.is_new) slopes.end(slopes_of<T, AXES>(j, s));
  raise_of_block(j.largest, largest, others);
}

/* Values are below 2^51 units, sums below 2^62; cubic weights sum up to less than 2. */
__device__ __forceinline__ int grid_scale(const grid_job &j, unsigned largest) {
  return scale_log2(&largest, max(2 * grid_samples(j), 1ll << 11));
}

/* 1.5 x 2^52 of a sum's last bit: added to it, a value is an integer. */
__device__ __forceinline__ double unit_of(const grid_job &j, unsigned largest) {
  return __longlong_as_double((long long)(1023 + 52 - grid_scale(j, largest)) << 52 | 1ll << 51);
}

/* Adds a channel of a warp's samples at a time. What neighbouring lanes add to one place goes
   together. Of cells, the last lane has no sample: it adds what the one before it has on its right,
   so that a row of cells side by side is one request. */
template <int AXES, int TAPS>
struct sample_adder {
  enum { PLACES = places<AXES, TAPS>, NOT_MINE = -1 };
  enum { OF_WARP = TAPS == 2 ? 31 : 32, OF_BLOCK = THREADS / 32 * OF_WARP /* samples */ };

  const double unit;
  double weight[AXES][TAPS];
  int pixel[PLACES];
  unsigned follows; /* lanes whose places are those of the lane before, if they are many */
  unsigned takes;   /* places that are, in the lane before, the next along x; if they are many */
  bool is_paired;   /* else: a sample's two places along x are added by two lanes, in one request */

  __device__ sample_adder(const grid_job &j, unsigned largest, const taps<TAPS> *t,
                          const bool *reads)
      : unit(unit_of(j, largest)), follows(0u), takes(0u), is_paired(false) {
    const int lane = threadIdx.x % 32;
    int before[PLACES];
    bool is_same = lane > 0;
    for (int k = 0; k < PLACES; ++k) {
      unsigned its = 0u;
      for (int d = AXES - 1; d >= 0; --d) its = its * j.size[d] + t[d].at[tap<TAPS>(k, d)];
      pixel[k] = reads[k] ? (int)its : +NOT_MINE;
      before[k] = __shfl_up_sync(ARC_LANES_ALL, pixel[k], 1);
      is_same = is_same && before[k] == pixel[k];
    }
    for (int d = 0; d < AXES; ++d) {
      weight[d][TAPS - 1] = t[d].weight[TAPS - 1];
      if (TAPS == 2) weight[d][0] = 1. - weight[d][1];
    }
    for (int a = 0; a < TAPS; ++a)
      if (lane >= OF_WARP) weight[AXES - 1][a] = 0.;
    const unsigned same = __ballot_sync(ARC_LANES_ALL, is_same);
    if (__popc(same) >= 16) {
      follows = same;
      for (int k = 0; k < PLACES; ++k)
        if (is_same) pixel[k] = NOT_MINE;
    } else if (TAPS == 2) {
      for (int k = 0; k < PLACES; k += 2) {
        const int next = before[(k + 1) % PLACES], its = lane >= OF_WARP ? next : pixel[k];
        if (lane > 0 && its != NOT_MINE && its == next) takes |= 1u << k;
      }
      is_paired = __popc(__ballot_sync(ARC_LANES_ALL, takes != 0u)) < 16;
      if (is_paired) takes = 0u;
      const unsigned taken = __shfl_down_sync(ARC_LANES_ALL, takes, 1);
      for (int k = 0; k < PLACES; k += 2) {
        if (lane >= OF_WARP && (takes >> k & 1u)) pixel[k] = before[(k + 1) % PLACES];
        if (lane < 31 && (taken >> k & 1u)) pixel[(k + 1) % PLACES] = NOT_MINE;
        if (is_paired) pair(pixel + k);
      }
    }
  }

  /* Of two places of each lane: a sample's go to two lanes side by side, lanes 0 to 15 first. */
  template <class V>
  static __device__ __forceinline__ void pair(V *two) {
    const int lane = threadIdx.x % 32;
    V half[2];
    for (int h = 0; h < 2; ++h) {
      const V first = __shfl_sync(ARC_LANES_ALL, two[0], lane / 2 + 16 * h);
      const V second = __shfl_sync(ARC_LANES_ALL, two[1 % PLACES], lane / 2 + 16 * h);
      half[h] = lane % 2 ? second : first;
    }
    two[0] = half[0], two[1 % PLACES] = half[1];
  }

  /* By all lanes. sums: of the channel's first pixel. */
  __device__ void add(long long *sums, float g) const {
    const int lane = threadIdx.x % 32;
    long long sum[PLACES];
    for (int k = 0; k < PLACES; ++k) {
      double product = bits_of(g) < NOT_FINITE ? g : 0.f;
      for (int d = AXES - 1; TAPS > 1 && d > 0; --d) product *= weight[d][tap<TAPS>(k, d)];
      product = TAPS > 1 ? fma(product, weight[0][tap<TAPS>(k, 0)], unit) : product + unit;
      sum[k] = __double_as_longlong(product) - __double_as_longlong(unit);
    }
    unsigned can = follows >> 1; /* lanes that the next `distance` lanes follow */
    for (int distance = 1; can != 0u; can &= can >> distance, distance *= 2) {
      for (int k = 0; k < PLACES; ++k) {
        const long long its = __shfl_down_sync(ARC_LANES_ALL, sum[k], distance);
        if (can >> lane & 1u) sum[k] += its;
      }
    }
    for (int k = 0; TAPS == 2 && k < PLACES; k += 2) {
      const long long its = __shfl_up_sync(ARC_LANES_ALL, sum[(k + 1) % PLACES], 1);
      if (takes >> k & 1u) sum[k] += its;
      if (is_paired) pair(sum + k);
    }
    for (int k = 0; k < PLACES; ++k)
      if (pixel[k] != NOT_MINE) arc_atomic_add_i64(sums + (unsigned)pixel[k], sum[k]);
  }
};

/* The grid's gradient, and the planes of the launch: of whole images, or channels of one.
   blockIdx.y: images. */
template <class T, int AXES, int TAPS>
__global__ void __launch_bounds__(THREADS, places<AXES, TAPS> > 4 ? 2 : 3)
    add_by_sample(grid_job j) {
  typedef sample_adder<AXES, TAPS> adder;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  sample_of_thread<AXES> s(j, blockIdx.x * adder::OF_BLOCK + warp * adder::OF_WARP + lane,
                           j.first_image + blockIdx.y);
  s.is_new = s.is_new && lane < adder::OF_WARP;
  const unsigned largest = j.largest[0]; /* loaded beside the grid */
  sample_slopes<T, AXES, TAPS> slopes(j, s);
  const adder a(j, largest, slopes.t, slopes.reads);
  const T *gradient =
      at<T>(j.gradient, s.image, s.x, s.y, s.z) + j.first_channel * j.gradient.channel;
  long long *sums = j.sums + (long long)blockIdx.y * j.channels * j.pixels;
  const bool ends = j.out_grid != nullptr && j.first_channel == 0, adds = TAPS > 1 && ends;
  int left = min(j.planes, j.channels);
  slopes.each(
      j, gradient, adds ? j.channels : left, adds, [&](float g) __attribute__((always_inline)) {
        if (left-- > 0) a.add(sums, g), sums += j.pixels;
      });
  if (ends && s.is_new) slopes.end(slopes_of<T, AXES>(j, s));
}

/* Reads the sums of add_by_sample's planes into out, and clears them for the next launch. */
template <class T>
__global__ void __launch_bounds__(THREADS) finish_planes(grid_job j) {
  const int scale = grid_scale(j, j.largest[0]);
  const long long first = blockIdx.x * (long long)FINISHED + threadIdx.x;
  const int count = (int)min((long long)FINISHED, (long long)j.planes * j.pixels - first);
  long long *const sums = j.sums + first;
  T *const out = (T *)j.out + (long long)j.first_plane * j.pixels + first;
  long long sum[FINISHED / THREADS];
  for (int i = 0; i < FINISHED; i += THREADS)
    if (i < count) sum[i / THREADS] = sums[i];
  for (int i = 0; i < FINISHED; i += THREADS) {
    if (i >= count) continue;
    if (j.clears) sums[i] = 0;
    T value;
    store(&value, arc_fixed_to_f32(sum[i / THREADS], scale));
    WRITE_ONCE(out + i, value);
  }
}

/* What a walk keeps of a sample along an axis: of a cell its first place, and the second's
   weight. */
template <int AXES, int TAPS>
struct spot {
  enum { KEPT = TAPS == 4 ? 4 : 1 };
  double weight[AXES][KEPT];
  int at[AXES][KEPT];
};

template <int AXES, int TAPS>
struct walker {
  enum { PLACES = places<AXES, TAPS>, KEPT = spot<AXES, TAPS>::KEPT };

  const grid_job &j;
  long long *const base; /* the sum of the lane's channel in the launch's first pixel */
  const double unit;
  int at[AXES][KEPT];
  long long sum[PLACES];

  __device__ walker(const grid_job &j, long long *base)
      : j(j), base(base), unit(unit_of(j, j.largest[0])), sum{} {
    for (int d = 0; d < AXES; ++d)
      for (int a = 0; a < KEPT; ++a) at[d][a] = NOWHERE;
  }

  __device__ int place(int axis, int a) const {
    return KEPT == 1 ? at[axis][0] + a : at[axis][a % KEPT];
  }

  /* Of place k, from the first place's pixel on. */
  __device__ void send(int k, unsigned first) const {
    bool goes = sum[k] != 0;
    unsigned pixel = 0u;
    for (int d = AXES - 1; d >= 0; --d) {
      const int a = tap<TAPS>(k, d);
      goes = goes && is_within(place(d, a), j.size[d]);
      pixel = pixel * j.size[d] + (KEPT == 1 ? a : at[d][a % KEPT]);
    }
    pixel += first;
    if (goes && pixel < (unsigned)j.pixels)
      arc_atomic_add_i64(base + (long long)pixel * j.width, sum[k]);
  }

  /* Along an axis: what the next sample reaches moves, the rest goes. */
  __device__ void move(int axis, const int *next) {
    bool stays = true, is_up = TAPS > 1, is_down = TAPS > 1;
    for (int a = 0; a < TAPS; ++a) {
      const int to = KEPT == 1 ? next[0] + a : next[a % KEPT];
      stays = stays && to == place(axis, a);
      if (a + 1 < TAPS) is_up = is_up && to == place(axis, a + 1);
      if (a > 0) is_down = is_down && to == place(axis, a - 1);
    }
    if (stays) return;
    is_down = is_down && !is_up; /* both, where a picture of two places is reflected */
    unsigned first = 0u;
    for (int d = AXES - 1; KEPT == 1 && d >= 0; --d) first = first * j.size[d] + at[d][0];
    first -= (unsigned)j.first_pixel;
    for (int k = 0; k < PLACES; ++k) {
      const int a = tap<TAPS>(k, axis);
      if (!(is_up && a > 0) && !(is_down && a < TAPS - 1)) send(k, first);
    }
    const int step = axis == 0 ? 1 : axis == 1 ? TAPS : TAPS * TAPS;
    long long old[PLACES];
    for (int k = 0; k < PLACES; ++k) old[k] = sum[k];
    for (int k = 0; k < PLACES; ++k) {
      const int a = tap<TAPS>(k, axis);
      sum[k] = is_up && a < TAPS - 1 ? old[(k + step) % PLACES]
               : is_down && a > 0    ? old[(k + PLACES - step) % PLACES]
                                     : 0;
    }
    for (int a = 0; a < KEPT; ++a) at[axis][a] = next[a];
  }

  __device__ double weight(const spot<AXES, TAPS> &s, int axis, int a) const {
    return TAPS == 1   ? 1.
           : TAPS == 4 ? s.weight[axis][a % KEPT]
           : a         ? s.weight[axis][0]
                       : 1. - s.weight[axis][0];
  }

  __device__ void take(const spot<AXES, TAPS> &s, double g) {
    for (int d = 0; d < AXES; ++d) move(d, s.at[d]);
    for (int k = 0; k < PLACES; ++k) {
      double product = g;
      for (int d = AXES - 1; d > 0; --d) product *= weight(s, d, tap<TAPS>(k, d));
      sum[k] += __double_as_longlong(fma(product, weight(s, 0, tap<TAPS>(k, 0)), unit)) -
                __double_as_longlong(unit);
    }
  }

  /* By all lanes. Where all samples are in one place, the sums of a channel go together. */
  __device__ void end() {
    bool is_one = true;
    int next[KEPT];
    for (int a = 0; a < KEPT; ++a) {
      next[a] = NOWHERE;
      for (int d = 0; d < AXES; ++d)
        is_one = at[d][a] == __shfl_sync(ARC_LANES_ALL, at[d][a], 0) && is_one;
    }
    if (__all_sync(ARC_LANES_ALL, is_one)) {
      for (int k = 0; k < PLACES; ++k) {
        for (int distance = 16; distance >= j.width; distance /= 2)
          sum[k] += __shfl_down_sync(ARC_LANES_ALL, sum[k], distance);
        if ((int)threadIdx.x % 32 >= j.width) sum[k] = 0;
      }
    }
    move(0, next);
  }
};

/* That of blockIdx.y: a group of `width` channels of an image. */
struct plane_of_block {
  int image, first_channel, channels;
  long long *sums;

  __device__ explicit plane_of_block(const grid_job &j) {
    const int groups = (j.channels + j.width - 1) / j.width;
    const int plane = j.first_plane + blockIdx.y;
    image = plane / groups, first_channel = plane % groups * j.width;
    channels = min(j.width, j.channels - first_channel);
    sums = j.sums + (long long)blockIdx.y * j.pixels * j.width;
  }
};

/* blockIdx.x: WALKERS warps, y: planes. */
template <class T, int AXES, int TAPS>
__global__ void __launch_bounds__(32 * WALKERS, places<AXES, TAPS> > 8   ? 4
                                                : places<AXES, TAPS> > 4 ? 6
                                                                         : 8)
    add_samples(grid_job j) {
  __shared__ spot<AXES, TAPS> all_spots[WALKERS][TILE];
  __shared__ float all_values[WALKERS][32 * 17];
  spot<AXES, TAPS> *const spots = all_spots[threadIdx.x / 32];
  float *const values = all_values[threadIdx.x / 32];
  const int lane = threadIdx.x % 32, streams = 32 / j.width, length = j.tile / streams;
  const int streams_log2 = 31 - __clz(streams), length_log2 = 31 - __clz(length);
  const int stream = lane / j.width, channel = lane % j.width;
  const plane_of_block p(j);
  const int wide = j.walks_down ? streams : j.tile, high = j.walks_down ? length : 1;
  const int across = (j.samples[0] + wide - 1) / wide, lines = j.samples[1] * j.samples[2];
  const int warp = (int)(blockIdx.x * WALKERS + threadIdx.x / 32);
  const int first_x = warp % across * wide;
  const long long first_line = (long long)(warp / across) * high * j.step;
  const int end = (int)min(first_line + high * j.step, (long long)lines);
  walker<AXES, TAPS> w(j, p.sums + channel);
  for (int line = (int)min(first_line, (long long)lines); line < end; line += high) {
    for (int m = lane; m < j.tile; m += 32) {
      const int s = j.walks_down ? m & (streams - 1) : m >> length_log2;
      const int i = j.walks_down ? m >> streams_log2 : m & (length - 1);
      const int x = first_x + (j.walks_down ? s : m), l = line + (j.walks_down ? i : 0);
      const bool is_sample = x < j.samples[0] && l < lines;
      const int y = l % j.samples[1], z = l / j.samples[1];
      spot<AXES, TAPS> *const its = &spots[i * streams + s];
      bool reads = is_sample;
      if (is_sample) {
        taps<TAPS> t[AXES];
        locate_all<T, AXES, TAPS>(at<T>(j.grid, p.image, x, y, z), j, t);
        for (int d = 0; d < AXES; ++d) {
          for (int a = 0; a < spot<AXES, TAPS>::KEPT; ++a) {
            its->at[d][a] = t[d].at[a];
            its->weight[d][a] = t[d].weight[TAPS == 2 ? TAPS - 1 : a];
            if (TAPS == 4 && bits_of(t[d].weight[a]) >= NOT_FINITE)
              reads = false, j.largest[1] = 1u;
          }
          if (TAPS < 4) reads = reads && t[d].at[TAPS - 1] >= 0 && t[d].at[0] < j.size[d];
        }
      }
      if (!reads) its->at[0][0] = NOWHERE;
      const T *gradient =
          at<T>(j.gradient, p.image, x, y, z) + p.first_channel * j.gradient.channel;
      enum { AHEAD = 8 };
      for (int c = 0; c < p.channels; c += AHEAD) {
        float g[AHEAD];
        for (int k = 0; k < AHEAD; ++k)
          g[k] = reads && c + k < p.channels
                     ? to_float(READ_ONCE(gradient + (c + k) * j.gradient.channel))
                     : 0.f;
        for (int k = 0; k < AHEAD; ++k)
          if (c + k < p.channels)
            values[(s * j.width + c + k) * (length + 1) + i] =
                bits_of(g[k]) < NOT_FINITE ? g[k] : 0.f;
      }
    }
    __syncwarp();
    for (int i = 0; i < length; ++i) {
      const spot<AXES, TAPS> &its = spots[i * streams + stream];
      if (its.at[0][0] != NOWHERE)
        w.take(its, channel < p.channels ? values[lane * (length + 1) + i] : 0.f);
    }
    __syncwarp();
  }
  w.end();
}

/* Reads the launch's sums into out, and clears them for the next. blockIdx.y: planes. */
template <class T>
__global__ void __launch_bounds__(32 * WALKERS) finish_input(grid_job j) {
  __shared__ float all_values[WALKERS][SUMS + 32];
  float *const values = all_values[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const plane_of_block p(j);
  const int scale = grid_scale(j, j.largest[0]), high = SUMS / j.width;
  const int first =
      (int)min((blockIdx.x * WALKERS + threadIdx.x / 32) * (long long)high, (long long)j.pixels);
  const int pixels = min(high, j.pixels - first);
  long long *const sums = p.sums + (long long)first * j.width;
  const int channel = lane % j.width, streams = 32 / j.width;
  UNROLL_BY_8
  for (int i = lane / j.width; i < pixels; i += streams) {
    const long long sum = sums[i * j.width + channel];
    if (sum != 0 && j.clears) sums[i * j.width + channel] = 0;
    values[channel * (high + 1) + i] = arc_fixed_to_f32(sum, scale);
  }
  __syncwarp();
  T *const out = (T *)j.out + ((long long)p.image * j.channels + p.first_channel) * grid_pixels(j) +
                 j.first_pixel + first;
  for (int c = 0; c < p.channels; ++c)
    for (int i = lane; i < pixels; i += 32) {
      T value;
      store(&value, values[c * (high + 1) + i]);
      WRITE_ONCE(out + c * grid_pixels(j) + i, value);
    }
}

/* Adds what is not finite, if there is any: with one of these a sum is the same in any order. */
template <class T, int AXES, int TAPS>
__global__ void __launch_bounds__(THREADS) add_others(grid_job j) {
  if (j.largest[1] == 0u) return;
  const unsigned blocks = blocks_of_image(j);
  for (unsigned block = blockIdx.x; block < blocks * j.images; block += gridDim.x) {
    const sample_of_thread<AXES> s(j, block % blocks * THREADS + threadIdx.x, block / blocks);
    if (!s.is_new) continue;
    taps<TAPS> t[AXES];
    locate_all<T, AXES, TAPS>(at<T>(j.grid, s.image, s.x, s.y, s.z), j, t);
    const T *gradient = at<T>(j.gradient, s.image, s.x, s.y, s.z);
    for (int k = 0; k < places<AXES, TAPS>; ++k) {
      float weight = 1.f;
      long long pixel = 0;
      bool reads = true;
      for (int d = AXES - 1; d >= 0; --d) {
        const int a = tap<TAPS>(k, d);
        weight *= t[d].weight[a], pixel = pixel * j.size[d] + t[d].at[a];
        reads = reads && is_within(t[d].at[a], j.size[d]);
      }
      for (int c = 0; reads && c < j.channels; ++c) {
        const float product = to_float(gradient[c * j.gradient.channel]) * weight;
        if (bits_of(product) >= NOT_FINITE)
          add((T *)j.out + ((long long)s.image * j.channels + c) * grid_pixels(j) + pixel, product);
      }
    }
  }
}

/* ---- the launches: by chunks of images, channels and pixels --------------------------------- */

enum { MOST_TILES = 16, WARPS_WANTED = 48 /* of a multiprocessor */ };

long long parts_of(long long count, long long part) { return (count + part - 1) / part; }

template <class T, int AXES, int TAPS>
void add_by_samples(grid_job j, device d) {
  const int all = j.images * j.channels, most = j.planes;
  for (; j.first_plane < all; j.first_plane += j.planes) {
    plan_launch(&j, most);
    const dim3 blocks((unsigned)parts_of(grid_samples(j), sample_adder<AXES, TAPS>::OF_BLOCK),
                      (unsigned)parts_of(j.planes, j.channels));
    LAUNCH((add_by_sample<T, AXES, TAPS>), blocks, THREADS, d.stream, j);
    const long long parts = parts_of((long long)j.planes * j.pixels, FINISHED);
    LAUNCH(finish_planes<T>, (unsigned)parts, THREADS, d.stream, j);
  }
}

template <class T, int AXES, int TAPS>
void add_by_walks(grid_job j, device d) {
  const int length = j.tile * j.width / 32, planes = j.images * (int)parts_of(j.channels, j.width);
  const int most_planes = j.planes, most_pixels = j.pixels;
  const long long across = parts_of(j.samples[0], j.walks_down ? 32 / j.width : j.tile);
  const long long down =
      parts_of((long long)j.samples[1] * j.samples[2], j.walks_down ? length : 1);
  const long long wanted = (long long)WARPS_WANTED * d.multiprocessors;
  for (j.first_plane = 0; j.first_plane < planes; j.first_plane += most_planes) {
    j.planes = std::min(most_planes, planes - j.first_plane);
    if (j.step == 0)
      j.step = (int)std::clamp(across * down * j.planes / wanted, 1ll, (long long)MOST_TILES);
    const long long warps = across * parts_of(down, j.step);
    for (long long first = 0; first < grid_pixels(j); first += most_pixels) {
      j.first_pixel = (int)first;
      j.pixels = (int)std::min((long long)most_pixels, grid_pixels(j) - first);
      j.clears = j.first_plane + j.planes < planes || first + j.pixels < grid_pixels(j);
      const dim3 blocks((unsigned)parts_of(warps, WALKERS), j.planes);
      LAUNCH((add_samples<T, AXES, TAPS>), blocks, 32 * WALKERS, d.stream, j);
      const dim3 tiles((unsigned)parts_of(j.pixels, WALKERS * SUMS / j.width), j.planes);
      LAUNCH(finish_input<T>, tiles, 32 * WALKERS, d.stream, j);
    }
  }
}

template <class T, int AXES, int TAPS>
cudaError_t sample(grid_job j, device d) {
  const unsigned by_sample = (unsigned)(parts_of(grid_samples(j), THREADS) * j.images);
  if constexpr (TAPS > 1)
    if (j.out_grid != nullptr && !j.by_sample)
      LAUNCH((slope_samples<T, AXES, TAPS>), by_sample, THREADS, d.stream, j);
  if (j.out == nullptr) return cudaGetLastError();
  if constexpr (TAPS < 4)
    if (j.by_sample) add_by_samples<T, AXES, TAPS>(j, d);
  if (!j.by_sample) add_by_walks<T, AXES, TAPS>(j, d);
  LAUNCH((add_others<T, AXES, TAPS>), std::min(by_sample, 4u * d.multiprocessors), THREADS,
         d.stream, j);
  return cudaGetLastError();
}

}  // namespace
