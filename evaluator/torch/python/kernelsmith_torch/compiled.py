"""Handles torch.compile and similar decorators: decorated functions may be defined, because libraries define many
that are never called."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch

from .recording import Refused

_HINT = "write the fused kernel with Triton, or call the function itself"


def install() -> None:
    """Replaces the decorators for the rest of this process."""
    torch.compile = torch.compiler.compile = _compile
    # PyTorch's own decorators would import Dynamo, which takes seconds.
    for name in ("disable", "allow_in_graph", "assume_constant_result"):
        setattr(torch.compiler, name, _as_it_is)


def _compile(model: Any = None, *_: Any, **__: Any) -> Any:
    """Refuses when the result is called, and names the decorated function."""
    if model is None:
        return _compile
    if isinstance(model, torch.nn.Module):
        return _Module(model)

    @functools.wraps(model)
    def refuse(*_: Any, **__: Any) -> Any:
        raise Refused("not_allowed", f"torch.compile cannot be part of a plan: {_told(model)} is called", _HINT)

    return refuse


class _Module(torch.nn.Module):
    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._orig_mod = module

    def forward(self, *_: Any, **__: Any) -> Any:
        raise Refused("not_allowed", f"torch.compile cannot be part of a plan: {_told(type(self._orig_mod))} is called", _HINT)


def _told(function: Any) -> str:
    """The function's name, file and line."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    try:
        function = inspect.unwrap(function)
        return f"{name} ({inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]})"
    except (OSError, TypeError):
        return name


def _as_it_is(function: Any = None, *_: Any, **__: Any) -> Any:
    return _as_it_is if function is None else function
