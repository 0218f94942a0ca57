"""Adds held-out results to the output of `show` and `suite` in `python -m kernelsmith`, once a search has ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .._executable import executable
from .held_out import FILE
from .held_out_report import has_cases, reported, runs_in, text_of


def wanted(arguments: Sequence[str]) -> bool:
    """Whether there is something to add, because a run or a task has held-out cases. JSON and help stay
    unchanged."""
    if {"--json", "--help", "-h"} & set(arguments):
        return False
    named = [Path(each) for each in arguments[1:] if not each.startswith("-")]
    if arguments[0] == "show":
        return any(has_cases(folder) for folder in named)
    return arguments[0] == "suite" and bool(named) and any(named[0].rglob(FILE))


def followed(arguments: Sequence[str]) -> int:
    """Runs the executable, then makes missing measurements. Returns its exit status. Raises Error."""
    status = _ran([str(executable()), *arguments])
    sys.stdout.flush()
    if status in (0, 1):  # the run ended; its winner may hold on held-out shapes, or not
        print(text_of(reported(_runs(arguments))), end="")
    return status


def _ran(command: list[str]) -> int:
    """Ignores Ctrl-C meanwhile, because the executable handles it and ends in order."""
    process = subprocess.Popen(command)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _runs(arguments: Sequence[str]) -> list[Path]:
    named = [each for each in arguments[1:] if not each.startswith("-")]
    if arguments[0] == "show":
        return [Path(each) for each in named if has_cases(Path(each))]
    for at, each in enumerate(arguments):
        if each == "--out" and at + 1 < len(arguments):
            return runs_in(Path(arguments[at + 1]))
        if each.startswith("--out="):
            return runs_in(Path(each.removeprefix("--out=")))
    return runs_in(Path(f"{Path(named[0]).resolve().name}.suite"))
