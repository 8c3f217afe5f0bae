#!/bin/sh
# test_model.sh <repository> <scratch folder> <model_fit> <arc_sweep_simt> - the CPU warp's model
# against the committed times of an H200: at least 94 % of the pairs of paths in the right order, in
# at least 90 % of the cells every pair that differs by more than 10 %.
# SPDX-License-Identifier: Apache-2.0
root=$1 work=$2 fit=$3 sweep=$4
. "$root/tests/bench_tools/expect.sh"
times=$root/bench/results/h200/issue.csv

try 0 "$sweep" --preset issue --quiet --csv counts.csv
try 0 "$fit" "$times" counts.csv --expect 94 --expect-cells 90
cat out
finish
