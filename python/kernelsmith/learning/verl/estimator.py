"""TRLOO as an advantage estimator of verl, `algorithm.adv_estimator=ks_trloo`.

verl imports this module from the entry point in the group `verl.plugins`. If the package is on the path but
not installed, set VERL_USE_EXTERNAL_MODULES to this module's name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..advantages import trloo

try:
    import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from verl.trainer.ppo.core_algos import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        register_adv_est,
    )
except ImportError as missing:
    raise ImportError(f"kernelsmith.learning.verl.estimator needs verl 0.9.1 ({missing}): "
                      "pip install verl==0.9.1") from missing


@register_adv_est("ks_trloo")  # type: ignore[misc,untyped-decorator,unused-ignore]
def trloo_estimator(token_level_rewards: Any, response_mask: Any, index: Any = None, config: Any = None,
                    **_: Any) -> tuple[Any, Any]:
    """Applies `kernelsmith.learning.trloo` to verl's batch: gives advantages and returns, one value for all
    tokens of a turn.

    A run of ones in `response_mask` is a turn, and its reward is the sum over its tokens. NaN means no
    reward: the turn and those before it get 0, and are in no baseline. `index` has the prompt of each row. A
    row that is masked as a whole has no turns, so rows that rollout correction rejects before the advantage
    are in no baseline, either.
    """
    rewards, mask = token_level_rewards.double().cpu().numpy(), response_mask.bool().cpu().numpy()
    turns = [turns_of(row) for row in mask]
    scores = [[_score(row[begin:end]) for begin, end in spans] for row, spans in zip(rewards, turns, strict=True)]
    gamma = 1.0 if config is None else float(config.get("gamma", 1.0))
    found = trloo(scores, None if index is None else list(index), gamma=gamma)
    advantages = np.zeros(mask.shape)
    for row, spans, of_turns in zip(advantages, turns, found.values, strict=True):
        for (begin, end), value in zip(spans, of_turns, strict=False):
            row[begin:end] = value
    result = torch.as_tensor(advantages, dtype=torch.float32, device=token_level_rewards.device)
    return result, result.clone()


def turns_of(mask: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """The places where runs of True begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def _score(tokens: np.ndarray[Any, Any]) -> float | None:
    total = float(tokens.sum())
    return None if math.isnan(total) else total
