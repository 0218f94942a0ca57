"""The simulated proposer: what the child of a program is worth, fitted to recorded searches.

A program's *standing* is the logit of its rank among everything accepted for its task: 0 is the median, 3 is better than
95 %. A child's standing is that of its basis plus a draw from quantiles which depend on task, step size and basis. The
basis is the parent's standing, lifted towards the best program shown beside it. Children of one parent are alike: their
draws share a Gaussian part, the parent's promise. This file and simulator.cpp are the same model.
"""

import zlib
from copy import copy
from statistics import NormalDist

import numpy as np

from traces import Trace

KNOTS = np.arange(-3.0, 3.1, 1.0)  # of the basis
PROBABILITIES = np.array([0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99])
SCALE = np.arange(-5.0, 5.6, 0.5)  # standings at which the task's scores are kept
WIDTH = 0.7  # of the kernel over the basis, in standings
MAX_GAP = 4.0
FOLDS = 5
NORMAL = NormalDist()


def standing_of(scores, sorted_scores) -> np.ndarray:
    """Ties stand in their middle; the best of n stands at logit(1 - 1/2n)."""
    n = len(sorted_scores)
    below, upto = (np.searchsorted(sorted_scores, scores, side) for side in ("left", "right"))
    share = np.clip((below + upto) / 2 / n, 0.5 / n, 1 - 0.5 / n)
    return np.log(share / (1 - share))


def weighted_quantiles(values, weights, probabilities) -> np.ndarray:
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return np.interp(probabilities, (cumulative - weights[order] / 2) / cumulative[-1], values[order])


class Samples:
    """The children of some traces, as arrays."""

    def __init__(self, traces: list[Trace], scales: dict[str, np.ndarray], lift: dict[str, float]):
        rows = [sample for number, trace in enumerate(traces) for sample in self._of(number, trace, scales, lift)]
        self.task = np.array([row[0] for row in rows])
        self.step = np.array([row[1] for row in rows])
        self.after_rejection = np.array([row[2] for row in rows], dtype=bool)
        self.basis, self.child, self.growth = (np.array([row[i] for row in rows], dtype=float) for i in (3, 4, 5))
        self.parent = np.array([row[6] for row in rows])
        self.gap = np.array([row[7] for row in rows], dtype=float)
        self.rejected = np.isnan(self.child)

    def only(self, chosen) -> "Samples":
        part = copy(self)
        for name, values in vars(self).items():
            setattr(part, name, values[chosen])
        return part

    @staticmethod
    def _of(number, trace, scales, lift):
        standings = standings_in(trace, scales[trace.task])
        best = -np.inf
        for row, child in zip(trace.rows, standings, strict=True):
            ancestor, after_rejection = row.parent, row.parent >= 0 and np.isnan(standings[row.parent])
            while ancestor >= 0 and np.isnan(standings[ancestor]):
                ancestor = trace.rows[ancestor].parent
            size_before = trace.rows[row.parent].size if row.parent >= 0 else trace.seed_size
            growth = np.log(max(row.size, 1) / max(size_before, 1))
            basis = np.nan if ancestor < 0 else basis_of(standings, ancestor, row, lift)
            step = "first" if ancestor < 0 else ("small" if row.step == "small" else "large")
            gap = 0.0 if np.isnan(basis) else gap_of(best, basis)
            yield trace.task, step, after_rejection, basis, child, growth, f"{number}:{row.parent}", gap
            best = np.fmax(best, child)


def standings_in(trace: Trace, scale: np.ndarray) -> np.ndarray:
    scores = np.array([np.nan if row.score is None else row.score for row in trace.rows])
    return np.where(np.isnan(scores), np.nan, standing_of(np.nan_to_num(scores), scale))


def basis_of(standings, ancestor, row, lift) -> float:
    shown = [standings[i] for i in row.shown if not np.isnan(standings[i])]
    return float(standings[ancestor] + lift[row.step] * max(max(shown, default=-np.inf) - standings[ancestor], 0))


def gap_of(best: float, basis: float) -> float:
    """How far the basis lies behind the best so far. What lies further back than the scale's middle half is as far."""
    return float(np.clip(best - basis, 0, MAX_GAP))


def fit_lift(traces, scales) -> dict[str, float]:
    """How far the best program shown lifts the basis: what leaves the least squares, by step size."""
    lift = {}
    for step in ("large", "small"):
        losses = []
        for share in np.arange(0, 1.01, 0.1):
            samples = Samples(traces, scales, {"large": share, "small": share, "first": 0})
            chosen = (samples.step == step) & ~samples.rejected & ~samples.after_rejection
            basis, child = samples.basis[chosen], samples.child[chosen]
            design = np.stack([np.ones_like(basis), basis, basis**2], axis=1)
            losses.append((np.sum((child - design @ np.linalg.lstsq(design, child, rcond=None)[0]) ** 2), share))
        lift[step] = float(min(losses)[1])
    return lift | {"first": 0.0}


