#!/bin/sh
# test_compare.sh <repository> <scratch folder> <program> - arc_sweep compare.
# SPDX-License-Identifier: Apache-2.0
root=$1 work=$2 compare=$3
. "$root/tests/bench_tools/expect.sh"

# Rows of one width, a path each: path, median, quartiles.
table() {
  echo "# program: arc_sweep"
  echo "# date: $1"
  echo "# device: NVIDIA H200, sm_90"
  echo "# policy: arc 0.1.0"
  echo "# sizes: blocks=1 threads=32 updates=1 rows=100 padding=4 repeat=7 seed=1"
  printf 'section,width,lanes,shape,keys,layout,call,zeros,path,threshold,gross_ms,'
  echo 'quartile_low_ms,quartile_high_ms,status'
  while read -r path median low high status; do
    echo "a,9,32,prefix,1,contiguous,uniform,0,$path,-,$median,$low,$high,${status:-ok}"
  done
}
table 2026-01-01 >a.csv <<'ROWS'
none 1.000 0.999 1.001
faster 1.000 0.990 1.010
slower 1.000 0.990 1.010
same 1.000 0.990 1.010
apart_but_small 1.000 0.999 1.001
far_but_overlapping 1.000 0.900 1.020
noisy 1.000 0.900 1.100
wrong 1.000 0.999 1.001
only_a 1.000 0.999 1.001
ROWS
table 2026-01-02 >b.csv <<'ROWS'
none 1.000 0.999 1.001
faster 0.500 0.495 0.505
slower 1.100 1.090 1.110
same 1.010 1.000 1.020
apart_but_small 1.010 1.009 1.011
far_but_overlapping 0.850 0.800 0.910
noisy 1.010 0.910 1.110
wrong 0.500 0.499 0.501 ERROR
only_b 1.000 0.999 1.001
ROWS

try 0 "$compare" a.csv b.csv
says out '^  faster +- +1.0000 +0.5000 +0.500 +2.0  FASTER$'
says out '^  slower +- +1.0000 +1.1000 +1.100 +2.0  SLOWER$'
says out '^  same .* SAME$'
says out '^  apart_but_small .* SAME$'
says out '^  far_but_overlapping .* 12.9  UNCLEAR$'
says out '^  noisy .* UNCLEAR$'
says out '^  all but none +6 +1 +1 +2 +2 +0.885$'
says out '^not compared: 1 cells only in A, 1 only in B, 1 with wrong sums$'
says out '^width 9, workload axes, lanes 32, shape prefix, keys 1, layout contiguous, call uniform'

# a difference beyond the quartiles of both, but not beyond --noise, is none; without it, it is one
try 0 "$compare" a.csv b.csv --noise 0 --path apart_but_small
says out '^  apart_but_small .* SLOWER$'
try 0 "$compare" a.csv b.csv --noise 20 --path slower
says out '^  slower .* SAME$'
try 0 "$compare" b.csv a.csv --path far_but_overlapping
says out '^  far_but_overlapping .* UNCLEAR$'

try 1 "$compare" a.csv b.csv --fail-if-slower
try 0 "$compare" a.csv b.csv --fail-if-slower --path faster
try 0 "$compare" a.csv b.csv --quiet
says out '^  all but none +6 +1 +1 +2 +2 '
checks=$((checks + 1))
grep -q 'FASTER$' out && failures=$((failures + 1)) && echo "FAILED: --quiet prints cells"
try 0 "$compare" --help
says out 'FASTER, SLOWER'

# heads
sed -e 's/H200/L4/' -e 's/rows=100 /rows=5 /' -e 's/arc 0.1.0/arc 0.2.0/' b.csv >other.csv
try 0 "$compare" a.csv other.csv
says err "device: 'NVIDIA H200, sm_90' and 'NVIDIA L4, sm_90'"
says err "sizes rows: '100' and '5'"
says err "policy: 'arc 0.1.0' and 'arc 0.2.0'"
sed 's/repeat=7/repeat=9/' b.csv >other.csv
try 0 "$compare" a.csv other.csv
checks=$((checks + 1))
[ -s err ] && failures=$((failures + 1)) && echo "FAILED: warns of repetitions: $(cat err)"

# columns that came later
awk -F, 'BEGIN { OFS = "," }
  /^#/ { print; next }
  /^section/ { print $0, "workload", "energy"; next }
  { print $0, $9 == "slower" ? "tile" : "axes", "5" }' b.csv >new.csv
try 0 "$compare" a.csv new.csv
says out '^  all but none +5 +1 +0 '
says out '^not compared: 2 cells only in A, 2 only in B'

# model clocks
sed -e 's/gross_ms,quartile_low_ms,quartile_high_ms/model_gross,x,y/' a.csv >ma.csv
sed -e 's/gross_ms,quartile_low_ms,quartile_high_ms/model_gross,x,y/' b.csv >mb.csv
try 0 "$compare" ma.csv mb.csv
says out '^  apart_but_small .* 0.0  SLOWER$'
says out 'of a \*model\*'
refuses 'holds model clocks, the other file times' "$compare" ma.csv b.csv

# the same kernels on the same GPU, measured twice
results=$root/tests/bench_tools/data
try 0 "$compare" "$results/default.csv" "$results/issue.csv" --quiet --fail-if-slower
says out '^  all but none +360 +0 +0 '

# bad input
refuses 'two files are needed' "$compare" a.csv
refuses 'is a third file' "$compare" a.csv b.csv c.csv
refuses '--noise: .-1. is not legal; legal: 0 to 100' "$compare" a.csv b.csv --noise -1
refuses '--path: needs a value' "$compare" a.csv b.csv --path
refuses '--fast: is not an option; legal: --noise' "$compare" a.csv b.csv --fast
refuses 'no cell of this path' "$compare" a.csv b.csv --path other
refuses 'missing.csv: cannot be read' "$compare" a.csv missing.csv
refuses 'no result file of arc_sweep' "$compare" "$root/bench/results/h200/fit_image_fox.csv" b.csv
sed 's/gross_ms/grossms/' b.csv >bad.csv
refuses "bad.csv: has no column 'gross_ms'" "$compare" a.csv bad.csv
sed '$s/ok/ok,1/' b.csv >bad.csv
refuses 'bad.csv:15: 15 fields where 14 columns are named' "$compare" a.csv bad.csv
sed 's/0.500,0.495/fast,0.495/' b.csv >bad.csv
refuses "bad.csv:8: column gross_ms: 'fast' is not a number" "$compare" a.csv bad.csv
sed 's/0.500,0.495/-0.500,0.495/' b.csv >bad.csv
refuses 'bad.csv:8: the median is not a time between' "$compare" a.csv bad.csv
head -c 700 b.csv >bad.csv
refuses 'does not end with a whole line' "$compare" a.csv bad.csv
head -n 6 b.csv >bad.csv
refuses 'bad.csv: holds no cells' "$compare" a.csv bad.csv
head -n 5 b.csv >bad.csv
refuses 'ends before its columns' "$compare" a.csv bad.csv
sed 's/,shape/,lanes/' b.csv >bad.csv
refuses 'bad.csv:6: a column has no name, or that of another' "$compare" a.csv bad.csv
finish
