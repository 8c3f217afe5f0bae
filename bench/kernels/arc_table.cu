/* arc_table.cu - rows that a warp keeps in shared memory. SPDX-License-Identifier: Apache-2.0 */
#define ARC_TABLES 1
#include "kernel.cuh"

#include "arc/table.cuh"

/* Rows of a warp's table: about 3 KiB, so that tables do not limit the warps that run at once. */
#define TABLE_ROWS(W) ((W) <= 9 ? 64 : (W) <= 16 ? 32 : 16)

#undef SWEEP_BEFORE
#undef SWEEP_AFTER
#define SWEEP_BEFORE(W)                                                            \
  __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, TABLE_ROWS(W), W, 256)]; \
  arc_table_f32 table = arc_table_begin_f32(target, shared, TABLE_ROWS(W))
#define SWEEP_AFTER() arc_table_end_f32(&table)
#define TABLE_KERNELS(W, name)                                                       \
  SWEEP_KERNEL(uniform, W, name, arc_table_add_f32(&table, d.key, values, d.active)) \
  SWEEP_KERNEL(keyed, W, name, arc_table_add_f32(&table, d.key, values, d.active))
SWEEP_FORM_WIDTHS(TABLE_KERNELS, table)
static const struct sweep_kernels table_kernels[] = {SWEEP_FORM_WIDTHS(SWEEP_ENTRY, table)};

SWEEP_FAMILY(table, SWEEP_TABLE(table, SWEEP_PATH_TABLE, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD))
