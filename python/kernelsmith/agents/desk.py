"""A run for outside programs. The desk holds one open request of the engine at a time, and evaluates programs
as its trials. The engine journals and counts everything. The run ends when its evaluations are used up or
finish() is called. If only the evaluation reserved for an answer is left, the run ends at the next answer or
when the client leaves. At the end the engine measures the best again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._run import Run
from .._search import Engine, prompt, run_task

_MOST_AT_ONCE = 8
_MOST_BYTES = 256 * 1024  # the evaluators' limit
_FINISHED = "the client has finished"
_PATIENCE_S = 600.0  # preparing a task takes at most a minute, and answering the previous request a few minutes


@dataclass(frozen=True)
class Verdict:
    """A program with its evaluation. `known`: the run had the program already, so it cost nothing.
    `confirmation` is the second measurement if it was requested and made; `unconfirmed` is the error if it
    could not be made."""

    program: _core.Program
    known: bool = False
    confirmation: _core.Evaluation | None = None
    unconfirmed: str = ""


class Desk:
    """A run over a task folder. One thread calls drive(); any other threads may use the run. All that the
    desk reports comes from the journal.

    task       the task's folder
    folder     the run's folder, new or continued
    settings   keyword arguments of kernelsmith.run, such as evaluations=100
    driven_by  the command, mcp or agent; run.yaml keeps it
    ends       no client works on the run: the desk only ends it
    """

    requests_in_flight = 1  # the engine opens only one request at a time

    def __init__(self, task: Path, folder: Path, settings: dict[str, Any], driven_by: str = "mcp", ends: bool = False) -> None:
        self.task = _core.Task(task)
        self.folder = folder
        self.driven_by = driven_by
        self._settings = settings
        self._ends = ends
        self._answered = False
        self._leaving = False
        self._changed = threading.Condition()
        self._request: _core.Request | None = None
        self._answer: asyncio.Future[Any] | None = None
        self._told: dict[int, _core.Commit] = {}
        self._closed = ""
        self._closed_as = "over_budget"
        self._driving = False
        self._at_work = 0
        self.cut_off: Callable[[_core.Request], None] = lambda request: None  # called if Ctrl-C ends a request

    def drive(self) -> _core.Outcome:
        """Prepares the task and runs until a budget is used up or stop() is called. Call it on the main
        thread. Raises Error."""
        try:
            with self._changed:
                self._driving = True
            outcome = run_task(self.task, self, self.folder, self._note, self._settings)
        except BaseException as failed:
            if isinstance(failed, Error):
                failed.hint = as_options(failed.hint)
            self._close(f"the run ended: {failed}", "tool_failed")
            raise
        codes = {"budget": "over_budget", "finished": "already_told"}
        self._close(_last_words(outcome), codes.get(outcome.reason, "tool_failed"))
        return outcome

    def sandbox(self) -> str:
        """The user's setting of the sandbox; empty if there is none, and then a run folder cannot disable the
        sandbox."""
        return str(self._settings.get("evaluator", {}).get("sandbox", ""))

    def left(self) -> int | None:
        """The number of evaluations left for agents; None if unlimited. The last one is only for an answer.
        Raises Error."""
        return self.run().evaluations_left

    def stop(self) -> None:
        """Ends drive() in order, from another thread, after the client has left. Work under way is journalled
        for a later session. If only the last evaluation is left, the run is completed."""
        with self._changed:
            self._leaving = True
            open_ = self._request is not None
            waits = self._answered and not open_  # the engine's present state shows whether there is more to ask
        if open_ and self._is_spent():
            self._settle(_finished(_FINISHED))
        elif not waits:
            self._interrupt()

    def _interrupt(self) -> None:
        with self._changed:
            if self._driving:
                os.kill(os.getpid(), signal.SIGINT)

    def _is_spent(self) -> bool:
        left = self.left()
        return left is not None and left <= 1

    async def propose(self, request: _core.Request) -> Any:
        """Called by the engine: lays the request on the desk and waits for submit()."""
        if self._ends or (self._answered and self._is_spent()):
            return _finished(_FINISHED)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        with self._changed:
            self._request, self._answer = request, answer
            self._changed.notify_all()
            if self._leaving:
                self._interrupt()
        try:
            return await answer
        except asyncio.CancelledError:
            self.cut_off(request)
            raise
        finally:
            with self._changed:
                if self._answer is answer:
                    self._request = self._answer = None

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Counts one evaluation under way. Too many at once are refused instead of queued."""
        with self._changed:
            if self._at_work >= _MOST_AT_ONCE:
                raise Error(f"{_MOST_AT_ONCE} evaluations are under way already", "busy", "", "wait for one of them")
            self._at_work += 1
        try:
            yield
        finally:
            with self._changed:
                self._at_work -= 1

    def evaluate(self, files: dict[str, str], parent: int | None = None, careful: bool = False) -> Verdict:
        """Evaluates a program and adds it to the run; `careful` also confirms it. Raises Error."""
        self.check(files)
        with self._turn():
            request = self._open()
            if parent is not None:
                self.program(parent)
            parents = None if parent is None else [parent]
            try:
                program, known = request.attempt(files, parents)
            except Error as error:
                if error.code != "over_budget":
                    raise
                last = self._submitted(request, files, parents)  # the evaluation reserved for it
                return replace(last, unconfirmed="no evaluation is left for that") if careful else last
            if not careful or not program.accepted:
                return Verdict(program, known)
            try:
                return self._confirmed(request, program, known)
            except Error as error:  # the first measurement is kept
                return Verdict(program, known, unconfirmed=str(error))

    def confirm(self, number: int) -> Verdict:
        """Measures a program again, with care. Raises Error."""
        program = self.program(number)
        with self._turn():
            try:
                return self._confirmed(self._open(), program)
            except Error as error:
                if error.code == "over_budget" and not self.is_over():
                    error.hint = ("the last evaluation is for a new program: evaluate one, or call `finish`, which measures the best "
                                  "again with an evaluation that is reserved for it")
                raise

    def _confirmed(self, request: _core.Request, program: _core.Program, known: bool = False) -> Verdict:
        """The program's state in the run, with this measurement."""
        confirmation = request.confirm(program.id)
        return Verdict(self.program(program.id) if confirmation.accepted else program, known, confirmation)

    def submit(self, files: dict[str, str], parents: list[int] | None = None) -> Verdict:
        """Answers the request with this program; the engine then opens another request. Raises Error."""
        self.check(files)
        with self._turn():
            return self._submitted(self._open(), files, parents)

    def _submitted(self, request: _core.Request, files: dict[str, str], parents: list[int] | None) -> Verdict:
        """Answers `request`. If it was the last request, waits for the end of the run."""
        if parents is None:
            parents = [request.parent.id] if request.parent else []
        if not self._settle(_core.Child(files, parents), request):
            raise Error("the request was answered just now", "already_told", "submit", "submit it again")
        commit = self._commit_of(request.ticket)
        if commit.program is None:
            raise Error(commit.error or (commit.refusal.detail if commit.refusal else commit.kind), "tool_failed", "submit")
        if self._is_spent():
            self._wait_for_the_end()
        return Verdict(commit.program, commit.kind == "repeated")

    def finish(self, why: str = _FINISHED) -> None:
        """Ends the run and waits until its best was measured again; `kernelsmith show` gives `why` as the reason.
        Raises Error if the run ended for another reason."""
        try:
            self._open()
        except Error:
            if not self.is_over():
                raise
        self._settle(_finished(why))
        self._wait_for_the_end()
        if self._closed_as == "tool_failed":
            raise Error(self._closed, self._closed_as, str(self.folder))

    def _settle(self, answer: Any, request: _core.Request | None = None) -> bool:
        """Gives the engine the answer to `request`; False if `request` is not the open request."""
        with self._changed:
            waiting = self._answer
            if waiting is None or (request is not None and self._request is not request):
                return False
            self._request = self._answer = None
            self._answered = True
        waiting.get_loop().call_soon_threadsafe(_settle, waiting, answer)
        return True

    def _wait_for_the_end(self) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed, _PATIENCE_S):
                raise Error("the best is still being measured again", "busy", str(self.folder), "call `finish` again")

    def program(self, number: int) -> _core.Program:
        """A program of the run. Raises Error."""
        try:
            return self.run().program(number)
        except (KeyError, TypeError, OverflowError):
            raise Error(f"the run has no program {number}", "not_found", "program", "`history` lists them") from None

    def run(self) -> Run:
        """The current run. Raises Error while it is being made."""
        if not (self.folder / "run.db").exists():
            self._open()
        return Run.open(self.folder)

    def request(self) -> _core.Request:
        """Waits for the open request. Raises Error if the run is over."""
        return self._open()

    def current(self) -> Run:
        """The run with this session's budgets. They are in the journal once a request was opened. Raises
        Error."""
        with self._changed:
            self._changed.wait_for(lambda: self._request or self._answered or self._closed, _PATIENCE_S)
        return self.run()

    def names(self) -> list[str]:
        """The files of a candidate of this task."""
        if len(self.task.seed):
            return list(self.task.seed.files)
        parent = self._open().parent
        return list(parent.source.files) if parent else ["candidate" + Path(next(iter(self.task.reference.files))).suffix]

    def check(self, files: dict[str, str]) -> None:
        """Raises Error for an invalid candidate of this task, before an evaluation is used up."""
        wanted = set(self.names())
        if set(files) != wanted:
            raise Error(f"a candidate of this task has the files {', '.join(sorted(wanted))}", "bad_input", "files")
        if sum(len(text.encode("utf-8", "surrogatepass")) for text in files.values()) > _MOST_BYTES:
            raise Error(f"a program has at most {_MOST_BYTES} bytes", "bad_input", "files", "nothing was evaluated")
        if len(self.task.seed):
            _core.check_frozen(self.task.seed, files)

    def is_over(self) -> bool:
        """Whether the run has ended, or was stopped."""
        with self._changed:
            return bool(self._closed)

    def _open(self) -> _core.Request:
        with self._changed:
            if not self._changed.wait_for(lambda: self._request or self._closed, _PATIENCE_S):
                raise Error("the run opens no request", "busy", str(self.folder), "ask again")
            if self._request is None:
                raise Error(self._closed, self._closed_as, str(self.folder), "`best` and `history` can still be asked")
            return self._request

    def _commit_of(self, ticket: int) -> _core.Commit:
        with self._changed:
            self._changed.wait_for(lambda: ticket in self._told or self._closed)
            if ticket not in self._told:
                raise Error(self._closed, "cancelled", "submit", "the program is evaluated when the run is continued")
            return self._told.pop(ticket)

    def _note(self, commit: _core.Commit) -> None:
        with self._changed:
            self._told = dict(list(self._told.items())[-_MOST_AT_ONCE:]) | {commit.ticket: commit}
            self._changed.notify_all()

    def _close(self, words: str, code: str) -> None:
        with self._changed:
            self._closed_as = code
            self._driving = False
            self._closed = words
            self._request = self._answer = None
            self._changed.notify_all()


