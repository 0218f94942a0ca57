"""Reads checkpoints of OpenEvolve and of this package."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._errors import Error
from .programs import Program
from .replies import has_whole_blocks, kept_outside


@dataclass(frozen=True)
class Checkpoint:
    programs: list[Program]  # each text once, the best first
    last_iteration: int


def read_checkpoint(folder: str, initial: str, fitness: Callable[[Program], float], logger: logging.Logger) -> Checkpoint:
    """Raises Error: `not_found`, `bad_input`. The programs get the text of `initial` around their blocks. A
    program that is unreadable or has other blocks is left out with a warning."""
    path = Path(folder)
    metadata = path / "metadata.json"
    if not metadata.is_file():
        raise Error("this is not a checkpoint: it has no metadata.json", "not_found", folder,
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
        except (OSError, ValueError, TypeError, AttributeError) as wrong:
            logger.warning("%s: this program of the checkpoint cannot be read and is left out: %s", file, wrong)
    if not programs:
        raise Error("the checkpoint holds no programs", "bad_input", folder)
    if best is not None and all(one.id != best for one in programs):
        logger.warning("%s: the best program, %s, is not among the programs; the fittest program takes its place", metadata,
                       best)

    def rank(program: Program) -> tuple[bool, float, str]:
        value = fitness(program)
        return program.id != best, -value if math.isfinite(value) else math.inf, program.id

    programs.sort(key=rank)
    first = _first(programs[0], initial, path, logger)
    texts = {first.code: first}
    for program in programs[1:]:
        code = kept_outside(first.code, program.code)
        if code is None:
            logger.warning("%s: the program is left out: its EVOLVE-BLOCKs are not those of the best program",
                           _file(path, program))
        else:
            texts.setdefault(code, dataclasses.replace(program, code=code))
    return Checkpoint(list(texts.values()), last)


def _first(best: Program, initial: str, path: Path, logger: logging.Logger) -> Program:
    """The program that replaces the initial one."""
    if not has_whole_blocks(best.code):
        raise Error("the best program of the checkpoint has an EVOLVE-BLOCK marker without its partner", "bad_input",
                    str(_file(path, best)), "correct its \"code\", or set best_program_id in metadata.json to another program")
    code = kept_outside(initial, best.code)
    if code is None:
        logger.warning("%s: the EVOLVE-BLOCKs of the best program are not the initial program's; it is taken unchanged",
                       _file(path, best))
    return best if code is None else dataclasses.replace(best, code=code)


def _file(path: Path, program: Program) -> Path:
    return path / "programs" / f"{program.id}.json"
