#!/bin/sh
# test_profile.sh <repository> <scratch folder> - bench/profile.sh with a made-up Nsight Compute.
# SPDX-License-Identifier: Apache-2.0
root=$1 work=$2
. "$root/tests/bench_tools/expect.sh"
profile=$root/bench/profile.sh
cp "$root/tests/bench_tools/fake_ncu.sh" ncu && chmod +x ncu
printf '#!/bin/sh\nexit 0\n' >sweep && chmod +x sweep
export FAKE_LOG="$work/log" NCU="$work/ncu" PYTHONDONTWRITEBYTECODE=1

try 77 env NCU=no-such-ncu sh "$profile" ./sweep folder
says out '^skipped: no Nsight Compute'
one_line out
try 77 env FAKE_NCU=forbidden sh "$profile" --path auto ./sweep folder
says out '^skipped: ncu may not read .*ERR_NVGPUCTRPERM'
checks=$((checks + 1))
[ ! -e folder/profile.csv ] || { failures=$((failures + 1)) && echo "FAILED: half a file"; }

: >log
try 0 sh "$profile" --workload 'tile hot' --path 'none auto' --width 3 --sweep '--rows 32' \
  ./sweep folder
says err 'note: this ncu does not know lts__t_requests_op_red.sum'
says err 'note: this ncu does not know sm__inst_executed_pipe_alu.avg'
says folder/profile.csv '^# program: arc profile$'
says folder/profile.csv '^# ncu: Version 0.0 \(made up\)$'
says folder/profile.csv '^workload,width,path,group,name,unit,value,metric$'
says folder/profile.csv '^tile,3,auto,stall_lsu,lg_throttle,inst,2.5,smsp__.*\.ratio$'
says folder/profile.csv '^hot,3,none,stall_mio,mio_throttle,inst,2.5,'
says folder/profile.csv '^hot,3,auto,l2,red_sectors,sector,1234567,lts__t_sectors_op_red.sum$'
checks=$((checks + 1))
[ "$(grep -vc '^#' folder/profile.csv)" -eq 13 ] ||
  { failures=$((failures + 1)) && echo "FAILED: rows:" && cat folder/profile.csv; }
says log '^tile none .*_none_ --launch-skip 1 --launch-count 1 .*sweep --workload tile --width 3'
says log '^hot auto .*\^sweep_\(uniform\|keyed\)_\[\^n\] .*--path auto .*--quiet --rows 32$'

# names that ncu does not list are all asked for
try 0 env FAKE_NCU=mute sh "$profile" --workload tile --path auto --name all ./sweep folder
says err 'note: ncu did not list its metrics'
says folder/all.csv '^tile,9,auto,stall_rest|^tile,9,auto,l1,red_sectors'

# a path that the sweep does not have
try 1 sh "$profile" --workload tile --path 'cg auto' ./sweep folder
says err '^ERROR: tile, cg: ncu ended with 2: arc_sweep: path cg is unavailable'
says folder/profile.csv '^tile,9,auto,'

refuses "'--fast' is not an option" sh "$profile" --fast ./sweep folder
refuses 'needs arc_sweep_gpu and a folder' sh "$profile" ./sweep
refuses "'./no' is not a program" sh "$profile" ./no folder
refuses '--width: needs a value' sh "$profile" --width
try 0 sh "$profile" --help
says out '^usage: profile.sh'

python=${PYTHON:-python3}
if command -v "$python" >/dev/null 2>&1; then
  plot=$root/bench/profile_plot.py
  refuses 'missing.csv: cannot be read' "$python" "$plot" missing.csv --out x.png
  refuses 'is no file of profile.sh' \
    "$python" "$plot" "$root/bench/results/h200/issue.csv" --out x.png
  sed 's/,2.5,/,fast,/' folder/profile.csv >bad.csv
  refuses "'fast' of smsp__.* is not a number" "$python" "$plot" bad.csv --out x.png
  sed 's/group,name/name,group/' folder/profile.csv >bad.csv
  refuses 'its columns are not' "$python" "$plot" bad.csv --out x.png
  refuses 'usage: profile_plot.py' "$python" "$plot" folder/profile.csv
  if "$python" -c 'import matplotlib' 2>/dev/null; then
    echo 'svg.fonttype: none' >matplotlibrc
    try 0 env MATPLOTLIBRC=. "$python" "$plot" folder/all.csv --out profile.svg
    says profile.svg 'tile, 9 values per update'
    says profile.svg '>lg throttle<'
    says profile.svg 'clocks a warp waits per issued instruction'
  else
    echo "not drawn: no matplotlib"
  fi
fi
finish
