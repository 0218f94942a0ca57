"""Values, some of which may be missing, and groups: the arguments and results of this package's functions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scored:
    """Values, some of which may be missing. Functions that take rewards take a Scored as well.

    `values`: floats. `valid`: booleans of the same shape, False for entries that are missing, masked or
    padding. `left_out`: how many entries were left out because they had no score. Masked entries and padding
    are not counted.
    """

    values: Floats
    valid: Flags
    left_out: int

    def tolist(self) -> list[Any]:
        """The values as (nested) lists, with None for invalid entries."""
        values = self.values.astype(object)
        values[~self.valid] = None
        listed: list[Any] = values.tolist()
        return listed


Scores: TypeAlias = Scored | npt.ArrayLike | Sequence[Any]


def as_scored(scores: Scores, valid: npt.ArrayLike | None = None, *, name: str = "rewards",
              like: Scored | None = None) -> Scored:
    """Reads numbers, some of which may be None.

    `scores`: numbers and None in any regular shape, or a `Scored`. `valid`: booleans of that shape; an entry
    that is False there is not read. `like`: the shape that is required. NaN or infinity in a valid entry is a
    ValueError. Invalid entries become NaN.
    """
    if isinstance(scores, Scored):
        given, there = scores.values, scores.valid
    else:
        given = scores if isinstance(scores, np.ndarray) else np.array(scores, dtype=object)
        there = np.array([value is not None for value in given.flat], dtype=bool).reshape(given.shape)
    if given.ndim == 0:
        raise ValueError(f"{name} must be an array or a list, and is one value")
    if like is not None and given.shape != like.values.shape:
        raise ValueError(f"{name} has the shape {given.shape}, and {like.values.shape} is needed")
    if valid is not None:
        there = there & _mask(valid, given.shape)
    values = np.full(given.shape, np.nan)
    try:
        values[there] = given[there].astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers and None in a regular shape") from None
    wrong = np.argwhere(there & ~np.isfinite(values))
    if len(wrong):
        place = ", ".join(map(str, wrong[0]))
        raise ValueError(f"{name}[{place}] is {values[tuple(wrong[0])]}: pass None, or valid=False, for a missing score")
    return Scored(values, there, int(np.count_nonzero(~there)))


def as_answers(answers: Scores, *, name: str, like: Scored | None = None) -> Scored:
    """Reads booleans, some of which may be None, as 1, 0 and missing."""
    read = as_scored(answers, name=name, like=like)
    if not np.isin(read.values[read.valid], (0, 1)).all():
        raise ValueError(f"{name} must hold True, False and None only")
    return read


def group_numbers(groups: Iterable[Hashable] | None, count: int) -> npt.NDArray[np.intp]:
    """Gives each of `count` labels the number of its group, from 0 on. Without labels all are one group."""
    if groups is None:
        return np.zeros(count, dtype=np.intp)
    numbers: dict[Hashable, int] = {}
    labels = groups.tolist() if isinstance(groups, np.ndarray) else groups
    found = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)
    if len(found) != count:
        raise ValueError(f"groups has {len(found)} labels for {count} samples")
    return found


def flat(scored: Scored, name: str = "rewards") -> Scored:
    """Refuses arrays without exactly one value per sample."""
    if scored.values.ndim != 1:
        raise ValueError(f"{name} must have one value per sample, and has the shape {scored.values.shape}")
    return scored


def _mask(valid: npt.ArrayLike, shape: tuple[int, ...]) -> Flags:
    mask = np.asarray(valid)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise ValueError(f"valid must hold booleans in the shape {shape}, and holds {mask.dtype} in {mask.shape}")
    return mask
