#!/bin/bash
# Checks and measures the cuda backend on a GPU machine, and prints a short table for each section.
# usage: scripts/gpu-check.sh SECTION...      sections: doctor tests examples noise rate torch redteam
# Uses the programs of build/gpu (scripts/gpu-pack.sh), else those of a release build, which it makes.
set -u
cd "$(dirname "$0")/.."
if [ -x build/gpu/bin/kernelsmith ]; then
  export PATH=$PWD/build/gpu/bin:$PATH LD_LIBRARY_PATH=$PWD/build/gpu/lib
  tests=build/gpu/bin
else
  cmake --preset release >/dev/null && cmake --build --preset release >build-gpu.log 2>&1 || { tail -20 build-gpu.log; exit 3; }
  export PATH=$PWD/build/release/bin:$PATH
  tests=build/release/tests
fi
export KERNELSMITH_CUDA_RUNNER=$(command -v kernelsmith-cuda-runner)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

section_doctor() { kernelsmith doctor; }

section_tests() { timeout 300 "$tests/cuda_runner_test" --gtest_brief=1; }

section_examples() {
  for task in softmax_cuda reduce_cuda rmsnorm_cuda matmul_bf16_cuda; do
    echo "-- $task"
    timeout 60 kernelsmith evaluate examples/$task examples/$task/seed.cu 2>&1 | grep -v '^knob'
  done
}

section_noise() { timeout 420 python3 benchmarks/cuda_noise.py --kernelsmith "$(command -v kernelsmith)" --processes 10; }

# Candidates a second in a search, and what one costs from source to verdict.
section_rate() {
  timeout 100 kernelsmith run examples/softmax_cuda --time 20s --out "$scratch/rate.run" 2>&1 | grep -E 'evaluations/s|ended' | tail -2
  timeout 60 kernelsmith evaluate --quick --json examples/softmax_cuda examples/softmax_cuda/seed.cu 2>/dev/null |
    python3 -c 'import json, sys
spent = json.load(sys.stdin)["spent_ms"]
print("one candidate, ms:", ", ".join(f"{step} {ms:.0f}" for step, ms in spent.items() if ":" not in step))'
}

# The best of a search beside PyTorch's own kernel, on the same machine.
section_torch() {
  for task in ${TORCH_TASKS:-softmax_cuda reduce_cuda rmsnorm_cuda matmul_bf16_cuda}; do
    timeout 250 kernelsmith run examples/$task --time "${TORCH_TIME:-180s}" --out "$scratch/torch-$task.run" 2>&1 | grep -E '^(ended|speedup)'
    grep '@tune' "$scratch/torch-$task.run/best/seed.cu" | sed 's/ *\/\/.*//' | tr -s ' \n' ' '; echo
    timeout 60 kernelsmith evaluate examples/$task "$scratch/torch-$task.run/best/seed.cu" 2>&1 | grep -E '^(accepted|rejected|  .* us )'
    timeout 60 kernelsmith evaluate examples/$task examples/$task/seed.cu 2>&1 | grep -E '^(accepted|rejected|  .* us )' | sed 's/^/seed: /'
    python3 benchmarks/torch_kernels.py $task
  done
}

section_redteam() { timeout "${REDTEAM_TIME:-440}" stdbuf -oL "$tests/redteam_cuda" --repeat "${REDTEAM_ROUNDS:-1}"; }

for section in "$@"; do
  echo "== $section ($(nvidia-smi --query-gpu=name --format=csv,noheader | head -1))"
  start=$(date +%s)
  "section_$section"
  echo "== $section: $(($(date +%s) - start)) s"
done
