#!/bin/bash
# Checks and measures the backends cuda and torch on a GPU machine, and prints a short table for each section.
# usage: scripts/gpu-check.sh SECTION...      sections: doctor; of cuda: tests examples noise rate devices peers redteam inspect profile;
#   of torch: torch_judge torch_workers torch_examples torch_replay torch_extension torch_noise torch_redteam, all by: torch; and torch_rates,
#   sizes (KernelBench's references as their own candidates, from the folder $KERNELBENCH; SIZES="--quick --at-once 6"), neighbours;
#   of `serve`: service, learning (a pack with LEARNING); production (docs/production.md); of both backends: mixed; public (published candidates, from the folder $PUBLIC_SETS);
#   of maca and hip, on a card of theirs: vendor
# Uses the programs of build/gpu (scripts/gpu-pack.sh), else those of a release build, which it makes.
set -u
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE  # some images set it, and have no compiled files: each Python would compile PyTorch anew, for seconds
if [ -x build/gpu/bin/kernelsmith ]; then
  export PATH=$PWD/build/gpu/bin:$PATH LD_LIBRARY_PATH=$PWD/build/gpu/lib
  export KERNELSMITH_EXTENSION_LIBRARY=$PWD/build/gpu/lib/libkernelsmith_extension.so KERNELSMITH_JUDGE_LIBRARY=$PWD/build/gpu/lib/libkernelsmith_judge.so
  tests=build/gpu/bin
else
  cmake --preset release >/dev/null && cmake --build --preset release >build-gpu.log 2>&1 || { tail -20 build-gpu.log; exit 3; }
  export PATH=$PWD/build/release/bin:$PATH
  tests=build/release/tests
fi
export KERNELSMITH_CUDA_RUNNER=$(command -v kernelsmith-cuda-runner) KERNELSMITH_CUDA_INSPECTOR=$(command -v kernelsmith-cuda-inspector) KERNELSMITH_TORCH_PYTHON_DIR=$PWD/evaluator/torch/python KERNELSMITH_PROCESS_PYTHON_DIR=$PWD/evaluator/python_process/program
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

# Candidates a second on one GPU, and on all of them.
section_devices() {
  local count task
  for task in softmax_cuda torch/level1/softmax; do
    for count in 1 "$(nvidia-smi --list-gpus | wc -l)"; do
      echo "-- $task, $count GPUs"
      timeout 100 kernelsmith run examples/$task --time 20s --workers 32 --set evaluator.devices="$count" --out "$scratch/devices-$count-${task##*/}.run" 2>&1 |
        grep -E 'evaluations/s|ended|speedup|error|hint' | tail -3
    done
  done
}

# The best of a search beside PyTorch's own kernel, on the same machine.
section_peers() {
  for task in ${PEER_TASKS:-softmax_cuda reduce_cuda rmsnorm_cuda matmul_bf16_cuda}; do
    timeout 250 kernelsmith run examples/$task --time "${PEER_TIME:-180s}" --out "$scratch/peers-$task.run" 2>&1 | grep -E '^(ended|speedup)'
    grep '@tune' "$scratch/peers-$task.run/best/seed.cu" | sed 's/ *\/\/.*//' | tr -s ' \n' ' '; echo
    timeout 60 kernelsmith evaluate examples/$task "$scratch/peers-$task.run/best/seed.cu" 2>&1 | grep -E '^(accepted|rejected|  .* us )'
    timeout 60 kernelsmith evaluate examples/$task examples/$task/seed.cu 2>&1 | grep -E '^(accepted|rejected|  .* us )' | sed 's/^/seed: /'
    python3 benchmarks/torch_kernels.py $task
  done
}

section_redteam() { timeout "${REDTEAM_TIME:-440}" stdbuf -oL "$tests/redteam_cuda" --cases tests/redteam/cuda --repeat "${REDTEAM_ROUNDS:-1}"; }

# compute-sanitizer and ncu on would-be bests: every twin must pass, what is unsafe must not.
section_inspect() {
  timeout 120 "$tests/cuda_runner_test" --gtest_brief=1 --gtest_filter='*Inspector*'
  for task in softmax_cuda reduce_cuda rmsnorm_cuda matmul_bf16_cuda; do
    echo "-- $task"
    timeout 120 kernelsmith run examples/$task --evaluations 40 --out "$scratch/inspect-$task.run" 2>&1 | grep -E '^(ended|speedup)'
    kernelsmith export "$scratch/inspect-$task.run" 2>/dev/null | python3 -c 'import json, sys
def walk(value):
    if isinstance(value, dict):
        if value.get("advice"): print("advice:", value["advice"])
        if value.get("code") == "unsafe_memory": print("unsafe:", value.get("diagnostics"))
        for child in value.values(): walk(child)
    elif isinstance(value, list):
        for child in value: walk(child)
for line in sys.stdin: walk(json.loads(line))' | sort | uniq -c
  done
}

