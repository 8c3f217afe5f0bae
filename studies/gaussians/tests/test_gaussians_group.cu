/* arc study gaussians: sums over processes, and replicas that differ. test_command_lines.py tests
   what the others do when a process ends. SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <unistd.h>

#include "../../../bench/common/program_run.h"
#include "../../../bench/common/random.h"
#include "../../../bench/common/test_device.h"
#include "../../common/test_files.h"
#include "../train/group.h"
#include "../train/setup.h"

enum { RANKS = 2 };

/* Value i of a process; its sums are exact in every type. */
static int value_of(int rank, size_t i, unsigned seed) {
  return (int)(1e6f * hashed_random(seed + 77ull * (unsigned)rank, i)) - 500000;
}

static size_t write_value(char *at, group_type type, int value) {
  const float f32 = (float)value;
  const double f64 = value / 1024.0;
  const long long i64 = value * (1ll << 40) + value;
  const void *from[] = {&f32, &f64, &i64};
  const size_t bytes[] = {sizeof f32, sizeof f64, sizeof i64};
  memcpy(at, from[type], bytes[type]);
  return bytes[type];
}

/* What all have, added up in the same type. */
static void write_sum(char *at, group_type type, int size, size_t i, unsigned seed) {
  int sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += value_of(rank, i, seed);
  write_value(at, type, sum);
}

/* Parts of these sizes, one after another in one array. */
static void check_sums(group *g, group_type type, const size_t *sizes, int parts, unsigned seed) {
  size_t count = 0, width = type == GROUP_F32 ? 4 : 8, at = 0, wrong = 0;
  device_memory memory = {0, 0};
  device_array array = {nullptr, 0};
  for (int p = 0; p < parts; ++p) count += sizes[p];
  std::vector<char> mine(width * count);
  char wanted[8];
  for (size_t i = 0; i < count; ++i)
    write_value(&mine[width * i], type, value_of(g->rank, i, seed));
  device_upload(&memory, &array, mine, "test");
  for (int p = 0; p < parts; at += sizes[p++])
    group_add(g, p, (char *)array.data + width * at, sizes[p], type);
  for (int p = 0; p < parts; ++p) group_use(g, p);
  CHECK(group_wait(g), "seed %u: the sums are lost", seed);
  mine = device_read<char>(array.data, mine.size(), "test");
  for (size_t i = 0; i < count; ++i) {
    write_sum(wanted, type, g->size, i, seed);
    wrong += memcmp(&mine[width * i], wanted, width) != 0;
  }
  CHECK(wrong == 0, "rank %d, type %d, seed %u: %zu of %zu sums are wrong", g->rank, (int)type,
        seed, wrong, count);
  device_release(&memory, &array);
}

static int body_of_sums(group *g, void *) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || (!SIMT_ON_CPU && devices < RANKS))
    return TEST_SKIPPED;
  CHECK(group_begin(g, &error), "%s", error.text);
  for (unsigned seed = 1; seed <= 9; ++seed) {
    size_t sizes[GROUP_PARTS];
    for (int p = 0; p < GROUP_PARTS; ++p)
      sizes[p] = 1 + (size_t)(40000.0f * hashed_random(seed, (unsigned)p) / (float)(1 + p * p));
    check_sums(g, (group_type)(seed % 3), sizes, 1 + (int)seed % GROUP_PARTS, seed);
  }
  group_end(g);
  return test_failures == 0 ? 0 : 1;
}

/* Trains; one number of the model of rank 1 is another (*state != 0). */
static int body_of_replicas(group *g, void *state) {
  options o = options_default();
  scene data;
  gaussians_host model;
  trainer t;
  o.kind = SCENE_LARGE, o.gaussians = 24, o.views = 2, o.size[0] = 16, o.size[1] = 16;
  o.train.iterations = 100, o.train.batch = 4, o.train.seed = 3, o.train.densifies = 0;
  if (!group_begin(g, &error) || !setup_load(&data, &o, &error) ||
      !setup_first_model(&model, &data, &o, &error))
    return 1;
  if (g->rank == 1 && *(int *)state) model.sh[SH_FLOATS * model.count - 1] = 1e-3f;
  trainer_begin(&t, &data, &o.train);
  t.team = g;
  trainer_set_model(&t, &model);
  trainer_link(&t);
  while (t.iteration < o.train.iterations && !t.team->lost) trainer_step(&t);
  trainer_end(&t);
  group_end(g);
  return g->lost ? (int)GROUP_LEFT : 0;
}

/* Runs it with what goes to stderr in a file; checks status and that the text is there. */
static void check_group(const char *name, int (*body)(group *g, void *state), int flag, int status,
                        const char *part) {
  int kept = dup(STDERR_FILENO);
  if (freopen(test_path("errors"), "w", stderr) == nullptr) CHECK(false, "no file for errors");
  int got = group_run(RANKS, "test", body, &flag);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  const std::string errors = test_read_file(test_path("errors"));
  CHECK(got == status && errors.find(part) != errors.npos, "%s: status %d, or lacks '%s': %s", name,
        got, part, errors.c_str());
}

/* No call of CUDA before the processes are there. */
int main(void) {
  int state = 0;
  if (!group_can(RANKS, &error)) {
    printf("test_gaussians_group: skipped, %s\n", error.text);
    return TEST_SKIPPED;
  }
  int status = group_run(RANKS, "test_gaussians_group", body_of_sums, &state);
  if (status == TEST_SKIPPED)
    printf("test_gaussians_group: skipped, it needs %d GPUs\n", (int)RANKS);
  if (status == TEST_SKIPPED) return TEST_SKIPPED;
  CHECK(status == 0, "sums: status %d", status);
  test_folder_make();
  check_group("replicas", body_of_replicas, 0, 0, "");
  check_group("replicas that differ", body_of_replicas, 1, 1,
              "the processes have different models after 100 iterations");
  test_folder_remove();
  return test_end("test_gaussians_group");
}
