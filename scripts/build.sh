#!/usr/bin/env bash
# Release build: leaves build/release/stallscope. Installs what is missing first.
#   scripts/build.sh [PRESET]     release (default), asan, tsan or fuzz
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
preset=${1:-release}
case "$preset" in
  release|asan|tsan|fuzz) ;;
  *) echo "build.sh: there is no preset '$preset'; use release, asan, tsan or fuzz" >&2; exit 2 ;;
esac
scripts/setup.sh
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
