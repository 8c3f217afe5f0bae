#!/bin/sh
# apart.sh - where lanes may have parted, no vote or shuffle takes its mask from one lane for all.
# SPDX-License-Identifier: Apache-2.0
#
#   apart.sh <repository> <scratch folder>
#
# Reads the machine code of test_apart.cu by apart.py, which says what that means. NVCC and NVDISASM
# name the tools; ARC_DOWNLOADS=1 lets it fetch the latter, once. Exit code 77: one is missing.
set -u
root=$1 work=$2/apart
nvcc=${NVCC:-nvcc}
. "$root/tests/fetch_wheel.sh"
command -v "$nvcc" >/dev/null || skip "no nvcc"
command -v python3 >/dev/null || skip "no python3"
mkdir -p "$work" && cd "$work" || exit 1
disassembler=$(command -v "${NVDISASM:-nvdisasm}") || {
  fetch_wheel nvidia-cuda-nvdisasm nvdisasm
  disassembler=$fetched
  chmod +x "$disassembler"
}

failed=0
for arch in sm_90 sm_120; do
  "$nvcc" -std=c++17 -arch=$arch -cubin -I"$root" -o apart.cubin "$root/tests/test_apart.cu" &&
    "$disassembler" -c apart.cubin >apart.txt || exit 1
  printf '%s: ' $arch
  python3 "$root/tests/apart.py" <apart.txt || failed=1
done
exit $failed
