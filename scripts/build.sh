#!/usr/bin/env bash
# Release build: leaves build/release/stallscope. Installs what is missing first.
#   scripts/build.sh [PRESET]     release (default), asan, tsan or fuzz
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
scripts/setup.sh
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
