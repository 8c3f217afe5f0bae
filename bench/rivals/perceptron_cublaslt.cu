/* perceptron_cublaslt: the fused perceptron of examples/common beside one that calls cuBLASLt for
   each layer, with bias and activation fused into the products. SPDX-License-Identifier: Apache-2.0

   usage: perceptron_cublaslt [batch_log2 ...]        default: 14 21

   Both run forward and train: up to the gradients of all parameters and of the inputs. Of each
   product the rival takes the fastest of the eight algorithms that cuBLASLt proposes. It is spared
   the gradient of the outputs' bias; ours clears its sums. Times are of a step among many, back to
   back: launched one by one, or captured in a CUDA graph of STEPS. */
#include <cublasLt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include <cuda_fp16.h>

#include "examples/common/random.h"
#include "examples/common/perceptron.h"

enum { REAL_OUTPUTS = 3, ALGORITHMS = 8, STEPS = 16, REPEATS = 9, MOST_LAYERS = MATRICES + 1 };
static const size_t WORKSPACE = 64 << 20;

static void blas_check(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fprintf(stderr, "perceptron_cublaslt: %s: cuBLASLt says %d\n", what, (int)status);
  exit(1);
}

static cublasLtHandle_t blas;
static cudaStream_t stream;
static void *workspace;
static device_memory memory;

static void *take(size_t bytes) {
  device_array array = {nullptr, 0};
  device_reserve(&memory, &array, bytes, "memory");
  device_clear(array.data, bytes);
  return array.data;
}

/* ---- one product ----------------------------------------------------------------------------- */

typedef struct product {
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, d;
  const void *a_data, *b_data;
  void *d_data;
  cublasLtMatmulAlgo_t algorithm;
} product;

static void run_product(const product *p, const cublasLtMatmulAlgo_t *algorithm) {
  const float one = 1.0f, zero = 0.0f;
  blas_check(
      cublasLtMatmul(blas, p->operation, &one, p->a_data, p->a, p->b_data, p->b, &zero, p->d_data,
                     p->d, p->d_data, p->d, algorithm, workspace, WORKSPACE, stream),
      "a product");
}

typedef void (*step_function)(void *);

static float time_once(step_function step, void *what, int steps) {
  auto run = [&] {
    for (int i = 0; i < steps; ++i) step(what);
  };
  return 1000.0f * device_time(run, stream) / (float)steps;
}

/* Microseconds: the median, after a warm-up. */
static float time_steps(step_function step, void *what, int steps) {
  std::vector<float> us;
  time_once(step, what, steps);
  for (int i = 0; i < REPEATS; ++i) us.push_back(time_once(step, what, steps));
  return median(us.data(), REPEATS);
}

static void run_chosen(void *p) { run_product((product *)p, &((product *)p)->algorithm); }

static void choose_algorithm(product *p) {
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t found[ALGORITHMS];
  int count = 0;
  float least = INFINITY;
  cublasLtMatmulAlgo_t best;
  blas_check(cublasLtMatmulPreferenceCreate(&preference), "a preference");
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &WORKSPACE, sizeof WORKSPACE);
  blas_check(cublasLtMatmulAlgoGetHeuristic(blas, p->operation, p->a, p->b, p->d, p->d, preference,
                                            ALGORITHMS, found, &count),
             "an algorithm");
  for (int i = 0; i < count; ++i) {
    p->algorithm = found[i].algo;
    const float us = time_once(run_chosen, p, 4), again = time_once(run_chosen, p, 4);
    if (fminf(us, again) < least) least = fminf(us, again), best = found[i].algo;
  }
  if (count == 0) blas_check(CUBLAS_STATUS_NOT_SUPPORTED, "no algorithm");
  p->algorithm = best;
  cublasLtMatmulPreferenceDestroy(preference);
}

/* Column-major, as cuBLAS counts: d (rows x columns) = op(a) op(b), depth between them. */
typedef struct product_shape {
  int rows, columns, depth;
  bool a_transposed, b_transposed;
  cudaDataType_t type; /* of d */
  cublasLtEpilogue_t epilogue;
  void *bias, *mask; /* of the epilogue, or null */
} product_shape;

