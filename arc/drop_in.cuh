/* drop_in.cuh - atomicAdd by arc, without a changed line. C++11. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh ...        or one #include above a file's own code
   From there on an atomicAdd(p, v) whose result is not used is summed over the lanes that arrive
   together with one p, if that pays, and one of them adds the sum. Served: float, double, int,
   unsigned, unsigned long long, in global memory, from sm_70 on. All else has the machine code that
   it has without: results that are used, shared memory, other types, atomicAdd_block, CUB.
   What to do next is in docs/try.md: a call of arc sees all values of a lane, and gains more.

   float, one p, sm_80 and newer: in fixed point with 26 bits for the largest value. Error: at most
   2^-21 of the largest |value|, 2^-24 of the sum, 2^-122. NaN and infinity are added one by one.
   ARC_DROP_IN_FLOAT 1 sums floats. Cost: about 40 instructions a statement, which decides for
   itself: lanes that rotate the order of their addresses only pay, but with ARC_DROP_IN_SEVERAL 0.
   It adds at the end of the full expression; then the lane finds its addition in memory. Lanes that
   arrive together wait for each other: code in which one waits for another may hang. A function
   that returns atomicAdd's result gains nothing. `auto old = atomicAdd(..)`, printf, templates that
   deduce the result, and `c ? atomicAdd(p, 1.f) : 0`, whose type would be int, do not compile:
   write float old = ..; unused, `old` adds when it dies. Set arc's macros by -D; on the CPU warp
   include this behind simt/simt.cuh. ARC_PROFILE 1: arc/profile.cuh counts instead. */
#if !defined(ARC_DROP_IN_CUH) && (defined(__CUDACC__) || defined(SIMT_ON_CPU))
#define ARC_DROP_IN_CUH
#ifndef ARC_WORDS_CUH /* NVRTC has them by other names */
#include "../arc_policy.cuh"
#include "words.cuh"
#endif
#if ARC_PROFILE
#include "profile.cuh"
#else
struct arc__code_line {}; /* in the source: only the profile asks */
#define ARC__HERE arc__code_line()
#define arc__count_used(p, at) ((void)(at))

/* Adds the sum of each group, here by pointer jumping, as in arc__reduce_jumping. */
template <class T>
ARC__FN void arc__drop_in_sum(unsigned lanes, unsigned group, int lane, T *p, T v) {
  unsigned lower = group & arc__lanes_below(lane);
  unsigned next = lower ? (unsigned)arc__highest(lower) : 32u | (unsigned)lane;
  ARC__UNROLL
  for (int round = 0; round < 5; ++round) {
    const bool adds = next < 32u;
    if (round > 0 && !__any_sync(lanes, adds)) break;
    const T other = __shfl_sync(lanes, v, (int)next);
    if (adds) v += other;
    next = __shfl_sync(lanes, next, (int)next);
  }
  if (arc__leads(group, lane)) atomicAdd(p, v);
}

#if ARC__ARCH >= 800
ARC__FN void arc__drop_in_sum(unsigned lanes, unsigned group, int lane, unsigned *p, unsigned v) {
  if (group != lanes) return arc__drop_in_sum<unsigned>(lanes, group, lane, p, v);
  v = arc__redux(lanes, v);
  if (arc__leads(lanes, lane)) atomicAdd(p, v);
}
#if !ARC_DROP_IN_FLOAT
/* The largest value is below 2^26 units, so that no sum of 32 leaves an int. */
ARC__FN void arc__drop_in_sum(unsigned lanes, unsigned group, int lane, float *p, float v) {
  if (group != lanes) return arc__drop_in_sum<float>(lanes, group, lane, p, v);
  unsigned largest = __reduce_max_sync(lanes, __float_as_uint(v) & 0x7fffffffu);
  unsigned exponent = largest >> 23 > 26u ? largest >> 23 : 26u;
  float unit = __uint_as_float((exponent - 25u) << 23);
  float units = v * __uint_as_float((279u - exponent) << 23); /* v / unit */
  bool is_finite = largest < 0x7f800000u;
  if (is_finite) v = (float)(int)arc__redux(lanes, (unsigned)__float2int_rn(units)) * unit;
  if (!is_finite || arc__leads(lanes, lane)) atomicAdd(p, v);
}
#endif
#endif
template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line) {
  if (__isShared(p)) return (void)atomicAdd(p, v); /* no lane that the others wait for */
  const int lane = arc__lane(), several = ARC_DROP_IN_SEVERAL ? 17 : 33; /* lanes for which */
  const unsigned lanes = arc__lanes_here();
  const unsigned group = arc__sharers(lanes, lane, p, 12, several); /* sums pay */
  if (group == 0u) return (void)atomicAdd(p, v);
  __syncwarp(lanes); /* what a lane wrote before comes first, */
  arc__drop_in_sum(lanes, group, lane, p, v);
  __syncwarp(lanes); /* and what it reads next, behind */
}
ARC__FN void arc__drop_in_add(int *p, int v, arc__code_line at) {
  arc__drop_in_add((unsigned *)p, (unsigned)v, at);
}
#endif

