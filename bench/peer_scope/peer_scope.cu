/* peer_scope.cu - what it costs that two GPUs add to the same rows (ARC_SCOPE_SYSTEM), beside one
   GPU alone and beside rows of their own that are summed by NCCL afterwards.
   SPDX-License-Identifier: Apache-2.0

   Every sum is a whole number below 2^24 and checked, so that an addition that is lost is seen. The
   way `both_device`, two GPUs with device scope, is not legal, and is there for that. */
#include <math.h>
#include <string.h>

#include "examples/common/device.h"
#include "examples/common/device_describe.h"
#include "examples/common/option_values.h"
#include "examples/common/program_run.h"
#include "peer_scope_kernels.cuh"

#if !defined(PEER_HAVE_NCCL)
#define PEER_HAVE_NCCL 0
#endif
#if PEER_HAVE_NCCL
#include <nccl.h>
#endif

enum { GPUS = 2, LAUNCHES = 8, REPEATS = 5, MOST_ROWS = 1000000, MOST_WIDTH = 16 };
static const int updates[] = {32, 2};
static const int row_counts[] = {100, 10000, MOST_ROWS};
static const int widths[] = {1, 4, 9, MOST_WIDTH};
enum { ROW_COUNTS = 3, WIDTHS = 4, PATHS = 2, LINES = ROW_COUNTS * WIDTHS * PATHS };
enum { CELLS = 2 * LINES };

void peer_launch_device(const peer_work *work, cudaStream_t stream) { launch_any(work, stream); }

/* ---- ways to add ----------------------------------------------------------------------------- */

typedef struct way {
  const char *name, *about;
  unsigned gpus; /* which add, one bit each */
  bool is_system, is_reduced, is_legal;
} way;

static const way ways[] = {
    {"local_device", "one GPU, rows in its own memory, device scope", 1u, false, false, true},
    {"local_system", "the same, system scope", 1u, true, false, true},
    {"peer_device", "one GPU, rows in the other one's memory, device scope", 2u, false, false,
     true},
    {"peer_system", "the same, system scope", 2u, true, false, true},
    {"both_system", "two GPUs, rows in the memory of one, system scope", 3u, true, false, true},
    {"all_reduce", "two GPUs, each its own rows, device scope, then an all-reduce by NCCL", 3u,
     false, true, true},
    {"both_device", "as both_system with device scope: not legal", 3u, false, false, false}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct result {
  float ms, low_ms, high_ms; /* of a launch: median, least, most */
  double adds;               /* G a second, of all GPUs */
  double lost;               /* of the sum that was added, what is not there */
} result;

typedef struct gpu_state {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  float *rows, *sums; /* of the all-reduce */
#if PEER_HAVE_NCCL
  ncclComm_t comm;
#endif
} gpu_state;

static gpu_state gpus[GPUS];

static void on_gpu(int gpu) { device_check(cudaSetDevice(gpu), "choosing a GPU"); }

#if PEER_HAVE_NCCL
static void nccl_check(ncclResult_t status, const char *what) {
  if (status == ncclSuccess) return;
  fprintf(stderr, "%s: NCCL says: %s\n", what, ncclGetErrorString(status));
  exit(1);
}

static void begin_all_reduce(void) {
  ncclComm_t comms[GPUS];
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  nccl_check(ncclCommInitAll(comms, GPUS, NULL), "two communicators");
  for (int gpu = 0; gpu < GPUS; ++gpu) gpus[gpu].comm = comms[gpu];
}

static void all_reduce(size_t count) {
  nccl_check(ncclGroupStart(), "an all-reduce");
  for (gpu_state &g : gpus)
    nccl_check(ncclAllReduce(g.rows, g.sums, count, ncclFloat, ncclSum, g.comm, g.stream),
               "an all-reduce");
  nccl_check(ncclGroupEnd(), "an all-reduce");
}

static void end_all_reduce(void) {
  for (gpu_state &g : gpus) ncclCommDestroy(g.comm);
}
#else
static void begin_all_reduce(void) {}
static void all_reduce(size_t) {}
static void end_all_reduce(void) {}
#endif

static bool can_measure(const way *w) { return PEER_HAVE_NCCL || !w->is_reduced; }

/* ---- measuring ------------------------------------------------------------------------------- */

static size_t floats_of(const peer_work *work) {
  return (size_t)work->row_count * (size_t)peer_stride(work->width);
}

static void launch_step(const way *w, peer_work work) {
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    if ((w->gpus >> gpu & 1u) == 0u) continue;
    on_gpu(gpu);
    work.rows = gpus[w->is_reduced ? gpu : 0].rows;
    work.seed = work.seed * 2u + (unsigned)gpu + 1u;
    if (w->is_system)
      peer_launch_system(&work, gpus[gpu].stream);
    else
      peer_launch_device(&work, gpus[gpu].stream);
    device_check(cudaGetLastError(), "a launch");
  }
  if (w->is_reduced) all_reduce(floats_of(&work));
}

