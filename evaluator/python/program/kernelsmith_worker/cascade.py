"""Stages of an evaluation, by the rules of OpenEvolve 0.4.1: a program continues to the next stage if its
score reaches the threshold of the previous one, and keeps the metrics of the stages that it passed."""

from __future__ import annotations

from typing import Any, Callable, Dict

from . import traces
from .loading import Evaluator
from .results import BadMetrics, Outcome, is_number, outcome_of


def run(evaluator: Evaluator, call: Callable[[Callable, str], Any], path: str,
        going_on: Callable[[int, Outcome], None]) -> Outcome:
    """The outcome of evaluate(), or of the stages if the task has a cascade and the evaluator has stages.
    `going_on` gets the next stage and the result to keep if that stage fails. Exceptions of
    the first stage or evaluate() are passed on."""
    if not evaluator.cascade or not evaluator.stages:
        return outcome_of(call(evaluator.evaluate, path))
    merged = outcome_of(call(evaluator.stages[0], path))
    for stage, (function, threshold) in enumerate(zip(evaluator.stages[1:], evaluator.cascade), 2):
        if not passes(merged.metrics, threshold):
            break
        going_on(stage, merged)
        try:
            later = call(function, path)
        except Exception as error:  # noqa: BLE001 - an exception of a later stage becomes an artifact
            merged.artifacts["stage%d_stderr" % stage] = str(error)
            merged.artifacts["stage%d_traceback" % stage] = traces.current()
            return failed_at(stage, merged)
        try:
            merge(merged, outcome_of(later))
        except BadMetrics as error:
            merged.artifacts["stage%d_stderr" % stage] = str(error)
    return merged


def failed_at(stage: int, merged: Outcome) -> Outcome:
    """The result of a program whose later stage failed."""
    merged.artifacts["failure_stage"] = "stage%d" % stage
    merged.metrics["stage%d_passed" % stage] = 0.0
    return merged


def passes(metrics: Dict[str, Any], threshold: float) -> bool:
    """Whether combined_score, or else the mean of all numbers except `error`, reaches the threshold."""
    combined = metrics.get("combined_score")
    if isinstance(combined, bool) or is_number(combined):
        return float(combined) >= threshold
    values = [float(value) for name, value in metrics.items() if name != "error" and is_number(value)]
    return bool(values) and sum(values) / len(values) >= threshold


def merge(merged: Outcome, later: Outcome) -> None:
    """Merges the numbers and flags of both, except `error`; the later stage takes precedence."""
    both = {**merged.metrics, **{name: value for name, value in later.metrics.items() if _is_kept(name, value)}}
    merged.metrics = {name: value for name, value in both.items() if _is_kept(name, value)}
    merged.artifacts.update(later.artifacts)


def _is_kept(name: str, value: Any) -> bool:
    return name != "error" and (isinstance(value, bool) or is_number(value))
