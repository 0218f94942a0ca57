#!/usr/bin/env bash
# Installs, builds and tests. The fast tier takes minutes from a cold start; --full adds the long tests (kills, soak,
# fuzzing), the release build, and lints every file.
# Usage: scripts/test.sh [--full] [--only STAGE]...   stages: format dev asan tsan tidy headers release wheel fuzz
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,4s/^# //p' "$0"; }

full=false
only=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h|--help) usage; exit 0 ;;
    --full) full=true ;;
    --only)
      [ $# -gt 1 ] || { usage >&2; exit 2; }
      case "$2" in
        format|dev|release|wheel|asan|tsan|tidy|headers|fuzz) only+=("$2"); shift ;;
        *) printf 'test: unknown stage %s\n' "$2" >&2; usage >&2; exit 2 ;;
      esac ;;
    *) printf 'test: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

jobs=$(nproc)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

wanted() {
  [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]]
}

stage() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

# Configures and builds a preset; its output is shown only when it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "$@"; } >"$log" 2>&1 || {
    grep -nE 'error|warning|FAILED|CMake Error' "$log" | head -n 40 >&2 || true
    tail -n 15 "$log" >&2
    printf 'test: the %s build failed; the whole log is %s\n' "$preset" "$log" >&2
    exit 1
  }
}

# Inputs of fuzzers are kept as they were found, and the red team's cases write as they like.
sources() { git ls-files '*.cpp' '*.hpp' ':!tests/regressions' ':!tests/redteam/cpu/cases'; }

format_stage() {
  stage "clang-format"
  sources | xargs -r clang-format-14 --dry-run --Werror
}

# Runs a preset's tests. What measures kernels (the label `clock`) runs alone and up to three times: a machine that is
# too busy to measure on is no fault of the program's. What passed only then is named.
run_tests() {
  local preset=$1 log=build/$1-clock.log
  shift
  ctest --preset "$preset" -j "$jobs" -LE 'full|clock' "$@"
  stage "tests that measure, $preset"
  ctest --preset "$preset" -L clock -LE full --repeat until-pass:3 --no-tests=ignore "$@" | tee "$log"
  if grep -E '\*\*\*' "$log" | grep -vE 'Not Run|Skipped'; then echo "the above passed only when they were repeated"; fi
}

dev_stage() {
  stage "build dev"
  build dev
  stage "tests"
  run_tests dev
  if $full; then
    stage "long tests"
    ctest --preset dev -L full
  fi
}

# What users run is compiled otherwise than what is tested. A machine too busy to measure on gets three tries.
release_stage() {
  stage "build release"
  build release --target kernelsmith_cli
  stage "the command as users have it"
  local task=examples/matmul_cpu tries=3
  until build/release/bin/kernelsmith evaluate "$task" "$task/seed.cpp" --quick; do
    [ $((--tries)) -gt 0 ] || { echo "test: the release build cannot evaluate $task" >&2; exit 1; }
  done
}

asan_stage() {
  stage "build asan"
  build asan
  stage "tests under AddressSanitizer and UndefinedBehaviorSanitizer"
  run_tests asan
  if $full; then asan_python; fi
}

# The interpreter is built without a sanitizer and in C: it needs the sanitizer's library first, and that one the library that
# throws. What it leaves to the end of its process is no leak.
asan_python() {
  stage "the Python module under AddressSanitizer"
  cmake --preset asan -DKERNELSMITH_BUILD_PYTHON=ON >/dev/null
  build asan --target kernelsmith_python
  LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=build/asan/python \
    KERNELSMITH_SOURCE=$PWD build/venv/bin/python -B -m pytest -q -p no:cacheprovider \
    python/tests/test_values.py python/tests/test_callables.py python/tests/test_engine.py python/tests/test_stress.py
}

# What `pip install .` gives, in an environment of its own.
wheel_stage() {
  stage "pip install ."
  rm -rf build/wheel-venv
  python3 -m venv build/wheel-venv
  build/wheel-venv/bin/pip install -q --disable-pip-version-check . -r python/requirements-test.txt
  (cd build && wheel-venv/bin/python -m kernelsmith --version &&
    KERNELSMITH_SOURCE=$PWD/.. wheel-venv/bin/python -B -m pytest -q -p no:cacheprovider ../python/tests)
}

tsan_stage() {
  stage "build tsan"
  build tsan --target tsan_tests
  stage "tests under ThreadSanitizer"
  run_tests tsan -L tsan
}

# The lint is slow: what changed since KERNELSMITH_TIDY_BASE (default: the last commit), or every file with --full. Templates of
# `init` have a header only in a task.
tidy_stage() {
  stage "clang-tidy"
  local files
  files=$(if $full; then sources; else git diff --name-only --diff-filter=d "${KERNELSMITH_TIDY_BASE:-HEAD~1}"; fi |
    grep -E '^(archive|evaluator|islands|prompts|python|service|src)/.*\.cpp$' | grep -v /templates/ || true)
  [ -n "$files" ] || { echo "nothing to check"; return; }
  # Clang cannot read GCC's precompiled headers.
  cmake --preset dev -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
  xargs -n 1 -P "$jobs" clang-tidy-14 -p build/tidy --quiet <<<"$files" 2> >(grep -v 'warnings\? generated' >&2)
}

# Users compile the public headers with compilers of their own.
headers_stage() {
  stage "public headers with clang"
  (cd include && find kernelsmith -name '*.hpp' -printf '#include <%p>\n') | sort | while read -r line; do
    clang++-14 -std=c++20 -Iinclude -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -x c++ - <<<"$line"
  done
}

fuzz_stage() {
  stage "fuzz"
  build fuzz
  local target
  for target in build/fuzz/fuzz/*_fuzz; do
    local name=${target##*/} corpus
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    "$target" -max_total_time=60 -rss_limit_mb=2048 -timeout=10 "$corpus" "tests/regressions/$name" >"$corpus.log" 2>&1 || {
      tail -n 20 "$corpus.log" >&2
      printf 'test: %s found a crash; keep its input under tests/regressions/%s\n' "$name" "$name" >&2
      exit 1
    }
    printf '%s: %s\n' "$name" "$(tail -n 1 "$corpus.log")"
  done
}

scripts/install.sh test
for name in format dev asan tsan tidy; do
  if wanted "$name"; then "${name}_stage"; fi
done
for name in headers release wheel fuzz; do
  if { $full && [ ${#only[@]} -eq 0 ]; } || [[ " ${only[*]:-} " == *" $name "* ]]; then "${name}_stage"; fi
done
stage "all passed"
