/* test_peer.cu - ARC_SCOPE_SYSTEM: two GPUs add to the same rows at the same time.
   SPDX-License-Identifier: Apache-2.0

   The kernels and the oracle are those of other tests: every form on every path, every type, rows
   in memory. Each launch goes to both GPUs, which share the active lanes, so that every addition
   is made once; the rows lie in the memory of one of them, --home 0 or 1, by default first the one
   and then the other. Before each update a GPU waits until the other one has come that far: where
   the kernels do not run at the same time, the test fails. All sums have one right answer. */
#define CHECK_BEFORE_UPDATE(n) meet_other_gpu(n)
#include "check.cuh"

#if ARC_SCOPE != ARC_SCOPE_SYSTEM
#error "test_peer.cu is about ARC_SCOPE_SYSTEM"
#endif

/* ---- two kernels at a time ------------------------------------------------------------------- */

enum { GPUS = 2 };
static const long long LONGEST_WAIT = 4000000000ll; /* clocks: about two seconds */

struct meeting {
  int updates[GPUS]; /* that each has begun */
  int missed;
};

static struct meeting *meeting; /* in the memory of GPU 0 */
static __device__ struct meeting *device_meeting;
static __device__ int this_gpu;

static __device__ void meet_other_gpu(int update) {
  volatile struct meeting *m = device_meeting;
  const long long start = clock64();
  atomicMax_system(&device_meeting->updates[this_gpu], update + 1);
  while (m->updates[1 - this_gpu] <= update && !m->missed)
    if (clock64() - start > LONGEST_WAIT) m->missed = 1;
}

/* The part of the active lanes that one GPU takes: of some warps all of them, or none. */
static void keep_share(unsigned *masks, size_t count, int gpu) {
  struct check_random r = {splitmix64(check.seed, 0) + (unsigned long long)check.number};
  for (size_t i = 0; i < count; ++i) {
    const int kind = check_below(&r, 4);
    const unsigned share = kind == 0 ? 0u : kind == 1 ? 0xffffffffu : check_bits(&r);
    masks[i] &= gpu == 0 ? share : ~share;
  }
}

#if defined(TEST_TYPES_PART) || defined(TEST_PEER_ROWS) /* their plans hold the masks */
template <typename any_plan>
static void begin_share(any_plan *plan, int gpu, dim3) {
  keep_share(plan->active, sizeof plan->active / sizeof *plan->active, gpu);
}

template <typename any_plan>
static void end_share(any_plan *) {}
#else
static void begin_share(struct check_plan *plan, int gpu, dim3 grid) {
  const size_t count = (size_t)plan->updates * plan->warps_per_block * grid.x;
  const size_t bytes = count * sizeof(unsigned);
  std::vector<unsigned> masks(count);
  void *share = NULL;
  CHECK_CUDA(cudaMemcpy(masks.data(), plan->active, bytes, cudaMemcpyDeviceToHost));
  keep_share(masks.data(), count, gpu);
  CHECK_CUDA(cudaMalloc(&share, bytes));
  CHECK_CUDA(cudaMemcpy(share, masks.data(), bytes, cudaMemcpyHostToDevice));
  plan->active = (const unsigned *)share;
}

static void end_share(struct check_plan *plan) { CHECK_CUDA(cudaFree((void *)plan->active)); }
#endif

static void on_gpu(int gpu) { CHECK_CUDA(cudaSetDevice(gpu)); }

template <typename any_kernel, typename any_plan, typename... others>
static void launch_on_both(any_kernel kernel, dim3 grid, dim3 block, any_plan plan,
                           others... rest) {
  any_plan plans[GPUS] = {plan, plan};
  struct meeting met = {{0, 0}, 0};
  int home = 0;
  CHECK_CUDA(cudaGetDevice(&home));
  CHECK_CUDA(cudaMemcpy(meeting, &met, sizeof met, cudaMemcpyHostToDevice));
  for (int gpu = 0; gpu < GPUS; ++gpu) begin_share(&plans[gpu], gpu, grid);
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    kernel<<<grid, block>>>(plans[gpu], rest...);
    CHECK_CUDA(cudaGetLastError());
  }
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  on_gpu(home);
  for (int gpu = 0; gpu < GPUS; ++gpu) end_share(&plans[gpu]);
  CHECK_CUDA(cudaMemcpy(&met, meeting, sizeof met, cudaMemcpyDeviceToHost));
  CHECK(!met.missed && met.updates[0] == met.updates[1],
        "the kernels did not run at the same time: GPU 0 began %d updates, GPU 1 %d",
        met.updates[0], met.updates[1]);
}

