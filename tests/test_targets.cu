/* test_targets.cu - where parameters live: literal pieces and rows, far keys, shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * test_property.cu has what is known at run time: every stride, alignment of the base, number of
 * pieces, pieces without a base, and keys far from 0. Here are literal ones, and rows in shared
 * memory. test_types.cu has planes; here are two that lie far apart.
 */
#include "check.cuh"

/* Literal pieces, as a renderer has them: means, conics, opacities, colours. */
static __device__ __forceinline__ arc_target_f32 four_arrays(const struct check_plan *plan) {
  const arc_piece_f32 pieces[4] = {{plan->pieces[0].base, plan->pieces[0].stride, 2},
                                   {plan->pieces[1].base, plan->pieces[1].stride, 3},
                                   {plan->pieces[2].base, plan->pieces[2].stride, 1},
                                   {plan->pieces[3].base, plan->pieces[3].stride, 3}};
  return arc_target_f32_pieces(pieces, 4);
}

CHECK_KERNEL(literal_pieces, 9, 9, four_arrays(&plan), CHECK_CALL(CHECK_KEYED))
CHECK_KERNEL(first_pieces, 9, 9, arc_target_f32_first(four_arrays(&plan), 3),
             CHECK_CALL(CHECK_KEYED))
CHECK_KERNEL(literal_rows, 9, 9, CHECK_ROWS, CHECK_CALL(CHECK_UNIFORM))

static bool open_case(struct check_case *c, const char *section, int width, int path) {
  if (!check_open(c, section, width, 4, 64, 3)) return false;
  c->plan.path = path;
  c->plan.threshold = check_below(&c->random, 35);
  return true;
}

/* Pieces without a base, known at run time; missing: bit p for piece p. */
static void literal(int path, unsigned missing, check_launch launch) {
  struct check_case c;
  if (!open_case(&c, "literal pieces", 9, path)) return;
  const int widths[] = {2, 3, 1, 3};
  check_layout_these_pieces(&c, 23, 4, widths);
  c.missing = missing;
  check_fill(&c, -1, 0);
  check_run(&c, launch);
}

/* Keys far from 0 on a base far from the arena, so that little memory stands for much: the product
   of key and stride, or of key and bytes, passes 2^31 in either direction. */
static void far_keys(long key_low, int stride, int path) {
  struct check_case c;
  if (!open_case(&c, "64-bit addresses, literal width", 9, path)) return;
  check_layout_rows(&c, 5, stride, path % 4);
  c.key_low = key_low;
  c.uniform = 1;
  check_fill(&c, -1, 1);
  check_run(&c, literal_rows_launch);
}

/* Rows in shared memory, with no vector requests; the scalar add puts a value behind each. */
template <int path>
static __global__ void add_shared(float *out, const int *rows) {
  __shared__ float sums[8 * 12];
  float values[9];
  for (int i = (int)threadIdx.x; i < 96; i += (int)blockDim.x) sums[i] = 0.0f;
  __syncthreads();
  const arc_target_f32 target = arc_target_f32_rows(sums, 12, 9);
  for (int k = 0; k < 9; ++k) values[k] = (float)((int)threadIdx.x + 64 * k);
  const bool active = threadIdx.x % 5 != 4;
  const struct check_call c = {rows[threadIdx.x], values, active, 0u, 4};
  check_add(CHECK_KEYED, path, target, c);
  if (active) arc_atomic_add_f32(&sums[rows[threadIdx.x] * 12 + 9], values[1]);
  __syncthreads();
  for (int i = (int)threadIdx.x; i < 96; i += (int)blockDim.x) out[i] = sums[i];
}

template <int path>
static void shared_rows(void) {
  struct check_random random;
  if (!check_begin("rows in shared memory", &random)) return;
  int rows[64];
  float must[96] = {0};
  for (int t = 0; t < 64; ++t) {
    rows[t] = check_below(&random, 1 + check_below(&random, 8));
    for (int k = 0; k < 10; ++k)
      must[rows[t] * 12 + k] += t % 5 != 4 ? (float)(t + 64 * (k < 9 ? k : 1)) : 0;
  }
  const test_memory<int> device_rows(rows);
  const test_memory<float> out(96);
  SIMT_LAUNCH(add_shared<path>, dim3(1), dim3(64), 0, 0, out.at, (const int *)device_rows.at);
  const std::vector<float> got = out.read();
  for (int i = 0; i < 96; ++i)
    CHECK(got[i] == must[i], "path %d float %d is %g, must be %g", path, i, got[i], must[i]);
  check.compared += 96;
}

/* Two planes more than 2^31 bytes apart, in memory that is not touched between them. */
enum { PLANE = 96, APART = (1 << 29) + 3 };
static __global__ void add_planes(float *base, int plane) {
  const float values[2] = {(float)threadIdx.x, (float)(1000 + threadIdx.x)};
  arc_add_f32(arc_target_f32_planes(base, plane, 2), (int)threadIdx.x % 5 * 7, values, true);
}

static void far_planes(bool backward) {
  struct check_random random;
  if (!check_begin("planes far apart", &random)) return;
  float must[2][PLANE] = {{0}}, got[PLANE], *memory = NULL;
  for (int t = 0; t < 64; ++t)
    for (int i = 0; i < 2; ++i) must[i][t % 5 * 7] += (float)(1000 * i + t);
  CHECK_CUDA(cudaMalloc((void **)&memory, ((size_t)APART + PLANE) * sizeof(float)));
  float *planes[2] = {memory + (backward ? APART : 0), memory + (backward ? 0 : APART)};
  for (float *plane : planes) CHECK_CUDA(cudaMemset(plane, 0, sizeof got));
  SIMT_LAUNCH(add_planes, dim3(1), dim3(64), 0, 0, planes[0], backward ? -APART : APART);
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaMemcpy(got, planes[i], sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < PLANE; ++k)
      CHECK(got[k] == must[i][k], "plane %d key %d is %g, must be %g", i, k, got[k], must[i][k]);
  }
  cudaFree(memory);
  check.compared += 2 * PLANE;
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) {
    for (unsigned missing = 0; missing < 16; missing += 2)
      literal(path, missing, literal_pieces_launch);
    literal(path, 8u, first_pieces_launch);
    literal(path, 12u, first_pieces_launch);
    far_keys(240000000, 9, path);   /* 2.16e9 floats: 32 bits wrap to a negative one */
    far_keys(480000000, 12, path);  /* 5.76e9 floats: they wrap to a positive one */
    far_keys(59652324, 9, path);    /* bytes pass 2^31, floats do not */
    far_keys(2147483642, 16, path); /* the largest keys */
    far_keys(-300000000, 12, path); /* and negative ones */
  }
  far_planes(false);
  far_planes(true);
  shared_rows<ARC_PATH_ATOMIC>();
  shared_rows<ARC_PATH_SERIALIZED>();
  shared_rows<ARC_PATH_BUTTERFLY>();
  shared_rows<ARC_PATH_TRANSPOSED>();
  shared_rows<ARC_PATH_TREE>();
  shared_rows<ARC_PATH_AUTO>();
  return check_finish();
}
