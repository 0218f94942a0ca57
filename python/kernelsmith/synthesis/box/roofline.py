"""The shortest time of a call on a GPU. An operator takes its bytes at the memory's rate, or its products at
the cores' rate."""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from kernelsmith_torch.counting import Mode
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry


@dataclass(frozen=True)
class Target:
    """Bytes and float32 operations a second."""

    bytes_s: float
    flops_s: float


# H100 SXM by NVIDIA's data sheet: 3.35 TB/s, 67 TFLOPS of float32 without tensor cores.
H100 = Target(3.35e12, 67e12)


class Roofline(Mode):
    """Adds up the time of the operators that run in this context. `trace` names them, with shapes."""

    def __init__(self, target: Target = H100) -> None:
        super().__init__()
        self._target = target
        self.seconds = 0.0
        self.flops = 0
        self.bytes = 0
        self.trace: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = function(*args, **(kwargs or {}))
        read = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        written = [one for one in pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]
        self.trace.append(f"{function} {[tuple(one.shape) for one in written]}")
        if function.is_view or not written:
            return result
        formula = flop_registry.get(function._overloadpacket)
        flops = int(formula(*args, **(kwargs or {}), out_val=result)) if formula is not None else 0
        moved = sum(one.numel() * one.element_size() for one in (*read, *written))
        self.flops, self.bytes = self.flops + flops, self.bytes + moved
        self.seconds += max(moved / self._target.bytes_s, flops / self._target.flops_s)
        return result
