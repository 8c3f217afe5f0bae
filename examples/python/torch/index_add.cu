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
#include "arc/gather.cuh"
#include "arc/overloads.cuh"

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
  unsigned *largest;   /* two: bits of the largest |value| and, if it is not finite, of the largest
                          that is */
};

enum { NOT_FINITE = 0x7f800000 };

/* n values of at most the largest, each rounded to an integer, have a sum below 2^62. */
__device__ int scale_log2(const job &j) {
  float largest = __uint_as_float(j.largest[j.largest[0] < NOT_FINITE ? 0 : 1]);
  int exponent = largest > 0 ? ilogbf(largest) + 1 : 0, bits = 64 - __clzll(j.n);
  return max(-126, min(126, 62 - exponent - bits));
}

/* The target of out and the rows of values, by the type of both; and these values into fixed point.
   Halves are any pointers to arc, so that they have names of their own. */
#define HALVES(T, S)                                                                           \
  __device__ __forceinline__ arc_target_##S target_of(const job &j, T *, int width) {          \
    return arc_target_##S##_rows(j.out, j.out_stride, width);                                  \
  }                                                                                            \
  __device__ __forceinline__ arc_gather_##S rows_of(const job &j, T *, arc_target_##S t) {     \
    return arc_gather_begin_##S##_from_##S(t, j.values, j.values_stride);                      \
  }                                                                                            \
  __device__ __forceinline__ arc_gather_fixed rows_of(const job &j, T *, arc_target_fixed t) { \
    return arc_gather_begin_fixed_from_##S(t, j.values, j.values_stride);                      \
  }
HALVES(c10::Half, f16)
HALVES(c10::BFloat16, bf16)

template <class T>
__device__ __forceinline__ auto target_of(const job &j, T *, int width) {
  return arc_target_rows((T *)j.out, j.out_stride, width);
}

template <class T, class Target>
__device__ __forceinline__ auto rows_of(const job &j, T *, Target target) {
  return arc_gather_begin(target, (const T *)j.values, j.values_stride);
}

__device__ __forceinline__ long long key_of(const job &j, long long row) {
  return j.has_wide_index ? ((const long long *)j.index)[row] : ((const int *)j.index)[row];
}

/* A warp takes consecutive rows; the next keys are on their way while it adds. K: of keys, int
   where the rows of out can be counted so. FIXED: into sums in fixed point, the same bits in every
   run. */
template <class T, class K, int WIDTH, bool FIXED>
__global__ void __launch_bounds__(THREADS, WIDTH ? 1 : 3) add(job j) {
  const int width = WIDTH ? WIDTH : j.width;
  auto rows = [&] {
    T *type = nullptr;
    if constexpr (FIXED)
      return rows_of(j, type, arc_target_fixed_rows(j.sums, width, width, scale_log2(j)));
    else
      return rows_of(j, type, target_of(j, type, width));
  }();
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
    arc_gather_add_with(&rows, (K)key, first + at, at < count, o);
  }
  arc_gather_end(&rows);
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
unsigned resident_blocks(void (*kernel)(job), long long wanted) {
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

/* Widths that are compiled as such, into fixed point only those of float; others are known at run
   time only. */
#define EACH_WIDTH(X) X(1) X(2) X(3) X(4) X(8) X(9) X(16) X(32) X(64) X(128)

template <class T, bool FIXED>
void add_rows(const job &j) {
  if constexpr (!FIXED || std::is_same_v<T, float>) {
#define WIDTH(w) \
  if (j.width == w && j.rows <= INT_MAX) return launch(add<T, int, w, FIXED>, j);
    EACH_WIDTH(WIDTH)
#undef WIDTH
  }
  launch(j.rows <= INT_MAX ? add<T, int, 0, FIXED> : add<T, long long, 0, FIXED>, j);
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
  add_rows<T, true>(j);
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
  if (type == at::kDouble) add_rows<double, false>(j);
#define ADD(T) reproducible ? add_reproducibly<T>(j, out) : add_rows<T, false>(j)
  if (type == at::kFloat) ADD(float);
  if (type == at::kHalf) ADD(c10::Half);
  if (type == at::kBFloat16) ADD(c10::BFloat16);
#undef ADD
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("index_add_", index_add_); }