static void clear_rows(const peer_work *work) {
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    device_clear(gpus[gpu].rows, floats_of(work) * sizeof(float));
    device_check(cudaDeviceSynchronize(), "clearing rows");
  }
}

/* Milliseconds a launch, until the last GPU is done; both begin together. */
static float time_steps(const way *w, peer_work work, int launches) {
  float longest = 0.0f;
  clear_rows(&work);
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    if (gpu > 0)
      device_check(cudaStreamWaitEvent(gpus[gpu].stream, gpus[0].start, 0), "a common start");
    device_check(cudaEventRecord(gpus[gpu].start, gpus[gpu].stream), "an event");
  }
  for (int i = 0; i < launches; ++i, ++work.seed) launch_step(w, work);
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    float ms = 0.0f;
    on_gpu(gpu);
    device_check(cudaEventRecord(gpus[gpu].stop, gpus[gpu].stream), "an event");
    device_check(cudaStreamSynchronize(gpus[gpu].stream), w->name);
    device_check(cudaEventElapsedTime(&ms, gpus[gpu].start, gpus[gpu].stop), "a time");
    longest = fmaxf(longest, ms);
  }
  return longest / (float)launches;
}

static double adds_of(const way *w, const peer_work *work) {
  return (double)PEER_BLOCKS * PEER_THREADS * work->updates * work->width * (w->gpus == 3u ? 2 : 1);
}

/* What `launches` of them add, less what the rows hold. */
static double lost_sum(const way *w, const peer_work *work, int launches) {
  const size_t count = floats_of(work);
  float *sums = (float *)host_memory(count * sizeof(float));
  double lost = 0.0;
  for (int i = 0; i < work->width; ++i) lost += i % 3 + 1;
  lost *= launches * adds_of(w, work) / work->width;
  device_to_host(sums, w->is_reduced ? gpus[1].sums : gpus[0].rows, count * sizeof(float), "sums");
  for (size_t i = 0; i < count; ++i) lost -= sums[i];
  free(sums);
  return lost;
}

static result measure(const way *w, const peer_work *work) {
  float ms[REPEATS];
  result its = {0.0f, 0.0f, 0.0f, 0.0, 0.0};
  time_steps(w, *work, 1);
  for (int i = 0; i < REPEATS; ++i) {
    ms[i] = time_steps(w, *work, LAUNCHES);
    its.lost += fabs(lost_sum(w, work, LAUNCHES));
  }
  its.ms = median(ms, REPEATS);
  its.low_ms = ms[0];
  its.high_ms = ms[REPEATS - 1];
  its.adds = adds_of(w, work) / its.ms * 1e-6;
  return its;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static bool find_gpus(error_line *error) {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess)
    return error_set(error, "two GPUs are needed: %s", cudaGetErrorString(status));
  if (count < GPUS) return error_set(error, "two GPUs are needed, and there is %d", count);
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    int atomics = 0;
    device_check(
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, gpu, 1 - gpu),
        "asking about peers");
    if (!atomics)
      return error_set(error, "GPU %d does not add atomically to the memory of GPU %d", gpu,
                       1 - gpu);
  }
  return true;
}

static void open_gpus(void) {
  const size_t bytes = sizeof(float) * MOST_ROWS * MOST_WIDTH;
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    gpu_state *g = &gpus[gpu];
    on_gpu(gpu);
    device_check(cudaDeviceEnablePeerAccess(1 - gpu, 0), "opening the other GPU's memory");
    device_check(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "a stream");
    device_check(cudaEventCreate(&g->start), "an event");
    device_check(cudaEventCreate(&g->stop), "an event");
    device_check(cudaMalloc((void **)&g->rows, bytes), "rows");
    device_check(cudaMalloc((void **)&g->sums, bytes), "rows");
  }
  begin_all_reduce();
}

static void close_gpus(void) {
  end_all_reduce();
  for (gpu_state &g : gpus) {
    cudaFree(g.rows);
    cudaFree(g.sums);
    cudaEventDestroy(g.start);
    cudaEventDestroy(g.stop);
    cudaStreamDestroy(g.stream);
  }
}

/* ---- the program ----------------------------------------------------------------------------- */

