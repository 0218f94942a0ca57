"""Checks whether a task's own reference can be planned. If it cannot, few candidates can."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .._errors import Error
from .._executable import executable

_PATIENCE_S = 300


def objection(reference: str, task: str) -> str:
    """The planner's reason against the reference; empty if it can be planned, or if this machine plans
    nothing. `task` is the text of task.yaml; its policy must be `any`, because the reference has no kernel of
    its own."""
    try:
        command = [str(executable()), "plan"]
    except Error:  # a build without the command
        return ""
    with tempfile.TemporaryDirectory() as scratch:
        folder, candidate = Path(scratch) / "task", Path(scratch) / "candidate.py"
        folder.mkdir()
        (folder / "reference.py").write_text(reference)
        (folder / "task.yaml").write_text(task)
        candidate.write_text(f"{reference}\n\nModelNew = Model\n")
        done = subprocess.run([*command, str(folder), str(candidate)], capture_output=True, text=True, check=False,
                              timeout=_PATIENCE_S, env={"KERNELSMITH_TORCH_PYTHON": sys.executable, **os.environ})
    refused = re.search(r"^error: (.*) \(refused\)$", done.stderr, re.MULTILINE)
    return refused.group(1) if refused else ""
