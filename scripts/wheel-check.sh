#!/usr/bin/env bash
# Installs the wheel for this Python from a folder into a new environment, and uses it: for machines without compilers.
# usage: [PYTHON=python3.12] scripts/wheel-check.sh FOLDER
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "${1:?usage: scripts/wheel-check.sh FOLDER}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"  # the clone's own module is not on the path
"${PYTHON:-python3}" -m venv environment
environment/bin/pip install -q --disable-pip-version-check --only-binary :all: --find-links "$folder" kernelsmith-engine
# The folder's wheel was taken, and not one of a package index.
ls "$folder/kernelsmith_engine-$(environment/bin/python -c 'import importlib.metadata as m; print(m.version("kernelsmith-engine"))')"-*.whl
environment/bin/kernelsmith --version
environment/bin/kernelsmith init packing --template python
environment/bin/kernelsmith evaluate packing packing/initial_program.py --set evaluator.sandbox=none
environment/bin/python "$root/examples/python/hill.py"
