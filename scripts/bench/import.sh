#!/usr/bin/env bash
# Importing against a bare walk of the same bytes, against inflating them, an
# nsys export against reading its rows; time and memory at ten times the size;
# and (where its package can be installed) against Holistic Trace Analysis.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trace="$work/rank0.json"
python3 tests/support/repeat_trace.py "$trace" --events 1000000
gzip -k "$trace"
python3 tests/support/repeat_nsys.py "$work/run.sqlite" --rows 1000000
# The least of many turns of each, in changing order: what other programs on the machine do only adds.
STALLSCOPE_BENCH_TRACE="$trace" STALLSCOPE_BENCH_NSYS="$work/run.sqlite" build/release/bench_import \
  --benchmark_min_time=0.1 --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true \
  --benchmark_format=json >"$work/bench.json"
python3 - "$work/bench.json" "$trace.gz" <<'PY'
import json, subprocess, sys, time
def inflate_ms():
    start = time.monotonic()
    subprocess.run(["gzip", "-dc", sys.argv[2]], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - start) * 1000
gzip_ms = min(inflate_ms() for _ in range(5))
least = {}
for row in json.load(open(sys.argv[1]))["benchmarks"]:
    if row["run_type"] == "iteration":
        name = row["name"].removesuffix("/real_time")
        least[name] = min(least.get(name, row["real_time"]), row["real_time"])
print(f"import of the JSON: {least['import/json'] / least['walk/json']:.2f} x a bare walk (limit 2)")
print(f"import of the .gz:  {least['import/json.gz'] / least['inflate/gz']:.2f} x inflating it by the same zlib, "
      f"{least['import/json.gz'] / gzip_ms:.2f} x gzip -dc (limit 1.3)")
print(f"import of nsys:     {least['import/sqlite'] / least['rows/sqlite']:.2f} x reading its rows with sqlite3 (limit 2)")
PY
measure() {  # prints "CPU-seconds megabytes" of a command
  python3 - "$@" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
PY
}
large="$work/large.json"
python3 tests/support/repeat_trace.py "$large" --events 10000000
read -r small_s small_mb < <(measure build/release/stallscope report "$trace" -q -o "$work/out")
read -r large_s large_mb < <(measure build/release/stallscope report "$large" -q -o "$work/out")
bytes=$(stat -c %s "$large")
rm "$large"
python3 -c "print(f'10 M events, {$bytes / 2**30:.1f} GiB: {$large_s / $small_s:.1f} x the CPU time of 1 M, {$large_mb / 1024:.2f} GiB of memory against {$small_mb / 1024:.2f} (limit 1.5)')"
scripts/lib/hta-compare.sh "$trace.gz"
