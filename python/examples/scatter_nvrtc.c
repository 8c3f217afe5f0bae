/* scatter_nvrtc.c - a kernel compiled at run time: NVRTC takes arc's headers as named strings.
   SPDX-License-Identifier: Apache-2.0

   cc -I/usr/local/cuda/include python/examples/scatter_nvrtc.c -o scatter_nvrtc \
      -L/usr/local/cuda/lib64 -lnvrtc -lcudart
   ./scatter_nvrtc [folder of arc.cuh]

   Needs CUDA 12.8; before it, the driver's cuModuleLoadData and cuLaunchKernel do the same. */
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 100, WIDTH = 3, UPDATES = 10000, THREADS = 256 };

/* Twenty neighbours share a key. Every seventh update is inactive: no sum may see its NaN. */
static const char kernel_source[] =
    "#include \"arc.cuh\"\n"
    "extern \"C\" __global__ void scatter(float *rows, int updates) {\n"
    "  arc_target_f32 target = arc_target_f32_rows(rows, 3 /* stride */, 3 /* width */);\n"
    "  int update = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  bool active = update < updates && update % 7 != 0;\n"
    "  int key = active ? update / 20 * 37 % 100 : -1;\n"
    "  float g[3];\n"
    "  for (int i = 0; i < 3; ++i)\n"
    "    g[i] = active ? update % 61 + key + 256 * i : __int_as_float(-1);\n"
    "  arc_add_f32(target, key, g, active); /* the whole warp calls */\n"
    "}\n";

static char *read_text(const char *folder, const char *name) {
  enum { MOST = 1 << 20 };
  char path[4096], *text = (char *)calloc(MOST, 1);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(text, 1, MOST - 1, file) == 0) {
    fprintf(stderr, "scatter_nvrtc: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  return text;
}

/* Returns machine code for the first GPU, or for sm_90 where there is none. */
static char *compile(const char *folder) {
  enum { HEADERS = 4 }; /* and the forms in use, such as arc/hot.cuh */
  const char *names[HEADERS] = {"arc.cuh", "arc_policy.cuh", "arc/words.cuh", "arc/core.cuh"};
  const char *texts[HEADERS];
  for (int i = 0; i < HEADERS; ++i) texts[i] = read_text(folder, names[i]);
  int major = 9, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  char architecture[32], log[10000] = "";
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
  const char *options[] = {architecture};
  nvrtcProgram program;
  size_t size = 0;
  nvrtcCreateProgram(&program, kernel_source, "scatter.cu", HEADERS, texts, names);
  nvrtcResult status = nvrtcCompileProgram(program, 1, options);
  nvrtcGetProgramLogSize(program, &size);
  if (size <= sizeof log) nvrtcGetProgramLog(program, log);
  printf("scatter_nvrtc: %s: %s\n%s", architecture, nvrtcGetErrorString(status), log);
  if (status != NVRTC_SUCCESS) exit(1);
  nvrtcGetCUBINSize(program, &size);
  char *code = (char *)malloc(size);
  nvrtcGetCUBIN(program, code);
  return code;
}

int main(int argc, char **argv) {
  static float sums[ROWS * WIDTH], wanted[ROWS * WIDTH];
  char *code = compile(argc > 1 ? argv[1] : ".");
  int updates = UPDATES, wrong = 0;
  float *rows;
  cudaLibrary_t library;
  cudaKernel_t kernel = NULL;
  void *arguments[] = {&rows, &updates};
  dim3 blocks = {(UPDATES + THREADS - 1) / THREADS, 1, 1}, threads = {THREADS, 1, 1};
  if (cudaMalloc((void **)&rows, sizeof sums) != cudaSuccess) {
    printf("skipped: no CUDA device\n");
    return 77;
  }
  cudaMemset(rows, 0, sizeof sums);
  cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
  cudaLibraryGetKernel(&kernel, library, "scatter");
  cudaLaunchKernel((const void *)kernel, blocks, threads, arguments, 0, NULL);
  cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost);
  for (int update = 0; update < UPDATES; ++update)
    for (int i = 0, key = update / 20 * 37 % ROWS; i < WIDTH; ++i)
      if (update % 7 != 0) wanted[WIDTH * key + i] += (float)(update % 61 + key + 256 * i);
  for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i];
  printf("scatter_nvrtc: %d updates of %d values into %d rows, %d sums wrong, %s\n", updates,
         (int)WIDTH, (int)ROWS, wrong, cudaGetErrorString(cudaGetLastError()));
  return fflush(stdout) != 0 || wrong != 0;
}
