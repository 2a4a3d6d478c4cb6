#!/usr/bin/env bash
# `stallscope lint` beside ruff's default rules on PyTorch's own package (1.2 M
# lines of Python), and beside TorchFix per line; in one run, as ratios. Goals:
# cold at most 3 times ruff and 500 MB, warm at most ruff's cold time, 100 times
# TorchFix per line, one 300-line file at most 60 ms, a LibTorch file at most 1.2 s
# with stubs; with real headers 0.55 of clang's parse, and 0.3 s once they are compiled.
# Peers and the package come from the Python package index into deps/lint-bench.
set -euo pipefail
cd "$(dirname "$0")/../.."
bench=deps/lint-bench
stamp=$bench/.stamp-ruff-0.17.6-torchfix-0.7.0-torch-2.13.0-headers-apart
if [ ! -e "$stamp" ]; then
  python3 -m venv "$bench/venv"
  "$bench/venv/bin/pip" install -q --disable-pip-version-check ruff==0.17.6 torchfix==0.7.0
  "$bench/venv/bin/pip" download -q --disable-pip-version-check --no-deps -d "$bench" torch==2.13.0
  rm -rf "$bench/tree"
  mkdir -p "$bench/tree"
  "$bench/venv/bin/python" - "$bench" <<'PYTHON'
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/torch-*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(sys.argv[1] + "/tree", [n for n in names if n.endswith(".py")])
        # Apart: lint would read them too, and its peers do not.
        archive.extractall(sys.argv[1] + "/headers", [n for n in names if n.startswith("torch/include/")])
PYTHON
  rm -f "$bench"/torch-*.whl
  touch "$bench/tree/setup.py" "$stamp"
fi
python3 scripts/lib/lint_bench.py build/release/stallscope "$bench"
