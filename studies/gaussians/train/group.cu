/* arc study gaussians: the processes that train one model together, one per GPU.
   SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "../../common/device.h"
#include "../../../bench/common/program_run.h"

/* NCCL is for GPUs; CPU warps need none. */
#define GROUP_BY_NCCL (GAUSSIANS_HAVE_NCCL && !SIMT_ON_CPU)
#if GROUP_BY_NCCL
#include <nccl.h>
#endif

/* What the processes of a host share. Aligned for the numbers behind it. */
typedef struct group_page {
  alignas(64) volatile bool lost[GROUP_MOST];
  volatile bool any_lost;
  volatile bool ended[GROUP_MOST]; /* needs the others no more */
  char told[512];
  volatile bool has_id;
  int arrived, round; /* of group_meet */
#if GROUP_BY_NCCL
  ncclUniqueId id;
#endif
} group_page;

enum { CHUNK_BYTES = 1 << 16 }; /* of each process, behind the page, on the CPU warp */

bool group_can(int size, error_line *error) {
#if !SIMT_ON_CPU && !GAUSSIANS_HAVE_NCCL
  if (size != 1)
    return error_set(error,
                     "--gpus needs NCCL, which this program was built without: install it (Debian, "
                     "Ubuntu: libnccl-dev; or pip install nvidia-nccl-cu13) and build again");
#endif
  return size >= 0 || error_set(error, "%d processes", size);
}

static bool group_lost(group *g) {
  g->lost = g->lost || (g->page != nullptr && g->page->any_lost);
  return g->lost;
}

bool group_speaks(const group *g) {
  int first = 0;
  while (g->page != nullptr && first < g->rank && g->page->lost[first]) first += 1;
  return first == g->rank;
}

void group_tell(const group *g, const char *text) {
  if (g->page != nullptr) snprintf(g->page->told, sizeof g->page->told, "%s", text);
}

/* ---- the sums ------------------------------------------------------------------------------- */

#if SIMT_ON_CPU

/* Waits for all. */
static bool group_meet(group *g) {
  group_page *page = g->page;
  int round = __atomic_load_n(&page->round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&page->arrived, 1, __ATOMIC_ACQ_REL) == g->size) {
    page->arrived = 0;
    __atomic_store_n(&page->round, round + 1, __ATOMIC_RELEASE);
    return true;
  }
  while (__atomic_load_n(&page->round, __ATOMIC_ACQUIRE) == round) {
    if (group_lost(g)) return false;
    sched_yield();
  }
  return true;
}

static const size_t group_bytes[] = {sizeof(float), sizeof(double), sizeof(long long)};

static void add_chunk(void *sums, const void *values, size_t bytes, group_type type) {
  for (size_t i = 0; i < bytes / group_bytes[type]; ++i) {
    if (type == GROUP_F32) ((float *)sums)[i] += ((const float *)values)[i];
    if (type == GROUP_F64) ((double *)sums)[i] += ((const double *)values)[i];
    if (type == GROUP_I64)
      ((unsigned long long *)sums)[i] += ((const unsigned long long *)values)[i];
  }
}

/* In the order of ranks, so that all have the same bits. */
static bool sum_by_page(group *g, char *values, size_t bytes, group_type type) {
  char *chunks = (char *)(g->page + 1);
  for (size_t begin = 0; begin < bytes; begin += CHUNK_BYTES) {
    size_t part = bytes - begin < CHUNK_BYTES ? bytes - begin : (size_t)CHUNK_BYTES;
    memcpy(chunks + (size_t)g->rank * CHUNK_BYTES, values + begin, part);
    if (!group_meet(g)) return false;
    memset(values + begin, 0, part);
    for (int r = 0; r < g->size; ++r)
      add_chunk(values + begin, chunks + (size_t)r * CHUNK_BYTES, part, type);
    if (!group_meet(g)) return false;
  }
  return true;
}

void group_add(group *g, int, void *values, size_t count, group_type type) {
  if (g->page != nullptr && !g->lost)
    sum_by_page(g, (char *)values, count * group_bytes[type], type);
}

bool group_begin(group *, error_line *) { return true; }
static void group_unlink(group *) {}
void group_use(group *, int) {}
bool group_wait(group *g) { return !g->lost; }

#elif GROUP_BY_NCCL

struct group_link {
  ncclComm_t nccl;
  cudaStream_t stream; /* beside stream 0 */
  cudaEvent_t launched, added[GROUP_PARTS];
  int last; /* part */
};

static bool nccl_check(ncclResult_t result, const char *what, error_line *error) {
  return result == ncclSuccess || error_set(error, "%s: %s", what, ncclGetErrorString(result));
}

