/* overloads.cuh - the names of arc.cuh without suffixes, for C++ code that is templated on a scalar
   type. SPDX-License-Identifier: Apache-2.0

       arc_target_rows(T *base, int stride, int width), arc_target_dynamic(...)
       arc_target_pieces(pieces, count), of pieces that arc_piece(T *base, int stride, int width)
       makes   if ARC_MAX_PIECES is above 1
       arc_add(target, key, values, active, threshold)
       arc_add_uniform, arc_add_masked, arc_add_divergent, arc_add_with, arc_atomic_add
       arc_gather_begin(target, values, stride), arc_gather_add(gather, ...),
       arc_gather_add_with, arc_gather_end   if arc/gather.cuh was included before
   Each is what the name with the suffix of its first argument is: float f32, double f64, int i32,
   unsigned u32, long long i64, unsigned long long u64. Rows of halves are made by their own names
   (arc_target_f16_rows), since any pointer to 16-bit numbers will do; what takes them is here. */
#ifndef ARC_CUH
#error "arc/overloads.cuh: include arc.cuh first"
#endif
#ifndef ARC_OVERLOADS_CUH
#define ARC_OVERLOADS_CUH

#define ARC__OVERLOAD_TARGETS(S, T, M, KIND, MEMORY)                          \
  ARC__FN arc_target_##S arc_target_rows(M *base, int stride, int width) {    \
    return arc_target_##S##_rows(base, stride, width);                        \
  }                                                                           \
  ARC__FN arc_target_##S arc_target_dynamic(M *base, int stride, int width) { \
    return arc_target_##S##_dynamic(base, stride, width);                     \
  }                                                                           \
  ARC__FN void arc_atomic_add(M *address, M value) { arc_atomic_add_##S(address, value); }
ARC__EACH_OWN_SUFFIX(ARC__OVERLOAD_TARGETS)

#if ARC_MAX_PIECES > 1
#define ARC__OVERLOAD_PIECES(S, T, M, KIND, MEMORY)                                  \
  ARC__FN arc_piece_##S arc_piece(M *base, int stride, int width) {                  \
    arc_piece_##S piece = {base, stride, width};                                     \
    return piece;                                                                    \
  }                                                                                  \
  ARC__FN arc_target_##S arc_target_pieces(const arc_piece_##S *pieces, int count) { \
    return arc_target_##S##_pieces(pieces, count);                                   \
  }
ARC__EACH_OWN_SUFFIX(ARC__OVERLOAD_PIECES)
#endif

#define ARC__OVERLOAD_ADDS(S, T, M, KIND, MEMORY)                                                  \
  ARC__FN void arc_add_with(arc_target_##S target, long long key, const T *values, bool active,    \
                            arc_options options ARC__CALLER) {                                     \
    arc_add_with_##S(target, key, values, active, options);                                        \
  }                                                                                                \
  ARC__FN void arc_add(arc_target_##S target, long long key, const T *values, bool active,         \
                       int threshold ARC__CALLER) {                                                \
    arc_add_##S(target, key, values, active, threshold);                                           \
  }                                                                                                \
  ARC__FN void arc_add_uniform(arc_target_##S target, long long key, const T *values, bool active, \
                               int threshold ARC__CALLER) {                                        \
    arc_add_uniform_##S(target, key, values, active, threshold);                                   \
  }                                                                                                \
  ARC__FN void arc_add_masked(arc_target_##S target, long long key, const T *values, bool active,  \
                              unsigned lane_mask, int threshold ARC__CALLER) {                     \
    arc_add_masked_##S(target, key, values, active, lane_mask, threshold);                         \
  }                                                                                                \
  ARC__FN void arc_add_divergent(arc_target_##S target, long long key, const T *values,            \
                                 int threshold ARC__CALLER) {                                      \
    arc_add_divergent_##S(target, key, values, threshold);                                         \
  }
ARC__EACH_SUFFIX(ARC__OVERLOAD_ADDS)

#if defined(ARC_GATHER_CUH)
#define ARC__OVERLOAD_GATHER(S, T, M, KIND, MEMORY)                                             \
  ARC__FN arc_gather_##S arc_gather_begin(arc_target_##S target, const T *values, int stride) { \
    return arc_gather_begin_##S(target, values, stride);                                        \
  }                                                                                             \
  ARC__FN void arc_gather_add_with(arc_gather_##S *gather, long long key, long long row,        \
                                   bool active, arc_options options ARC__CALLER) {              \
    arc_gather_add_with_##S(gather, key, row, active, options);                                 \
  }                                                                                             \
  ARC__FN void arc_gather_add(arc_gather_##S *gather, long long key, long long row,             \
                              bool active ARC__CALLER) {                                        \
    arc_gather_add_##S(gather, key, row, active);                                               \
  }                                                                                             \
  ARC__FN void arc_gather_end(arc_gather_##S *gather ARC__CALLER) { arc_gather_end_##S(gather); }
ARC__EACH_SUFFIX(ARC__OVERLOAD_GATHER)
#endif

#endif /* ARC_OVERLOADS_CUH */
