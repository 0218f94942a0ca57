"""The winners of runs, for a package. Only a confirmed best is a winner."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._executable import answer_of
from .._run import Run


@dataclass(frozen=True)
class Winner:
    """A confirmed best. `figures` are those of the confirmation, as in `show --json`. `doubts` are problems
    that --force overrides. `workloads` are those that the task lists: {name, arguments (JSON), weight, check}."""

    folder: Path
    run: str
    archive: str
    task: str
    task_digest: str
    description: str
    precision: str
    baseline: str
    reference: str
    program: int
    file: str
    text: str
    figures: dict[str, Any]
    doubts: list[str]
    workloads: list[dict[str, Any]]

    @property
    def speedup(self) -> dict[str, float]:
        return dict(self.figures["speedup"])

    @property
    def hardware(self) -> str:
        return str(self.figures["hardware"])

    @property
    def tier(self) -> str:
        return str(self.figures["tier"])


def winners(folders: Sequence[Path], *, force: bool = False) -> list[Winner]:
    """One winner of each run, in the runs' order. Raises Error for a run without a winner, and for mixed
    hardware."""
    found = [_winner(folder, force) for folder in folders]
    kinds = sorted({winner.hardware for winner in found})
    if len(kinds) > 1:
        raise Error(f"the runs were measured on different hardware: {', '.join(kinds)}", "bad_input",
                    ", ".join(str(winner.folder) for winner in found), "publish a package for each")
    return found


def _winner(folder: Path, force: bool) -> Winner:
    shown = answer_of("show", "--json", os.path.abspath(folder))
    name, backend = shown["task"]["name"], shown["task"]["backend"]
    if backend != "torch":
        raise Error(f"a package is made from a torch task, but this run's task is {backend or 'a program of its own'}", "bad_input",
                    str(folder), "docs/production.md says what can be published")
    best = shown["best"]
    if best is None:
        raise Error("the run has no best: nothing was accepted", "bad_input", str(folder), f"search on: {shown['goes_on']}")
    if not best["confirmed"]:
        raise Error("the best was not confirmed: it was not measured again on fresh inputs", "bad_input", str(folder),
                    f"{shown['goes_on']}    measures it again, unless limits.confirm is false in run.yaml")
    doubts = _doubts(folder, best["evaluation"])
    if doubts and not force:
        raise Error(doubts[0], "bad_input", str(folder), "continue the search, or publish it with --force")
    program = Run.open(folder).program(best["program"])
    if len(program.source.files) != 1:
        raise Error(f"the best has {len(program.source.files)} files, but a package's kernel is one file", "bad_input",
                    str(folder))
    [(file, text)] = program.source.files.items()
    task, text_of_task = _core.Task(folder / "task"), (folder / "task" / "task.yaml").read_text(encoding="utf-8")
    precision, baseline = _setting(text_of_task, "precision", "fp32"), _setting(text_of_task, "baseline", "eager")
    return Winner(folder, shown["run"], shown["archive"]["digest"], name, shown["task"]["digest"], task.description,
                  precision, baseline, task.reference.text, program.id, file, text, best["evaluation"], doubts,
                  json.loads(task.settings or "{}").get("workloads", []))


def _setting(task: str, key: str, usual: str) -> str:
    """A word under `torch:` in a task.yaml that kernelsmith has read."""
    found = re.search(rf"^torch:(?:.*\n(?=[ \t]))*?.*\b{key}:\s*(\w+)", task, re.MULTILINE)
    return found.group(1) if found else usual


def _doubts(folder: Path, evaluation: dict[str, Any]) -> list[str]:
    """The reasons to doubt the winner. Raises Error if it has no speedup."""
    speedup = evaluation["speedup"]
    if speedup is None:
        raise Error("the best has no speedup", "bad_input", str(folder))
    doubts = []
    if speedup["low"] <= 1:
        doubts.append(f"the best is not faster than the reference: {speedup['median']:.2f}x, from {speedup['low']:.2f}")
    if evaluation["features"].get("degenerate"):
        doubts.append("the task is degenerate: an output of the reference is the same for all inputs")
    return doubts
