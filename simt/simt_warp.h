// simt_warp.h -- what kernels use: builtin variables, collectives, atomics, call sites, checks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt_math.h"
#include "simt_types.h"

// -------------------------------------------------------------------------------- places in source

struct simt__line {
  const char *file;
  int line;
};
// An operation in the source. One static object each: its address tells it from all others.
struct simt__site {
  const char *operation;
  simt__line at;
};
#define SIMT__SITE(operation)                                                        \
  ([]() -> const simt__site * {                                                      \
    static const simt__site simt__here = {operation, {__FILE__, __LINE__}};          \
    return &simt__here;                                                              \
  }())

// ---------------------------------------------------------------------------- builtin variables

struct simt__lane_view {
  uint3 thread_index;
  simt__line caller;  // where the library function that it is in was called; line 0: in none
};
struct simt__launch_view {
  simt__lane_view *lane;  // the lane that runs now; NULL on the host
  uint3 block_index;
  dim3 block_size, grid_size;
  void *dynamic_shared;
  volatile bool in_operation;  // the lane that runs is, and must not be interrupted there
};
extern simt__launch_view simt__now;

struct simt__operation {
  bool outer;
  simt__operation() : outer(simt__now.in_operation) { begin(); }
  ~simt__operation() {
    __asm__ volatile("" ::: "memory");
    simt__now.in_operation = outer;
  }
  static void begin() {
    simt__now.in_operation = true;
    __asm__ volatile("" ::: "memory");
  }
};

#define threadIdx (simt__now.lane->thread_index)
#define blockIdx (static_cast<const uint3 &>(simt__now.block_index))
#define blockDim (static_cast<const dim3 &>(simt__now.block_size))
#define gridDim (static_cast<const dim3 &>(simt__now.grid_size))
#define warpSize 32

#define SIMT_DYNAMIC_SHARED(type, name) \
  type *name = reinterpret_cast<type *>(simt__now.dynamic_shared)

// ------------------------------------------------------------------------------------- call sites

// README.md, "Call sites", says what for. Where one marked function calls another, the outermost call
// counts. A call site is a line, up to the end of the statement; two calls on one line are one place.
// Its name is for who passes an argument too many: compilers name it in their error.
class simt__leave_out_this_argument {
  simt__lane_view *lane;  // NULL: an outer call has set it
 public:
  simt__leave_out_this_argument(const char *file, int line) : lane(simt__now.lane) {
    if (lane && lane->caller.line) lane = NULL;
    if (lane) lane->caller = {file, line};
    keep_order();
  }
  ~simt__leave_out_this_argument() {
    keep_order();
    if (lane) lane->caller = simt__line();
  }
  simt__leave_out_this_argument(const simt__leave_out_this_argument &) = delete;

 private:
  // A load or store that faults belongs to the call that it was written in.
  static void keep_order() { __asm__ volatile("" ::: "memory"); }
};

#define SIMT_CALL_OF(call) (simt__leave_out_this_argument(__FILE__, __LINE__), call)
#define SIMT_CALLED const simt__leave_out_this_argument & // in a definition, after a declaration
#define SIMT_CALLER SIMT_CALLED = simt__leave_out_this_argument(__builtin_FILE(), __builtin_LINE())

// -------------------------------------------------------------------------------------- bit scans

// Counts so many instructions of the unit for POPC, FLO and BREV, unless on the host. Returns v.
void simt__count_scan(const simt__site *site, unsigned long long argument, int instructions);
template <class T>
static inline T simt__scan(const simt__site *site, T v, int instructions) {
  simt__count_scan(site, (unsigned long long)v, instructions);
  return v;
}
#define SIMT__SCAN(type, instructions, ...) \
  simt__scan<type>(SIMT__SITE("a bit scan"), __VA_ARGS__, instructions)

#define __popc(...) simt__popc(SIMT__SCAN(unsigned, 1, __VA_ARGS__))
#define __popcll(...) simt__popcll(SIMT__SCAN(unsigned long long, 2, __VA_ARGS__))
#define __ffs(...) simt__ffs(SIMT__SCAN(int, 2, __VA_ARGS__))  // BREV, FLO
#define __ffsll(...) simt__ffsll(SIMT__SCAN(long long, 4, __VA_ARGS__))
#define __clz(...) simt__clz(SIMT__SCAN(int, 1, __VA_ARGS__))
#define __clzll(...) simt__clzll(SIMT__SCAN(long long, 2, __VA_ARGS__))
#define __brev(...) simt__brev(SIMT__SCAN(unsigned, 1, __VA_ARGS__))

// ------------------------------------------------------------------------------------ collectives

