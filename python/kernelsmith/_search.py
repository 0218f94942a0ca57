"""Searches: run() for the usual case, Engine for your own loops."""

import atexit
import contextlib
import itertools
import json
import operator
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, SupportsIndex

from . import _core
from ._errors import Error
from ._proposers import _Configured
from ._run import Archive
from ._settings import settings_from

Folder = str | os.PathLike[str]


def _unused_folder(name: str) -> Path:
    """Makes the first missing folder of NAME-1.run, NAME-2.run, ..., so that another process takes the next
    one. A folder that stays unused is removed at the end of the process."""
    for number in itertools.count(1):
        folder = Path(f"{name}-{number}.run")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            atexit.register(_remove_empty, folder.absolute())
            break
    return folder


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # the folder is not empty
        folder.rmdir()


def run(task: "Folder | None" = None, *, seed: Any = None, evaluator: Any = None, proposer: Any = None,
        out: "Folder | None" = None, progress: "Callable[[_core.Commit], None] | None" = None,
        **settings: Any) -> _core.Outcome:
    """Runs a search, and returns its outcome.

    Either `task` names a folder with a task.yaml, or `evaluator` scores candidates: a function of a Source
    that returns a number (higher is better), (number, features), a dict with "fitness", or an Evaluation; a
    coroutine function; or an object with a method evaluate(job). An exception that it raises rejects the
    candidate, with the traceback as diagnostics. With a task, `evaluator` is a dict with the keys of
    run.yaml's section `evaluator`.

    `proposer` makes children: a function of a Request that returns a text, a dict of texts by path, a Source,
    a Refusal, or None if it has no more children; a coroutine function; an object with propose(request);
    Tuner, Chat or ManualQueue. Default: Tuner.

    `seed` is the program with which the search begins: a text, a dict of texts by path, or a Source.

    `out` is the run's folder; a run in it is continued. Without `out`, a search over a task makes NAME-1.run,
    NAME-2.run, ... in the current folder, and a search without a task leaves nothing behind.

    `progress` is called with every Commit, on another thread.

    All other arguments are keys of run.yaml (docs/formats.md), with dicts for its sections: `workers=4`,
    `islands={"count": 4}`, `deterministic=True`. Budgets may also be arguments of their own: `iterations`,
    `evaluations`, `calls`, `wall_time_s`, `usd`, `until_flat`. `random_seed` is run.yaml's `seed`.

    Ctrl-C ends the search in order: everything is committed, and the outcome's reason is "stopped". A second
    Ctrl-C raises KeyboardInterrupt at once. Raises Error.

    >>> found = run(seed="k = 1  # @tune 1 2 4 8", evaluator=lambda source: int(source.text.split()[2]), iterations=20)
    >>> found.best.fitness, found.best.source.text
    (8.0, 'k = 8  # @tune 1 2 4 8')
    """
    _check_progress(progress)
    if task is not None:
        if isinstance(evaluator, dict):  # run.yaml's section
            settings["evaluator"], evaluator = evaluator, None
        if evaluator is not None or seed is not None:
            raise Error("a task has its own evaluator and seed", "invalid_argument", "run",
                        "leave out the task, or evaluator and seed")
        return _said(run_task(task, proposer, out, progress, settings))
    if evaluator is None:
        raise Error("there is nothing to score candidates with", "invalid_argument", "run",
                    "name a task folder, or pass an evaluator")
    with Engine(out, seed=seed, evaluator=evaluator, proposer=proposer if proposer is not None else _tuner(),
                **settings) as engine:
        return engine.run(progress)


def run_task(task: "Folder | _core.Task", proposer: Any, out: "Folder | None",
             progress: "Callable[[_core.Commit], None] | None", settings: dict[str, Any]) -> _core.Outcome:
    """run() for a task, without messages."""
    if isinstance(task, _core.Task):
        task = task.folder
    text, own = settings_from(settings, proposer)
    if own is not None:
        text = json.dumps({**json.loads(text), "proposer": {"kind": "python"}})
    folder = Path(out) if out is not None else _unused_folder(_core.Task(task).name)
    try:
        return _core.run_task(task, folder, own, text, progress)
    except Error:
        if out is None:
            _remove_empty(folder)
        raise


