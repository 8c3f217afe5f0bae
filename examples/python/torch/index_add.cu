/* index_add.cu - PyTorch's index_add_ along the first dimension, by arc's form for rows in memory.
   SPDX-License-Identifier: Apache-2.0

   arc_torch.py builds it and registers what it defines: arc::index_add_ for CUDA tensors. */
#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "arc.cuh"

namespace {

enum { THREADS = 256 };

/* What a kernel takes: n rows of `width` values, and where they go. */
struct job {
  const void *values, *index;
  void *out;
  long long n, rows; /* of values; of out */
  int width, values_stride, out_stride;
  bool has_wide_index; /* of 64 bits */
  long long chunks;    /* of 32 rows, that each warp takes one after the other */
  long long *sums;     /* [rows][width] in fixed point, or null */
  unsigned
      *largest; /* the bits of the largest |value|, and of the largest finite one if that is none */
};

/* n values of at most the largest, each rounded to an integer, have a sum below 2^62. */
enum { NOT_FINITE = 0x7f800000 };
__device__ int scale_log2(const job &j) {
  float largest = __uint_as_float(j.largest[j.largest[0] < NOT_FINITE ? 0 : 1]);
  int exponent = largest > 0 ? ilogbf(largest) + 1 : 0, bits = 64 - __clzll(j.n);
  return max(-126, min(126, 62 - exponent - bits));
}

/* One arc_rows and one arc_target for each type T of values and out. */
template <class T>
struct type;
template <>
struct type<float> {
  typedef arc_rows_f32 rows;
  static __device__ arc_target_f32 target(const job &j, int width) {
    return arc_target_f32_rows((float *)j.out, j.out_stride, width);
  }
  static __device__ rows from(const job &j, arc_target_f32 target) {
    return arc_rows_f32_from(target, (const float *)j.values, j.values_stride);
  }
};
template <>
struct type<c10::Half> {
  typedef arc_rows_f32 rows;
  static __device__ arc_target_f32 target(const job &j, int width) {
    return arc_target_f32_rows_f16(j.out, j.out_stride, width);
  }
  static __device__ rows from(const job &j, arc_target_f32 target) {
    return arc_rows_f32_from_f16(target, j.values, j.values_stride);
  }
};
template <>
struct type<c10::BFloat16> {
  typedef arc_rows_f32 rows;
  static __device__ arc_target_f32 target(const job &j, int width) {
    return arc_target_f32_rows_bf16(j.out, j.out_stride, width);
  }
  static __device__ rows from(const job &j, arc_target_f32 target) {
    return arc_rows_f32_from_bf16(target, j.values, j.values_stride);
  }
};
template <>
struct type<double> {
  typedef arc_rows_f64 rows;
  static __device__ arc_target_f64 target(const job &j, int width) {
    return arc_target_f64_rows((double *)j.out, j.out_stride, width);
  }
  static __device__ rows from(const job &j, arc_target_f64 target) {
    return arc_rows_f64_from(target, (const double *)j.values, j.values_stride);
  }
};

__device__ void add_row(arc_rows_f32 *r, long long key, long long row, bool active, arc_options o) {
  arc_add_rows_with_f32(r, key, row, active, o);
}
__device__ void add_row(arc_rows_f64 *r, long long key, long long row, bool active, arc_options o) {
  arc_add_rows_with_f64(r, key, row, active, o);
}
__device__ void end_rows(arc_rows_f32 *r) { arc_end_rows_f32(r); }
__device__ void end_rows(arc_rows_f64 *r) { arc_end_rows_f64(r); }

__device__ __forceinline__ long long key_of(const job &j, long long row) {
  return j.has_wide_index ? ((const long long *)j.index)[row] : ((const int *)j.index)[row];
}

/* A warp takes consecutive rows; the next keys are on their way while it adds. K: of keys, int
   where the rows of out can be counted so. */
template <class K, class R>
__device__ __forceinline__ void add_all(const job &j, R *rows) {
  long long warp = (blockIdx.x * (long long)blockDim.x + threadIdx.x) >> 5;
  long long first = warp * j.chunks * 32;
  int lane = threadIdx.x & 31, count = (int)min(j.chunks * 32, max(j.n - first, 0ll));
  arc_options o = arc_options_default();
  o.key_bits = 8 * (int)sizeof(K);
  long long next = lane < count ? key_of(j, first + lane) : 0;
  for (int at = lane; at - lane < count; at += 32) {
    long long key = next;
    if (at + 32 < count) next = key_of(j, first + at + 32);
    CUDA_KERNEL_ASSERT((unsigned long long)key < (unsigned long long)j.rows);
    add_row(rows, (K)key, first + at, at < count, o);
  }
  end_rows(rows);
}

template <class T, class K, int WIDTH>
__global__ void __launch_bounds__(THREADS, WIDTH ? 1 : 3) add(job j) {
  auto target = type<T>::target(j, WIDTH ? WIDTH : j.width);
  auto rows = type<T>::from(j, target);
  add_all<K>(j, &rows);
}

/* Into fixed point: the same bits in every run. */
template <class T, class K, int WIDTH>
__global__ void __launch_bounds__(THREADS, WIDTH ? 1 : 3) add_fixed(job j) {
  const int width = WIDTH ? WIDTH : j.width;
  auto target = arc_target_f32_rows_fixed(j.sums, width, width, scale_log2(j));
  auto rows = type<T>::from(j, target);
  add_all<K>(j, &rows);
}

template <class T>
__device__ unsigned bits_of(T value) {
  return __float_as_uint((float)value) & 0x7fffffffu;
}

__device__ void raise(unsigned *largest, unsigned bits) {
  for (int distance = 16; distance > 0; distance /= 2)
    bits = max(bits, __shfl_xor_sync(ARC_LANES_ALL, bits, distance));
  if ((threadIdx.x & 31) == 0) atomicMax(largest, bits);
}

/* The largest |value| of a contiguous matrix, infinity and NaN among them. */
template <class T>
__global__ void __launch_bounds__(THREADS) find_largest(job j) {
  enum { EACH = 16 / sizeof(T), AHEAD = 4 };
  const T *values = (const T *)j.values;
  const bool aligned = (unsigned long long)values % 16 == 0;
  long long count = j.n * j.width, vectors = aligned ? count / EACH : 0;
  long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long threads = gridDim.x * (long long)blockDim.x;
  unsigned largest = 0u;
  for (long long first = thread; first < vectors; first += AHEAD * threads) {
    alignas(16) T batch[AHEAD * EACH] = {};
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * threads < vectors)
        *(int4 *)(batch + EACH * i) = ((const int4 *)values)[first + i * threads];
#pragma unroll
    for (int i = 0; i < AHEAD * EACH; ++i) largest = max(largest, bits_of(batch[i]));
  }
  for (long long i = vectors * EACH + thread; i < count; i += threads)
    largest = max(largest, bits_of(values[i]));
  raise(j.largest, largest);
}

