/* test_two_units.cuh - types whose layout depends on macros. SPDX-License-Identifier: Apache-2.0 */
#include "arc/hot.cuh"
#include "arc/index_add.cuh"
#include "arc/sums.cuh"

/* The memory of hot rows has room for what any ARC_CHECK keeps there, and one size. */
static_assert(ARC_HOT_BYTES(4, 3, 9, 64) == 4 * 3 * 9 * 2 + 32 && ARC__STATE_BYTES <= 32, "");

/* Linkers keep one function of a name: that of another unit, if a type has one name there, too. */
template <class T>
size_t bytes_of(const T *) {
  return sizeof(T);
}
template <class T>
static bool is_its_own(void) {
  size_t (*volatile linked)(const T *) = bytes_of<T>;
  return linked(0) == sizeof(T);
}
static bool types_are_their_own(void) {
  return is_its_own<arc_target_f32>() && is_its_own<arc_target_i64>() &&
         is_its_own<arc_hot_f32>() && is_its_own<arc_index_add_f32>() &&
         is_its_own<arc_sum_f32>() && is_its_own<arc__target>() &&
         is_its_own<arc__hot>() && is_its_own<arc__index_add>() && is_its_own<arc__sums>();
}
