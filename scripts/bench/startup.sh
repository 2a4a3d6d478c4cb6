#!/usr/bin/env bash
# Start-up of `stallscope --help`: at most 10 ms; beside it /bin/true for what a process costs at all.
set -euo pipefail
cd "$(dirname "$0")/../.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT
hyperfine -N --warmup 10 --runs 100 --style none --export-json "$results" \
  'build/release/stallscope --help' /bin/true
python3 - "$results" <<'PYTHON'
import json
import sys

tool, floor = (result["median"] * 1e3 for result in json.load(open(sys.argv[1]))["results"])
print(f"stallscope --help {tool:.1f} ms, /bin/true {floor:.1f} ms (goal: at most 10 ms)")
PYTHON