/* If there are any: adds infinities and NaNs at once, with one of which a sum is the same in any
   order, and finds the largest of the others. */
template <class T>
__global__ void __launch_bounds__(THREADS) add_not_finite(job j) {
  if (j.largest[0] < NOT_FINITE) return;
  long long count = j.n * j.width, step = gridDim.x * (long long)blockDim.x;
  unsigned largest = 0u;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    T value = ((const T *)j.values)[i];
    unsigned bits = bits_of(value);
    if (bits < NOT_FINITE) {
      largest = max(largest, bits);
    } else {
      long long key = key_of(j, i / j.width);
      CUDA_KERNEL_ASSERT((unsigned long long)key < (unsigned long long)j.rows);
      gpuAtomicAddNoReturn((T *)j.out + key * j.out_stride + i % j.width, value);
    }
  }
  raise(j.largest + 1, largest);
}

/* Adds the sums to out, each rounded once. */
template <class T>
__global__ void __launch_bounds__(THREADS) finish(job j) {
  int scale = scale_log2(j);
  long long count = j.rows * j.width, step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    long long sum = j.sums[i];
    if (sum == 0) continue;
    long long at = j.out_stride == j.width ? i : i / j.width * j.out_stride + i % j.width;
    T *out = (T *)j.out + at;
    *out = (T)(float)((double)(float)*out + arc_fixed_to_f64(sum, scale));
  }
}

