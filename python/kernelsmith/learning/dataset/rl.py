"""Rows for reinforcement learning: the best steps, none of which gives another one's answer away."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

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
        elif found.figure is None:
            tally.drop(step, "no ratio: a fitness that is not positive")
        else:
            groups[step.run.task.key, _hardware(step)].append((found.figure.low, step))
    chosen = [step for group in groups.values() for step in _best(group, settings.per_task, tally, reader)]
    return [(step,) for step in (_balanced(chosen, tally) if settings.balance else chosen)]


def _hardware(step: Step) -> str:
    return step.verdict.hardware if step.verdict else ""


def _best(group: list[tuple[float, Step]], most: int, tally: Tally, reader: Reader) -> list[Step]:
    chosen: list[_Open] = []
    for _, step in sorted(group, key=lambda item: (-item[0], item[1].key)):
        if len(chosen) == most:
            tally.drop(step, f"behind the {most} best of its task")
            continue
        opened = _Open(step, reader)
        if any(opened.shows(other) or other.shows(opened) for other in chosen):
            tally.drop(step, "leak: a selected prompt would show a selected child")
        else:
            chosen.append(opened)
    return [one.step for one in chosen]


class _Open:
    """A step with what its prompt shows."""

    def __init__(self, step: Step, reader: Reader) -> None:
        self.step = step
        self._digest = step.run.codes[step.ticket]
        self._shown = {step.run.codes[program] for program in step.run.ancestors((step.ticket, *step.shown))}
        self._reader = reader

    @cached_property
    def _code(self) -> str:
        return self._reader.code(self.step.run, self.step.ticket).strip()

    @cached_property
    def _prompt(self) -> str:
        reply = self._reader.reply(self.step)
        return f"{reply.get('system', '')}\n{reply['user']}"

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(self._prompt.split("\n"))

    @cached_property
    def _line(self) -> str | None:
        """A whole line of the code, which a prompt with the code has too: looked up before texts are searched."""
        return max(self._code.split("\n")[1:-1], key=len, default=None)

    def shows(self, other: _Open) -> bool:
        """Whether the other's child, or a descendant of it, stands in the prompt, by lineage or word for word. The own child
        counts as shown: two steps that made one program give each other away."""
        if other._digest in self._shown:
            return True
        return (other._line is None or other._line in self._lines) and other._code in self._prompt


def _balanced(steps: list[Step], tally: Tally) -> list[Step]:
    """As many of each level of difficulty as of the rarest one here, drawn by a hash and not by gain. Steps of tasks without
    a level stay."""
    levels: dict[int, list[Step]] = defaultdict(list)
    kept: list[Step] = []
    for step in steps:
        level = step.run.task.difficulty.level
        (kept if level is None else levels[level]).append(step)
    most = min(map(len, levels.values()), default=0)
    for members in levels.values():
        drawn = sorted(members, key=lambda step: hashlib.sha256(f"{step.run.id} {step.ticket}".encode()).digest())
        kept += drawn[:most]
        for step in drawn[most:]:
            tally.drop(step, "over the balance of difficulty")
    return kept
