"""Single elements beyond their budget: the reference's own error at each of them decides.

A budget is for a block of elements, such as a row. The reference can be accurate by luck at an element where fp32
usually is not, or in a whole row whose elements share a sum that cancels. So if only a few elements of an output
exceed their budget, and the output's RMS error does not exceed its own, the reference runs again on inputs and
parameters that are moved by up to half a unit in the last place. An element's tolerance is then k times the
reference's largest error there or at its neighbours in the row. If many elements of a block are beyond their
budget, the reference's error is its rounding alone, without what the moved inputs change: otherwise a whole row that
begins with the difference of nearly equal inputs could be computed with inputs of TF32. Short outputs, and those with
too large an RMS, are simply wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from . import compare
from .truth import BLOCK, Expected, flattened, own_errors

RUNS = 8
"""How often the reference runs at most. The first run is enough for most elements; luck in all of them is rare."""
NEAR = 4
"""Elements of the row on each side: most errors of a row are alike, and its elements are not lucky together."""
MOST = 16
"""The most single elements in an output, or one for each BLOCK if that is more; and the most in a BLOCK that have the
larger tolerance."""

Moved = Callable[[int, bool], "torch.Tensor | None"]
"""The reference's output on moved inputs, by the number of a run; in fp64 if the second argument is true."""


@dataclass
class Single:
    """What single elements beyond their budget come to: how many are wrong, and the worst of all."""

    count: int
    index: int
    worst: float  # its error, divided by `allowed`
    allowed: float


def judged(one: Expected, output: torch.Tensor, count: int, moved: Moved) -> Single | None:
    """The verdict on `count` elements beyond their budget; None if they are not single ones, or the reference's own error
    grants none of them more."""
    actual = flattened(output)
    at = _beyond(one, actual, count)
    if at is None:
        return None
    budget = one.allowed(at)
    off = (_picked(actual, at) - one.truth[at].double()).abs()
    granted = _granted(one, budget, off, at, moved)
    if bool((granted <= budget).all()):
        return None
    ratios = off / granted
    worst = int(ratios.argmax())
    return Single(int((~(ratios <= 1)).sum()), int(at[worst]), float(ratios[worst]), float(granted[worst]))


def _granted(one: Expected, budget: torch.Tensor, off: torch.Tensor, at: torch.Tensor, moved: Moved) -> torch.Tensor:
    """The tolerance of the elements `at`, which are off by `off`."""
    granted = budget
    near = _near(one, at)
    truth = one.truth[near].double()
    many = torch.bincount(at // BLOCK)[at // BLOCK] > MOST

    def picked(run: int, wide: bool) -> torch.Tensor | None:
        output = moved(run, wide)
        return None if output is None or tuple(output.shape) != one.shape else _picked(flattened(output), near)

    for run in range(RUNS):
        again = picked(run, False)
        if again is None:
            break
        true = picked(run, True) if bool(many.any()) else None
        own = (again - torch.where(many[:, None], again if true is None else true, truth)).abs().nan_to_num(0.0, 0.0, 0.0).amax(1)
        granted = torch.maximum(granted, own_errors(one.dtype) * own)
        if bool((off <= granted).all()):
            break
    return granted


def _near(one: Expected, at: torch.Tensor) -> torch.Tensor:
    """Each of the elements and its neighbours."""
    row = one.shape[-1] * (2 if one.dtype.is_complex else 1)
    first = at // row * row
    beside = at[:, None] + torch.arange(-NEAR, NEAR + 1, device=at.device)
    return beside.clamp(first[:, None], first[:, None] + row - 1)


def _picked(flat: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    return flat[at.to(flat.device)].to(at.device).double()


def _beyond(one: Expected, actual: torch.Tensor, count: int) -> torch.Tensor | None:
    """The indices of single elements beyond their budget, on the truth's device; None if there are too many for the output's
    length."""
    if actual.numel() < BLOCK or count > max(MOST, actual.numel() // BLOCK):
        return None
    indices = torch.zeros(1 + count, dtype=torch.int64, device=actual.device)
    compare.look(one, actual, indices)
    return indices[1:].sort().values.to(one.truth.device)