enum simt__kind {
  SIMT__SHFL = 1, SIMT__SHFL_UP, SIMT__SHFL_DOWN, SIMT__SHFL_XOR,
  SIMT__BALLOT, SIMT__ANY, SIMT__ALL,
  SIMT__MATCH_ANY, SIMT__MATCH_ALL,
  SIMT__REDUCE_ADD, SIMT__REDUCE_MIN, SIMT__REDUCE_MAX, SIMT__REDUCE_MIN_U, SIMT__REDUCE_MAX_U,
  SIMT__REDUCE_AND, SIMT__REDUCE_OR, SIMT__REDUCE_XOR,
  SIMT__SYNCWARP, SIMT__MEET,
  SIMT__BARRIER, SIMT__BARRIER_OR, SIMT__BARRIER_AND, SIMT__BARRIER_COUNT
};
// `lane` is the shuffle's source lane, distance or lane mask; bytes is 4 or 8, the size of value.
uint64_t simt__collective(const simt__site *site, simt__kind kind, unsigned mask, uint64_t value,
                          int lane, int width, int bytes);
#if defined(__clang__)  // which else merges calls in the two branches of an `if`
__attribute__((nomerge))
#endif
unsigned simt__activemask(const simt__site *site);
int simt__barrier(const simt__site *site, simt__kind kind, int predicate);

template <int bytes> struct simt__bits;
template <> struct simt__bits<4> { typedef uint32_t type; };
template <> struct simt__bits<8> { typedef uint64_t type; };
template <class T>
static inline uint64_t simt__pack(T value) {
  return simt__bit_cast<typename simt__bits<sizeof(T)>::type>(value);
}
template <class T>
static inline T simt__unpack(uint64_t bits) {
  return simt__bit_cast<T>((typename simt__bits<sizeof(T)>::type)bits);
}

template <class T>
static inline T simt__shuffle(const simt__site *site, simt__kind kind, unsigned mask, T value,
                              int lane, int width = 32) {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                "a shuffle moves a 4- or 8-byte number");
  return simt__unpack<T>(
      simt__collective(site, kind, mask, simt__pack(value), lane, width, sizeof(T)));
}
static inline unsigned simt__vote(const simt__site *site, simt__kind kind, unsigned mask,
                                  int predicate) {
  return (unsigned)simt__collective(site, kind, mask, predicate != 0, 0, 32, 4);
}
// __syncwarp() has an optional mask: the place first, then whatever the caller wrote.
struct simt__syncwarp {
  const simt__site *site;
  void operator()(unsigned mask = 0xffffffffu) const {
    simt__collective(site, SIMT__SYNCWARP, mask, 0, 0, 32, 4);
  }
};
template <class T>
static inline unsigned simt__match_any(const simt__site *site, unsigned mask, T value) {
  return (unsigned)simt__collective(site, SIMT__MATCH_ANY, mask, simt__pack(value), 0, 32,
                                    sizeof(T));
}
template <class T>
static inline unsigned simt__match_all(const simt__site *site, unsigned mask, T value,
                                       int *predicate) {
  unsigned all = (unsigned)simt__collective(site, SIMT__MATCH_ALL, mask, simt__pack(value), 0, 32,
                                            sizeof(T));
  *predicate = all != 0;
  return all;
}
static inline unsigned simt__reduce(const simt__site *site, simt__kind kind, simt__kind,
                                    unsigned mask, unsigned value) {
  return (unsigned)simt__collective(site, kind, mask, value, 0, 32, 4);
}
static inline int simt__reduce(const simt__site *site, simt__kind, simt__kind kind, unsigned mask,
                               int value) {
  return (int)simt__collective(site, kind, mask, (unsigned)value, 0, 32, 4);
}

