#!/usr/bin/env bash
# Installs the Debian packages that kernelsmith needs and this machine lacks (Debian 12, Ubuntu 24.04).
# Usage: scripts/install.sh [user|test|docs]   `user` builds and runs, and builds the Python module; `test` adds what the tests and
# checks need, and makes the virtual environments build/venv, for the Python module's, build/torch, for the torch backend's, and
# build/learning, for training; `docs` is only what scripts/docs.sh needs, with the environment build/docs-venv.
set -euo pipefail

cd "$(dirname "$0")/.."

die() { printf 'install: %s\n' "$*" >&2; exit 3; }

tier=${1:-user}
[[ "$tier" =~ ^(user|test|docs)$ ]] || die "unknown tier '$tier': use user, test or docs"
command -v dpkg-query >/dev/null || die "this is no Debian or Ubuntu: install by hand what 'packages' names in scripts/install.sh"

# Debian 12 has Boost 1.81 beside an older default; Ubuntu 24.04 has 1.83.
if apt-cache show libboost1.81-dev >/dev/null 2>&1 || dpkg-query -W libboost1.81-dev >/dev/null 2>&1; then
  boost=1.81
elif grep -q 'VERSION_ID="12"' /etc/os-release; then
  boost=1.81
else
  boost=1.83
fi

packages=(g++ cmake ninja-build bubblewrap "libboost$boost-dev" "libboost-graph$boost-dev" libssl-dev libsqlite3-dev
          libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libfmt-dev libseccomp-dev librandom123-dev
          libdtl-dev libcurl4-openssl-dev libnats-dev ca-certificates python3-dev python3-venv)
if [ "$tier" = test ]; then
  packages+=(git ccache mold sqlite3 libgtest-dev libgmock-dev libnghttp2-dev libbenchmark-dev clang-14 libclang-rt-14-dev
             clang-format-14 clang-tidy-14 chromium nats-server hipcc)
elif [ "$tier" = docs ]; then
  packages=(doxygen python3 python3-venv)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
install_packages() {
  local as_root=() log
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "these packages are missing and sudo is not here; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}"
  log=$(mktemp)
  { "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 || { tail -n 5 "$log" >&2; die "apt-get could not install: ${missing[*]}"; }
  rm -f "$log"
}

# A virtual environment, made anew if what it holds is not what the list asks for. With a third argument it also has what that
# one holds, and compiles modules when they are imported: transformers has thousands that no test needs.
make_environment() {
  local folder=$1 wanted=$2 beside=${3:-} options=()
  cmp -s "$wanted" "$folder/requirements.txt" && return
  echo "making $folder"
  rm -rf "$folder"
  mkdir -p build
  python3 -m venv "$folder"
  if [ -n "$beside" ]; then
    options=(--no-compile)
    (cd "$beside"/lib/python3*/site-packages && pwd) >"$(echo "$folder"/lib/python3*/site-packages)/beside.pth"
  fi
  "$folder/bin/python" -m pip install -q "${options[@]}" --disable-pip-version-check -r "$wanted" && cp "$wanted" "$folder/requirements.txt"
}

[ ${#missing[@]} -eq 0 ] || install_packages
if [ "$tier" = docs ]; then
  make_environment build/docs-venv docs/requirements.txt || die "pip could not install what docs/requirements.txt lists"
fi
[ "$tier" = test ] || exit 0
# pip uses one core: the module's environment is made beside the other two.
make_environment build/venv python/requirements-test.txt &
module_environment=$!
if make_environment build/torch tests/evaluator/torch/requirements.txt; then
  make_environment build/learning python/requirements-learning.txt build/torch ||
    echo "install: TRL could not be installed: the tests that need it are skipped" >&2
else
  echo "install: PyTorch and Triton could not be installed: the tests that need them are skipped" >&2
fi
wait "$module_environment" || die "pip could not install what python/requirements-test.txt lists"
