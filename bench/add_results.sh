#!/bin/sh
# add_results.sh ARC_SWEEP FOLDER - measures this machine's GPU into FOLDER/<gpu>, a file a preset.
# SPDX-License-Identifier: Apache-2.0
#
# A folder that is there already is left alone. Exit status: 77 no GPU, else arc_sweep's; the first
# failure or Ctrl-C ends it, and what is whole stays.
set -eu
PATH=$(cd "$(dirname "$1")" && pwd):$PATH # the files' heads name the program without a path
program=$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap : INT # arc_sweep gets it as well, and ends

"$program" --width 1 --path plain --quiet --csv "$scratch/probe.csv"
gpu=$(sed -n 's/^# device: \(.*\), sm_.*/\1/p' "$scratch/probe.csv" | tr '[:upper:]' '[:lower:]' |
  sed 's/nvidia//; s/geforce//; s/[^a-z0-9]\{1,\}/_/g; s/^_//; s/_$//; s/^\([rg]tx\)_/\1/')
if [ -z "$gpu" ]; then
  echo "add_results.sh: there was no GPU when this was configured" >&2
  exit 77
fi
mkdir "$2/$gpu" # fails where it is
cd "$2/$gpu"
for preset in policy paths widths types; do
  "$program" --preset "$preset" --csv "$preset.csv"
done
echo "$2/$gpu is complete"
