"""A custom_reward_function for verl that uses the service."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .rows import judge_of, no_reward, row_of


async def compute_score(data_source: str, solution_str: str, ground_truth: Any,
                        extra_info: Mapping[str, Any] | None = None, *, url: str | None = None, score: str = "kernel-smith",
                        by: str = "reference", timeout: int | None = None, patience_s: float = 3600.0,
                        unscored: str = "raise", **_: Any) -> dict[str, Any]:
    """The reward of one reply, for `reward.custom_reward_function`; the options are its `reward_kwargs`.

    url, patience_s  those of RewardClient; the default of url is $KERNELGYM_SERVER_URL
    score, by        those of Judge; score is a name
    timeout          seconds that the service may evaluate a candidate
    unscored         the result for a reply without a score: the machine failed, or the verdict has no
                     speedup. verl has no value for that. "raise": raises kernelsmith.Error, and verl's batch
                     lacks the sample; docs/learning.md, "Failures in verl", says what becomes of the others.
                     "nan": returns NaN, which only the estimators ks_trloo and ks_grpo leave out; any other
                     makes the whole group NaN

    The result also has `own_share`, the profiling ratio, NaN if it is unknown. verl only logs it: let
    KernelTurns, with one turn, reject samples by it.

    Use it with the reward managers `naive` or `dapo`: the manager `rate_limited` turns an exception, or its
    own timeout, into a 0.
    """
    if unscored not in ("raise", "nan"):
        raise ValueError(f'unscored: "raise" or "nan" is expected, not {unscored!r}')
    judged = await judge_of(url, score, by, timeout, patience_s)(solution_str, row_of(ground_truth, extra_info))
    reward = judged.reward
    if judged.score is None and unscored == "raise":
        raise no_reward(judged)
    return {"score": math.nan if judged.score is None else judged.score, "acc": float(bool(reward.correct)),
            "own_share": math.nan if reward.own_share is None else reward.own_share,
            "unscored": float(judged.score is None), "rejection": reward.rejection or ""}