def _check_progress(progress: Any) -> None:
    """Raises TypeError before the search begins, not at the first commit."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is a function of a Commit, not {type(progress).__name__}")


def _said(outcome: _core.Outcome) -> _core.Outcome:
    """Warns of a rejected seed, which is not an exception but must be noticed."""
    if outcome.reason == "refused":
        import logging

        logging.getLogger("kernelsmith").warning("%s", outcome.error)
    return outcome


def _number(ticket: "_core.Ticket | SupportsIndex") -> int:
    return ticket.id if isinstance(ticket, _core.Ticket) else operator.index(ticket)


def _tuner() -> _Configured:
    from ._proposers import Tuner

    return Tuner()


class Engine:
    """A search that you drive with ask() and tell(), or with run().

    A context manager. Thread-safe, except that only one thread at a time may call run(). `folder` is the
    run's folder, new or continued; None keeps everything in memory. The other arguments are those of
    kernelsmith.run. Raises Error: `bad_input` and `invalid_argument` for settings, `busy` for a folder that
    another search is writing, and other codes of docs/errors.md.

    >>> with Engine(seed="1", iterations=20) as engine:
    ...     for ticket in engine:
    ...         if ticket.kind == "propose":
    ...             child = ticket.request.parent.source.text + ticket.request.rng.choice("0123456789")
    ...             _ = engine.tell(ticket, child, float(child[-5:]))
    ...         else:
    ...             _ = engine.tell(ticket, float(ticket.source.text[-5:]))
    ...     engine.outcome.best.fitness > 1000
    True
    """

    def __init__(self, folder: "Folder | None" = None, *, seed: Any = None, evaluator: Any = None, proposer: Any = None,
                 **settings: Any) -> None:
        text, own = settings_from(settings, proposer)
        self._folder = None if folder is None else Path(folder)
        self._search = _core.Search(self._folder, seed, evaluator, own, text)

    @classmethod
    def open(cls, folder: "Folder | None" = None, **arguments: Any) -> "Engine":
        """The same as Engine(folder, ...)."""
        return cls(folder, **arguments)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self) -> "_core.Ticket | None":
        """The next ticket; None if there is nothing to ask now."""
        return self._search.ask()

    def __iter__(self) -> "Iterator[_core.Ticket]":
        """The tickets, until there is nothing to ask."""
        while ticket := self.ask():
            yield ticket

    def tell(self, ticket: "_core.Ticket | SupportsIndex", child: Any = None, answer: Any = None) -> list[_core.Commit]:
        """Answers a ticket. Each ticket is answered once.

        `tell(ticket, child, score)` if it asks for a child (kind "propose"), else `tell(ticket, score)`; or
        `tell(ticket, Refusal(...))`. A child is a text, a dict of texts by path, or a Source; a score is
        whatever an evaluator may return. Returns the commits that took effect: one, or with
        `deterministic=True` none until the ticket's turn comes, and then one or more. Raises Error:
        `already_told`, `unknown_ticket`, and `invalid_argument` for an answer that does not fit the ticket.
        """
        if answer is None and not isinstance(child, _core.Refusal):
            child, answer = None, child
        return self._search.tell(_number(ticket), child, answer)

    def give_back(self, ticket: "_core.Ticket | SupportsIndex", reason: str) -> list[_core.Commit]:
        """Closes a ticket without a score, for a reason that is not the candidate's fault. It uses up no budget. Raises
        the errors of tell()."""
        return self._search.give_back(_number(ticket), reason)

    def run(self, progress: "Callable[[_core.Commit], None] | None" = None) -> _core.Outcome:
        """Searches until done, as kernelsmith.run does. Needs an evaluator and a proposer."""
        _check_progress(progress)
        return _said(self._search.run(progress))

    @property
    def done(self) -> bool:
        """Whether no ticket is open and nothing is left to ask."""
        return self._search.done()

    @property
    def outcome(self) -> _core.Outcome:
        """The outcome so far."""
        return self._search.outcome()

    @property
    def archive(self) -> Archive:
        """A copy of the current archive."""
        return Archive(self._search.archive())

    def close(self) -> None:
        """Ends the session; the folder can then be opened again. All answers are kept. A run() under way in
        another thread goes on, and keeps the folder until it returns."""
        self._search.close()

    def __repr__(self) -> str:
        try:
            state = repr(self.outcome).removeprefix("<Outcome ").removesuffix(">")
        except Error as gone:
            state = gone.message
        return f"<Engine {self._folder or 'in memory'}: {state}>"


def evaluate(task: "Folder | _core.Task", source: Any, *, quick: bool = False, **settings: Any) -> _core.Evaluation:
    """Compiles, checks and times a candidate of a task folder, as `kernelsmith evaluate` does.

    `source` is a text, a dict of texts by path, or a Source; it may differ from the seed outside its
    EVOLVE-BLOCKs. `quick` takes a fraction of the time for a wider interval. Ctrl-C stops the evaluation and
    raises KeyboardInterrupt. Raises Error if the task or the machine is at fault.
    """
    folder = task.folder if isinstance(task, _core.Task) else task
    return _core.evaluate(folder, source, quick, settings_from(settings, None)[0])


def prompt(request: "_core.Request | _core.Ticket", task: "_core.Task | None" = None, *, set: str = "kernel-smith",
           budget_tokens: int = 24_000) -> _core.Prompt:
    """The prompt for a language model, made from a request or a ticket: `.system`, `.user`, `.messages`.

    `task` adds its description, tensors and hardware. `set` names the templates (docs/prompts.md). If the
    prompt would be longer than `budget_tokens`, its least useful parts are left out. Raises Error.

    >>> with Engine(seed="k = 1", iterations=1) as engine:
    ...     _ = engine.tell(engine.ask(), 1.0)
    ...     "k = 1" in prompt(engine.ask()).user
    True
    """
    if isinstance(request, _core.Ticket):
        if request.request is None:
            raise Error("this ticket asks for no child", "invalid_argument", repr(request))
        request = request.request
    return _core.prompt(request, task, set, budget_tokens)


def extract(reply: str, parent: Any, *, edits_only: bool = False) -> "_core.Source | _core.Refusal":
    """The child that a model's reply describes, given its parent (a Program, a Source or a text), or why there is none.

    >>> extract("```python\\nk = 2\\n```", {"a.py": "k = 1\\n"}).text
    'k = 2\\n'
    """
    return _core.extract(reply, parent, edits_only)
