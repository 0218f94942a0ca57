"""Measurements with their intervals, and the gain of a child over its parent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .steps import RunSteps


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95 % interval."""

    median: float
    low: float
    high: float

    @classmethod
    def read(cls, measurement: Mapping[str, Any] | None) -> Figure | None:
        if measurement is None:
            return None
        return cls(measurement["median"], measurement["low"], measurement["high"])

    def over(self, other: Figure) -> Figure:
        """Their ratio, as wide as both intervals allow: its low end is above 1 if and only if the intervals are apart."""
        return Figure(self.median / other.median, self.low / other.high, self.high / other.low)

    @property
    def is_finite(self) -> bool:
        return all(map(math.isfinite, (self.median, self.low, self.high)))

    def beyond(self, other: Figure) -> bool:
        """Whether it is larger by more than noise."""
        return self.low > other.high


@dataclass(frozen=True, slots=True)
class Gain:
    """A child's speedup over its parent, and what it was computed from."""

    figure: Figure | None  # None for a fitness that is not positive: it has no ratio
    by: str  # "duel", "yardstick" or "fitness"
    beyond_noise: bool


_ONE = Figure(1, 1, 1)


def gain(run: RunSteps, child: int, parent: int) -> Gain | None:
    """From a duel of the two, which was measured in turns; else the ratio of what both measured against one yardstick. None
    if one was not measured, on other hardware, or by another figure."""
    paired = _duel(run, child, parent)
    if paired is not None:
        return Gain(paired, "duel", paired.low > 1)
    ours, theirs = run.verdicts[child], run.verdicts[parent]
    if ours.score is None or theirs.score is None:
        return None
    if ours.score_of != theirs.score_of or ours.hardware != theirs.hardware:
        return None
    ratio = ours.score.over(theirs.score) if ours.score.low > 0 and theirs.score.low > 0 else None
    return Gain(ratio, ours.score_of, ours.score.beyond(theirs.score))


def _duel(run: RunSteps, child: int, parent: int) -> Figure | None:
    if (child, parent) in run.duels:
        return run.duels[child, parent]
    back = run.duels.get((parent, child))
    return _ONE.over(back) if back is not None and back.low > 0 else None
