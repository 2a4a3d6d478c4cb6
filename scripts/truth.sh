#!/usr/bin/env bash
# Precision and recall per rule on lines that public repositories fixed.
#
#   scripts/truth.sh CLONES     CLONES holds the repositories, one per owner+name
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -ne 1 ] || [ "$1" = "-h" ] || [ "$1" = "--help" ]; then
  sed -n '2,4p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
fi
exec python3 tests/truth/truth.py "$PWD/build/release/stallscope" tests/truth/pairs.csv "$1"
