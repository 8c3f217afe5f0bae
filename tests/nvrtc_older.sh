#!/bin/sh
# nvrtc_older.sh - arc.cuh compiles under NVRTC older than the installed one: CUDA 11, whose assembly
# knows less, and architectures that CUDA 13 has dropped. SPDX-License-Identifier: Apache-2.0
#
# nvrtc_older.sh <nvrtc program> <repository> <scratch folder> <Python package> <architectures>
# ARC_DOWNLOADS=1 lets it fetch the package, once. Exit code 77 where the package is not there.
set -u
program=$1 root=$2 work=$3/$4 package=$4 architectures=$5
mkdir -p "$work" && cd "$work" || exit 1

skip() {
  echo "skipped: $1"
  exit 77
}

library=$(find . -name 'libnvrtc.so.1*' | head -n 1)
if [ -z "$library" ]; then
  [ "${ARC_DOWNLOADS:-}" = 1 ] || skip "with ARC_DOWNLOADS=1 this test fetches $package"
  command -v python3 >/dev/null || skip "no python3 to fetch $package"
  python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d . \
    "$package" >pip.log 2>&1 || skip "$package could not be fetched"
  cmake -E tar xf ./*.whl || skip "the fetched package could not be unpacked"
  rm -f ./*.whl
  library=$(find . -name 'libnvrtc.so.1*' | head -n 1)
  [ -n "$library" ] || skip "the fetched package holds no NVRTC"
fi
"$program" --root "$root" --library "$PWD/$library" --architectures "$architectures"
