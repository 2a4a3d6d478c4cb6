#!/usr/bin/env bash
# One command to a first report: installs what is missing, builds, records the
# bundled trainer with a planted stall and leaves demo/report.html.
#   scripts/demo.sh [SAMPLE]      a folder under samples/ with a stalled.cpp (default item-in-step)
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
sample=${1:-item-in-step}
if [ ! -e "samples/$sample/stalled.cpp" ]; then
  echo "demo.sh: there is no sample '$sample'; choose one of:" >&2
  find samples -mindepth 2 -name 'stalled.cpp' -printf '  %h\n' | sed 's#samples/##' | sort >&2
  exit 2
fi
scripts/setup.sh
cmake --preset release -DBUILD_TESTING=OFF >/dev/null
cmake --build --preset release --target all
build/release/stallscope run --force -o demo -- "build/release/samples/$sample-stalled"
