"""Finds realistic sizes, with which a call takes 50 us to 20 ms by the roofline and its tensors fit."""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .repairs import Specs
from .roofline import Roofline
from .specs import LIST, SIDE, Spec

SHORTEST_S, LONGEST_S = 50e-6, 20e-3
MOST_INPUT = 2 << 30  # bytes of all inputs
MOST_OUTPUT = 1 << 30  # bytes of all outputs; the judge holds several copies, one of them in double
MOST_MOVED = 64 << 30
# The most work of a call on the CPU, which then takes some tenths of a second.
_TRIED_FLOPS, _TRIED_BYTES = 5e9, 7e8
_MOST_STEPS = 14


@dataclass(frozen=True)
class Measured:
    seconds: float
    flops: int
    bytes: int
    output: int
    trace: tuple[str, ...]

    @property
    def fits(self) -> bool:
        return self.seconds >= SHORTEST_S and not self.is_large

    @property
    def is_large(self) -> bool:
        return self.seconds > LONGEST_S or self.bytes > MOST_MOVED or self.output > MOST_OUTPUT

    @property
    def is_small(self) -> bool:
        return self.flops <= _TRIED_FLOPS and self.bytes <= _TRIED_BYTES


class Unstable(Exception):
    """A repeated call behaved differently."""


class NoWork(Exception):
    """The call moves nothing and computes nothing."""


class NoSize(Exception):
    """No tried size is within the limits. Holds the time of the last size."""


def measured(model: torch.nn.Module, specs: Specs) -> Measured:
    """Measures one call. Raises the model's exceptions."""
    inputs = [one.made(torch) for one in specs]
    roofline = Roofline()
    with roofline:
        made = model(*inputs)
    outputs = [one for one in pytree.tree_leaves(made) if isinstance(one, torch.Tensor)]
    return Measured(roofline.seconds, roofline.flops, roofline.bytes, sum(one.numel() * one.element_size() for one in outputs),
                    tuple(roofline.trace))


def fitted(model: torch.nn.Module, specs: Specs) -> tuple[Specs, Measured]:
    """The specs with fitting sizes, and their measurement. Raises NoSize, NoWork or Unstable."""
    now = measured(model, specs)
    if measured(model, specs).trace != now.trace:
        raise Unstable
    if now.seconds == 0:
        raise NoWork
    specs, now = _stepped(model, specs, now, lambda one: one.fits)
    if now.fits:
        return specs, now
    raise NoSize(f"{now.seconds * 1e6:.1f} us and {now.bytes} bytes by roofline, {now.output} bytes of outputs")


def small(model: torch.nn.Module, specs: Specs, now: Measured) -> Specs:
    """The specs with sizes that the CPU calls in some tenths of a second, or as near to that as the model allows."""
    return _stepped(model, specs, now, lambda one: one.is_small)[0]


def _stepped(model: torch.nn.Module, specs: Specs, now: Measured, good: Any) -> tuple[Specs, Measured]:
    for _ in range(_MOST_STEPS):
        if good(now):
            break
        up = now.seconds < SHORTEST_S and not now.is_large
        for other in _steps(specs, up):
            if _bytes(other) > MOST_INPUT:
                continue
            try:
                after = measured(model, other)
            except Exception:  # noqa: BLE001 - a size that the model does not accept
                continue
            if (after.seconds > now.seconds) == up and after.seconds != now.seconds and not (up and after.is_large):
                specs, now = other, after
                break
        else:
            break
    return specs, now


def _steps(specs: Specs, up: bool) -> Iterator[Specs]:
    """Changes first the batch, which every model supports, then the sides of pictures, then the second
    size."""
    factors = (8, 2) if up else (0.25, 0.5)
    for factor in factors:
        yield tuple(one.scaled(factor) for one in specs)
    for factor in factors[1:]:
        yield _scaled(specs, factor, lambda one, at: len(one.sizes) > 3 and at >= len(one.sizes) - 2
                      and one.sizes[at] >= SIDE // 4)
        yield _scaled(specs, factor, lambda one, at: len(one.sizes) == 3 and at == 1)
        yield _scaled(specs, factor, lambda one, at: len(one.sizes) == 3 and at == 2)


def _scaled(specs: Specs, factor: float, chosen: Any) -> Specs:
    def one(spec: Spec) -> Spec:
        if spec.kind == LIST:
            return Spec(LIST, parts=tuple(map(one, spec.parts)))
        return spec.resized(tuple(max(1, int(size * factor)) if chosen(spec, at) else size
                                  for at, size in enumerate(spec.sizes)))

    return tuple(map(one, specs))


def _bytes(specs: Specs) -> int:
    total = 0
    for spec in specs:
        if spec.kind == LIST:
            total += _bytes(spec.parts)
        elif spec.is_tensor:
            size = 4
            for one in spec.sizes:
                size *= one
            total += size
    return total