def as_options(hint: str) -> str:
    """Converts a hint of the executable to the options of `kernelsmith mcp` and `kernelsmith agent`."""
    return hint.replace("--set evaluator.sandbox=", "--sandbox ")


def task_text(desk: Desk) -> str:
    """The task's description for a model, without programs. If the task has a seed, this works before the run
    has started, and so without a GPU."""
    if len(desk.task.seed):
        with Engine(seed=desk.task.seed.files, iterations=1) as engine:
            if (ticket := engine.ask()) is not None:
                engine.tell(ticket, 1.0)
            made = prompt(engine.ask() or desk.request(), desk.task, set="agent")
    else:
        made = prompt(desk.request(), desk.task, set="agent")
    return f"{made.system}\n\n{made.user}"


def _finished(why: str) -> _core.Refusal:
    return _core.Refusal(why, "finished")


def _settle(waiting: asyncio.Future[Any], answer: Any) -> None:
    if not waiting.done():  # the run may have been stopped meanwhile
        waiting.set_result(answer)


def _last_words(outcome: _core.Outcome) -> str:
    if outcome.reason == "budget":
        return f"the run is over: its budget of {outcome.budget} is used up"
    if outcome.reason == "finished":
        return "the run is over: it was finished"
    return f"the run is over: {outcome.reason}" + (f" ({outcome.error})" if outcome.error else "")
