#!/usr/bin/env bash
# Install what building and testing stallscope needs, on Debian 12+ or Ubuntu 22.04+.
#
#   scripts/setup.sh            what the build needs
#   scripts/setup.sh --test     also what the tests need (MPI, Chromium, Python packages)
#
# Idempotent: what is already there is left alone. Needs root or sudo only when
# a system package is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//'; }
want_test=0
for arg in "$@"; do
  case "$arg" in
    --test) want_test=1 ;;
    -h|--help) usage; exit 0 ;;
    *) echo "setup.sh: unknown option '$arg'" >&2; usage >&2; exit 2 ;;
  esac
done

build_packages=(build-essential g++ cmake ninja-build mold ccache pkg-config git ca-certificates
  unzip python3 python3-pip python3-venv
  libfmt-dev nlohmann-json3-dev libsimdjson-dev libyaml-dev libsqlite3-dev
  libzstd-dev zlib1g-dev libdeflate-dev libdw-dev libelf-dev libcli11-dev doctest-dev)
# A node that did not come from the distribution brings its npm, which the package would fight.
command -v npm >/dev/null || build_packages+=(npm)
test_packages=(libbenchmark-dev hyperfine sqlite3 binutils procps
  libopenmpi-dev openmpi-bin libmpich-dev mpich
  chromium chromium-driver clang-19 llvm-19 libclang-19-dev libclang-rt-19-dev clang-tidy-19 clang-format-19)

missing() {  # the packages of the arguments that dpkg does not have installed
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  local wanted
  mapfile -t wanted < <(missing "$@")
  [ "${#wanted[@]}" -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    echo "setup.sh: these packages are missing and apt-get is not here: ${wanted[*]}" >&2
    exit 2
  fi
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  echo "setup.sh: installing ${wanted[*]}" >&2
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null
}

install_packages "${build_packages[@]}"
[ "$want_test" -eq 0 ] || install_packages "${test_packages[@]}"
scripts/lib/fetch-deps.sh
if [ "$want_test" -ne 0 ]; then
  scripts/lib/test-venv.sh
  . scripts/lib/torch-venv.sh
  torch_venv || echo "PyTorch cannot be had here: tests that need it are skipped" >&2
fi
