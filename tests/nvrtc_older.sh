#!/bin/sh
# nvrtc_older.sh - arc.cuh compiles under NVRTC older than the installed one: CUDA 11, whose assembly
# knows less, and architectures that CUDA 13 has dropped. SPDX-License-Identifier: Apache-2.0
#
# nvrtc_older.sh <nvrtc program> <repository> <scratch folder> <Python package> <architectures>
# ARC_DOWNLOADS=1 lets it fetch the package, once. Exit code 77 where the package is not there.
set -u
program=$1 root=$2 work=$3/$4 package=$4 architectures=$5
. "$root/tests/fetch_wheel.sh"
mkdir -p "$work" && cd "$work" || exit 1
fetch_wheel "$package" 'libnvrtc.so.1*'
"$program" --root "$root" --library "$fetched" --architectures "$architectures"
