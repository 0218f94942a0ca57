#!/usr/bin/env bash
# Installs, builds and tests kernelsmith. Without options: the packages, the build, and every test that is not long.
# Usage: scripts/test.sh [--ci | --full] [--only PART]...
#   --ci     the checks of a submission too: format, public headers, clang-tidy and locks on what changed, sanitizers
#   --full   all that: the long tests, all cases of the red team, fuzzing, the wheel, the release build, every file linted
#   --only   one part: dev, benchmarks, format, headers, tidy, locks, asan, tsan, release, wheel, fuzz
# build/times.txt lists afterwards what took long.
set -euo pipefail
cd "$(dirname "$0")/.."

parts_of_tier=(dev)
parts_of_ci=(format headers tidy locks dev benchmarks asan tsan)
parts_of_full=(format headers tidy locks dev benchmarks asan tsan release wheel fuzz)

usage() { sed -n '2,7s/^# //p' "$0"; }

full=false
parts=("${parts_of_tier[@]}")
only=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h|--help) usage; exit 0 ;;
    --ci) parts=("${parts_of_ci[@]}") ;;
    --full) full=true; parts=("${parts_of_full[@]}") ;;
    --only)
      [ $# -gt 1 ] || { usage >&2; exit 2; }
      [[ " ${parts_of_full[*]} " == *" $2 "* ]] || { printf 'test: unknown part %s\n' "$2" >&2; usage >&2; exit 2; }
      only+=("$2"); shift ;;
    *) printf 'test: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#only[@]} -eq 0 ] || parts=("${only[@]}")

jobs=$(nproc)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
mkdir -p build
stages=build/stages.txt
: >"$stages"

# Ends the stage before, whose time it notes, and says what begins and how long that takes from a cold start.
current=
stage() {
  [ -z "$current" ] || printf '%s %s\n' "$current" $((SECONDS - began)) >>"$stages"
  current=$1 began=$SECONDS
  [ $# -gt 1 ] || return 0
  local expected
  expected=$(awk -F'|' -v name="\`$1\`" '$2 ~ name { time = $(NF - 1) } END { if (time > 0) print ", about" time "s" }' CONTRIBUTING.md)
  printf '\n== %s: %s%s\n' "$1" "$2" "$expected"
}

# Configures and builds a preset; its output is shown only when it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "$@"; } >"$log" 2>&1 || {
    grep -nE 'error|warning|FAILED|CMake Error' "$log" | head -n 40 >&2 || true
    tail -n 15 "$log" >&2
    printf 'test: the %s build failed; the whole log is %s\n' "$preset" "$log" >&2
    exit 1
  }
}

# Runs a preset's tests; what passed is only counted.
run_tests() {
  local name=$1 preset=$2 log=build/$1-tests.log
  shift 2
  ctest --preset "$preset" "$@" >"$log" 2>&1 || { grep -vE ' Passed |^ +Start ' "$log" >&2; exit 1; }
  grep -E '^[0-9]+% tests passed' "$log" || echo "no tests"
  printf '%s skipped\n' "$(grep -cE '[*]{3}(Skipped|Not Run)' "$log")"
}

# What measures kernels (the label `clock`) runs alone and up to three times: a machine that is too busy to measure on is no
# fault of the program's. What passed only then is named.
run_clock_tests() {
  run_tests "$1-clock" "$1" -L clock -LE full --repeat until-pass:3 --no-tests=ignore
  if grep -E '\*\*\*' "build/$1-clock-tests.log" | grep -vE 'Not Run|Skipped'; then echo "the above passed only when they were repeated"; fi
}

# A third of the red team's cases, another one each day; all of them with --full, or when what they attack has changed.
choose_redteam() {
  $full && return
  git diff --quiet "${KERNELSMITH_BASE:-HEAD~1}" -- evaluator src/sandbox tests/redteam 2>/dev/null || return 0
  export KERNELSMITH_REDTEAM_THIRD=$(($(date +%s) / 86400 % 3))
  echo "of the red team the tasks of third $KERNELSMITH_REDTEAM_THIRD; --full runs all"
}

dev_part() {
  stage build "the library, the command, the Python module and the tests (build/dev)"
  build dev
  choose_redteam
  stage tests "what needs no clock, $jobs at a time"
  run_tests dev dev -j "$jobs" -LE 'full|clock'
  stage clock "what measures kernels, one at a time"
  run_clock_tests dev
  $full || return 0
  stage long "long tests"
  run_tests dev-full dev -L full
}

# Inputs of fuzzers are kept as they were found, and the red team's cases write as they like.
sources() { git ls-files '*.cpp' '*.hpp' ':!tests/regressions' ':!tests/redteam/cpu/cases'; }

format_part() {
  stage format "clang-format"
  sources | xargs -r -P "$jobs" -n 100 clang-format-14 --dry-run --Werror
}

