"""Data about a task for a data set: its reference, its licence, and its family."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ... import _core
from ..._errors import Error
from .code_shape import fingerprint
from .difficulty import Difficulty, difficulty

_SPDX = re.compile(r"SPDX-License-Identifier:\s*([\w.+ ()-]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
_SEED = re.compile(r"\bseed\s*:\s*(?:\[[^\]]*\]|[^,}\n]*)")
_ENTRY = re.compile(r"^entry:\s*([A-Za-z_]\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """`key` is equal for references that differ only in names, numbers and layout, so that splits never separate them.
    A task without a reference is identified by its name and its files except the seed."""

    name: str
    key: str
    backend: str
    reference: str  # empty if the task has none
    entry_point: str
    licence: str  # from its files; empty if they name none
    difficulty: Difficulty

    @property
    def is_torch(self) -> bool:
        return self.backend == "torch"


def read_task(run: Path, seed: str) -> TaskFacts:
    """Reads the run folder's copy of the task. A run that began without a task is identified by its seed. Raises
    Error if the copy is gone."""
    folder = run / "task"
    if not (folder / "task.yaml").exists():
        if _began_with_a_task(run):
            raise Error("the run's copy of its task is gone, and with it the reference and its licence", "not_found", str(folder),
                        "put the task's folder back, as task/ in the run")
        return _facts("python", "python", "", {"seed": seed}, "", "")
    task = _core.Task(folder)
    reference = readable("\n".join(task.reference.files.values()))
    entry = _ENTRY.search((folder / "task.yaml").read_text(errors="replace"))
    entry_point = "Model" if task.backend == "torch" else entry.group(1) if entry else ""
    texts = [reference, *task.seed.files.values(), task.description]
    licence = next((found.group(1) for text in texts if (found := _SPDX.search(text))), "")
    return _facts(task.name, task.backend, reference, _without_seed(folder, task), entry_point, licence)


def _began_with_a_task(run: Path) -> bool:
    """A run without a task has a run.yaml of nothing but comments, because its options are in the caller's program."""
    written = run / "run.yaml"
    return written.exists() and any(re.match(r"\s*[^\s#]", line) for line in written.read_text(errors="replace").splitlines())


def _without_seed(folder: Path, task: _core.Task) -> dict[str, str]:
    """The definition of the task: its files except the seed, and task.yaml without the seed's name."""
    files = {path.relative_to(folder).as_posix(): path.read_text(errors="replace")
             for path in sorted(folder.rglob("*")) if path.is_file()}
    files["task.yaml"] = _SEED.sub("", files["task.yaml"])
    return {name: text for name, text in files.items() if name not in task.seed.files}


def _facts(name: str, backend: str, reference: str, files: dict[str, str], entry_point: str, licence: str) -> TaskFacts:
    defined = json.dumps([name, files])
    key = fingerprint(reference) if reference else hashlib.sha256(defined.encode()).hexdigest()
    return TaskFacts(name, key, backend, reference, entry_point, licence, difficulty(reference, name))


def readable(text: str) -> str:
    """The text with a mark for each byte that is not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
