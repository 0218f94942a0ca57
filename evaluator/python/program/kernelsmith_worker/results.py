"""Reads results of evaluators: metrics and artifacts, and the fitness computed from metrics."""

from __future__ import annotations

import importlib.util
import math
import numbers
import sys
import types
from typing import Any, Dict, List, Tuple

from .traces import plain

# Limits of names, metrics and artifacts: far above reasonable values.
_MOST_NAME = 200
_MOST_NUMBERS = 1000
_MOST_ARTIFACTS = 1000
# An artifact keeps its last bytes; this limits all artifacts together.
_MOST_TEXT = 1 << 20
_MOST_TEXTS = 8 << 20


class BadMetrics(Exception):
    """The returned value is not a result; the text says why."""


class EvaluationResult:
    """Stands in for openevolve.evaluation_result.EvaluationResult if that is not installed."""

    def __init__(self, metrics: Dict[str, Any], artifacts: Any = None) -> None:
        self.metrics = metrics
        self.artifacts = {} if artifacts is None else artifacts

    @classmethod
    def from_dict(cls, metrics: Dict[str, Any]) -> "EvaluationResult":
        return cls(metrics)

    def to_dict(self) -> Dict[str, Any]:
        return self.metrics

    def has_artifacts(self) -> bool:
        return bool(self.artifacts)

    def get_artifact_keys(self) -> List[str]:
        return list(self.artifacts)

    def get_artifact_size(self, key: str) -> int:
        return len(_bytes_of(self.artifacts[key])) if key in self.artifacts else 0

    def get_total_artifact_size(self) -> int:
        return sum(map(self.get_artifact_size, self.artifacts))


def provide_openevolve() -> None:
    """Lets evaluators import EvaluationResult without OpenEvolve."""
    if importlib.util.find_spec("openevolve") is not None:
        return
    package = types.ModuleType("openevolve")
    module = types.ModuleType("openevolve.evaluation_result")
    package.__path__ = []
    package.evaluation_result = module
    package.EvaluationResult = module.EvaluationResult = EvaluationResult
    sys.modules.update({"openevolve": package, "openevolve.evaluation_result": module})


class Outcome:
    """The returned metrics, and artifacts as bytes."""

    def __init__(self, metrics: Dict[str, Any], artifacts: Dict[str, Any]) -> None:
        self.metrics = metrics
        self.artifacts = artifacts


def outcome_of(returned: Any) -> Outcome:
    """Raises BadMetrics unless `returned` is a number, a dict, or an object with .metrics and .artifacts."""
    if is_number(returned):
        return Outcome({"fitness": returned}, {})
    if isinstance(returned, dict):
        return Outcome(dict(returned), {})
    metrics = getattr(returned, "metrics", None)
    artifacts = getattr(returned, "artifacts", None)
    if isinstance(metrics, dict) and isinstance(artifacts, (dict, type(None))):
        return Outcome(dict(metrics), dict(artifacts or {}))
    raise BadMetrics("the evaluator returned %s, and must return a number, a dict of numbers, or an object with the "
                     "dicts .metrics and .artifacts" % ("nothing (None)" if returned is None
                                                       else "a value of type " + type(returned).__name__))


def is_number(value: Any) -> bool:
    """Whether the value is a number: false for a bool, true for NumPy's numbers."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def split(outcome: Outcome) -> Tuple[Dict[str, float], Dict[str, bytes]]:
    """Splits metrics into numbers of any value, and the rest as artifacts."""
    found: Dict[str, float] = {}
    artifacts: Dict[str, bytes] = {}
    for name, value in outcome.metrics.items():
        try:
            if is_number(value):
                found[_name_of(name)] = float(value)
                continue
        except (OverflowError, ValueError):
            pass
        artifacts[_name_of(name)] = _bytes_of(value)
    if len(found) > _MOST_NUMBERS:
        raise BadMetrics("%d metrics: at most %d" % (len(found), _MOST_NUMBERS))
    for name, value in outcome.artifacts.items():
        artifacts[_name_of(name)] = _bytes_of(value)
    return found, artifacts


def packed(artifacts: Dict[str, bytes]) -> Tuple[List[list], bytes]:
    """The artifacts' names with sizes, and the end of each text, one after another."""
    if len(artifacts) > _MOST_ARTIFACTS:
        raise BadMetrics("%d artifacts: at most %d" % (len(artifacts), _MOST_ARTIFACTS))
    sizes, blob = [], bytearray()
    for name, text in artifacts.items():
        kept = text[-min(_MOST_TEXT, _MOST_TEXTS - len(blob)):] if len(blob) < _MOST_TEXTS else b""
        sizes.append([name, len(kept)])
        blob += kept
    return sizes, bytes(blob)


def score(found: Dict[str, float]) -> Tuple[float, Dict[str, float], Dict[str, float]]:
    """Returns the fitness, the finite numbers (features) and the others. Raises BadMetrics if there is no fitness."""
    finite = {name: value for name, value in found.items() if math.isfinite(value)}
    others = {name: value for name, value in found.items() if name not in finite}
    for chosen in ("fitness", "combined_score"):
        if chosen in others:
            raise BadMetrics("'%s' is %r: it must be a finite number" % (chosen, others[chosen]))
        if chosen in finite:
            fitness = finite[chosen]
            break
    else:
        fitness = _mean(list(finite.values()), others)
    finite.pop("fitness", None)
    return fitness, finite, others


def _mean(values: List[float], others: Dict[str, float]) -> float:
    if not values:
        told = ", ".join("%s=%r" % item for item in list(others.items())[:10])
        raise BadMetrics("there is no finite number among the metrics" + (": " + told if told else ""))
    total = sum(values)
    if math.isfinite(total):
        return total / len(values)
    largest = max(map(abs, values))
    return sum(value / largest for value in values) / len(values) * largest


def _name_of(key: Any) -> str:
    return plain(str(key))[:_MOST_NAME]


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return str(value).encode("utf-8", "backslashreplace")
