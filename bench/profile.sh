#!/bin/sh
# profile.sh - why a path takes its time: warp stalls, L2 traffic and pipes, by Nsight Compute.
# SPDX-License-Identifier: Apache-2.0
usage='usage: profile.sh [options] ARC_SWEEP_GPU FOLDER
  Profiles one launch of each path on each workload model; writes FOLDER/profile.csv and, where
  python3 has matplotlib, FOLDER/profile.png (both names: --name).
  --workload "W..."  default: tile spheres cubemap hashgrid pagerank hot; or axes
  --path "P..."      default: none plain vector cg serialized butterfly transposed tree auto
  --width N          values per update, default 9
  --sweep "O..."     more options for arc_sweep, such as "--lanes 32 --rows 32"
  --name NAME        of the files written, default profile
Exit status: 0 done, 1 a launch could not be profiled, 2 bad option, 77 skipped: no ncu, or it may
not read the counters. NCU names the program, default ncu.'
set -u
ncu=${NCU:-ncu}
here=$(dirname "$0")
workloads='tile spheres cubemap hashgrid pagerank hot'
paths='none plain vector cg serialized butterfly transposed tree auto'
width=9 more='' name=profile

complain() {
  echo "profile.sh: $1" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
  --help | -h) echo "$usage" && exit 0 ;;
  --workload | --path | --width | --sweep | --name)
    [ $# -ge 2 ] || complain "$1: needs a value"
    case $1 in
    --workload) workloads=$2 ;;
    --path) paths=$2 ;;
    --width) width=$2 ;;
    --sweep) more=$2 ;;
    --name) name=$2 ;;
    esac
    shift 2
    ;;
  -*) complain "'$1' is not an option; profile.sh --help lists them" ;;
  *) break ;;
  esac
done
[ $# -eq 2 ] || complain "needs arc_sweep_gpu and a folder; profile.sh --help tells more"
sweep=$1 folder=$2
command -v "$ncu" >/dev/null 2>&1 || {
  echo "skipped: no Nsight Compute ('$ncu'); it comes with the CUDA toolkit"
  exit 77
}
[ -x "$sweep" ] || complain "'$sweep' is not a program"
mkdir -p "$folder" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# group, name, metric. Stalls: clocks a warp waits for this reason per instruction issued; lsu waits
# for loads, stores and reductions, mio for shuffles, shared memory and special functions.
stall=smsp__average_warps_issue_stalled
{
  for reason in lg_throttle long_scoreboard drain membar; do
    echo "stall_lsu $reason ${stall}_${reason}_per_issue_active.ratio"
  done
  for reason in mio_throttle short_scoreboard tex_throttle; do
    echo "stall_mio $reason ${stall}_${reason}_per_issue_active.ratio"
  done
  for reason in barrier branch_resolving dispatch_stall gmma imc_miss math_pipe_throttle misc \
    no_instruction not_selected selected sleeping wait; do
    echo "stall_rest $reason ${stall}_${reason}_per_issue_active.ratio"
  done
  echo "l2 red_sectors lts__t_sectors_op_red.sum"
  echo "l2 red_requests lts__t_requests_op_red.sum"
  echo "l2 atomic_unit_percent lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed"
  echo "l2 sectors_percent lts__t_sectors.avg.pct_of_peak_sustained_elapsed"
  echo "l1 red_instructions smsp__inst_executed_op_global_red.sum"
  echo "l1 red_requests l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"
  echo "l1 red_sectors l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
  for pipe in lsu alu fma xu adu cbu uniform; do
    echo "pipe ${pipe}_percent sm__inst_executed_pipe_$pipe.avg.pct_of_peak_sustained_active"
  done
  echo "pipe issue_percent smsp__issue_active.avg.pct_of_peak_sustained_active"
  echo "time duration gpu__time_duration.sum"
} >"$work/all"

# Names differ between architectures and versions: what this ncu does not list is left out.
"$ncu" --query-metrics >"$work/known" 2>/dev/null
if [ -s "$work/known" ] && grep -q gpu__time_duration "$work/known"; then
  while read -r group short metric; do
    if grep -qE "(^|[^_a-z0-9])${metric%%.*}([^_a-z0-9]|\$)" "$work/known"; then
      echo "$group $short $metric"
    else
      echo "note: this ncu does not know $metric" >&2
    fi
  done <"$work/all" >"$work/metrics"
else
  echo "note: ncu did not list its metrics; all are asked for" >&2
  cp "$work/all" "$work/metrics"
fi
metrics=$(awk '{ printf "%s%s", sep, $3; sep = "," }' "$work/metrics")

# From ncu's raw page, of which the first line names the columns and the second their units, to
# workload,width,path,group,name,unit,value. Fields are in quotes and may hold commas.
cat >"$work/rows.awk" <<'AWK'
function cut(line, field, n, quoted, i, c) {
  n = 1
  field[1] = ""
  quoted = 0
  for (i = 1; i <= length(line); ++i) {
    c = substr(line, i, 1)
    if (c == "\"") quoted = !quoted
    else if (c == "," && !quoted) field[++n] = ""
    else field[n] = field[n] c
  }
  return n
}
FILENAME == ARGV[1] { group[$3] = $1; short[$3] = $2; order[++count] = $3; next }
/^"ID",/ { columns = cut($0, name); at = 1; next }
at == 1 { cut($0, unit); at = 2; next }
at == 2 && /^"/ {
  cut($0, value)
  at = 3
  for (i = 1; i <= columns; ++i) {
    gsub(",", "", value[i])
    if (value[i] !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) continue
    found[name[i]] = value[i]
    of[name[i]] = unit[i]
  }
}
END {
  for (i = 1; i <= count; ++i) {
    m = order[i]
    if (!(m in found)) continue
    printf "%s,%s,%s,%s,%s,%s\n", cell, group[m], short[m], of[m], found[m], m
    ++rows
  }
  exit rows == 0
}
AWK

