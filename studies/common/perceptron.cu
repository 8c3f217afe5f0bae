/* arc studies: a small perceptron, run and trained by one kernel each.
   SPDX-License-Identifier: Apache-2.0

   A warp takes TILE samples, or twice as many, through all layers and the slopes back, in registers
   (matrix_tiles.cuh). In training the block's shared memory also keeps the activations of a layer
   until the slopes have come back to the layer and replace them. The gradient of a matrix is the
   product of slopes and activations over the samples of the block; each warp has a part of it. At
   width 64 on tensor cores these sums stay in the accumulators from one chunk of samples to the
   next, and leave once per block. The matrix unit also sums the gradients of the biases. Biases are
   hot rows: all blocks of the grid add to them. */
#include "perceptron.h"

#include <math.h>

#include <vector>

#include "arc.cuh"
#include "arc/hot.cuh"
#include "arrays.h"
#include "matrix_tiles.cuh"
#include "../../bench/common/random.h"

/* ---- sizes: all literals --------------------------------------------------------------------- */

#define SIZE_FN static __host__ __device__ constexpr __forceinline__

enum { WARP = 32, STAGED = 32 }; /* STAGED: columns that a warp adds to memory at once */

/* Of a block that trains; one that runs has half as many warps of twice the samples. */
SIZE_FN int warps_of(size_t number) { return number == 2 ? 8 : 2; }
SIZE_FN int rows_of(size_t number) { return TILE * warps_of(number); }
SIZE_FN int run_tiles(size_t number) { return number == 2 ? 2 : 1; }
SIZE_FN int run_threads(size_t number) { return WARP * warps_of(number) / run_tiles(number); }
/* Where the rows of layer l begin, in numbers: 0 the inputs, HIDDEN + 1 the outputs. */
SIZE_FN int layer_first(size_t number, int width, int l) {
  return rows_of(number) * (l == 0 ? 0 : stride_of(INPUTS) + (l - 1) * stride_of(width));
}
SIZE_FN int train_numbers(size_t number, int width) {
  return layer_first(number, width, HIDDEN + 1) + rows_of(number) * stride_of(OUTPUTS);
}
/* Whether the sums of all matrices fit the registers of a block. */
SIZE_FN bool keeps_sums(size_t number, int width) { return number == 2 && width == 64; }
SIZE_FN int bias_rows(int width) { return (HIDDEN * width + OUTPUTS) / 2; }
SIZE_FN int hot_floats(size_t number, int width) {
  return ARC_HOT_BYTES(4, bias_rows(width), 2, WARP * warps_of(number)) / 4;
}
SIZE_FN size_t train_bytes(size_t number, int width) {
  const int stage = keeps_sums(number, width) ? 0 : rows_of(number) * STAGED;
  return number * (size_t)train_numbers(number, width) +
         sizeof(float) * (size_t)(stage + hot_floats(number, width));
}
SIZE_FN int bias_bytes(int width) { return 4 * (HIDDEN * width + OUTPUTS); }
SIZE_FN size_t run_bytes(size_t number, int width) {
  return number == 2 ? 2 * (size_t)weight_count(width) + (size_t)bias_bytes(width)
                     : number * (size_t)(2 * rows_of(number) * stride_of(width));
}
/* Columns of a layer that a warp has sums of at once. */
SIZE_FN int together_of(int columns) { return columns / (columns > (int)INPUTS ? 2 : 1); }
/* Of a matrix's gradient: the warps that share its rows, and the columns that each has. */
SIZE_FN int warps_down(size_t number, int out) {
  return out / TILE < warps_of(number) ? out / TILE : warps_of(number);
}
SIZE_FN int part_columns(size_t number, int out, int in) {
  return in * warps_down(number, out) / warps_of(number);
}

/* ---- forward --------------------------------------------------------------------------------- */

template <typename number, int tiles>
DEVICE void load_inputs(activations<number, tiles, INPUTS> *to, const perceptron_batch *b,
                        int first) {
  typedef typename pair_of<number>::type pair;
  UNROLL
  for (int i = 0; i < tiles * INPUTS / 4; ++i) {
    const int input = pair_column<INPUTS>(i) / 2, sample = first + pair_row<INPUTS>(i);
    const pair *its = (const pair *)b->inputs + (size_t)input * b->samples + sample;
    to->pairs[i] = sample < b->samples ? *its : pair();
  }
  if (to->rows != nullptr) store_rows(*to);
}

