"""The evaluator for a task folder: it calls the user's functions, and scores their results as OpenEvolve
does.

The file is copied into the task folder with SETTINGS filled in. The task's own interpreter runs it within the
backend `python` (docs/backend-python.md), so it needs only the standard library. The backend calls the stages
one after another, and keeps the result if a later stage fails. This file decides whether a stage runs.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import os
import sys
import traceback
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

SETTINGS: Dict[str, Any] = json.loads("{}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _mean(values: Iterable[Any]) -> float:
    kept = [float(value) for value in values if _is_number(value) and not math.isnan(value)]
    return math.fsum(kept) / len(kept) if kept else 0.0


def _plain(value: Any) -> Any:
    """Converts NumPy's numbers, arrays of one number and the like to Python's; leaves other values unchanged."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    try:
        return value.item() if hasattr(value, "item") else float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return value


def _combined(metrics: Dict[str, Any]) -> Optional[float]:
    """float() of combined_score; None if that fails."""
    try:
        return float(metrics["combined_score"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def fitness_of(metrics: Dict[str, Any], dimensions: List[str]) -> float:
    """combined_score, else the mean of the numbers that are not feature dimensions, else the mean of all
    numbers."""
    combined = _combined(metrics)
    if combined is not None:
        return combined
    own = {name: value for name, value in metrics.items() if name not in dimensions}
    return _mean(own.values()) if any(map(_is_number, own.values())) else _mean(metrics.values())


def passes(metrics: Dict[str, Any], threshold: float) -> bool:
    """Whether a program with these metrics goes on to the next stage."""
    combined = _combined(metrics)
    if combined is not None:
        return combined >= threshold
    numbers = [value for name, value in metrics.items() if name != "error" and _is_number(value)]
    return bool(numbers) and sum(numbers) / len(numbers) >= threshold


def difference(text: str, seed: str) -> float:
    """The share of lines of both texts that the other lacks: 0 for equal texts, 1 without common lines."""
    left, right = text.splitlines(), seed.splitlines()
    counts: Dict[str, int] = {}
    for line in right:
        counts[line] = counts.get(line, 0) + 1
    shared = 0
    for line in left:
        if counts.get(line, 0) > 0:
            counts[line] -= 1
            shared += 1
    return 1 - 2 * shared / max(1, len(left) + len(right))


def _users_module() -> Any:
    path = SETTINGS["evaluator"]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("openevolve_evaluator", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError:  # it names its place itself
        raise
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        raise ImportError(f"{path}:{lines[-1] if lines else 1}: {type(error).__name__}: {error}") from error
    return module


def _called(function: Callable[..., Any], program_path: str, **arguments: Any) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Metrics and artifacts of one call."""
    returned = function(program_path, **arguments)
    if inspect.isawaitable(returned):

        async def awaited() -> Any:
            return await returned

        returned = asyncio.run(awaited())
    metrics = returned if isinstance(returned, dict) else getattr(returned, "metrics", None)
    if isinstance(metrics, dict):
        return {name: _plain(value) for name, value in metrics.items()}, dict(getattr(returned, "artifacts", None) or {})
    raise TypeError(f"{function.__name__}() returned {type(returned).__name__}, neither a dict nor an EvaluationResult")


def _told(metrics: Dict[str, Any], artifacts: Dict[str, Any], program_path: str) -> types.SimpleNamespace:
    """The numbers with the fitness and the built-in features. The unchanged metrics go into the artifact
    openevolve.json."""
    with open(program_path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    numbers = {str(name): float(value) for name, value in metrics.items() if _is_number(value) and math.isfinite(value)}
    numbers.update(fitness=fitness_of(metrics, SETTINGS["dimensions"]), ks_length=float(len(text)),
                   ks_difference=difference(text, SETTINGS["seed"]))
    # These names differ from those of the engine's own features of the source.
    numbers.update((f"ks_{name}", numbers[name]) for name in SETTINGS["dimensions"] if name in numbers)
    shown = {str(name): value for name, value in artifacts.items()} if SETTINGS["artifacts"] else {}
    shown["openevolve.json"] = json.dumps({"metrics": metrics}, default=str)
    return types.SimpleNamespace(metrics=numbers, artifacts=shown)


class _Stages:
    """The stages of one evaluation, which share a process. The metrics of all stages that ran are merged."""

    def __init__(self, module: Any) -> None:
        functions: List[Any] = [getattr(module, f"evaluate_stage{number}", None) for number in (1, 2, 3)]
        self.functions = functions[:functions.index(None)] if None in functions else functions
        self._metrics: Dict[str, Any] = {}
        self._artifacts: Dict[str, Any] = {}

    def stage(self, at: int) -> Callable[[str], types.SimpleNamespace]:
        def run(program_path: str) -> types.SimpleNamespace:
            if at == 0 or passes(self._metrics, SETTINGS["thresholds"][at - 1]):
                metrics, artifacts = _called(self.functions[at], program_path)
                self._merge(metrics, at == 0)
                self._artifacts.update(artifacts)
            return _told(self._metrics, self._artifacts, program_path)

        return run

    def _merge(self, metrics: Dict[str, Any], is_first: bool) -> None:
        both = {**self._metrics, **metrics}
        self._metrics = both if is_first else {
            name: value for name, value in both.items() if isinstance(value, (int, float)) and name != "error"}


if SETTINGS:
    _module = _users_module()
    if not hasattr(_module, "evaluate"):
        raise AttributeError(SETTINGS["evaluator"] + " has no function evaluate(program_path)")
    _stages = _Stages(_module)
    for _at in range(min(len(_stages.functions), len(SETTINGS["thresholds"]) + 1) if SETTINGS["thresholds"] else 0):
        globals()[f"evaluate_stage{_at + 1}"] = _stages.stage(_at)


def evaluate(program_path: str) -> types.SimpleNamespace:
    """Called by the backend if there are no stages."""
    metrics, artifacts = _called(_module.evaluate, program_path, **SETTINGS["arguments"])
    return _told(metrics, artifacts, program_path)
