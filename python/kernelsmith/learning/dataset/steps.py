"""The data from which a data set is made: steps of searches, verdicts of programs, and gains of children over
their parents."""

from __future__ import annotations

from dataclasses import dataclass, field

from .figures import Figure
from .tasks import TaskFacts


@dataclass(frozen=True, slots=True)
class Verdict:
    """The last evaluation of a program."""

    accepted: bool
    why: str = ""  # of a rejection, "stage: code"
    dishonest: str = ""  # the feature that shows dishonesty; empty if there is none
    score: Figure | None = None  # by which programs of one run are compared
    score_of: str = ""  # "yardstick" or "fitness"
    speedup: Figure | None = None  # over the baseline
    own_share: float | None = None
    hardware: str = ""
    toolchain: str = ""
    binary: str = ""  # digest of the plan or binary; empty if the backend has none

    @property
    def sound(self) -> bool:
        return self.accepted and not self.dishonest


@dataclass(frozen=True, slots=True)
class Texts:
    """A kept reply without its texts."""

    system: str  # digests
    user: str
    cut: bool
    readable: bool
    model: str
    finish_reason: str | None
    form_followed: bool | None = None  # whether the reply has the form for which its prompt asks; None if unknown


@dataclass(frozen=True, slots=True)
class Step:
    """A ticket of a proposer: its prompt, and its child."""

    run: RunSteps = field(repr=False)
    ticket: int
    operator: str
    model: str
    parent: int | None
    shown: tuple[int, ...]  # every program whose text may be in the prompt
    outcome: str  # "evaluated", "repeat", "refused" or "given back"
    texts: Texts | None

    @property
    def verdict(self) -> Verdict | None:
        """The child's verdict. A new program has the number of its ticket."""
        return self.run.verdicts.get(self.ticket) if self.outcome == "evaluated" else None

    @property
    def key(self) -> tuple[str, int]:
        """The sorting key of steps, independent of the names of runs."""
        return self.run.id, self.ticket


@dataclass(slots=True)
class RunSteps:
    """A run without its texts."""

    id: str
    folder: str
    task: TaskFacts
    version: str  # the version of kernelsmith that last continued the run
    events: int  # the number of events in its journal
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    parents: dict[int, tuple[int, ...]] = field(default_factory=dict)
    origins: dict[int, str] = field(default_factory=dict)
    codes: dict[int, str] = field(default_factory=dict)  # digests of sources
    told: dict[int, str] = field(default_factory=dict)  # a program's first evaluation as JSON, as a turn tells it
    duels: dict[tuple[int, int], Figure] = field(default_factory=dict)  # challenger, incumbent
    steps: list[Step] = field(default_factory=list)

    def base(self, step: Step) -> int | None:
        """The accepted program from which the step started: its parent, or the nearest accepted ancestor of a
        rejected parent. None for a translation, which started from no accepted program."""
        at = step.parent
        while at is not None:
            verdict = self.verdicts.get(at)
            if verdict is not None and verdict.accepted:
                return at
            at = next(iter(self.parents.get(at, ())), None)
        return None

    def acceleration(self, program: int) -> Figure | None:
        """An accepted program's speedup over the baseline. If it was not compared with a baseline, its speedup
        over the first program that the run accepted. None if there is no such ratio."""
        speedup = self.verdicts[program].speedup
        if speedup is not None:
            return speedup
        first = next(at for at, verdict in self.verdicts.items() if verdict.accepted)
        if program == first:
            return _ONE
        found = gain(self, program, first)
        return found.figure if found else None


@dataclass(frozen=True, slots=True)
class Gain:
    """A child's speedup over its parent, and the measurement on which it is based."""

    figure: Figure | None  # None for a fitness that is not positive: it has no ratio
    by: str  # "duel", "yardstick" or "fitness"
    beyond_noise: bool


_ONE = Figure(1, 1, 1)


def gain(run: RunSteps, child: int, parent: int) -> Gain | None:
    """The gain from a duel of the two, else the ratio of their figures against the same yardstick. None if
    either was not measured, or if they differ in hardware or kind of figure."""
    paired = _duel(run, child, parent)
    if paired is not None:
        return Gain(paired, "duel", paired.low > 1)
    ours, theirs = run.verdicts[child], run.verdicts[parent]
    if ours.score is None or theirs.score is None:
        return None
    if ours.score_of != theirs.score_of or ours.hardware != theirs.hardware:
        return None
    ratio = ours.score.over(theirs.score) if ours.score.low > 0 and theirs.score.low > 0 else None
    return Gain(ratio, ours.score_of, ours.score.beyond(theirs.score))


def _duel(run: RunSteps, child: int, parent: int) -> Figure | None:
    if (child, parent) in run.duels:
        return run.duels[child, parent]
    back = run.duels.get((parent, child))
    return _ONE.over(back) if back is not None and back.low > 0 else None
