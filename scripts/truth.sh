#!/usr/bin/env bash
# How well `stallscope lint` finds what public repositories have, on clones that you provide.
#
#   scripts/truth.sh CLONES            precision and recall per rule on lines that were fixed
#   scripts/truth.sh --alarms CLONES   findings, and false ones by a labelled sample, per 1,000
#                                      lines of step and forward code
#   scripts/truth.sh --silent CLONES   how often a line was passed over for where it stands, wrongly
#   scripts/truth.sh --read CLONES     what lint names of all the stalls that readers saw in whole programs
#   scripts/truth.sh --steps CLONES    how many waits lint names that are put in front of each backward pass
#                                      and behind each forward pass of the clones' heads
#
# CLONES holds the repositories, one per owner+name. STALLSCOPE_TRUTH_SPLIT=tuned|held-out takes one
# half of the lines; STALLSCOPE_TRUTH_LIBCLANG=off reads C++ without types: minutes instead of hours.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$PWD/build/release/stallscope
if [ $# -eq 1 ] && [ "${1#-}" = "$1" ]; then
  exec python3 tests/truth/truth.py "$tool" tests/truth/pairs.csv "$1"
elif [ $# -eq 2 ] && [ "$1" = "--alarms" ]; then
  exec python3 tests/truth/alarms.py "$tool" tests/truth/alarms.csv "$2"
elif [ $# -eq 2 ] && [ "$1" = "--silent" ]; then
  exec python3 tests/truth/silent.py "$tool" tests/truth/silent.csv "$2"
elif [ $# -eq 2 ] && [ "$1" = "--read" ]; then
  exec python3 tests/truth/read.py "$tool" tests/truth/read.csv "$2"
elif [ $# -eq 2 ] && [ "$1" = "--steps" ]; then
  exec python3 tests/truth/steps.py "$tool" "$2"
fi
sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'
exit 2
