"""Settings of an export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..._errors import Error
from .tasks import TaskFacts

KINDS = ("sft", "rl", "multiturn", "preference")
PRESETS = ("kernel-smith", "drkernel")
FORMATS = ("parquet", "jsonl", "both")
STEPS = ("best", "initial")
# Dr. Kernel counts a kernel as faster from here on (fast@1.2). A seed that only repeats the baseline stays below.
ACCELERATED = 1.2


@dataclass(frozen=True, slots=True)
class Settings:
    """docs/datasets.md explains each setting."""

    kind: str
    preset: str | None = None
    format: str = "parquet"
    against: Path | None = None
    similar: float = 0.8
    licences: Mapping[str, str] = field(default_factory=dict)  # by task; "" for all others
    mixed_hardware: bool = False
    over: str = "parent"
    any_form: bool = False
    same_prompt: bool = False
    gain_only: bool = False
    steps: str = "best"
    parent_speedup: float = ACCELERATED
    per_task: int = 1
    balance: bool = True
    turns: int = 3  # of Dr. Kernel's training
    test_share: float = 0.0
    shard_rows: int = 1024

    def __post_init__(self) -> None:
        for name, value, known in (("kind", self.kind, KINDS), ("preset", self.preset, (None, *PRESETS)),
                                   ("format", self.format, FORMATS), ("over", self.over, ("parent", "baseline")),
                                   ("steps", self.steps, STEPS)):
            if value not in known:
                raise _bad(name, f"it is one of {', '.join(filter(None, known))}, not {value!r}")
        for name, least in (("per_task", 1), ("turns", 2), ("shard_rows", 1)):
            if getattr(self, name) < least:
                raise _bad(name, f"it is at least {least}")
        if not 0 < self.parent_speedup < math.inf:
            raise _bad("parent_speedup", "it is a speedup: finite, and above 0")
        if not 0 <= self.test_share < 1:
            raise _bad("test_share", "it is a share: at least 0, below 1")
        if not 0 < self.similar <= 1:
            raise _bad("similar", "it is a Jaccard index: above 0, at most 1")

    def licence(self, task: TaskFacts) -> str:
        """The task's licence, from its files or else from the user. Raises Error if neither names one."""
        found = task.licence or self.licences.get(task.name) or self.licences.get("")
        if not found:
            what = "reference" if task.reference else "task's program"
            raise Error(f"the {what} names no licence, and its text goes into the rows", "bad_input", f"task {task.name}",
                        f"add a line 'SPDX-License-Identifier: ...' to it, or pass --licence '{task.name}=...'")
        return found


def _bad(name: str, message: str) -> Error:
    return Error(message, "invalid_argument", "--" + name.replace("_", "-"))
