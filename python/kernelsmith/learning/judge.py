"""Scores a model's reply: extracts the program, evaluates it with the service, and computes one of the
papers' rewards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .. import _core
from .client import RewardClient
from .client_records import Candidate, Reward
from .copies import differs_in_numbers, is_copy
from .form import Form, asked_form
from .rewards import dr_kernel_reward, kernel_smith_reward
from .scores import Scored

Row: TypeAlias = Mapping[str, Any]
Score: TypeAlias = Callable[[Reward, Row], float | None]
Extract: TypeAlias = Callable[[str, Row], "str | _core.Refusal"]


def program_in(reply: str, row: Row) -> str | _core.Refusal:
    """The program that a reply describes, as a whole or by SEARCH/REPLACE edits of the row's `parent_code`.

    >>> program_in("Faster:\\n```\\nk = 2\\n```", {"parent_code": "k = 1\\n"})
    'k = 2\\n'
    """
    name = "candidate.py" if row.get("reference_code") else "candidate.txt"
    child = _core.extract(reply, {name: row.get("parent_code") or ""}, False)
    return child if isinstance(child, _core.Refusal) else child.text


@dataclass(frozen=True)
class Judged:
    """The score of a reply. `program` is the text that was evaluated, None if the reply holds no program.

    `score` is None if there is no verdict, or if the verdict has no score of this kind. `why` is then the
    reason: `reward.reason`, "not_a_speedup", or "no_score" if your own function returned None. `asked` is the
    form for which the row's `prompt` asks: "edits", "program", or None if it is unknown.
    """

    score: float | None
    reward: Reward
    program: str | None
    why: str = ""
    asked: Form | None = None


@dataclass(frozen=True)
class Judge:
    """Scores replies to the prompts of a data set. Immutable; may be shared by threads and event loops.

    client   the client for the service
    score    "kernel-smith": the speedup over the parent; "dr-kernel": correctness, speedup and profiling ratio;
             "speedup": the speedup over the baseline; or a function of the row and a Reward that has a verdict,
             called as score(reward, row)
    by       "reference": a row has a KernelBench problem in `reference_code`. A row without one is for the
             service's only task. "task": the row's `task` names one of the tasks with which the service was
             started
    fields   further fields of each request, such as {"timeout": 120}
    extract  finds the program in a reply; `program_in`, or a function of the reply and the row that returns a
             text or a kernelsmith.Refusal

    A row has `reference_code`, `parent_code`, `parent_speedup`, `parent_binary`, `entry_point` and `prompt`, each of
    which may be missing or None. Without a parent the "kernel-smith" score is the speedup over the baseline, because
    the program was written from the reference. A task without a baseline has a fitness instead of a speedup.
    If the child's or the parent's fitness is not a positive number, there is no ratio and the score is None:
    use "speedup" or a function for such a task. A Judge does not know the service's tasks, so it cannot
    refuse such a task in advance.

    A reply without a program scores 0.0 without a request, and so does a copy of its parent (copies.py): there is
    nothing to evaluate, and `reward.rejection` is the refusal's code of docs/errors.md. A program that has the
    parent's plan or binary is such a copy, too, but is found only by its evaluation. The same holds for a program that
    differs from its parent in numbers alone, and is not faster beyond noise.
    """

    client: RewardClient
    score: str | Score = "kernel-smith"
    by: str = "reference"
    fields: Mapping[str, Any] = field(default_factory=dict)
    extract: Extract = program_in

    def __post_init__(self) -> None:
        if not callable(self.score) and self.score not in SCORES:
            raise ValueError(f"score: one of {', '.join(SCORES)} or a function is expected, not {self.score!r}")
        if self.by not in ("reference", "task"):
            raise ValueError(f'by: "reference" or "task" is expected, not {self.by!r}')

    async def __call__(self, reply: str, row: Row) -> Judged:
        """The score of a reply to the row's prompt. Raises the errors of RewardClient.reward."""
        program = self.extract(reply, row)
        if isinstance(program, _core.Refusal):
            return self._refused(program.code, program.detail, row)
        parent = row.get("parent_code")
        if parent and is_copy(program, parent):
            return self._refused("unchanged", "the reply gives the parent, with other comments, layout or names", row)
        reward = await self.client.reward(self._candidate(program, row))
        if reward.correct and reward.binary and reward.binary == row.get("parent_binary"):
            return self._refused("unchanged", "the program is compiled to what the parent is compiled to", row, program)
        if parent and not _gains(reward, row) and differs_in_numbers(program, parent):
            return self._refused("unchanged", "the reply changes numbers of the parent, and is no faster", row, program)
        return self._judged(reward, row, program)

    def _refused(self, code: str, detail: str, row: Row, program: str | None = None) -> Judged:
        return self._judged(Reward("", 0.0, message=detail, correct=False, decoy=False, rejection=code), row, program)

    def _candidate(self, program: str, row: Row) -> Candidate:
        if self.by == "task":
            return Candidate(program, task=row["task"], fields=self.fields)
        if not row.get("reference_code"):
            return Candidate(program, fields=self.fields)
        entry = {"entry_point": row["entry_point"]} if row.get("entry_point") else {}
        return Candidate(program, reference_code=row["reference_code"], fields={**self.fields, **entry})

    def _judged(self, reward: Reward, row: Row, program: str | None) -> Judged:
        asked = asked_form(row.get("prompt"))
        if reward.score is None:
            return Judged(None, reward, program, reward.reason or "", asked)
        score = self.score(reward, row) if callable(self.score) else SCORES[self.score](reward, row)
        why = "no_score" if callable(self.score) else "not_a_speedup"
        return Judged(score, reward, program, why if score is None else "", asked)


def _kernel_smith(reward: Reward, row: Row) -> float | None:
    if not _right(reward):
        return 0.0
    parent = 1.0 if row.get("parent_speedup") is None else row["parent_speedup"]
    if not (_is_positive(reward.speedup) and _is_positive(parent)):
        return None
    return _one(kernel_smith_reward([True], [reward.speedup], [parent]))


def _gains(reward: Reward, row: Row) -> bool:
    """Whether the child is faster than its parent beyond noise, as far as that is known."""
    slowest, parent = reward.speedup_low, row.get("parent_speedup")
    return not reward.correct or slowest is None or parent is None or slowest > parent


def _is_positive(speedup: Any) -> bool:
    return isinstance(speedup, (int, float)) and math.isfinite(speedup) and speedup > 0


def _dr_kernel(reward: Reward, row: Row) -> float | None:
    """If the backend gives no ratio, there is no bonus."""
    return _one(dr_kernel_reward([_right(reward)], [reward.speedup], [reward.own_share or 0.0]))


def _right(reward: Reward) -> bool:
    return bool(reward.correct and not reward.decoy)


def _one(scored: Scored) -> float | None:
    value: float | None = scored.tolist()[0]
    return value


SCORES: dict[str, Score] = {
    "kernel-smith": _kernel_smith, "dr-kernel": _dr_kernel, "speedup": lambda reward, row: reward.score,
}
