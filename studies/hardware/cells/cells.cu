/* cells.cu - launches cells of the sweep and checks every sum.
   SPDX-License-Identifier: Apache-2.0

     cells                                              all, small: a test
     cells CALL PATH WIDTH KEYS BLOCKS UPDATES ROWS     one or keyed, a path of cells.h

   A line a cell, after it ran; a simulator prints its cycles before. */
#if defined(CELLS_PTX)
#include <cuda_runtime_api.h>
#else
#include "simt/simt.cuh"
#endif

#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "cells.h"

static int wrong_sums(const cell &c, int warps, const std::vector<float> &rows) {
  std::vector<float> wanted(rows.size());
  for (int warp = 0; warp < warps; ++warp)
    for (int update = 0; update < c.updates; ++update)
      for (int lane = 0; lane < c.lanes; ++lane)
        for (int i = 0; i < c.width; ++i)
          wanted[(size_t)(CELL_KEY(c, warp, update, lane) * c.width + i)] +=
              CELL_VALUE(lane, update, i);
  int wrong = 0;
  for (size_t i = 0; i < rows.size(); ++i) wrong += rows[i] != wanted[i];
  return wrong;
}

/* Returns how many sums are wrong. */
static int run(const char *call, const char *path, cell c, int blocks) {
  std::vector<float> rows((size_t)(c.rows * c.width));
  const size_t bytes = rows.size() * sizeof(float);
  char kernel[64];
  float *device;
  snprintf(kernel, sizeof kernel, "%s_%s_%d", call, path, c.width);
  cudaMalloc((void **)&device, bytes);
  cudaMemcpy(device, rows.data(), bytes, cudaMemcpyHostToDevice);
  cell_launch(kernel, blocks, device, c);
  cudaMemcpy(rows.data(), device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  const int wrong = wrong_sums(c, blocks * CELL_THREADS / 32, rows);
  printf("cell %s,%s,%d,%d,%d,%s\n", call, path, c.width, c.lanes, c.keys, wrong ? "WRONG" : "ok");
  fflush(stdout);
  return wrong;
}

/* One key with all counts of lanes; several keys with all lanes. */
static int run_all(const char *call, const char *path, cell c, int blocks) {
  int wrong = 0;
  for (c.lanes = c.keys == 1 ? 1 : 32; c.lanes <= 32; c.lanes *= 2)
    wrong += run(call, path, c, blocks);
  return wrong;
}

int main(int argc, char **argv) {
  if (argc == 8)
    return run_all(argv[1], argv[2],
                   {atoi(argv[3]), 0, atoi(argv[4]), atoi(argv[7]), atoi(argv[6])},
                   atoi(argv[5])) != 0;
  if (argc != 1) return fprintf(stderr, "usage: see the head of cells.cu\n"), 2;
  int wrong = 0;
  for (int width : {1, 4, 9, 16}) {
#define RUN(path, ...)                                     \
  wrong += run_all("one", #path, {width, 0, 1, 64, 3}, 2); \
  for (int keys : {1, 2, 8, 32}) wrong += run_all("keyed", #path, {width, 0, keys, 64, 3}, 2);
    CELL_PATHS(RUN, )
  }
  return wrong != 0;
}
