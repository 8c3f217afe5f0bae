/* arc example hashgrid: a small perceptron, run and trained by one kernel each.
   SPDX-License-Identifier: Apache-2.0

   A warp takes TILE samples through all layers. Activations never leave the chip: when training they
   wait in the block's shared memory until the slopes have come back to them, and are replaced by
   these. The gradient of a matrix is the product of slopes and activations over the samples of the
   whole block; each warp has a part of it. At width 64 on tensor cores these sums stay in the
   accumulators from one chunk of samples to the next, and leave once a block. Biases, to which the
   whole grid adds, are hot rows. */
#include "perceptron.h"

#include "arc.cuh"
#include "tiles.cuh"

/* ---- sizes: all literals ---------------------------------------------------------------------- */

#define SIZE_FN static __host__ __device__ constexpr __forceinline__

enum { STAGED = 32, WARP = 32 }; /* columns that a warp adds to memory at once */

SIZE_FN int warps_of(size_t number) { return number == 2 ? 8 : 2; }
SIZE_FN int rows_of(size_t number) { return TILE * warps_of(number); }
/* 16 bytes more than the row, so that rows begin in different banks. */
SIZE_FN int stride_of(int columns) { return columns + 8; }
/* Where the rows of layer l begin, in numbers: 0 the inputs, HIDDEN + 1 the outputs. */
SIZE_FN int layer_first(size_t number, int width, int l) {
  const int before = l == 0 ? 0 : stride_of(INPUTS) + (l - 1) * stride_of(width);
  return rows_of(number) * before;
}
SIZE_FN int train_numbers(size_t number, int width) {
  return layer_first(number, width, HIDDEN + 1) + rows_of(number) * stride_of(OUTPUTS);
}
/* Whether the sums of all matrices fit the registers of a block. */
SIZE_FN bool keeps_sums(size_t number, int width) { return number == 2 && width == 64; }
SIZE_FN int stage_floats(size_t number) { return warps_of(number) * TILE * STAGED; }
SIZE_FN int bias_rows(int width) { return (HIDDEN * width + OUTPUTS) / 2; }
SIZE_FN int hot_floats(size_t number, int width) {
  return ARC_HOT_SUMS(bias_rows(width), 2, WARP * warps_of(number));
}
SIZE_FN size_t train_bytes(size_t number, int width) {
  const int stage = keeps_sums(number, width) ? 0 : stage_floats(number);
  return number * (size_t)train_numbers(number, width) +
         sizeof(float) * (size_t)(stage + hot_floats(number, width));
}
/* Of a matrix's gradient: the warps that share its rows, and the columns that each has. */
SIZE_FN int warps_down(size_t number, int out) {
  return out / TILE < warps_of(number) ? out / TILE : warps_of(number);
}
SIZE_FN int part_columns(size_t number, int out, int in) {
  return in * warps_down(number, out) / warps_of(number);
}

/* ---- what a lane does ------------------------------------------------------------------------- */

DEVICE float_weights weights_of(const float *, const perceptron *p, int width, int m, bool) {
  const float_weights w = {p->parameters + matrix_first(width, m), matrix_in(width, m)};
  return w;
}
#if !SIMT_ON_CPU
DEVICE half_weights weights_of(const __half *, const perceptron *p, int width, int m,
                               bool transposed) {
  const __half *packed = (const __half *)p->packed[transposed] + matrix_first(width, m);
  const half_weights w = {reinterpret_cast<const uint4 *>(packed)};
  return w;
}
#endif

/* The warp's own TILE rows of each layer. */
template <typename number>
DEVICE void load_inputs(number *rows, int stride, const perceptron_batch *b, int first) {
  const int row = lane_of() % TILE;
  UNROLL
  for (int pair = lane_of() / TILE; pair < INPUTS / 2; pair += WARP / TILE) {
    const number *input = (const number *)b->inputs + 2 * ((size_t)pair * b->samples + first + row);
    const float2 v = first + row < b->samples ? load_pair(input) : make_float2(0.0f, 0.0f);
    store_pair(rows + row * stride + 2 * pair, v.x, v.y);
  }
  __syncwarp();
}

