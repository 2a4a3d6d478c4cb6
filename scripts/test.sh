#!/usr/bin/env bash
# Set up, build and run every test. What CI runs.
#   scripts/test.sh          everything
#   scripts/test.sh quick    the release build's tests only
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --test

run_preset() {  # PRESET [CTEST_ARGS...]
  local preset=$1
  shift
  echo "== $preset: build" >&2
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset"
  echo "== $preset: test" >&2
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error "$@"
}

run_preset release -j2
[ "${1:-}" = quick ] && exit 0
# End-to-end tests run once, on the release build; unit tests also under the sanitizers.
run_preset asan -j2 -LE 'e2e|structure'
run_preset tsan -j2 -L tsan
