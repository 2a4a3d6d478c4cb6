#!/usr/bin/env bash
# The README's picture: a report recorded now, as headless Chromium shows it.
#   scripts/picture.sh [SAMPLE]   a folder name under samples/ (default item-in-step)
# Needs a build (scripts/build.sh) and chromium (scripts/setup.sh --test).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
sample=${1:-item-in-step}
program=build/release/samples/$sample-stalled
for needed in build/release/stallscope "$program"; do
  [ -x "$needed" ] || { echo "picture.sh: $needed is missing: run scripts/build.sh" >&2; exit 2; }
done
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
  || { echo "picture.sh: no chromium: run scripts/setup.sh --test" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/release/stallscope run --force -o "$folder/out" -- "$program" >&2
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-prefers-reduced-motion \
  --user-data-dir="$folder/profile" --window-size=1024,2360 --virtual-time-budget=5000 \
  --screenshot="$folder/report.png" "file://$folder/out/report.html" 2> "$folder/browser.log" \
  || { cat "$folder/browser.log" >&2; exit 2; }
mv "$folder/report.png" reports/examples/report.png
echo "reports/examples/report.png shows $program, recorded now"
