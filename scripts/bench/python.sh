#!/usr/bin/env bash
# What Python's stacks cost: one at a blocking call, sampling at 200 Hz, and
# the same program under py-spy (skipped when it is not installed); and a compiled
# PyTorch step with and without --annotate (skipped without PyTorch).
#   scripts/bench/python.sh [PAIRS]     paired runs with and without sampling (default 6)
set -euo pipefail
cd "$(dirname "$0")/../.."
exec python3 scripts/lib/bench_python.py "$PWD/build/release" "${1:-6}"
