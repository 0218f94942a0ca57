"""What a reference may say beside Model and get_inputs (docs/backend-torch.md, Declarations): values that a workload fixes,
inputs that are not varied, outputs that may be infinite, bytes that a call must read, and a check of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch


class Declared:
    """The declarations of a reference's module."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.may_be_infinite = bool(getattr(module, "may_be_infinite", False))
        self.check: Callable[..., Any] | None = getattr(module, "check", None)
        self._least_bytes: Callable[..., Any] | None = getattr(module, "least_bytes", None)
        self._unvaried = tuple(getattr(module, "unvaried", ()))
        self._names = list(inspect.signature(module.Model.forward).parameters)[1:]

    def fixed(self, arguments: dict[str, Any]) -> dict[int, torch.Tensor]:
        """The tensors that the workload fixes, by the number of forward's argument. Raises TypeError for other values."""
        values = self._module.get_fixed(**arguments) if hasattr(self._module, "get_fixed") else {}
        for name, value in values.items():
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"get_fixed gives a {type(value).__name__} for {name}, not a tensor")
        return {self._number(name, "get_fixed"): value for name, value in values.items()}

    def unvaried(self) -> set[int]:
        return {self._number(name, "unvaried") for name in self._unvaried}

    def least_bytes(self, inputs: Sequence[Any]) -> int | None:
        return None if self._least_bytes is None else int(self._least_bytes(*inputs))

    def _number(self, name: str, where: str) -> int:
        if name not in self._names:
            raise TypeError(f"{where} names '{name}', and forward() takes {', '.join(self._names)}")
        return self._names.index(name)
