/* test_drop_in_launches.cu - what arc/drop_in.cuh learns by launches that overlap, by the nodes of a
 * graph, in clusters of blocks, and on each of several GPUs; once more with -rdc=true.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cooperative_groups.h>

#include "check.cuh"

#include "arc/drop_in.cuh"
#include "printed.cuh"

enum { BLOCKS = 2048, BLOCK = 128, CALLS = 4, LAUNCHES = 20 };

/* Lanes add to so many cells in turn. */
static __global__ void add(unsigned *cells, unsigned count) {
  for (unsigned call = 0; call < CALLS; ++call)
    atomicAdd(&cells[threadIdx.x % count], threadIdx.x + call);
}

static void check_sums(const test_memory<unsigned> &cells, unsigned launches) {
  const std::vector<unsigned> got = cells.read();
  std::vector<unsigned> must(got.size());
  for (unsigned thread = 0; thread < BLOCK; ++thread)
    for (unsigned call = 0; call < CALLS; ++call)
      must[thread % must.size()] += (thread + call) * BLOCKS * launches;
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == must[i], "cell %d of %d is %u and must be %u", (int)i, (int)got.size(), got[i],
          must[i]);
  check.compared += got.size();
}

static void forget(void) {
  const arc__learnt nothing = {};
  CHECK_CUDA(cudaMemcpyToSymbol(arc__learnt_here, &nothing, sizeof nothing));
}

static void check_says(const char *must) {
  int status;
  const std::string text = printed(nullptr, &status);
  CHECK(text.find(must) != std::string::npos, "the statement must say '%s' and says\n%s", must,
        text.c_str());
  check.compared += 1;
}

static void streams(void) {
  enum { STREAMS = 4 };
  struct check_random r;
  if (!check_begin("streams", &r)) return;
  forget();
  cudaStream_t stream[STREAMS];
  const test_memory<unsigned> cells[STREAMS] = {test_memory<unsigned>(1), test_memory<unsigned>(1),
                                                test_memory<unsigned>(5),
                                                test_memory<unsigned>(BLOCK)};
  for (cudaStream_t &its : stream) CHECK_CUDA(cudaStreamCreate(&its));
  for (int launch = 0; launch < LAUNCHES; ++launch)
    for (int i = 0; i < STREAMS; ++i)
      add<<<BLOCKS, BLOCK, 0, stream[i]>>>(cells[i].at, (unsigned)cells[i].count);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (const test_memory<unsigned> &its : cells) check_sums(its, LAUNCHES);
  for (cudaStream_t its : stream) CHECK_CUDA(cudaStreamDestroy(its));
}

static void graphs(void) {
  enum { NODES = 3 };
  struct check_random r;
  if (!check_begin("graphs", &r)) return;
  const test_memory<unsigned> cells(1);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int node = 0; node < NODES; ++node) add<<<BLOCKS, BLOCK, 0, stream>>>(cells.at, 1);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiateWithFlags(&runs, graph, 0));
  forget();
  for (int launch = 0; launch < LAUNCHES; ++launch) CHECK_CUDA(cudaGraphLaunch(runs, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  check_says("  sums  ");
  check_sums(cells, NODES * LAUNCHES);
  CHECK_CUDA(cudaGraphExecDestroy(runs));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
}

/* In one statement 16 lanes of a warp add to a cell of global memory, 8 to shared memory of their
   block, and 8 to that of the cluster's other block. What the blocks have goes into `shared`. */
static __global__ void add_to_three(unsigned *global, unsigned **cells, unsigned *shared) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ unsigned cell;
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) {
    cell = 0;
    cells[2 * blockIdx.x] = global;
    cells[2 * blockIdx.x + 1] = &cell;
  }
  cluster.sync();
  const unsigned kind = threadIdx.x % 32 / 8; /* 3: the other block's */
  unsigned *cell_of_lane = ((unsigned *volatile *)cells)[2 * blockIdx.x + kind / 2];
  if (kind == 3) cell_of_lane = cluster.map_shared_rank(&cell, cluster.block_rank() ^ 1u);
  for (unsigned call = 0; call < 16 * CALLS; ++call) atomicAdd(cell_of_lane, threadIdx.x + call);
  cluster.sync();
  if (threadIdx.x == 0) shared[blockIdx.x] = cell;
#endif
}

static void clusters(void) {
  struct check_random r;
  cudaDeviceProp its;
  if (!check_begin("clusters", &r)) return;
  CHECK_CUDA(cudaGetDeviceProperties(&its, 0));
  if (its.major < 9) return (void)printf("skipped: clusters: they need sm_90\n");
  const test_memory<unsigned> global(1), shared(BLOCKS);
  const test_memory<unsigned *> cells(2 * BLOCKS);
  cudaLaunchAttribute pairs = {};
  pairs.id = cudaLaunchAttributeClusterDimension;
  pairs.val.clusterDim.x = 2, pairs.val.clusterDim.y = pairs.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = BLOCKS, launch.blockDim = BLOCK, launch.attrs = &pairs, launch.numAttrs = 1;
  forget();
  for (int i = 0; i < LAUNCHES; ++i)
    CHECK_CUDA(cudaLaunchKernelEx(&launch, add_to_three, global.at, cells.at, shared.at));
  CHECK_CUDA(cudaDeviceSynchronize());
  check_says("  sums  ");
  unsigned sums[2] = {}; /* of a block: by its lanes of global and of shared memory */
  for (unsigned thread = 0; thread < BLOCK; ++thread)
    for (unsigned call = 0; call < 16 * CALLS; ++call) sums[thread % 32 / 16] += thread + call;
  const unsigned got = global.read()[0], must = sums[0] * BLOCKS * LAUNCHES;
  CHECK(got == must, "global memory has %u and must have %u", got, must);
  for (const unsigned in_block : shared.read())
    CHECK(in_block == sums[1], "a block has %u and must have %u", in_block, sums[1]);
  check.compared += 1 + BLOCKS;
}

/* One statement sums on one GPU, and is plain on the other at the same time. */
static void devices(void) {
  struct check_random r;
  if (!check_begin("two GPUs", &r)) return;
  if (device_count() < 2) return (void)printf("skipped: two GPUs: there is one\n");
  CHECK_CUDA(cudaSetDevice(1));
  const test_memory<unsigned> plain(BLOCK);
  forget();
  CHECK_CUDA(cudaSetDevice(0));
  const test_memory<unsigned> one(1);
  forget();
  for (int launch = 0; launch < LAUNCHES; ++launch) {
    CHECK_CUDA(cudaSetDevice(1));
    add<<<BLOCKS, BLOCK>>>(plain.at, BLOCK);
    CHECK_CUDA(cudaSetDevice(0));
    add<<<BLOCKS, BLOCK>>>(one.at, 1);
  }
  check_sums(one, LAUNCHES);
  check_says("  sums  ");
  CHECK_CUDA(cudaSetDevice(1));
  check_sums(plain, LAUNCHES);
  check_says("  plain  ");
  CHECK_CUDA(cudaSetDevice(0));
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  streams();
  graphs();
  clusters();
  devices();
  return check_finish();
}
