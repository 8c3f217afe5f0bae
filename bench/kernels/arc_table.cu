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
SWEEP_PATH(SWEEP_FORM_WIDTHS, table, arc_table_add_f32(&table, d.key, values, d.active))

SWEEP_FAMILY(table, SWEEP_ANY_TABLE(table, SWEEP_PATH_TABLE))
