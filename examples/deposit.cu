/* deposit.cu - particles deposit charge and current on the nodes of a grid, as in a particle-in-cell
   code: a structure of arrays, added to by planes, or sums that repeat.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/deposit.cu -o deposit                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/deposit.cu -x none simt/simt.cpp -o deposit   without one
   -DDEPOSIT_WIDE=1: wide targets, the same bits in any order of the particles
   -DDEPOSIT_ORDER=2 or 3: shapes of 27 and 64 nodes in place of 8 */
#ifndef DEPOSIT_WIDE
#define DEPOSIT_WIDE 0
#endif
#ifndef DEPOSIT_ORDER
#define DEPOSIT_ORDER 1
#endif
#include <math.h>
#include <stdio.h>

#include <vector>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#if DEPOSIT_WIDE
#include "arc/wide.cuh"
#endif
#include "arc.cuh"

enum { SIDE = SIMT_ON_CPU ? 8 : 64, CELLS = SIDE * SIDE * SIDE, OF_A_CELL = SIMT_ON_CPU ? 1 : 16 };
enum { PARTICLES = CELLS * OF_A_CELL, NODES = CELLS, ARRAYS = 4 };
enum { ACROSS = DEPOSIT_ORDER + 1, SHAPE = ACROSS * ACROSS * ACROSS };

