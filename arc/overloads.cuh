/* overloads.cuh - the names of arc.cuh without suffixes, for C++ code that is templated on a scalar
   type. SPDX-License-Identifier: Apache-2.0

       arc_target_rows(T *base, int stride, int width), arc_target_dynamic(...)
       arc_target_planes(T *base, int plane, int width)
       arc_add(target, key, values, active), arc_add_uniform, arc_add_renderer, arc_add_masked,
       arc_add_divergent, arc_add_with, arc_atomic_add
   If ARC_MAX_PIECES is above 1:
       arc_target_pieces(pieces, count), with an array of arc_piece_of<T>: {T *base, int stride,
       int width}; arc_piece(...) makes one
       arc_target_first(target, count)
   If arc/index_add.cuh is included:
       arc_index_add_begin(target, values, stride), arc_index_add_rows(index_add, ...),
       arc_index_add_rows_with, arc_index_add_end
   Each calls the function with the suffix of its first argument: float f32, double f64, int i32,
   unsigned u32, long long i64, unsigned long long u64. Calls also take targets of halves, but no
   overload makes such a target, since a pointer to 16-bit numbers does not tell its type: use
   arc_target_f16_rows. */
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_OVERLOADS_CUH) /* the former is not without CUDA */
#define ARC_OVERLOADS_CUH

#define ARC__OVERLOAD_TARGETS(S, T, M, KIND, MEMORY)                         \
  ARC__FN arc_target##S arc_target_rows(M *base, int stride, int width) {    \
    return arc_target##S##_rows(base, stride, width);                        \
  }                                                                          \
  ARC__FN arc_target##S arc_target_dynamic(M *base, int stride, int width) { \
    return arc_target##S##_dynamic(base, stride, width);                     \
  }                                                                          \
  ARC__FN arc_target##S arc_target_planes(M *base, int plane, int width) {   \
    return arc_target##S##_planes(base, plane, width);                       \
  }                                                                          \
  ARC__FN void arc_atomic_add(M *address, M value) { arc_atomic_add##S(address, value); }
ARC__EACH_NUMBER(ARC__OVERLOAD_TARGETS)

#if ARC_MAX_PIECES > 1
#define ARC__OVERLOAD_PIECES(S, T, M, KIND, MEMORY)                                \
  ARC__FN arc_piece##S arc_piece(M *base, int stride, int width) {                 \
    arc_piece##S piece = {base, stride, width};                                    \
    return piece;                                                                  \
  }                                                                                \
  ARC__FN arc_target##S arc_target_pieces(const arc_piece##S *pieces, int count) { \
    return arc_target##S##_pieces(pieces, count);                                  \
  }                                                                                \
  ARC__FN arc_target##S arc_target_first(arc_target##S target, int count) {        \
    return arc_target##S##_first(target, count);                                   \
  }
ARC__EACH_NUMBER(ARC__OVERLOAD_PIECES)
template <class T>
using arc_piece_of = decltype(arc_piece((T *)0, 0, 0));
#endif

#define ARC__OVERLOAD_ADD(NAME, S, T, ARGUMENTS, ...)                                           \
  ARC__FN void NAME(arc_target##S target, arc_key key, const T *values ARGUMENTS ARC__CALLER) { \
    NAME##S(target, key, values __VA_ARGS__ ARC__PASSED(0));                                    \
  }
#define ARC__OVERLOAD_ADDS(S, T, M, KIND, MEMORY)                                    \
  ARC__OVERLOAD_ADD(arc_add, S, T, ARC__ACTIVE, , active)                            \
  ARC__OVERLOAD_ADD(arc_add_uniform, S, T, ARC__ACTIVE, , active)                    \
  ARC__OVERLOAD_ADD(arc_add_renderer, S, T, ARC__ACTIVE, , active)                   \
  ARC__OVERLOAD_ADD(arc_add_masked, S, T, ARC__ACTIVE_AND_MASK, , active, lane_mask) \
  ARC__OVERLOAD_ADD(arc_add_divergent, S, T, , )                                     \
  ARC__OVERLOAD_ADD(arc_add_with, S, T, ARC__ACTIVE_AND_OPTIONS, , active, options)
ARC__EACH_SUFFIX(ARC__OVERLOAD_ADDS)

#define ARC__OVERLOAD_INDEX_ADD(S, T, M, KIND, MEMORY)                                          \
  ARC__FN arc_index_add##S arc_index_add_begin(arc_target##S target, const T *values,           \
                                               int stride) {                                    \
    return arc_index_add_begin##S(target, values, stride);                                      \
  }                                                                                             \
  ARC__FN void arc_index_add_rows_with(arc_index_add##S *index_add, arc_key key, long long row, \
                                       bool active, arc_options options ARC__CALLER) {          \
    arc_index_add_rows_with##S(index_add, key, row, active, options);                           \
  }                                                                                             \
  ARC__FN void arc_index_add_rows(arc_index_add##S *index_add, arc_key key, long long row,      \
                                  bool active ARC__CALLER) {                                    \
    arc_index_add_rows##S(index_add, key, row, active);                                         \
  }                                                                                             \
  ARC__FN void arc_index_add_end(arc_index_add##S *index_add ARC__CALLER) {                     \
    arc_index_add_end##S(index_add);                                                            \
  }
#if defined(ARC_INDEX_ADD_CUH) /* else that file calls it */
ARC__EACH_SUFFIX(ARC__OVERLOAD_INDEX_ADD)
#endif

#endif /* ARC_OVERLOADS_CUH */
