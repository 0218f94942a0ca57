"""Modules are executed in the sandbox of the python backend, many in one evaluation, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._errors import Error
from .._search import evaluate
from .box.limits import BATCH_S
from .stages import Record

_SECONDS = 240  # of one module: both time limits by the clock, and a planner's
_MOST_TEXT = 240 << 10  # of one evaluation: a backend takes files of 256 KiB
_TASK = """version: 1
name: synthesis
backend: python
evaluator: box_evaluator/evaluator.py
files: {{seed: seed.jsonl}}
timeout_s: {seconds}
memory_mb: 8192
python: {python}
"""


class Sandbox:
    """Made once for a pipeline."""

    def __init__(self, folder: Path, python: str) -> None:
        self._folder, self._python = folder, python or os.environ.get("KERNELSMITH_TORCH_PYTHON", "python3")

    def answers(self, tasks: list[Record]) -> list[Record]:
        """One for each. What does not fit into one evaluation goes into the next, and so does what comes after a module that
        broke the sandbox."""
        if not tasks:
            return []
        lines = _that_fit(tasks)
        if not lines:
            return [{"refused": "too_large", "message": "the sandbox takes less text"}, *self.answers(tasks[1:])]
        seconds = BATCH_S + _SECONDS
        (self._folder / "task.yaml").write_text(_TASK.format(seconds=seconds, python=json.dumps(self._python)))
        made = evaluate(self._folder, {"seed.jsonl": "".join(lines)})
        named = {one["name"]: one["text"] for one in made.report.get("artifacts", ())}
        got = [_answer(text) for text in named.get("python.out", "").splitlines()][:len(lines)]
        if made.accepted:
            got = [_answer(named[name]) for name in sorted(named) if name.isdigit()]
        elif len(got) < len(lines):
            got.append({"refused": "breaks_sandbox", "message": f"{made.code}: {(made.diagnostics or '')[-300:]}"})
        return got + self.answers(tasks[len(got):])


def _that_fit(tasks: list[Record]) -> list[str]:
    """The first tasks, a line each."""
    lines: list[str] = []
    left = _MOST_TEXT
    for task in tasks:
        line = json.dumps(task) + "\n"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return lines


def _answer(text: str) -> Record:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"refused": "breaks_sandbox", "message": "its answer is no JSON"}


@contextmanager
def sandbox(python: str) -> Iterator[Sandbox]:
    """The sandbox's files lie in a folder that nobody may read and all may open. Raises Error if the programs are
    missing."""
    with tempfile.TemporaryDirectory(prefix="kernelsmith-synthesis-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        box = folder / "box_evaluator"
        _copy(Path(__file__).parent / "box", box / "box")
        (box / "evaluator.py").write_text("from box.evaluator import evaluate\n")
        for package, variable, places in (("kernelsmith_torch", "KERNELSMITH_TORCH_PYTHON_DIR", ("torch", "torch/python")),
                                          ("kernelsmith_process", "KERNELSMITH_PROCESS_PYTHON_DIR",
                                           ("python", "python_process/program"))):
            _copy(_package(package, variable, places) / package, box / package)
        (folder / "seed.jsonl").write_text("")
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield Sandbox(folder, python)


def _package(name: str, variable: str, places: tuple[str, str]) -> Path:
    """As the backends find their programs: named, installed, or in the source tree."""
    source = os.environ.get("KERNELSMITH_SOURCE")
    here = Path(__file__).resolve()
    folders = [Path(os.environ[variable])] if os.environ.get(variable) else [
        here.parents[1] / "share" / "kernelsmith" / places[0],
        *([Path(source) / "evaluator" / places[1]] if source else []), here.parents[3] / "evaluator" / places[1]]
    for folder in folders:
        if (folder / name).is_dir():
            return folder
    raise Error(f"the Python package {name} of kernelsmith is not found", "tool_missing", ", ".join(map(str, folders)),
                f"install kernelsmith, or set {variable}")


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
