/* arc_reductions.cu - the transposed reduction and the tree. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_PATH(SWEEP_WIDTHS, transposed_always, SWEEP_ARC(ARC_PATH_TRANSPOSED, one_key, 0))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, transposed_zeros,
                   SWEEP_ARC(ARC_PATH_TRANSPOSED, one_key | ARC_PROMISE_INACTIVE_IS_ZERO, 0))
SWEEP_PATH(SWEEP_WIDTHS, transposed, SWEEP_ARC(ARC_PATH_TRANSPOSED, one_key, a.threshold))
SWEEP_PATH(SWEEP_WIDTHS, tree_always, SWEEP_ARC(ARC_PATH_TREE, one_key, 0))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, tree_zeros,
                   SWEEP_ARC(ARC_PATH_TREE, one_key | ARC_PROMISE_INACTIVE_IS_ZERO, a.threshold))
SWEEP_PATH(SWEEP_WIDTHS, tree, SWEEP_ARC(ARC_PATH_TREE, one_key, a.threshold))

SWEEP_FAMILY(reductions, SWEEP_TABLE(transposed_always, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(transposed_zeros, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_PROMISED, 0),
             SWEEP_TABLE(transposed, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(tree_always, SWEEP_PATH_TREE, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(tree_zeros, SWEEP_PATH_TREE, SWEEP_ZEROS_PROMISED, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(tree, SWEEP_PATH_TREE, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
