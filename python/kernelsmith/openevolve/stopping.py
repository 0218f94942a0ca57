"""Decides when to stop: a target was reached, or patience ran out."""

from __future__ import annotations

from typing import Any

from .config import Config


class Stopping:
    """Receives each iteration in order. A continued search passes it the earlier iterations again."""

    def __init__(self, config: Config, target: float | None) -> None:
        self._target = target
        self._patience: int | None = config.early_stopping_patience
        self._threshold: float = config.convergence_threshold
        self._metric: str = config.early_stopping_metric
        self._best = float("-inf")
        self._waited = 0

    def seen(self, fitness: float | None, metrics: dict[str, Any]) -> str:
        """The reason to stop, or "". `fitness` is None if the iteration gave no accepted program."""
        if self._target is not None and fitness is not None and fitness >= self._target:
            return f"the target {self._target:g} is reached"
        if self._patience is None:
            return ""
        value = metrics.get(self._metric) if fitness is not None else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            value = fitness
        if value is not None and value - self._best >= self._threshold:
            self._best, self._waited = value, 0
        else:
            self._waited += 1
        return f"no gain in {self._waited} iterations" if self._waited >= self._patience else ""
