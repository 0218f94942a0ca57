"""Rows for reinforcement learning: the best steps from programs that are already fast. No step's prompt reveals another
step's answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from .balance import balanced
from .rules import Tally, improvement, unsound
from .settings import Settings
from .steps import Step
from .texts import Reader


def select(steps: Sequence[Step], settings: Settings, tally: Tally, reader: Reader) -> list[tuple[Step, ...]]:
    """For each task and hardware at most `per_task` steps, those whose gain over the parent has the highest
    low end. Without a bar for the parent these are steps from the slowest parents."""
    gained: list[tuple[float, Step]] = []
    for step in steps:
        rule = unsound(step) or ("translation" if step.run.base(step) is None else "")
        found = rule or improvement(step)
        if isinstance(found, str):
            tally.drop(step, found)
        elif found.figure is None:
            tally.drop(step, "no ratio: a fitness that is not positive")
        elif rule := "" if settings.steps == "initial" else _slow_parent(step, settings.parent_speedup):
            tally.drop(step, rule)
        else:
            gained.append((found.figure.low, step))
    chosen = _best(gained, settings.per_task, tally, _Shown(steps, reader))
    return [(step,) for step in (balanced(chosen, tally) if settings.balance else chosen)]


def _slow_parent(step: Step, least: float) -> str:
    """The rule that drops a step whose parent is not accelerated; empty if no rule drops it."""
    base = step.run.base(step)
    assert base is not None
    found = step.run.acceleration(base)
    if found is None:
        return "its parent's speedup is unknown"
    return "" if found.low >= least else f"its parent's speedup is not surely {least:g} or more"


def _group(step: Step) -> tuple[str, str]:
    return step.run.task.key, step.verdict.hardware if step.verdict else ""


def _best(gained: list[tuple[float, Step]], most: int, tally: Tally, shown: _Shown) -> list[Step]:
    """Chooses at most `most` steps of each group. Leaks are checked between all rows, because runs of other
    tasks and hardware may start from a run's result. Goes from the largest gain of all groups to the smallest,
    so that the weaker one of two rows that exclude each other is dropped."""
    ranked = [step for _, step in sorted(gained, key=lambda item: (-item[0], item[1].key))]
    read = _read(ranked, most, shown)
    chosen: list[_Open] = []
    count: Counter[tuple[str, str]] = Counter()
    for step in ranked:
        if count[_group(step)] == most:
            tally.drop(step, f"behind the {most} best of its task")
            continue
        opened = read.get(step.key) or _Open(step, shown)
        if any(opened.shows(other) or other.shows(opened) for other in chosen):
            tally.drop(step, "leak: a selected prompt would show a selected child")
        else:
            chosen.append(opened)
            count[_group(step)] += 1
    return [one.step for one in chosen]


def _read(ranked: list[Step], most: int, shown: _Shown) -> dict[tuple[str, int], _Open]:
    """The first `most` steps of each group, which are the rows if nothing leaks. Reads them group by group, so that a
    run is opened once."""
    groups: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in ranked:
        groups[_group(step)].append(step)
    first = [step for steps in groups.values() for step in sorted(steps[:most], key=lambda step: step.key)]
    return {step.key: _Open(step, shown).read() for step in first}


class _Shown:
    """Finds the programs in prompts. Programs are identified by the digests of their texts, so that lineages
    continue across runs."""

    def __init__(self, steps: Sequence[Step], reader: Reader) -> None:
        self.reader = reader
        self._parents: dict[str, set[str]] = defaultdict(set)
        for run in {step.run.id: step.run for step in steps}.values():
            for program, parents in run.parents.items():
                self._parents[run.codes[program]].update(run.codes[parent] for parent in parents)

    def by(self, step: Step) -> set[str]:
        """The programs that a step's prompt shows, with their ancestors. The step's own child counts as
        shown, because two steps that made the same program reveal each other."""
        found: set[str] = set()
        waiting = [step.run.codes[program] for program in (step.ticket, *step.shown)]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting.extend(self._parents[at])
        return found


class _Open:
    """A step with the programs in its prompt."""

    def __init__(self, step: Step, shown: _Shown) -> None:
        self.step = step
        self._digest = step.run.codes[step.ticket]
        self._shown = shown.by(step)
        self._reader = shown.reader

    def read(self) -> _Open:
        """Reads the texts now."""
        _ = self._code, self._prompt
        return self

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
        """The longest inner line of the code. A prompt with the code has this line too, and looking it up is
        cheap."""
        return max(self._code.split("\n")[1:-1], key=len, default=None)

    def shows(self, other: _Open) -> bool:
        """Whether the prompt contains the other's child or a descendant, by lineage or literally."""
        if other._digest in self._shown:
            return True
        return (other._line is None or other._line in self._lines) and other._code in self._prompt
