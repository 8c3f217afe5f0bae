#!/bin/sh
# nvrtc12.sh - arc.cuh compiles for architectures that CUDA 13 has dropped: sm_50, 60, 61, 70.
# SPDX-License-Identifier: Apache-2.0
#
# nvrtc12.sh <nvrtc program> <repository> <scratch folder>
# Takes CUDA 12's NVRTC from the Python package index, once and only where ARC_TEST_DOWNLOADS=1 asks
# for it; exit code 77 where it cannot be had.
set -u
program=$1 root=$2 work=$3/nvrtc12
mkdir -p "$work" && cd "$work" || exit 1

skip() {
  echo "skipped: $1"
  exit 77
}

library=$(find . -name 'libnvrtc.so.12' | head -n 1)
if [ -z "$library" ]; then
  [ "${ARC_TEST_DOWNLOADS:-}" = 1 ] ||
    skip "CUDA 12's NVRTC is not here; ARC_TEST_DOWNLOADS=1 fetches it from the Python package index"
  command -v python3 >/dev/null || skip "no python3 to fetch CUDA 12's NVRTC"
  python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d . \
    nvidia-cuda-nvrtc-cu12 >pip.log 2>&1 || skip "CUDA 12's NVRTC could not be fetched"
  cmake -E tar xf ./*.whl || skip "the fetched package could not be unpacked"
  rm -f ./*.whl
  library=$(find . -name 'libnvrtc.so.12' | head -n 1)
  [ -n "$library" ] || skip "the fetched package holds no libnvrtc.so.12"
fi
"$program" --root "$root" --library "$PWD/$library" --architectures 50,60,61,70
