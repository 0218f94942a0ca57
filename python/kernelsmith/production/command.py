"""The command lines of `kernelsmith publish`, `profile` and `apply`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._command_line import Parser
from .._errors import Error
from .._words import counted
from .apply import apply, said
from .models import Wanted
from .profile import profile, report
from .publish import KINDS, Published, Request, publish
from .submission import ARENAS, submit
from .texts import in_words, ratio


def _apply(arguments: Sequence[str]) -> int:
    parser = Parser(prog="kernelsmith apply", allow_abbrev=False,
                    description="Put a package into a model, and compare the result with the unchanged model "
                    "(docs/production.md). The package and the model run outside of a sandbox.")
    parser.add_argument("PACKAGE", type=Path, help="the folder that publish --as module or torch-op wrote")
    _add_model(parser)
    add = parser.add_argument
    add("--at", metavar="MODULE", action="append", default=[],
        help="a module's path (default: all modules that fit); may be repeated")
    add("--measure", action="store_true", help="measure steps with and without the package, in turns")
    add("--pairs", metavar="N", type=int, default=30,
        help="pairs of measurements, with and without the package, at least 6 (30)")
    add("--steps", metavar="N", type=int, default=10, help="steps of a measurement (10)")
    options = vars(parser.parse_args(arguments))
    if options["pairs"] < 6 or options["steps"] < 1:
        raise Error("an interval needs six pairs, and a measurement a step", "invalid_argument", "--pairs, --steps")
    folder = options.pop("PACKAGE")
    print(said(apply(folder, _wanted(options), **options)), end="")
    return 0


def _publish_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith publish", allow_abbrev=False,
                    description="Make a package from runs' confirmed bests (docs/production.md). The winner's "
                    "constructor and the package's tests run outside of a sandbox: read the kernel first.")
    add = parser.add_argument
    add("RUNS", nargs="+", type=Path, help="run folders for one module, at one or several sizes")
    add("--as", dest="kind", required=True, choices=(*KINDS, *ARENAS),
        help="the kind of the package, or the arena whose submission it becomes (docs/arenas.md)")
    add("-o", "--out", metavar="DIR", type=Path, required=True, help="a new folder")
    add("--name", metavar="NAME", help="the name of the Python package and the operator (the task's), or of an arena's solution")
    add("--between", action="store_true",
        help="let kernels serve sizes between those measured; tests check these sizes")
    add("--capability", metavar="X.Y", help="the compute capability of the runs' GPU, if its name is unknown")
    add("--licence", metavar="TEXT",
        help="hf-kernel: the licence of the package, if the reference names no licence")
    add("--repo-id", metavar="OWNER/NAME", help="hf-kernel: the repository to which you will upload it")
    add("--into", metavar="MANIFEST", type=Path,
        help="patch: a file that names the repository and the function to replace")
    add("--force", action="store_true",
        help="publish even if the kernel is not faster or its tests fail; all documents and the exit status say so")
    return parser


def production(arguments: Sequence[str]) -> int:
    """Runs the command whose name is the first argument. Returns the exit status. Raises Error."""
    return {"apply": _apply, "profile": _profile, "publish": _publish}[arguments[0]](arguments[1:])


def _add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("MODEL", help="FILE.py with Model and get_inputs, package.module:Class, or a Transformers configuration")
    add("--inputs", metavar="FILE.py", type=Path, help="get_inputs(), and get_init_inputs() for a class's constructor")
    add("--batch", metavar="N", type=int, default=1, help="sequences of a configuration's input (1)")
    add("--length", metavar="N", type=int, default=128, help="tokens of each of these sequences (128)")
    add("--dtype", choices=("fp32", "bf16", "fp16"),
        help="the dtype of the model and its inputs (default: unchanged)")


def _wanted(options: dict[str, Any]) -> Wanted:
    return Wanted(options.pop("MODEL"), *(options.pop(name) for name in ("inputs", "batch", "length", "dtype")))


def _profile(arguments: Sequence[str]) -> int:
    parser = Parser(prog="python -m kernelsmith profile", allow_abbrev=False,
                    description="Find a model's hot spots, and write tasks for them (docs/production.md). The model's code "
                    "runs outside of a sandbox.",
                    epilog="kernelsmith profile TASK FILE says what limits one candidate of a task")
    _add_model(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="DIR", type=Path, required=True, help="a new folder")
    add("--tasks", metavar="N", type=int, default=3, help="the largest number of tasks (3)")
    add("--most-kernels", metavar="N", type=int, default=12,
        help="the most kernels that a hot spot may have to become a task (12)")
    add("--gpu", metavar="NAME",
        help="the GPU whose peak rates the roofline uses (this machine's GPU, else an H100)")
    options = vars(parser.parse_args(arguments))
    made = profile(_wanted(options), options.pop("out"), **options)
    print(report(made), end="")
    return 0


def _publish(arguments: Sequence[str]) -> int:
    options = vars(_publish_parser().parse_args(arguments))
    into, runs = options.pop("into"), options.pop("RUNS")
    if (into is None) == (options["kind"] == "patch"):
        raise Error("--into names a patch's manifest, and goes only with --as patch", "invalid_argument", "--into")
    request = Request(runs, **options)
    if request.kind in ARENAS:
        return _submit(request)
    if into is not None:
        from .patch import patch

        made = patch(request, into)
    else:
        made = publish(request)
        _say(request, made)
    if made.overridden:
        print("published with --force, although:", *made.overridden, sep="\n  ")
    return 1 if made.overridden else 0


def _submit(request: Request) -> int:
    file, winner, notes = submit(request)
    print(f"{file}: {ratio(winner.speedup)} on {winner.hardware}")
    for note in notes:
        print(f"note: {note}")
    if winner.doubts:
        print("written with --force, although:", *winner.doubts, sep="\n  ")
    return 1 if winner.doubts else 0


def _say(request: Request, made: Published) -> None:
    buckets = made.facts["buckets"]
    print(f"{request.out}: {request.kind} {made.facts['name']}, {counted(len(buckets), 'bucket')}, "
          f"{counted(len({bucket['kernel'] for bucket in buckets}), 'kernel')}")
    for bucket in buckets:
        print(f"  {in_words(bucket)}: {ratio(bucket['speedup'])}")
    print(f"its own tests: {made.tested.words}")
    for note in made.notes:
        print(f"note: {note}")