/* Whether `c ? atomicAdd(..) : u`, with the flag a U if that is a number, must not compile: without,
   it is a Both. Compilers take what is no number as without the flag, but nvcc makes floats double. */
template <class Both, class U, bool = __is_class(U) || __is_enum(U)>
struct arc__drop_in_refused {
  enum { yes = 1 };
};
template <class U>
struct arc__drop_in_refused<U, U, false> {};
template <class Both, class U>
struct arc__drop_in_refused<Both, U, true> {};
template <class U>
struct arc__drop_in_refused<float, U, true> {
  enum { yes = 1 };
};
template <class U>
__device__ U arc__drop_in_any(void);

/* What an atomicAdd returns: plain where it is converted to a value, else it adds when it dies. */
template <class T>
class arc__drop_in_result {
  T *p, v;
  arc__code_line at;
  bool used;

 public:
  __device__ __forceinline__ arc__drop_in_result(T *p_, T v_, arc__code_line at_)
      : p(p_), v(v_), at(at_), used(false) {}
  arc__drop_in_result(const arc__drop_in_result &) = delete;
  template <class U,
            int = arc__drop_in_refused<decltype(true ? T() : arc__drop_in_any<U>()), U>::yes>
  __device__ arc__drop_in_result(U) { /* else ambiguous */
    static_assert(sizeof(U) == 0, "arc/drop_in.cuh: name the type, as in (float)atomicAdd()");
  }
  __device__ __forceinline__ operator T() && {
    used = true;
    arc__count_used(p, at);
    return atomicAdd(p, v);
  }
  template <class U>
  __device__ operator U() & {
    static_assert(sizeof(U) == 0, "arc/drop_in.cuh: name the type, as in float old = atomicAdd()");
    return U();
  }
  __device__ __forceinline__ ~arc__drop_in_result() {
    if (!used) arc__drop_in_add(p, v, at);
  }
};
template <class T>
struct arc__drop_in_of {
  enum { is_other = 1 };
};
#define ARC__DROP_IN(T)                    \
  template <>                              \
  struct arc__drop_in_of<T> {              \
    typedef arc__drop_in_result<T> result; \
  };
ARC__DROP_IN(float)
ARC__DROP_IN(double)
ARC__DROP_IN(int)
ARC__DROP_IN(unsigned)
ARC__DROP_IN(arc__u64)
template <class T, class V, class R = typename arc__drop_in_of<T>::result>
ARC__FN R arc__drop_in(T *p, V v ARC__CALLER, arc__code_line at = ARC__HERE) {
  const T value = v; /* as by atomicAdd */
  return {p, value, at};
}
#if defined(__CUDACC__) /* overloads that stand above; those below are renamed with their calls */
template <class T, class V, int N = arc__drop_in_of<T>::is_other>
ARC__FN auto arc__drop_in(T *p, V v) -> decltype(atomicAdd(p, v)) {
  return atomicAdd(p, v);
}
#if !defined(__clang__)
#pragma nv_diag_error 1290 /* printf */
#endif
#endif
#undef atomicAdd /* of the CPU warp */
#define atomicAdd arc__drop_in
#endif /* ARC_DROP_IN_CUH */
