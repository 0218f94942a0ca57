"""Counts the operations of a call's products, convolutions and attention with PyTorch's own formulas.

PyTorch's FlopCounterMode does the same, but imports Dynamo, which takes 4 s.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class Mode(TorchDispatchMode):
    """A mode around code that Dynamo does not compile."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch asks whether Dynamo must skip this mode. If it had to, PyTorch would import Dynamo."""
        return False


class Operations(Mode):
    """Counts floating-point operations while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        formula = flop_registry.get(function._overloadpacket)
        if formula is None and function is not torch.ops.prim.device.default:
            with self:
                parts = function.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        result = function(*args, **kwargs)
        if formula is not None:
            self.count += formula(*args, **kwargs, out_val=result)
        return result
