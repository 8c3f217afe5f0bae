#!/bin/sh
# fake_ncu.sh - stands in for Nsight Compute in test_profile.sh. SPDX-License-Identifier: Apache-2.0
# Knows some metrics and answers with made-up figures on a raw page, in quotes and with commas as
# the real one has them. FAKE_NCU: unset, `mute` (lists no metrics) or `forbidden`.
metrics=
for word in "$@"; do
  case $word in
  --query-metrics)
    [ "${FAKE_NCU:-}" = mute ] && exit 1
    echo "Device Test"
    echo "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active   warps waiting, LG queue"
    echo "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active  warps waiting, MIO queue"
    echo "smsp__average_warps_issue_stalled_selected_per_issue_active      warps that issued"
    echo "lts__t_sectors_op_red                                            sectors of reductions"
    echo "sm__inst_executed_pipe_alu_and_more                              not the same name"
    echo "gpu__time_duration                                               time"
    exit 0
    ;;
  --version) echo "Version 0.0 (made up)" && exit 0 ;;
  esac
  [ "${before:-}" = --metrics ] && metrics=$word
  [ "${before:-}" = --path ] && path=$word
  [ "${before:-}" = --workload ] && workload=$word
  before=$word
done
echo "$workload $path $*" >>"${FAKE_LOG:?}"
echo "==PROF== Connected to process 1"
if [ "${FAKE_NCU:-}" = forbidden ]; then
  echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
  exit 1
fi
if [ "$path" = cg ]; then
  echo "arc_sweep: path cg is unavailable"
  exit 2
fi
echo "$metrics" | awk -F, '{
  line = "\"ID\",\"Kernel Name\""
  units = "\"\",\"\""
  values = "\"0\",\"sweep_uniform(int, float)\""
  for (i = 1; i <= NF; ++i) {
    line = line ",\"" $i "\""
    units = units ",\"" ($i ~ /sectors/ ? "sector" : "inst") "\""
    values = values ",\"" ($i ~ /sectors/ ? "1,234,567" : $i ~ /throttle/ ? "2.5" : "n/a") "\""
  }
  print line
  print units
  print values
}'
