#!/bin/sh
# Records all traces. usage: record.sh PROGRAMS TRACES [FOX]. SPDX-License-Identifier: Apache-2.0
#
# FOX: the fox as studies/gaussians/convert.py makes it with --scale 0.25, and in it fox.ply, learnt
# from what it makes with --scale 0.12 by
#   gaussians --scene SMALL --gaussians 4000 --iterations 400 --views 12 --out fox.ply
set -eu
programs=$1 traces=$2 fox=${3:-} here=$(cd "$(dirname "$0")" && pwd)
of() { echo "$programs/record_$1_simt"; }
mkdir -p "$traces"
cd "$traces"
"$(of pagerank)" pagerank.trace 4 edge --scale 12
"$(of spheres)" spheres.trace 3 small --spheres 2000 --size 160x128
"$(of environment)" diffuse.trace 1 diffuse --side 16
"$(of environment)" specular.trace 1 specular_29 --side 32
"$(of environment)" lookup.trace 2 lookup --side 64 --size 40
procedural() {
  "$(of gaussians)" $1.trace --procedural $1 --gaussians $2 --size 256x144 --views 2
}
procedural small 17800
procedural medium 5300
procedural large 890
if [ -n "$fox" ]; then
  "$(of gaussians)" fox.trace --scene "$fox" --views 2 --init "$fox/fox.ply"
else
  cp "$here/traces/fox.trace" .
  echo "fox.trace is the committed one: set ARC_HARDWARE_FOX to make it, too"
fi
