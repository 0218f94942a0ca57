#!/usr/bin/env bash
# Builds the API reference: build/docs/cpp/html of the public headers (Doxygen), build/docs/python of the package (pdoc).
# Usage: scripts/docs.sh
# It fails on every warning, on a public class without a comment, and on a public name of Python without a docstring. Members
# of C++ classes may go without a comment; they are counted.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh docs
out=build/docs
rm -rf "$out"
mkdir -p "$out/source"

doxygen docs/Doxyfile
# Doxygen 1.9 says the latter of each specialisation of std::hash, and means nothing that a reader sees.
tolerated='Member .* is not documented|Internal inconsistency: scope for class std::hash'
if grep -vE "$tolerated" "$out/doxygen.log" >&2; then
  echo "docs: Doxygen gave the warnings above" >&2
  exit 1
fi
echo "C++: $out/cpp/html/index.html; $(grep -c 'is not documented' "$out/doxygen.log") members have no comment of their own"

# The extension's types, which its build writes, take its place.
cmake --preset dev >/dev/null
cmake --build --preset dev --target kernelsmith_python
cp -r python/kernelsmith "$out/source/"
cp build/dev/python/kernelsmith/_core.pyi "$out/source/kernelsmith/_core.py"
modules=(kernelsmith kernelsmith.plot kernelsmith.report kernelsmith.openevolve kernelsmith.learning)
export PYTHONPATH=$out/source PYTHONDONTWRITEBYTECODE=1
build/docs-venv/bin/python -W error scripts/docstrings.py "${modules[@]}"
build/docs-venv/bin/python -W error -m pdoc -o "$out/python" "${modules[@]}"
echo "Python: $out/python/index.html"
