#!/bin/sh
# reproducible.sh - trains again and again, by turns without and with --reproducible.
# SPDX-License-Identifier: Apache-2.0
#
#   reproducible.sh PROGRAM RUNS [options of the program]
#   reproducible.sh build/examples/gaussians/gaussians_gpu 5 --scene fox
#
# prints a line for each training: seconds, medians of milliseconds a step, Gaussians, PSNR of the
# held-out views, and the first digits of the model's SHA-256; then medians, how many models were
# different, and the seconds with --reproducible over those without.
#
# Exit status: 0 done, 1 a training failed or two models with --reproducible differ, 2 bad usage.
set -u
usage='usage: reproducible.sh PROGRAM RUNS [options of the program]'
if [ $# -lt 2 ] || [ ! -x "$1" ] || ! [ "$2" -gt 0 ] 2>/dev/null; then
  echo "$usage" >&2
  exit 2
fi
program=$1 runs=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# train NAME [options]: a line of the table, also into NAME.
train() {
  name=$1
  shift
  "$program" "$@" --out "$folder/model.ply" >"$folder/log" || return 1
  digits=$(sha256sum <"$folder/model.ply" | cut -c 1-12)
  awk -v name="$name" -v digits="$digits" '
    /^trained/ { seconds = $5; gaussians = $9 }
    /^ms a view/ { forward = $5 + 0; backward = $7 + 0; rest = $9 + 0 }
    /^test/ { psnr = $3 }
    END { printf "%-13s %9.2f %9.4f %9.4f %9.4f %9d %8s  %s\n", name, seconds, forward, backward,
                 rest, gaussians, psnr == "" ? "-" : psnr, digits }' "$folder/log" |
    tee -a "$folder/$name"
}

# median NAME COLUMN
median() {
  awk -v column="$2" '{ print $column }' "$folder/$1" | sort -n |
    awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

models() { awk '{ print $8 }' "$folder/$1" | sort -u | wc -l; }

printf '%-13s %9s %9s %9s %9s %9s %8s  %s\n' '' seconds forward backward rest gaussians test model
run=0
while [ "$run" -lt "$runs" ]; do
  train ordinary "$@" || exit 1
  train reproducible "$@" --reproducible || exit 1
  run=$((run + 1))
done
for name in ordinary reproducible; do
  printf '%s: medians %s s, forward %s, backward %s, rest %s ms; different models: %d of %d\n' \
    "$name" "$(median $name 2)" "$(median $name 3)" "$(median $name 4)" "$(median $name 5)" \
    "$(models $name)" "$runs"
done
echo "$(median ordinary 2) $(median reproducible 2)" |
  awk '{ printf "reproducible over ordinary: %.3f of the seconds\n", $2 / $1 }'
[ "$(models reproducible)" = 1 ]
