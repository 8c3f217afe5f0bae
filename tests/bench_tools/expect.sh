# expect.sh - for the tests of this folder, to be read with `.`: runs programs, compares, counts.
# SPDX-License-Identifier: Apache-2.0
checks=0 failures=0
mkdir -p "$work" && rm -rf "${work:?}"/* && cd "$work" || exit 1

# try <status> <program> <arguments>: runs it; its output stays in out and err.
try() {
  wanted=$1
  shift
  "$@" >out 2>err
  got=$?
  checks=$((checks + 1))
  [ $got -eq "$wanted" ] && return
  failures=$((failures + 1))
  echo "FAILED: $*: exit status $got, expected $wanted"
  head -n 5 out err
}

# says <file> <extended regular expression>
says() {
  checks=$((checks + 1))
  grep -qE -- "$2" "$1" && return
  failures=$((failures + 1))
  echo "FAILED: $1 does not say '$2':"
  head -n 20 "$1"
}

# one_line <file>: exactly that many lines, for errors
one_line() {
  checks=$((checks + 1))
  [ "$(wc -l <"$1")" -eq 1 ] && return
  failures=$((failures + 1))
  echo "FAILED: $1 is not one line:"
  head -n 5 "$1"
}

# refuses <what the line says> <program> <arguments>: status 2, one line, no output
refuses() {
  line=$1
  shift
  try 2 "$@"
  one_line err
  says err "$line"
  checks=$((checks + 1))
  [ -s out ] || return
  failures=$((failures + 1))
  echo "FAILED: $*: bad input, and yet there is output"
}

finish() {
  echo "$checks checks, $failures failed"
  [ $failures -eq 0 ]
}