# `profile` of every example as a person reads it, then what of it is missing or unlikely: nothing should be.
section_profile() {
  for task in softmax_cuda reduce_cuda rmsnorm_cuda matmul_bf16_cuda; do
    echo "-- $task"
    timeout 120 kernelsmith profile examples/$task examples/$task/seed.cu 2>&1
    timeout 120 kernelsmith profile --no-evaluation --json examples/$task examples/$task/seed.cu 2>/dev/null | python3 -c 'import json, sys
told = json.load(sys.stdin)
print("missing:", told["missing"])
for launch in told["launches"]:
    counts = launch["counts"] or {}
    stalls, lines = counts.get("stalls", []), counts.get("lines", [])
    shares = [counts.get(name, -1) for name in ("arithmetic", "tensor_cores", "memory_system", "device_memory", "occupancy")]
    good = all(share is not None and 0 <= share <= 1 for share in shares) and counts["us"] > 0 and counts["ridge"] and stalls and lines
    print("ok" if good else "UNLIKELY", launch["kernel"], launch["limiter"] or "-", "fits", round(launch["occupancy"], 2), counts.get("bound"))
' || echo "no profile"
  done
}

# The torch backend: the processes by themselves, then whole evaluations.
section_torch_judge() { timeout 100 python3 -u tests/evaluator/torch/gpu_judge.py; }

section_torch_workers() { timeout 200 python3 -u tests/evaluator/torch/gpu_check.py 2>&1 | cut -c1-400; }

