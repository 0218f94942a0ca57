"""Makes the task folder for an initial program, an evaluator and a configuration."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import text_of, write
from . import host
from .config import Config

# Every program passes it.
_LOWEST = -1e300

_LANGUAGES = (
    ("java", r"^(package\s+[\w.]+\s*;|public class\s)"), ("python", r"^(import|from|def|class)\s"),
    ("cpp", r"^(#include|int main|void main)"), ("javascript", r"^(function|var|let|const|console\.log)"),
    ("rust", r"^(module|fn|let mut|impl)"), ("sql", r"^(SELECT|CREATE TABLE|INSERT INTO)"))


@dataclass(frozen=True)
class Inputs:
    """The inputs of a search. Paths are absolute."""

    program: Path
    evaluator: Path
    code: str
    suffix: str
    language: str

    @property
    def name(self) -> str:
        """The candidate's file in the task."""
        return "initial_program" + self.suffix


def read_inputs(program: str | os.PathLike[str], evaluator: str | os.PathLike[str], config: Config) -> Inputs:
    """Raises Error: `not_found`, `bad_input`."""
    paths = [Path(program).absolute(), Path(evaluator).absolute()]
    for path, what in zip(paths, ("the initial program", "the evaluator"), strict=True):
        if not path.is_file():
            raise Error(f"{what} is not a file", "not_found", str(path))
    code = text_of(paths[0], "the initial program", encoding="utf-8-sig")
    suffix = config.file_suffix if config.file_suffix != ".py" else paths[0].suffix or ".py"
    return Inputs(paths[0], paths[1], code, suffix, config.language or language_of(code))


def language_of(code: str) -> str:
    """The language by the first characteristic line; "unknown" if there is none."""
    return next((name for name, looks in _LANGUAGES if re.search(looks, code, re.MULTILINE)), "unknown")


def fingerprints(inputs: Inputs, config: Config, checkpoint: str) -> dict[str, str]:
    """Short digests, by name, of all that determines a search, except its length and output. Equal searches
    have equal digests."""
    free = {"max_iterations", "checkpoint_interval", "checkpoint_on_improvement", "log_level", "log_dir", "logger_prefix",
            "database.population_size", "database.archive_size", "database.log_prompts", "llm.api_base", "llm.api_key",
            "llm.timeout", "llm.retries"}
    values = {path: value for path, value in config.to_dict().items()
              if path not in free and not path.startswith(("evolution_trace.", "early_stopping"))}
    values |= {"the initial program": [inputs.code, inputs.suffix], "the checkpoint": checkpoint, "the evaluator": [
        str(inputs.evaluator), inputs.evaluator.read_text(encoding="utf-8", errors="replace")]}
    return {name: hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
            for name, value in values.items()}


def write_task(folder: Path, inputs: Inputs, config: Config, name: str) -> None:
    """Writes FOLDER/task.yaml, the program, and an evaluator that calls the user's evaluator. Raises
    Error."""
    evaluator = config.evaluator
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / inputs.name, inputs.code.encode())
    write(folder / "evaluator.py", evaluator_text(inputs, config).encode())
    lines = ["version: 1", f"name: {json.dumps(name)}", "backend: python", "evaluator: evaluator.py",
             f"files: {{seed: {json.dumps(inputs.name)}}}", f"timeout_s: {evaluator.timeout}",
             "sandbox: false"]
    # host.py applies the thresholds, so the backend calls each stage.
    if evaluator.cascade_evaluation and evaluator.cascade_thresholds:
        lines.append(f"cascade: {[_LOWEST] * len(evaluator.cascade_thresholds[:2])}")
    if evaluator.memory_limit_mb:
        lines.append(f"memory_mb: {int(evaluator.memory_limit_mb)}")
    write(folder / "task.yaml", ("\n".join(lines) + "\n").encode())


def evaluator_text(inputs: Inputs, config: Config) -> str:
    """host.py with its settings."""
    evaluator = config.evaluator
    settings: dict[str, Any] = {
        "evaluator": str(inputs.evaluator), "seed": inputs.code, "dimensions": list(config.database.feature_dimensions),
        "thresholds": list(evaluator.cascade_thresholds[:2]) if evaluator.cascade_evaluation else [],
        "arguments": evaluator.evaluator_args or {}, "artifacts": bool(evaluator.enable_artifacts)}
    text = Path(host.__file__).read_text(encoding="utf-8")
    empty = 'SETTINGS: Dict[str, Any] = json.loads("{}")'
    assert empty in text
    return text.replace(empty, f"SETTINGS: Dict[str, Any] = json.loads({json.dumps(settings)!r})")