/* A lane's four of 16 columns lie together (bias_place). */
template <int tiles, int columns>
DEVICE void add_bias(float *d, const float *bias) {
  UNROLL
  for (int j = 0; j < columns / TILE; ++j) {
    const int place = TILE * j + bias_place(tile_column(0));
    const float4 x = *reinterpret_cast<const float4 *>(bias + place);
    const float of[4] = {x.x, x.z, x.y, x.w};
    UNROLL
    for (int i = 0; i < tiles * 8; ++i)
      d[i / 8 * columns / 2 + 8 * j + i % 8] += of[i / 4 % 2 * 2 + i % 2];
  }
}

/* Layer m + 1 from layer m. */
template <int tiles, int in, int width, typename number>
DEVICE void run_hidden(const perceptron *p, const float *biases, int m,
                       const activations<number, tiles, in> &from,
                       activations<number, tiles, width> *to) {
  constexpr int together = together_of(width), pairs = together / 4;
  UNROLL
  for (int first = 0; first < width; first += together) {
    float d[tiles * together / 2] = {};
    multiply_rows<together, false>(d, from, p, m, first);
    add_bias<tiles, together>(d, biases + m * width + first);
    UNROLL
    for (int i = 0; i < tiles * pairs; ++i) {
      const int place = i / pairs * (width / 4) + first / 4 + i % pairs;
      store_clamped((number *)&to->pairs[place], d[2 * i], d[2 * i + 1]);
    }
  }
  if (to->rows != nullptr) store_rows(*to);
}

template <int tiles, int width, typename number>
DEVICE void run_outputs(float *d, const perceptron *p, const float *biases,
                        const activations<number, tiles, width> &from) {
  multiply_rows<OUTPUTS, false>(d, from, p, HIDDEN, 0);
  add_bias<tiles, OUTPUTS>(d, biases + HIDDEN * width);
}

template <int tiles>
DEVICE void write_outputs(const float *d, const perceptron *p, const perceptron_batch *b,
                          int first) {
  UNROLL
  for (int i = 0; i < tiles * OUTPUTS / 2; ++i) {
    const int output = tile_column(i % (OUTPUTS / 2));
    const int sample = first + TILE * (i / (OUTPUTS / 2)) + tile_row(i);
    if (output < p->outputs && sample < b->samples)
      b->outputs[(size_t)output * b->samples + sample] = d[i];
  }
}

/* By the whole block, all requests at once. */
template <int bytes, int threads>
DEVICE void copy_to_block(void *to, const void *from) {
  UNROLL
  for (int i = 0; i < bytes / 16; i += threads) {
    const int place = i + (int)threadIdx.x;
    if (place < bytes / 16) ((uint4 *)to)[place] = ((const uint4 *)from)[place];
  }
}

/* Halves: weights and biases are read from shared memory. Floats: layers take turns in two arrays
   of rows there. */
template <typename number, int width>
__global__ void __launch_bounds__(run_threads(sizeof(number)))
    run(perceptron p, perceptron_batch b) {
  SIMT_DYNAMIC_SHARED(number, shared);
  const int tiles = run_tiles(sizeof(number)), step = (int)(gridDim.x * blockDim.x) / WARP;
  const float *biases = p.parameters + weight_count(width);
  int first = (int)(blockIdx.x * blockDim.x + threadIdx.x) / WARP * tiles * TILE;
  activations<number, tiles, INPUTS> inputs;
  activations<number, tiles, width> layers[2];
  if constexpr (sizeof(number) == 2) {
    number *own = shared + weight_count(width);
    copy_to_block<2 * weight_count(width), run_threads(2)>(shared, p.packed[0]);
    copy_to_block<bias_bytes(width), run_threads(2)>(own, biases);
    __syncthreads();
    p.packed[0] = shared;
    biases = (const float *)own;
  } else {
    for (int i = 0; i < 2; ++i)
      layers[i].rows =
          shared + (2 * ((int)threadIdx.x / WARP) + i) * tiles * TILE * stride_of(width);
    inputs.rows = layers[0].rows;
  }
  p.width = width; /* a literal from here on */
  for (; first < b.samples; first += step * tiles * TILE) {
    float d[tiles * OUTPUTS / 2] = {};
    load_inputs(&inputs, &b, first);
    run_hidden<tiles, INPUTS, width>(&p, biases, 0, inputs, &layers[1]);
    UNROLL
    for (int m = 1; m < HIDDEN; ++m)
      run_hidden<tiles, width, width>(&p, biases, m, layers[m % 2], &layers[(m + 1) % 2]);
    run_outputs<tiles, width>(d, &p, biases, layers[HIDDEN % 2]);
    write_outputs<tiles>(d, &p, &b, first);
    __syncwarp();
  }
}

