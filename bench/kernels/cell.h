/* cell.h - one point of a sweep. Plain structs: kernels and host share them.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Enumerators start at 1, as in arc_policy.cuh; the order is the order in the tables. */
enum sweep_path {
  SWEEP_PATH_NONE = 1,
  SWEEP_PATH_PLAIN,
  SWEEP_PATH_VECTOR,
  SWEEP_PATH_CG,
  SWEEP_PATH_CUB,
  SWEEP_PATH_SHUFFLE_SKIP,
  SWEEP_PATH_ATOMIC,
  SWEEP_PATH_SERIALIZED,
  SWEEP_PATH_BUTTERFLY,
  SWEEP_PATH_TRANSPOSED,
  SWEEP_PATH_TREE,
  SWEEP_PATH_AUTO,
  SWEEP_PATH_SUMS,    /* the two halves of an add, one sum per group */
  SWEEP_PATH_ATOMRED, /* value by value, as an instruction of a lane */
  SWEEP_PATH_HOT,     /* rows below SWEEP_HOT_ROWS are summed by the block */
  SWEEP_PATH_DROP_IN, /* plain's statement, behind arc/drop_in.cuh */
  SWEEP_PATH_PIECES,  /* planes as targets of at most six pieces */
  SWEEP_PATH_BROKEN, /* loses the values of some lanes: shows that the check of the sums can fail */
  SWEEP_PATH_END
};
enum sweep_shape {
  SWEEP_SHAPE_PREFIX = 1,
  SWEEP_SHAPE_SCATTERED,
  SWEEP_SHAPE_STRIDED,
  SWEEP_SHAPE_RANDOM,
  SWEEP_SHAPE_SINGLE
};
enum sweep_layout {
  SWEEP_LAYOUT_INTERLEAVED = 1,
  SWEEP_LAYOUT_CONTIGUOUS,
  SWEEP_LAYOUT_RANDOM,
  SWEEP_LAYOUT_MODEL /* the workload draws the keys */
};
enum sweep_workload {
  SWEEP_WORKLOAD_AXES = 1, /* set by --lanes, --shape, --keys, --layout and --call */
  SWEEP_WORKLOAD_TILE,
  SWEEP_WORKLOAD_SPHERES,
  SWEEP_WORKLOAD_CUBEMAP,
  SWEEP_WORKLOAD_HASHGRID,
  SWEEP_WORKLOAD_PAGERANK,
  SWEEP_WORKLOAD_HOT,
  SWEEP_WORKLOAD_COALESCED,
  SWEEP_WORKLOAD_FILE, /* --workload-file */
  SWEEP_WORKLOAD_END
};
enum { SWEEP_HOT_ROWS = 8 };
enum sweep_call { SWEEP_CALL_UNIFORM = 1, SWEEP_CALL_KEYED };
/* Where a kernel takes its width from: a literal; or at run time only, the values in a local array
   that is indexed at run time, or each computed where it is added. Rotating: a literal, and each
   lane begins with another parameter, so that lanes of one key meet at several addresses. Planes: a
   literal, and each parameter has an array of its own, in which it stands at the key. */
enum sweep_form {
  SWEEP_FORM_LITERAL = 1,
  SWEEP_FORM_MEMORY,
  SWEEP_FORM_CHUNKS,
  SWEEP_FORM_ROTATING,
  SWEEP_FORM_PLANES
};
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
/* The part of a preset that holds a cell. */
enum sweep_section {
  SWEEP_SECTION_NONE = 1,
  SWEEP_SECTION_A,
  SWEEP_SECTION_B,
  SWEEP_SECTION_C,
  SWEEP_SECTION_D,
  SWEEP_SECTION_E,
  SWEEP_SECTION_PEERS
};

struct sweep_cell {
  int section, workload, width, form;
  int lanes, shape;
  int keys, layout, call; /* keys: 0 where the workload is a model */
  int zeros, padding;     /* rows are padded to a multiple of so many values; 0: to an odd number */
  int type, path, threshold;
};