static void write_head(FILE *out) {
  program_write_head(out);
  on_gpu(0);
  device_describe(out, DEVICE_IN_FILE, 0.0);
  fprintf(out, "# gpus: %d, the policy's scope is that of the way\n", (int)GPUS);
#if PEER_HAVE_NCCL
  int version = 0;
  ncclGetVersion(&version);
  fprintf(out, "# nccl: %d.%d.%d, NVLS off\n", version / 10000, version / 100 % 100, version % 100);
#endif
  for (const way &w : ways) fprintf(out, "# way %s: %s\n", w.name, w.about);
  fprintf(out,
          "# launch: %d blocks of %d threads; 8 neighbouring lanes share a row\n"
          "# column updates: additions of a row that a lane makes in a launch\n"
          "# column ms: of a launch, until both GPUs are done; median, least and most of %d times\n"
          "# column adds: values added by all GPUs, G a second\n"
          "# column lost: of the sum of what was added in %d launches, what is not there\n"
          "updates,rows,width,path,way,ms,low_ms,high_ms,adds,lost\n",
          (int)PEER_BLOCKS, (int)PEER_THREADS, (int)REPEATS, REPEATS * LAUNCHES);
}

static void print_table_head(void) {
  printf("ms a launch, until both GPUs are done\n%7s %8s %5s %-5s", "updates", "rows", "width",
         "path");
  for (const way &w : ways) printf(" %12s", w.name);
  printf(" %10s\n", "lost by it");
}

static void report(FILE *csv, const peer_work *work, const way *w, const result *its) {
  if (csv)
    fprintf(csv, "%d,%d,%d,%s,%s,%.5f,%.5f,%.5f,%.4f,%.0f\n", work->updates, work->row_count,
            work->width, work->is_auto ? "auto" : "plain", w->name, its->ms, its->low_ms,
            its->high_ms, its->adds, its->lost);
  printf(" %12.4f", its->ms);
}

/* One line of the table. False: a legal way lost additions. */
static bool measure_cell(FILE *csv, int cell) {
  const int line = cell % LINES;
  peer_work work = {NULL,
                    row_counts[line / (WIDTHS * PATHS)],
                    updates[cell / LINES],
                    widths[line / PATHS % WIDTHS],
                    line % PATHS == 1,
                    1u,
                    1.0f};
  bool right = true;
  result its = {0.0f, 0.0f, 0.0f, 0.0, 0.0};
  printf("%7d %8d %5d %-5s", work.updates, work.row_count, work.width,
         work.is_auto ? "auto" : "plain");
  for (const way &w : ways) {
    if (!can_measure(&w)) {
      printf(" %12s", "-");
      continue;
    }
    its = measure(&w, &work);
    report(csv, &work, &w, &its);
    right = right && (its.lost == 0.0 || !w.is_legal);
  }
  printf(" %10.0f\n", its.lost);
  return right;
}

static bool parse(int argc, char **argv, const char **csv, error_line *error) {
  for (int i = 1; i < argc; ++i) {
    option_given given;
    if (!option_read(&given, argc, argv, i, error)) return false;
    bool known = !strcmp(given.name, "--csv");
    bool legal = known && parse_file(given.name, given.value, csv, error);
    if (!option_accept(&given, known, legal, &i, error)) return false;
  }
  return !*csv || output_file_probe(*csv, error);
}

static int fail(int status, const char *text) {
  fprintf(stderr, "peer_scope: %s\n", text);
  return status;
}

static bool finish(output_file *file, int cells, error_line *error) {
  if (!interrupts) return output_file_commit(file, error);
  fprintf(file->stream, "# interrupted: after %d of %d lines\n", cells, (int)CELLS);
  return output_file_keep(file, error);
}

int main(int argc, char **argv) {
  const char *csv = NULL;
  output_file file = {};
  error_line error;
  bool right = true;
  int cells = 0;
  if (program_begin("peer_scope", argc, argv)) return 0;
  if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
    printf("usage: peer_scope [--csv FILE]\n");
    return 0;
  }
  if (!parse(argc, argv, &csv, &error)) return fail(2, error.text);
  if (!find_gpus(&error)) return fail(1, error.text);
  if (csv && !output_file_open(&file, csv, &error)) return fail(1, error.text);
  catch_interrupts();
  open_gpus();
  if (csv) write_head(file.stream);
  if (!PEER_HAVE_NCCL) printf("built without NCCL: no all_reduce\n");
  print_table_head();
  for (; cells < CELLS && !interrupts; ++cells) right = measure_cell(file.stream, cells) && right;
  close_gpus();
  if (csv && !finish(&file, cells, &error)) return fail(1, error.text);
  if (!right) return fail(1, "additions were lost: see the column lost of --csv");
  return interrupts ? 130 : 0;
}