# Users include the public headers in any order, and with compilers of their own: with --full it is clang, which takes longer.
headers_part() {
  local compiler=g++
  if $full; then compiler=clang++-14; fi
  stage headers "each public header alone, with $compiler"
  (cd include && find kernelsmith -name '*.hpp') | sort | xargs -P "$jobs" -I{} sh -c \
    'echo "#include <{}>" | "$0" -std=c++20 -Iinclude -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -x c++ -' "$compiler"
}

# The lint is slow: what changed since KERNELSMITH_BASE (default: the last commit), or every file with --full.
changed() { git diff --name-only --diff-filter=d "${KERNELSMITH_BASE:-HEAD~1}"; }

# File by file, and without precompiled headers, which clang cannot read when they are GCC's.
configure_lint() {
  cmake --preset dev -B build/tidy -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >build/tidy.log
}

# Templates of `init` have a header only in a task.
tidy_part() {
  stage tidy "clang-tidy on $($full && echo "every file" || echo "what changed")"
  local files
  files=$(if $full; then sources; else changed; fi |
    grep -E '^(archive|evaluator|islands|prompts|python|service|src)/.*\.cpp$' | grep -vE '/templates?/' || true)
  [ -n "$files" ] || { echo "nothing to check"; return; }
  configure_lint
  xargs -n 1 -P "$jobs" clang-tidy-14 -p build/tidy --quiet <<<"$files" 2> >(grep -v 'warnings\? generated' >&2)
}

# The locks of std have no annotations.
locks_part() {
  stage locks "what a mutex guards, in $($full && echo "every component" || echo "those that changed")"
  if git grep -nE 'std::(mutex|lock_guard|unique_lock|scoped_lock|condition_variable)' -- include internal archive evaluator islands \
    prompts python service src ':!internal/kernelsmith/core/mutex.hpp'; then
    echo "test: use the locks of kernelsmith/core/mutex.hpp" >&2
    exit 1
  fi
  local files
  files=$(if $full; then sources; else changed; fi | grep -E '\.[ch]pp$' || true)
  [ -n "$files" ] || { echo "nothing to check"; return; }
  configure_lint
  xargs scripts/check_locks.py build/tidy <<<"$files"
}

benchmarks_part() {
  stage benchmarks "they compile"
  build dev --target benchmarks
}

# Sanitizers change times so much that tests of the clock say nothing: those only with --full.
asan_part() {
  stage asan-build "with AddressSanitizer and UndefinedBehaviorSanitizer (build/asan)"
  build asan
  stage asan "tests under both"
  run_tests asan asan -j "$jobs" -LE 'full|clock'
  $full || return 0
  stage asan-clock "what measures kernels, under both"
  run_clock_tests asan
  asan_python
}

# The interpreter is built without a sanitizer and in C: it needs the sanitizer's library first, and that one the library that
# throws. What it leaves to the end of its process is no leak.
asan_python() {
  stage asan-python "the Python module under AddressSanitizer"
  cmake --preset asan -DKERNELSMITH_BUILD_PYTHON=ON >/dev/null
  build asan --target kernelsmith_python
  LD_PRELOAD="$(clang++-14 -print-file-name=libclang_rt.asan-x86_64.so) $(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=build/asan/python \
    KERNELSMITH_SOURCE=$PWD build/venv/bin/python -B -m pytest -q -p no:cacheprovider \
    python/tests/test_values.py python/tests/test_callables.py python/tests/test_engine.py python/tests/test_stress.py
}

tsan_part() {
  stage tsan-build "with ThreadSanitizer (build/tsan)"
  build tsan --target tsan_tests
  stage tsan "tests of what runs on several threads"
  run_tests tsan tsan -j "$jobs" -L tsan -LE 'full|clock'
}

# What users run is compiled otherwise than what is tested. A machine too busy to measure on gets three tries.
release_part() {
  stage release "the command as users have it (build/release)"
  build release --target kernelsmith_cli
  local task=examples/matmul_cpu tries=3
  until build/release/bin/kernelsmith evaluate "$task" "$task/seed.cpp" --quick; do
    [ $((--tries)) -gt 0 ] || { echo "test: the release build cannot evaluate $task" >&2; exit 1; }
  done
}

# What `pip install .` gives, in an environment of its own.
wheel_part() {
  stage wheel "pip install ."
  rm -rf build/wheel-venv
  python3 -m venv build/wheel-venv
  build/wheel-venv/bin/pip install -q --disable-pip-version-check . -r python/requirements-test.txt
  # Not in build, whose folder `torch` would pass for a package.
  (cd build/wheel-venv && bin/python -m kernelsmith --version &&
    KERNELSMITH_SOURCE=$PWD/../.. bin/python -B -m pytest -q -p no:cacheprovider ../../python/tests)
}

fuzz_part() {
  stage fuzz "a minute of each fuzz target"
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

stage packages "Debian packages, and three Python environments (build/venv, build/torch, build/learning)"
scripts/install.sh test
for part in "${parts[@]}"; do "${part}_part"; done
stage ""
scripts/times.py "$stages"
printf '\n== all passed, in %s s\n' "$SECONDS"