#define SIMT__SHUFFLE(name, ...) simt__shuffle(SIMT__SITE(name), __VA_ARGS__)
#define __shfl_sync(...) SIMT__SHUFFLE("__shfl_sync", SIMT__SHFL, __VA_ARGS__)
#define __shfl_up_sync(...) SIMT__SHUFFLE("__shfl_up_sync", SIMT__SHFL_UP, __VA_ARGS__)
#define __shfl_down_sync(...) SIMT__SHUFFLE("__shfl_down_sync", SIMT__SHFL_DOWN, __VA_ARGS__)
#define __shfl_xor_sync(...) SIMT__SHUFFLE("__shfl_xor_sync", SIMT__SHFL_XOR, __VA_ARGS__)
#define SIMT__VOTE(name, ...) simt__vote(SIMT__SITE(name), __VA_ARGS__)
#define __ballot_sync(...) SIMT__VOTE("__ballot_sync", SIMT__BALLOT, __VA_ARGS__)
#define __any_sync(...) ((int)SIMT__VOTE("__any_sync", SIMT__ANY, __VA_ARGS__))
#define __all_sync(...) ((int)SIMT__VOTE("__all_sync", SIMT__ALL, __VA_ARGS__))
// The named lanes must all get here. What no GPU executes is not counted.
#define SIMT_MEET(mask) simt__collective(SIMT__SITE("SIMT_MEET"), SIMT__MEET, mask, 0, 0, 32, 4)
#define __syncwarp(...) simt__syncwarp{SIMT__SITE("__syncwarp")}(__VA_ARGS__)
#define __activemask() simt__activemask(SIMT__SITE("__activemask"))
#define SIMT__BLOCK(name, ...) simt__barrier(SIMT__SITE(name), __VA_ARGS__)
#define __syncthreads() ((void)SIMT__BLOCK("__syncthreads", SIMT__BARRIER, 0))
#define __syncthreads_or(...) SIMT__BLOCK("__syncthreads_or", SIMT__BARRIER_OR, __VA_ARGS__)
#define __syncthreads_and(...) SIMT__BLOCK("__syncthreads_and", SIMT__BARRIER_AND, __VA_ARGS__)
#define __syncthreads_count(...) \
  SIMT__BLOCK("__syncthreads_count", SIMT__BARRIER_COUNT, __VA_ARGS__)
