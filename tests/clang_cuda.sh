#!/bin/sh
# clang_cuda.sh - arc.cuh compiles with clang as the CUDA compiler, optimised and not: no warning,
# and PTX that names no function which nobody defines. SPDX-License-Identifier: Apache-2.0
#
#   clang_cuda.sh <repository> <scratch folder>
#
# NVCC names the compiler of the toolkit, CLANG the clang: 19 or newer, as older ones take minutes,
# and one that knows the toolkit. With ARC_DOWNLOADS=1 the script fetches clang 22, which knows
# CUDA 13, from Debian, once, into the scratch folder. Exit code 77: there is none.
set -u
root=$1 work=$2/clang_cuda
mkdir -p "$work" && cd "$work" || exit 1
lib=$PWD/debian/usr/lib # of what is fetched
export LD_LIBRARY_PATH="$lib/x86_64-linux-gnu:$lib/llvm-22/lib:${LD_LIBRARY_PATH:-/usr/lib}"

skip() {
  echo "skipped: $1"
  exit 77
}
nvcc=$(command -v "${NVCC:-nvcc}") || skip "no nvcc, beside which clang finds CUDA"
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")

# device <source> <options>; -isystem: or headers of another CUDA in /usr/local/include come first
device() {
  timeout 400 "$clang" -x cuda --cuda-device-only -S --cuda-path="$cuda" -isystem "$cuda/include" \
    -Wno-unknown-cuda-version -std=c++17 -I"$root" -o kernels.ptx "$@" 2>clang.txt
}
printf '#if __clang_major__ < 19\n#error too old\n#endif\n__global__ void empty() {}\n' >empty.cu
find_clang() {
  for clang in "${CLANG:-clang++}" clang++-22 clang++-21 clang++-20 clang++-19 \
    "$lib/llvm-22/bin/clang++"; do
    command -v "$clang" >/dev/null && device empty.cu --cuda-gpu-arch=sm_90 && return 0
  done
  return 1
}
fetch_clang() { # with package lists of its own: the machine's stay as they are
  mkdir -p lists/partial cache/archives/partial
  set -- -q -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD/cache"
  apt-get update "$@" &&
    apt-get download "$@" clang-22 libclang-common-22-dev libclang-cpp22 libllvm22 &&
    for package in ./*.deb; do dpkg -x "$package" debian || return 1; done
  rm -rf lists cache ./*.deb
}
find_clang || {
  none="no clang 19 or newer that knows $cuda"
  [ "${ARC_DOWNLOADS:-}" = 1 ] || skip "$none; with ARC_DOWNLOADS=1 this test fetches clang 22"
  fetch_clang >fetch.txt 2>&1
  find_clang || skip "$none, and none could be fetched"
}
echo "$("$clang" --version | head -n 1), $cuda"

# One call a kernel: clang takes minutes for many in one.
cat >kernels.cu <<'END'
#define ARC_TABLES 1
#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"
#include "arc/table.cuh"
#include "arc/overloads.cuh"
#define KERNEL(name, T, M, TARGET, ...)                                                      \
  extern "C" __global__ void name(M *sums, T *const *pointers, const T *from, unsigned mask, \
                                  const KEY *keys) {                                         \
    const T values[3] = {from[threadIdx.x], from[threadIdx.x + 32], from[threadIdx.x + 64]}; \
    const KEY key = keys[threadIdx.x];                                                       \
    const bool active = values[0] > 0;                                                       \
    const auto t = TARGET;                                                                   \
    arc_options o = arc_options_default();                                                   \
    (void)pointers, (void)mask, (void)key, (void)active, (void)t, (void)o;                   \
    __VA_ARGS__;                                                                             \
  }
#define F32(name, ...) KERNEL(name, float, float, arc_target_f32_rows(sums, 4, 3), __VA_ARGS__)
#ifdef DYNAMIC
F32(dynamic, arc_add(arc_target_dynamic(sums, 4, (int)mask), key, from, active))
#else
F32(keyed, arc_add_f32(t, key, values, active))
#endif
#if !defined(ONE) && !defined(DYNAMIC)
F32(uniform, arc_add_uniform_f32(t, 7, values, active))
F32(masked, arc_add_masked_f32(t, key, values, active, mask))
F32(divergent, if (active) arc_add_divergent_f32(t, key, values))
F32(wide_keys, o.key_bits = 64; arc_add_with_f32(t, key * 0x100000000ll, values, active, o))
#define PATH(P) F32(P, o.path = ARC_PATH_##P; arc_add_with_f32(t, key, values, active, o))
PATH(ATOMIC) PATH(SERIALIZED) PATH(BUTTERFLY) PATH(TRANSPOSED) PATH(TREE)
F32(pointers_keyed, arc_add_pointers_f32(pointers, 3, key, values, active))
F32(pointers_masked, arc_add_pointers_masked_f32(pointers, 3, key, values, active, mask))
F32(pointers_divergent, if (active) arc_add_pointers_divergent_f32(pointers, 3, key, values))
F32(sums_in_halves, arc_sum_f32 sum = arc_sum_begin_f32(t, key, values, active);
    while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum))
#define ROWS(name, from_memory) \
  F32(name, arc_index_add_f32 rows = from_memory(t, from, 3); \
      arc_index_add_rows_f32(&rows, key, threadIdx.x, active); arc_index_add_end_f32(&rows))
ROWS(rows, arc_index_add_begin_f32) ROWS(rows_f16, arc_index_add_begin_f32_from_f16)
F32(hot, __shared__ float shared[ARC_HOT_SUMS(2, 3, 128)];
    arc_hot_f32 hot = arc_hot_begin_f32(t, shared, 0, 2);
    arc_hot_add_f32(&hot, key, values, active); arc_hot_end_f32(&hot, true))
F32(table, __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, 8, 3, 128)];
    arc_table_f32 table = arc_table_begin_f32(t, shared, 8);
    arc_table_add_f32(&table, key, values, active); arc_table_end_f32(&table))
F32(atomred, arc_atomred_f32(sums, values[0]); arc_atomic_add_f32(sums, values[1]))
#define ADD(name, S, T, M, ...) \
  KERNEL(name, T, M, (__VA_ARGS__), arc_add_##S(t, key, values, active))
#define ROWS_OF(S, T) ADD(S, S, T, T, arc_target_##S##_rows(sums, 4, 3))
ROWS_OF(f64, double) ROWS_OF(i32, int) ROWS_OF(u32, unsigned) ROWS_OF(i64, long long)
ADD(f32_to_f64, f32_to_f64, float, double, arc_target_f32_to_f64_rows(sums, 4, 3))
ADD(f16, f16, float, void, arc_target_f16_rows(sums, 4, 3))
ADD(bf16, bf16, float, void, arc_target_bf16_rows(sums, 4, 3))
ADD(fixed, fixed, float, long long, arc_target_fixed_rows(sums, 4, 3, 20))
#endif
END

# assemble <architecture> <options>: to PTX, and that to machine code
assemble() {
  sm=$1 && shift
  device kernels.cu --cuda-gpu-arch="$sm" -Wall -Wextra -Wundef -Werror "$@" &&
    timeout 400 "$cuda/bin/ptxas" -arch="$sm" -o kernels.cubin kernels.ptx >>clang.txt 2>&1
}
names='s/^\.extern \.func *\(([^)]*)\)\{0,1\} *\([A-Za-z0-9_$]*\).*/\2/p'
# check <architecture> <options>: it does, and nothing is undefined but what CUDA defines
check() {
  echo "$*"
  assemble "$@" || { echo "FAILED, or took 400 s:" && head -n 40 clang.txt && exit 1; }
  undefined=$(sed -n "$names" kernels.ptx | grep -vx __assertfail)
  [ -z "$undefined" ] || { echo "FAILED: undefined:" "$undefined" && exit 1; }
}
check sm_75 -O2 -DKEY=int
check sm_90 -O0 -DKEY=int
check sm_90 -O2 -DKEY=int
check sm_90 -O2 -DKEY=int -DARC_CHECK=2 -Wno-pass-failed # checks keep loops from being unrolled
check sm_90 -O2 -DKEY=int -DDYNAMIC -Wno-pass-failed     # and so does such a width
check sm_90 -O0 -DKEY="long long" -DONE # reports at run time a key that is no int
assemble sm_90 -O2 -DKEY="long long" -DONE
grep -q arc_key_is_no_int clang.txt || { echo "FAILED: keys of 64 bits compile" && exit 1; }
