#!/bin/sh
# test_model_fit.sh <repository> <scratch folder> <program> - the fit of the CPU warp's model.
# SPDX-License-Identifier: Apache-2.0
# Made-up times from constants that are known: the program must find them.
root=$1 work=$2 fit=$3
. "$root/tests/bench_tools/expect.sh"

# made_up gpu|cpu: 40 cells of 6 paths; a scheduler clock of a warp update is 1 microsecond (one
# multiprocessor of 4 schedulers at 1 MHz, 4 warp updates). `none` first, as a sweep has it.
made_up() {
  awk -v side="$1" 'BEGIN {
    srand(7)
    print "# program: arc_sweep"
    print "# date: 2026-01-01"
    print "# device: Test, sm_90, 1 multiprocessors"
    print "# clocks: up to 1 MHz, 1 MHz measured at the start"
    print "# sizes: blocks=4 threads=32 updates=1 rows=1"
    figures = side == "gpu" ? "gross_ms,quartile_low_ms,quartile_high_ms" : \
              "model_gross,shuffles,votes,matches,scans,requests,sectors,conflicts"
    print "section,width,lanes,shape,keys,layout,call,zeros,path,threshold," figures ",status"
    for (cell = 0; cell < 40; ++cell) {
      width = 1 + cell % 20
      keyed = cell % 2
      for (path = 0; path < 6; ++path) {
        s = v = m = b = r = t = c = 0
        if (path > 0) {
          s = int(rand() * 60)
          v = int(rand() * 10)
          m = int(rand() * 3)
          b = int(rand() * 20)
          r = 1 + int(rand() * 8)
          t = r + int(rand() * 16)
          c = path > 3 ? int(rand() * 300) : 0
        }
        issue = 30 + 2 * width + 6 * keyed + 3 * s + 9 * v + 6 * m + 4 * b + 3 * r
        unit = 5 * s + 13 * r
        memory = t * 15 + c * 12
        clocks = issue > memory ? issue : memory
        if (path > 0 && unit > clocks) clocks = unit
        name = path == 0 ? "none" : path == 1 ? "plain" : path == 2 ? "atomic" : \
               path == 3 ? "butterfly" : path == 4 ? "transposed" : "tree"
        printf "a,%d,%d,prefix,1,contiguous,%s,0,%s,%s,", width, 1 + cell % 32, \
          keyed ? "keyed" : "uniform", name, path < 3 ? "-" : "0"
        if (side == "gpu")
          printf "%.4f,%.4f,%.4f,ok\n", clocks / 1000, clocks / 1000, clocks / 1000
        else
          printf "%.6g,%d,%d,%d,%d,%d,%d,%d,ok\n", 1000 / clocks, s, v, m, b, r, t, c
      }
    }
  }'
}
made_up gpu >gpu.csv
made_up cpu >cpu.csv
try 0 "$fit" gpu.csv cpu.csv
says out '^40 cells, [0-9]+ pairs'
says out 'a shuffle and what hangs on it +(2.9|3.0)'
says out 'a vote and what hangs on it +(8.9|9.0)'
says out 'a bit scan +(3.9|4.0)'
says out "a request, the shuffles' unit +1(2.9|3.0)"
says out 'a sector +1(4.9|5.0)'
says out 'a lane on an address hit already +1(1.9|2.0)'
says out 'kernel around +(29.[5-9]|30.[0-5])[0-9] +\+ (1.9|2.0)[0-9] a value, \+ (5.[89]|6.[0-2])'
says out '^  fitted to all cells +(99.[0-9]|100.0) '
says out '^  fitted to even, judged on odd cells +(9[89].[0-9]|100.0) '
# model_gross falls where the times rise, so the file's own model has every pair the wrong way
says out '^  as written in the file of counts +0.0 '
try 1 "$fit" gpu.csv cpu.csv --expect 90
says err 'the model orders pairs right in 0.0 %, expected 90.0 %'
try 1 "$fit" gpu.csv cpu.csv --expect-cells 80
says err 'the model orders cells right in 0.0 %, expected 80.0 %'
awk -F, 'BEGIN { OFS = "," } /^[#s]/ { print; next } { $11 = 1000000 / $11; print }' cpu.csv \
  >right.csv
try 0 "$fit" gpu.csv right.csv --expect 99 --expect-cells 99
says out '^  as written in the file of counts +100.0 +0.0 +100.0 +100.0 +100.0 +100.0 +100.0 +1.000'
# the odd cells take twice as long: what the even ones taught is wrong by half there
awk -F, 'BEGIN { OFS = "," } /^[#s]/ { print; next }
  $7 == "keyed" { $11 *= 2; $12 *= 2; $13 *= 2 } { print }' gpu.csv >slow.csv
try 0 "$fit" slow.csv cpu.csv
says out '^  fitted to even, judged on odd cells .* (4[5-9]|50)\.[0-9]$'
# equal model clocks are no order
awk -F, 'BEGIN { OFS = "," } /^[#s]/ { print; next } { $11 = 5; print }' cpu.csv >tied.csv
try 1 "$fit" gpu.csv tied.csv --expect 1
says out '^  as written in the file of counts +0.0 +100.0 +0.0 +[0-9.]+ +[0-9.]+ +100.0 '

refuses 'usage: model_fit' "$fit" gpu.csv
refuses 'usage: model_fit' "$fit" gpu.csv cpu.csv --expect 0
refuses 'usage: model_fit' "$fit" gpu.csv cpu.csv --expect 90 --expect-cells
refuses 'usage: model_fit' "$fit" gpu.csv cpu.csv --expect-cells 101
refuses "gpu.csv: has no column 'shuffles'" "$fit" gpu.csv gpu.csv
refuses "cpu.csv: has no column 'gross_ms'" "$fit" cpu.csv cpu.csv
sed 's/,scans,/,x,/' cpu.csv >bad.csv
refuses "bad.csv: has no column 'scans'" "$fit" gpu.csv bad.csv
sed 's/, 1 multiprocessors//' gpu.csv >bad.csv
refuses "the head has no 'device' with a number of ' multiprocessors'" "$fit" bad.csv cpu.csv
head -n 40 cpu.csv >bad.csv
refuses 'shares fewer than 8 cells' "$fit" gpu.csv bad.csv
sed '10s/0\./-0./' gpu.csv >bad.csv
refuses 'bad.csv:10: the times are not above 0' "$fit" bad.csv cpu.csv
finish