static product make_product(const product_shape *s, const void *a, const void *b, void *d) {
  product p = {};
  const cublasOperation_t yes = CUBLAS_OP_T, no = CUBLAS_OP_N;
  const long long mask_stride = 128;
  p.a_data = a, p.b_data = b, p.d_data = d;
  cublasLtMatmulDescCreate(&p.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
#define SET(name, value) \
  cublasLtMatmulDescSetAttribute(p.operation, CUBLASLT_MATMUL_DESC_##name, &value, sizeof(value))
  SET(TRANSA, (s->a_transposed ? yes : no));
  SET(TRANSB, (s->b_transposed ? yes : no));
  SET(EPILOGUE, s->epilogue);
  if (s->bias != nullptr) SET(BIAS_POINTER, s->bias);
  if (s->mask != nullptr) SET(EPILOGUE_AUX_POINTER, s->mask);
  if (s->mask != nullptr) SET(EPILOGUE_AUX_LD, mask_stride);
#undef SET
  const int a_rows = s->a_transposed ? s->depth : s->rows;
  const int b_rows = s->b_transposed ? s->columns : s->depth;
  cublasLtMatrixLayoutCreate(&p.a, CUDA_R_16F, (uint64_t)a_rows,
                             (uint64_t)(s->a_transposed ? s->rows : s->depth), a_rows);
  cublasLtMatrixLayoutCreate(&p.b, CUDA_R_16F, (uint64_t)b_rows,
                             (uint64_t)(s->b_transposed ? s->depth : s->columns), b_rows);
  cublasLtMatrixLayoutCreate(&p.d, s->type, (uint64_t)s->rows, (uint64_t)s->columns, s->rows);
  choose_algorithm(&p);
  return p;
}

/* ---- the rival ------------------------------------------------------------------------------- */

typedef struct rival {
  int samples;
  __half *layer[MOST_LAYERS], *slopes[MOST_LAYERS], *weights[MATRICES], *bias[MATRICES];
  __half *bias_sums[MATRICES];
  float *sums[MATRICES];
  const float *targets;
  std::vector<product> forward, learn_forward, backward;
} rival;

__global__ void output_slopes(int samples, const __half *outputs, const float *targets,
                              __half *slopes) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), sample = i / OUTPUTS;
  const int output = i % OUTPUTS;
  if (sample >= samples) return;
  const float target = output < REAL_OUTPUTS ? targets[(size_t)output * samples + sample] : 0.0f;
  slopes[i] =
      output < REAL_OUTPUTS ? __float2half(__half2float(outputs[i]) - target) : __half(0.0f);
}

static void rival_forward(void *what) {
  rival *r = (rival *)what;
  for (product &p : r->forward) run_chosen(&p);
}

static void rival_train(void *what) {
  rival *r = (rival *)what;
  for (product &p : r->learn_forward) run_chosen(&p);
  output_slopes<<<line_blocks((size_t)r->samples * OUTPUTS), LINE_THREADS, 0, stream>>>(
      r->samples, r->layer[MATRICES], r->targets, r->slopes[MATRICES]);
  for (product &p : r->backward) run_chosen(&p);
}

static void rival_begin(rival *r, int width, int samples) {
  const size_t half = sizeof(__half);
  r->samples = samples;
  for (int l = 0; l < MOST_LAYERS; ++l) {
    const int size = l == MATRICES ? (int)OUTPUTS : l == 0 ? (int)INPUTS : width;
    r->layer[l] = (__half *)take(half * (size_t)samples * (size_t)size);
    r->slopes[l] = (__half *)take(half * (size_t)samples * (size_t)size);
  }
  for (int m = 0; m < MATRICES; ++m) {
    r->weights[m] = (__half *)take(half * (size_t)(matrix_in(width, m) * matrix_out(width, m)));
    r->sums[m] =
        (float *)take(sizeof(float) * (size_t)(matrix_in(width, m) * matrix_out(width, m)));
    r->bias[m] = (__half *)take(half * (size_t)matrix_out(width, m));
    r->bias_sums[m] = (__half *)take(half * (size_t)matrix_out(width, m));
  }
}

