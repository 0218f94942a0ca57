"""Draws of a plan's setup, replayed: by the generator of the device on which the candidate drew, like plain PyTorch.

A generator is seeded before the setup begins (`Reference.seed_constructor`), and again before anything else is drawn.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .plan_values import Aten, Seed

# Numbers that a plan may draw: on the host that is a few seconds. VGG's 138 million are KernelBench's most.
MOST_DRAWN = 1 << 28

_CPU = torch.device("cpu")


def count(op: Aten, args: list[Any]) -> int:
    """How many numbers it draws, at most."""
    sizes = [arg.numel() for arg in args if isinstance(arg, torch.Tensor)]
    return max(sizes + [math.prod(arg) for arg in args if isinstance(arg, list)], default=1)


def draw(op: Aten, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The operator's result, on the device of its arguments."""
    if op.draws == "cuda":
        return op.function(*args, **kwargs)
    result = op.function(*map(_on_host, args), **{key: _on_host(value) for key, value in kwargs.items()})
    written = args[0] if op.name.partition(".")[0].endswith("_") else None
    if isinstance(written, torch.Tensor):
        return written.copy_(result)
    device = next((v.device for v in args if isinstance(v, torch.Tensor)), kwargs.get("device", _CPU))
    return result.to(device)


def seed(op: Seed, device: torch.device) -> None:
    """As torch.manual_seed and torch.cuda.manual_seed do."""
    if device.type == "cuda":
        torch.cuda.default_generators[device.index].manual_seed(op.seed)
    if op.which == "all":
        torch.default_generator.manual_seed(op.seed)


def _on_host(v: Any) -> Any:
    """A tensor with the same values and the same strides, which the order of what is drawn follows."""
    if isinstance(v, torch.Tensor):
        return torch.empty_strided(v.shape, v.stride(), dtype=v.dtype).copy_(v)
    return _CPU if isinstance(v, torch.device) else v