/* As many blocks as run at once, or fewer: what a block sets up pays for many rows. */
template <class... Arguments>
unsigned resident_blocks(void (*kernel)(Arguments...), long long wanted) {
  int blocks = 0;
  C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0));
  long long most = (long long)blocks * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  return (unsigned)std::max(1ll, std::min(wanted, most));
}

void launch(void (*kernel)(job), job j) {
  const long long chunks = (j.n + 31) / 32, warps = THREADS / 32;
  long long blocks = resident_blocks(kernel, (chunks + warps - 1) / warps);
  j.chunks = (chunks + blocks * warps - 1) / (blocks * warps);
  blocks = (chunks + j.chunks * warps - 1) / (j.chunks * warps);
  kernel<<<(unsigned)blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(j);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/* Widths that are compiled as such; others are known at run time only. */
#define EACH_WIDTH(X) X(1) X(2) X(3) X(4) X(8) X(9) X(16) X(32) X(64) X(128)

template <class T>
void add_rows(const job &j) {
#define WIDTH(w) \
  if (j.width == w && j.rows <= INT_MAX) return launch(add<T, int, w>, j);
  EACH_WIDTH(WIDTH)
#undef WIDTH
  j.rows <= INT_MAX ? launch(add<T, int, 0>, j) : launch(add<T, long long, 0>, j);
}

template <class T>
void add_rows_fixed(const job &j) {
#define WIDTH(w) \
  if (j.width == w && j.rows <= INT_MAX) return launch(add_fixed<T, int, w>, j);
  if constexpr (std::is_same_v<T, float>) {
    EACH_WIDTH(WIDTH)
  }
#undef WIDTH
  j.rows <= INT_MAX ? launch(add_fixed<T, int, 0>, j) : launch(add_fixed<T, long long, 0>, j);
}

template <class T>
void add_reproducibly(job j, const at::Tensor &out) {
  at::Tensor sums = at::zeros({j.rows * j.width + 1}, out.options().dtype(at::kLong));
  j.sums = (long long *)sums.data_ptr<int64_t>();
  j.largest = (unsigned *)(j.sums + j.rows * j.width);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned blocks = resident_blocks(find_largest<T>, (j.n * j.width + THREADS - 1) / THREADS);
  find_largest<T><<<blocks, THREADS, 0, stream>>>(j);
  add_not_finite<T><<<blocks, THREADS, 0, stream>>>(j);
  add_rows_fixed<T>(j);
  blocks = resident_blocks(finish<T>, (j.rows * j.width + THREADS - 1) / THREADS);
  finish<T><<<blocks, THREADS, 0, stream>>>(j);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/* out[index[r]] += values[r]; both have two dimensions. arc_torch.py has checked the rest. */
void index_add_(at::Tensor out, const at::Tensor &index, const at::Tensor &values_) {
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, index);
  at::assert_no_overlap(out, values_);
  const c10::cuda::CUDAGuard guard(out.device());
  const bool reproducible = at::globalContext().deterministicAlgorithms();
  const bool as_it_is = values_.stride(1) == 1 && !reproducible;
  at::Tensor values = as_it_is ? values_ : values_.contiguous(), keys = index.contiguous();
  TORCH_CHECK(out.stride(1) == 1 && std::max(out.stride(0), values.stride(0)) < (1ll << 28),
              "arc: the columns of out must be contiguous, and strides below 2^28 values");
  if (values.numel() == 0) return;
  job j = {values.data_ptr(),
           keys.data_ptr(),
           out.data_ptr(),
           values.size(0),
           out.size(0),
           (int)values.size(1),
           (int)values.stride(0),
           (int)out.stride(0),
           keys.scalar_type() == at::kLong,
           0,
           nullptr,
           nullptr};
  const at::ScalarType type = out.scalar_type();
  if (type == at::kFloat) reproducible ? add_reproducibly<float>(j, out) : add_rows<float>(j);
  if (type == at::kDouble) add_rows<double>(j);
  if (type == at::kHalf)
    reproducible ? add_reproducibly<c10::Half>(j, out) : add_rows<c10::Half>(j);
  if (type == at::kBFloat16)
    reproducible ? add_reproducibly<c10::BFloat16>(j, out) : add_rows<c10::BFloat16>(j);
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("index_add_", index_add_); }
