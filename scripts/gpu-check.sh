#!/usr/bin/env bash
# Everything that only a GPU can show, in one command of under nine minutes.
#   scripts/gpu-check.sh [INSTALL_TREE [GROUP...]]
# Uses the installed tree given (bin/stallscope inside), else builds one. GROUP: only these checks,
# of recording, findings, native, truth, nccl, harmless and overhead. Prints
# a table of pass, FAIL and n/a (not applicable, with the reason); exits 1 when a
# check failed, 0 otherwise, also without a GPU. With OUT=DIR the recorded runs stay
# there. What --gpu light and full cost is kept for `run --help` and the reports.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
if [ $# -ge 1 ]; then
  tool="$1/bin/stallscope"
else
  scripts/build.sh release >&2
  tool=build/release/stallscope
fi
if [ ! -x "$tool" ]; then
  echo "gpu-check.sh: $tool is not a program: give the folder that 'cmake --install' filled" >&2
  exit 2
fi
exec python3 scripts/lib/gpu_check.py "$(realpath "$tool")" "${@:2}"
