# Moves sources from arc 0.3 to 0.4: sed -i -f move-0.4.sed FILES. SPDX-License-Identifier: Apache-2.0
s/\barc_table_gather_add/arc_table_index_add/g
s/\barc_gather_add/arc_index_add_rows/g
s/\barc_gather_/arc_index_add_/g
s#\barc/gather\.cuh#arc/index_add.cuh#g
s/, *ARC_BALANCE_THRESHOLD);/);/g
