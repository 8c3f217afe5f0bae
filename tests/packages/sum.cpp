// sum.cpp - the program of every package test: arc adds on the CPU warp, and is of the version that
// the package says. SPDX-License-Identifier: Apache-2.0
#include "simt/simt.cuh"

#include "arc.cuh"

#include <stdio.h>
#include <string.h>

static __global__ void add(float *sum) {
  const float value = 1.0f + (float)threadIdx.x;
  arc_add_f32(arc_target_f32_rows(sum, 1, 1), 0, &value, true);
}

int main() {
  float sum = 0.0f;
  SIMT_LAUNCH(add, 1, 32, 0, 0, &sum);
  printf("sum %g, must be 528; version %s, package %s\n", sum, ARC_VERSION_STRING, PACKAGE_VERSION);
  return sum == 528.0f && !strcmp(ARC_VERSION_STRING, PACKAGE_VERSION) ? 0 : 1;
}
