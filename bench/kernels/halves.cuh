/* halves.cuh - floats into 16-bit floats; by hand, two per request. The file that includes it names
   them as PTX does (SWEEP_NAME), CUDA's pair of them (SWEEP_PAIR) and what makes one of two floats
   (SWEEP_PAIR_OF). SPDX-License-Identifier: Apache-2.0 */
#include "draw.cuh"

#define SWEEP_NAMED_(a, b, c) a##b##c
#define SWEEP_NAMED(a, b, c) SWEEP_NAMED_(a, b, c)

/* To an address aligned to both. */
SWEEP_FN void add_pair(unsigned short *at, float low, float high) {
#if SIMT_ON_CPU
  unsigned first = SWEEP_NAMED(simt_cvt_rn_, SWEEP_NAME, _f32)(low);
  unsigned pair = first | (unsigned)SWEEP_NAMED(simt_cvt_rn_, SWEEP_NAME, _f32)(high) << 16;
  SWEEP_NAMED(simt_red_add_, SWEEP_NAME, x2)(at, &pair, 1);
#else
  atomicAdd((SWEEP_PAIR *)at, SWEEP_PAIR_OF(low, high));
#endif
}

#define SWEEP_ROWS(width) SWEEP_NAMED(arc_target_, SWEEP_NAME, _rows)(a.rows, a.stride, width)
#define SWEEP_S SWEEP_NAME
#define SWEEP_T float
#define SWEEP_M unsigned short
#define SWEEP_EACH 2
#define SWEEP_PLAIN(at, v, count) add_pair(at, (v)[0], (count) > 1 ? (v)[1] : 0.0f)
#include "typed.cuh"
