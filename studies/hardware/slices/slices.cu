/* slices.cu - carries out a slice of recorded steps, and checks every sum.
   SPDX-License-Identifier: Apache-2.0

     slices TRACE                             all kernels, 40 warps: a test
     slices TRACE NAME PATH THRESHOLD WARPS   one of slices.h, the first warps; 0: all

   A line a kernel, after it ran; a simulator prints its cycles before. */
#if defined(SLICES_PTX)
#include <cuda_runtime_api.h>
#else
#include "simt/simt.cuh"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "../trace.h"
#include "slices.h"

struct form {
  const char *name;
  int width, stride;
};
#define FORM(name, width, stride, ...) {#name, width, stride},
#define NAME(path, ...) #path,
static const form forms[] = {SLICES(FORM)};
static const char *const paths[] = {SLICE_PATHS(NAME, )};

struct steps {
  std::vector<int> keys;
  std::vector<unsigned> first;
};

/* Of the first warps, 0: of all; inactive lanes get the key of an active one. */
static steps steps_of(const recording *r, int warps) {
  steps out;
  int warp = -1;
  for (const recorded_step &s : r->steps) {
    if (s.warp != warp && warps > 0 && (int)out.first.size() == warps) break;
    if (s.warp != warp) out.first.push_back((unsigned)out.keys.size() / 32);
    warp = s.warp;
    int any = 0;
    for (int key : s.keys) any = key >= 0 ? key : any;
    for (int key : s.keys) out.keys.push_back(key >= 0 ? key : ~any);
  }
  out.first.push_back((unsigned)out.keys.size() / 32);
  out.keys.resize(out.keys.size() + 32, -1); /* kernels load per step ahead */
  return out;
}

static int wrong_sums(const steps *t, const form *f, const std::vector<float> &rows) {
  std::vector<float> wanted(rows.size());
  for (size_t at = 0; at < t->keys.size(); ++at)
    for (int i = 0; i < f->width && t->keys[at] >= 0; ++i)
      wanted[(size_t)(t->keys[at] * f->stride + i)] += SLICE_VALUE(at % 32, at / 32, i);
  int wrong = 0;
  for (size_t i = 0; i < rows.size(); ++i) wrong += rows[i] != wanted[i];
  return wrong;
}

template <class value>
static value *copy_of(const std::vector<value> &from) {
  value *to;
  cudaMalloc((void **)&to, from.size() * sizeof(value));
  cudaMemcpy(to, from.data(), from.size() * sizeof(value), cudaMemcpyHostToDevice);
  return to;
}

/* Returns how many sums are wrong. */
static int run(const form *f, const char *path, const steps *t, int threshold) {
  const int warps = (int)t->first.size() - 1, a_block = SLICE_THREADS / 32;
  int most = 0;
  for (int key : t->keys) most = key > most ? key : most;
  std::vector<float> rows((size_t)((most + 1) * f->stride));
  int *keys = copy_of(t->keys);
  unsigned *first = copy_of(t->first);
  float *table = copy_of(std::vector<float>(SLICE_TABLE)), *device = copy_of(rows);
  const std::string kernel = std::string(f->name) + "_" + path;
  slice_launch(kernel.c_str(), (warps + a_block - 1) / a_block,
               {device, keys, first, table, (unsigned)warps, threshold});
  cudaMemcpy(rows.data(), device, rows.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (void *memory : {(void *)keys, (void *)first, (void *)table, (void *)device})
    cudaFree(memory);
  const int wrong = strcmp(path, "none") ? wrong_sums(t, f, rows) : 0;
  printf("slice %s,%s,%d,%d,%d,%s\n", f->name, path, threshold, warps, (int)t->first.back(),
         wrong ? "WRONG" : "ok");
  fflush(stdout);
  return wrong;
}

int main(int argc, char **argv) {
  recording r;
  error_line error;
  int wrong = 0;
  if (argc != 2 && argc != 6) return fprintf(stderr, "usage: see the head of slices.cu\n"), 2;
  if (!recording_read(&r, argv[1], &error)) return fprintf(stderr, "%s\n", error.text), 2;
  const bool all = argc == 2;
  const steps t = steps_of(&r, all ? 40 : atoi(argv[5]));
  for (const auto &f : forms)
    for (const char *path : paths)
      if (all || (strcmp(argv[2], f.name) == 0 && strcmp(argv[3], path) == 0))
        wrong += run(&f, path, &t, all ? 8 : atoi(argv[4]));
  return wrong != 0;
}
