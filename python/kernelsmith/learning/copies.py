"""Tells whether a program is only a copy of another, changed in nothing that its machine code depends on."""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections.abc import Iterator
from typing import Any

from .. import _core

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# The field of a node that holds a name which a program may choose.
_NAME = {ast.Name: "id", ast.arg: "arg", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name"}


def is_copy(program: str, parent: str) -> bool:
    """Whether the programs differ only in comments, layout, docstrings, unused imports and names inside of them.

    Python is compared by its syntax tree, and C, also in Python's strings, by its tokens. Any other text is
    compared as it is.

    >>> is_copy("import os\\ndef double(x):  # fast\\n    return 2 * x\\n", "def double(y):\\n    return 2 * y\\n")
    True
    >>> is_copy("def double(x):\\n    return x + x\\n", "def double(x):\\n    return 2 * x\\n")
    False
    """
    return program == parent or _meaning(program) == _meaning(parent)


def differs_in_numbers(program: str, parent: str) -> bool:
    """Whether the programs are Python or C, and differ in numbers alone, besides what `is_copy` ignores.

    >>> differs_in_numbers("def double(x):\n    return 4 * x\n", "def double(x):\n    return 2 * x\n")
    True
    """
    return not is_copy(program, parent) and _meaning(program, numbers=False) == _meaning(parent, numbers=False)


@functools.lru_cache(maxsize=64)  # a parent is compared with all samples of its group
def _meaning(program: str, numbers: bool = True) -> str:
    return hashlib.sha256(_plain(program, numbers).encode(errors="surrogateescape")).hexdigest()


def _plain(program: str, numbers: bool) -> str:
    if "__doc__" in program:  # then a docstring may be the kernel
        return program
    try:
        tree = ast.parse(program)
        if any(isinstance(node, (*_FUNCTIONS, ast.ClassDef)) for node in tree.body):  # numbers and prose parse, too
            return _Writer(tree, numbers).written(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return _tokens(program, numbers) if _is_like_c(program) else program


def _is_like_c(text: str) -> bool:
    return set("{;}") <= set(text) and not text.startswith("#!")


def _tokens(text: str, numbers: bool) -> str:
    """The digest by which the engine finds repeats. The file's name says the language."""
    return _core.fingerprint({"program.cu": text if numbers else re.sub(r"\b\d[\w.]*", "0", text)})


class _Writer:
    """Writes a syntax tree without statements that do nothing. Names become numbers in the order of their first use, if
    only the program itself can know them."""

    def __init__(self, tree: ast.Module, numbers: bool) -> None:
        self._with_numbers = numbers
        nodes = list(_doing(tree))
        self._texts = {word for node in nodes for word in re.findall(r"\w+", _text(node))}
        loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self._used = loaded | self._texts
        members = {name for node in nodes if isinstance(node, ast.ClassDef) for one in node.body for name in _bound(one)}
        members |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
        self._own = {name for node in nodes for name in _bound(node)} & loaded - members - keywords - self._texts
        self._numbers: dict[str, int] = {}

    def written(self, node: Any) -> str:
        if isinstance(node, list):
            return f"[{' '.join(self.written(one) for one in node if not self._is_idle(one))}]"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_like_c(node.value):
            return _tokens(node.value, self._with_numbers)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and not self._with_numbers:
            return "0"
        if not isinstance(node, ast.AST):
            return repr(node)
        renamed = _NAME.get(type(node))
        fields = (self._name(value) if field == renamed else self.written(value) for field, value in ast.iter_fields(node))
        return f"{type(node).__name__}({' '.join(fields)})"

    def _name(self, name: str) -> str:
        return f"#{self._numbers.setdefault(name, len(self._numbers))}" if name in self._own else name

    def _is_idle(self, node: Any) -> bool:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return all(map(self._is_idle, node.names))
        if isinstance(node, ast.alias):
            return node.name != "*" and (node.asname or node.name.partition(".")[0]) not in self._used
        return _does_nothing(node)


def _does_nothing(node: Any) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _doing(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, without statements that do nothing."""
    if not _does_nothing(node):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _doing(child)


def _text(node: ast.AST) -> str:
    """The node's text, which may name a variable, unlike a text in C."""
    found = node.value if isinstance(node, ast.Constant) else None
    return found if isinstance(found, str) and not _is_like_c(found) else ""


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that the node itself binds."""
    if isinstance(node, (ast.arg, *_FUNCTIONS)) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)):
        yield getattr(node, _NAME[type(node)])
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _bound(target)
