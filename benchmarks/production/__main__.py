#!/usr/bin/env python3
"""What issue 46 asks of the way from a model to a patch, in one command: a line for each result, and results.json.

usage: python benchmarks/production [--device cuda|cpu] [--only whole|packages] [--limit 470] [--seconds 25] [--out FOLDER]

Two models are profiled, three hot spots of each are searched from good candidates, published and put back; four examples are
searched, published as three kinds of package, tested with PyTorch only, and compared with PyTorch's other ways. Searches and
tests run beside each other; what is timed by itself (profiles, whole models, baselines) runs alone. With --device cpu searches
are made up, and Triton interprets small kernels: that tries the check itself. Ends with status 1 if a result failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import whole  # noqa: E402
from packages import KINDS, Package  # noqa: E402
from place import Place  # noqa: E402
from steps import Steps, side_by_side  # noqa: E402
from subjects import EXAMPLES, ROOT  # noqa: E402

_SEARCHES_AT_ONCE, _TESTS_AT_ONCE = 5, 8


def checked(place: Place, only: str | None) -> None:
    """In order: what measures by itself has the GPU alone."""
    at_once = (_SEARCHES_AT_ONCE, _TESTS_AT_ONCE) if place.on_gpu else (1, 2)
    wholes = whole.made(place) if only != "packages" else []
    packages = [Package(place, example) for example in EXAMPLES] if only != "whole" else []
    side_by_side([*(each.search for each in packages), *whole.each_task(wholes, "search")], at_once[0])
    side_by_side([*whole.each_task(wholes, "publish"),
                  *(partial(each.publish, kind) for kind in KINDS for each in packages)], at_once[1])
    last = [each.chain for each in packages[-1:]]
    for call in [*whole.each_task(wholes, "apply"), *(each.compare for each in packages), *last]:
        call()


def alone(place: Place) -> None:
    """Whether a package's process finds no kernelsmith: its tests are to need PyTorch only."""
    command = "import importlib.util as u, sys; sys.exit(u.find_spec('kernelsmith') is not None)"
    done = subprocess.run([sys.executable, "-c", command], cwd=place.scratch, env=place.without_kernelsmith(), check=False)
    place.steps.say("packages run without kernelsmith", done.returncode == 0, "not on the path of their processes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", choices=("whole", "packages"))
    parser.add_argument("--limit", type=float, default=470, help="seconds, of everything (470)")
    parser.add_argument("--seconds", type=int, default=25, help="of each search (25)")
    parser.add_argument("--out", type=Path, default=os.environ.get("OUT"), help="where results.json goes ($OUT)")
    parser.add_argument("--scratch", type=Path, help="a new folder for everything, which stays (one that does not)")
    parser.add_argument("--hub", type=Path, default=ROOT / "build" / "hub", help="where `kernels` is installed (build/hub)")
    options = parser.parse_args()
    file = Path(options.out) / "results.json" if options.out else None
    steps = Steps(options.limit, file, patience=1 if options.device == "cuda" else 10)
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.scratch.resolve() if options.scratch else Path(temporary)
        scratch.mkdir(exist_ok=True)
        place = Place(steps, scratch, options.device == "cuda", options.seconds,
                      options.hub.resolve() if options.hub.exists() else None)
        alone(place)
        checked(place, options.only)
    print(f"{len(steps.results)} results, {len(steps.failed)} failed" + "".join(f"\n  {what}" for what in steps.failed))
    sys.exit(bool(steps.failed))


if __name__ == "__main__":
    main()
