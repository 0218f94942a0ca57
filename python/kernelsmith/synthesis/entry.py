"""Examines the class that becomes Model: whether it is a module, which arguments it takes, and how they
become lists."""

from __future__ import annotations

import ast
from typing import Any

from .repository import Definition, Imported, Repository, SourceFile

_MOST_BASES = 12
_WITHOUT_FORWARD = frozenset({"Module", "object", "ABC", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})


def is_module(repository: Repository, file: SourceFile, node: ast.ClassDef, seen: tuple[set[int], int] | None = None) -> bool:
    """Whether the class derives from torch.nn.Module, on any path through the repository. `seen`: the classes
    visited so far, and the length of this path."""
    classes, depth = seen or (set(), 0)
    if depth == _MOST_BASES or id(node) in classes:
        return False
    classes.add(id(node))
    return any(_is_module_base(repository, file, base, (classes, depth + 1)) for base in node.bases)


def _is_module_base(repository: Repository, file: SourceFile, base: ast.expr, seen: tuple[set[int], int]) -> bool:
    text = ast.unparse(base)
    if text in ("nn.Module", "torch.nn.Module") or text.startswith(("nn.", "torch.nn.")) and text.count(".") <= 2:
        return True
    if not isinstance(base, ast.Name):
        return False
    for binding in file.bindings.get(base.id, ()):
        if isinstance(binding, Imported):
            if binding.module.startswith("torch.nn"):
                return True
            other = repository.target(file, binding)
            for inner in other.bindings.get(binding.name, ()) if other else ():
                if isinstance(inner, Definition) and isinstance(inner.node, ast.ClassDef) and \
                        is_module(repository, other, inner.node, seen):  # type: ignore[arg-type]
                    return True
        elif isinstance(binding.node, ast.ClassDef) and binding.node.name == base.id and \
                is_module(repository, file, binding.node, seen):
            return True
    return False


def has_forward(extraction: Any) -> bool:
    """Whether Model or one of its bases has a method `forward`. Classes of torch.nn bring one."""
    pending, seen = ["Model"], set()
    while pending:
        name = pending.pop()
        node = extraction.nodes.get(name)
        if not isinstance(node, ast.ClassDef):
            if name.rpartition(".")[2] not in _WITHOUT_FORWARD:
                return True
            continue
        if name in seen:
            continue
        seen.add(name)
        if any(isinstance(one, ast.FunctionDef) and one.name == "forward" for one in node.body):
            return True
        pending += [ast.unparse(base) for base in node.bases]
    return False


def method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name), None)


def open_keywords(node: ast.ClassDef) -> None:
    """Makes keyword-only arguments positional, because get_init_inputs and get_inputs return lists. Arguments
    without a default come first."""
    for one in filter(None, (method(node, "__init__"), method(node, "forward"))):
        given = one.args
        if given.vararg is not None or not given.kwonlyargs or given.posonlyargs:
            continue
        plain = len(given.args) - len(given.defaults)
        keyed = list(zip(given.kwonlyargs, given.kw_defaults, strict=True))
        needed = [name for name, default in keyed if default is None]
        rest = [(name, default) for name, default in keyed if default is not None]
        given.args = given.args[:plain] + needed + given.args[plain:] + [name for name, _ in rest]
        given.defaults = given.defaults + [default for _, default in rest]
        given.kwonlyargs, given.kw_defaults = [], []


def hints(node: ast.ClassDef) -> dict[str, dict[str, str]]:
    """Annotations of the constructor's and forward's arguments, as texts."""
    found = {}
    for name in ("__init__", "forward"):
        one = method(node, name)
        given = [*one.args.args, *one.args.kwonlyargs] if one else []
        found[name] = {arg.arg: ast.unparse(arg.annotation)[:200] for arg in given if arg.annotation is not None}
    return found