/* Needs the numbers to be there: algorithms are timed. */
static void rival_plan(rival *r, int width) {
  void *mask[MOST_LAYERS];
  for (int l = 1; l < MATRICES; ++l) mask[l] = take(128 / 8 * (size_t)r->samples);
  for (int m = 0; m < MATRICES; ++m) {
    const int in = matrix_in(width, m), out = matrix_out(width, m);
    const bool last = m == HIDDEN;
    product_shape s = {out,
                       r->samples,
                       in,
                       true,
                       false,
                       CUDA_R_16F,
                       last ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_RELU_BIAS,
                       r->bias[m],
                       nullptr};
    r->forward.push_back(make_product(&s, r->weights[m], r->layer[m], r->layer[m + 1]));
    if (!last) s.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, s.mask = mask[m + 1];
    r->learn_forward.push_back(make_product(&s, r->weights[m], r->layer[m], r->layer[m + 1]));
  }
  for (int m = HIDDEN; m >= 0; --m) {
    const int in = matrix_in(width, m), out = matrix_out(width, m);
    const product_shape sums = {
        in, out, r->samples, false, true, CUDA_R_32F, CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr};
    product_shape slopes = {
        in, r->samples, out, false, false, CUDA_R_16F, CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr};
    if (m > 0) {
      slopes.epilogue = CUBLASLT_EPILOGUE_DRELU_BGRAD;
      slopes.bias = r->bias_sums[m - 1];
      slopes.mask = mask[m];
    }
    r->backward.push_back(make_product(&sums, r->layer[m], r->slopes[m + 1], r->sums[m]));
    r->backward.push_back(make_product(&slopes, r->weights[m], r->slopes[m + 1], r->slopes[m]));
  }
}

/* ---- ours ------------------------------------------------------------------------------------ */

typedef struct fused {
  perceptron p;
  perceptron_batch b;
} fused;

static void fused_forward(void *what) {
  fused *f = (fused *)what;
  perceptron_run(&f->p, &f->b, stream);
}

static void fused_train(void *what) {
  fused *f = (fused *)what;
  device_check(
      cudaMemsetAsync(f->p.sums, 0, sizeof(float) * (size_t)parameter_count(f->p.width), stream),
      "clearing");
  perceptron_train(&f->p, &f->b, stream);
}

static void upload(void *device, const std::vector<float> &numbers, bool half) {
  std::vector<__half> halves(numbers.begin(), numbers.end());
  host_to_device(device, half ? (const void *)halves.data() : numbers.data(),
                 numbers.size() * (half ? 2 : 4), "numbers");
}

static float number_of(unsigned long long stream_number, size_t i) {
  return 2.0f * hashed_random(stream_number, i) - 1.0f;
}

/* The same numbers for both: weights and biases, inputs in either order, targets. */
static void fill(fused *f, rival *r, int width) {
  const size_t n = (size_t)r->samples;
  std::vector<float> parameters((size_t)parameter_count(width)), rows(n * INPUTS),
      pairs(n * INPUTS);
  std::vector<float> targets(n * REAL_OUTPUTS);
  for (int m = 0; m < MATRICES; ++m) {
    const int in = matrix_in(width, m), out = matrix_out(width, m);
    std::vector<float> weights((size_t)(in * out)), bias((size_t)out);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = sqrtf(6.0f / (float)in) * number_of((unsigned)m, i);
    for (int i = 0; i < out; ++i) {
      bias[(size_t)i] = 0.1f * number_of(100u + (unsigned)m, (size_t)i);
      parameters[(size_t)(bias_first(width, m) + bias_place(i))] = bias[(size_t)i];
    }
    std::copy(weights.begin(), weights.end(), parameters.begin() + matrix_first(width, m));
    upload(r->weights[m], weights, true);
    upload(r->bias[m], bias, true);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t sample = i / INPUTS, k = i % INPUTS;
    rows[i] = number_of(200u, i);
    pairs[(k / 2 * n + sample) * 2 + k % 2] = rows[i];
  }
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = number_of(300u, i);
  upload(r->layer[0], rows, true);
  upload((void *)f->b.inputs, pairs, true);
  upload((void *)f->b.targets, targets, false);
  upload(f->p.parameters, parameters, false);
  perceptron_pack(&f->p, stream);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void launch_graph(void *graph) {
  device_check(cudaGraphLaunch((cudaGraphExec_t)graph, stream), "a graph");
}

/* Microseconds of one step out of a graph of STEPS. */
static float time_graph(step_function step, void *what, int launches) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  device_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
  for (int i = 0; i < STEPS; ++i) step(what);
  device_check(cudaStreamEndCapture(stream, &graph), "a graph");
  device_check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
  const float us = time_steps(launch_graph, exec, launches) / STEPS;
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return us;
}

