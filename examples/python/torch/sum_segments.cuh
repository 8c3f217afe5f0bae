/* sum_segments.cuh - index_add of sorted keys: each sum, and what out held, is rounded once.
   SPDX-License-Identifier: Apache-2.0

   The rows of one key are a segment of the order. The order is cut into pieces of as many rows
   each, whatever the keys are: a key that most rows have goes through many pieces. A thread walks
   one piece, for a few of the columns. It adds the sum of a segment that lies within the piece to
   out. Of a segment that is cut it adds its part to the words of the piece in which the segment
   begins; join_pieces adds these to out.

     keys    2 2 2 5 | 5 5 5 5 | 5 7 7 9     sum_pieces adds to out[2], out[7] and out[9],
     parts         5 | 5       | 5           join_pieces, from the first piece's words, to out[5]

   Sums are exact, so that the order of the rows, the pieces and the GPU are not in the result. */
#include "exact_sums.cuh"
#include "job.cuh"

enum { BLOCKS = 2 }; /* of a multiprocessor, at once */

#if defined(__CUDA_ARCH__)
#define UNROLL _Pragma("unroll") /* or the rows that are read ahead are not in registers */
#else
#define UNROLL
#endif

namespace {

/* Of a thread: one access, where they are aligned to their size. */
template <class T, int EACH>
struct alignas(EACH * sizeof(T)) columns {
  T at[EACH];
};

template <class T, int EACH>
struct walk {
  typedef columns<T, EACH> values;
  typedef exact_sums<T, EACH> sums;
  /* Rows that are read before they are summed: as many as there are registers for. */
  enum { AHEAD = EACH == 1 ? 8 : sizeof(values) > 8 ? 4 : 6 };
  struct batch {
    int rows[AHEAD];
    int keys[AHEAD + 1];
  };

  const job &j;
  long long piece, begin, end; /* of this thread; none where begin >= end */
  int group, column;

  __device__ walk(const job &j) : j(j) {
    const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const int threads = j.width / EACH; /* of a piece */
    piece = thread / threads;
    group = (int)(thread - piece * threads);
    column = group * EACH;
    begin = piece * j.piece;
    end = min(begin + j.piece, j.n);
  }

  __device__ int key(long long at) const { return ((const int *)j.index)[at]; }

  /* Whether a segment has its first row here, or its last. */
  __device__ bool begins(long long at) const { return at == 0 || key(at - 1) != key(at); }
  __device__ bool ends(long long at) const { return at + 1 == j.n || begins(at + 1); }

  /* The first row of the segment of this one. */
  __device__ long long first_of(long long at) const {
    const int mine = key(at);
    long long step = 1;
    for (; at >= step && key(at - step) == mine; step *= 2) at -= step;
    for (; step > 0; step /= 2)
      if (at >= step && key(at - step) == mine) at -= step;
    return at;
  }

  __device__ const values &row(int row) const {
    return *(const values *)((const T *)j.values + (long long)row * j.values_stride + column);
  }
  __device__ values &out(int key) const {
    return *(values *)((T *)j.out + (long long)key * j.out_stride + column);
  }

  /* Of the segment that begins in this piece and goes on: words of the columns, infinities. */
  __device__ word *words_of(long long piece) const {
    return (word *)j.sums + piece * WORDS * j.width + column;
  }
  __device__ unsigned *infinities_of(long long piece) const {
    return j.infinities + piece * (j.width / EACH) + group;
  }

  __device__ batch read(long long first) const {
    batch b;
    for (int k = 0; k <= AHEAD; ++k) {
      const long long at = min(first + k, j.n - 1);
      b.keys[k] = key(at);
      if (k < AHEAD) b.rows[k] = j.order[at];
    }
    return b;
  }

  __device__ static void add(sums *s, const values &x) {
    float row[EACH];
    for (int i = 0; i < EACH; ++i) row[i] = to_float(x.at[i]);
    s->add(row);
  }

  __device__ static void round_once(values &out, const values &old, sums *s) {
    values rounded;
    add(s, old);
    s->round(rounded.at);
    out = rounded;
  }

  /* Of a segment that is cut: what this piece has of it. */
  __device__ APART void add_part(sums *s, bool has_begin) const {
    const long long its = has_begin ? piece : first_of(begin) / j.piece;
    s->add_to(words_of(its), j.width, infinities_of(its));
  }

  __device__ void sum_piece() const {
    if (begin >= end) return;
    word memory[EACH * WORDS];
    sums s(memory);
    bool has_begin = begins(begin);
    batch next = read(begin);
    for (long long first = begin; first < end; first += AHEAD) {
      const batch now = next;
      next = read(first + AHEAD);
      values x[AHEAD], old[AHEAD];
      bool is_there[AHEAD], is_end[AHEAD];
      for (int k = 0; k < AHEAD; ++k) {
        x[k] = row(now.rows[k]);
        is_there[k] = first + k < end;
        is_end[k] = is_there[k] && (first + k + 1 == j.n || now.keys[k] != now.keys[k + 1]);
      }
      for (int k = 0; k < AHEAD; ++k)
        if (is_end[k]) old[k] = out(now.keys[k]);
      UNROLL
      for (int k = 0; k < AHEAD; ++k) {
        if (!is_there[k]) continue;
        add(&s, x[k]);
        if (!is_end[k] && first + k + 1 < end) continue;
        if (is_end[k] && has_begin) {
          round_once(out(now.keys[k]), old[k], &s);
        } else {
          const job copy = j;
          sums part = s;
          walk(copy).add_part(&part, has_begin);
        }
        has_begin = true;
        s.clear();
      }
    }
  }

  /* Of the segment that begins in this piece and goes on. */
  __device__ void join() const {
    if (begin >= end || ends(end - 1)) return;
    const int mine = key(end - 1);
    if (key(begin) == mine && !begins(begin)) return;
    word memory[EACH * WORDS];
    sums s(memory);
    s.take_from(words_of(piece), j.width, *infinities_of(piece));
    const values old = out(mine);
    round_once(out(mine), old, &s);
  }
};

template <class T, int EACH>
__global__ void __launch_bounds__(THREADS, BLOCKS) sum_pieces(job j) {
  walk<T, EACH>(j).sum_piece();
}

template <class T, int EACH>
__global__ void __launch_bounds__(THREADS, BLOCKS) join_pieces(job j) {
  walk<T, EACH>(j).join();
}

}  // namespace
