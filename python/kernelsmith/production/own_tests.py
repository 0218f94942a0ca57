"""Runs a package's own tests, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_S = 900
LOG = "tests.log"


@dataclass(frozen=True)
class Tested:
    """`kernels_ran`: kernels were executed, on a GPU or by the interpreter; else only what falls back was tested."""

    failed: bool
    kernels_ran: bool
    ran: int
    skipped: int
    failures: list[str]


def own_tests(out: Path, kind: str) -> Tested:
    if kind == "hf-kernel":  # it is built first
        return Tested(False, False, 0, 0, [])
    command = [sys.executable, "-B", "-W", "ignore", "-m", "unittest", "discover", "-v", "tests"]
    done = subprocess.run(command, cwd=out, capture_output=True, text=True, check=False, timeout=_PATIENCE_S,
                          env=_environment())
    said = done.stderr
    (out / LOG).write_text(said)
    ran, skipped = re.search(r"^Ran (\d+) test", said, re.MULTILINE), re.search(r"skipped=(\d+)", said)
    failures = dict.fromkeys(re.findall(r"^(?:ERROR|FAIL): (\S+)", said, re.MULTILINE))
    return Tested(done.returncode != 0, bool(re.search(r"^test_every_bucket .*\.\.\. ok$", said, re.MULTILINE)),
                  int(ran.group(1)) if ran else 0, int(skipped.group(1)) if skipped else 0, list(failures))


def _environment() -> dict[str, str]:
    """The package is imported as a user would: without this kernelsmith on the path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
