"""Decides which rows an export has, before any row is written."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..._errors import Error
from . import multiturn, preference, rl, sft
from .journal import read_run
from .presets import check_preset
from .rules import Tally, usable
from .settings import Settings
from .similar import Benchmark, Match
from .steps import RunSteps, Step
from .tasks import TaskFacts
from .texts import Reader


SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True)
class Row:
    """One planned row: its steps in the order of turns, or for a pair the better step and the worse one."""

    steps: tuple[Step, ...]
    split: str


@dataclass(frozen=True, slots=True)
class Contaminated:
    """A task that is in the benchmark."""

    task: TaskFacts
    match: Match
    steps: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`rows` are in the order in which they are written."""

    settings: Settings
    runs: list[RunSteps]
    rows: list[Row]
    contaminated: list[Contaminated]
    uncompared: int  # tasks that were compared with no reference of a benchmark; 0 without a benchmark
    tally: Tally
    reader: Reader

    def of(self, split: str) -> list[Row]:
        return [row for row in self.rows if row.split == split]


def plan(folders: Sequence[str | os.PathLike[str]], settings: Settings, read: Callable[[int], None]) -> Plan:
    """Reads all runs. Calls `read` with 1 after each run."""
    reader, tally = Reader(), Tally()
    runs: list[RunSteps] = []
    for folder in folders:
        runs.append(read_run(folder, reader.keep))
        read(1)
    runs.sort(key=lambda run: run.id)
    _check(runs, settings)
    benchmark = Benchmark(settings.against, settings.similar) if settings.against else None
    contaminated = _decontaminate(runs, benchmark, tally)
    bad = {one.task.key for one in contaminated}
    clean = [run for run in runs if run.task.key not in bad]
    for run in clean:
        settings.licence(run.task)
        _check_baseline(run, settings)
        check_preset(settings, run.task)
    steps = usable((step for run in clean for step in run.steps), tally)
    steps.sort(key=lambda step: step.key)
    chosen = _select(steps, settings, tally, reader)
    if not chosen:
        rules = "; ".join(f"{count} {rule}" for rule, count in tally.counts())
        raise Error(f"no step passes the rules of {settings.kind} ({rules})", "bad_input", "the runs",
                    "docs/datasets.md explains the rules")
    chosen.sort(key=lambda row: row[0].key)
    return Plan(settings, runs, [Row(row, _split(row[0].run.task, settings)) for row in chosen], contaminated,
                _uncompared(runs, benchmark), tally, reader)


def _select(steps: list[Step], settings: Settings, tally: Tally, reader: Reader) -> list[tuple[Step, ...]]:
    if settings.kind == "rl":
        return rl.select(steps, settings, tally, reader)
    select = {"sft": sft.select, "multiturn": multiturn.select, "preference": preference.select}[settings.kind]
    return select(steps, settings, tally)


def _check(runs: list[RunSteps], settings: Settings) -> None:
    twice = [run_id for run_id, count in Counter(run.id for run in runs).items() if count > 1]
    if twice:
        folders = ", ".join(run.folder for run in runs if run.id == twice[0])
        raise Error(f"these are one run: {folders}", "invalid_argument", "RUNS", "name each run once")
    found = {verdict.hardware: run.folder for run in reversed(runs) for verdict in run.verdicts.values() if verdict.accepted}
    if len(found) > 1 and not settings.mixed_hardware:
        places = "; ".join(f"{hardware or 'not named'} ({folder})" for hardware, folder in sorted(found.items()))
        raise Error(f"the runs were measured on different hardware: {places}", "bad_input", "RUNS",
                    "export them one by one, or pass --mixed-hardware: the column hardware tells the rows apart")


def _check_baseline(run: RunSteps, settings: Settings) -> None:
    accepted = [verdict for verdict in run.verdicts.values() if verdict.accepted]
    if settings.kind == "sft" and settings.over == "baseline" and accepted and not any(one.speedup for one in accepted):
        raise Error("the task has no baseline", "bad_input", f"task {run.task.name}",
                    "leave --over baseline out: steps are then compared with their parents")


def _uncompared(runs: list[RunSteps], benchmark: Benchmark | None) -> int:
    if benchmark is None:
        return 0
    return len({run.task.key for run in runs if not run.task.reference or not benchmark.compares(run.task.reference)})


def _decontaminate(runs: list[RunSteps], benchmark: Benchmark | None, tally: Tally) -> list[Contaminated]:
    if benchmark is None:
        return []
    found = []
    for run in runs:
        match = benchmark.match(run.task.reference) if run.task.reference else None
        if match is not None:
            found.append(Contaminated(run.task, match, len(run.steps)))
            for step in run.steps:
                tally.drop(step, "task of the benchmark")
    return found


def _split(task: TaskFacts, settings: Settings) -> str:
    """The task's split, by a hash of the task alone, so that it does not change when runs are added."""
    number = int.from_bytes(hashlib.sha256(f"split {task.key}".encode()).digest()[:8], "big")
    return "test" if number < settings.test_share * 2**64 else "train"
