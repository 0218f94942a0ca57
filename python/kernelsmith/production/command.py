"""`kernelsmith publish`, `profile` and `apply`: the command lines."""

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
from .texts import in_words, ratio


def _apply(arguments: Sequence[str]) -> int:
    parser = Parser(prog="kernelsmith apply", allow_abbrev=False,
                    description="Put a package into a model, and check the whole against the model as it is "
                    "(docs/production.md). Both are run, outside of a sandbox.")
    parser.add_argument("PACKAGE", type=Path, help="the folder that publish --as module or torch-op wrote")
    _add_model(parser)
    add = parser.add_argument
    add("--at", metavar="MODULE", action="append", default=[], help="a module's path (all that fit); may be repeated")
    add("--measure", action="store_true", help="measure steps with and without the package, in turn")
    add("--pairs", metavar="N", type=int, default=30, help="pairs of the two arms, at least 6 (30)")
    add("--steps", metavar="N", type=int, default=10, help="steps of a measurement (10)")
    options = vars(parser.parse_args(arguments))
    if options["pairs"] < 6 or options["steps"] < 1:
        raise Error("an interval needs six pairs, and a measurement a step", "invalid_argument", "--pairs, --steps")
    folder = options.pop("PACKAGE")
    print(said(apply(folder, _wanted(options), **options)), end="")
    return 0


def _publish_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith publish", allow_abbrev=False,
                    description="Make a package of runs' confirmed bests (docs/production.md). The winner's "
                    "constructor and the package's tests are run, outside of a sandbox: read the kernel first.")
    add = parser.add_argument
    add("RUNS", nargs="+", type=Path, help="run folders over one module, at one or several sizes")
    add("--as", dest="kind", required=True, choices=KINDS, help="what the package is")
    add("-o", "--out", metavar="DIR", type=Path, required=True, help="a new folder")
    add("--name", metavar="NAME", help="the name of the Python package and the operator (the task's)")
    add("--between", action="store_true", help="let kernels serve sizes between those measured; they are checked there")
    add("--capability", metavar="X.Y", help="the compute capability of the runs' GPU, if its name is unknown")
    add("--licence", metavar="TEXT", help="hf-kernel: the licence of the package, if the reference names none")
    add("--repo-id", metavar="OWNER/NAME", help="hf-kernel: where it is going to be uploaded")
    add("--into", metavar="MANIFEST", type=Path, help="patch: which function of which repository is replaced")
    add("--force", action="store_true", help="publish what is not faster, or whose tests fail: all documents and the exit status say so")
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
    add("--dtype", choices=("fp32", "bf16", "fp16"), help="the dtype of the model and its inputs (as they are made)")


def _wanted(options: dict[str, Any]) -> Wanted:
    return Wanted(options.pop("MODEL"), *(options.pop(name) for name in ("inputs", "batch", "length", "dtype")))


def _profile(arguments: Sequence[str]) -> int:
    parser = Parser(prog="python -m kernelsmith profile", allow_abbrev=False,
                    description="Find a model's hot spots, and write tasks of them (docs/production.md). The model's code "
                    "is run, outside of a sandbox.",
                    epilog="What bounds one candidate of a task: kernelsmith profile TASK FILE")
    _add_model(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="DIR", type=Path, required=True, help="a new folder")
    add("--tasks", metavar="N", type=int, default=3, help="tasks at most (3)")
    add("--most-kernels", metavar="N", type=int, default=12, help="kernels of a hot spot that becomes a task, at most (12)")
    add("--gpu", metavar="NAME", help="the GPU whose peaks the roofline has (the one here, else an H100)")
    options = vars(parser.parse_args(arguments))
    made = profile(_wanted(options), options.pop("out"), **options)
    print(report(made), end="")
    return 0


def _publish(arguments: Sequence[str]) -> int:
    options = vars(_publish_parser().parse_args(arguments))
    into, runs = options.pop("into"), options.pop("RUNS")
    if (into is None) == (options["kind"] == "patch"):
        raise Error("--into names a patch's manifest, and goes with --as patch alone", "invalid_argument", "--into")
    request = Request(runs, **options)
    if into is not None:
        from .patch import patch

        made = patch(request, into)
    else:
        made = publish(request)
        _say(request, made)
    if made.overridden:
        print("published with --force, although:", *made.overridden, sep="\n  ")
    return 1 if made.overridden else 0


def _say(request: Request, made: Published) -> None:
    buckets = made.facts["buckets"]
    print(f"{request.out}: {request.kind} {made.facts['name']}, {counted(len(buckets), 'bucket')}, "
          f"{counted(len({bucket['kernel'] for bucket in buckets}), 'kernel')}")
    for bucket in buckets:
        print(f"  {in_words(bucket)}: {ratio(bucket['speedup'])}")
    print(f"its own tests: {made.tested.words}")
    for note in made.notes:
        print(f"note: {note}")
