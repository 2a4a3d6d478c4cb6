#!/usr/bin/env bash
# usage: hta-compare.sh TRACE.json.gz
# Time and memory from a trace to its breakdown: stallscope against Holistic
# Trace Analysis, pinned, in an environment of its own under deps/.
set -euo pipefail
cd "$(dirname "$0")/../.."
trace=$(realpath "$1")
venv=deps/hta-venv
if [ ! -e "$venv/.stamp-0.5.0" ]; then
  python3 -m venv "$venv"
  if ! "$venv/bin/pip" install -q --disable-pip-version-check HolisticTraceAnalysis==0.5.0; then
    echo "Holistic Trace Analysis could not be installed: comparison left out" >&2
    exit 0
  fi
  touch "$venv/.stamp-0.5.0"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$trace" "$work/rank0.json.gz"
cat >"$work/breakdown.py" <<'PY'
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
print(analysis.get_temporal_breakdown(visualize=False))
PY
measure() {  # prints "seconds CPU-seconds kilobytes" of the fastest of N turns of a command
  python3 - "$@" <<'PY'
import os, subprocess, sys, time
turns = []
for _ in range(int(sys.argv[1])):
    start = time.monotonic()
    child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{sys.argv[2]} failed")
    turns.append((time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss))
print(*min(turns))
PY
}
read -r their_s their_cpu their_kb < <(measure 2 "$venv/bin/python" "$work/breakdown.py" "$work/rank0.json.gz")
read -r our_s our_cpu our_kb < <(measure 7 build/release/stallscope report "$work/rank0.json.gz" -q -o "$work/out")
python3 -c "print(f'Holistic Trace Analysis: {$their_s / $our_s:.0f} x our time (goal 30), {$their_cpu / $our_cpu:.0f} x our CPU time, {$their_kb / $our_kb:.1f} x our memory (goal 10)')"
