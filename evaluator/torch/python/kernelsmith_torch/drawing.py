"""Replays random draws of a plan's setup with the generator of the device on which the candidate drew, as in plain
PyTorch. Generators are seeded before the setup (`Reference.seed_constructor`), and again before any other draw.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .plan_values import Aten, Seed

# The limit of numbers that a plan may draw: a few seconds on the host. KernelBench's maximum is VGG with 138 million.
MOST_DRAWN = 1 << 28

_CPU = torch.device("cpu")


def count(op: Aten, args: list[Any]) -> int:
    """The most numbers that the operator draws."""
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
    """Like torch.manual_seed and torch.cuda.manual_seed."""
    if device.type == "cuda":
        torch.cuda.default_generators[device.index].manual_seed(op.seed)
    if op.which == "all":
        torch.default_generator.manual_seed(op.seed)


def _on_host(v: Any) -> Any:
    """A tensor with the same values and strides; draws follow the order of the strides."""
    if isinstance(v, torch.Tensor):
        return torch.empty_strided(v.shape, v.stride(), dtype=v.dtype).copy_(v)
    return _CPU if isinstance(v, torch.device) else v
