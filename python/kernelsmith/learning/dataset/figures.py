"""Measurements with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
        """The ratio of the two figures, with the widest interval that theirs allow. Its low end is above 1 if
        and only if this interval lies above the other."""
        return Figure(self.median / other.median, self.low / other.high, self.high / other.low)

    @property
    def is_finite(self) -> bool:
        return all(map(math.isfinite, (self.median, self.low, self.high)))

    def beyond(self, other: Figure) -> bool:
        """Whether this figure is larger by more than noise."""
        return self.low > other.high
