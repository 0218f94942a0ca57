"""Whether a module changed PyTorch for everybody."""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import torch


def _places() -> list[Any]:
    kinds = [one for one in vars(torch.nn).values() if isinstance(one, type)]
    return [torch, torch.nn, torch.nn.functional, torch.Tensor, torch.nn.Module, torch.autograd.Function, *kinds]


def snapshot() -> list[tuple[Any, dict[str, Any]]]:
    return [(place, dict(vars(place))) for place in _places()]


def changed(before: list[tuple[Any, dict[str, Any]]]) -> str:
    """The first name that is not as it was; empty if all are. What PyTorch itself imports late is new, not changed."""
    for place, names in before:
        now = vars(place)
        for name, value in names.items():
            if now.get(name) is not value and not name.startswith("__"):
                return f"{getattr(place, '__name__', place)}.{name}"
    return ""
