/* halves.cuh - floats into halves, which the file that includes it names and adds by add_pair().
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_S f32
#define SWEEP_T float
#define SWEEP_M unsigned short
#define SWEEP_EACH 2
#define SWEEP_PLAIN(at, v, count) add_pair(at, (v)[0], (count) > 1 ? (v)[1] : 0.0f)
#include "typed.cuh"
