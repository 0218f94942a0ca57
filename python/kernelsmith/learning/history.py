"""Selects the earlier turns to show to a model again in test-time scaling by turns (STTS)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .scores import Scored, Scores, as_scored, flat


@dataclass(frozen=True, eq=False)
class Chosen:
    """`turns`: the numbers of the chosen turns, counted from 0 and in order. `left_out`: how many turns had
    no score."""

    turns: npt.NDArray[np.intp]
    left_out: int


def best_window(turn_rewards: Scores, keep: int = 4) -> Chosen:
    """The `keep` consecutive turns with the largest sum of rewards; of equal sums, the earliest.

    Shapes: `turn_rewards` (turns of one history). If there are fewer turns than `keep`, all are chosen.

    A turn whose reward is None (it has no score, or is masked) is left out and counted, and its neighbours
    count as consecutive. NaN is a ValueError. If no turn has a score, nothing is chosen. A single turn is
    chosen.

    Source: hkust-nlp/KernelGYM, drkernel/kernel/workers/rollout/vllm_rollout: vllm_async_engine_multi_iter.py. There a NaN
    excludes its window, and the run crashes if no other window is left.
    """
    scored, there = _known(turn_rewards, keep)
    if len(there) <= keep:
        return Chosen(there, scored.left_out)
    sums = np.lib.stride_tricks.sliding_window_view(scored.values[there], keep).sum(axis=1)
    first = int(np.argmax(sums))
    return Chosen(there[first:first + keep], scored.left_out)


def best_turns(turn_rewards: Scores, keep: int = 4) -> Chosen:
    """The `keep` turns with the largest rewards, consecutive or not; of equal rewards, the earliest.

    Shapes: `turn_rewards` (turns of one history). If there are fewer turns than `keep`, all are chosen.

    A turn whose reward is None (it has no score, or is masked) is left out and counted. NaN is a ValueError.
    If no turn has a score, nothing is chosen. A single turn is chosen.

    Source: arXiv 2602.05885 (Dr. Kernel), test-time scaling: the top 4 by reward. Its code does what
    `best_window` does.
    """
    scored, there = _known(turn_rewards, keep)
    best = np.argsort(-scored.values[there], kind="stable")[:keep]
    return Chosen(there[np.sort(best)], scored.left_out)


def _known(turn_rewards: Scores, keep: int) -> tuple[Scored, npt.NDArray[np.intp]]:
    if keep < 1:
        raise ValueError(f"keep must be at least 1, and is {keep}")
    scored = flat(as_scored(turn_rewards, name="turn_rewards"), "turn_rewards")
    return scored, np.flatnonzero(scored.valid)
