"""Changes a definition's global names to their names in the new file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import names
from .allowed import Refusal
from .repository import SourceFile


class Rewritten(ast.NodeTransformer):
    """`resolve` returns a new name, or the file of a module of the repository. `member` resolves
    `module.name`."""

    def __init__(self, node: ast.stmt, free: set[str], resolve: Callable[[str], Any],
                 member: Callable[[SourceFile, str], Any]) -> None:
        own = getattr(node, "name", None)
        self._free, self._member = free, member
        self.needed: list[str] = []
        self.members: set[str] = set()
        self.targets: dict[str, Any] = {}
        for name in sorted(free - names.BUILTINS):
            self.targets[name] = target = resolve(name)
            if isinstance(target, str):
                self.needed.append(target)
                if target != name and name != own and name in names.bound(node):
                    raise Refusal("name_clash", name)
        self._node: ast.stmt = self.visit(node)

    def with_name(self, name: str, called: str) -> ast.stmt:
        """The definition, changed so that it binds `called` instead of `name`."""
        node = self._node
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.name = called
        else:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store):
                    inner.id = called
        return ast.fix_missing_locations(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        target = self.targets.get(node.id)
        if isinstance(target, SourceFile):
            raise Refusal("module_as_value", node.id)
        if target is not None and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Name(target, ast.Load()), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self._of(node)
        if isinstance(found, str):
            self.needed.append(found)
            self.members.add(found)
            return ast.copy_location(ast.Name(found, ast.Load()), node)
        if isinstance(found, SourceFile):
            raise Refusal("module_as_value", ast.unparse(node))
        return self.generic_visit(node)

    def _of(self, node: ast.expr) -> Any:
        """Resolves a dotted name that begins with a module of the repository."""
        if isinstance(node, ast.Name):
            target = self.targets.get(node.id)
            return target if isinstance(target, SourceFile) else None
        owner = self._of(node.value) if isinstance(node, ast.Attribute) else None
        return self._member(owner, node.attr) if isinstance(owner, SourceFile) else None  # type: ignore[attr-defined]