template <int columns>
DEVICE void load_bias(float d[columns / 8][4], const float *bias) {
  UNROLL
  for (int j = 0; j < columns / 8; ++j) UNROLL
  for (int e = 0; e < 4; ++e) d[j][e] = bias[bias_place(tile_column(j, e))];
}

template <int columns, typename number>
DEVICE void store_tile(const float d[columns / 8][4], number *rows, int stride) {
  __syncwarp(); /* what was there has been read */
  UNROLL
  for (int j = 0; j < columns / 8; ++j) UNROLL
  for (int e = 0; e < 4; e += 2)
    store_pair(rows + tile_row(e) * stride + tile_column(j, e), d[j][e], d[j][e + 1]);
  __syncwarp();
}

/* Layer m from layer m - 1; `to` may be `from`. */
template <typename number, int width, int in>
DEVICE void run_hidden(const perceptron *p, int m, const number *from, int from_stride, number *to,
                       int to_stride) {
  float d[width / 8][4];
  load_bias<width>(d, p->parameters + bias_first(width, m));
  multiply_rows<width, in, false>(d, from, from_stride, weights_of(from, p, width, m, false));
  UNROLL
  for (int j = 0; j < width / 8; ++j) UNROLL
  for (int e = 0; e < 4; ++e) d[j][e] = fmaxf(d[j][e], 0.0f);
  store_tile<width>(d, to, to_stride);
}

template <typename number, int width>
DEVICE void run_outputs(float d[OUTPUTS / 8][4], const perceptron *p, const number *from) {
  load_bias<OUTPUTS>(d, p->parameters + bias_first(width, HIDDEN));
  multiply_rows<OUTPUTS, width, false>(d, from, stride_of(width),
                                       weights_of(from, p, width, HIDDEN, false));
}

DEVICE void write_outputs(const float d[OUTPUTS / 8][4], const perceptron *p,
                          const perceptron_batch *b, int first) {
  UNROLL
  for (int j = 0; j < OUTPUTS / 8; ++j) UNROLL
  for (int e = 0; e < 4; ++e) {
    const int output = tile_column(j, e), sample = first + tile_row(e);
    if (output < p->outputs && sample < b->samples)
      b->outputs[(size_t)output * b->samples + sample] = d[j][e];
  }
}

/* ---- forward ---------------------------------------------------------------------------------- */

template <typename number, int width>
__global__ void __launch_bounds__(WARP *warps_of(sizeof(number)))
    run(perceptron p, perceptron_batch b) {
  SIMT_DYNAMIC_SHARED(number, shared);
  const int warps = warps_of(sizeof(number)), warp = (int)threadIdx.x / WARP;
  const int stride = stride_of(width);
  number *rows = shared + warp * TILE * stride;
  for (int tile = (int)blockIdx.x * warps + warp; tile * TILE < b.samples;
       tile += (int)gridDim.x * warps) {
    float d[OUTPUTS / 8][4];
    load_inputs(rows, stride, &b, tile * TILE);
    run_hidden<number, width, INPUTS>(&p, 0, rows, stride, rows, stride);
    UNROLL
    for (int m = 1; m < HIDDEN; ++m)
      run_hidden<number, width, width>(&p, m, rows, stride, rows, stride);
    run_outputs<number, width>(d, &p, rows);
    write_outputs(d, &p, &b, tile * TILE);
    __syncwarp();
  }
}

/* ---- training --------------------------------------------------------------------------------- */

/* What a block has, and where the warp's own rows begin in it. */
template <typename number>
struct training {
  number *shared;
  float *stage;     /* the warp's own, to add sums to memory row by row */
  arc_hot_f32 bias; /* rows of two, of all layers */
  int warp, first;  /* sample of the warp's first row */
};

template <typename number, int width>
DEVICE number *own_rows(const training<number> *t, int layer, int columns) {
  return t->shared + layer_first(sizeof(number), width, layer) +
         t->warp * TILE * stride_of(columns);
}

/* The warp's part of a matrix's gradient, its rows from `down` tiles on, added to d; and what the
   first of the warps that share these rows sums beside: the gradient of their biases. Each lane has
   other ones than the rest of its warp, but all blocks add to them. */
