"""Gives a module's text without names, numbers, layout and order, and the shingles of that text."""

from __future__ import annotations

import ast
import hashlib
import re
from functools import lru_cache

from ..learning.dataset.code_shape import Plain, normalised, shingles_of

_HARNESS = frozenset({"get_inputs", "get_init_inputs", "_Config"})
# Strings that select a PyTorch operator. Other strings are names and messages.
_OPTIONS = frozenset("""
    area bicubic bilinear circular constant fro gelu ij leaky_relu linear max mean mish nearest none nuc reflect relu replicate
    silu softmax sum swish tanh trilinear xy zeros
""".split())
# torch.nn.functional.relu is F.relu.
_MODULES = frozenset({"functional", "modules", "nn"})


class _Text(Plain):
    """Keeps imported names, options, and patterns of einsum. Treats `from torch.nn import GELU` like
    `nn.GELU`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return ast.Call(ast.Name("super", ast.Load()), [], [])
        called = node.func
        self.generic_visit(node)
        if isinstance(called, ast.Name) and called.id not in self._own and called.id not in self._imported:
            node.func = ast.Name(called.id, ast.Load())
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = None if node.id in self._own else self._imported.get(node.id)
        plain = ast.Name("_", node.ctx)
        return ast.Attribute(plain, known, node.ctx) if known else plain

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        base = node.value
        while isinstance(base, ast.Attribute) and base.attr in _MODULES:
            base = base.value
        value = ast.Name("_", ast.Load()) if isinstance(base, ast.Name) else self.visit(base)
        return ast.Attribute(value, "_" if own else node.attr, node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        text = node.value
        if isinstance(text, str) and "->" in text:
            return ast.Constant(_pattern(text))
        return ast.Constant(text.lower() if isinstance(text, str) and text.lower() in _OPTIONS else 0)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Removes it, because it computes nothing."""


def _pattern(text: str) -> str:
    """An equation of einsum or einops, with its axes numbered in the order of their first use."""
    places: dict[str, str] = {}
    axes = r"[A-Za-z_]\w*" if " " in text.replace(" ->", "->").replace("-> ", "->") else r"[A-Za-z]"
    return re.sub(axes, lambda axis: places.setdefault(axis.group(), f"a{len(places)} "), text)


@lru_cache(maxsize=16_384)
def shape(code: str) -> str:
    """Code without names, numbers and layout. Its classes, functions and methods are sorted."""
    try:
        tree = ast.parse(code)
        text = _Text(tree)
        kept = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name not in _HARNESS]
        return "\n".join(sorted(_written(text.visit(node)) for node in kept))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return normalised(code)


def _written(node: ast.stmt) -> str:
    if not isinstance(node, ast.ClassDef):
        return ast.unparse(node)
    members = sorted(ast.unparse(one) for one in node.body if not _is_empty(one))
    node.body = [ast.Pass()]
    return "\n".join([ast.unparse(node), *members])


def _is_empty(node: ast.stmt) -> bool:
    """Whether it is a constructor that only calls that of the base."""
    return isinstance(node, ast.FunctionDef) and len(node.args.args) == 1 and [ast.unparse(one) for one in node.body] == [
        "super().__init__()"]


@lru_cache(maxsize=16_384)
def fingerprint(code: str) -> str:
    return hashlib.sha256(shape(code).encode(errors="surrogateescape")).hexdigest()


@lru_cache(maxsize=16_384)
def shingles(code: str) -> frozenset[str]:
    """Every sequence of five tokens of the normal form."""
    return shingles_of(shape(code))
