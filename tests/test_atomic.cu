/* test_atomic.cu - arc_atomic_add_f32: the scalar drop-in for atomicAdd.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check.cuh"

enum { FLOATS = 61, THREADS = 96, BLOCKS = 4, ROUNDS = 8 };

/* Any lane, any address, in divergent code; whole numbers, so that the sums are exact. */
static __global__ void scatter(float *sums, const int *where, const float *values) {
  for (int i = 0; i < ROUNDS; ++i) {
    const int n = (i * BLOCKS + (int)blockIdx.x) * THREADS + (int)threadIdx.x;
    if (where[n] < 0) continue;
    if (where[n] & 1)
      arc_atomic_add_f32(sums + where[n], values[n]);
    else
      arc_atomic_add_f32(&sums[where[n]], values[n]);
  }
}

/* Shared memory too. */
static __global__ void gather(float *out) {
  __shared__ float sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0.0f;
  __syncthreads();
  arc_atomic_add_f32(&sums[threadIdx.x & 1], (float)threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 2) out[threadIdx.x] = sums[threadIdx.x];
}

static void scattered(int spread) {
  struct check_random random;
  if (!check_begin("atomic", &random)) return;
  static int where[ROUNDS * BLOCKS * THREADS];
  static float values[ROUNDS * BLOCKS * THREADS];
  float must[FLOATS];
  for (int i = 0; i < FLOATS; ++i) must[i] = (float)i;
  const check_memory<float> sums(must);
  for (int i = 0; i < ROUNDS * BLOCKS * THREADS; ++i) {
    where[i] = check_below(&random, 5) ? 1 + check_below(&random, spread) : -1;
    values[i] = check_value(&random, 1, ROUNDS * BLOCKS * THREADS);
    if (where[i] >= 0) must[where[i]] += values[i];
  }
  const check_memory<int> device_where(where);
  const check_memory<float> device_values(values);
  SIMT_LAUNCH(scatter, dim3(BLOCKS), dim3(THREADS), 0, 0, sums.at, (const int *)device_where.at,
              (const float *)device_values.at);
  const std::vector<float> got = sums.read();
  for (int i = 0; i < FLOATS; ++i)
    CHECK(got[i] == must[i], "float %d is %.9g, must be %.9g", i, got[i], must[i]);
  check.compared += FLOATS;
}

static void shared(void) {
  struct check_random random;
  if (!check_begin("atomic in shared memory", &random)) return;
  const check_memory<float> out(2);
  SIMT_LAUNCH(gather, dim3(1), dim3(THREADS), 0, 0, out.at);
  const std::vector<float> got = out.read();
  for (int i = 0; i < 2; ++i) {
    const float must = (float)(48 * 47 + 48 * i);
    CHECK(got[i] == must, "sum %d is %g, must be %g", i, got[i], must);
  }
  check.compared += 2;
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int spread = 1; spread < FLOATS - 1; spread += 7) scattered(spread);
  shared();
  return check_finish();
}
