"""Tools that explain the speed of a program of the run, and the changes between two. They evaluate nothing, so they are
free."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable

from .._errors import Error
from .._executable import executable
from . import answers
from .desk import Desk, as_options

_LIMIT_S = 300


class Feedback:
    """One method for each tool, as in Tools. Thread-safe. They raise Error."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._working = threading.Lock()

    def profile(self, program: int) -> str:
        """What bounds a program of the run. For CUDA C++: registers, shared memory, spills and occupancy of each launch; on a
        machine with a GPU and ncu also the roofline, what warps wait for, and the hottest source lines. Costs nothing."""
        one = self._desk.program(program)
        sandbox = self._desk.sandbox()
        said = self._said("profile", ["--no-evaluation", *([f"--set=evaluator.sandbox={sandbox}"] if sandbox else []),
                                      str(self._desk.folder), str(program)])
        return answers.tail(f"program {program}: {answers.evaluation(one.evaluation)}\n{said}", answers.MOST_CHARACTERS)

    def diff(self, a: int, b: int) -> str:
        """How program b of the run differs from program a: speeds, knobs, features, kernels, plan of a call, text. Costs
        nothing."""
        for number in (a, b):
            self._desk.program(number)
        return answers.tail(self._said("diff", [str(self._desk.folder), str(a), str(b)]), answers.MOST_CHARACTERS)

    def all(self) -> list[Callable[..., str]]:
        """The tools, in the order in which they are listed."""
        return [self.profile, self.diff]

    def _said(self, command: str, arguments: list[str]) -> str:
        if not self._working.acquire(blocking=False):
            raise Error("another program is being looked at", "busy", command, "ask again in a moment")
        try:
            ended = subprocess.run([executable(), command, *arguments], capture_output=True, text=True, errors="replace",
                                   timeout=_LIMIT_S, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Error(f"it took more than {_LIMIT_S} s", "timeout", command) from None
        finally:
            self._working.release()
        if ended.returncode > 1:
            said = answers.tail(as_options(ended.stderr.strip()), answers.MOST_CHARACTERS)
            raise Error(said.removeprefix("error: ") or f"exit status {ended.returncode}", "tool_failed", command)
        return (ended.stdout or ended.stderr).strip()
