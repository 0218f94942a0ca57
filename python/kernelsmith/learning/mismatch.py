"""Mismatch rejection sampling: finds turns that are too far from the trained policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .scores import Flags, Floats

# The mean log-ratio is clamped to this before exp, as in KernelGYM.
_LARGEST_LOG = 20.0


@dataclass(frozen=True, eq=False)
class Matched:
    """Which turns stay in the loss. All arrays have the shape (trajectories, turns).

    `keep`: booleans. `weights`: the mean ratio to which the band was applied, NaN if there was no token.
    `vetoed`: turns with a token below the veto. `rejected`: how many turns with tokens are not kept.
    """

    keep: Flags
    weights: Floats
    vetoed: Flags
    rejected: int


def mismatch_rejection(train_log_probs: npt.ArrayLike, rollout_log_probs: npt.ArrayLike, valid: npt.ArrayLike, *,
                       low: float = 0.999, high: float = 1.001, veto: float | None = 1e-4,
                       over: Literal["trajectory", "turn"] = "trajectory") -> Matched:
    """Keeps turns whose geometric mean ratio lies in a band: w = exp(mean(log p_train - log p_rollout)), low <= w <= high.

    `over="trajectory"`: the mean is over the tokens of all turns of a trajectory, and these turns are kept or
    rejected together (KernelGYM's `rollout_rs: geometric`, with which Dr. Kernel was trained). `over="turn"`:
    each turn has its own mean (KernelGYM's `turn_geo`). In both, the veto rejects a single turn if one of its
    tokens has a ratio below `veto`; None turns the veto off.

    Shapes: `train_log_probs` (of the trained policy before the step), `rollout_log_probs` (of the policy that
    sampled) and the booleans `valid` (tokens that the model wrote) are all (trajectories, turns, tokens).

    A turn without a valid token, such as padding or a masked turn, is not kept and not counted. A trajectory
    without a valid token has weight NaN. Tokens at `valid` False are not read. NaN, None or infinity at a
    valid token is a ValueError. There are no groups: compute advantages before you reject, or baselines
    change.

    Source: arXiv 2602.05885 (Dr. Kernel), "mismatch rejection sampling"; hkust-nlp/KernelGYM,
    verl_patch/trainer/code/ppo/mismatch_helper.py: compute_rollout_importance_weights_and_rejection_mask. verl's
    `seq_mean_k1` bounds 1 / w instead of w; its `seq_max_k2` is a veto on both sides.
    """
    if over not in ("trajectory", "turn"):
        raise ValueError(f'over must be "trajectory" or "turn", and is {over!r}')
    if veto is not None and veto <= 0:
        raise ValueError(f"veto must be positive, and is {veto}")
    tokens = np.asarray(valid)
    ratios = _log_ratios(train_log_probs, rollout_log_probs, tokens)
    axes = (1, 2) if over == "trajectory" else (2,)
    count = tokens.sum(axis=axes, keepdims=True)
    mean = ratios.sum(axis=axes, keepdims=True) / np.maximum(count, 1)
    weights = np.exp(np.clip(mean, -_LARGEST_LOG, _LARGEST_LOG))
    weights = np.broadcast_to(np.where(count > 0, weights, np.nan)[..., 0], tokens.shape[:2]).copy()
    vetoed = np.zeros(tokens.shape[:2], dtype=bool) if veto is None else (ratios < np.log(veto)).any(axis=2)
    written = tokens.any(axis=2)
    keep = written & (weights >= low) & (weights <= high) & ~vetoed
    return Matched(keep, weights, vetoed, int(np.count_nonzero(written & ~keep)))


def _log_ratios(train_log_probs: npt.ArrayLike, rollout_log_probs: npt.ArrayLike, tokens: Flags) -> Floats:
    """The log-ratio of each valid token, 0 at the others."""
    train, rollout = np.asarray(train_log_probs, dtype=np.float64), np.asarray(rollout_log_probs, dtype=np.float64)
    if tokens.dtype != np.bool_ or tokens.ndim != 3 or not train.shape == rollout.shape == tokens.shape:
        raise ValueError("log-probabilities and the booleans valid must have one shape, (trajectories, turns, tokens), and "
                         f"have {train.shape}, {rollout.shape} and {tokens.shape} of {tokens.dtype}")
    if not (np.isfinite(train[tokens]).all() and np.isfinite(rollout[tokens]).all()):
        raise ValueError("a valid token has a log-probability that is not finite")
    ratios = np.zeros(tokens.shape)
    ratios[tokens] = train[tokens] - rollout[tokens]
    return ratios
