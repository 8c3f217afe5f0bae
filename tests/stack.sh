#!/bin/sh
# stack.sh - a literal width compiles to registers only: no stack frame and no spill, on any path.
# SPDX-License-Identifier: Apache-2.0
#
# stack.sh <repository> <scratch folder> [jobs]
# Reads the assembler's report (-Xptxas -v) for every architecture that nvcc lists; warnings are
# errors. NVCC names the compiler. ARC_STACK_FULL lists the architectures at which all widths
# 1..32 are compiled (default sm_90); the others get few, 32 among them, which needs most registers.
# Every kernel that was written must appear in the report. Exit code 77: no nvcc.
set -u
root=$1 work=$2/stack jobs=${3:-2}
nvcc=${NVCC:-nvcc}
full=${ARC_STACK_FULL:-sm_90}
command -v "$nvcc" >/dev/null || {
  echo "skipped: no nvcc"
  exit 77
}

all_widths=$(seq 1 32)
few_widths="3 32"
spotless=' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
paths="atomic serialized butterfly transposed tree auto"

# kernel <name> <width> <call>
kernel() {
  cat <<KERNEL
extern "C" __global__ void $1(float *sums, int stride, float *const *pointers, const float *from,
                              const int *keys, unsigned mask, int threshold) {
  float values[$2];
  for (int k = 0; k < $2; ++k) values[k] = from[k * 1024 + threadIdx.x];
  int key = keys[threadIdx.x];
  bool active = key >= 0;
  arc_target_f32 target = arc_target_f32_rows(sums, stride, $2);
  (void)pointers, (void)mask, (void)target, (void)active;
  $3;
}
KERNEL
}

# source <path> <widths> : all kernels of one path
source_of() {
  echo '#include "arc.cuh"'
  for n in $2; do
    args="(target, key, values, active, threshold)"
    kernel "keyed_$1_$n" "$n" "arc_add_$1_f32$args"
    kernel "uniform_$1_$n" "$n" "arc_add_uniform_$1_f32$args"
    case $n in
    1 | 10)
      kernel "masked_$1_$n" "$n" \
        "arc_add_masked_$1_f32(target, key, values, active, mask, threshold)"
      kernel "divergent_$1_$n" "$n" \
        "if (active) arc_add_divergent_$1_f32(target, key, values, threshold)"
      kernel "pointers_$1_$n" "$n" \
        "arc_add_pointers_$1_f32(pointers + threadIdx.x * $n, $n, key, values, active, threshold)"
      ;;
    esac
  done
}

# One architecture and path; the report stays in the scratch folder.
if [ "${4:-}" = one ]; then
  arch=${5%:*} path=${5#*:}
  case " $full " in *" $arch "*) set=full ;; *) set=few ;; esac
  "$nvcc" -std=c++17 -arch="$arch" -cubin -Xptxas -v -Werror all-warnings -I"$root" \
    -o "$work/$arch.$path.cubin" "$work/$set.$path.cu" >"$work/$arch.$path.txt" 2>&1
  status=$?
  rm -f "$work/$arch.$path.cubin"
  wanted=$(grep -c __global__ "$work/$set.$path.cu")
  seen=$(grep -c 'bytes stack frame' "$work/$arch.$path.txt")
  clean=$(grep -c "$spotless" "$work/$arch.$path.txt")
  if [ $status -eq 0 ] && [ "$seen" -eq "$wanted" ] && [ "$clean" -eq "$wanted" ]; then
    echo "$arch $path: $clean kernels, registers only"
    exit 0
  fi
  echo "$arch $path: FAILED: nvcc $status, $wanted kernels written, $seen reported, $clean clean"
  grep -B1 'bytes stack frame' "$work/$arch.$path.txt" | grep -v -e '^--' |
    paste - - | grep -v "$spotless" | head -n 10
  grep -i -e error -e warning "$work/$arch.$path.txt" | head -n 10
  exit 1
fi

mkdir -p "$work"
rm -f "$work"/*
for path in $paths; do
  source_of "$path" "$all_widths" >"$work/full.$path.cu"
  source_of "$path" "$few_widths" >"$work/few.$path.cu"
done
archs=${ARC_STACK_ARCHS:-$("$nvcc" --list-gpu-code | grep '^sm_')}
for arch in $archs; do
  for path in $paths; do echo "$arch:$path"; done
done >"$work/jobs"
[ -s "$work/jobs" ] || {
  echo "FAILED: nvcc lists no architecture"
  exit 1
}
xargs -P "$jobs" -n 1 sh "$0" "$root" "$2" "$jobs" one <"$work/jobs"