static __host__ __device__ unsigned hash(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Particle p: its cell by its number (sorted) or anywhere; where it is in the cell, 0 to 1; and
   charge and current, small whole numbers. */
struct particle {
  int cell[3];
  float at[3], values[ARRAYS];
};
static __host__ __device__ particle particle_of(int p, bool sorted) {
  const unsigned bits = hash((unsigned)p);
  const int place = sorted ? p / OF_A_CELL : (int)(bits % CELLS);
  particle it = {{place % SIDE, place / SIDE % SIDE, place / SIDE / SIDE}, {0}, {0}};
  for (int axis = 0; axis < 3; ++axis) it.at[axis] = (float)(hash(bits + axis) >> 8) * 0x1p-24f;
  for (int i = 0; i < ARRAYS; ++i) it.values[i] = (float)((int)(bits >> 3 * i & 7) - 3 + (i == 0));
  return it;
}

/* What a node at distance d, in cells, gets of a particle: the spline of that order. */
static __host__ __device__ float share(float d) {
  d = fabsf(d);
  if (DEPOSIT_ORDER == 1) return fmaxf(1 - d, 0);
  if (DEPOSIT_ORDER == 2)
    return d < 0.5f ? 0.75f - d * d : d < 1.5f ? 0.5f * (1.5f - d) * (1.5f - d) : 0;
  return d < 1 ? 2.0f / 3 - d * d + 0.5f * d * d * d : d < 2 ? (2 - d) * (2 - d) * (2 - d) / 6 : 0;
}

/* Node n of the particle's shape, in a periodic grid, and what it gets. */
static __host__ __device__ int node_of(const particle &it, int n, float *values) {
  const int step[3] = {n % ACROSS, n / ACROSS % ACROSS, n / ACROSS / ACROSS};
  int node = 0;
  float weight = 1;
  for (int axis = 2; axis >= 0; --axis) {
    const bool up = DEPOSIT_ORDER == 2 && it.at[axis] >= 0.5f; /* the nearest node is the next */
    const int side = step[axis] - (ACROSS - 1) / 2 + up;
    weight *= share(it.at[axis] - (float)side);
    node = node * SIDE + (it.cell[axis] + side + SIDE) % SIDE;
  }
  for (int i = 0; i < ARRAYS; ++i) values[i] = it.values[i] * weight;
  return node;
}

template <class T>
__global__ void before(T *grid, bool sorted) {
  const particle it = particle_of((int)(blockIdx.x * blockDim.x + threadIdx.x), sorted);
  for (int n = 0; n < SHAPE; ++n) {
    float values[ARRAYS];
    const int node = node_of(it, n, values);
    for (int i = 0; i < ARRAYS; ++i) atomicAdd(&grid[i * NODES + node], (T)values[i]);
  }
}

#if DEPOSIT_WIDE
#define ADD arc_add_divergent_wide
typedef long long number;
enum { NUMBERS = NODES * ARC_WIDE_ROW(ARRAYS) };
static __device__ arc_target_wide target_of(number *grid) {
  return arc_target_wide_rows(grid, ARC_WIDE_ROW(ARRAYS), ARRAYS);
}
#else
#define ADD arc_add_divergent_f32
typedef float number;
enum { NUMBERS = NODES * ARRAYS };
static __device__ arc_target_f32 target_of(number *grid) {
  return arc_target_f32_planes(grid, NODES, ARRAYS);
}
#endif
__global__ void after(number *grid, bool sorted) {
  const particle it = particle_of((int)(blockIdx.x * blockDim.x + threadIdx.x), sorted);
  auto target = target_of(grid);
  for (int n = 0; n < SHAPE; ++n) {
    float values[ARRAYS];
    const int node = node_of(it, n, values);
    ADD(target, node, values);
  }
}

static float sum_of(const std::vector<number> &grid, int node, int i) {
#if DEPOSIT_WIDE
  return arc_wide_to_f32(&grid[(size_t)node * ARC_WIDE_ROW(ARRAYS)], ARRAYS, i);
#else
  return grid[(size_t)i * NODES + node];
#endif
}

int main(void) {
  enum { THREADS = 128, LAUNCHES = SIMT_ON_CPU ? 1 : 9 };
  number *grid;
  double *plain; /* floats, then doubles */
  int wrong = 0;
  cudaEvent_t start, stop;
  if (cudaMalloc(&grid, NUMBERS * sizeof *grid) != cudaSuccess ||
      cudaMalloc(&plain, NODES * ARRAYS * sizeof *plain) != cudaSuccess) {
    printf("deposit: skipped, no CUDA device\n");
    return 77;
  }
  cudaEventCreate(&start), cudaEventCreate(&stop);
  for (int sorted = 1; sorted >= 0; --sorted) {
    float ms[3] = {1e9f, 1e9f, 1e9f}; /* the least */
    for (int launch = 0; launch < 3 * LAUNCHES; ++launch) {
      const int way = launch % 3, blocks = PARTICLES / THREADS;
      cudaMemset(plain, 0, NODES * ARRAYS * sizeof *plain);
      cudaMemset(grid, 0, NUMBERS * sizeof *grid);
      cudaEventRecord(start);
      if (way == 0) SIMT_LAUNCH(before<float>, blocks, THREADS, 0, 0, (float *)plain, sorted != 0);
      if (way == 1) SIMT_LAUNCH(before<double>, blocks, THREADS, 0, 0, plain, sorted != 0);
      if (way == 2) SIMT_LAUNCH(after, blocks, THREADS, 0, 0, grid, sorted != 0);
      cudaEventRecord(stop);
      wrong += cudaEventSynchronize(stop) != cudaSuccess;
      float time = 0;
      cudaEventElapsedTime(&time, start, stop);
      if (time < ms[way]) ms[way] = time;
    }
    std::vector<number> got(NUMBERS);
    std::vector<double> must(NODES * ARRAYS), size(NODES * ARRAYS);
    wrong += cudaMemcpy(got.data(), grid, NUMBERS * sizeof *grid, cudaMemcpyDeviceToHost) != 0;
    for (int p = 0; p < PARTICLES; ++p)
      for (int n = 0; n < SHAPE; ++n) {
        float values[ARRAYS];
        const int node = node_of(particle_of(p, sorted), n, values);
        for (int i = 0; i < ARRAYS; ++i) {
          must[i * NODES + node] += values[i];
          size[i * NODES + node] += fabsf(values[i]);
        }
      }
    for (int node = 0; node < NODES; ++node)
      for (int i = 0; i < ARRAYS; ++i) {
        const int at = i * NODES + node; /* shapes of GPU and host differ in the last bits */
        wrong += !(fabs(sum_of(got, node, i) - must[at]) <= 1e-4 * size[at] + 1e-6);
      }
    if (!SIMT_ON_CPU)
      printf("%d,%s,%s,%.4f,%.4f,%.4f\n", DEPOSIT_ORDER, sorted ? "sorted" : "shuffled",
             DEPOSIT_WIDE ? "wide" : "planes", ms[0], ms[1], ms[2]);
  }
  printf("deposit: %d particles, %d sums wrong\n", (int)PARTICLES, wrong);
  cudaFree(grid), cudaFree(plain), cudaEventDestroy(start), cudaEventDestroy(stop);
  return fflush(stdout) != 0 || wrong != 0;
}
