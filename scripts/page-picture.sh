#!/usr/bin/env bash
# Makes docs/images/page.png, the page of a run as `kernelsmith report` writes it, with Chromium.
# usage: scripts/page-picture.sh [RUN]     without RUN: README's search, which takes 50 s and prints what README shows of it
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/build/release/bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
run=${1:-$scratch/softmax.run}
[ -n "${1:-}" ] || (cd "$scratch" && kernelsmith run "$root/examples/softmax_cpu" --time 40s --out softmax.run)
kernelsmith report "$run" --out "$scratch/page.html" >/dev/null
# 1200 x 1080 is the page down to its pictures of lineage and archive.
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1080 --user-data-dir="$scratch/profile" \
  --screenshot="$root/docs/images/page.png" "file://$scratch/page.html" >/dev/null 2>&1
echo "docs/images/page.png shows $(basename "$run")"
