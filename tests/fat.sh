#!/bin/sh
# fat.sh - one program for all architectures of this nvcc, from two files that both include arc.cuh;
# where there is a device, it checks its sums. SPDX-License-Identifier: Apache-2.0
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
"$nvcc" -std=c++17 -arch=all -t 2 -Wno-deprecated-gpu-targets -Werror all-warnings -I"$root" \
  "$root/tests/test_two_units.cu" "$root/tests/test_two_units_other.cu" -o "$program"
echo "built for $("$nvcc" --list-gpu-code | tr '\n' ' ')"
"$program" || [ $? -eq 77 ]
