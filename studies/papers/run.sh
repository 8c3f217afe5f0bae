#!/bin/sh
# run.sh - every workload of the papers, into one table. SPDX-License-Identifier: Apache-2.0
#
#   run.sh FOLDER BUILD FILE.csv [SCENE [MESH]]
#
# FOLDER: of the studies' build; BUILD: gpu or simt. SCENE: a folder that gaussians' convert.py has
# made (--scale 0.5), and MESH an OBJ file for environment, beside those that the programs draw
# themselves; "" for none.
# FILE.csv appears when all is done; what is done so far stands in FILE.csv.partial.csv, also after
# an interrupt or a failure. ARC_PAPER_SEEDS: so many times, with the seeds from 1 on; 1 by default.
#
# Exit status: 0 done, 1 a workload failed, 2 bad usage, 130 interrupted.
set -u
if [ $# -lt 3 ] || [ $# -gt 5 ]; then
  echo 'usage: run.sh FOLDER BUILD FILE.csv [SCENE [MESH]]' >&2
  exit 2
fi
folder=$1 build=$2 csv=$3 scene=${4-} mesh=${5-}
partial=$csv.partial.csv seeds=${ARC_PAPER_SEEDS:-1} seed=0 training=
rm -f "$partial"

# run PROGRAM OPTIONS...: one workload; its rows go behind those that are there.
run() {
  echo "== ${1##*/}"
  program=$1
  shift
  "$folder/${program}_$build" --experiment "$partial" "$@"
  status=$?
  [ $status = 0 ] && return
  echo "paper: ${program##*/} ended with status $status; what is done so far: $partial" >&2
  exit $status
}

began=$(date +%s)
if [ "$build" = gpu ]; then
  training='--iterations 1000'
  run gaussians/bench/bench_gaussians --datasets small,medium,large $training --densify off --seeds "$seeds"
  [ -n "$scene" ] &&
    run gaussians/bench/bench_gaussians --scene "$scene" $training --densify off --seeds "$seeds"
else
  run gaussians/bench/bench_gaussians --datasets small --iterations 2 --size 32x32 --gaussians 100 --views 3 \
    --hold-out 3 --seeds "$seeds"
fi

while [ $((seed += 1)) -le "$seeds" ]; do
  run environment/environment ${mesh:+--mesh "$mesh"} $training --seed $seed
  for name in spheres circles hashgrid radiance; do
    run $name/$name $training --seed $seed
  done
  run pagerank/pagerank --seed $seed # it trains nothing: its own number
done
mv "$partial" "$csv"
echo "written    $csv, after $(($(date +%s) - began)) s"