#undef SIMT_LAUNCH
#define SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  launch_on_both(kernel, grid, block, __VA_ARGS__)

/* ---- what they run --------------------------------------------------------------------------- */

#define main test_main
#if defined(TEST_TYPES_PART)
#define TEST_TYPES_ALL 1
#include "test_types.cu"
#elif defined(TEST_PEER_ROWS)
#include "test_index_add.cu"
#else
#define TEST_PROPERTY_EXACT 1
#include "kernels.cu"
#include "test_property.cu"
#endif
#undef main

#if defined(TEST_TYPES_PART) || defined(TEST_PEER_ROWS)
#define peer_main test_main
#else
/* Thousands of warps, few rows: every row is added to by both GPUs at any time. */
static void contended_case(int form, int path) {
  enum { BLOCKS = 64, BLOCK_THREADS = 128, ROUNDS = 4 };
  struct check_case c;
  const int widths[] = {1, 2, 3, 4, 8, 9, 16, 21};
  if (!check_open(&c, "contended", 1, BLOCKS, BLOCK_THREADS, ROUNDS)) return;
  c.plan.width = widths[check_below(&c.random, 8)];
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  draw_layout(&c, form);
  c.key_count = check_between(&c.random, 1, c.key_count < 4 ? c.key_count : 4);
  for (int u = 0; u < ROUNDS; ++u)
    for (int w = 0; w < c.warps; ++w) draw_warp(&c, form, u, w);
  check_run_form(&c, check_launches[form], form >= CHECK_POINTERS);
}

static int peer_main(int argc, char **argv) {
  check_main(argc, argv);
  for (int form = 0; form < CHECK_FORMS; ++form)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) contended_case(form, path);
  long cases = check.cases >= 0 ? check.cases : 1500;
  if (check.only > cases) cases = check.only; /* to repeat a case of a longer run */
  for (long i = 0; i < cases; ++i) random_case();
  return check_finish();
}
#endif

/* ---- two GPUs -------------------------------------------------------------------------------- */

static int skip(const char *reason) {
  printf("skipped: %s\n", reason);
  return CHECK_SKIPPED;
}

/* Why there are no two GPUs that add to each other's memory, or null. */
static const char *find_peers(void) {
  const int count = device_count();
  if (count == 0) return "no CUDA device";
  if (count < GPUS) return "one CUDA device only, and two GPUs are needed";
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    int reaches = 0, atomics = 0;
    CHECK_CUDA(cudaDeviceCanAccessPeer(&reaches, gpu, 1 - gpu));
    CHECK_CUDA(
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, gpu, 1 - gpu));
    if (!reaches) return "the first two GPUs do not reach each other's memory";
    if (!atomics) return "the first two GPUs have no atomics on each other's memory";
  }
  return NULL;
}

static void open_peers(void) {
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    CHECK_CUDA(cudaDeviceEnablePeerAccess(1 - gpu, 0));
  }
  on_gpu(0);
  CHECK_CUDA(cudaMalloc((void **)&meeting, sizeof *meeting));
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    on_gpu(gpu);
    CHECK_CUDA(cudaMemcpyToSymbol(device_meeting, &meeting, sizeof meeting));
    CHECK_CUDA(cudaMemcpyToSymbol(this_gpu, &gpu, sizeof gpu));
  }
}

/* The whole test, the rows in the memory of one GPU. Its name holds what repeats it. */
static int run_at_home(int home, int argc, char **argv) {
  static const struct check_state untouched = {"", "", 1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0, 0, {0}};
  char name[4096], *program = argv[0];
  check = untouched;
  on_gpu(home);
  snprintf(name, sizeof name, "%s --home %d", program, home);
  argv[0] = name;
  const int status = peer_main(argc, argv);
  argv[0] = program;
  return status;
}

int main(int argc, char **argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* loading waits for kernels that wait for a launch */
  const char *reason = find_peers();
  if (reason) return skip(reason);
  open_peers();
  if (argc > 2 && !strcmp(argv[1], "--home")) {
    const int home = !strcmp(argv[2], "1");
    if (!home && strcmp(argv[2], "0")) {
      fprintf(stderr, "%s: --home is '%s'; it must be 0 or 1\n", argv[0], argv[2]);
      return 2;
    }
    argv[2] = argv[0];
    return run_at_home(home, argc - 2, argv + 2);
  }
  const int first = run_at_home(0, argc, argv), second = run_at_home(1, argc, argv);
  return first ? first : second;
}
