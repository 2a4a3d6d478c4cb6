#!/usr/bin/env bash
# What recording costs: one range in rdtsc reads, bytes per event, a large run's
# way to its report, and a whole training program with and without the recorder.
#   scripts/bench/recorder.sh [EVENTS_IN_MILLIONS...]     sizes of the large runs (default: 1 10)
# PAIRS (default 8) sets how many pairs of runs the whole program's cost is taken from.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sizes=("$@")
[ $# -gt 0 ] || sizes=(1 10)
pairs=${PAIRS:-8}

record_path() {  # FOLDER MAX_BYTES
  local folder
  folder=$(mktemp -d -p "$1")
  STALLSCOPE_OUT=$folder STALLSCOPE_MAX_BYTES=$2 \
    NVTX_INJECTION64_PATH=$build/lib/libstallscope-collect.so "$build/bench_record_path"
  rm -rf "$folder"
}

large_run() {  # EVENTS [unique]
  STALLSCOPE_CLOCK=monotonic "$build/stallscope" run -q --no-report --force --sample-rate 0 \
    -o "$work/run" -- "$build/record_synthetic" "$@" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  local bytes
  bytes=$(find "$work/run/trace" -name '*.ssg' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  awk -v b="$bytes" -v n="$1" 'BEGIN { printf "%.1f", b / n }'
}

echo "one range, push and pop (rdtsc reads; goals: registered 3, ASCII 4.5, unique 6; two threads 1.9 times one):"
echo "  into memory: $(record_path /dev/shm 33554432)"
echo "  into 1 MB that goes round: $(record_path /dev/shm 1000000)"
echo "  to the disk: $(record_path "$work" 33554432)"
echo "bytes per event of 1 M ranges with 99 % unique names (goal 60): $(large_run 1000000 unique)"
for millions in "${sizes[@]}"; do
  per_event=$(large_run "${millions}000000")
  for _ in 1 2 3; do  # the first also pays for memory that the host has to find
    /usr/bin/time -a -f '%e %M' -o "$work/cost" "$build/stallscope" report -q "$work/run" -o "$work/out"
  done
  read -r seconds kilobytes < <(sort -n "$work/cost" | sed -n 2p)
  rm "$work/cost"
  # What a machine that has to find memory first makes of a run's size, whoever asks for it.
  memory=$(python3 -c "import time; t = time.perf_counter(); b'\1' * ($kilobytes * 1024); print(f'{time.perf_counter() - t:.2f}')")
  echo "$millions M events: $per_event bytes each (goal 36), run folder to report.html and report.json in $seconds s (median of 3) with $((kilobytes / 1024)) MB, which take $memory s to touch alone (10 M: goals 3 s, 1024 MB)"
done

train=("$build/stallscope-trainer" --model gpt --layers 4 --hidden 256 --batch 4 --seq 128 --vocabulary 512 --steps 160)
for stacks in 0 1; do
  if [ "$stacks" = 1 ]; then name="with stacks (goal 2 %)"; else name="without stacks (goal 1 %)"; fi
  echo "CPU time of the GPT trainer and its recorder over the trainer's alone, $name:" \
    "$(STALLSCOPE_NATIVE_STACKS=$stacks python3 tests/bench/overhead.py "$build/stallscope" "$pairs" -- "${train[@]}")"
done
