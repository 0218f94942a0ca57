"""Advantage estimators of verl: TRLOO as `algorithm.adv_estimator=ks_trloo`, and GRPO as `ks_grpo`.

verl imports this module from the entry point in the group `verl.plugins`. If the package is on the path but
not installed, set VERL_USE_EXTERNAL_MODULES to this module's name.

Both tell what counts from what is trained. `response_mask` says which tokens are trained. Rewards say where
turns end, so a turn that was rejected, here or by verl's rollout correction, stays in the baselines. A
conversation without a verdict has neither, and is in no baseline.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..advantages import grpo, trloo
from .versions import require_supported

require_supported(__name__)
import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: E402
from verl.trainer.ppo.core_algos import (  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: E402
    register_adv_est,
)

# A reward of 0 at the end of a turn. It equals 0, and its sign marks the place, even if the turn's tokens are masked.
NO_REWARD = -0.0


@register_adv_est("ks_trloo")  # type: ignore[misc,untyped-decorator,unused-ignore]
def trloo_estimator(token_level_rewards: Any, response_mask: Any, index: Any = None, config: Any = None,
                    **_: Any) -> tuple[Any, Any]:
    """Applies `kernelsmith.learning.trloo` to verl's batch: gives advantages and returns, one value for all
    trained tokens of a turn.

    A turn ends at a token with a reward, also at NO_REWARD; KernelTurns writes one for each turn. Trained tokens
    after the last reward are one turn more, so a reply whose reward is 0 needs no mark. NaN means no reward:
    the turn and those before it get 0, and are in no baseline. `index` has the prompt of each row. If only one
    conversation of a prompt is left, it has no baseline and gets 0.
    """
    rewards, mask, labels = _read(token_level_rewards, response_mask, index, config)
    turns = [turns_of(*row) for row in zip(rewards, mask, strict=True)]
    scores = [[_score(row[begin:end]) for begin, end in spans] for row, spans in zip(rewards, turns, strict=True)]
    gamma = 1.0 if config is None else float(config.get("gamma", 1.0))
    found = trloo(scores, labels, gamma=gamma)
    left = [label for label, spans in zip(labels, turns, strict=True) if spans]
    advantages = np.zeros(mask.shape)
    for row, label, spans, of_turns in zip(advantages, labels, turns, found.values, strict=True):
        for (begin, end), value in zip(spans, of_turns, strict=False):
            row[begin:end] = value if left.count(label) > 1 else 0.0
    return _written(advantages, mask, token_level_rewards)


@register_adv_est("ks_grpo")  # type: ignore[misc,untyped-decorator,unused-ignore]
def grpo_estimator(token_level_rewards: Any, response_mask: Any, index: Any = None, config: Any = None,
                   **_: Any) -> tuple[Any, Any]:
    """Applies `kernelsmith.learning.grpo` to the rows' total rewards.

    Unlike verl's `grpo` it leaves out a row without a reward (NaN, or no turn), and the only row of a prompt
    gets 0. `algorithm.norm_adv_by_std_in_grpo` decides whether to divide by the standard deviation.
    """
    rewards, mask, labels = _read(token_level_rewards, response_mask, index, config)
    scores = [_score(row) if turns_of(row, trained) else None for row, trained in zip(rewards, mask, strict=True)]
    by_std = True if config is None else bool(config.get("norm_adv_by_std_in_grpo", True))
    found = grpo(scores, labels, divide_by_std=by_std).values
    return _written(np.broadcast_to(found[:, None], mask.shape), mask, token_level_rewards)


def turns_of(rewards: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """The places where a row's turns begin and end, each with the feedback before it."""
    ends = (np.flatnonzero((rewards != 0) | np.signbit(rewards)) + 1).tolist()
    trained = np.flatnonzero(mask)
    if len(trained) and trained[-1] >= (ends[-1] if ends else 0):
        ends.append(int(trained[-1]) + 1)
    return list(zip([0, *ends], ends, strict=False))


def _read(token_level_rewards: Any, response_mask: Any, index: Any, config: Any) -> tuple[Any, Any, list[Any]]:
    if config is not None and config.get("use_kl_in_reward", False):
        raise ValueError("algorithm.use_kl_in_reward: the estimators of kernelsmith read where turns end from the rewards, "
                         "so these can hold no KL term; set actor_rollout_ref.actor.use_kl_loss instead")
    rewards, mask = token_level_rewards.double().cpu().numpy(), response_mask.bool().cpu().numpy()
    return rewards, mask, [None] * len(mask) if index is None else list(index)


def _score(tokens: np.ndarray[Any, Any]) -> float | None:
    total = float(tokens.sum())
    return None if math.isnan(total) else total


def _written(advantages: np.ndarray[Any, Any], mask: np.ndarray[Any, Any], like: Any) -> tuple[Any, Any]:
    result = torch.as_tensor(np.where(mask, advantages, 0.0), dtype=torch.float32, device=like.device)
    return result, result.clone()
