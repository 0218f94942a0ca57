"""The share of GPU time in a candidate's own kernels, and rejection of samples whose share is too small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .scores import Flags, Floats, Scored, Scores, as_answers, as_scored

# Sums of the same times in another order differ by rounding: in single precision by less than this.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Profiled:
    """Which samples stay in the loss. All arrays have the shape of the samples.

    `keep`: booleans. `probability`: the probability of being kept, NaN for a sample without a score.
    `left_out`: how many samples have no score.
    """

    keep: Flags
    probability: Floats
    left_out: int


def profiling_ratio(own_time: Scores, total_time: Scores) -> Scored:
    """The share of the GPU time in the candidate's own kernels: PR = own / total, and 0 if the total is 0.

    Shapes: two arrays of one shape, in one unit, from one profile; the result has that shape.

    If either time is None (no profile), the sample has no ratio: it is left out, counted, and NaN in the
    values. NaN, a negative time, and an own time above the total by more than rounding are ValueErrors. There are no groups; a
    masked sample has `valid` False.

    Source: arXiv 2602.05885 (Dr. Kernel), "profiling-based rewards"; hkust-nlp/KernelGYM,
    drkernel/kernel/rewards/reward_client.py: compute_coverage_reward (`time_coverage`), whose total has CPU time in it.
    `features.own_share` of this project's evaluations is GPU time alone.
    """
    total = as_scored(total_time, name="total_time")
    own = as_scored(own_time, name="own_time", like=total)
    valid = own.valid & total.valid
    part, whole = own.values[valid], total.values[valid]
    if (part < 0).any() or (part > whole * (1 + _ROUNDING)).any():
        raise ValueError("own_time must lie between 0 and total_time")
    values = np.full(valid.shape, np.nan)
    values[valid] = np.minimum(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 1)
    return Scored(values, valid, int(np.count_nonzero(~valid)))


def profiling_rejection(ratio: Scores, correct: Scores, generator: np.random.Generator, *, threshold: float = 0.3,
                        width: float = 0.1, speedup: Scores | None = None, speedup_threshold: float | None = None,
                        decimals: int | None = None) -> Profiled:
    """Keeps a correct sample with the probability clip((PR - threshold) / width, 0, 1), and every incorrect one.

    With `width=0` a sample is kept if PR >= threshold. With `speedup` and `speedup_threshold`, a sample that
    is at least that fast is kept whatever its PR. `decimals=2` rounds PR first, as KernelGYM's reward manager
    does.

    Shapes: `ratio`, `correct` and `speedup` have one shape, and the result has it. One number is drawn from `generator`
    for each entry in order, so an entry's fate does not depend on the others.

    A sample has no score if `correct` is None, or if it is correct, its `ratio` is None and its speedup does
    not keep it. It is then not kept, and counted. If `speedup` is None, the ratio decides. NaN of a correct
    sample is a ValueError. There are no groups; for a masked sample pass None.

    Source: arXiv 2602.05885 (Dr. Kernel), "profiling-based rejection sampling"; hkust-nlp/KernelGYM,
    drkernel/kernel/rewards/coverage_helper.py: compute_coverage_rejection_mask with coverage_rs "turn", which draws from
    torch's global generator.
    """
    answers = as_answers(correct, name="correct")
    right = answers.values == 1
    ratios = as_scored(ratio, right, name="ratio", like=answers)
    own = ratios.values if decimals is None else _rounded(ratios.values, decimals)
    above = (own - threshold) / width if width else np.where(own >= threshold, 1.0, 0.0)
    probability: Floats = np.clip(above, 0, 1)
    probability[~ratios.valid] = np.nan
    probability[answers.values == 0] = 1
    if speedup is not None and speedup_threshold is not None:
        probability[as_scored(speedup, right, name="speedup", like=answers).values >= speedup_threshold] = 1
    probability[~answers.valid] = np.nan
    keep = generator.random(probability.shape) < probability
    return Profiled(keep, probability, int(np.count_nonzero(np.isnan(probability))))


def _rounded(values: Floats, decimals: int) -> Floats:
    """Correctly rounded, like a formatted number and unlike numpy.round."""
    return np.array([round(value, decimals) for value in values.ravel().tolist()]).reshape(values.shape)
