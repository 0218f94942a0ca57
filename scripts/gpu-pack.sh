#!/bin/sh
# Packs a release build for a GPU machine that lacks some of what it needs: the programs, the shared libraries that they
# are linked with, and bubblewrap, unpacked. usage: [BUILD=build/dev] [LEARNING=3.12] scripts/gpu-pack.sh [FOLDER]   (default: build/gpu)
# LEARNING: the machine's version of Python, for which TRL and what it lacks there are unpacked into FOLDER/site (8 MB).
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/gpu}
build=${BUILD:-build/release}
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib" "$folder/packages"
for program in $build/bin/kernelsmith $build/bin/kernelsmith-runner $build/bin/kernelsmith-cuda-runner $build/bin/kernelsmith-cuda-inspector \
               $build/bin/kernelsmith-cuda-planner $build/bin/kernelsmith-maca-planner $build/bin/kernelsmith-hip-planner $build/tests/redteam_cuda $build/tests/redteam_torch $build/tests/cuda_runner_test; do
  [ ! -x "$program" ] || strip -o "$folder/bin/$(basename "$program")" "$program"
done
strip -o "$folder/lib/libkernelsmith_extension.so" "$build/evaluator/torch/extension/libkernelsmith_extension.so"
strip -o "$folder/lib/libkernelsmith_judge.so" "$build/evaluator/libkernelsmith_judge.so"
(cd "$folder/packages" && apt-get download bubblewrap >/dev/null 2>&1 && dpkg -x bubblewrap_*.deb .)
cp "$folder/packages/usr/bin/bwrap" "$folder/bin/"
rm -rf "$folder/packages"
for module in ${MODULE:-$build}/python/kernelsmith/_core.*.so; do
  [ -e "$module" ] || continue
  mkdir -p "$folder/python/kernelsmith"
  strip -o "$folder/python/kernelsmith/$(basename "$module")" "$module"
done
if [ -n "${LEARNING:-}" ]; then
  mkdir -p "$folder/wheels"
  python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$LEARNING" -d "$folder/wheels" \
    $(grep -E '^(trl|datasets)==' python/requirements-learning.txt) dill==0.4.1 multiprocess==0.70.19
  for wheel in "$folder"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$folder/site"; done
  rm -rf "$folder/wheels"
fi
# What belongs to the C library and the compiler is the machine's own.
for program in "$folder"/bin/* "$folder"/python/kernelsmith/*.so; do [ ! -e "$program" ] || ldd "$program"; done | awk '$3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libstdc\+\+|libgcc_s|libresolv|libdl|libpthread)\.so' | while read -r library; do cp -L "$library" "$folder/lib/"; done
du -sh "$folder"