template <typename number, int width, int out, int in>
DEVICE void multiply_part(const training<number> *t, int m, int down, float (*d)[4]) {
  const int across = t->warp / warps_down(sizeof(number), out);
  const int columns = part_columns(sizeof(number), out, in);
  const number *slopes = t->shared + layer_first(sizeof(number), width, m + 1) + TILE * down;
  const number *inputs = t->shared + layer_first(sizeof(number), width, m) + columns * across;
  const bool has_bias = across == 0;
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  multiply_columns<columns, rows_of(sizeof(number))>(d, slopes, stride_of(out), inputs,
                                                     stride_of(in), has_bias, sums);
  if (!has_bias) return;
  const float bias[2] = {sums[0], sums[2]};
  const int row = (m * width + TILE * down) / 2 + lane_of() / 4;
  arc_hot_add_f32(&t->bias, row, bias, lane_of() % 4 == 0, ARC_BALANCE_THRESHOLD);
}

/* Adds TILE rows of so many sums to memory, where rows are `in` apart: coalesced, by way of shared
   memory. */
template <int columns>
DEVICE void leave_tile(const float (*d)[4], float *stage, float *sums, int in) {
  const int together = columns < STAGED ? columns : (int)STAGED;
  UNROLL
  for (int first = 0; first < columns; first += together) {
    store_tile<together>(d + first / 8, stage, together);
    for (int i = lane_of(); i < TILE * together; i += WARP)
      atomicAdd(&sums[i / together * in + first + i % together], stage[i]);
  }
}

template <typename number, int width, int out, int in>
DEVICE void leave_part(const training<number> *t, const perceptron *p, int m, int down,
                       const float (*d)[4]) {
  const int columns = part_columns(sizeof(number), out, in);
  const int across = t->warp / warps_down(sizeof(number), out);
  leave_tile<columns>(d, t->stage,
                      p->sums + matrix_first(width, m) + TILE * down * in + columns * across, in);
}

/* The block: the gradient of matrix m, from the slopes and inputs that all its warps have stored.
   Added to `kept`, or to memory where there is no room. */
template <typename number, int width, int out, int in>
DEVICE void add_matrix(const training<number> *t, const perceptron *p, int m, float (*kept)[4]) {
  const int warps = warps_down(sizeof(number), out),
            columns = part_columns(sizeof(number), out, in);
  __syncthreads();
  if (keeps_sums(sizeof(number), width)) {
    multiply_part<number, width, out, in>(t, m, t->warp % warps, kept);
  } else {
    for (int down = t->warp % warps; down < out / TILE; down += warps) {
      float d[columns / 8][4] = {};
      multiply_part<number, width, out, in>(t, m, down, d);
      leave_part<number, width, out, in>(t, p, m, down, d);
    }
  }
  __syncthreads();
}

/* The slopes of layer m from those of layer m + 1, and the gradient between the two. */
template <typename number, int width, int out>
DEVICE void train_hidden(const training<number> *t, const perceptron *p, int m, float (*kept)[4]) {
  const number *slopes = own_rows<number, width>(t, m + 1, out);
  number *rows = own_rows<number, width>(t, m, width);
  float d[width / 8][4] = {};
  multiply_rows<width, out, true>(d, slopes, stride_of(out), weights_of(slopes, p, width, m, true));
  add_matrix<number, width, out, width>(t, p, m, kept);
  UNROLL
  for (int j = 0; j < width / 8; ++j) UNROLL
  for (int e = 0; e < 4; e += 2) {
    const float2 active = load_pair(rows + tile_row(e) * stride_of(width) + tile_column(j, e));
    d[j][e] = active.x > 0.0f ? d[j][e] : 0.0f;
    d[j][e + 1] = active.y > 0.0f ? d[j][e + 1] : 0.0f;
  }
  store_tile<width>(d, rows, stride_of(width));
}

template <typename number, int width>
DEVICE void train_inputs(const training<number> *t, const perceptron *p, const perceptron_batch *b,
                         float (*kept)[4]) {
  const number *slopes = own_rows<number, width>(t, 1, width);
  float d[INPUTS / 8][4] = {};
  multiply_rows<INPUTS, width, true>(d, slopes, stride_of(width),
                                     weights_of(slopes, p, width, 0, true));
  add_matrix<number, width, width, INPUTS>(t, p, 0, kept);
  UNROLL
  for (int j = 0; j < INPUTS / 8; ++j) UNROLL
  for (int e = 0; e < 4; e += 2) {
    const int sample = t->first + tile_row(e), pair = tile_column(j, e) / 2;
    if (sample < b->samples)
      store_pair(b->slopes + 2 * ((size_t)pair * b->samples + sample), d[j][e], d[j][e + 1]);
  }
}