/* ---- training -------------------------------------------------------------------------------- */

/* A block's shared memory, and what the warp has of it. */
template <typename number>
struct training {
  number *shared;
  float *stage;     /* the warp's own, to add sums to memory row by row */
  arc_hot_f32 bias; /* rows of two, of all layers */
  int warp, first;  /* sample of the warp's first row */
};

/* The warp's own rows of a layer. */
template <int width, typename number>
DEVICE number *own_rows(const training<number> *t, int layer, int columns) {
  return t->shared + layer_first(sizeof(number), width, layer) +
         t->warp * TILE * stride_of(columns);
}

/* The warp's part of a matrix's gradient, its rows from tile `down` on, added to d; and what the
   first of the warps that share these rows sums beside: the gradient of their biases. Each lane has
   other ones than the rest of its warp, but all blocks add to them. */
template <int width, int out, int in, typename number>
DEVICE void multiply_part(const training<number> *t, int m, int down, float *d) {
  const int columns = part_columns(sizeof(number), out, in);
  const int across = t->warp / warps_down(sizeof(number), out);
  const number *slopes = t->shared + layer_first(sizeof(number), width, m + 1) + TILE * down;
  const number *inputs = t->shared + layer_first(sizeof(number), width, m) + columns * across;
  const bool has_bias = across == 0;
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  multiply_columns<columns, rows_of(sizeof(number))>(d, slopes, stride_of(out), inputs,
                                                     stride_of(in), has_bias, sums);
  if (!has_bias) return;
  const float bias[2] = {sums[0], sums[2]};
  const int row = (m * width + TILE * down) / 2 + lane_of() / 4;
  arc_hot_add_f32(&t->bias, row, bias, lane_of() % 4 == 0);
}

/* Adds it to memory, coalesced by way of shared memory: d is laid out for products. */
template <int width, int out, int in, typename number>
DEVICE void leave_part(const training<number> *t, const perceptron *p, int m, int down,
                       const float *d) {
  const int columns = part_columns(sizeof(number), out, in);
  const int across = t->warp / warps_down(sizeof(number), out);
  const int together = columns < STAGED ? columns : (int)STAGED;
  float *sums = p->sums + matrix_first(width, m) + TILE * down * in + columns * across;
  UNROLL
  for (int first = 0; first < columns; first += together, d += together / 2) {
    __syncwarp(); /* what was there has been read */
    UNROLL
    for (int i = 0; i < together / 2; i += 2)
      store_pair(t->stage + tile_row(i) * together + tile_column(i), d[i], d[i + 1]);
    __syncwarp();
    for (int i = lane_of(); i < TILE * together; i += WARP)
      atomicAdd(&sums[i / together * in + first + i % together], t->stage[i]);
  }
}

/* The block: the gradient of matrix m, from the slopes and inputs that all its warps have stored.
   Added to `kept`, or to memory where there is no room. */
template <int width, int out, int in, typename number>
DEVICE void add_matrix(const training<number> *t, const perceptron *p, int m, float *kept) {
  const int warps = warps_down(sizeof(number), out);
  __syncthreads();
  if (keeps_sums(sizeof(number), width)) {
    multiply_part<width, out, in>(t, m, t->warp % warps, kept);
  } else {
    for (int down = t->warp % warps; down < out / TILE; down += warps) {
      float d[part_columns(sizeof(number), out, in) / 2] = {};
      multiply_part<width, out, in>(t, m, down, d);
      leave_part<width, out, in>(t, p, m, down, d);
    }
  }
  __syncthreads();
}

/* The slopes of layer m from those of layer m + 1, and the gradient between the two. */
template <int width, int out, int in, typename number>
DEVICE void train_layer(const training<number> *t, const perceptron *p, const perceptron_batch *b,
                        int m, const activations<number, 1, out> &from,
                        activations<number, 1, in> *to, float *kept) {
  number *rows = own_rows<width>(t, m, in);
  constexpr int together = together_of(in);
  UNROLL
  for (int first = 0; first < in; first += together) {
    float d[together / 2] = {};
    multiply_rows<together, true>(d, from, p, m, first);
    UNROLL
    for (int i = 0; i < together / 4; ++i) {
      const int row = tile_row(2 * i), column = first + tile_column(2 * i);
      if (m > 0) { /* of a hidden neuron */
        const float2 input = load_pair(rows + row * stride_of(in) + column);
        store_pair((number *)&to->pairs[first / 4 + i], input.x > 0.0f ? d[2 * i] : 0.0f,
                   input.y > 0.0f ? d[2 * i + 1] : 0.0f);
      } else if (t->first + row < b->samples) {
        const size_t place = (size_t)(column / 2) * b->samples + (size_t)(t->first + row);
        store_pair(b->slopes + 2 * place, d[2 * i], d[2 * i + 1]);
      }
    }
  }
  add_matrix<width, out, in>(t, p, m, kept);
  to->rows = rows; /* nobody needs the layer itself any more */
  if (m > 0) store_rows(*to);
}

