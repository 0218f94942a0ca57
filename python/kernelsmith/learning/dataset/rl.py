"""Rows for reinforcement learning: the best steps, none of which gives another one's answer away."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from .rules import Tally, improvement, unsound
from .settings import Settings
from .steps import Step
from .texts import Reader


def select(steps: Sequence[Step], settings: Settings, tally: Tally, reader: Reader) -> list[tuple[Step, ...]]:
    """At most `per_task` steps of a task on one hardware, by the low end of their gain over the parent."""
    groups: dict[tuple[str, str], list[tuple[float, Step]]] = defaultdict(list)
    for step in steps:
        rule = unsound(step) or ("translation" if step.run.base(step) is None else "")
        found = rule or improvement(step)
        if isinstance(found, str):
            tally.drop(step, found)
        else:
            groups[step.run.task.key, _hardware(step)].append((found.figure.low, step))
    chosen = [step for group in groups.values() for step in _best(group, settings.per_task, tally, reader)]
    return [(step,) for step in (_balanced(chosen, tally) if settings.balance else chosen)]


def _hardware(step: Step) -> str:
    return step.verdict.hardware if step.verdict else ""


def _best(group: list[tuple[float, Step]], most: int, tally: Tally, reader: Reader) -> list[Step]:
    chosen: list[Step] = []
    for _, step in sorted(group, key=lambda item: (-item[0], item[1].key)):
        if len(chosen) == most:
            tally.drop(step, f"behind the {most} best of its task")
        elif any(_leaks(step, other, reader) for other in chosen):
            tally.drop(step, "leak: a selected prompt would show a selected child")
        else:
            chosen.append(step)
    return chosen


def _leaks(one: Step, other: Step, reader: Reader) -> bool:
    """Whether one's prompt shows the other's child or a descendant of it, by lineage or word for word; or both made the
    same program."""
    if one.run.codes[one.ticket] == other.run.codes[other.ticket]:
        return True
    return any(_shows(by, of, reader) for by, of in ((one, other), (other, one)))


def _shows(by: Step, of: Step, reader: Reader) -> bool:
    codes = {by.run.codes[program] for program in by.run.ancestors(by.shown)}
    if of.run.codes[of.ticket] in codes:
        return True
    reply = reader.reply(by)
    return reader.code(of.run, of.ticket).strip() in reply.get("system", "") + reply["user"]


def _balanced(steps: list[Step], tally: Tally) -> list[Step]:
    """As many of each level of difficulty as of the rarest one here, drawn by a hash and not by gain."""
    levels: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        levels[step.run.task.difficulty.level].append(step)
    most = min(map(len, levels.values()), default=0)
    kept = []
    for level in levels.values():
        drawn = sorted(level, key=lambda step: hashlib.sha256(f"{step.run.id} {step.ticket}".encode()).digest())
        kept += drawn[:most]
        for step in drawn[most:]:
            tally.drop(step, "over the balance of difficulty")
    return kept
