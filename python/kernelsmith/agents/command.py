"""`kernelsmith mcp`: serves a run by the Model Context Protocol. `kernelsmith agent` shares some of its
code."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from .. import _core
from .._command_line import Parser, fail, status_of
from .._errors import Error
from .._run import Run
from .._search import _unused_folder
from .answers import interval
from .desk import Desk
from .server import address, server_over

_EVALUATIONS = 100


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on, not {text}")
    return number


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options for the run and its budget."""
    parser.add_argument("TASK", type=Path,
                        help="a task's folder, to begin a run, or a run's folder, to continue it")
    parser.add_argument("-o", "--out", metavar="RUN", type=Path,
                        help="the run's folder; an existing run is continued. Default: NAME-1.run and so on, here")
    parser.add_argument("--evaluations", metavar="N", type=_positive,
                        help=f"the run's budget in all; default: {_EVALUATIONS}, or the run's own")
    parser.add_argument("--workers", metavar="N", type=_positive, help="evaluations at a time; default: 1")
    parser.add_argument("--sandbox", choices=["required", "none"], help="run.yaml's evaluator.sandbox")


def desk_for(options: argparse.Namespace, driven_by: str, ends: bool = False) -> Desk:
    """The desk that the options describe. Raises Error if TASK is neither a task nor a run."""
    resumes = (options.TASK / "run.db").exists()
    if resumes and options.out:
        raise Error("this is a run, which continues in its own folder", "invalid_argument", "--out", "leave it out")
    task = options.TASK / "task" if resumes else options.TASK
    folder = options.TASK if resumes else options.out or _unused_folder(_core.Task(task).name)
    used = Run.open(folder).counts["evaluations"] if (folder / "run.db").exists() else 0
    if options.evaluations and options.evaluations < used:
        raise Error(f"the run has used {used} already, and budgets are totals", "invalid_argument", "--evaluations",
                    "give a larger total than was used")
    settings: dict[str, Any] = {} if resumes or (folder / "run.db").exists() else {"evaluations": _EVALUATIONS}
    if options.evaluations:
        settings["evaluations"] = options.evaluations
    if options.workers:
        settings["workers"] = options.workers
    if options.sandbox:
        settings["evaluator"] = {"sandbox": options.sandbox}
    return Desk(task, folder, settings, driven_by, ends)


def mcp(arguments: Sequence[str]) -> NoReturn:
    """Runs the command and ends the process. Raises Error for wrong use."""
    parser = Parser(prog="kernelsmith mcp", allow_abbrev=False,
                    description="Serve a run to agents by the Model Context Protocol (docs/agents.md): at standard input "
                                "and output, or over HTTP", epilog="Needs the SDK: pip install 'mcp>=2,<3'")
    add_run_options(parser)
    parser.add_argument("--http", metavar="HOST:PORT", help="serve http://HOST:PORT/mcp, to this machine alone")
    parser.add_argument("--finish", action="store_true",
                        help="end the run instead of serving it; its best is measured again")
    options = parser.parse_args(arguments)
    at = address(options.http) if options.http else None
    desk = desk_for(options, "mcp", options.finish)
    if options.finish:
        leave(lambda: say_best(desk, desk.drive()))
    server = server_over(desk)
    print(f"kernelsmith: {desk.folder}" + (f" at http://{options.http}/mcp" if at else ""), file=sys.stderr, flush=True)
    leave(lambda: serve_while_driven(desk, server, at))


def say_best(desk: Desk, outcome: _core.Outcome) -> None:
    """Prints the result."""
    if outcome.best is None:
        return
    shown = outcome.confirmation or outcome.best.evaluation
    if shown.measurement is not None:
        again = ", measured again" if outcome.confirmation else ""
        print(f"best: program {outcome.best.id}, fitness {interval(shown.measurement)}{again}; in {desk.folder / 'best'}")


def leave(work: Callable[[], None]) -> NoReturn:
    """Ends the process with the result of `work`. Does not wait for threads that wait for a silent client."""
    status = 0
    try:
        work()
    except Error as error:
        with contextlib.suppress(SystemExit):
            fail(error)
        status = status_of(error)
    except KeyboardInterrupt:
        status = 130
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def serve_while_driven(desk: Desk, server: Any, at: tuple[str, int] | None) -> None:
    """Runs the search here and the server on another thread. When the client leaves, the search ends; after the search
    the client can still read its result."""
    import anyio

    gone = threading.Event()

    def serve() -> None:
        try:
            if at:
                anyio.run(partial(server.run_streamable_http_async, host=at[0], port=at[1]))
            else:
                anyio.run(server.run_stdio_async)
        finally:
            gone.set()

    if drive_beside(desk, serve).reason != "stopped":
        gone.wait()


def drive_beside(desk: Desk, work: Callable[[], None]) -> _core.Outcome:
    """Drives the desk here while `work` uses it on another thread. When `work` ends, the search ends in
    order. Raises the exceptions of `work`."""
    failed: list[BaseException] = []

    def use() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)
        finally:
            desk.stop()

    def end(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # stops the desk; a script's `&` leaves the signal ignored
    threading.Thread(target=use, name="desk", daemon=True).start()
    outcome = desk.drive()
    if failed:
        raise failed[0]
    return outcome
