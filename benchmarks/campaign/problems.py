"""The problems of a campaign: files of KernelBench and task folders."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple


class Problem(NamedTuple):
    name: str  # short and unique: level1_40 for level1/40_LayerNorm.py, else the folder's name
    level: int
    path: Path


def _problem(path: Path) -> Problem:
    """A file of a folder levelN, or a folder with a task.yaml."""
    at = path if path.suffix == ".py" else path.parent
    level = next((int(found[1]) for part in reversed(at.parts) if (found := re.fullmatch(r"level(\d+)", part))), 0)
    number = re.match(r"\d+", at.name)
    name = number[0] if level and number else at.stem if at.suffix == ".py" else at.name
    return Problem(f"level{level}_{name}" if level else name, level, at)


def problems_in(folder: Path, levels: str | None, names: str | None) -> list[Problem]:
    """The chosen problems by level and number. Ends the program if a name is unknown or ambiguous, or if none is left."""
    found = [_problem(path) for path in [*folder.rglob("level*/*.py"), *folder.rglob("task.yaml")]]
    found.sort(key=lambda one: (one.level, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", one.name)]))
    if levels and not re.fullmatch(r"\d+(,\d+)*", levels):
        sys.exit(f"error: --levels are numbers, such as 1,2; found '{levels}'")
    wanted = {int(level) for level in levels.split(",")} if levels else {one.level for one in found}
    chosen = [one for one in found if one.level in wanted and (not names or one.name in names.split(","))]
    for name in names.split(",") if names else []:
        if sum(one.name == name for one in chosen) != 1:
            sys.exit(f"error: {name} is not the name of one problem of {folder}")
    if len({one.name for one in chosen}) < len(chosen) or not chosen:
        sys.exit(f"error: {folder} has {'two problems of one name' if chosen else 'no such problem'}")
    return chosen
