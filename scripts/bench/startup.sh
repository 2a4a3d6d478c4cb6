#!/usr/bin/env bash
# Start-up of `stallscope --help`: at most 10 ms; beside it /bin/true for what a process costs at all.
set -euo pipefail
cd "$(dirname "$0")/../.."
hyperfine -N --warmup 10 --runs 100 --style basic --export-json /dev/stdout \
  'build/release/stallscope --help' /bin/true 2>/dev/null |
  python3 -c '
import json, sys
text = sys.stdin.read()
results = json.loads(text[text.index("{"):])["results"]
tool, floor = (r["median"] * 1e3 for r in results)
print(f"stallscope --help {tool:.1f} ms, /bin/true {floor:.1f} ms (goal: at most 10 ms)")'
