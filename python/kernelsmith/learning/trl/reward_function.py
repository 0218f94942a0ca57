"""A reward function for TRL that uses the service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ..judge import Judge, Judged

# Arguments of a trainer besides a row's columns.
EXTRA = ("trainer_state", "log_extra", "log_metric", "environments", "completion_ids")


def reward_function(judge: Judge, name: str = "kernelsmith") -> Callable[..., Awaitable[list[float | None]]]:
    """For `reward_funcs` of GRPOTrainer and RLOOTrainer: one score for each completion, or None (`Judged.score`).

    A completion is a text, or messages, of which the last one counts. The columns of the data set are the
    judge's row. TRL leaves a None out of the group's mean and std, and gives that sample the advantage 0. The
    share of a batch without a score is logged as `NAME/unscored`; the reasons are in the column `NAME/reason`
    of the logged completions.
    """

    async def scores(prompts: Sequence[Any], completions: Sequence[Any],
                     log_metric: Callable[[str, float], None] | None = None,
                     log_extra: Callable[[str, list[Any]], None] | None = None, **columns: Any) -> list[float | None]:
        rows = [{key: values[index] for key, values in columns.items() if key not in EXTRA} for index in range(len(prompts))]
        judged = await asyncio.gather(*(judge(reply_of(completion), row)
                                        for completion, row in zip(completions, rows, strict=True)))
        if log_metric is not None:
            log_metric(f"{name}/unscored", unscored_share(judged))
        if log_extra is not None:
            log_extra(f"{name}/reason", [one.why or one.reward.rejection or "" for one in judged])
        return [one.score for one in judged]

    scores.__name__ = name
    return scores


def reply_of(completion: Any) -> str:
    """The model's text. The content of a message may be None, or a list of parts."""
    content = completion if isinstance(completion, str) else completion[-1].get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content)
    return content or ""


def unscored_share(judged: Sequence[Judged]) -> float:
    """The share of replies without a score, from 0 to 1."""
    return sum(one.score is None for one in judged) / max(len(judged), 1)
