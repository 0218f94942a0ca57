#!/usr/bin/env bash
# From a fresh clone to a faster kernel: installs what is missing, builds build/release, and searches for about a
# minute for a fast matrix product on this machine's CPU. No model, no GPU, no network but the package mirror's.
# Usage: scripts/quickstart.sh [--time SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

budget=60
case "${1:-}" in
  "") ;;
  -h|--help) printf 'usage: scripts/quickstart.sh [--time SECONDS]\n'; exit 0 ;;
  --time)
    budget=${2:-}
    [[ $budget =~ ^[1-9][0-9]*$ ]] || { printf 'quickstart: --time needs a whole number of seconds\n' >&2; exit 2; } ;;
  *) printf 'quickstart: unknown option %s\nusage: scripts/quickstart.sh [--time SECONDS]\n' "$1" >&2; exit 2 ;;
esac

step() { printf '\n== %s\n' "$*"; }

step "1/3 packages"
scripts/install.sh user

step "2/3 build (build/release); it takes minutes, and build-release.log grows meanwhile"
cmake --preset release >build-release.log 2>&1 && cmake --build --preset release >>build-release.log 2>&1 || {
  tail -n 20 build-release.log >&2
  printf 'quickstart: the build failed; the whole log is build-release.log\n' >&2
  exit 3
}
rm -f build-release.log
echo "built build/release/bin/kernelsmith, $SECONDS s after the start"

step "3/3 search: examples/matmul_cpu for $budget seconds"
exec build/release/bin/kernelsmith run examples/matmul_cpu --time "${budget}s"