# The kernels' names hold the path; the first launch is the warm-up. The base kernel runs along.
# profile <workload> <path>
profile() {
  case $2 in
  none) kernels='regex:^sweep_(uniform|keyed)_none_' ;;
  *) kernels='regex:^sweep_(uniform|keyed)_[^n]' ;;
  esac
  # shellcheck disable=SC2086 # $more is a list of options
  "$ncu" --csv --page raw --print-units base --metrics "$metrics" --kernel-name "$kernels" \
    --launch-skip 1 --launch-count 1 "$sweep" --workload "$1" --width "$width" --path "$2" \
    --repeat 1 --floors 0 --quiet $more >"$work/raw" 2>&1
}

version=$("$ncu" --version 2>/dev/null | tail -n 1)
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
{
  echo "# program: arc profile"
  echo "# date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "# device: ${device:-unknown}"
  echo "# ncu: ${version:-unknown}"
  echo "# sweep: --repeat 1 --floors 0 ${more}"
  echo "workload,width,path,group,name,unit,value,metric"
} >"$work/csv"
failed=0 written=0
for workload in $workloads; do
  for path in $paths; do
    profile "$workload" "$path"
    status=$?
    if grep -q ERR_NVGPUCTRPERM "$work/raw"; then
      echo "skipped: ncu may not read this GPU's counters: $(grep ERR_NVGPUCTRPERM "$work/raw" |
        head -n 1)"
      exit 77
    fi
    if awk -v cell="$workload,$width,$path" -f "$work/rows.awk" "$work/metrics" "$work/raw" \
      >>"$work/csv"; then
      written=$((written + 1))
      echo "profiled: $workload, width $width, $path"
    else
      failed=$((failed + 1))
      echo "ERROR: $workload, $path: ncu ended with $status: $(tail -n 1 "$work/raw")" >&2
    fi
  done
done
[ $written -gt 0 ] || exit 1
mv "$work/csv" "$folder/$name.csv" || exit 1
echo "$folder/$name.csv: written"
if command -v python3 >/dev/null 2>&1; then
  python3 "$here/profile_plot.py" "$folder/$name.csv" --out "$folder/$name.png"
else
  echo "skipped: the plot: no python3"
fi
[ $failed -eq 0 ]