static double difference(const float *ours, const float *theirs, size_t count) {
  const auto a = device_read<float>(ours, count, "sums"),
             b = device_read<float>(theirs, count, "sums");
  double squares = 0.0, whole = 0.0;
  for (size_t i = 0; i < count; ++i) {
    squares += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    whole += (double)b[i] * b[i];
  }
  return sqrt(squares / whole);
}

static void compare(const char *what, int width, int log2, step_function ours, fused *f,
                    step_function theirs, rival *r) {
  const int steps = log2 < 18 ? 64 : 8, launches = log2 < 18 ? 8 : 1;
  const float a = time_steps(ours, f, steps), b = time_steps(theirs, r, steps);
  const float c = time_graph(ours, f, launches), d = time_graph(theirs, r, launches);
  const double operations =
      2.0 * weight_count(width) * r->samples * (ours == fused_train ? 3.0 : 1.0);
  printf("%-8s %5d   2^%-2d %9.2f %9.2f %7.2f %9.2f %9.2f %7.2f %9.1f\n", what, width, log2, a, b,
         b / a, c, d, d / c, operations / c * 1e-6);
}

static void measure(int width, int log2) {
  const size_t n = (size_t)1 << log2, floats = sizeof(float);
  rival r = {};
  fused f = {};
  rival_begin(&r, width, (int)n);
  f.p = {width,
         true,
         REAL_OUTPUTS,
         (float *)take(floats * (size_t)parameter_count(width)),
         (float *)take(floats * (size_t)parameter_count(width)),
         false,
         {take(2 * (size_t)weight_count(width)), take(2 * (size_t)weight_count(width))}};
  f.b = {(int)n,
         take(2 * n * INPUTS),
         (float *)take(floats * n * REAL_OUTPUTS),
         nullptr,
         (float *)take(floats * n * REAL_OUTPUTS),
         (float *)take(floats * n * INPUTS)};
  r.targets = f.b.targets;
  fill(&f, &r, width);
  device_check(cudaDeviceSynchronize(), "numbers");
  rival_plan(&r, width);
  compare("forward", width, log2, fused_forward, &f, rival_forward, &r);
  compare("training", width, log2, fused_train, &f, rival_train, &r);
  fused_train(&f);
  rival_train(&r);
  device_check(cudaStreamSynchronize(stream), "training");
  for (int m = 0; m < MATRICES; ++m)
    printf(m == 0 ? "gradients differ by %.2g" : ", %.2g",
           difference(f.p.sums + matrix_first(width, m), r.sums[m],
                      (size_t)((m == HIDDEN ? (int)REAL_OUTPUTS : matrix_out(width, m)) *
                               matrix_in(width, m))));
  printf("\n");
}

int main(int argc, char **argv) {
  cudaDeviceProp device;
  device_check(cudaGetDeviceProperties(&device, 0), "a device");
  device_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  blas_check(cublasLtCreate(&blas), "a handle");
  workspace = take(WORKSPACE);
  printf(
      "device     %s, cuBLASLt %zu\nmicroseconds a step; %d hidden layers\n%-8s %5s %6s %9s %9s "
      "%7s %9s %9s %7s %9s\n",
      device.name, cublasLtGetVersion(), (int)HIDDEN, "", "width", "batch", "fused", "cuBLASLt",
      "x", "graphs", "cuBLASLt", "x", "TFLOP/s");
  for (int width = 64; width <= 128; width *= 2)
    for (int i = 1; i < (argc > 1 ? argc : 3); ++i)
      measure(width, argc > 1 ? atoi(argv[i]) : i == 1 ? 14 : 21);
  return 0;
}
