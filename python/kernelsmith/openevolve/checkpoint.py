"""Reading checkpoints, OpenEvolve's and ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._errors import Error
from .programs import Program


@dataclass(frozen=True)
class Checkpoint:
    programs: list[Program]  # each text once, the best first
    last_iteration: int


def read_checkpoint(folder: str, fitness: Callable[[Program], float]) -> Checkpoint:
    """Raises Error: `not_found`, `bad_input`. Programs whose file cannot be read are left out, as OpenEvolve does."""
    path = Path(folder)
    metadata = path / "metadata.json"
    if not metadata.is_file():
        raise Error("this is no checkpoint: it has no metadata.json", "not_found", folder,
                    "name a folder such as OUT/checkpoints/checkpoint_50")
    try:
        about = json.loads(metadata.read_text(encoding="utf-8"))
        best, last = about.get("best_program_id"), int(about.get("last_iteration") or 0)
    except (ValueError, AttributeError, TypeError) as wrong:
        raise Error(f"the checkpoint cannot be read: {wrong}", "bad_input", str(metadata)) from None
    programs = []
    for file in sorted((path / "programs").glob("*.json")):
        try:
            programs.append(Program.from_dict(json.loads(file.read_text(encoding="utf-8"))))
        except (ValueError, TypeError):
            continue
    if not programs:
        raise Error("the checkpoint holds no programs", "bad_input", folder)

    def rank(program: Program) -> tuple[bool, float, str]:
        value = fitness(program)
        return program.id != best, -value if math.isfinite(value) else math.inf, program.id

    programs.sort(key=rank)
    texts: dict[str, Program] = {}
    for program in programs:
        texts.setdefault(program.code, program)
    return Checkpoint(list(texts.values()), last)

