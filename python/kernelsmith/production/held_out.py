"""Measures a winner on shapes and distributions that its search never saw: once, when it is published."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._executable import answer_of
from .._files import toml_of
from .references import sizes_of
from .texts import template
from .winners import Winner
from .workloads import arguments_of, first_timed

FILE = "held_out.toml"
_FACTORS = {"scale": 1.0, "shift": 0.0}
# The key at the top of a task.yaml, with its value.
_WORKLOADS = re.compile(r"^workloads:.*\n(?:[ \t#\]}-].*\n|\n)*", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """The winner's result in one case. If it was rejected, `speedup` is None and `code` says why."""

    case: dict[str, float]
    code: str
    speedup: dict[str, float] | None

    @property
    def holds(self) -> bool:
        return self.speedup is not None and self.speedup["low"] > 1

    @property
    def words(self) -> str:
        case = ", ".join(f"{name} {value:g}" for name, value in self.case.items())
        if self.speedup is None:
            return f"{case}: rejected, {self.code}"
        return f"{case}: {self.speedup['median']:.2f}x [{self.speedup['low']:.2f}, {self.speedup['high']:.2f}]"


Judge = Callable[[Path, Path], dict[str, Any]]


def cases_of(winner: Winner) -> list[dict[str, float]]:
    """The tables `[[held_out]]` of the task's held_out.toml, if it has one. Raises Error."""
    file = winner.folder / "task" / FILE
    if not file.exists():
        return []
    said = toml_of(file).get("held_out", [])
    known = {*sizes_of(winner.reference), *_arguments(winner), *_FACTORS}
    for case in said:
        unknown = sorted(set(case) - known)
        if unknown or not case:
            raise Error(f"{unknown[0] if unknown else 'an empty case'} is not a size of the reference", "bad_input", str(file),
                        f"known names: {', '.join(sorted(known))}")
    return list(said)


def results_of(winner: Winner, judge: Judge | None = None) -> list[Result]:
    """The winner's result in each case. Raises Error if the machine cannot measure it."""
    found = []
    for case in cases_of(winner):
        with tempfile.TemporaryDirectory() as scratch:
            task, candidate = Path(scratch) / "task", Path(scratch) / winner.file
            _write(winner, case, task)
            candidate.write_text(winner.text, encoding="utf-8")
            answer = (judge or evaluated)(task, candidate)
        found.append(Result(case, answer.get("code") or "", answer["speedup"] if answer["accepted"] else None))
    return found


def _arguments(winner: Winner) -> dict[str, Any]:
    """The arguments of get_inputs at the first timed workload that are sizes."""
    given = arguments_of(first_timed(winner)) if winner.workloads else {}
    return {name: value for name, value in given.items() if type(value) is int}


def _write(winner: Winner, case: dict[str, float], task: Path) -> None:
    """Writes the task with the case's sizes and inputs."""
    task.mkdir()
    for file in (winner.folder / "task").iterdir():
        (task / file.name).write_bytes(file.read_bytes())
    if changed := _arguments(winner).keys() & case:
        arguments = arguments_of(first_timed(winner)) | {name: case[name] for name in changed}
        one = json.dumps([{"name": "held out", "arguments": arguments}])
        about = (task / "task.yaml").read_text(encoding="utf-8")
        (task / "task.yaml").write_text(f"{_WORKLOADS.sub('', about)}\nworkloads: {one}\n", encoding="utf-8")
    tree = ast.parse(winner.reference)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in case:
            node.value = ast.copy_location(ast.Constant(case[node.targets[0].id]), node.value)
    factors = {name: case.get(name, usual) for name, usual in _FACTORS.items()}
    added = "" if factors == _FACTORS else template("held_out_inputs.py", factors)
    [reference] = _core.Task(winner.folder / "task").reference.files
    (task / reference).write_text(ast.unparse(tree) + "\n" + added, encoding="utf-8")


def evaluated(task: Path, candidate: Path) -> dict[str, Any]:
    """The result of `kernelsmith evaluate --json`. Raises its Error."""
    try:
        return answer_of("evaluate", "--json", str(task), str(candidate))
    except Error as said:
        raise Error(f"held-out shapes cannot be measured here: {said.message}", said.code, FILE,
                    "publish on a machine with such a GPU, or with --force without this check; the report then says "
                    "so") from None
