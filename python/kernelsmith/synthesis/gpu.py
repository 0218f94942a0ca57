"""The last stage: the judge's own preparation of each task on this machine's GPU, by `kernelsmith doctor`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._executable import answer_of
from .out import reference_text, task_name
from .stages import Record, refused

_AT_ONCE = 4  # the judge starts Python for each task, and a GPU prepares several


def require() -> None:
    """Raises Error if this machine has no GPU for PyTorch modules."""
    for check in answer_of("doctor", "--json")["checks"]:
        if check["name"] == "torch gpu" and check["status"] != "ok":
            raise Error("there is no GPU on which tasks can be prepared", "unsupported", "--gpu", check["remedy"])


def prepared(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Raises Error if the GPU is lost."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for made in pool.map(_prepared, records):
            yield [made]


def _prepared(record: Record) -> Record:
    with tempfile.TemporaryDirectory(prefix="kernelsmith-synthesis-") as name:
        folder = Path(name)
        (folder / "task.yaml").write_text(_core.problem_yaml(task_name(record)))
        (folder / "reference.py").write_text(reference_text(record))
        checks = {check["name"]: check for check in answer_of("doctor", str(folder), "--json")["checks"]}
    return judged(record, checks)


def judged(record: Record, checks: dict[str, dict[str, Any]]) -> Record:
    """The record, or its refusal, from the checks of `doctor`."""
    if "task" not in checks:
        raise Error("the GPU is lost, or doctor did not try the task", "tool_failed", "--gpu", "repeat the command")
    if checks["task"]["status"] != "ok":
        return refused(record, "gpu_refuses", checks["task"]["detail"])
    if "outputs" in checks:
        return refused(record, "gpu_degenerate", checks["outputs"]["detail"])
    return record
