#!/usr/bin/env python3
"""From tasks and a model to packages on a GPU: searches, publishes, runs packages' tests and benchmarks, applies one.

usage: production.py [--seconds 20] [--only examples|whole]; needs `kernelsmith` on the PATH, and `python -m kernelsmith`
(docs/production.md). Prints a line for each step, with its own numbers; ends with status 1 if a step failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("decode_metadata_torch", "moe_routing_torch", "engram_torch", "torch/level1/softmax")
failures: list[str] = []


def ran(what: str, *command: object, where: Path = ROOT) -> str | None:
    """What it printed; None if it failed, which is said and counted."""
    done = subprocess.run(list(map(str, command)), cwd=where, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    failures.append(what)
    print(f"{what}: FAILED ({done.returncode}): {(done.stderr or done.stdout).strip()[-1500:]}", flush=True)
    return None


def python(what: str, *arguments: object, where: Path = ROOT) -> str | None:
    return ran(what, sys.executable, "-W", "ignore", *arguments, where=where)


def published(task: Path, folder: Path, seconds: int, kind: str = "module") -> Path | None:
    """A package of a search's confirmed best."""
    run, out, name = folder / "a.run", folder / kind, f"{task.name}, {kind}"
    search = ("kernelsmith", "run", task, "--time", f"{seconds}s", "--out", run)
    if not run.exists() and ran(f"{task.name}, search", *search) is None:
        return None
    said = python(name, "-m", "kernelsmith", "publish", run, "--as", kind, "--out", out, "--force", "--licence", "mit")
    if said is None:
        return None
    print(f"{name}: " + "; ".join(line.strip() for line in said.splitlines()[1:]), flush=True)
    return out


def benchmarked(name: str, package: Path) -> None:
    said = python(f"{name}, benchmark", "benchmark.py", "--json", where=package)
    for row in map(json.loads, (said or "").splitlines()):
        print(f"{name}: {row['ran']} {row['old_us']:.1f} to {row['new_us']:.1f} us, {row['ratio']:.3f}x "
              f"[{row['low']:.3f}, {row['high']:.3f}], spread {100 * row['spread']:.2f} %", flush=True)


def examples(scratch: Path, seconds: int) -> None:
    for example in EXAMPLES:
        task = ROOT / "examples" / example
        folder = scratch / task.name
        folder.mkdir()
        for kind in ("module", "torch-op", "hf-kernel"):
            package = published(task, folder, seconds, kind)
            if package is not None and kind == "module":
                benchmarked(task.name, package)


def whole(scratch: Path, seconds: int) -> None:
    """Two layers of a Transformer, 1k wide: the norm becomes a task, is searched from a kernel with knobs, and put back."""
    model = scratch / "transformer.py"
    text = (ROOT / "python/tests/production/transformer.py").read_text()
    model.write_text(text.replace("(1, 16)", "(8, 512)").replace("[64, 4, 2]", "[1024, 16, 2]"))
    said = python("profile", "-m", "kernelsmith", "profile", model, "--out", scratch / "profile")
    print(said or "", flush=True)
    convolutions = ROOT / "python/tests/production/convolutions.py"
    said_too = python("profile, convolutions", "-m", "kernelsmith", "profile", convolutions, "--out", scratch / "second")
    print(said_too or "", flush=True)
    task = scratch / "profile" / "tasks" / "norm"
    if said is None or not task.exists():
        failures.append("the profile has no task norm")
        return
    (task / "seed.py").write_text((ROOT / "benchmarks/production/norm.py").read_text())
    about = (task / "task.yaml").read_text()
    (task / "task.yaml").write_text(about.replace("reference.py}", "reference.py, seed: seed.py}"))
    package = published(task, scratch, seconds)
    if package is not None:
        print(python("apply", "-m", "kernelsmith", "apply", package, model, "--measure") or "", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20, help="of each search (20)")
    parser.add_argument("--only", choices=("examples", "whole"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for part in (whole, examples):
            if options.only in (None, part.__name__):
                (Path(scratch) / part.__name__).mkdir()
                part(Path(scratch) / part.__name__, options.seconds)
    print(f"{len(failures)} steps failed" + (f": {', '.join(failures)}" if failures else ""))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
