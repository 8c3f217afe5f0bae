#!/bin/sh
# test_versions.sh - all that includes PyTorch compiles with the oldest that arc_torch is for, and
# with the newest that there is. SPDX-License-Identifier: Apache-2.0
#
# test_versions.sh <repository> <scratch folder> <C++ compiler>
# For before a release: with ARC_DOWNLOADS=1 it fetches both, 1.5 GB, and keeps their headers.
set -u
root=$1 scratch=$2 failed=0
. "$root/tests/fetch_wheel.sh"
nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || skip "no nvcc, thus no headers of CUDA"
for package in torch==2.5.1 torch; do
  rm -rf "${scratch:?}/$package"
  mkdir -p "$scratch/$package" && cd "$scratch/$package" || exit 1
  fetch_wheel "$package" cpp_extension.py
  torch=${fetched%/utils/*}
  rm -rf "$torch/lib"
  standard=$(grep -o -e '-std=c++[0-9]*' "$fetched" | sort | tail -n 1)
  for source in "$root"/python/arc_torch/*.cpp; do
    echo "$package, $standard: $source"
    "$3" "$standard" -fsyntax-only -I"$root" -isystem "$torch/include" \
      -isystem "$torch/include/torch/csrc/api/include" \
      -isystem "$(dirname "$(readlink -f "$nvcc")")/../include" "$source" || failed=1
  done
done
exit $failed