section_torch_examples() {
  for seed in examples/torch/level*/*/seed.py examples/*_torch/seed.py; do
    echo "-- $(dirname "$seed")"
    timeout 90 kernelsmith evaluate "$(dirname "$seed")" "$seed" 2>&1 | grep -v '^knob'
  done
}

section_torch_replay() { timeout 200 python3 -u benchmarks/torch_replay.py "${TORCH_MODULES:-examples}" --limit 150; }

# C++ extensions, for which the machine needs nvcc.
section_torch_extension() { timeout 460 python3 -u tests/evaluator/torch/gpu_extension.py 2>&1 | cut -c1-400; }

section_torch_noise() { timeout 200 python3 -u benchmarks/torch_noise.py --processes 10; }

# Source to verdict beside KernelBench's way, then candidates a second of a search with 16 cores.
section_torch_rates() {
  timeout 290 python3 -u benchmarks/torch_kernelbench_way.py --variants 2
  timeout 290 python3 -u benchmarks/torch_rate.py --seconds 25 --workers 16
}

# REDTEAM_CASES='extension_*' runs the cases of that pattern alone.
section_torch_redteam() { timeout "${REDTEAM_TIME:-560}" stdbuf -oL "$tests/redteam_torch" --cases tests/redteam/torch --repeat "${REDTEAM_ROUNDS:-1}" ${REDTEAM_CASES:+--case "$REDTEAM_CASES"}; }

# 200 requests by 16 clients, some of which hang, crash or are wrong (docs/service.md).
section_service() { timeout 235 python3 -u benchmarks/service_mixed.py --kernelsmith "$(command -v kernelsmith)" --seconds 130; }

# Tasks of gigabytes, four at once, and six searches beside each other.
section_sizes() {
  local out=${OUT:-$(mktemp -d)}/sizes
  timeout -s INT 470 kernelsmith score "${KERNELBENCH:?names the folder of the problems}" --references --levels 1,2,3 --task-time 150s --out "$out" ${SIZES:-}
  cat "$out/times.csv"
}

section_neighbours() { timeout 470 python3 -u benchmarks/torch_memory.py; }

# Honest and hostile candidates in random order through one `evaluate`.
section_mixed() {
  timeout 230 python3 -u benchmarks/mixed.py torch --count "${MIXED:-300}" --limit 210
  timeout 230 python3 -u benchmarks/mixed.py cuda --count "${MIXED:-300}" --limit 210
}

# Candidates that others published, from the folder $PUBLIC_SETS (KernelBenchLeaderboard, CUDA-L1), by their own claims; goes on where it was.
section_public() {
  local set out
  for set in "${PUBLIC_SETS:?a folder with published sets}"/*; do
    out=${PUBLIC_OUT:-$scratch}/$(basename "$set").score
    timeout "${PUBLIC_TIME:-270}" kernelsmith score "$set" --quick --out "$out" 2>&1 | tail -4
    sed -n '/^## Published/,/^## Tasks/p' "$out/report.md" | grep '^|'
  done
}

# The tree's Python package, with the extension of a build for this Python, in $scratch/python.
python_package() {
  local package=$scratch/python/kernelsmith
  mkdir -p "$package"
  ln -sf "$PWD"/python/kernelsmith/* "$(dirname "$(command -v kernelsmith)")" "$package"
  ln -sf "$PWD"/build/{gpu,release}/python/kernelsmith/_core.*.so "$package" 2>/dev/null
}

# GRPO over `serve` while 5 % of the requests fail (docs/learning.md). What is left after $LEARNING_TIME seconds goes on with the next call,
# from $LEARNING_OUT. $OUT gets the curve, its picture and the checkpoint, packed.
section_learning() {
  local out=${LEARNING_OUT:-build/gpu-learning} status
  python_package
  KERNELSMITH_TORCH_PYTHON=${KERNELSMITH_TORCH_PYTHON:-$(command -v python3)} PYTHONPATH=$scratch/python:$PWD/build/gpu/site \
    timeout -s INT "$((${LEARNING_TIME:-480} + 90))" python3 -u benchmarks/grpo_over_serve.py --kernelsmith "$(command -v kernelsmith)" --out "$out" \
    --steps "${LEARNING_STEPS:-100}" --seconds "${LEARNING_TIME:-480}" 2>&1 | grep -v "^{'loss'"
  status=${PIPESTATUS[0]}
  tail -3 "$out/curve.jsonl"
  [ -z "${OUT:-}" ] || { cp "$out"/curve.* "$OUT" && tar cJf "$OUT/learning.tar.xz" -C "$out" .; }
  echo "status $status (0: done and risen, 4: repeat to go on, else wrong)"
}

# From a model to a patch (docs/production.md): the tree's Python package, with the extension of a build for this Python.
# PRODUCTION_ONLY=whole or packages runs one half; $OUT gets results.json.
section_production() {
  python_package
  KERNELSMITH_TORCH_PYTHON=${KERNELSMITH_TORCH_PYTHON:-$(command -v python3)} PYTHONPATH=$scratch/python \
    timeout "${PRODUCTION_TIME:-500}" python3 -u benchmarks/production --limit $((${PRODUCTION_TIME:-500} - 30)) ${PRODUCTION_ONLY:+--only "$PRODUCTION_ONLY"}
}

# The backends of other vendors (docs/backend-maca.md, docs/backend-hip.md): the references of the examples in their dialects. Each
# must be accepted as its own candidate, and the last one, which computes something else, must not.
section_vendor() {
  local backend prefix bfloats task folder
  kernelsmith doctor | grep -E 'maca|mxcc|hip'
  for backend in maca hip; do
    kernelsmith doctor | grep -q "$backend gpu 0" || continue
    prefix=${backend/maca/mc}
    bfloats='s/__nv_bfloat16/maca_bfloat16/g'
    [ "$backend" = maca ] || bfloats='s/__float2bfloat16(/hip_bfloat16(/g; s/__bfloat162float(/static_cast<float>(/g; s/__nv_bfloat16/hip_bfloat16/g'
    for task in softmax_cuda reduce_cuda matmul_bf16_cuda rmsnorm_cuda; do
      folder=$scratch/$backend-$task
      mkdir -p "$folder"
      sed "s/backend: cuda/backend: $backend/; s/, seed: seed.cu//" "examples/$task/task.yaml" >"$folder/task.yaml"
      sed "s/cuda\([A-Z]\)/$prefix\1/g; $bfloats" "examples/$task/reference.cu" >"$folder/reference.cu"
      echo "-- $backend, $task"
      timeout 120 kernelsmith evaluate "$folder" "$folder/reference.cu" 2>&1 | grep -v '^knob'
    done
    sed 's/+ 1e-5f/+ 1e-1f/' "$folder/reference.cu" >"$folder/wrong.cu"
    echo "-- $backend, a wrong one"
    timeout 120 kernelsmith evaluate "$folder" "$folder/wrong.cu" 2>&1 | head -5
  done
}

section_torch() {
  for part in judge workers examples replay extension noise redteam; do section_torch_$part; done
}

for section in "$@"; do
  echo "== $section ($(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1))"
  start=$(date +%s)
  "section_$section"
  echo "== $section: $(($(date +%s) - start)) s"
done
