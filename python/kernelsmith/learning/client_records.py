"""Arguments and results of a RewardClient."""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_ID = 80  # the service takes 100 characters; a repeated request has a number after its id


def is_unicode(text: str) -> bool:
    """Whether the text has no surrogate (half a character)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Candidate:
    """A program to be evaluated.

    kernel_code     the candidate's text
    reference_code  the KernelBench problem that it solves; None if the service has a task for it
    task            the name of a task with which the service was started (`--task`); None if it has only one
    fields          further fields of the request, as docs/service.md lists them: `entry_point`, `timeout` (seconds), ...
    repeat          another number asks for another evaluation of the same content
    id              the service's name for the request. By default it is derived from all of the above, so
                    that a repeated call asks for the same evaluation. Your own id has at most 80 characters
                    and must name only this content

    Raises TypeError or ValueError for values that no request can hold. Do not change its attributes.

    >>> Candidate("y = x") == Candidate("y = x"), Candidate("y = x").id == Candidate("y = x", repeat=1).id
    (True, False)
    """

    kernel_code: str
    reference_code: str | None = None
    task: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    repeat: int = 0
    id: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.kernel_code, str):
            raise TypeError(f"kernel_code: a str is expected, not {type(self.kernel_code).__name__}")
        if self.task is not None and self.reference_code is not None:
            raise ValueError("task, reference_code: a candidate has one of them")
        if taken := self.fields.keys() & {"task_id", "kernel_code", "reference_code", "workflow"}:
            raise ValueError(f"fields: {sorted(taken)[0]} is set by the client")
        if len(self.id) > LONGEST_ID:
            raise ValueError(f"id: at most {LONGEST_ID} characters are expected")
        if not is_unicode(self.id):
            raise ValueError("id: it holds half a character (a surrogate)")
        object.__setattr__(self, "fields", dict(self.fields))
        content = json.dumps([self.content(), self.repeat], sort_keys=True, allow_nan=False)
        if not self.id:
            object.__setattr__(self, "id", "ks-" + hashlib.sha256(content.encode()).hexdigest()[:40])

    def content(self) -> dict[str, Any]:
        """The request's fields, except its id."""
        content = {**self.fields, "kernel_code": self.kernel_code}
        if self.reference_code is not None:
            content["reference_code"] = self.reference_code
        if self.task is not None:
            content["workflow"] = f"task:{self.task}"
        return content


@dataclass(frozen=True, slots=True)
class Reward:
    """The result for one candidate. Immutable.

    id         the candidate's
    score      `speedup` of a candidate that is right and not a decoy, 0.0 of any other. None if there is no
               verdict because the machine, the network or the request failed, which says nothing about the
               candidate
    reason     why there is no score, a code of docs/errors.md such as "network"; None if there is a score
    message    the service's words about a rejection or a failure
    correct    whether the candidate was accepted; None without a score
    speedup    over the baseline (1.0 is as fast), or the fitness if the task has no baseline; None if the
               candidate was rejected
    speedup_low  the low end of the 95 % interval of `speedup`; None if it is not known
    own_share  share of a call's GPU time in the candidate's own kernels, 0 to 1; None if it is not known
    decoy      whether it is right without a kernel of its own, or tried to look faster than it is; None without a score
    rejection  why it was rejected, a code of docs/errors.md such as "wrong_output"; None if it was not
               rejected
    binary     digest of the plan or binary, equal for copies; None if the backend has none
    attempts   how often it was requested: 1, and 1 more for each failure before the result
    answer     the service's answer as JSON; empty without a score
    advice     the service's words about what limits the speed; often empty
    over_baseline  whether `speedup` is over a baseline; False if it is the fitness of a task without one; None if unknown
    """

    id: str
    score: float | None
    reason: str | None = None
    message: str = ""
    correct: bool | None = None
    speedup: float | None = None
    own_share: float | None = None
    decoy: bool | None = None
    rejection: str | None = None
    attempts: int = 1
    answer: str = field(default="", repr=False)
    over_baseline: bool | None = None
    binary: str | None = None
    speedup_low: float | None = None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class RewardBatch:
    """The rewards of a batch in its candidates' order, a sequence of Reward. Immutable.

    `str()` of a batch says how many candidates have no score, and why.
    """

    rewards: tuple[Reward, ...]

    @property
    def scores(self) -> tuple[float | None, ...]:
        """The score of each candidate; None stands for no score, never for 0."""
        return tuple(reward.score for reward in self.rewards)

    @property
    def unscored(self) -> int:
        """How many candidates have no score."""
        return self.scores.count(None)

    @property
    def reasons(self) -> dict[str, int]:
        """How many candidates have no score, by reason, the most frequent reason first."""
        return dict(collections.Counter(r.reason for r in self.rewards if r.reason is not None).most_common())

    def __len__(self) -> int:
        return len(self.rewards)

    def __iter__(self) -> Iterator[Reward]:
        return iter(self.rewards)

    def __getitem__(self, index: int) -> Reward:
        return self.rewards[index]

    def __str__(self) -> str:
        why = ", ".join(f"{reason} {count}" for reason, count in self.reasons.items())
        return f"{len(self)} candidates, {self.unscored} without a score" + (f": {why}" if why else "")
