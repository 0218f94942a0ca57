"""Finds realistic sizes, with which a call takes 50 us to 20 ms by the roofline and its tensors fit."""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from .repairs import Specs
from .roofline import Roofline
from .specs import LIST, SIDE, Spec

SHORTEST_S, LONGEST_S = 50e-6, 20e-3
MOST_INPUT = 2 << 30  # bytes of all inputs
MOST_MOVED = 64 << 30
_MOST_STEPS = 14


@dataclass(frozen=True)
class Measured:
    seconds: float
    flops: int
    bytes: int
    trace: tuple[str, ...]

    @property
    def fits(self) -> bool:
        return SHORTEST_S <= self.seconds <= LONGEST_S and self.bytes <= MOST_MOVED


class Unstable(Exception):
    """A repeated call behaved differently."""


class NoSize(Exception):
    """No tried size is within the limits. Holds the time of the last size."""


def measured(model: torch.nn.Module, specs: Specs) -> Measured:
    """Measures one call. Raises the model's exceptions."""
    roofline = Roofline()
    with roofline:
        model(*[one.made(torch) for one in specs])
    made = [entry for entry in roofline.trace if not entry.startswith(("aten.rand", "aten.ones"))]
    return Measured(roofline.seconds, roofline.flops, roofline.bytes, tuple(made))


def fitted(model: torch.nn.Module, specs: Specs) -> tuple[Specs, Measured]:
    """The specs with fitting sizes, and their measurement. Raises NoSize or Unstable."""
    now = measured(model, specs)
    if measured(model, specs).trace != now.trace:
        raise Unstable
    for _ in range(_MOST_STEPS):
        if now.fits:
            return specs, now
        for other in _steps(specs, up=now.seconds < SHORTEST_S):
            if _bytes(other) > MOST_INPUT:
                continue
            try:
                after = measured(model, other)
            except Exception:  # noqa: BLE001 - a size that the model does not accept
                continue
            if (after.seconds > now.seconds) == (now.seconds < SHORTEST_S) and after.seconds != now.seconds:
                specs, now = other, after
                break
        else:
            break
    if now.fits:
        return specs, now
    raise NoSize(f"{now.seconds * 1e6:.1f} us and {now.bytes} bytes by roofline")


def _steps(specs: Specs, up: bool) -> Iterator[Specs]:
    """Changes first the batch, which every model supports, then the sides of pictures, then the second
    size."""
    factors = (8, 2) if up else (0.25, 0.5)
    for factor in factors:
        yield _scaled(specs, factor, lambda one, at: at == 0)
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
