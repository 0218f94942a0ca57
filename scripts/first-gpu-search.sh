#!/usr/bin/env bash
# docs/first-gpu-search.md by itself: a search on a GPU without a key, in which ready-made replies are copied into the folder of
# --manual, as a person would copy those of a model. Prints the seconds of each step.
# usage: scripts/first-gpu-search.sh [FOLDER]      FOLDER, which must not exist, keeps the task and the runs (default: a temporary one)
# Uses the `kernelsmith` on the PATH, else the programs of build/gpu (scripts/gpu-pack.sh), else that of build/release.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
unset PYTHONDONTWRITEBYTECODE  # some images set it, and have no compiled files: each Python would compile PyTorch anew, for seconds
if command -v kernelsmith >/dev/null; then
  :
elif [ -x "$root/build/gpu/bin/kernelsmith" ]; then
  pack=$root/build/gpu
  export PATH=$pack/bin:$PATH LD_LIBRARY_PATH=$pack/lib KERNELSMITH_EXTENSION_LIBRARY=$pack/lib/libkernelsmith_extension.so
  export KERNELSMITH_JUDGE_LIBRARY=$pack/lib/libkernelsmith_judge.so KERNELSMITH_CUDA_RUNNER=$pack/bin/kernelsmith-cuda-runner
  export KERNELSMITH_TORCH_PYTHON_DIR=${KERNELSMITH_TORCH_PYTHON_DIR:-$root/evaluator/torch/python}
  export KERNELSMITH_PROCESS_PYTHON_DIR=$root/evaluator/python_process/program
else
  export PATH=$root/build/release/bin:$PATH
fi
export KERNELSMITH_TORCH_PYTHON=${KERNELSMITH_TORCH_PYTHON:-$(command -v python3)}
replies=${REPLIES:-$root/examples/first_gpu_search}  # a test has others

folder=${1:-$(mktemp -d)/first-gpu-search}
mkdir -p "$(dirname "$folder")"
mkdir "$folder"
cd "$folder"

began=$(date +%s%N)
seconds() { echo "$((($(date +%s%N) - $1) / 100000000))" | sed -E 's/(.)$/.\1/; s/^\./0./'; }
step() {
  local at status=0
  printf '\n== %s\n' "$1"
  shift
  at=$(date +%s%N)
  "$@" || status=$?
  printf -- '-- %s s\n' "$(seconds "$at")"
  return "$status"
}

# A person reads each request, asks a model, and saves its reply; here the replies are ready.
search() {
  python3 -B "$root/examples/first_gpu_search/answer.py" queue "$replies"/{first,second}.reply.txt &
  kernelsmith run my_loss --manual queue --calls 2 --set sampler.opening=1 --out by_hand.run || { kill $!; return 1; }
  wait $!
}

cp -r "$root/examples/torch/level2/label_smoothing_loss" my_loss
step "the machine, and what the task needs of it" kernelsmith doctor my_loss || true  # goes on, so that the search says what is wrong
step "a search of two replies" search
step "how the best came about" kernelsmith show by_hand.run
step "in plain PyTorch" kernelsmith verify my_loss by_hand.run/best/candidate.py
printf '\n== all: %s s, in %s\n' "$(seconds "$began")" "$folder"
