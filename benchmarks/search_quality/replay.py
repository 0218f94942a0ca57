"""Replays a recorded search against a fitted proposer: each child's parent is the program that has the recorded parent's
rank among what the replay has found so far. Shows how far the fit is from the recording, whatever chose its parents."""

import numpy as np

from model import NORMAL, PROBABILITIES, gap_of, quantile, rejection, standings_in
from traces import Trace


class Draws:
    """Outcomes of one fitted task."""

    def __init__(self, fitted: dict, dependence: dict, rng: np.random.Generator):
        self.fitted, self.dependence, self.rng = fitted, dependence, rng

    def child(self, step: str, basis: float, gap: float, promise: tuple[float, float], after_rejection: bool) -> float:
        """NaN if it is rejected."""
        share = self.fitted["rejected_again"] if after_rejection else rejection(self.fitted, step, basis)
        if NORMAL.cdf(self._draw("rejected", promise[0])) < share:
            return np.nan
        score = self._draw("change", promise[1])
        if step != "first":
            score += float(np.polyval(self.dependence["gap"][step], gap))
        return float(np.interp(NORMAL.cdf(score), PROBABILITIES, quantile(self.fitted, step, basis)))

    def _draw(self, what: str, shared: float) -> float:
        part = self.dependence["alike"][what]
        return float(np.sqrt(part) * shared + np.sqrt(1 - part) * self.rng.standard_normal())


def replayed(trace: Trace, scale: np.ndarray, draws: Draws, lift: dict[str, float]) -> np.ndarray:
    """The standings of a search that follows `trace`'s choices by rank; NaN for what was rejected."""
    recorded = standings_in(trace, scale)
    found = np.full(len(recorded), np.nan)
    base = np.full(len(recorded), np.nan)  # of each program's nearest accepted ancestor, itself included
    promises = draws.rng.standard_normal((len(recorded), 2))

    def counterpart(index: int, before: int) -> int:
        """The program of the replay with the rank of a recorded one; -1 while nothing was accepted."""
        seen = recorded[:before][~np.isnan(recorded[:before])]
        mine = np.flatnonzero(~np.isnan(found[:before]))
        if len(mine) == 0:
            return -1
        rank = (seen < recorded[index]).sum() / max(1, len(seen) - 1)
        return int(mine[np.argsort(found[mine], kind="stable")[round(min(rank, 1) * (len(mine) - 1))]])

    for i, row in enumerate(trace.rows):
        after_rejection = row.parent >= 0 and np.isnan(recorded[row.parent])
        if after_rejection:
            failed = np.flatnonzero(np.isnan(found[:i]))
            parent = int(failed[-1]) if len(failed) else -1
        else:
            parent = counterpart(row.parent, i) if row.parent >= 0 else -1
        start = base[parent] if parent >= 0 else np.nan
        shown = [counterpart(s, i) for s in row.shown if not np.isnan(recorded[s])]
        best = max((found[s] for s in shown if s >= 0), default=-np.inf)
        step = "first" if np.isnan(start) else row.step if row.step != "first" else "large"
        basis = start + lift[step] * max(best - start, 0)
        gap = gap_of(np.nanmax(found[:i]), basis) if step != "first" else 0.0
        found[i] = draws.child(step, basis, gap, tuple(promises[parent]), bool(after_rejection))
        base[i] = start if np.isnan(found[i]) else found[i]
    return found


def best_so_far(standings: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.nan_to_num(standings, nan=-9.0))
