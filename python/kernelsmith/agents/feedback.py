"""Tools that explain the speed of a program of the run, and the changes between two programs. They evaluate
nothing, so they are free."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable

from .._errors import Error
from .._executable import executable
from . import answers
from .desk import Desk, as_options


class Executable:
    """Runs slow commands of the executable, one at a time. Thread-safe."""

    def __init__(self, limit_s: int, busy: str) -> None:
        self._limit_s, self._busy = limit_s, busy
        self._working = threading.Lock()

    def said(self, command: str, *arguments: str, without: str = "") -> str:
        """What a command prints, without the text `without`, shortened for a tool's answer. Raises Error."""
        if not self._working.acquire(blocking=False):
            raise Error(self._busy, "busy", command, "ask again in a moment")
        try:
            ended = subprocess.run([executable(), command, *arguments], capture_output=True, text=True, errors="replace",
                                   timeout=self._limit_s, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Error(f"it took more than {self._limit_s} s", "timeout", command) from None
        finally:
            self._working.release()
        failed = ended.returncode > 1
        text = as_options(ended.stderr) if failed else ended.stdout or ended.stderr
        said = answers.tail((text.replace(without, "") if without else text).strip(), answers.MOST_CHARACTERS)
        if failed:
            raise Error(said.removeprefix("error: ") or f"exit status {ended.returncode}", "tool_failed", command)
        return said


class Feedback:
    """One method for each tool, as in Tools. Thread-safe. The methods raise Error."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._looking = Executable(300, "another program is being looked at")

    def profile(self, program: int) -> str:
        """What limits the speed of a program of the run. For CUDA C++: registers, shared memory, spills and
        occupancy of each launch; on a machine with a GPU and ncu also the roofline, the stalls of warps, and
        the hottest source lines. Costs nothing."""
        one = self._desk.program(program)
        sandbox = self._desk.sandbox()
        options = [f"--set=evaluator.sandbox={sandbox}"] if sandbox else []
        said = self._looking.said("profile", "--no-evaluation", *options, str(self._desk.folder), str(program))
        return answers.tail(f"program {program}: {answers.evaluation(one.evaluation)}\n{said}", answers.MOST_CHARACTERS)

    def diff(self, a: int, b: int) -> str:
        """How program b of the run differs from program a: speeds, knobs, features, kernels, plan of a call, text. Costs
        nothing."""
        for number in (a, b):
            self._desk.program(number)
        return self._looking.said("diff", str(self._desk.folder), str(a), str(b))

    def all(self) -> list[Callable[..., str]]:
        """The tools, in the order in which they are listed."""
        return [self.profile, self.diff]