#if SIMT_ARCH >= 700
#define __match_any_sync(...) simt__match_any(SIMT__SITE("__match_any_sync"), __VA_ARGS__)
#define __match_all_sync(...) simt__match_all(SIMT__SITE("__match_all_sync"), __VA_ARGS__)
#endif
#if SIMT_ARCH >= 800
#define SIMT__REDUCE(name, unsigned_kind, signed_kind, ...)                       \
  simt__reduce(SIMT__SITE("__reduce_" #name "_sync"), SIMT__REDUCE_##unsigned_kind, \
               SIMT__REDUCE_##signed_kind, __VA_ARGS__)
#define __reduce_add_sync(...) SIMT__REDUCE(add, ADD, ADD, __VA_ARGS__)
#define __reduce_min_sync(...) SIMT__REDUCE(min, MIN_U, MIN, __VA_ARGS__)
#define __reduce_max_sync(...) SIMT__REDUCE(max, MAX_U, MAX, __VA_ARGS__)
#define __reduce_and_sync(...) SIMT__REDUCE(and, AND, AND, __VA_ARGS__)
#define __reduce_or_sync(...) SIMT__REDUCE(or, OR, OR, __VA_ARGS__)
#define __reduce_xor_sync(...) SIMT__REDUCE(xor, XOR, XOR, __VA_ARGS__)
#endif

// ---------------------------------------------------------------------------------------- atomics

// Lets other lanes run (or not: the seed decides), checks the address, counts. `floats` are added.
void simt__atomic(const simt__site *site, const void *address, unsigned bytes, unsigned floats);
void simt__atomic_value(const simt__site *site, float value);

template <class T>
static inline T simt__fetch_add(const simt__site *site, T *address, T value) {
  const simt__operation operation;
  simt__atomic(site, address, sizeof(T), std::is_floating_point<T>::value);
  T old = *address;
  *address = old + value;
  return old;
}
static inline int simt__atomic_add(const simt__site *site, int *address, int value) {
  return (int)simt__fetch_add(site, (unsigned *)address, (unsigned)value);
}
static inline float simt__atomic_add(const simt__site *site, float *address, float value) {
  simt__atomic_value(site, value);
  return simt__fetch_add(site, address, value);
}
#define SIMT__ATOMIC_ADD(T)                                                          \
  static inline T simt__atomic_add(const simt__site *site, T *address, T value) {    \
    return simt__fetch_add(site, address, value);                                    \
  }
SIMT__ATOMIC_ADD(unsigned)
SIMT__ATOMIC_ADD(unsigned long long)
SIMT__ATOMIC_ADD(double)
#undef SIMT__ATOMIC_ADD

// Second arguments must convert to the type of the first, as CUDA's overloads make them.
template <class T> struct simt__same { typedef T type; };
#define SIMT__ATOMIC(name, new_value)                                                          \
  template <class T>                                                                           \
  static inline T name(const simt__site *site, T *address, typename simt__same<T>::type value) { \
    const simt__operation operation;                                                           \
    simt__atomic(site, address, sizeof(T), 0);                                                 \
    T old = *address;                                                                          \
    *address = new_value;                                                                      \
    return old;                                                                                \
  }
SIMT__ATOMIC(simt__atomic_max, old < value ? value : old)
SIMT__ATOMIC(simt__atomic_min, value < old ? value : old)
SIMT__ATOMIC(simt__atomic_or, old | value)
SIMT__ATOMIC(simt__atomic_and, old & value)
SIMT__ATOMIC(simt__atomic_exch, value)
#undef SIMT__ATOMIC
template <class T>
static inline T simt__atomic_cas(const simt__site *site, T *address,
                                 typename simt__same<T>::type expected,
                                 typename simt__same<T>::type value) {
  const simt__operation operation;
  simt__atomic(site, address, sizeof(T), 0);
  T old = *address;
  if (old == expected) *address = value;
  return old;
}

#define atomicAdd(...) simt__atomic_add(SIMT__SITE("atomicAdd"), __VA_ARGS__)
#define atomicMax(...) simt__atomic_max(SIMT__SITE("atomicMax"), __VA_ARGS__)
#define atomicMin(...) simt__atomic_min(SIMT__SITE("atomicMin"), __VA_ARGS__)
#define atomicOr(...) simt__atomic_or(SIMT__SITE("atomicOr"), __VA_ARGS__)
#define atomicAnd(...) simt__atomic_and(SIMT__SITE("atomicAnd"), __VA_ARGS__)
#define atomicCAS(...) simt__atomic_cas(SIMT__SITE("atomicCAS"), __VA_ARGS__)
#define atomicExch(...) simt__atomic_exch(SIMT__SITE("atomicExch"), __VA_ARGS__)

// Reductions of several values at once, in global memory and aligned to all of them: of 2 or 4 floats
// (sm_90), and of 1, 2 or 4 words that hold two halves each. The words are the bits.
enum simt__halves { simt__floats, simt__f16x2, simt__bf16x2 };
void simt__red_add(const simt__site *site, simt__halves halves, void *address,
                   const unsigned *words, int count);
#define SIMT__RED_ADD(name, halves, ...) simt__red_add(SIMT__SITE(name), halves, __VA_ARGS__)
#define simt_red_add_f16x2(...) SIMT__RED_ADD("simt_red_add_f16x2", simt__f16x2, __VA_ARGS__)
#define simt_red_add_bf16x2(...) SIMT__RED_ADD("simt_red_add_bf16x2", simt__bf16x2, __VA_ARGS__)
#define simt_red_add_f32(...) SIMT__RED_ADD("simt_red_add_f32", simt__floats, __VA_ARGS__)
#if SIMT_ARCH >= 900
static inline void simt__red_add_v2(const simt__site *site, float *address, float x, float y) {
  const unsigned words[2] = {__float_as_uint(x), __float_as_uint(y)};
  simt__red_add(site, simt__floats, address, words, 2);
}
static inline void simt__red_add_v4(const simt__site *site, float *address, float x, float y,
                                    float z, float w) {
  const unsigned words[4] = {__float_as_uint(x), __float_as_uint(y), __float_as_uint(z),
                             __float_as_uint(w)};
  simt__red_add(site, simt__floats, address, words, 4);
}
#define simt_red_add_v2_f32(...) simt__red_add_v2(SIMT__SITE("simt_red_add_v2_f32"), __VA_ARGS__)
#define simt_red_add_v4_f32(...) simt__red_add_v4(SIMT__SITE("simt_red_add_v4_f32"), __VA_ARGS__)
#endif

// 0 for an address within dynamic or `__shared__` memory, else 1. AddressSanitizer builds know the
// dynamic kind only.
int simt_is_global(const void *address);
#define __isGlobal(...) simt_is_global(__VA_ARGS__)
#define __isShared(...) (!simt_is_global(__VA_ARGS__))

// ---------------------------------------------------------------------------------- the small ones

// Reports the message, a literal, like any other misuse of the lane that calls; does not return.
[[noreturn]] void simt__check_failed(const simt__site *site);
#define SIMT_CHECK_FAILED(message) simt__check_failed(SIMT__SITE(message))
#define __trap() SIMT_CHECK_FAILED("__trap() was executed")

long long clock64(void);
// Memory has one order, so that a fence only lets other lanes run (or not, as an atomic). A lane that
// sleeps lets them.
void simt__pause(bool waits);
static inline void __threadfence(void) { simt__pause(false); }
static inline void __threadfence_block(void) { simt__pause(false); }
static inline void __threadfence_system(void) { simt__pause(false); }
static inline void __nanosleep(unsigned) { simt__pause(true); }
template <class T>
static inline T __ldg(const T *address) { return *address; }
