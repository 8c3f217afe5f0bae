#!/bin/sh
# builds.sh - programs with arc compile and link in every kind of build, and where there is a device
# their sums are right; a debug build of one add stays small. SPDX-License-Identifier: Apache-2.0
#
#   builds.sh <repository> <scratch folder>
#
# NVCC names the compiler. Exit code 77: there is none.
set -u
root=$1 work=$2/builds
nvcc=${NVCC:-nvcc} arch=${ARCH:-sm_90}
command -v "$nvcc" >/dev/null || {
  echo "skipped: no nvcc"
  exit 77
}
mkdir -p "$work"
failed=0

# build <options> -- <sources> : compiles, links and runs
build() {
  options=
  while [ "$1" != -- ]; do options="$options $1" && shift; done
  shift
  began=$(date +%s)
  # shellcheck disable=SC2086
  "$nvcc" -arch="$arch" $options -Werror all-warnings -I"$root" "$@" -o "$work/program" \
    >"$work/log.txt" 2>&1 || {
    echo "FAILED:$options does not build: $(grep -v '^$' "$work/log.txt" | head -n 3)"
    failed=1
    return
  }
  "$work/program" >"$work/log.txt" 2>&1
  status=$?
  echo "$options: built in $(($(date +%s) - began)) s, $(tail -n 1 "$work/log.txt")"
  [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
}

each=$root/tests/test_each_form.cu
two="$root/tests/test_two_units.cu $root/tests/test_two_units_other.cu"
build -G -- "$each"
build -G -DARC_CHECK=2 -- "$each"
build -Ofc=max -- "$each"
# shellcheck disable=SC2086
for options in "-Xptxas -O0" "-std=c++11" "-rdc=true"; do build $options -- $two; done

cat >"$work/one_add.cu" <<'END'
#include "arc.cuh"
__global__ void one_add(float *rows, const int *keys, const float *from) {
  float values[9];
  for (int i = 0; i < 9; ++i) values[i] = from[32 * i + threadIdx.x];
  arc_add_f32(arc_target_f32_rows(rows, 9, 9), keys[threadIdx.x], values, true);
}
int main(void) { return 0; }
END
build -Xcicc -O0 -- "$work/one_add.cu"
"$nvcc" -arch="$arch" -G -I"$root" -c "$work/one_add.cu" -o "$work/one_add.o" || failed=1
bytes=$(wc -c <"$work/one_add.o")
echo "one add of 9 floats, -G: $bytes bytes"
[ "$bytes" -le 500000 ] || failed=1
exit $failed
