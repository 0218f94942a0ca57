"""What a reference may say beside Model and get_inputs (docs/backend-torch.md, Declarations): values that a workload fixes,
inputs that are not varied, outputs that may be infinite, bytes that a call must read, and a check of its own.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kernelsmith_process.framing import Failure

from .memory import device_failed, is_memory

_FIXED_SEED = 0


class Declared:
    """The declarations of a reference's module."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.may_be_infinite = bool(getattr(module, "may_be_infinite", False))
        self.check: Callable[..., Any] | None = getattr(module, "check", None)
        self._path = str(getattr(module, "__file__", ""))
        self._least_bytes: Callable[..., Any] | None = getattr(module, "least_bytes", None)
        self._unvaried = tuple(getattr(module, "unvaried", ()))
        self._names = list(inspect.signature(module.Model.forward).parameters)[1:]

    def problem(self, outputs: list[torch.Tensor], inputs: Sequence[Any]) -> str:
        """What the check says of a candidate's outputs; empty if nothing. An exception counts as the candidate's fault, such as an
        index beyond its axis: kernelsmith then asks whether the check takes the reference's own outputs. If the GPU was lost, the
        code says so, and this process is replaced."""
        assert self.check is not None
        try:
            problem = self.check(outputs, *inputs)
        except Exception as error:
            if is_memory(error):
                raise
            code = "crashed" if device_failed(error) else "wrong_output"
            raise Failure("candidate", "correctness", code, "the task's check does not take the outputs: "
                          f"{type(error).__name__}: {str(error)[:500]}") from error
        if not isinstance(problem, str | None):
            raise Failure("task", "run", "reference_failed", f"check gives a {type(problem).__name__}",
                          "give a text that says what is wrong, or None", self._path)
        return problem or ""

    def fixed(self, arguments: dict[str, Any]) -> dict[int, torch.Tensor]:
        """The tensors that the workload fixes, by the number of forward's argument: the same in every process. Raises TypeError
        for other values."""
        torch.default_generator.manual_seed(_FIXED_SEED)
        random.seed(_FIXED_SEED)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(_FIXED_SEED)
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
