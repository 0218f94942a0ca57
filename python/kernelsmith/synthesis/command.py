"""`kernelsmith synthesize`: the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .._command_line import Parser
from .._errors import Error
from .._words import counted
from . import centers
from .pipeline import synthesize
from .settings import ALLOWED, Settings


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith synthesize", allow_abbrev=False,
                    description="Make tasks from the PyTorch modules of repositories (docs/synthesis.md)",
                    epilog="kernelsmith synthesize centers --help: cluster centres for experts")
    add = parser.add_argument
    add("SOURCES", nargs="*", help="repositories: folders, tarballs or zips")
    add("--each", metavar="FOLDER", action="append", default=[], help="every repository in a folder; may be repeated")
    add("-o", "--out", metavar="DIR", required=True, help="a new folder, or the folder of a synthesis that was cut off")
    add("--licence", metavar="SPDX", action="append", default=[],
        help=f"allow this licence too; allowed: {', '.join(ALLOWED)}")
    add("--against", metavar="FOLDER", type=Path,
        help="leave out modules that are in this folder of references (KernelBench)")
    add("--similar", metavar="J", type=float, default=0.8,
        help="the Jaccard index at which two modules count as equal (0.8)")
    add("--per-repository", metavar="N", type=int, default=0, help="the largest number of modules of a repository (all)")
    add("--test-share", metavar="P", type=float, default=0.1,
        help="the share of repositories that go into the split test (0.1)")
    add("--python", metavar="FILE", default="", help="a Python with PyTorch and Triton ($KERNELSMITH_TORCH_PYTHON)")
    add("--gpu", action="store_true",
        help="at last let the judge prepare each task on this machine's GPU, outside of the sandbox")
    add("--model", metavar="NAME", default="",
        help="a language model that writes inputs for the remaining modules (docs/llm.md)")
    return parser


def _centers_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith synthesize centers", allow_abbrev=False,
                    description="Write cluster centres of a synthesis for cleaning by hand, and take them back")
    parser.add_argument("OUT", type=Path, help="the folder of a synthesis that has ended")
    parser.add_argument("--to", metavar="DIR", type=Path, help="write the centres as task folders")
    parser.add_argument("--take", metavar="DIR", type=Path, help="take cleaned task folders back")
    parser.add_argument("--by", metavar="NAME", default="", help="--take: who cleaned them")
    parser.add_argument("--when", metavar="DATE", default="", help="--take: the date, such as 2026-11-27")
    parser.add_argument("--least", metavar="N", type=int, default=5, help="the smallest number of modules in a cluster (5)")
    return parser


def command(arguments: Sequence[str]) -> int:
    """Runs the command. Returns the exit status. Raises Error."""
    try:
        return _centers(arguments[1:]) if arguments[:1] == ["centers"] else _synthesize(arguments)
    except OSError as failed:
        raise Error(f"it cannot be used: {failed.strerror}", "io", ascii(failed.filename)[1:-1],
                    "make room, allow it, or name another one") from None


def _synthesize(arguments: Sequence[str]) -> int:
    options = vars(_parser().parse_args(arguments))
    named, each, out, more = (options.pop(name) for name in ("SOURCES", "each", "out", "licence"))
    for path in (*named, *each, str(out)):
        if not path or "\0" in path:
            raise Error("a path is empty, or has a null character", "invalid_argument", repr(path), "name a folder or a file")
    against = options["against"]
    if against is not None and not (against.is_dir() and any(against.rglob("*.py"))):
        raise Error("there is no such folder of references", "not_found", str(against), "name a folder that holds .py files")
    made = synthesize(named, out, Settings(licences=(*ALLOWED, *more), **options), each=each)
    print(f"{made.folder}: {counted(made.tasks, 'task')}; README.md is the report")
    for code, count in made.refused.items():
        print(f"  {count:>7} refused: {code}")
    return 0


def _centers(arguments: Sequence[str]) -> int:
    options = _centers_parser().parse_args(arguments)
    if (options.to is None) == (options.take is None):
        raise Error("name one: --to, or --take", "invalid_argument", "kernelsmith synthesize centers")
    if options.to is not None:
        made = centers.write(options.OUT, options.to, options.least)
        print(f"{options.to}: {counted(made.centres, 'centre')} of {counted(made.modules, 'module')}; {made.alone} in no "
            "cluster")
    else:
        print(f"{options.OUT / 'centers.jsonl'}: "
            f"{counted(centers.take(options.OUT, options.take, options.by, options.when), 'centre')}")
    return 0
