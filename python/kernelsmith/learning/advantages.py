"""Advantages of samples within groups: GRPO, RLOO, and TRLOO for several turns.

`alone` decides the advantage of a sample that is alone in its group and so has no baseline: "zero" gives 0,
and "keep" gives its own reward (or return).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .returns import pad_turns, returns_to_go
from .scores import Floats, Scored, Scores, as_scored, flat, group_numbers

Alone: TypeAlias = Literal["zero", "keep"]


def grpo(rewards: Scores, groups: Iterable[Hashable] | None = None, *, valid: npt.ArrayLike | None = None,
         divide_by_std: bool = True, epsilon: float = 1e-6, alone: Alone = "zero") -> Scored:
    """Compares rewards with their group's mean: A = (r - mean) / (std + epsilon), std with N - 1 in the
    denominator.

    `divide_by_std=False`: A = r - mean, which does not favour prompts whose rewards are close (Dr. GRPO).

    Shapes: `rewards` (samples); `groups` has a label for each sample (its prompt), and without it all samples
    are one group; the result (samples).

    A sample that is None or has `valid` False is left out of mean and std, counted, and gets 0 with `valid`
    False. NaN is a ValueError. A sample that is alone in its group, or is the only one left, gets 0, as in
    TRL; with `alone="keep"` it gets r / (1 + epsilon), or r without std, as in verl. Equal rewards give 0.
    With several turns, a masked turn is an invalid sample.

    Source: arXiv 2402.03300, without std arXiv 2503.20783; verl-project/verl,
    verl/trainer/ppo/core_algos.py:
    compute_grpo_outcome_advantage. TRL's epsilon is 1e-4.
    """
    scored = flat(as_scored(rewards, valid))
    group, own = _grouped(scored, groups)
    count, mean = _means(group, own)
    spread = np.bincount(group, (own - mean[group]) ** 2, minlength=len(count))
    scale = np.sqrt(spread / np.maximum(count - 1, 1)) + epsilon if divide_by_std else np.ones(len(count))
    kept = own / (1 + epsilon) if divide_by_std else own
    return _advantages(scored, np.where(count[group] > 1, (own - mean[group]) / scale[group], _alone(kept, alone)))


def rloo(rewards: Scores, groups: Iterable[Hashable] | None = None, *, valid: npt.ArrayLike | None = None,
         alone: Alone = "zero") -> Scored:
    """Compares each reward with the mean of the others in its group: A[i] = r[i] - mean of r[j], j != i.

    That is N / (N - 1) * (r[i] - mean) in a group of N.

    Shapes: as for `grpo`.

    A sample that is None or has `valid` False is left out of the means, counted, and gets 0 with `valid`
    False. NaN is a ValueError. A sample that is alone in its group, or is the only one left, gets 0, as in
    TRL and verl's rloo_vectorized; with `alone="keep"` it gets r, as in verl's rloo. Equal rewards give 0.
    With several turns, a masked turn is an invalid sample; see `trloo`.

    Source: arXiv 2402.14740; verl-project/verl, verl/trainer/ppo/core_algos.py: compute_rloo_outcome_advantage.
    """
    scored = flat(as_scored(rewards, valid))
    group, own = _grouped(scored, groups)
    count, mean = _means(group, own)
    number = count[group]
    others = number / np.maximum(number - 1, 1) * (own - mean[group])
    return _advantages(scored, np.where(number > 1, others, _alone(own, alone)))


def trloo(turn_rewards: Sequence[Sequence[float | None]], groups: Iterable[Hashable] | None = None, *, gamma: float = 1.0,
          masked: Sequence[Sequence[bool]] | None = None, alone: Alone = "keep") -> Scored:
    """Leave-one-out for several turns: A[i, t] = G[i, t] - mean of G[j, t], j != i, within a group, for each turn t.

    G is the return-to-go of `returns_to_go`. j runs over the trajectories of the group that played turn t. A
    turn's baseline does not depend on its own trajectory, so the gradient is unbiased even if the policy
    decides the number of turns. There is no std.

    Shapes: `turn_rewards` has a list of rewards for each trajectory, and the lists may differ in length;
    `masked` has booleans in the same shape; `groups` has a label for each trajectory (its prompt), and
    without it all are one group. The result has the shape (trajectories, most turns), padded at the end with
    0 and `valid` False.

    If a reward is None, the returns of that turn and of the turns before it are unknown. These turns get 0
    and `valid` False, are in no baseline, and are counted. NaN is a ValueError. A masked turn gets 0 and
    `valid` False, is in no baseline, and adds 0 to the returns before it. A turn that is alone in its group
    gets its return, as in the source; an unbiased gradient needs that. But if you mask turns by their
    outcome, such a return is a bonus without a baseline; `alone="zero"` avoids it.

    Source: arXiv 2602.05885 (Dr. Kernel); hkust-nlp/KernelGYM,
    verl_patch/trainer/code/ppo/core_algos.py: compute_multi_turn_rloo_outcome_advantage.
    """
    returns = returns_to_go(turn_rewards, gamma=gamma, masked=masked)
    trajectories, turns = returns.values.shape
    place = group_numbers(groups, trajectories)[:, None] * turns + np.arange(turns)
    result = rloo(returns.values.ravel(), place.ravel(), valid=returns.valid.ravel(), alone=alone)
    _, played, hidden = pad_turns(turn_rewards, masked)
    in_group, lost = (np.bincount(place[which], minlength=place.max(initial=-1) + 1)
                      for which in (returns.valid, played & ~hidden & ~returns.valid))
    bereft = ((in_group == 1) & (lost > 0))[place]
    return Scored(np.where(bereft, 0.0, result.values.reshape(returns.values.shape)), returns.valid, returns.left_out)


def _grouped(scored: Scored, groups: Iterable[Hashable] | None) -> tuple[npt.NDArray[np.intp], Floats]:
    return group_numbers(groups, len(scored.values))[scored.valid], scored.values[scored.valid]


def _means(group: npt.NDArray[np.intp], own: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    count = np.bincount(group)
    return count, np.bincount(group, own) / np.maximum(count, 1)


def _alone(own: Floats, alone: Alone) -> Floats:
    if alone not in ("zero", "keep"):
        raise ValueError(f'alone must be "zero" or "keep", and is {alone!r}')
    return own if alone == "keep" else np.zeros_like(own)


def _advantages(scored: Scored, found: Floats) -> Scored:
    values = np.zeros(scored.values.shape)
    values[scored.valid] = found
    return Scored(values, scored.valid, scored.left_out)
