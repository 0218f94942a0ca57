"""A run's data for pictures, read once, in chronological order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._run import Run

# matplotlib's arithmetic overflows near the largest numbers.
LARGEST = 1e300


@dataclass(frozen=True)
class Best:
    """The best after this many evaluated programs."""

    evaluated: int
    fitness: float
    low: float
    high: float


@dataclass(frozen=True)
class Spent:
    """The cost of all calls up to a proposal, by model: US dollars, or tokens if nothing has a price."""

    unit: str
    proposals: list[int]
    by_model: dict[str, list[float]]


class History:
    """A run's rows. Each kind of row is read at its first use and kept."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def of(cls, run: Run | History) -> History:
        if not isinstance(run, (History, Run)):
            raise TypeError(f"this is not a Run, but {type(run).__name__}: Run.open(folder) makes a Run")
        return run if isinstance(run, History) else cls(run)

    @cached_property
    def programs(self) -> list[dict[str, Any]]:
        return [_drawable(row) for row in self.run.programs()]

    @cached_property
    def lineage(self) -> list[dict[str, Any]]:
        try:
            return [_drawable(row) for row in self.run.lineage()]
        except UnicodeDecodeError:  # a source that is not UTF-8 has no diff in Python
            return self._chain()

    def _chain(self) -> list[dict[str, Any]]:
        """The lineage without diffs."""
        best = self.run.best
        rows = {row["id"]: row for row in self.programs}
        chain: list[dict[str, Any]] = []
        at = best.id if best else None
        while at in rows:
            chain.append(rows[at] | {"diff": ""})
            at = next(iter(rows[at]["parents"]), None)
        return chain[::-1]

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        return self.run.failures()

    @cached_property
    def cost(self) -> list[dict[str, Any]]:
        return self.run.cost()

    @property
    def unit(self) -> str:
        """The unit of the fitness: "x" for ratios, empty if it has none."""
        evaluation = self.run.best_evaluation
        return evaluation.measurement.unit if evaluation and evaluation.measurement else ""

    @cached_property
    def best(self) -> list[Best]:
        """The best so far, with a step for each new best. A program that was measured again counts with all
        its measurements. A program that failed a later measurement, or lost to the best in a duel, is left
        out."""
        last = self.run.best
        if last is None or last.fitness is None:
            return []
        lead = next(row["low"] for row in self.programs if row["id"] == last.id)
        steps: list[Best] = []
        for evaluated, row in enumerate(self.programs, start=1):
            if not row["accepted"] or (row["low"] > lead and row["id"] != last.id):
                continue
            if not steps or row["low"] > steps[-1].low:
                steps.append(Best(evaluated, row["fitness"], row["low"], row["high"]))
        return steps

    @cached_property
    def spent(self) -> Spent | None:
        """The cost so far; None if no model was asked."""
        models = [row["model"] for row in self.cost if row["calls"]]
        if not models:
            return None
        priced = any(row["usd"] > 0 for row in self.cost)
        proposals = [0]
        by_model = {model: [0.0] for model in models}
        for event in self.run.events():
            cost = event.get("cost") if event["event"] == "call_failed" else event.get("proposal", {}).get("cost")
            if cost is None:
                continue
            proposals.append(proposals[-1] + (event["event"] == "proposal_arrived"))
            for model, so_far in by_model.items():
                so_far.append(so_far[-1] + (_amount(cost, priced) if cost.get("model", "") == model else 0))
        return Spent("USD" if priced else "tokens", proposals, by_model)


def clamped(value: float) -> float:
    return min(max(value, -LARGEST), LARGEST)


def _drawable(row: dict[str, Any]) -> dict[str, Any]:
    return row | {key: clamped(row[key]) for key in ("fitness", "low", "high") if row[key] is not None}


def _amount(cost: dict[str, Any], priced: bool) -> float:
    if not priced:
        return float(cost.get("input_tokens", 0) + cost.get("output_tokens", 0))
    # A recording may contain anything, so negative costs are ignored.
    dollars = [float(cost.get(key, 0)) for key in ("usd", "guessed_usd")]
    return sum(max(one, 0.0) for one in dollars if math.isfinite(one))
