#!/bin/sh
# test_plot.sh <repository> <scratch folder> - bench/plot.py. SPDX-License-Identifier: Apache-2.0
# Bad files are refused before matplotlib is looked for; the pictures themselves need it. PYTHON
# names the interpreter.
root=$1 work=$2
python=${PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 || {
  echo "skipped: no $python"
  exit 77
}
. "$root/tests/bench_tools/expect.sh"
plot=$root/bench/plot.py
issue=$root/tests/bench_tools/data/issue.csv
export PYTHONDONTWRITEBYTECODE=1

refuses "choose from" "$python" "$plot" pie "$issue" --out x.png
refuses "'x.pdf' is not legal; legal: a name that ends in .png or .svg" \
  "$python" "$plot" lanes "$issue" --out x.pdf
refuses 'required: --out' "$python" "$plot" lanes "$issue"
refuses 'missing.csv: cannot be read' "$python" "$plot" lanes missing.csv --out x.png
refuses 'no result file of arc_sweep' \
  "$python" "$plot" lanes "$root/bench/results/h200/fit_image_fox.csv" --out x.png
head -c 90000 "$issue" >bad.csv
refuses 'does not end with a whole line' "$python" "$plot" lanes bad.csv --out x.png
sed '50s/,ok/,ok,1/' "$issue" >bad.csv
refuses 'bad.csv:50: 23 fields where 22 columns' "$python" "$plot" lanes bad.csv --out x.png
awk -F, 'BEGIN { OFS = "," } NR == 50 { $11 = "fast" } { print }' "$issue" >bad.csv
refuses "bad.csv:50: column gross_ms: 'fast' is not a number" \
  "$python" "$plot" lanes bad.csv --out x.png
sed 's/gross_ms/grossms/' "$issue" >bad.csv
refuses "has no column 'gross_ms'" "$python" "$plot" lanes bad.csv --out x.png

# without matplotlib
mkdir -p none
echo 'raise ImportError("none")' >none/matplotlib.py
try 77 env PYTHONPATH=none "$python" "$plot" all "$issue" --out .
one_line out
says out '^skipped: no matplotlib'

if "$python" -c 'import matplotlib' 2>/dev/null; then
  try 0 "$python" "$plot" all "$issue" --out pictures
  says out '^pictures/lanes.png: written'
  says out '^pictures/threshold.png: written'
  says out '^pictures/ratio.png: written'
  says out '^skipped: heat: no path with several thresholds'
  says out '^skipped: rows: all files have the same number of rows'
  checks=$((checks + 1))
  [ "$(ls pictures)" = "$(printf 'lanes.png\nratio.png\nthreshold.png')" ] ||
    { failures=$((failures + 1)) && echo "FAILED: pictures are" pictures/*; }
  checks=$((checks + 1))
  head -c 8 pictures/lanes.png | od -An -c | grep -q 'P *N *G' ||
    { failures=$((failures + 1)) && echo "FAILED: lanes.png is no PNG"; }
  try 77 "$python" "$plot" lanes "$issue" --width 5 --out x.png
  says out '^skipped: width 5 was not measured so; widths that were: 1, 2, 3'

  # Text stays text in an SVG, so that what it says can be read.
  cat >matplotlibrc <<'RC'
svg.fonttype: none
RC
  try 0 env MATPLOTLIBRC=. "$python" "$plot" lanes "$issue" --width 10 --out lanes.svg
  says lanes.svg 'active lanes per warp'
  says lanes.svg 'kernel, ms'
  says lanes.svg 'NVIDIA H200, 2026-11-20'
  says lanes.svg '10 values per update'
  says lanes.svg 'crossover at 4.0 lanes'
  says lanes.svg '>transposed<'
  try 0 env MATPLOTLIBRC=. "$python" "$plot" lanes "$issue" --width 10 --out again.svg
  try 0 cmp lanes.svg again.svg
  try 0 env MATPLOTLIBRC=. "$python" "$plot" lanes "$issue" --width 1 --net --out net.svg
  says net.svg '>1 value per update'
  says net.svg '>0.02<'
  says net.svg 'adding alone \(net\), ms'
  try 0 env MATPLOTLIBRC=. "$python" "$plot" ratio "$issue" --out ratio.svg
  says ratio.svg 'auto over the best peer'
  says ratio.svg '>butterfly<'

  # several files, one for each number of rows; and every threshold at every number of lanes
  for rows in 10 1000; do
    sed "s/rows=100000/rows=$rows/" "$issue" >rows$rows.csv
  done
  try 0 env MATPLOTLIBRC=. "$python" "$plot" rows rows10.csv rows1000.csv --out rows.svg
  says rows.svg '>1,000<'
  says rows.svg 'rows of parameters'
  awk -F, 'BEGIN { OFS = "," } /^#/ || /^section/ { print }
    /^e,10,/ && $9 == "transposed" {
      for (t = 0; t <= 33; t += 3) { $10 = t; $11 = t > $3 ? 0.1 * $3 : 1; print } }' "$issue" \
    >heat.csv
  try 0 env MATPLOTLIBRC=. "$python" "$plot" heat heat.csv --out heat.svg
  says heat.svg 'Path transposed, 10 values per update'
  says heat.svg 'balancing threshold \(lanes\)'
  sed -e 's/gross_ms/model_gross/; s/net_ms/model_net/' "$issue" >model.csv
  try 0 env MATPLOTLIBRC=. "$python" "$plot" lanes model.csv --out model.svg
  says model.svg 'model clocks per 1000 warp updates'
  refuses 'some of the files hold times' "$python" "$plot" rows model.csv "$issue" --out x.png
else
  echo "not drawn: no matplotlib"
fi
checks=$((checks + 1))
[ ! -e x.png ] || { failures=$((failures + 1)) && echo "FAILED: a picture after an error"; }
finish
