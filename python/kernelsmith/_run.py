"""Run folders, and archives as arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Archive:
    """A copy of a MAP-Elites archive: each filled cell with its best program of all islands.

    >>> from kernelsmith import Engine
    >>> axes = [{"feature": "width", "scale": "linear", "low": 0, "high": 4, "bins": 4}]
    >>> with Engine(seed="s", iterations=1, archive={"axes": axes}) as engine:
    ...     _ = engine.tell(engine.ask(), (7.5, {"width": 2.5}))
    ...     archive = engine.archive
    >>> archive.grid
    array([nan, nan, 7.5, nan])
    >>> archive.cells
    array([[2]])
    """

    def __init__(self, view: _core.ArchiveView) -> None:
        if not isinstance(view, _core.ArchiveView):
            raise TypeError(f"an archive is made by Engine.archive and Run.archive, not from {type(view).__name__}")
        self._view = view

    @property
    def axes(self) -> list[dict[str, Any]]:
        """`{"feature": name, "labels": [...]}`, a label for each bin."""
        return self._view.axes

    @property
    def elites(self) -> list[_core.Program]:
        """The programs, in the order of their cells."""
        return self._view.programs

    @property
    def statistics(self) -> dict[str, Any]:
        """cells, filled, coverage, qd_score, best, mean."""
        return self._view.statistics

    @property
    def fitness(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 of shape (elites,): medians, higher is better."""
        import numpy

        return numpy.array(self._view.fitness, dtype=numpy.float64)

    @property
    def cells(self) -> numpy.typing.NDArray[numpy.int64]:
        """int64 of shape (elites, axes): the bin on each axis."""
        import numpy

        return numpy.array(self._view.cells, dtype=numpy.int64).reshape(len(self._view.fitness), len(self.axes))

    @property
    def features(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 of shape (elites, axes): the features of the axes; NaN if a program lacks one."""
        import numpy

        rows = [[_feature(program, axis["feature"]) for axis in self.axes] for program in self.elites]
        return numpy.array(rows, dtype=numpy.float64).reshape(len(rows), len(self.axes))

    @property
    def grid(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 with a dimension for each axis: the fitness of each cell, NaN if it is empty."""
        import numpy

        grid = numpy.full([len(axis["labels"]) for axis in self.axes], numpy.nan)
        for at, fitness in zip(self._view.cells, self._view.fitness, strict=True):
            grid[tuple(at)] = fitness
        return grid

    def __len__(self) -> int:
        return len(self._view.fitness)

    def __repr__(self) -> str:
        statistics = self.statistics
        return f"<Archive, {statistics['filled']} of {statistics['cells']} cells filled>"


def _feature(program: _core.Program, name: str) -> float:
    evaluation = program.evaluation
    value = evaluation.fitness if name == "fitness" else evaluation.features.get(name)
    return float("nan") if value is None else value


class Run:
    """A snapshot of a run folder, finished or active. Rows are dicts for pandas:
    `pandas.DataFrame(Run.open("a.run").programs())`.

    >>> from kernelsmith import run >>> _ = run(seed="k = 1  # @tune 1 2 4", evaluator=lambda source: 1, iterations=5,
    out="a.run") >>> stored = Run.open("a.run") >>> stored.ended, stored.programs()[0]["origin"] ('budget', 'seed')
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._run = _core.StoredRun(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """Reads the run. Raises Error: `not_found`, `version`, `corrupt`."""
        return cls(folder)

    @property
    def folder(self) -> os.PathLike[str]:
        """The folder that was opened."""
        return self._run.folder

    @property
    def id(self) -> str:
        """32 hexadecimal digits, fixed when the run was begun."""
        return self._run.id

    @property
    def ended(self) -> str | None:
        """Why the search has ended: "budget", "flat", "exhausted", "finished", "refused"; None while there is more to
        do."""
        return self._run.ended

    @property
    def in_use(self) -> bool:
        """Whether a process is writing the run."""
        return self._run.in_use

    @property
    def evaluations_left(self) -> int | None:
        """The remaining evaluations for new programs, without those for measuring the best again at the end. None if
        evaluations are unlimited."""
        return self._run.evaluations_left

    @property
    def confirmed(self) -> list[int]:
        """The programs whose numbers come only from measuring them again at the run's end."""
        return self._run.confirmed

    @property
    def counts(self) -> dict[str, int]:
        """How many of each: "iterations", "evaluations" and the like."""
        return self._run.counts

    @property
    def elapsed_s(self) -> float:
        """The wall time of all sessions."""
        return self._run.elapsed_s

    @property
    def best(self) -> _core.Program | None:
        """The best program; None while nothing was accepted. Its evaluation is that of program()."""
        return self._run.best

    @property
    def best_evaluation(self) -> _core.Evaluation | None:
        """The best's evaluation, from the confirmation if there is one."""
        return self._run.best_evaluation

    @property
    def archive(self) -> Archive:
        """The elites of all islands, as arrays."""
        return Archive(self._run.archive())

    @property
    def digest(self) -> str:
        """The digest of the archive: equal searches have equal digests."""
        return self._run.digest

    def program(self, id: int) -> _core.Program:
        """A program with the evaluation of `kernelsmith show`: only the measurement at the run's end if there is one,
        else all its measurements together. Raises KeyError if it does not exist."""
        return self._run.program(id)

    def programs(self) -> list[dict[str, Any]]:
        """A row for each evaluated program: id, origin, parents, accepted, fitness (the median), low (by which programs are
        ranked), high, stage, code, diagnostics, features. Evaluations are those of program()."""
        return self._run.programs()

    def lineage(self) -> list[dict[str, Any]]:
        """From the seed to the best along the first parents: rows of programs() with `diff`."""
        return self._run.lineage()

    def events(self) -> list[dict[str, Any]]:
        """The journal, an event a row (docs/formats.md)."""
        return self._run.events()

    def replies(self, tickets: Sequence[int]) -> list[dict[str, Any] | None]:
        """The kept parts of these tickets' replies, such as text, system and user (docs/formats.md, "kept reply"); None
        for a ticket that kept nothing: `proposer.keep` decides."""
        return self._run.replies(list(tickets))

    def cost(self) -> list[dict[str, Any]]:
        """A row for each model: calls, tokens, usd."""
        return self._run.cost()

    def failures(self) -> list[dict[str, Any]]:
        """The number of rejected programs by rule: stage, code, count."""
        return self._run.failures()

    def __repr__(self) -> str:
        return f"<Run {self.folder}, {self.counts['iterations']} iterations>"
