#!/bin/sh
# apart.sh - where lanes may have parted, no vote or shuffle takes its mask from one lane for all.
# SPDX-License-Identifier: Apache-2.0
#
#   apart.sh <repository> <scratch folder>
#
# Reads the machine code of test_apart.cu. BRA.DIV tells whether the lanes of a mask are together: the
# mask is a literal, or there is a predicate in front, by which lanes with another mask go elsewhere.
# NVCC and NVDISASM name the tools; ARC_DOWNLOADS=1 lets it fetch the latter, once. Exit code 77:
# one is missing.
set -u
root=$1 work=$2/apart
nvcc=${NVCC:-nvcc}
. "$root/tests/fetch_wheel.sh"
command -v "$nvcc" >/dev/null || skip "no nvcc"
mkdir -p "$work" && cd "$work" || exit 1
disassembler=$(command -v "${NVDISASM:-nvdisasm}") || {
  fetch_wheel nvidia-cuda-nvdisasm nvdisasm
  disassembler=$fetched
  chmod +x "$disassembler"
}

failed=0
for arch in sm_90 sm_120; do
  "$nvcc" -std=c++17 -arch=$arch -cubin -DAPART_WIDTH=9 -I"$root" -o apart.cubin \
    "$root/tests/test_apart.cu" && "$disassembler" -c apart.cubin >apart.txt || exit 1
  awk -v arch=$arch '
    { gsub(/\/\*[^*]*\*\//, ""); guarded = $1 ~ /^@/; if (guarded) $1 = ""; $0 = $0 }
    $1 == "BRA.DIV" { sub(/,$/, "", $2); if (guarded) safe++; else if (literal[$2]) full++; else bad++; next }
    { sub(/,$/, "", $2); literal[$2] = $1 == "UMOV" && $3 == "0xffffffff" }
    END {
      printf "%s: masks of BRA.DIV: %d literal, %d of each lane, %d of one lane\n", arch, full, safe, bad
      exit bad > 0 || safe == 0
    }' apart.txt || failed=1
done
exit $failed
