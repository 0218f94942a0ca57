"""Executes modules in sandboxes of the python backend: many modules in one evaluation, each in its own
process."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from .._errors import Error
from .._search import evaluate
from .box.limits import BATCH_S
from .stages import Record

_SECONDS = 1000  # of one module: three searches and three trials with their limits of elapsed time, and three plans
_MOST_TEXT = 240 << 10  # of one evaluation: a backend takes files of at most 256 KiB
_TASK = """version: 1
name: synthesis
backend: python
evaluator: box_evaluator/evaluator.py
files: {{seed: seed.jsonl}}
timeout_s: {seconds}
memory_mb: 8192
python: {python}
"""


class Sandboxes:
    """Several sandboxes that work in parallel. Any thread may use them."""

    def __init__(self, boxes: list[Sandbox]) -> None:
        self._count = len(boxes)
        self._free: SimpleQueue[Sandbox] = SimpleQueue()
        for box in boxes:
            self._free.put(box)

    def answers(self, tasks: list[Record]) -> list[Record]:
        """An answer for each task, as soon as a sandbox is free."""
        box = self._free.get()
        try:
            return box.answers(tasks)
        finally:
            self._free.put(box)

    def each(self, batches: Iterator[list[Record]],
             task: Callable[[Record], Record]) -> Iterator[tuple[Record, Record]]:
        """Each record with the answer to its task, in order."""
        with ThreadPoolExecutor(self._count) as pool:
            running: deque[tuple[list[Record], Future[list[Record]]]] = deque()
            for batch in batches:
                running.append((batch, pool.submit(self.answers, [task(one) for one in batch])))
                if len(running) > self._count:
                    yield from _pairs(*running.popleft())
            while running:
                yield from _pairs(*running.popleft())


def _pairs(batch: list[Record], answers: Future[list[Record]]) -> Iterator[tuple[Record, Record]]:
    return zip(batch, answers.result(), strict=True)


class Sandbox:
    """One sandbox, which executes one batch at a time."""

    def __init__(self, folder: Path, python: str) -> None:
        self._folder, self._python = folder, python or os.environ.get("KERNELSMITH_TORCH_PYTHON", "python3")

    def answers(self, tasks: list[Record]) -> list[Record]:
        """An answer for each task. Tasks that do not fit into one evaluation go into the next. If a module
        breaks the sandbox, the tasks after it go into the next evaluation, too."""
        if not tasks:
            return []
        lines = _that_fit(tasks)
        if not lines:
            return [{"refused": "too_large", "message": "the text is too long for the sandbox"}, *self.answers(tasks[1:])]
        seconds = BATCH_S + _SECONDS
        (self._folder / "task.yaml").write_text(_TASK.format(seconds=seconds, python=json.dumps(self._python)))
        made = evaluate(self._folder, {"seed.jsonl": "".join(lines)})
        named = {one["name"]: one["text"] for one in made.report.get("artifacts", ())}
        numbered = ({name: text for name, text in named.items() if name.isdigit()} if made.accepted else
                    dict(line.split(" ", 1) for line in named.get("python.out", "").splitlines() if re.match(r"\d+ ", line)))
        got = _first([numbered.get(f"{at:04}") for at in range(len(lines))])
        if not got or (not made.accepted and len(got) < len(lines)):
            got.append({"refused": "breaks_sandbox", "message": f"{made.code}: {(made.diagnostics or '')[-300:]}"})
        return got + self.answers(tasks[len(got):])


def _that_fit(tasks: list[Record]) -> list[str]:
    """The first tasks that fit into one evaluation, one line each."""
    lines: list[str] = []
    left = _MOST_TEXT
    for task in tasks:
        line = json.dumps(task) + "\n"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return lines


def _first(texts: list[str | None]) -> list[Record]:
    """The answers before the first missing answer. The rest is requested again."""
    return [_answer(text) for text in itertools.takewhile(lambda text: text is not None, texts) if text is not None]


def _answer(text: str) -> Record:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"refused": "breaks_sandbox", "message": "its answer is not JSON"}


@contextmanager
def sandboxes(python: str, count: int) -> Iterator[Sandboxes]:
    """Makes the sandboxes. Their files are in folders that all users can enter but not list. Raises Error if
    the programs are missing."""
    with tempfile.TemporaryDirectory(prefix="kernelsmith-synthesis-") as name:
        Path(name).chmod(0o755)
        folders = [Path(name, str(at)) for at in range(count)]
        for folder in folders:
            _fill(folder)
        yield Sandboxes([Sandbox(folder, python) for folder in folders])


def _fill(folder: Path) -> None:
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


def _package(name: str, variable: str, places: tuple[str, str]) -> Path:
    """The folder of a Python package, which is found like the backends' programs: by a variable, installed,
    or in the source tree."""
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
