/* perceptron_rivals: the fused perceptron of studies/common beside one that calls cuBLASLt for
   each layer, with bias and activation fused into the products. SPDX-License-Identifier: Apache-2.0

   perceptron_rivals [OUT.csv]

   Both run forward and train: up to the gradients of all weights and of the inputs, from
   the same weights, inputs and targets; clearing sums is included. cuBLASLt takes for each product
   the fastest of the eight algorithms that it proposes, and is spared the gradient of the outputs'
   bias. Columns:
     us, graph_us   of a step among many, back to back: launched one by one, or captured in a CUDA
                    graph of STEPS
     x, graph_x     over ours
     difference     of the gradients of the weights from ours, relative L2 */
#include <cublasLt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include <cuda_fp16.h>

#include "../common/perceptron.h"
#include "../../bench/common/random.h"
#include "../common/table_program.h"

#include "arc.cuh"

enum { REAL_OUTPUTS = 3, ALGORITHMS = 8, STEPS = 16, REPEATS = 9, MOST_LAYERS = MATRICES + 1 };
enum { LEAST_LOG2 = 14, MOST_LOG2 = 21 };
static const size_t WORKSPACE = 64 << 20;

static void blas_check(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fprintf(stderr, "perceptron_rivals: %s: cuBLASLt says %d\n", what, (int)status);
  exit(1);
}

static cublasLtHandle_t blas;
static cudaStream_t stream;
static void *workspace;
static device_pool taken;

static void *take(size_t bytes) { return device_take(&taken, bytes, "memory"); }

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
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *mask = nullptr; /* of the epilogue */
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
  __half *layer[MOST_LAYERS], *slopes[MOST_LAYERS], *bias[MATRICES], *bias_sums[MATRICES];
  __half *weights; /* in our order, and their sums */
  float *sums;
  const float *targets;
  std::vector<product> forward, learn_forward, backward;
} rival;

/* Halves hold the sums over all samples. */
static float slope_scale(int samples) { return 1024.0f / (float)samples; }

__global__ void output_slopes(int samples, float scale, const __half *outputs, const float *targets,
                              __half *slopes) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int sample = i / OUTPUTS, output = i % OUTPUTS;
  if (i >= samples * OUTPUTS) return;
  const bool real = output < REAL_OUTPUTS;
  const float target = real ? targets[(size_t)output * samples + sample] : 0.0f;
  slopes[i] = real ? __float2half(scale * (__half2float(outputs[i]) - target)) : __half(0.0f);
}

static void rival_forward(void *what) {
  rival *r = (rival *)what;
  for (product &p : r->forward) run_chosen(&p);
}

static void rival_train(void *what) {
  rival *r = (rival *)what;
  for (product &p : r->learn_forward) run_chosen(&p);
  output_slopes<<<line_blocks((size_t)r->samples * OUTPUTS), LINE_THREADS, 0, stream>>>(
      r->samples, slope_scale(r->samples), r->layer[MATRICES], r->targets, r->slopes[MATRICES]);
  for (product &p : r->backward) run_chosen(&p);
}

static void rival_begin(rival *r, int width, int samples) {
  const size_t half = sizeof(__half);
  r->samples = samples;
  r->weights = (__half *)take(half * (size_t)weight_count(width));
  r->sums = (float *)take(sizeof(float) * (size_t)weight_count(width));
  for (int l = 0; l < MOST_LAYERS; ++l) {
    const int size = l == MATRICES ? (int)OUTPUTS : l == 0 ? (int)INPUTS : width;
    r->layer[l] = (__half *)take(half * (size_t)samples * (size_t)size);
    r->slopes[l] = (__half *)take(half * (size_t)samples * (size_t)size);
  }
  for (int m = 0; m < MATRICES; ++m) {
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
    const __half *weights = r->weights + matrix_first(width, m);
    const bool last = m == HIDDEN;
    product_shape s = {out, r->samples, in, true, false, CUDA_R_16F};
    s.epilogue = last ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_RELU_BIAS;
    s.bias = r->bias[m];
    r->forward.push_back(make_product(&s, weights, r->layer[m], r->layer[m + 1]));
    if (!last) s.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, s.mask = mask[m + 1];
    r->learn_forward.push_back(make_product(&s, weights, r->layer[m], r->layer[m + 1]));
  }
  for (int m = HIDDEN; m >= 0; --m) {
    const int in = matrix_in(width, m), out = matrix_out(width, m);
    const product_shape sums = {in, out, r->samples, false, true, CUDA_R_32F};
    product_shape slopes = {in, r->samples, out, false, false, CUDA_R_16F};
    if (m > 0) {
      slopes.epilogue = CUBLASLT_EPILOGUE_DRELU_BGRAD;
      slopes.bias = r->bias_sums[m - 1];
      slopes.mask = mask[m];
    }
    r->backward.push_back(
        make_product(&sums, r->layer[m], r->slopes[m + 1], r->sums + matrix_first(width, m)));
    r->backward.push_back(
        make_product(&slopes, r->weights + matrix_first(width, m), r->slopes[m + 1], r->slopes[m]));
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

/* ---- numbers --------------------------------------------------------------------------------- */

static float number_of(unsigned long long stream_number, size_t i) {
  return 2.0f * hashed_random(stream_number, i) - 1.0f;
}

/* For ours by pairs of inputs; for the rival the inputs of a sample together. */
__global__ void fill_inputs(int samples, __half *pairs, __half *rows) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int sample = i / INPUTS, k = i % INPUTS;
  if (sample >= samples) return;
  const __half input = __float2half(2.0f * hashed_random(200u, (unsigned)i) - 1.0f);
  rows[i] = input;
  pairs[((size_t)(k / 2) * samples + sample) * 2 + k % 2] = input;
}

/* The same numbers for all; biases are zero. */
static void fill(fused *f, rival *r, int width) {
  std::vector<float> parameters((size_t)parameter_count(width));
  std::vector<float> targets((size_t)r->samples * REAL_OUTPUTS);
  for (int m = 0; m < MATRICES; ++m) {
    const int in = matrix_in(width, m), out = matrix_out(width, m);
    float *weights = &parameters[(size_t)matrix_first(width, m)];
    for (int i = 0; i < in * out; ++i)
      weights[i] = sqrtf(6.0f / (float)in) * number_of((unsigned)m, (size_t)i);
  }
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = number_of(300u, i);
  const std::vector<__half> halves(parameters.begin(), parameters.begin() + weight_count(width));
  host_to_device(r->weights, halves.data(), 2 * halves.size(), "weights");
  host_to_device(f->p.parameters, parameters.data(), 4 * parameters.size(), "weights");
  host_to_device((void *)f->b.targets, targets.data(), 4 * targets.size(), "targets");
  fill_inputs<<<line_blocks((size_t)r->samples * INPUTS), LINE_THREADS>>>(
      r->samples, (__half *)f->b.inputs, r->layer[0]);
  device_check(cudaDeviceSynchronize(), "numbers");
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
  device_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "a graph");
  for (int i = 0; i < STEPS; ++i) step(what);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return (void)cudaGetLastError(), NAN;
  device_check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
  const float us = time_steps(launch_graph, exec, launches) / STEPS;
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return us;
}