def fit_task(samples: Samples, task: str, borrowed: float) -> dict:
    """One task's outcomes. Children of the family's other tasks count `borrowed` each."""
    weight = np.where(samples.task == task, 1.0, borrowed)
    fitted = {}
    for step in ("first", "large", "small"):
        chosen = samples.step == step
        if not chosen.any():
            continue
        if step == "first":
            accepted = chosen & ~samples.rejected
            quantiles = weighted_quantiles(samples.child[accepted], weight[accepted], PROBABILITIES)
            fitted[step] = {"rejected": _share(samples, chosen, weight), "standing": quantiles}
            continue
        fresh = chosen & ~samples.after_rejection
        fitted[step] = {"rejected": [], "change": []}
        for knot in KNOTS:
            near = weight * np.exp(-0.5 * ((np.nan_to_num(samples.basis) - knot) / WIDTH) ** 2)
            fitted[step]["rejected"].append(_share(samples, fresh, near))
            accepted = fresh & ~samples.rejected
            change = samples.child[accepted] - samples.basis[accepted]
            fitted[step]["change"].append(weighted_quantiles(change, near[accepted], PROBABILITIES))
    fitted["rejected_again"] = _share(samples, samples.after_rejection, weight)
    fitted["size"] = _sizes(samples)
    return fitted


def _share(samples, chosen, weight) -> float:
    total = weight[chosen].sum()
    return float(weight[chosen & samples.rejected].sum() / total) if total > 0 else 0.5


def _sizes(samples) -> dict:
    growth = {step: samples.growth[samples.step == step] for step in ("first", "large", "small")}
    return {step: [float(np.median(g)), float(np.quantile(g, 0.84) - np.median(g))] for step, g in growth.items() if len(g)}


def quantile(fitted: dict, step: str, basis: float) -> np.ndarray:
    """The child's standing at PROBABILITIES."""
    if step == "first":
        return np.asarray(fitted["first"]["standing"])
    table = np.asarray(fitted[step]["change"])
    place = np.clip((basis - KNOTS[0]) / (KNOTS[1] - KNOTS[0]), 0, len(KNOTS) - 1)
    low = min(int(place), len(KNOTS) - 2)
    return basis + (1 - (place - low)) * table[low] + (place - low) * table[low + 1]


def rejection(fitted: dict, step: str, basis: float) -> float:
    if step == "first":
        return fitted["first"]["rejected"]
    return float(np.interp(basis, KNOTS, fitted[step]["rejected"]))


def normal_scores(samples: Samples, borrowed: float) -> tuple[np.ndarray, np.ndarray]:
    """Each child's change and rejection against what children of other parents predict, as standard scores. NaN if there is
    no such score: children of the seed or of a rejected program, changes of rejected ones."""
    changes, rejections = np.full(len(samples.task), np.nan), np.full(len(samples.task), np.nan)
    fold = np.array([zlib.crc32(parent.encode()) % FOLDS for parent in samples.parent])
    for task in np.unique(samples.task):
        for held in range(FOLDS):
            fitted = fit_task(samples.only(fold != held), task, borrowed)
            scored = (samples.task == task) & (fold == held) & (samples.step != "first") & ~samples.after_rejection
            for i in np.flatnonzero(scored):
                changes[i], rejections[i] = _scores(samples, i, fitted)
    return changes, rejections


def _scores(samples, i, fitted) -> tuple[float, float]:
    step, basis = samples.step[i], samples.basis[i]
    share = float(np.clip(rejection(fitted, step, basis), 0.03, 0.97))
    rejected = (float(samples.rejected[i]) - share) / np.sqrt(share * (1 - share))
    if samples.rejected[i]:
        return np.nan, rejected
    ascending = quantile(fitted, step, basis) + 1e-9 * np.arange(len(PROBABILITIES))
    return NORMAL.inv_cdf(float(np.interp(samples.child[i], ascending, PROBABILITIES))), rejected


def fit_dependence(samples: Samples, borrowed: float) -> dict:
    """What a child owes to more than its basis. `gap`: its normal score's line over how far the basis lies behind the best
    so far (catching up is easier than passing). `alike`: the correlations between the children of one parent."""
    changes, rejections = normal_scores(samples, borrowed)
    line = {}
    for step in ("large", "small"):
        chosen = (samples.step == step) & ~np.isnan(changes)
        if chosen.any():
            line[step] = [float(c) for c in np.polyfit(samples.gap[chosen], changes[chosen], 1)]
            changes[chosen] -= np.polyval(line[step], samples.gap[chosen])
    mean = float(np.mean(samples.rejected))
    to_threshold = NORMAL.pdf(NORMAL.inv_cdf(mean)) ** 2 / (mean * (1 - mean))
    alike = {"change": within(samples.parent, changes), "rejected": within(samples.parent, rejections) / to_threshold}
    return {"gap": line, "alike": alike}


def within(groups, values) -> float:
    """Mean product of two different members of a group over the mean square, each group as often as it has members."""
    products = members = 0.0
    for group in np.unique(groups):
        inside = values[(groups == group) & ~np.isnan(values)]
        if len(inside) > 1:
            products += (inside.sum() ** 2 - (inside**2).sum()) / (len(inside) - 1)
            members += len(inside)
    return float(np.clip(products / max(members, 1) / np.nanmean(values**2), 0, 0.9))
