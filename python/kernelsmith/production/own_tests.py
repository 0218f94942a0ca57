"""Runs a package's own tests in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .._words import counted

_PATIENCE_S = 900
_RUNNER = Path(__file__).parent / "counted.py"
LOG = "tests.log"


@dataclass(frozen=True)
class Tested:
    """The counts of unittest. Each failure has its reason; a failed test may have several failures.
    `kernels`: how many answers of kernels were compared, on a GPU or by the interpreter. `not_run` says why
    no test ran."""

    ran: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    kernels: int = 0
    not_run: str = ""

    @property
    def words(self) -> str:
        if self.not_run:
            return f"not run: {self.not_run}"
        passed = self.ran - self.failed - len(self.skipped)
        kernels = (f"{counted(self.kernels, 'answer')} of kernels compared" if self.kernels else
                   "no kernel's answer was compared" if self.failed else "no kernel was run: this machine has no such GPU")
        return f"{passed} passed, {self.failed} failed, {len(self.skipped)} skipped; {kernels}"


def own_tests(out: Path, kind: str) -> Tested:
    if kind == "hf-kernel":
        return Tested(not_run="kernel-builder builds the package first")
    command = [sys.executable, "-B", "-P", "-W", "ignore", str(_RUNNER), "tests"]
    with (out / LOG).open("wb") as log:
        try:
            done = subprocess.run(command, cwd=out, stdout=subprocess.PIPE, stderr=log, check=False, timeout=_PATIENCE_S,
                                  env=_environment())
        except subprocess.TimeoutExpired:
            return Tested(failures=[f"they take longer than {_PATIENCE_S} s"])
    try:
        return Tested(**json.loads(done.stdout.splitlines()[-1]))
    except (ValueError, IndexError, TypeError):  # it crashed
        return Tested(failures=[f"they did not run to their end: status {done.returncode}"])


def _environment() -> dict[str, str]:
    """The environment of a user who imports the package: this kernelsmith is not on the path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
