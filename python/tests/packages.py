"""Tasks, runs and commands that the tests of production share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import published_runs
import pytest
from kernelsmith.production import publish as publishing
from kernelsmith.production.command import production
from kernelsmith.production.own_tests import Tested

RMS_NORM = Path(__file__).parent / "production" / "rms_norm"
INTERPRETED = {**os.environ, "TRITON_INTERPRET": "1"}


def run_of(folder: Path, *, rows: int = 16, kernel: tuple[str, str] = ("", ""), reference: tuple[str, str] = ("", ""),
           also: dict[str, str] | None = None, more: str = "", **options: object) -> Path:
    """A run over the RMS norm at so many rows, with a text of the kernel or the reference replaced, further files, and further lines
    of task.yaml."""
    task = folder.with_suffix(".task")
    task.mkdir(parents=True)
    for file in RMS_NORM.iterdir():
        (task / file.name).write_text(file.read_text())
    text = (task / "reference.py").read_text().replace("rows = 16", f"rows = {rows}").replace(*reference)
    (task / "reference.py").write_text(text)
    for name, content in (also or {}).items():
        (task / name).write_text(content)
        about = (task / "task.yaml").read_text()
        (task / "task.yaml").write_text(about.replace("seed.py}", f"seed.py, also: {name}}}"))
    with (task / "task.yaml").open("a") as file_of_task:
        file_of_task.write(more)
    candidate = (RMS_NORM / "seed.py").read_text().replace(*kernel)
    return published_runs.searched(folder, task, candidate, **options)  # type: ignore[arg-type]


def publish(*arguments: object) -> int:
    return production(["publish", *map(str, arguments)])


def publish_untested(*arguments: object) -> int:
    """Without the package's own tests, which take most of the time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publishing, "own_tests", lambda out, kind: Tested(not_run="left out here"))
        return publish(*arguments)


def python(*arguments: object, folder: Path, environment: dict[str, str] = INTERPRETED) -> subprocess.CompletedProcess[str]:
    """A Python that does not know kernelsmith, as a user of a package has it."""
    own = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-B", "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
