"""Rewards of the two papers, from evaluations.

A candidate's failure (it does not compile, is wrong, or is a decoy) is `correct=False` and has a reward. A failure of
the machine (a lost GPU, a timeout of the service, a noisy measurement) is `correct=None` and has none.
"""

from __future__ import annotations

import numpy as np

from .scores import Flags, Floats, Scored, Scores, as_answers, as_scored


def dr_kernel_reward(correct: Scores, speedup: Scores, profiling_ratio: Scores | None = None, *, correct_weight: float = 0.5,
                     speedup_weight: float = 0.5, profiling_weight: float = 0.5, most_speedup: float = 3.0,
                     least_speedup: float = 0.0) -> Scored:
    """Dr. Kernel's reward, gated by correctness: R = C * (a + b * min(s, most_speedup) + c * PR).

    C is 1 for correct, s the speedup over the baseline, PR `profiling_ratio`; a, b and c are the three weights. A speedup
    below `least_speedup` counts as 0. Without `profiling_ratio` that term is 0. The defaults are those of Dr. Kernel's
    training script; the paper's formula has all weights 1.

    Shapes: all arrays have one shape, and the result has it.

    If `correct` is None, or the speedup or ratio of a correct sample is None, the sample has no reward; it is
    left out and counted. An incorrect sample gets 0, whatever its other values. NaN of a correct sample is a
    ValueError. There are no groups; for a masked sample pass None.

    Source: arXiv 2602.05885 (Dr. Kernel); weights from hkust-nlp/KernelGYM, 14b_trloo_mrs_pr_prs.sh.
    """
    answers = as_answers(correct, name="correct")
    right = answers.values == 1
    fast = as_scored(speedup, right, name="speedup", like=answers)
    own = _ratios(profiling_ratio, answers)
    valid = answers.valid & (~right | (fast.valid & own.valid))
    speed = _bounded(fast.values, least_speedup, most_speedup)
    reward = correct_weight + speedup_weight * speed + profiling_weight * own.values
    return _rewards(np.where(right, reward, 0), valid)


def dr_kernel_reward_as_coded(correct: Scores, speedup: Scores, profiling_ratio: Scores | None = None, *,
                              decoy: Scores | None = None, correct_weight: float = 0.5, speedup_weight: float = 0.5,
                              profiling_weight: float = 0.5, most_speedup: float = 3.0,
                              least_speedup: float = 0.0) -> Scored:
    """Dr. Kernel's reward as its code computes it: R = a * C + b * min(s, most_speedup) + c * C * PR.

    Two things differ from `dr_kernel_reward`: the speedup counts for incorrect samples, too (C = 0 and s = 2
    give 1), and in a completed evaluation a speedup or ratio that is None counts as 0. If `decoy` is True,
    the reward is 0. Prefer `dr_kernel_reward`, unless you repeat Dr. Kernel's training.

    Shapes: all arrays have one shape, and the result has it.

    If `correct` is None (the evaluation did not complete), the sample has no reward; it is left out and
    counted. Dr. Kernel's code gives it 0. If `decoy` is None, the sample is not a decoy. NaN that counts is a
    ValueError; Dr. Kernel's code gives NaN. There are no groups; for a masked sample pass None in `correct`.

    Source: hkust-nlp/KernelGYM, drkernel/kernel/rewards/reward_client.py: calculate_reward_speedup; weights from
    14b_trloo_mrs_pr_prs.sh. KernelGYM's `least_speedup` is 1.0 in train_rl_common, and 0.0 in that script.
    """
    answers = as_answers(correct, name="correct")
    fast = as_scored(speedup, answers.valid, name="speedup", like=answers)
    own = _ratios(profiling_ratio, answers)
    speed = _bounded(np.where(fast.valid, fast.values, 0), least_speedup, most_speedup)
    part = np.where(own.valid, own.values, 0)
    reward = correct_weight * answers.values + speedup_weight * speed + profiling_weight * answers.values * part
    if decoy is not None:
        reward[as_answers(decoy, name="decoy", like=answers).values == 1] = 0
    return _rewards(reward, answers.valid)


def kernel_smith_reward(correct: Scores, child_speedup: Scores, parent_speedup: Scores) -> Scored:
    """Kernel-Smith's reward, the speedup over the parent: R = child_speedup / parent_speedup; incorrect: 0.

    Both speedups are over the same baseline, so the ratio is the parent's time over the child's. The paper
    names no penalty, cap or clip; that an incorrect child gets 0 is our reading.

    Shapes: all arrays have one shape, and the result has it.

    If `correct` is None, or a speedup of a correct sample is None, the sample has no reward; it is left out
    and counted. An incorrect sample gets 0, whatever its speedups. For a correct sample NaN, and a speedup that
    is not positive, are ValueErrors. There are no groups; for a masked sample pass None.

    Source: arXiv 2603.28342 (Kernel-Smith), the section on reinforcement learning.
    """
    answers = as_answers(correct, name="correct")
    right = answers.values == 1
    child = as_scored(child_speedup, right, name="child_speedup", like=answers)
    parent = as_scored(parent_speedup, right, name="parent_speedup", like=answers)
    measured = child.valid & parent.valid
    for name, speedups in (("child_speedup", child), ("parent_speedup", parent)):
        if (speedups.values[measured] <= 0).any():
            raise ValueError(f"{name} must be positive for correct samples")
    reward = np.zeros(answers.values.shape)
    reward[measured] = child.values[measured] / parent.values[measured]
    return _rewards(reward, measured | (answers.values == 0))


def _ratios(profiling_ratio: Scores | None, answers: Scored) -> Scored:
    if profiling_ratio is None:
        return Scored(np.zeros(answers.values.shape), np.ones(answers.values.shape, dtype=bool), 0)
    return as_scored(profiling_ratio, answers.values == 1, name="profiling_ratio", like=answers)


def _bounded(speedup: Floats, least: float, most: float) -> Floats:
    return np.where(speedup < least, 0, np.minimum(speedup, most))


def _rewards(values: Floats, valid: Flags) -> Scored:
    return Scored(np.where(valid, values, np.nan), valid, int(np.count_nonzero(~valid)))
