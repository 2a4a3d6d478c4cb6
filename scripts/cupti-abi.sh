#!/usr/bin/env bash
# Checks that the fields which the collector reads of CUPTI's records lie at the
# same places in every CUPTI 12.0 to 13.x that the package index has, and the
# kinds, flags and call numbers are the same. Needs pip, cc and the network.
#   scripts/cupti-abi.sh [FOLDER]     keeps the headers in FOLDER (default: a temporary one)
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
exec python3 scripts/lib/cupti_abi.py "$folder" "$PWD/deps/cuda"
