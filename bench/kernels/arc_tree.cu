/* arc_tree.cu - all groups of a warp at once. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_ARC_PATH(SWEEP_WIDTHS, tree_always, ARC_PATH_TREE, 0, 0)
SWEEP_UNIFORM_PATH(SWEEP_ARC_UNIFORM, tree_zeros, ARC_PATH_TREE, ARC_PROMISE_INACTIVE_IS_ZERO,
                   a.threshold)
SWEEP_ARC_PATH(SWEEP_WIDTHS, tree, ARC_PATH_TREE, 0, a.threshold)

SWEEP_FAMILY(tree, SWEEP_TABLE(tree_always, SWEEP_PATH_TREE, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(tree_zeros, SWEEP_PATH_TREE, SWEEP_ZEROS_PROMISED, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(tree, SWEEP_PATH_TREE, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
