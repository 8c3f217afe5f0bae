/* peers.cu - reductions of renderers and meshes, written by hand: five shuffles per value. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

SWEEP_PATH(SWEEP_WIDTHS_AND_WIDE, shuffle_skip,
           SWEEP_BY_HANDS(sweep_add_shuffle_skip, sweep_add_shuffle_skip_keyed))

SWEEP_FAMILY(peers, SWEEP_ANY_TABLE(shuffle_skip, SWEEP_PATH_SHUFFLE_SKIP))
