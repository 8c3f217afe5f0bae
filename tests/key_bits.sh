#!/bin/sh
# key_bits.sh - a key that may be no int does not compile, unless ARC_KEY_BITS is 64; an int does.
# Without optimisation both do.
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
extern "C" __global__ void add(float *rows, const TYPE *keys, int n) {
  float values[1] = {1.0f};
  bool active = threadIdx.x < n;
  arc_add_f32(arc_target_f32_rows(rows, 1, 1), KEY, values, active);
}
END

failed=0
# check <type of keys> <key> <ARC_KEY_BITS> <compiles | does not compile> [options]
check() {
  found="does not compile"
  # shellcheck disable=SC2086
  "$nvcc" -std=c++17 -arch=sm_90 ${5:-} -cubin -D "TYPE=$1" -D "KEY=$2" -DARC_KEY_BITS="$3" -I"$root" \
    -o "$work/kernel.cubin" "$work/kernel.cu" >"$work/kernel.txt" 2>&1 && found=compiles
  echo "the key $2 of type $1, ARC_KEY_BITS $3: $found"
  [ "$found" = "$4" ] || failed=1
  [ "$found" = compiles ] || grep -q "$name" "$work/kernel.txt" || {
    echo "FAILED: the error does not name $name:" && cat "$work/kernel.txt"
    failed=1
  }
}
for type in int unsigned short "unsigned char"; do
  check "$type" "keys[threadIdx.x]" 32 compiles
done
check int "active ? keys[threadIdx.x] : -1" 32 compiles
check "long long" "(int)keys[threadIdx.x]" 32 compiles
check "long long" "active ? (int)keys[threadIdx.x] : 0" 32 compiles
check "long long" "keys[threadIdx.x]" 32 "does not compile"
check "long long" "active ? keys[threadIdx.x] : 0" 32 "does not compile"
check int "2ll * keys[threadIdx.x]" 32 "does not compile"
check unsigned "-(long long)keys[threadIdx.x]" 32 "does not compile"
check "long long" "keys[threadIdx.x]" 64 compiles
for options in -G -Ofc=max "-Xcicc -O0"; do
  check "long long" "keys[threadIdx.x]" 32 compiles "$options"
done
exit $failed
