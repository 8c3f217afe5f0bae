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
   that returns atomicAdd's result gains nothing, nor does a pointer to atomicAdd. Set arc's macros
   by -D; on the CPU warp include this behind simt/simt.cuh. ARC_PROFILE 1: arc/profile.cuh counts
   instead.

   What compiles without the flag compiles with it, and does the same, but for these, which are
   errors. Where the type of a result is deduced, name it: a cast, (float)atomicAdd(p, v), mends all
   but the last three.
       auto old, const auto old, decltype(atomicAdd(p, v)) old    float old = atomicAdd(p, v)
           unused, such an `old` adds when it dies
       printf("%f", atomicAdd(p, v))                  printf("%f", (float)atomicAdd(p, v))
       put(q, atomicAdd(p, v)), std::max(..), of a template that deduces the type
                                                      put(q, (float)atomicAdd(p, v))
       c ? atomicAdd(p, 1.f) : 0, : -1, : 'a', of another type than the whole expression, and two
           results of which one is a float            c ? (float)atomicAdd(p, 1.f) : 0
       pair x = atomicAdd(p, 1), std::optional<int> x, of a class made from a number
                                                      pair x = (int)atomicAdd(p, 1)
       cg::invoke_one(g, [&] { return atomicAdd(p, 1); }), and others that deduce the result of a
           function                                   [&]() -> int { return atomicAdd(p, 1); }
       atomicAdd(half, 1.f) where ARC_PROFILE is 1, a value that is not of the pointer's type, if
           arc does not serve that type               atomicAdd(half, __float2half(1.f))
       an object that converts to a float2 *, float4 * or another pointer that is not served
                                                      atomicAdd((float2 *)object, v)
       your own #define atomicAdd above this file      put it below: it replaces arc's (a warning)
   */
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

/* Whether `c ? atomicAdd(..) : u` must not compile: with the flag it is a U, if that is a number,
   without a Both. Compilers take what is no number as without, but nvcc makes floats double. */
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
  __device__ __forceinline__ arc__drop_in_result(arc__drop_in_result &&from)
      : p(from.p), v(from.v), at(from.at), used(from.used) {
    from.used = true;
  }
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
  template <class U, int = 1 / __is_enum(U)>
  __device__ __forceinline__ explicit operator U() && {
    return (U)(T)(arc__drop_in_result &&) * this;
  }
  __device__ operator T() const volatile & { /* not of a result without a name */
    static_assert(sizeof(T) == 0, "arc/drop_in.cuh: name the type, as in float old = atomicAdd()");
    return v;
  }
  __device__ __forceinline__ ~arc__drop_in_result() {
    if (!used) arc__drop_in_add(p, v, at);
  }
};
template <class T, class U>
struct arc__drop_in_plain {
  enum { is = 1 };
};
/* No templates: they take what CUDA's own take, such as {1}, a result, an object. */
#define ARC__DROP_IN(T)                                                        \
  template <class U>                                                           \
  struct arc__drop_in_plain<T, U> {};                                          \
  template <>                                                                  \
  struct arc__drop_in_plain<T, T> {                                            \
    enum { is = 1 };                                                           \
  };                                                                           \
  ARC__FN arc__drop_in_result<T> arc__drop_in(T *p, T v ARC__CALLER,           \
                                              arc__code_line at = ARC__HERE) { \
    return {p, v, at};                                                         \
  }
ARC__DROP_IN(float)
ARC__DROP_IN(int)
ARC__DROP_IN(unsigned)
ARC__DROP_IN(arc__u64)
#if ARC__ARCH == 0 || ARC__ARCH >= 600
ARC__DROP_IN(double)
#endif
#if defined(__CUDACC__)
/* Other types, overloads that stand above (those below are renamed with their calls), and pointers
   to atomicAdd, which add as without. */
#if ARC_PROFILE /* nvcc 13.0 takes the line of what it evaluates for an overload for the caller's */
template <class T>
ARC__FN T arc__drop_in(T *p, T v) {
#else
template <class T, class U = T, int = arc__drop_in_plain<T, U>::is>
ARC__FN auto arc__drop_in(T *p, U v) -> decltype(atomicAdd(p, v)) {
#endif
  return atomicAdd(p, v);
}
#if !defined(__clang__)
#pragma nv_diag_error 1290 /* printf */
#endif
#endif
#if defined(atomicAdd) && defined(__CUDACC__)
#error "arc/drop_in.cuh: your macro atomicAdd stands above: define it below, in place of arc's"
#endif
#undef atomicAdd /* of the CPU warp */
#define atomicAdd arc__drop_in
#endif /* ARC_DROP_IN_CUH */
