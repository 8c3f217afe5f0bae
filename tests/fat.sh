#!/bin/sh
# fat.sh - one program for all architectures of this nvcc, from two files that both include arc.cuh;
# where there is a device, it checks its sums. On no architecture does a kernel get a stack frame or a
# spill (stack.sh looks at more kernels, on one). SPDX-License-Identifier: Apache-2.0
#
#   fat.sh <repository> <scratch folder>
#
# NVCC names the compiler. Exit code 77: there is none.
set -eu
root=$1 program=$2/fat
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || {
  echo "skipped: no nvcc"
  exit 77
}
"$nvcc" -std=c++17 -arch=all -t 2 -Xptxas -v -Wno-deprecated-gpu-targets -Werror all-warnings \
  -I"$root" "$root/tests/test_two_units.cu" "$root/tests/test_two_units_other.cu" -o "$program" \
  2>"$program.txt" || {
  cat "$program.txt"
  exit 1
}
codes=$("$nvcc" --list-gpu-code | grep '^sm_')
clean=$(grep -c ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$program.txt")
wanted=$((2 * $(echo "$codes" | wc -l)))
echo "built for" $codes
if [ "$clean" -ne "$wanted" ]; then
  echo "FAILED: $clean of $wanted kernels have neither stack frame nor spill"
  exit 1
fi
"$program" || [ $? -eq 77 ]
