"""Detects whether a module changed PyTorch globally."""

# mypy: ignore-errors
from __future__ import annotations

import builtins
import types
from typing import Any

import torch


def _places() -> list[Any]:
    kinds = [one for one in vars(torch.nn).values() if isinstance(one, type)]
    return [builtins, torch, torch.nn, torch.nn.functional, torch.Tensor, torch.nn.Module, torch.autograd.Function, *kinds]


def snapshot() -> list[tuple[Any, dict[str, Any]]]:
    return [(place, {name: (value, _code(value)) for name, value in vars(place).items()}) for place in _places()]


def changed(before: list[tuple[Any, dict[str, Any]]]) -> str:
    """The first changed name; empty if there is none. Names from late imports of PyTorch are new, not
    changed, unless they hide an inherited name."""
    for place, names in before:
        now = vars(place)
        for name, (value, code) in names.items():
            known = not name.startswith("__") or callable(value)  # names like __warningregistry__ change by themselves
            if known and (now.get(name) is not value or _code(value) is not code):
                return _words(place, name)
        for name in now.keys() - names.keys() if isinstance(place, type) else ():
            if any(callable(vars(base).get(name)) for base in place.__mro__[1:]):
                return _words(place, name)
    return ""


def _words(place: Any, name: str) -> str:
    return f"{getattr(place, '__name__', place)}.{name}"


def _code(value: Any) -> Any:
    return getattr(value, "__code__", None) if isinstance(value, types.FunctionType) else None
