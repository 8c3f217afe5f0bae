/* drawing_stages.cuh - times of a frame's stages, for the programs that drawing.py draws with.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <torch/library.h>

#include <vector>

#define LIBRARY(name, library) TORCH_LIBRARY(name, library) /* expands the name first */

/* Begins with a frame; then() is called behind the launches of each stage. */
struct Stages {
  std::vector<at::cuda::CUDAEvent> events;

  Stages() { then(); }
  void then() { events.emplace_back(cudaEventDefault).record(); }
  /* Waits. Milliseconds of each stage, and of all. */
  std::vector<double> read() {
    std::vector<double> ms;
    events.back().synchronize();
    for (size_t i = 1; i < events.size(); ++i) ms.push_back(events[i - 1].elapsed_time(events[i]));
    ms.push_back(events.front().elapsed_time(events.back()));
    return ms;
  }
};
