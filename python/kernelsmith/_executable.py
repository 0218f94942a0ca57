"""Finds the command's executable, and reads its answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ._errors import Error


def executable() -> Path:
    """Raises Error if this build of the package has none."""
    own = Path(__file__).parent / "bin" / "kernelsmith"
    if not own.exists():
        raise Error("the command is not part of this build of the package", "not_found", str(own),
                    "pip install . brings it along")
    return own


def answer_of(*words: str) -> dict[str, Any]:
    """The JSON that a command with --json prints. Raises the command's Error."""
    done = subprocess.run([executable(), *words], capture_output=True, check=False)
    said = next((line for line in done.stdout.splitlines() if line.startswith(b"{")), None)
    if said is None:  # it crashed
        raise Error(done.stderr.decode("utf-8", "replace").strip() or "it ended without a word", "internal", str(executable()))
    answer: dict[str, Any] = json.loads(said)
    if answer.keys() - {"file"} == {"error"}:  # evaluate names the candidate
        raise Error(**answer["error"])
    return answer
