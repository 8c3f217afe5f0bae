# fetch_wheel.sh - for scripts to read: a file of a Python package that need not be installed.
# SPDX-License-Identifier: Apache-2.0

skip() {
  echo "skipped: $1"
  exit 77
}

# fetch_wheel <package> <name of the file, a pattern> : sets `fetched` to where it is below this
# folder. ARC_DOWNLOADS=1 lets it fetch the package, once; where it may not or cannot, it skips.
fetch_wheel() {
  fetched=$(find "$PWD" -type f -name "$2" | head -n 1)
  [ -z "$fetched" ] || return 0
  [ "${ARC_DOWNLOADS:-}" = 1 ] || skip "with ARC_DOWNLOADS=1 this test fetches $1"
  command -v python3 >/dev/null || skip "no python3 to fetch $1"
  python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check -d . "$1" \
    >pip.log 2>&1 || skip "$1 could not be fetched: $(tail -n 1 pip.log)"
  cmake -E tar xf ./*.whl || exit 1
  rm -f ./*.whl
  fetched=$(find "$PWD" -type f -name "$2" | head -n 1)
  [ -n "$fetched" ] || {
    echo "the fetched package holds no $2"
    exit 1
  }
}
