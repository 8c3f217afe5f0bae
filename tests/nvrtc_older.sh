#!/bin/sh
# nvrtc_older.sh - arc.cuh compiles under NVRTC older than the installed one: CUDA 11, whose assembly
# knows less, and architectures that CUDA 13 has dropped. SPDX-License-Identifier: Apache-2.0
#
# nvrtc_older.sh <repository> <scratch folder> <Python package> <architectures>
# ARC_DOWNLOADS=1 lets it fetch the package, once. Exit code 77 where the package is not there.
set -u
root=$1 work=$2/$3 package=$3 architectures=$4
. "$root/tests/fetch_wheel.sh"
mkdir -p "$work" && cd "$work" || exit 1
fetch_wheel "$package" 'libnvrtc.so.1*'
python3 -B "$root/tests/nvrtc.py" --root "$root" --library "$fetched" --architectures "$architectures"