/* The loss by each output: d, in; the output, out. */
DEVICE void train_outputs(float d[OUTPUTS / 8][4], const perceptron *p, const perceptron_batch *b,
                          int first) {
  UNROLL
  for (int j = 0; j < OUTPUTS / 8; ++j) UNROLL
  for (int e = 0; e < 4; ++e) {
    const int output = tile_column(j, e), sample = first + tile_row(e);
    const bool counts = output < p->outputs && sample < b->samples;
    d[j][e] = counts ? d[j][e] - b->targets[(size_t)output * b->samples + sample] : 0.0f;
  }
}

template <typename number, int width>
DEVICE training<number> begin_training(number *shared, const perceptron *p) {
  training<number> t;
  float *sums = p->sums + bias_first(width, 0);
  float *hot = (float *)(shared + train_numbers(sizeof(number), width));
  t.shared = shared;
  t.warp = (int)threadIdx.x / WARP;
  t.bias = arc_hot_begin_f32(arc_target_f32_rows(sums, 2, 2), hot, 0, bias_rows(width));
  t.stage =
      keeps_sums(sizeof(number), width) ? (float *)shared : hot + hot_floats(sizeof(number), width);
  t.stage += t.warp * TILE * STAGED;
  return t;
}

template <typename number, int width>
DEVICE void run_forward(const training<number> *t, const perceptron *p, const perceptron_batch *b) {
  number *inputs = own_rows<number, width>(t, 0, INPUTS);
  number *rows = own_rows<number, width>(t, 1, width);
  const int layer = rows_of(sizeof(number)) * stride_of(width);
  load_inputs(inputs, stride_of(INPUTS), b, t->first);
  run_hidden<number, width, INPUTS>(p, 0, inputs, stride_of(INPUTS), rows, stride_of(width));
  UNROLL
  for (int m = 1; m < HIDDEN; ++m, rows += layer)
    run_hidden<number, width, width>(p, m, rows, stride_of(width), rows + layer, stride_of(width));
}

/* Gradient of each matrix: the warp's part of it; of one number where nothing is kept. */
template <typename number, int width>
struct kept_sums {
  static constexpr bool keeps = keeps_sums(sizeof(number), width);
  float first[keeps ? part_columns(sizeof(number), width, INPUTS) / 8 : 1][4];
  float hidden[HIDDEN - 1][keeps ? part_columns(sizeof(number), width, width) / 8 : 1][4];
  float last[keeps ? part_columns(sizeof(number), OUTPUTS, width) / 8 : 1][4];
};

template <typename number, int width>
DEVICE void leave_kept(const training<number> *t, const perceptron *p,
                       const kept_sums<number, width> *k) {
  const int down = t->warp % warps_down(sizeof(number), width);
  __syncthreads(); /* the stages lie where activations were */
  leave_part<number, width, width, INPUTS>(t, p, 0, down, k->first);
  UNROLL
  for (int m = 1; m < HIDDEN; ++m)
    leave_part<number, width, width, width>(t, p, m, down, k->hidden[m - 1]);
  leave_part<number, width, OUTPUTS, width>(t, p, HIDDEN, 0, k->last);
}

