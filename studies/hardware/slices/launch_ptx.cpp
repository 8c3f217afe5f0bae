/* launch_ptx.cpp - kernels of slices.h from the file slices.ptx.
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "slices.h"

static void check(CUresult status, const char *what) {
  if (status == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, (int)status);
  exit(1);
}

void slice_launch(const char *kernel, int blocks, struct slice s) {
  static CUmodule module;
  CUfunction function;
  void *arguments[] = {&s};
  if (module == nullptr) check(cuModuleLoad(&module, "slices.ptx"), "slices.ptx");
  check(cuModuleGetFunction(&function, module, kernel), kernel);
  check(cuLaunchKernel(function, (unsigned)blocks, 1, 1, SLICE_THREADS, 1, 1, 0, nullptr, arguments,
                       nullptr),
        kernel);
  cudaDeviceSynchronize();
}
