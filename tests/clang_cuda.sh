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
  [ -d debian ] || skip "$none, and none could be fetched"
  find_clang || {
    echo "the clang that was fetched compiles nothing: $(head -n 1 clang.txt)"
    exit 1
  }
}
echo "$("$clang" --version | head -n 1), $cuda"

kernels=$root/tests/each_call.cu

# to_ptx and assemble <architecture> <options>: to PTX, and on to machine code
to_ptx() {
  sm=$1 && shift
  device "$kernels" --cuda-gpu-arch="$sm" -Wall -Wextra -Wundef -Werror "$@"
}
assemble() {
  to_ptx "$@" &&
    timeout 400 "$cuda/bin/ptxas" -arch="$1" -o kernels.cubin kernels.ptx >>clang.txt 2>&1
}
names='s/^\.extern \.func *\(([^)]*)\)\{0,1\} *\([A-Za-z0-9_$]*\).*/\2/p'
# check <one of them> <its arguments>: works, and nothing is undefined but what CUDA defines
check() {
  echo "$*"
  "$@" || { echo "FAILED, or took 400 s:" && head -n 40 clang.txt && exit 1; }
  undefined=$(sed -n "$names" kernels.ptx | grep -vx __assertfail)
  [ -z "$undefined" ] || { echo "FAILED: undefined:" "$undefined" && exit 1; }
}
# -O2 takes twice as long, and may prove more to be dead code; so does the default path, which
# comes next.
check assemble sm_90 -O1 -DKEY=int -DARC_PATH=ARC_PATH_SERIALIZED
check assemble sm_90 -O2 -DKEY=int -DONE
check to_ptx sm_75 -O0 -DKEY=int -DARC_CHECK=2 # ptxas takes minutes for all of this
check assemble sm_90 -O2 -DKEY=int -DDYNAMIC -Wno-pass-failed # such a width keeps loops rolled
check to_ptx sm_90 -O0 -DKEY="long long" -DONE # reports at run time a key that is no int
assemble sm_90 -O2 -DKEY="long long" -DONE
grep -q arc_key_is_no_int clang.txt || { echo "FAILED: keys of 64 bits compile" && exit 1; }
