"""Finds how a repository constructs its own modules: the literal arguments of its calls, by parameter
name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from .entry import method
from .repository import Repository

_MOST = 6
_MOST_ARGUMENT = 300
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)  # \s would scan a run of blank lines again from each line
_CALLED = re.compile(r"(?<!class )\b(\w+)\s*\(")
_CLOSED = frozenset({"nn", "torch", "True", "False", "None"})


class Calls:
    """All calls of the repository's own classes. They are found once for each repository."""

    def __init__(self, repository: Repository) -> None:
        self._found: dict[str, list[ast.Call]] = defaultdict(list)
        texts = {path: file.text for path, file in sorted(repository.files.items())}
        own = {name for text in texts.values() for name in _CLASS.findall(text)}
        for path, text in texts.items():
            if own.isdisjoint(_CALLED.findall(text)):
                continue
            tree = repository.files[path].parse().tree
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.Call):
                    name = _name(node.func)
                    if name in own and (node.args or node.keywords) and len(self._found[name]) < 40:
                        self._found[name].append(node)

    def of(self, node: ast.ClassDef) -> list[dict[str, str]]:
        """Argument texts by name. An argument that is not a literal is left out and will be guessed."""
        constructor = method(node, "__init__")
        if constructor is None:
            return []
        names = [arg.arg for arg in constructor.args.args][1:]
        made: list[dict[str, str]] = []
        for call in self._found.get(node.name, ()):
            given = dict(zip(names, call.args, strict=False)) if not any(
                isinstance(one, ast.Starred) for one in call.args) else {}
            given |= {one.arg: one.value for one in call.keywords if one.arg}
            texts = {name: text for name, value in given.items() if (text := _closed(value))}
            if texts and texts not in made:
                made.append(texts)
        return sorted(made, key=lambda one: -len(one))[:_MOST]


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _closed(node: ast.expr) -> str:
    """The argument's text, if it means the same everywhere."""
    for inner in ast.walk(node):
        unknown = isinstance(inner, ast.Name) and inner.id not in _CLOSED
        if unknown or isinstance(inner, (ast.Lambda, ast.Await, ast.comprehension)):
            return ""
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError):  # a number of thousands of digits; a tree too deep
        return ""
    return text if len(text) <= _MOST_ARGUMENT else ""
