/* renderer.cu - a warp of pixels walks one list of discs, as a renderer's backward pass does.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/renderer.cu -o renderer                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/renderer.cu -x none simt/simt.cpp -o renderer   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"

enum { SIDE = SIMT_ON_CPU ? 64 : 1024, TILES = SIDE * SIDE / 32, DISCS = 50, WIDTH = 4 };

/* What a pixel adds to a disc: zeros where the disc misses it. Whole numbers, so that sums are
   exact in any order. */
static __host__ __device__ bool gradient(int disc, int tile, int lane, float g[WIDTH]) {
  int x = tile % (SIDE / 8) * 8 + lane % 8, y = tile / (SIDE / 8) * 4 + lane / 8;
  int dx = x - disc * 37 % SIDE, dy = y - disc * 53 % SIDE;
  bool hit = dx * dx + dy * dy < 300;
  int weight = hit ? 1 + x % 3 : 0;
  g[0] = (float)weight, g[1] = (float)(weight * dx), g[2] = (float)(weight * dy);
  g[3] = (float)(weight * (dx * dx + dy * dy));
  return hit;
}

__global__ void backward(float *rows, bool with_arc) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  for (int disc = 0; disc < DISCS; ++disc) {
    float g[WIDTH];
    bool hit = gradient(disc, (int)blockIdx.x, (int)threadIdx.x, g);
    if (with_arc) { /* after: the whole warp calls, hit or not, if any pixel of it is hit */
      if (__any_sync(0xffffffffu, hit)) arc_add_renderer_f32(target, disc, g, hit);
    } else { /* before */
      for (int i = 0; i < WIDTH; ++i)
        if (hit) atomicAdd(&rows[WIDTH * disc + i], g[i]);
    }
  }
}

int main(void) {
  static float sums[DISCS * WIDTH], wanted[DISCS * WIDTH];
  float *rows, g[WIDTH], ms = 0.0f;
  int wrong = 0;
  cudaEvent_t start, stop;
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("renderer: skipped, no CUDA device\n");
    return 77;
  }
  cudaEventCreate(&start), cudaEventCreate(&stop);
  for (int k = 0; k < TILES * 32 * DISCS; ++k)
    if (gradient(k % DISCS, k / DISCS / 32, k / DISCS % 32, g))
      for (int i = 0; i < WIDTH; ++i) wanted[WIDTH * (k % DISCS) + i] += g[i];
  for (int launch = 0; launch < 4; ++launch) { /* each kind once to warm up */
    cudaMemset(rows, 0, sizeof sums);
    cudaEventRecord(start);
    SIMT_LAUNCH(backward, TILES, 32, 0, 0, rows, launch % 2 == 1);
    cudaEventRecord(stop);
    wrong += cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < DISCS * WIDTH; ++i) wrong += sums[i] != wanted[i];
    cudaEventElapsedTime(&ms, start, stop);
    if (launch >= 2 && !SIMT_ON_CPU) printf("%s %.4f ms\n", launch == 2 ? "before" : "after ", ms);
  }
  printf("renderer: %d discs of %d values, %d sums wrong\n", (int)DISCS, (int)WIDTH, wrong);
  cudaFree(rows), cudaEventDestroy(start), cudaEventDestroy(stop);
  return fflush(stdout) != 0 || wrong != 0;
}