/* The same for all: rank 0 makes it. */
static bool share_id(group *g, ncclUniqueId *id, error_line *error) {
  if (g->rank == 0 && !nccl_check(ncclGetUniqueId(id), "NCCL", error)) return false;
  if (g->rank == 0) {
    g->page->id = *id;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    g->page->has_id = true;
  }
  while (!g->page->has_id && !group_lost(g)) usleep(1000);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  *id = g->page->id;
  return !g->lost || error_set(error, "another process is gone");
}

bool group_begin(group *g, error_line *error) {
  int devices = 0, least = 0, first = 0;
  ncclUniqueId id;
  device_check(cudaGetDeviceCount(&devices), "counting GPUs");
  if (g->size == 1) return true;
  if (g->size > devices)
    return error_set(error, "--gpus asks for %d; this machine has %d", g->size, devices);
  device_check(cudaSetDevice(g->rank), "choosing the GPU");
  setenv("NCCL_NVLS_ENABLE", "0", 0); /* multicast gains nothing at these sizes */
  ncclComm_t nccl;
  if (!share_id(g, &id, error) ||
      !nccl_check(ncclCommInitRank(&nccl, g->size, id, g->rank), "linking the GPUs", error))
    return false;
  group_link *link = g->link = new group_link{nccl, nullptr, nullptr, {}, 0};
  /* First to get a multiprocessor: the kernels beside it have thousands of blocks waiting. */
  device_check(cudaDeviceGetStreamPriorityRange(&least, &first), "asking for priorities");
  device_check(cudaStreamCreateWithPriority(&link->stream, cudaStreamNonBlocking, first),
               "making a stream");
  device_check(cudaEventCreateWithFlags(&link->launched, cudaEventDisableTiming), "an event");
  for (int p = 0; p < GROUP_PARTS; ++p)
    device_check(cudaEventCreateWithFlags(&link->added[p], cudaEventDisableTiming), "an event");
  return true;
}

/* A kernel of NCCL never ends where a process is gone: it has to be aborted. */
static void group_unlink(group *g) {
  if (g->link == nullptr) return;
  if (g->lost)
    ncclCommAbort(g->link->nccl);
  else
    ncclCommDestroy(g->link->nccl);
  cudaStreamDestroy(g->link->stream);
  cudaEventDestroy(g->link->launched);
  for (int p = 0; p < GROUP_PARTS; ++p) cudaEventDestroy(g->link->added[p]);
  delete g->link;
  g->link = nullptr;
}

void group_add(group *g, int part, void *values, size_t count, group_type type) {
  const ncclDataType_t types[] = {ncclFloat32, ncclFloat64, ncclInt64};
  group_link *link = g->link;
  if (link == nullptr) return;
  device_check(cudaEventRecord(link->launched, 0), "recording an event");
  device_check(cudaStreamWaitEvent(link->stream, link->launched, 0), "waiting for an event");
  if (ncclAllReduce(values, values, count, types[type], ncclSum, link->nccl, link->stream) !=
      ncclSuccess)
    g->lost = true;
  device_check(cudaEventRecord(link->added[part], link->stream), "recording an event");
  link->last = part;
}

void group_use(group *g, int part) {
  if (g->link == nullptr) return;
  device_check(cudaStreamWaitEvent(0, g->link->added[part], 0), "waiting for an event");
}

/* Whether the sums will not come. */
static void look_for_loss(group *g) {
  ncclResult_t state = ncclSuccess;
  ncclCommGetAsyncError(g->link->nccl, &state);
  g->lost = g->lost || state != ncclSuccess;
  group_lost(g);
}

bool group_wait(group *g) {
  cudaError_t state = cudaSuccess;
  if (g->link == nullptr) return !g->lost;
  while (!g->lost && (state = cudaEventQuery(g->link->added[g->link->last])) == cudaErrorNotReady)
    look_for_loss(g);
  device_check(state == cudaErrorNotReady ? cudaSuccess : state, "adding up over the GPUs");
  if (g->lost) group_unlink(g);
  return !g->lost;
}

#else

bool group_begin(group *, error_line *) { return true; }
static void group_unlink(group *) {}
void group_add(group *, int, void *, size_t, group_type) {}
void group_use(group *, int) {}
bool group_wait(group *g) { return !group_lost(g); }

#endif

bool group_sum(group *g, void *values, size_t count, group_type type) {
  if (g->size == 1) return true;
  group_add(g, 0, values, count, type);
  group_use(g, 0);
  return group_wait(g);
}

void group_end(group *g) {
  group_unlink(g);
  if (g->page != nullptr) g->page->ended[g->rank] = true;
}

/* ---- processes of one host ------------------------------------------------------------------ */

static pid_t children[GROUP_MOST];
static int child_count;

static void pass_on(int number) {
  for (int r = 0; r < child_count; ++r)
    if (children[r] > 0) kill(children[r], number);
}

/* The first that ended while others needed it, and how. */
typedef struct group_failure {
  int rank, status; /* rank -1: none */
  pid_t process;
} group_failure;

