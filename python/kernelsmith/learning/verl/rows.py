"""Converts verl's rows for the judge, and keeps one judge for each set of settings."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from ..._errors import Error
from ..client import RewardClient
from ..judge import Judge, Judged, Row

URL_VARIABLE = "KERNELGYM_SERVER_URL"  # trainers written for KernelGYM read it, too


def row_of(ground_truth: Any, extra_info: Mapping[str, Any] | None) -> Row:
    """The row, from `reward_model.ground_truth` and `extra_info`. ground_truth is JSON with `reference_code`,
    or the code itself."""
    found = dict(extra_info or {})
    if isinstance(ground_truth, str) and ground_truth:
        try:
            truth = json.loads(ground_truth)
        except ValueError:
            truth = ground_truth
        found.update(truth if isinstance(truth, dict) else {"reference_code": ground_truth})
    return found


def judge_of(url: str | None, score: str, by: str, timeout: int | None, patience_s: float) -> Judge:
    """The judge for these settings, which are strings and numbers of a configuration."""
    where = url or os.environ.get(URL_VARIABLE)
    if not where:
        raise ValueError(f"no service is named: give url, or set {URL_VARIABLE}")
    return _judge(where, score, by, timeout, patience_s)


def no_reward(judged: Judged) -> Error:
    """What is raised for a reply without a score."""
    return Error(f"no reward for a reply: {judged.reward.message or judged.why}", judged.reward.reason or "bad_reply",
                 hint='docs/learning.md, "Failures in verl", says what verl does with the other samples of the prompt')


@functools.cache
def _judge(url: str, score: str, by: str, timeout: int | None, patience_s: float) -> Judge:
    client = RewardClient(url, patience_s=patience_s)
    return Judge(client, score=score, by=by, fields={} if timeout is None else {"timeout": timeout})