typedef struct contender {
  const char *name;
  void *its;
  step_function forward, train;
  const void *sums; /* of the weights */
  float scale;      /* of the sums */
} contender;

/* Of the outputs that mean something. */
static std::vector<float> read_sums(const contender *c, int width) {
  const size_t count = (size_t)(matrix_first(width, HIDDEN) + REAL_OUTPUTS * width);
  return device_read<float>(c->sums, count, "sums");
}

static double difference(const contender *ours, const contender *theirs, int width) {
  const auto wanted = read_sums(ours, width), got = read_sums(theirs, width);
  double squares = 0.0, whole = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = (double)got[i] / theirs->scale - (double)wanted[i];
    squares += error * error;
    whole += (double)wanted[i] * wanted[i];
  }
  return sqrt(squares / whole);
}

/* Ours is the first. */
static void add_rows(FILE *out, const contender *all, size_t count, int width, int log2) {
  const int steps = log2 < 18 ? 64 : 8, launches = log2 < 18 ? 8 : 1;
  for (int trains = 0; trains < 2; ++trains) {
    float ours[2] = {0.0f, 0.0f};
    for (size_t i = 0; i < count && !interrupts; ++i) {
      const contender *c = &all[i];
      const step_function step = trains ? c->train : c->forward;
      const float us = time_steps(step, c->its, steps), graph = time_graph(step, c->its, launches);
      if (i == 0) ours[0] = us, ours[1] = graph;
      fprintf(out, "%s,%d,%d,%s,%.2f,%.2f,%.2f,%.2f,", trains ? "training" : "forward", width, log2,
              c->name, us, graph, us / ours[0], graph / ours[1]);
      if (trains) fprintf(out, "%.2g", difference(&all[0], c, width));
      fputc('\n', out);
      fflush(out);
    }
  }
}

static void measure_size(FILE *out, int width, int log2) {
  const size_t n = (size_t)1 << log2, floats = sizeof(float);
  rival r = {};
  fused f = {};
  rival_begin(&r, width, (int)n);
  f.p = perceptron_take(&taken, width, true, REAL_OUTPUTS, 1);
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
  std::vector<contender> all = {
      {"fused", &f, fused_forward, fused_train, f.p.sums, 1.0f},
      {"cublaslt", &r, rival_forward, rival_train, r.sums, slope_scale((int)n)}};
  add_rows(out, all.data(), all.size(), width, log2);
}

static bool measure(FILE *out, error_line *error) {
  if (!perceptron_has_tensor()) return error_set(error, "this GPU has no tensor cores that serve");
  device_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  blas_check(cublasLtCreate(&blas), "a handle");
  workspace = take(WORKSPACE);
  fprintf(out, "# cublaslt: %zu; %d hidden layers\n", cublasLtGetVersion(), (int)HIDDEN);
  fprintf(out, "pass,width,batch_log2,by,us,graph_us,x,graph_x,difference\n");
  for (int width = 64; width <= 128; width *= 2)
    for (int log2 = LEAST_LOG2; log2 <= MOST_LOG2 && !interrupts; ++log2) {
      const size_t kept = taken.size();
      measure_size(out, width, log2);
      device_give_back(&taken, kept);
    }
  return true;
}

int main(int argc, char **argv) { return table_program("perceptron_rivals", argc, argv, measure); }
