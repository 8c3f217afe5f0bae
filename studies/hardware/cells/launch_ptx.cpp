/* launch_ptx.cpp - the kernels of cells.h from the file cells.ptx.
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "cells.h"

static void check(CUresult status, const char *what) {
  if (status == CUDA_SUCCESS) return;
  fprintf(stderr, "cells.ptx: %s: error %d\n", what, (int)status);
  exit(1);
}

void cell_launch(const char *kernel, int blocks, float *rows, struct cell c) {
  static CUmodule module;
  static bool loaded = false;
  CUfunction function;
  void *arguments[] = {&rows, &c};
  if (!loaded) check(cuModuleLoad(&module, "cells.ptx"), "loading");
  loaded = true;
  check(cuModuleGetFunction(&function, module, kernel), kernel);
  check(cuLaunchKernel(function, (unsigned)blocks, 1, 1, CELL_THREADS, 1, 1, 0, nullptr, arguments,
                       nullptr),
        kernel);
  cudaDeviceSynchronize();
}
