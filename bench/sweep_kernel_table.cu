/* sweep_kernel_table.cu - which kernel measures a cell.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include <stdlib.h>

#include "sweep.h"
#include "sweep_kernel_table.h"

static const struct sweep_kernels *table_of(const struct sweep_cell *c) {
  int zeros = c->zeros;
  switch (c->path) {
    case SWEEP_PATH_NONE:
      return sweep_kernels_none;
    case SWEEP_PATH_PLAIN:
      return sweep_kernels_plain;
    case SWEEP_PATH_VECTOR:
      return sweep_kernels_vector;
    case SWEEP_PATH_CG:
      return sweep_kernels_cg;
    case SWEEP_PATH_CUB:
      return sweep_kernels_cub;
    case SWEEP_PATH_CUB_BATCHED:
      return sweep_kernels_cub_batched;
    case SWEEP_PATH_SHUFFLE_SKIP:
      return sweep_kernels_shuffle_skip;
    case SWEEP_PATH_MATCH_SHARED:
      return sweep_kernels_match_shared;
    case SWEEP_PATH_BROKEN:
      return sweep_kernels_broken;
    case SWEEP_PATH_ATOMIC:
      return sweep_kernels_atomic;
    case SWEEP_PATH_SERIALIZED:
      return sweep_kernels_serialized;
    case SWEEP_PATH_BUTTERFLY:
      if (c->threshold == 0)
        return zeros ? sweep_kernels_butterfly_always_zeros : sweep_kernels_butterfly_always;
      return zeros ? sweep_kernels_butterfly_zeros : sweep_kernels_butterfly;
    case SWEEP_PATH_TRANSPOSED:
      if (c->threshold == 0)
        return zeros ? sweep_kernels_transposed_always_zeros : sweep_kernels_transposed_always;
      return zeros ? sweep_kernels_transposed_zeros : sweep_kernels_transposed;
    case SWEEP_PATH_TREE:
      if (c->threshold == 0 && !zeros) return sweep_kernels_tree_always;
      return zeros ? sweep_kernels_tree_zeros : sweep_kernels_tree;
    default:
      break;
  }
  if (c->threshold != SWEEP_THRESHOLD_DEFAULT) return sweep_kernels_auto;
  return zeros ? sweep_kernels_auto_default_zeros : sweep_kernels_auto_default;
}

sweep_kernel sweep_kernel_of(const struct sweep_cell *c) {
  const struct sweep_kernels *table = table_of(c);
  for (int i = 0; i < SWEEP_WIDTH_COUNT; ++i)
    if (table[i].width == c->width)
      return c->call == SWEEP_CALL_UNIFORM ? table[i].uniform : table[i].keyed;
  abort(); /* the plan asks for no path that is missing */
}

const char *sweep_path_missing(int path) {
  if (path == SWEEP_PATH_CG) return sweep_missing_cg;
  if (path == SWEEP_PATH_CUB) return sweep_missing_cub;
  if (path == SWEEP_PATH_CUB_BATCHED) return sweep_missing_cub_batched;
  return NULL;
}
