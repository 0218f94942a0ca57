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

# The stub takes the place of the extension, so that nothing has to be built. `stubtest` keeps it true (python/tests).
cp -r python/kernelsmith "$out/source/"
version=$(sed -n 's/^project(kernelsmith VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
{ echo "from __future__ import annotations"; cat python/kernelsmith/_core.pyi; echo "__version__ = \"$version\""; } >"$out/source/kernelsmith/_core.py"
modules=(kernelsmith kernelsmith.plot kernelsmith.report kernelsmith.openevolve kernelsmith.learning)
export PYTHONPATH=$out/source PYTHONDONTWRITEBYTECODE=1
build/docs-venv/bin/python -W error scripts/docstrings.py "${modules[@]}"
build/docs-venv/bin/python -W error -m pdoc -o "$out/python" "${modules[@]}"
echo "Python: $out/python/index.html"
