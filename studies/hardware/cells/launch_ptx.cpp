/* launch_ptx.cpp - kernels of cells.h and slices.h from the files cells.ptx and slices.ptx.
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "cells.h"
#include "slices.h"

static void check(CUresult status, const char *what) {
  if (status == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, (int)status);
  exit(1);
}

/* A program has one file. */
static void launch(const char *file, const char *kernel, int blocks, int threads,
                   void **arguments) {
  static CUmodule module;
  static bool loaded = false;
  CUfunction function;
  if (!loaded) check(cuModuleLoad(&module, file), file);
  loaded = true;
  check(cuModuleGetFunction(&function, module, kernel), kernel);
  check(cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, nullptr,
                       arguments, nullptr),
        kernel);
  cudaDeviceSynchronize();
}

void cell_launch(const char *kernel, int blocks, float *rows, struct cell c) {
  void *arguments[] = {&rows, &c};
  launch("cells.ptx", kernel, blocks, CELL_THREADS, arguments);
}

void slice_launch(const char *kernel, int blocks, struct slice s) {
  void *arguments[] = {&s};
  launch("slices.ptx", kernel, blocks, SLICE_THREADS, arguments);
}
