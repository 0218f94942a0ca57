"""Run folders, and archives as arrays."""

from __future__ import annotations

import os
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
        """The figures cells, filled, coverage, qd_score, best and mean."""
        return self._view.statistics

    @property
    def fitness(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 of shape (elites,): medians, higher is better."""
        import numpy

        return numpy.array([one.fitness for one in self.elites], dtype=numpy.float64)

    @property
    def cells(self) -> numpy.typing.NDArray[numpy.int64]:
        """int64 of shape (elites, axes): the bin on each axis."""
        import numpy

        return numpy.array(self._view.cells, dtype=numpy.int64).reshape(len(self), len(self.axes))

    @property
    def features(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 of shape (elites, axes): the features of the axes; NaN if a program lacks one."""
        import numpy

        rows = [[_feature(program, axis["feature"]) for axis in self.axes] for program in self.elites]
        return numpy.array(rows, dtype=numpy.float64).reshape(len(rows), len(self.axes))

    @property
    def grid(self) -> numpy.typing.NDArray[numpy.float64]:
        """float64 with a dimension for each axis: the fitness of each cell, NaN if the cell is empty."""
        import numpy

        grid = numpy.full([len(axis["labels"]) for axis in self.axes], numpy.nan)
        for at, elite in zip(self._view.cells, self.elites, strict=True):
            grid[tuple(at)] = elite.fitness
        return grid

    def __len__(self) -> int:
        return len(self._view.cells)

    def __repr__(self) -> str:
        statistics = self.statistics
        return f"<Archive, {statistics['filled']} of {statistics['cells']} cells filled>"


def _feature(program: _core.Program, name: str) -> float:
    evaluation = program.evaluation
    value = evaluation.fitness if name == "fitness" else evaluation.features.get(name)
    return float("nan") if value is None else value


class Run(_core.StoredRun):
    """A snapshot of a run folder, taken when it was opened; the run may be finished or under way. Rows are
    dicts, which pandas takes unchanged: `pandas.DataFrame(Run.open("a.run").programs())`.

    >>> from kernelsmith import run
    >>> _ = run(seed="k = 1  # @tune 1 2 4", evaluator=lambda source: 1, iterations=5, out="a.run")
    >>> stored = Run.open("a.run")
    >>> stored.ended, stored.programs()[0]["origin"]
    ('budget', 'seed')
    """

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """Reads the run. Raises Error: `not_found`, `version`, `corrupt`."""
        return cls(folder)

    @property
    def archive(self) -> Archive:
        """The elites of all islands, as arrays."""
        return Archive(self._archive())
