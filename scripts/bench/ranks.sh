#!/usr/bin/env bash
# A run of 1,000 ranks made from one real trace: time and memory to its report,
# and whether the slow rank and the late link are named.
set -euo pipefail
cd "$(dirname "$0")/../.."
ranks=${1:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/support/many_ranks.py "$work/run" --ranks "$ranks" --slow-rank 7 --late-link 3,4
python3 - "$work" <<'PY'
import json, os, resource, subprocess, sys, time
work = sys.argv[1]
start = time.monotonic()
subprocess.run(["build/release/stallscope", "report", f"{work}/run", "-q", "-o", f"{work}/out"], check=True)
seconds = time.monotonic() - start
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
report = json.load(open(f"{work}/out/report.json"))
named = {finding["ruleId"]: finding["ranks"] for finding in report["findings"]
         if finding["ruleId"] in ("slow-rank", "late-rank", "late-link")}
size = max(os.path.getsize(f"{work}/out/{name}") for name in ("report.html", "report.json")) / 2**20
print(f"{len(report['ranks'])} ranks: {seconds:.0f} s (limit 300), {memory:.2f} GiB (limit 1.5), "
      f"report {size:.1f} MiB (limit 10); named: {named}")
print(f"clocks aligned: {report['trust']['clockAlignment']}")
PY
