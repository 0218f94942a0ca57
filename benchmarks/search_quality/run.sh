#!/usr/bin/env bash
# The bench of docs/search-quality.md: runs every arm on every task and writes the page's tables and its picture.
# Usage: benchmarks/search_quality/run.sh [BUILD_FOLDER]      default: build/dev; needs python3 with numpy
# The worlds of recorded spaces need KERNELSMITH_SEARCH_DATA (tuning_spaces.py says what lies there).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev}
program=$build/benchmarks/search_quality/search_quality
cmake --build "$build" --target search_quality
out=$build/benchmarks/search_quality
report() { python3 benchmarks/search_quality/report.py "$@"; }
# Seeds from 1001: defaults are chosen with lower ones.
"$program" --fit benchmarks/search_quality/fit.json --seeds 100 --first-seed 1001 --evaluations 40,200 --out "$out/fitted.csv"
report "$out/fitted.csv" --section fitted
[ -n "${KERNELSMITH_SEARCH_DATA:-}" ] || exit 0
python3 benchmarks/search_quality/tuning_spaces.py --unpack "$out/recorded"
worlds() { "$program" --recorded "$out/recorded" --first-seed 1001 "$@"; }
worlds --spaces choose --seeds 60 --out "$out/choose.csv" --curves "$out/curves.csv"
report "$out/choose.csv" --quality --section choose --curves "$out/curves.csv"
worlds --spaces choose --seeds 40 --out "$out/variants.csv" --arms "ours,any-parent,worst-parent,$("$program" --variants true)"
report "$out/variants.csv" --quality --section variants
worlds --spaces choose --seeds 20 --in-flight 16 --out "$out/in_flight.csv"
worlds --spaces choose --seeds 20 --in-flight 1,16 --start none --out "$out/starts.csv"
report "$out/in_flight.csv" "$out/starts.csv" --section starts
# `before` is the default of earlier versions; `no-crossover` and `bare` say why greedy-1 leads in `kernels`.
worlds --spaces confirm --seeds 60 --out "$out/confirm.csv" \
  --arms ours,before,no-crossover,bare,best-of-N,open-then-evolve,greedy-1,greedy-4,openevolve,shinkaevolve,adaevolve,best-parent,any-parent,worst-parent
report "$out/confirm.csv" --quality --section confirm
