#!/usr/bin/env bash
# Set up, build and run every test. What CI runs.
#   scripts/test.sh          everything
#   scripts/test.sh quick    the release build's tests only
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
case "${1:-}" in
  ''|quick) ;;
  *) echo "test.sh: there is no '$1'; use quick, or nothing for everything" >&2; exit 2 ;;
esac
scripts/setup.sh --test

run_preset() {  # PRESET TARGETS [CTEST_ARGS...]
  local preset=$1
  local -a targets
  read -r -a targets <<<"$2"
  shift 2
  echo "== $preset: build" >&2
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" --target "${targets[@]}"
  echo "== $preset: test" >&2
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error "$@"
}

run_preset release all -j2
[ "${1:-}" = quick ] && exit 0
# End-to-end tests run once, on the release build; unit tests also under the sanitizers:
# Clang's build of these takes half of GCC's time and a third of its room on the disk.
export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-19/bin/llvm-symbolizer
run_preset asan "unit_tests fuzzers" -j2 -LE e2e -E '^(structure|bench|comm\.mpi|collect\.(mpi_|python_)?symbols)'
run_preset tsan "test_collect_writer test_comm test_trainer" -j2 -L tsan