/* Until all have ended. Those that do not leave a lost one's group in time are killed: one may hang
   in a call that cannot be given up. Returns the exit status of rank 0. */
static int look_after(group_page *page, group_failure *failure) {
  static const double PATIENCE = 8.0; /* seconds */
  double until = 0.0;
  int left = child_count, first_status = 0;
  while (left > 0) {
    int status, rank = 0;
    pid_t process = waitpid(-1, &status, WNOHANG);
    if (process <= 0) {
      if (failure->rank >= 0 && !page->ended[0] && seconds_now() > until) pass_on(SIGKILL);
      usleep(5000);
      continue;
    }
    while (children[rank] != process) rank += 1;
    children[rank] = 0;
    left -= 1;
    if (rank == 0) first_status = status;
    if (page->ended[rank]) continue;
    page->lost[rank] = page->any_lost = true;
    bool has_left = WIFEXITED(status) && WEXITSTATUS(status) == GROUP_LEFT;
    if (failure->rank >= 0 || has_left) continue;
    failure->rank = rank;
    failure->status = status;
    failure->process = process;
    until = seconds_now() + PATIENCE;
  }
  return first_status;
}

/* What it wrote to stderr, or how it was ended. room: of 512 characters. */
static void describe_failure(const group_failure *f, FILE *errors, char *room) {
  room[0] = '\0';
  rewind(errors);
  if (fgets(room, 512, errors) != nullptr) room[strcspn(room, "\n")] = '\0';
  if (WIFSIGNALED(f->status))
    snprintf(room, 512, "ended by signal %d (%s)", WTERMSIG(f->status),
             strsignal(WTERMSIG(f->status)));
  else if (room[0] == '\0')
    snprintf(room, 512, "ended with status %d", WEXITSTATUS(f->status));
}

/* One line, unless rank 0 has said by itself what is wrong, and the exit status. */
static int conclude(const group_page *page, const char *program, int first_status,
                    const group_failure *failure, FILE **errors) {
  int status = WIFSIGNALED(first_status) ? (int)GROUP_LEFT : WEXITSTATUS(first_status);
  char how[512];
  if (interrupts > 2 && WIFSIGNALED(first_status))
    return interrupted_status(); /* the third Ctrl-C */
  if (failure->rank < 0) return status;
  describe_failure(failure, errors[failure->rank], how);
  if (status != 0 && status != GROUP_LEFT) how[0] = '\0';
  if (how[0] != '\0')
    fprintf(stderr, "%s: process %d of %d (number %ld): %s%s%s\n", program, failure->rank,
            child_count, (long)failure->process, how, page->told[0] != '\0' ? "; " : "",
            page->told);
  else if (page->told[0] != '\0')
    fprintf(stderr, "%s: %s\n", program, page->told);
  if (status != 0 && status != GROUP_LEFT) return status;
  const int ended = WIFEXITED(failure->status) ? WEXITSTATUS(failure->status) : 1;
  return ended > 128 ? ended : 1;
}

/* Ends with this process's parent, and listens to it alone: a terminal's Ctrl-C goes to the
   parent, which passes it on. */
static void become_child(group *g, FILE **errors) {
  setpgid(0, 0);
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if (g->rank == 0) return;
  if (freopen("/dev/null", "w", stdout) == nullptr) exit(1);
  dup2(fileno(errors[g->rank]), STDERR_FILENO);
}

static int run_here(int size, const char *program, int (*body)(group *g, void *state),
                    void *state) {
  size_t bytes = sizeof(group_page) + (SIMT_ON_CPU ? (size_t)size * CHUNK_BYTES : 0);
  void *shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FILE *errors[GROUP_MOST];
  group_failure failure = {-1, 0, 0};
  bool ready = shared != MAP_FAILED;
  child_count = 0;
  for (int r = 0; r < size; ++r) ready = (errors[r] = tmpfile()) != nullptr && ready;
  fflush(stdout);
  for (int r = 0; ready && r < size; ++r) {
    group g = {r, size, false, (group_page *)shared, nullptr};
    children[r] = fork();
    if (children[r] == 0) {
      become_child(&g, errors);
      exit(body(&g, state));
    }
    ready = children[r] > 0;
    child_count += ready;
  }
  catch_interrupts(pass_on);
  if (!ready) {
    fprintf(stderr, "%s: no memory for %d processes\n", program, size);
    pass_on(SIGKILL);
    return 1;
  }
  int first_status = look_after((group_page *)shared, &failure);
  return conclude((group_page *)shared, program, first_status, &failure, errors);
}

int group_run(int size, const char *program, int (*body)(group *g, void *state), void *state) {
  group alone = {0, 1, false, nullptr, nullptr};
  if (size == 1) return body(&alone, state);
  return run_here(size, program, body, state);
}
