/* type_wide.cu - floats into words by their exponent. By hand, each lane takes its value apart, and
   shifts. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME wide
#define SWEEP_S wide
#define SWEEP_T float
#define SWEEP_M unsigned long long
#define SWEEP_ROW_LENGTH(stride) ARC_WIDE_ROW(stride)
#define SWEEP_ROWS(width) \
  arc_target_wide_rows((long long *)a.rows, SWEEP_ROW_LENGTH(a.stride), width)
#define SWEEP_EACH 1
#define SWEEP_PLAIN(at, v, count) add_shifted(at, width, (v)[0])
#include "simt/simt.cuh"

#include "arc/wide.cuh"
#include "kernel.cuh"

SWEEP_FN void add_shifted(unsigned long long *word, int width, float x) {
  const unsigned bits = __float_as_uint(x), field = bits >> 23 & 255u;
  const int place = (int)field - 16 * ((15 - ARC_WIDE_WORDS) / 2);
  if (place < 0 || place >= 16 * ARC_WIDE_WORDS) return; /* zeros; the sweep has no others */
  long long sum = (long long)((bits & 0x7fffffu) | 0x800000u) << place % 16;
  if (bits >> 31 != 0u) sum = -sum;
  atomicAdd(word + place / 16 * width, (unsigned long long)sum);
}

#include "typed.cuh"