/* In: the outputs. Out: the loss by each of them. */
template <typename number>
DEVICE void train_outputs(float *d, const perceptron *p, const perceptron_batch *b, int first,
                          activations<number, 1, OUTPUTS> *to) {
  UNROLL
  for (int i = 0; i < OUTPUTS / 2; ++i) {
    const int output = tile_column(i), sample = first + tile_row(i);
    const bool counts = output < p->outputs && sample < b->samples;
    const float loss = counts && b->losses != nullptr ? b->losses[sample] : 1.0f;
    d[i] = counts ? loss * (d[i] - b->targets[(size_t)output * b->samples + sample]) : 0.0f;
  }
  UNROLL
  for (int i = 0; i < OUTPUTS / 4; ++i) store_pair((number *)&to->pairs[i], d[2 * i], d[2 * i + 1]);
  store_rows(*to);
}

template <int width, typename number>
DEVICE training<number> begin_training(number *shared, const perceptron *p) {
  training<number> t;
  float *hot = (float *)(shared + train_numbers(sizeof(number), width));
  const arc_target_f32 bias = arc_target_f32_rows(p->sums + bias_first(width, 0), 2, 2);
  t.shared = shared;
  t.warp = (int)threadIdx.x / WARP;
  t.bias = arc_hot_begin_f32(bias, hot, 0, bias_rows(width));
  /* What is kept leaves when nobody needs activations any more. */
  t.stage =
      keeps_sums(sizeof(number), width) ? (float *)shared : hot + hot_floats(sizeof(number), width);
  t.stage += t.warp * TILE * STAGED;
  return t;
}

/* All hidden layers, each to rows of its own. */
template <int width, typename number>
DEVICE void run_chunk(const training<number> *t, const perceptron *p, const perceptron_batch *b,
                      activations<number, 1, width> *last) {
  const float *biases = p->parameters + weight_count(width);
  activations<number, 1, INPUTS> inputs;
  activations<number, 1, width> layer;
  inputs.rows = own_rows<width>(t, 0, INPUTS);
  layer.rows = own_rows<width>(t, 1, width);
  load_inputs(&inputs, b, t->first);
  run_hidden<1, INPUTS, width>(p, biases, 0, inputs, &layer);
  UNROLL
  for (int m = 1; m < HIDDEN; ++m) {
    last->rows = own_rows<width>(t, m + 1, width);
    run_hidden<1, width, width>(p, biases, m, layer, last);
    layer = *last;
  }
}

/* The warp's part of each matrix's gradient; of one number where nothing is kept. */
template <typename number, int width>
struct kept_sums {
  static constexpr bool keeps = keeps_sums(sizeof(number), width);
  float first[keeps ? part_columns(sizeof(number), width, INPUTS) / 2 : 1];
  float hidden[HIDDEN - 1][keeps ? part_columns(sizeof(number), width, width) / 2 : 1];
  float last[keeps ? part_columns(sizeof(number), OUTPUTS, width) / 2 : 1];
};

template <typename number, int width>
DEVICE void leave_kept(const training<number> *t, const perceptron *p,
                       const kept_sums<number, width> *k) {
  const int down = t->warp % warps_down(sizeof(number), width);
  __syncthreads(); /* the stages lie where activations were */
  leave_part<width, width, INPUTS>(t, p, 0, down, k->first);
  UNROLL
  for (int m = 1; m < HIDDEN; ++m) leave_part<width, width, width>(t, p, m, down, k->hidden[m - 1]);
  leave_part<width, OUTPUTS, width>(t, p, HIDDEN, 0, k->last);
}

/* With kept sums two blocks of 128 registers hide each other's waiting: on an H200 they ran
   at 1.13x the speed of one block of 218 registers at 2^21 samples, at 0.84x at 2^14. */
