"""TTT-Discover: advantages that favour the best sample of a group, and scores that choose the states from
which a search continues."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .scores import Flags, Floats, Scored, Scores, as_scored, flat, group_numbers

# These three come from the source. They bound beta at 2 ** 20, fix its digits, and keep the quotient finite.
_LARGEST_BETA = 1e6
_BISECTIONS = 60
_SMALLEST_MEAN = 1e-12


@dataclass(frozen=True, eq=False)
class Entropic:
    """`values`, `valid` and `left_out` are those of a `Scored`. `betas` holds the beta of each sample's
    group, NaN for a sample that was left out."""

    values: Floats
    valid: Flags
    left_out: int
    betas: Floats


def entropic_advantages(rewards: Scores, groups: Iterable[Hashable] | None = None, *, beta: float | None = 2.0,
                        divergence: float = math.log(2), valid: npt.ArrayLike | None = None) -> Entropic:
    """A[i] = e[i] / (mean of e[j], j != i, + 1e-12) - 1, with e[i] = exp(beta * (r[i] - largest r)).

    `beta=None` adapts beta to each group: KL(softmax(beta * r) || uniform) = `divergence`. Beta is doubled
    from 1 until the divergence is reached or beta exceeds 1e6, and then found by 60 bisections.

    Shapes: `rewards` (samples); `groups` has a label for each sample (its prompt), and without it all samples
    are one group; the result and its `betas` (samples).

    A sample that is None or has `valid` False is left out of the means, counted, and gets 0 with `valid`
    False. NaN is a ValueError. A group of one sample, or of equal rewards, gets 0 (up to 1e-12), and its
    adaptive beta is 2 ** 20. With several turns, a masked turn is an invalid sample.

    Source: arXiv 2601.16175 (TTT-Discover); test-time-training/discover at 96df74f,
    tinker_cookbook/rl/train.py: compute_advantages.
    """
    scored = flat(as_scored(rewards, valid))
    numbers = group_numbers(groups, len(scored.values))
    values, betas = np.zeros(scored.values.shape), np.full(scored.values.shape, np.nan)
    for group in np.unique(numbers[scored.valid]):
        members = scored.valid & (numbers == group)
        own = scored.values[members]
        sharpness = _adapted(own, divergence) if beta is None else beta
        values[members], betas[members] = _entropic(own, sharpness), sharpness
    return Entropic(values, scored.valid, scored.left_out, betas)


def puct_scores(rewards: Scores, visits: npt.ArrayLike, best_child: Scores, *, group_size: int = 1,
                exploration: float = 1.0, expansions: float | None = None) -> Scored:
    """Scores of the states from which a search may continue. It takes the state with the highest score, which
    is Q + c * (max R - min R) * P * sqrt(1 + T / G) / (1 + n / G).

    R are the states' own rewards, n their `visits`, G `group_size`, c `exploration` and T `expansions`, by
    default the sum of the visits (the source counts a state's visit also for each ancestor, but only once in
    T). Q is the best reward of a state's children if the state was visited, else R. P falls linearly with the
    rank by R and adds up to 1; the earlier of equal states ranks higher.

    Shapes: `rewards`, `visits`, `best_child` and the result have the shape (states).

    A state whose reward is None cannot be taken: it is left out of ranks and range, counted, and scores NaN.
    Its visits stay in T. None in `best_child` means that no child has a score; Q is then R. NaN is a
    ValueError. A single state scores Q, because the range is 0. To mask a state, make its reward None.

    Source: arXiv 2601.16175 (TTT-Discover); test-time-training/discover at 96df74f, the PUCT sampler.
    Later versions set G = 1, and take the range over all states but the initial ones, at least 1e-6.
    """
    own = flat(as_scored(rewards))
    child = as_scored(best_child, name="best_child", like=own)
    count = np.asarray(visits, dtype=np.float64)
    if count.shape != own.values.shape or not (np.isfinite(count) & (count >= 0)).all():
        raise ValueError(f"visits must hold {len(own.values)} numbers from 0 on")
    values = np.full(own.values.shape, np.nan)
    if own.valid.any():
        ranked = own.values[own.valid]
        quality = np.where((count > 0) & child.valid, child.values, own.values)[own.valid]
        total = count.sum() if expansions is None else expansions
        bonus = np.sqrt(1 + total / group_size) / (1 + count[own.valid] / group_size)
        values[own.valid] = quality + exploration * np.ptp(ranked) * _prior(ranked) * bonus
    return Scored(values, own.valid, own.left_out)


def _entropic(own: Floats, beta: float) -> Floats:
    weight = np.exp(beta * (own - own.max()))
    others = (weight.sum() - weight) / (len(own) - 1) if len(own) > 1 else weight
    advantages: Floats = weight / (others + _SMALLEST_MEAN) - 1
    return advantages


def _adapted(own: Floats, divergence: float) -> float:
    high = 1.0
    while _divergence(own, high) < divergence and high < _LARGEST_BETA:
        high *= 2
    if _divergence(own, high) < divergence:
        return high
    low = 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(own, middle) < divergence else (low, middle)
    return high


def _divergence(own: Floats, beta: float) -> float:
    """KL(softmax(beta * own) || uniform)."""
    logits = beta * (own - own.max())
    logs = logits - np.log(np.exp(logits).sum())
    return float((np.exp(logs) * logs).sum() + math.log(len(own)))


def _prior(own: Floats) -> Floats:
    rank = np.argsort(np.argsort(-own, kind="stable"), kind="stable")
    weight = len(own) - rank.astype(np.float64)
    prior: Floats = weight / weight.sum()
    return prior
