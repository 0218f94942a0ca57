"""The workloads of a task as the sizes of a package: the whole numbers that get_inputs takes become constants of the
reference."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .._errors import Error
from .texts import template
from .winners import Winner


def arguments_of(workload: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(workload["arguments"]))


def first_timed(winner: Winner) -> dict[str, Any]:
    return next(one for one in winner.workloads if not one["check"])


def at_workloads(winner: Winner, *, force: bool) -> tuple[list[Winner], str]:
    """The winner at each timed workload, with the workload's speed; the winner itself if its task lists none. With a note on the
    workloads at which it is not faster than the reference: they are left out, unless `force` is given. Raises Error."""
    if not winner.workloads:
        return [winner], ""
    rows = {row["shape"]: row for row in winner.figures["shapes"] if row["timed"]}
    timed = [one for one in winner.workloads if not one["check"]]
    _require_sizes(winner, timed)
    slow = [] if force else [one["name"] for one in timed if rows[one["name"]]["speedup"]["low"] <= 1]
    if len(slow) == len(timed):
        raise Error("the best is not faster than the reference at any workload", "bad_input", str(winner.folder),
                    "continue the search, or publish it with --force")
    placed = [_at(winner, one, rows[one["name"]]) for one in timed if one["name"] not in slow]
    return placed, f"the reference serves workloads at which the best is not faster: {', '.join(slow)}" if slow else ""


def _at(winner: Winner, workload: dict[str, Any], row: dict[str, Any]) -> Winner:
    figures = {**winner.figures, "speedup": row["speedup"], "runtime_us": row["runtime_us"]}
    return replace(winner, reference=_reference_at(winner.reference, arguments_of(workload)), figures=figures)


def _reference_at(reference: str, arguments: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={name if type(value) is int else repr(value)}" for name, value in arguments.items())
    constants = "\n".join(f"{name} = {value}" for name, value in arguments.items() if type(value) is int)
    return reference + template("workload_inputs.py", {"constants": constants, "arguments": given})


def _require_sizes(winner: Winner, timed: Iterable[dict[str, Any]]) -> None:
    """Raises Error if the workloads cannot be told apart by sizes, or if a size has the name of something else."""
    where = str(winner.folder / "task" / "task.yaml")
    seen = [arguments_of(one) for one in timed]
    for name in seen[0]:
        values = [one.get(name) for one in seen]
        if len(set(map(repr, values))) > 1 and not all(type(value) is int for value in values):
            raise Error(f"workloads differ in '{name}', which is not always a whole number: the sizes of a package are", "unsupported",
                        where, "search the workloads apart, with a task for each value")
    taken = _names_in(winner.reference) & set(seen[0])
    if taken:
        raise Error(f"'{min(taken)}' is an argument of get_inputs and a name at the top of the reference", "bad_input", where,
                    "rename the argument in task.yaml and in the reference")


def _names_in(reference: str) -> set[str]:
    """The names that a reference binds at its top."""
    names: set[str] = set()
    for node in ast.parse(reference).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return names
