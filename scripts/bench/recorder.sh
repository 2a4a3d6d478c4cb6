#!/usr/bin/env bash
# What recording costs: one range in rdtsc reads, bytes per event, a large run's
# way to its report, and a whole training program with and without the recorder.
#   scripts/bench/recorder.sh [EVENTS_IN_MILLIONS...]     sizes of the large runs (default: 1 10)
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sizes=("${@:-1}")
[ $# -gt 0 ] || sizes=(1 10)

record_path() {
  mkdir -p "$work/path"
  STALLSCOPE_OUT=$work/path STALLSCOPE_MAX_BYTES=33554432 \
    NVTX_INJECTION64_PATH=$build/lib/libstallscope-collect.so "$build/bench_record_path"
}

large_run() {  # EVENTS [unique]
  STALLSCOPE_CLOCK=monotonic "$build/stallscope" run -q --no-report --force --sample-rate 0 \
    -o "$work/run" -- "$build/record_synthetic" "$@" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  local bytes
  bytes=$(find "$work/run/trace" -name '*.ssg' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  awk -v b="$bytes" -v n="$1" 'BEGIN { printf "%.1f", b / n }'
}

echo "one range, push and pop (rdtsc reads; goals: registered 3, ASCII 4.5, unique 6; two threads 1.9 times one):"
record_path
echo "bytes per event of 1 M ranges with 99 % unique names (goal 60): $(large_run 1000000 unique)"
for millions in "${sizes[@]}"; do
  per_event=$(large_run "${millions}000000")
  /usr/bin/time -f '%e %M' -o "$work/cost" "$build/stallscope" report -q "$work/run" -o "$work/out"
  read -r seconds kilobytes <"$work/cost"
  echo "$millions M events: $per_event bytes each (goal 36), run folder to report.html and report.json in $seconds s with $((kilobytes / 1024)) MB (10 M: goals 3 s, 1024 MB)"
done

train=("$build/stallscope-trainer" --model gpt --layers 2 --hidden 128 --batch 4 --seq 64 --vocabulary 512 --steps 300)
for stacks in 0 1; do
  STALLSCOPE_NATIVE_STACKS=$stacks "$build/stallscope" run -q --force --measure-overhead 6 -o "$work/gpt" -- "${train[@]}" >/dev/null 2>&1
  python3 - "$work/gpt/report.json" "$stacks" <<'PYTHON'
import json
import sys

cost = json.load(open(sys.argv[1]))["trust"]
name, goal = ("with stacks", 2) if sys.argv[2] == "1" else ("without stacks", 1)
paired = cost["measuredOverhead"]
print(f"GPT trainer, {name}: {100 * paired['difference']:+.2f} % ({100 * paired['low']:+.2f} to "
      f"{100 * paired['high']:+.2f} %, 6 pairs; goal {goal} %)")
PYTHON
done
