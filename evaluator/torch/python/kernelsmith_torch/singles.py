"""Single elements beyond their budget: the reference's own error at each of them decides.

A budget is for a block of elements. If their values span many decades, the reference can be accurate by luck
at an element where fp32 usually is not. So if only a few elements of an output exceed their budget, and the
output's RMS error does not exceed its own, the reference runs again on inputs and parameters that are moved
by up to half a unit in the last place. An element's tolerance is then k times the reference's largest error
there or at its neighbours in the row. Whole rows, short outputs, and those with too large an RMS are simply
wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from .accelerator import pieces
from .truth import BLOCK, Expected, flattened, own_errors

RUNS = 8
"""How often the reference runs at most. The first run is enough for most elements; luck in all of them is rare."""
NEAR = 4
"""Elements of the row on each side: most errors of a row are alike, and its elements are not lucky together."""
MOST = 16
"""The most single elements in a BLOCK. In the whole output the limit is one for each BLOCK, or MOST if that
is more."""

Moved = Callable[[int], "torch.Tensor | None"]


def granting(one: Expected, output: torch.Tensor, moved: Moved) -> Expected | None:
    """The expected output with a larger tolerance for single elements beyond their budget; None if there are
    no such elements or the tolerance does not grow. `moved` returns the reference's output on moved inputs,
    by the number of a run."""
    actual = flattened(output)
    at = _beyond(one, actual)
    if at is None:
        return None
    granted = _granted(one, actual, at, moved)
    if bool((granted <= one.allowed[at]).all()):
        return None
    allowed = one.allowed.clone()  # a copy, because the next candidate must not get this tolerance
    allowed[at] = granted.to(allowed.dtype)
    return replace(one, allowed=allowed)


def _granted(one: Expected, actual: torch.Tensor, at: torch.Tensor, moved: Moved) -> torch.Tensor:
    """The tolerance of the elements `at`."""
    granted = one.allowed[at].double()
    off = (_picked(actual, at) - one.truth[at]).abs()
    near = _near(one, at)
    truth = one.truth[near].double()
    for run in range(RUNS):
        again = moved(run)
        if again is None or tuple(again.shape) != one.shape:
            break
        own = (_picked(flattened(again), near) - truth).abs().nan_to_num(0.0, 0.0, 0.0).amax(1)
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


def _beyond(one: Expected, actual: torch.Tensor) -> torch.Tensor | None:
    """The indices of single elements beyond their budget, on the truth's device; None if there are too many for its
    length."""
    if actual.numel() < BLOCK:
        return None
    found: list[torch.Tensor] = []
    left = max(MOST, actual.numel() // BLOCK)
    for part in pieces(actual.numel()):
        error = (actual[part].to(one.truth.device).double() - one.truth[part]).abs()
        found.append((error > one.allowed[part]).nonzero().flatten() + part.start)
        left -= found[-1].numel()
        if left < 0:
            return None
    at = torch.cat(found)
    return at if bool((torch.bincount(at // BLOCK) <= MOST).all()) else None
