"""Reads references as texts: finds the constants that are sizes, and decides whether runs search the same
module at different sizes."""

from __future__ import annotations

import ast
import hashlib

from .._errors import Error
from .winners import Winner


def sizes_of(reference: str) -> dict[str, int]:
    """The integer constants at the top of a reference (`rows = 2048`), by name."""
    return {name: value for name, value, _ in _constants(ast.parse(reference))}


def free_sizes(winners: list[Winner]) -> list[str]:
    """The constants in which the runs' references differ. Raises Error if the references differ in anything
    else."""
    first = winners[0]
    for other in winners[1:]:
        if _without_sizes(other.reference) != _without_sizes(first.reference):
            raise Error(f"the runs search different modules: {first.task} and {other.task}", "bad_input", str(other.folder),
                        "references of one package may differ only in integer constants at their top; publish the others apart")
    all_sizes = [sizes_of(winner.reference) for winner in winners]
    return [name for name in all_sizes[0] if len({sizes[name] for sizes in all_sizes}) > 1]


def best_of_each(winners: list[Winner]) -> list[Winner]:
    """One winner for each set of sizes, the one with the highest low end of its speedup."""
    chosen: dict[tuple[int, ...], Winner] = {}
    for winner in winners:
        sizes = tuple(sizes_of(winner.reference).values())
        if sizes not in chosen or winner.speedup["low"] > chosen[sizes].speedup["low"]:
            chosen[sizes] = winner
    return list(chosen.values())


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogateescape")).hexdigest()


def _constants(tree: ast.Module) -> list[tuple[str, int, ast.Constant]]:
    return [(node.targets[0].id, node.value.value, node.value) for node in tree.body
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant) and type(node.value.value) is int]


def _without_sizes(reference: str) -> str:
    tree = ast.parse(reference)
    for _, _, constant in _constants(tree):
        constant.value = 0
    return ast.dump(tree)
