"""Texts of replies and programs, read from their runs on demand."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

from ..._errors import Error
from ..._run import Run
from .journal import BATCH, joined
from .plain import plain_reply
from .steps import RunSteps, Step
from .tasks import readable

_Value = TypeVar("_Value")


class _Recent(Generic[_Value]):
    """The most recently used values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        if key not in self._values:
            self.put(key, make())
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: Hashable, value: _Value) -> None:
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)


class Reader:
    """Reads texts. Opening a run takes as long as reading its journal, so a few runs are kept open."""

    def __init__(self) -> None:
        self._runs: _Recent[Run] = _Recent(8)
        self._replies: _Recent[dict[str, Any]] = _Recent(4 * BATCH)
        self._codes: _Recent[str] = _Recent(4 * BATCH)

    def keep(self, run: RunSteps, stored: Run) -> None:
        """Keeps an already open run."""
        self._runs.put(run.id, stored)

    def _run(self, run: RunSteps) -> Run:
        return self._runs.get(run.id, lambda: _opened(run))

    def fetch(self, steps: Iterable[Step]) -> None:
        """Reads these steps' replies together. Keeps the replies of at most BATCH rows."""
        by_run: dict[str, list[Step]] = defaultdict(list)
        for step in steps:
            by_run[step.run.id].append(step)
        for group in by_run.values():
            replies = self._run(group[0].run).replies([step.ticket for step in group])
            for step, reply in zip(group, replies, strict=True):
                assert reply is not None
                self._replies.put(step.key, plain_reply(reply))

    def reply(self, step: Step) -> dict[str, Any]:
        def read() -> dict[str, Any]:
            found = self._run(step.run).replies([step.ticket])[0]
            assert found is not None
            return plain_reply(found)

        return self._replies.get(step.key, read)

    def code(self, run: RunSteps, program: int) -> str:
        """The program as one text, even if it has several files."""
        return self._codes.get((run.id, program), lambda: readable(joined(self._run(run).program(program).source.files)))


def _opened(run: RunSteps) -> Run:
    stored = Run.open(run.folder)
    if stored.id != run.id:
        raise Error("the folder now holds another run than a moment ago", "corrupt", run.folder)
    return stored
