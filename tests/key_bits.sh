#!/bin/sh
# key_bits.sh - a key beyond an int does not compile, unless ARC_KEY_BITS is 64; an int does.
# SPDX-License-Identifier: Apache-2.0
#
#   key_bits.sh <repository> <scratch folder>
#
# NVCC names the compiler. Exit code 77: there is none.
set -u
root=$1 work=$2/key_bits
nvcc=${NVCC:-nvcc}
name=arc_key_is_no_int__cast_it_or_set_ARC_KEY_BITS_to_64
command -v "$nvcc" >/dev/null || {
  echo "skipped: no nvcc"
  exit 77
}
mkdir -p "$work"
cat >"$work/kernel.cu" <<'END'
#include "arc.cuh"
extern "C" __global__ void add(float *rows, const KEY *keys) {
  float values[1] = {1.0f};
  arc_add_f32(arc_target_f32_rows(rows, 1, 1), keys[threadIdx.x], values, true, 8);
}
END

failed=0
# check <key's type> <ARC_KEY_BITS> <compiles | does not compile>
check() {
  found="does not compile"
  "$nvcc" -std=c++17 -arch=sm_90 -cubin -D "KEY=$1" -DARC_KEY_BITS="$2" -I"$root" \
    -o "$work/kernel.cubin" "$work/kernel.cu" >"$work/kernel.txt" 2>&1 && found=compiles
  echo "a key of type $1, ARC_KEY_BITS $2: $found"
  [ "$found" = "$3" ] || failed=1
  [ "$found" = compiles ] || grep -q "$name" "$work/kernel.txt" || {
    echo "FAILED: the error does not name $name:" && cat "$work/kernel.txt"
    failed=1
  }
}
check int 32 compiles
check unsigned 32 compiles
check "long long" 32 "does not compile"
check "long long" 64 compiles
exit $failed