template <typename number, int width>
__global__ void __launch_bounds__(WARP *warps_of(sizeof(number)),
                                  keeps_sums(sizeof(number), width) ? 2 : 1)
    train(perceptron p, perceptron_batch b) {
  SIMT_DYNAMIC_SHARED(number, shared);
  training<number> t = begin_training<number, width>(shared, &p);
  kept_sums<number, width> kept = {};
  const int rows = rows_of(sizeof(number));
  for (int chunk = (int)blockIdx.x * rows; chunk < b.samples; chunk += (int)gridDim.x * rows) {
    float d[OUTPUTS / 8][4];
    t.first = chunk + t.warp * TILE;
    __syncthreads();
    run_forward<number, width>(&t, &p, &b);
    run_outputs<number, width>(d, &p, own_rows<number, width>(&t, HIDDEN, width));
    if (b.outputs != nullptr) write_outputs(d, &p, &b, t.first);
    train_outputs(d, &p, &b, t.first);
    store_tile<OUTPUTS>(d, own_rows<number, width>(&t, HIDDEN + 1, OUTPUTS), stride_of(OUTPUTS));
    train_hidden<number, width, OUTPUTS>(&t, &p, HIDDEN, kept.last);
    UNROLL
    for (int m = HIDDEN - 1; m > 0; --m)
      train_hidden<number, width, width>(&t, &p, m, kept.hidden[m - 1]);
    train_inputs<number, width>(&t, &p, &b, kept.first);
  }
  if constexpr (keeps_sums(sizeof(number), width)) leave_kept(&t, &p, &kept);
  arc_hot_end_f32(&t.bias, true);
}

/* ---- host ------------------------------------------------------------------------------------- */

#if !SIMT_ON_CPU
/* One word, two halves that follow each other in depth, for either product. */
__global__ void __launch_bounds__(LINE_THREADS) pack(perceptron p) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), width = p.width;
  int m = HIDDEN;
  if (2 * i >= weight_count(width)) return;
  while (2 * i < matrix_first(width, m)) --m;
  const int in = matrix_in(width, m), out = matrix_out(width, m);
  const float *weights = p.parameters + matrix_first(width, m);
  const int word = i - matrix_first(width, m) / 2, lane = word / 4 % 32, tile = word / 128;
  for (int transposed = 0; transposed < 2; ++transposed) {
    const int across = (transposed ? in : out) / 16;
    const int k = tile / across * 16 + lane % 4 * 2 + word % 2 * 8;
    const int c = tile % across * 16 + lane / 4 + word % 4 / 2 * 8;
    const float x = transposed ? weights[k * in + c] : weights[c * in + k];
    const float y = transposed ? weights[(k + 1) * in + c] : weights[c * in + k + 1];
    ((__half2 *)p.packed[transposed])[i] = __floats2half2_rn(x, y);
  }
}

bool perceptron_has_tensor(void) {
  int major = 0;
  device_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "a device");
  return major >= 8;
}

void perceptron_pack(const perceptron *p, cudaStream_t stream) {
  if (!p->tensor) return;
  SIMT_LAUNCH(pack, line_blocks((size_t)weight_count(p->width) / 2), LINE_THREADS, 0, stream, *p);
}
#else
bool perceptron_has_tensor(void) { return false; }
void perceptron_pack(const perceptron *, cudaStream_t) {}
#endif

typedef void (*perceptron_kernel)(perceptron, perceptron_batch);

/* How many blocks the device holds at once. */
static int resident_blocks(perceptron_kernel kernel, int threads, size_t bytes) {
#if SIMT_ON_CPU
  (void)kernel, (void)threads, (void)bytes;
  return 2;
#else
  int processors, resident;
  device_check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
      "shared memory of a block");
  device_check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "a device");
  device_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes),
               "shared memory of a block");
  return processors * resident;
#endif
}

template <typename number, int width, bool trains>
static void launch(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
  const perceptron_kernel kernel = trains ? train<number, width> : run<number, width>;
  const int threads = WARP * warps_of(sizeof(number)), rows = rows_of(sizeof(number));
  const size_t bytes = trains ? train_bytes(sizeof(number), width)
                              : sizeof(number) * (size_t)(rows * stride_of(width));
  static const int most = resident_blocks(kernel, threads, bytes);
  const int blocks = (b->samples + rows - 1) / rows;
  SIMT_LAUNCH(kernel, blocks < most ? blocks : most, threads, bytes, stream, *p, *b);
}

template <typename number, bool trains>
static void launch_width(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
  (p->width == 128 ? launch<number, 128, trains> : launch<number, 64, trains>)(p, b, stream);
}

void perceptron_run(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
#if !SIMT_ON_CPU
  if (p->tensor) return launch_width<__half, false>(p, b, stream);
#endif
  launch_width<float, false>(p, b, stream);
}

void perceptron_train(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
#if !SIMT_ON_CPU
  if (p->tensor) return launch_width<__half, true>(p, b, stream);
#endif
  launch_width<float, true>(p, b, stream);
}
