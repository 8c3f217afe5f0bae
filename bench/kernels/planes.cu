/* planes.cu - each parameter has an array of its own: nothing, plain atomics, auto, and the same
   arrays as pieces. SPDX-License-Identifier: Apache-2.0 */
#define ARC_MAX_PIECES 6
#define SWEEP_ROWS(width) arc_target_f32_planes(a.rows, a.row_count, width)
#include "kernel.cuh"

#include "by_hand.cuh"

SWEEP_FN void add_plain(const struct sweep_args *a, int width, int key, const float *values,
                        bool active) {
  if (!active) return;
  for (int i = 0; i < width; ++i) atomicAdd(&a->rows[(long long)i * a->row_count + key], values[i]);
}

/* Targets of at most six arrays, from the first one on. */
template <int width>
struct six_and_six {
  enum { MOST = ARC_MAX_PIECES, COUNT = (width + MOST - 1) / MOST };
  arc_target_f32 target[COUNT];
};
template <int width>
SWEEP_FN six_and_six<width> pieces_of(const struct sweep_args *a) {
  enum { MOST = ARC_MAX_PIECES };
  six_and_six<width> to;
  SWEEP_UNROLL
  for (int first = 0; first < width; first += MOST) {
    const int count = width - first < MOST ? width - first : MOST;
    arc_piece_f32 pieces[MOST];
    SWEEP_UNROLL
    for (int i = 0; i < count; ++i) {
      pieces[i].base = a->rows + (long long)(first + i) * a->row_count;
      pieces[i].stride = pieces[i].width = 1;
    }
    to.target[first / MOST] = arc_target_f32_pieces(pieces, count);
  }
  return to;
}
template <int width>
SWEEP_FN void add_pieces(const six_and_six<width> &to, int key, const float *values, bool active,
                         int promises) {
  SWEEP_UNROLL
  for (int i = 0; i < six_and_six<width>::COUNT; ++i)
    sweep_arc_add(to.target[i], key, values + i * ARC_MAX_PIECES, active, ARC_PATH_AUTO, promises,
                  ARC_BALANCE_THRESHOLD);
}

#define PLANES_WIDTHS(X, ...) X(3, __VA_ARGS__) X(12, __VA_ARGS__)
SWEEP_PATH(PLANES_WIDTHS, none, SWEEP_NONE)
SWEEP_PATH(PLANES_WIDTHS, plain, add_plain(&a, width, d.key, values, d.active))
SWEEP_PATH(PLANES_WIDTHS, planes, SWEEP_ARC(ARC_PATH_AUTO, one_key, ARC_BALANCE_THRESHOLD))

#undef SWEEP_BEFORE
#define SWEEP_BEFORE(W) const six_and_six<W> pieces = pieces_of<W>(&a)
SWEEP_PATH(PLANES_WIDTHS, pieces, add_pieces(pieces, d.key, values, d.active, one_key))

#define PLANES_TABLE(name, path, zeros, threshold) \
  SWEEP_TABLE_OF(name, path, SWEEP_FORM_PLANES, zeros, threshold)
SWEEP_FAMILY(planes, PLANES_TABLE(none, SWEEP_PATH_NONE, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             PLANES_TABLE(plain, SWEEP_PATH_PLAIN, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             PLANES_TABLE(planes, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_THRESHOLD_DEFAULT),
             PLANES_TABLE(pieces, SWEEP_PATH_PIECES, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
