"""Returns-to-go of trajectories with uneven numbers of turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .scores import Flags, Scored, as_scored


def returns_to_go(turn_rewards: Sequence[Sequence[float | None]], *, gamma: float = 1.0,
                  masked: Sequence[Sequence[bool]] | None = None) -> Scored:
    """The discounted sum of a turn's reward and the rewards after it: G[t] = R[t] + gamma * G[t + 1].

    Shapes: `turn_rewards` has a list for each trajectory with a number for each of its turns; the lists may
    differ in length. It may also be a two-dimensional array. `masked` has booleans in the same shape. The
    result has the shape (trajectories, most turns), padded at the end.

    If a reward is None, the returns of that turn and of all turns before it are unknown. They are left out
    and counted; later turns keep their returns. NaN is a ValueError. A masked turn adds 0 to the returns
    before it and has no return (`valid` is False); if its reward is None, the returns before it are unknown
    all the same. Unknown returns are NaN.

    Source: arXiv 2602.05885 (Dr. Kernel), the returns of TRLOO; hkust-nlp/KernelGYM,
    verl_patch/trainer/code/ppo/core_algos.py: compute_multi_turn_returns. There gamma is 1, short trajectories are padded in
    front, and a NaN spreads to earlier turns.
    """
    rewards, played, hidden = pad_turns(turn_rewards, masked)
    steps = np.where(played & ~hidden, rewards.values, np.where(rewards.valid | ~played, 0.0, np.nan))
    returns = np.zeros_like(steps)
    following = np.zeros(len(steps))
    for turn in reversed(range(steps.shape[1])):
        following = returns[:, turn] = steps[:, turn] + gamma * following
    counted = played & ~hidden
    valid = counted & np.isfinite(returns)
    return Scored(np.where(valid, returns, np.nan), valid, int(np.count_nonzero(counted & ~valid)))


def pad_turns(turn_rewards: Sequence[Sequence[float | None]],
              masked: Sequence[Sequence[bool]] | None = None) -> tuple[Scored, Flags, Flags]:
    """The rewards, the turns that were played and the masked turns, each in the shape (trajectories, most
    turns).

    Rewards that are None are invalid, and so is the padding at the end.
    """
    lengths = [len(turns) for turns in turn_rewards]
    width = max(lengths, default=0)
    played = np.arange(width) < np.array(lengths, dtype=np.intp)[:, None]
    rewards = as_scored(_padded(turn_rewards, width, None), played, name="turn_rewards")
    if masked is None:
        return rewards, played, np.zeros_like(played)
    if [len(turns) for turns in masked] != lengths:
        raise ValueError("masked must have a boolean for each turn of turn_rewards")
    return rewards, played, _padded(masked, width, False).astype(bool)


def _padded(turns: Sequence[Sequence[Any]], width: int, padding: Any) -> npt.NDArray[np.object_]:
    rows = np.full((len(turns), width), padding, dtype=object)
    for row, values in zip(rows, turns, strict=True):
        row[:len(values)] = values
    return rows
