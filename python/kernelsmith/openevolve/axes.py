"""The archive's axes for OpenEvolve's feature dimensions. Their bounds are fixed when the search begins."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from .config import Config

# If there are ten bins around the initial program's value, those in the middle end 4 % from it, because most edits are small, and the
# outer ones begin at 48 %, because a rewrite may double a program.
_FINEST = 0.05
_BUILT_IN = {"complexity": "ks_length", "diversity": "ks_difference", "score": "fitness"}


def needs_seed(config: Config) -> bool:
    """Whether a dimension's bounds are derived from the initial program's metrics."""
    return any(name not in ("complexity", "diversity") for name in config.database.feature_dimensions)


def axes_for(config: Config, seed: str, seed_features: Mapping[str, float]) -> list[dict[str, Any]]:
    """run.yaml's `archive.axes`. `seed` is the initial program. `seed_features` are its metrics; they may be empty if
    no dimension needs them."""
    axes = []
    for name in config.database.feature_dimensions:
        feature = f"ks_{name}" if f"ks_{name}" in seed_features else _BUILT_IN.get(name, f"ks_{name}")
        bins = config.database.feature_bins
        count = max(1, int(bins.get(name, 10) if isinstance(bins, dict) else bins))
        if feature == "ks_length":
            edges = _around(float(max(16, len(seed))), count)
        elif feature == "ks_difference":
            edges = _shares_from(1 / max(2, len(seed.splitlines())), count)
        else:
            edges = _around(seed_features.get(feature, 0.0), count)
        axes.append({"feature": feature, "scale": "edges", "edges": edges})
    return axes


def _around(value: float, count: int) -> list[float]:
    """Edges around a value: from 0 to 1 for a share, else from 0 to twice the value, the finer the nearer to it."""
    if 0 <= value <= 1:
        return [at / count for at in range(count + 1)]
    widest = math.asinh(1 / _FINEST)
    steps = [_FINEST * math.sinh(widest * (2 * at / count - 1)) for at in range(count + 1)]
    return sorted(value * (1 + step) for step in steps)


def _shares_from(least: float, count: int) -> list[float]:
    """Edges of a share whose smallest change is `least`, such as one line of a program: logarithmic, up to 1."""
    return [0.0, *(least ** (1 - at / count) for at in range(1, count))] + [1.0]


def cell_of(axes: list[dict[str, Any]], features: Mapping[str, float]) -> str:
    """The bin on each axis, as OpenEvolve writes a cell: "3-0"."""
    return "-".join(str(_bin(axis, features.get(axis["feature"]))) for axis in axes)


def _bin(axis: Mapping[str, Any], value: float | None) -> int:
    return 0 if value is None else bisect_right(_edges_of(axis)[1:-1], value)


def _edges_of(axis: Mapping[str, Any]) -> list[float]:
    """Searches that began before version 0.2 have other scales."""
    if "edges" in axis:
        edges: list[float] = axis["edges"]
        return edges
    low, high, bins = axis["low"], axis["high"], axis["bins"]
    if axis["scale"] == "logarithmic":
        return [low * (high / low) ** (at / bins) for at in range(bins + 1)]
    return [low + (high - low) * at / bins for at in range(bins + 1)]
