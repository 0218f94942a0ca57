"""The archive's axes for OpenEvolve's feature dimensions. Their bounds are fixed when the search begins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .config import Config

# A program whose metric is more than this many times the seed's, or less than the seed's over it, is in an
# edge bin.
_FACTOR = 16.0
_BUILT_IN = {"complexity": "ks_length", "diversity": "ks_difference", "score": "fitness"}


def needs_seed(config: Config) -> bool:
    """Whether a dimension's bounds are derived from the initial program's metrics."""
    return any(name not in ("complexity", "diversity") for name in config.database.feature_dimensions)


def axes_for(config: Config, seed_length: int, seed_features: Mapping[str, float]) -> list[dict[str, Any]]:
    """run.yaml's `archive.axes`. `seed_features` are the initial program's metrics; they may be empty if no
    dimension needs them."""
    axes = []
    for name in config.database.feature_dimensions:
        feature = f"ks_{name}" if f"ks_{name}" in seed_features else _BUILT_IN.get(name, f"ks_{name}")
        bins = config.database.feature_bins
        count = int(bins.get(name, 10) if isinstance(bins, dict) else bins)
        if feature == "ks_length":
            bounds = _around(float(max(16, seed_length)))
        elif feature == "ks_difference":
            bounds = {"scale": "linear", "low": 0.0, "high": 1.0}
        else:
            bounds = _around(seed_features.get(feature, 0.0))
        axes.append({"feature": feature, **bounds, "bins": max(1, count)})
    return axes


def _around(value: float) -> dict[str, Any]:
    """The bounds around a value: 0 and 1 for a share, a factor up and down for a larger number, and a range
    on both sides of 0 for a negative number."""
    if 0 <= value <= 1:
        return {"scale": "linear", "low": 0.0, "high": 1.0}
    if value > 0:
        return {"scale": "logarithmic", "low": value / _FACTOR, "high": value * _FACTOR}
    return {"scale": "linear", "low": value * _FACTOR, "high": -value * _FACTOR}


def cell_of(axes: list[dict[str, Any]], features: Mapping[str, float]) -> str:
    """The bin on each axis, as OpenEvolve writes a cell: "3-0"."""
    return "-".join(str(_bin(axis, features.get(axis["feature"], axis["low"]))) for axis in axes)


def _bin(axis: Mapping[str, Any], value: float) -> int:
    low, high = axis["low"], axis["high"]
    if axis["scale"] == "logarithmic":
        if value <= 0:
            return 0
        value, low, high = math.log(value), math.log(low), math.log(high)
    bins: int = axis["bins"]
    return min(max(int((value - low) / (high - low) * bins), 0), bins - 1)
