"""Selects the earlier turns that a model is shown again in test-time scaling by turns (STTS)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .scores import Scored, Scores, as_scored, flat


@dataclass(frozen=True, eq=False)
class Chosen:
    """`turns`: the numbers of the chosen turns, from 0 on and in order. `left_out`: how many turns had no score."""

    turns: npt.NDArray[np.intp]
    left_out: int


def best_window(turn_rewards: Scores, keep: int = 4) -> Chosen:
    """The `keep` consecutive turns with the largest sum of rewards, the earliest of equals.

    Shapes: `turn_rewards` (turns of one history). Fewer turns than `keep`: all.

    None (no score, or a masked turn): the turn is left out and counted, and its neighbours are consecutive then. NaN: a
    ValueError. If no turn has a score, nothing is chosen. A single turn is chosen.

    Source: hkust-nlp/KernelGYM, drkernel/kernel/workers/rollout/vllm_rollout: vllm_async_engine_multi_iter.py. There a NaN
    excludes its window, and without any other the run crashes.
    """
    scored, there = _known(turn_rewards, keep)
    if len(there) <= keep:
        return Chosen(there, scored.left_out)
    sums = np.lib.stride_tricks.sliding_window_view(scored.values[there], keep).sum(axis=1)
    first = int(np.argmax(sums))
    return Chosen(there[first:first + keep], scored.left_out)


def best_turns(turn_rewards: Scores, keep: int = 4) -> Chosen:
    """The `keep` turns with the largest rewards, wherever they stand, the earliest of equals.

    Shapes: `turn_rewards` (turns of one history). Fewer turns than `keep`: all.

    None (no score, or a masked turn): left out and counted. NaN: a ValueError. If no turn has a score, nothing is chosen. A
    single turn is chosen.

    Source: arXiv 2602.05885 (Dr. Kernel), test-time scaling: the top 4 by reward. Its code takes `best_window`.
    """
    scored, there = _known(turn_rewards, keep)
    best = np.argsort(-scored.values[there], kind="stable")[:keep]
    return Chosen(there[np.sort(best)], scored.left_out)


def _known(turn_rewards: Scores, keep: int) -> tuple[Scored, npt.NDArray[np.intp]]:
    if keep < 1:
        raise ValueError(f"keep must be at least 1, and is {keep}")
    scored = flat(as_scored(turn_rewards, name="turn_rewards"), "turn_rewards")
    return scored, np.flatnonzero(scored.valid)
