#!/bin/sh
# packages.sh - another project finds arc; its program checks a sum on the CPU warp.
# SPDX-License-Identifier: Apache-2.0
#
#   packages.sh <way> <repository> <scratch folder>
#   way: find_package, add_subdirectory, fetch_content, pkg_config, export
#
# CMAKE and CXX name the tools. Exit code 77: a tool is absent.
set -eu
way=$1 root=$2 work=$3/$1
here=$(cd "$(dirname "$0")" && pwd)
cmake=${CMAKE:-cmake}
unset GIT_DIR GIT_WORK_TREE # .ci/run sets them for the mutations

need() {
  command -v "$1" >/dev/null && return
  echo "skipped: no $1"
  exit 77
}

install_arc() {
  "$cmake" -S "$root" -B "$work/arc" -DARC_TESTS=OFF -DARC_BENCH=OFF -DARC_EXAMPLES=OFF
  "$cmake" --install "$work/arc" --prefix "$work/prefix"
}

# build <project> [options of CMake]
build() {
  project=$1
  shift
  "$cmake" -S "$here/$project" -B "$work/$project" "$@"
  "$cmake" --build "$work/$project"
}

in_origin() {
  git -C "$root" --git-dir="$work/origin/.git" --work-tree=. \
    -c user.name=arc -c user.email=arc@localhost "$@"
}

rm -rf "$work"
mkdir -p "$work"
case $way in
find_package)
  install_arc
  build find_package -DCMAKE_PREFIX_PATH="$work/prefix"
  "$work/find_package/sum"
  ;;
add_subdirectory)
  build add_subdirectory -DARC="$root"
  "$work/add_subdirectory/sum"
  ;;
fetch_content) # from a repository of its own, of the files as they are here
  need git
  git init -q "$work/origin"
  in_origin add -- CMakeLists.txt LICENSE simt arc.cuh arc_policy.cuh arc_tune.h arc
  in_origin commit -q -m arc
  build fetch_content -DORIGIN="$work/origin" -DCOMMIT="$(in_origin rev-parse HEAD)"
  "$work/fetch_content/sum"
  ;;
pkg_config)
  need pkg-config
  install_arc
  export PKG_CONFIG_PATH="$work/prefix/share/pkgconfig"
  # shellcheck disable=SC2046 # flags are words
  "${CXX:-c++}" -std=c++17 $(pkg-config --cflags arc) "$here/sum.cpp" \
    -DPACKAGE_VERSION="\"$(pkg-config --modversion arc)\"" \
    "$(pkg-config --variable=simt_source arc)" -o "$work/sum"
  "$work/sum"
  ;;
export)
  build export -DARC="$root"
  "$cmake" --install "$work/export" --prefix "$work/prefix"
  build export_user -DCMAKE_PREFIX_PATH="$work/prefix"
  "$work/export_user/sum"
  ;;
*)
  sed -n 's/^#   //p' "$0"
  exit 2
  ;;
esac
