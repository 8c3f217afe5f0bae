/* cell.h - one point of a sweep. Plain structs: kernels and host share them.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The values of an axis, X(axis, enumerator, word), in the order of the tables. Enumerators start at
   1, as in arc_policy.cuh. */
#define SWEEP_ENUMERATOR(AXIS, NAME, word) SWEEP_##AXIS##_##NAME,

// clang-format off
/* sums: the two halves of an add, one sum per group; atomred: value by value, as an instruction of a
   lane; hot: rows below SWEEP_HOT_ROWS are summed by the block; drop_in: plain's statement, behind
   arc/drop_in.cuh; pieces: planes as targets of at most six pieces; broken loses the values of some
   lanes: shows that the check of the sums can fail. */
#define SWEEP_PATHS(X) \
  X(PATH, NONE, none) X(PATH, PLAIN, plain) X(PATH, VECTOR, vector) X(PATH, CG, cg) \
  X(PATH, CUB, cub) X(PATH, SHUFFLE_SKIP, shuffle_skip) X(PATH, ATOMIC, atomic) \
  X(PATH, SERIALIZED, serialized) X(PATH, BUTTERFLY, butterfly) \
  X(PATH, TRANSPOSED, transposed) X(PATH, TREE, tree) X(PATH, AUTO, auto) X(PATH, SUMS, sums) \
  X(PATH, ATOMRED, atomred) X(PATH, HOT, hot) X(PATH, DROP_IN, drop_in) \
  X(PATH, PIECES, pieces) X(PATH, BROKEN, broken)
#define SWEEP_SHAPES(X) \
  X(SHAPE, PREFIX, prefix) X(SHAPE, SCATTERED, scattered) X(SHAPE, STRIDED, strided) \
  X(SHAPE, RANDOM, random) X(SHAPE, SINGLE, single)
/* model: the workload draws the keys. */
#define SWEEP_LAYOUTS(X) \
  X(LAYOUT, INTERLEAVED, interleaved) X(LAYOUT, CONTIGUOUS, contiguous) \
  X(LAYOUT, RANDOM, random) X(LAYOUT, MODEL, model)
/* axes: set by --lanes, --shape, --keys, --layout and --call; file: --workload-file. */
#define SWEEP_WORKLOADS(X) \
  X(WORKLOAD, AXES, axes) X(WORKLOAD, TILE, tile) X(WORKLOAD, SPHERES, spheres) \
  X(WORKLOAD, CUBEMAP, cubemap) X(WORKLOAD, HASHGRID, hashgrid) X(WORKLOAD, PAGERANK, pagerank) \
  X(WORKLOAD, HOT, hot) X(WORKLOAD, COALESCED, coalesced) X(WORKLOAD, FILE, file)
#define SWEEP_CALLS(X) X(CALL, UNIFORM, uniform) X(CALL, KEYED, keyed)
/* Where a kernel takes its width from: a literal; or at run time only, the values in a local array
   that is indexed at run time, or each computed where it is added. Rotating: a literal, and each
   lane begins with another parameter, so that lanes of one key meet at several addresses. Planes: a
   literal, and each parameter has an array of its own, in which it stands at the key. */
#define SWEEP_FORMS(X) \
  X(FORM, LITERAL, literal) X(FORM, MEMORY, memory) X(FORM, CHUNKS, chunks) \
  X(FORM, ROTATING, rotating) X(FORM, PLANES, planes)
/* The part of a preset that holds a cell. */
#define SWEEP_SECTIONS(X) \
  X(SECTION, NONE, -) X(SECTION, A, a) X(SECTION, B, b) X(SECTION, C, c) X(SECTION, D, d) \
  X(SECTION, E, e) X(SECTION, PEERS, p)
// clang-format on
enum sweep_path { SWEEP_NO_PATH, SWEEP_PATHS(SWEEP_ENUMERATOR) SWEEP_PATH_END };
enum sweep_shape { SWEEP_NO_SHAPE, SWEEP_SHAPES(SWEEP_ENUMERATOR) };
enum sweep_layout { SWEEP_NO_LAYOUT, SWEEP_LAYOUTS(SWEEP_ENUMERATOR) };
enum sweep_workload { SWEEP_NO_WORKLOAD, SWEEP_WORKLOADS(SWEEP_ENUMERATOR) };
enum sweep_call { SWEEP_NO_CALL, SWEEP_CALLS(SWEEP_ENUMERATOR) };
enum sweep_form { SWEEP_NO_FORM, SWEEP_FORMS(SWEEP_ENUMERATOR) };
enum sweep_section { SWEEP_NO_SECTION, SWEEP_SECTIONS(SWEEP_ENUMERATOR) };
enum { SWEEP_HOT_ROWS = 8 };
enum sweep_zeros {
  SWEEP_ZEROS_NONE, /* inactive lanes hold garbage */
  SWEEP_ZEROS_PROMISED,
  SWEEP_ZEROS_ALL_PROMISED,     /* with all that a renderer promises */
  SWEEP_ZEROS_ALIGNED_PROMISED, /* and rows of whole 16 bytes */
  SWEEP_ZEROS_NO_KEY_PROMISED   /* garbage; not even the one key of a uniform call is promised */
};

/* Types of values and of memory, and the bytes of a value in memory. From f16 on values are floats
   in other memory: halves, 64-bit fixed point, the same with exact sums, words by exponent (which
   sweep_row_bytes knows). f32 has every path and width, the others have plain and auto. */
#define SWEEP_TYPES(X) \
  X(f32, 4) X(f64, 8) X(i64, 8) X(f16, 2) X(bf16, 2) X(fixed, 8) X(exact, 8) X(wide, 8)
#define SWEEP_TYPE_ENUMERATOR(name, bytes) SWEEP_TYPE_##name,
enum sweep_type { SWEEP_TYPE_NONE, SWEEP_TYPES(SWEEP_TYPE_ENUMERATOR) SWEEP_TYPE_END };
enum { SWEEP_SCALE_LOG2 = 30 }; /* of fixed memory: every value is a whole number there */

/* Words beside numbers follow the largest number of their axis. */
enum {
  SWEEP_LANES_MIXED = 33,       /* half of the updates have 1-4 active lanes, half 1-32 */
  SWEEP_LANES_MODEL,            /* the workload model's own occupancy */
  SWEEP_THRESHOLD_DEFAULT = 34, /* ARC_THRESHOLD_AUTO */
  SWEEP_THRESHOLD_UNUSED        /* the path has no threshold */
};

struct sweep_cell {
  int section, workload, width, form;
  int lanes, shape;
  int keys, layout, call; /* keys: 0 where the workload is a model */
  int zeros, padding;     /* rows are padded to a multiple of so many values; 0: to an odd number */
  int type, path, threshold;
};
