#!/usr/bin/env bash
# Importing against a bare walk of the same bytes, against inflating them, and
# (where its package can be installed) against Holistic Trace Analysis.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trace="$work/rank0.json"
python3 tests/support/repeat_trace.py "$trace" --events 1000000
gzip -k "$trace"
STALLSCOPE_BENCH_TRACE="$trace" build/release/bench_import --benchmark_min_time=2 \
  --benchmark_format=json >"$work/bench.json"
python3 - "$work/bench.json" <<'PY'
import json, sys
rows = {row["name"].removesuffix("/real_time"): row["real_time"] for row in json.load(open(sys.argv[1]))["benchmarks"]}
print(f"import of the JSON: {rows['import/json'] / rows['walk/json']:.2f} x a bare walk (limit 2)")
print(f"import of the .gz:  {rows['import/json.gz'] / rows['inflate/gz']:.2f} x inflating it (limit 1.3)")
PY
scripts/lib/hta-compare.sh "$trace.gz"