template <typename number, int width>
__global__ void __launch_bounds__(WARP *warps_of(sizeof(number)),
                                  keeps_sums(sizeof(number), width) ? 2 : 1)
    train(perceptron p, perceptron_batch b) {
  SIMT_DYNAMIC_SHARED(number, shared);
  if (p.by_blocks) p.sums += (size_t)blockIdx.x * parameter_count(width);
  training<number> t = begin_training<width>(shared, &p);
  kept_sums<number, width> kept = {};
  const int rows = rows_of(sizeof(number));
  p.width = width; /* a literal from here on */
  for (int chunk = (int)blockIdx.x * rows; chunk < b.samples; chunk += (int)gridDim.x * rows) {
    float d[OUTPUTS / 2] = {};
    t.first = chunk + t.warp * TILE;
    __syncthreads();
    activations<number, 1, width> layers[2];
    run_chunk<width>(&t, &p, &b, &layers[0]);
    run_outputs<1, width>(d, &p, p.parameters + weight_count(width), layers[0]);
    activations<number, 1, OUTPUTS> outputs;
    outputs.rows = own_rows<width>(&t, HIDDEN + 1, OUTPUTS);
    train_outputs(d, &p, &b, t.first, &outputs);
    train_layer<width, OUTPUTS, width>(&t, &p, &b, HIDDEN, outputs, &layers[1], kept.last);
    UNROLL
    for (int m = HIDDEN - 1; m > 0; --m)
      train_layer<width, width, width>(&t, &p, &b, m, layers[(HIDDEN - m) % 2],
                                       &layers[(HIDDEN - m + 1) % 2], kept.hidden[m - 1]);
    activations<number, 1, INPUTS> inputs;
    train_layer<width, width, INPUTS>(&t, &p, &b, 0, layers[HIDDEN % 2], &inputs, kept.first);
  }
  if constexpr (keeps_sums(sizeof(number), width)) leave_kept(&t, &p, &kept);
  arc_hot_end_f32(&t.bias);
}

/* ---- host ------------------------------------------------------------------------------------ */

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

perceptron perceptron_take(device_pool *pool, int width, bool tensor, int outputs, int blocks) {
  const size_t count = (size_t)parameter_count(width);
  const auto take = [&](size_t floats) { return take_zeros<float>(pool, floats, "a perceptron"); };
  return {width,
          tensor,
          outputs,
          take(count),
          take(count * (size_t)blocks),
          blocks > 1,
          {take(count / 2), take(count / 2)}};
}

void perceptron_reset(const perceptron *p, unsigned long long seed) {
  std::vector<float> parameters((size_t)parameter_count(p->width), 0.0f);
  for (int m = 0; m < MATRICES; ++m) {
    const float limit = sqrtf(6.0f / (float)matrix_in(p->width, m));
    const int first = matrix_first(p->width, m), rows = m == HIDDEN ? p->outputs : p->width;
    for (int i = first; i < first + rows * matrix_in(p->width, m); ++i)
      parameters[(size_t)i] = limit * (2.0f * hashed_random(seed, (unsigned long long)i) - 1.0f);
  }
  host_to_device(p->parameters, parameters.data(), parameters.size() * sizeof(float),
                 "the perceptron");
  perceptron_pack(p, 0);
}

int perceptron_blocks(bool tensor, int samples) {
  const int rows = rows_of(tensor ? 2 : sizeof(float));
  return (samples + rows - 1) / rows;
}

typedef void (*perceptron_kernel)(perceptron, perceptron_batch);

/* A block has rows_of samples, whether it runs or trains. */
template <typename number, int width, bool trains>
static void launch(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
  const size_t size = sizeof(number);
  const perceptron_kernel kernel = trains ? train<number, width> : run<number, width>;
  const size_t bytes = trains ? train_bytes(size, width) : run_bytes(size, width);
  const int threads = trains ? WARP * warps_of(size) : run_threads(size);
  static const int most = resident_blocks(kernel, threads, bytes);
  const int blocks = perceptron_blocks(p->tensor, b->samples);
  SIMT_LAUNCH(kernel, blocks < most ? blocks : most, threads, bytes, stream, *p, *b);
}

template <bool trains>
static void launch_as(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
#if !SIMT_ON_CPU
  if (p->tensor)
    return (p->width == 128 ? launch<__half, 128, trains> : launch<__half, 64, trains>)(p, b,
                                                                                        stream);
#endif
  (p->width == 128 ? launch<float, 128, trains> : launch<float, 64, trains>)(p, b, stream);
}

void perceptron_run(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
  launch_as<false>(p, b, stream);
}

void perceptron_train(const perceptron *p, const perceptron_batch *b, cudaStream_t stream) {
  launch_as<true>(p, b, stream);
}
