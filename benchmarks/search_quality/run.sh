#!/usr/bin/env bash
# The bench of docs/search-quality.md: runs every arm on every task and writes the page's tables and its picture.
# Usage: benchmarks/search_quality/run.sh [BUILD_FOLDER]      default: build/dev; needs python3 with numpy
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev}
program=$build/benchmarks/search_quality/search_quality
cmake --build "$build" --target search_quality
out=$build/benchmarks/search_quality
# Seeds from 1001: the default was chosen with 1 to 100.
run() { "$program" --fit benchmarks/search_quality/fit.json --seeds 100 --first-seed 1001 "$@"; }
run --evaluations 40,200 --cost 40,200 --out "$out/arms.csv" --curves "$out/curves.csv"
run --evaluations 40,200 --out "$out/variants.csv" --arms "ours,$("$program" --variants true)"
run --evaluations 40,200 --cost 40,200 --out "$out/bandit.csv" --arms ours,bandit
run --evaluations 40,200 --cost 40,200 --out "$out/unequal.csv" --arms ours,bandit --unequal true
python3 benchmarks/search_quality/report.py "$out"
