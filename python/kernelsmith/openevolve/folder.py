"""The output folder of a search: decides whether the search continues there, and keeps the settings from its
beginning."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import write

_TRACES = [f"evolution_trace{kind}.{form}" for kind in ("", "_failures") for form in ("json", "jsonl", "jsonl.gz")]


@dataclass
class Folder:
    """OUT, with run/ (the engine's own folder), task/, history.jsonl, search.json, best/ and checkpoints/."""

    path: Path

    def __post_init__(self) -> None:
        self.run, self.task, self.history = (self.path / name for name in ("run", "task", "history.jsonl"))
        self._checkpoints, self._state = self.path / "checkpoints", self.path / "search.json"

    def open(self, fingerprints: dict[str, str], checkpoint: Path | None, logger: logging.Logger) -> dict[str, Any] | None:
        """The settings of the search in this folder, if it is the same search and can continue. Otherwise
        returns None, renames the old search's files with a number, and warns with the reason. The checkpoint
        from which the new search begins keeps its name, so that the same command finds it again. Raises
        Error."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as failed:
            raise Error(f"the folder cannot be made: {failed.strerror}", "io", str(self.path)) from None
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            before: dict[str, str] = dict(state["fingerprints"])
            settings: dict[str, Any] = state["settings"]
        except (OSError, ValueError, TypeError, KeyError):
            before, settings = {}, {}
        if before == fingerprints and (self.run / "run.db").exists():
            return settings
        changed = sorted(name for name in before.keys() | fingerprints if before.get(name) != fingerprints.get(name))
        kept = self._put_aside(checkpoint)
        if kept:
            why = "search.json is missing" if not before else f"changed: {', '.join(changed) or 'run/, which is gone'}"
            logger.warning("%s: a new search begins (%s); the old one is kept as %s", self.path, why, ", ".join(kept))
        return None

    def begin(self, fingerprints: dict[str, str], settings: dict[str, Any]) -> None:
        write(self._state, json.dumps({"fingerprints": fingerprints, "settings": settings}, indent=2).encode())

    def _put_aside(self, checkpoint: Path | None) -> list[str]:
        """Renames the old search's files. Returns the new names."""
        written = [self.run.name, self.history.name, "best", self._checkpoints.name, *_TRACES]
        parts = {name: name.partition(".") for name in written if (self.path / name).exists()}
        names = {name: f"{stem}-{{}}{dot}{suffix}" for name, (stem, dot, suffix) in parts.items()}
        number = 1
        while any((self.path / to.format(number)).exists() for to in names.values()):
            number += 1
        for name, to in names.items():
            (self.path / name).rename(self.path / to.format(number))
        if checkpoint and checkpoint.resolve().parent == self._checkpoints.resolve():
            aside = self.path / names[self._checkpoints.name].format(number)
            shutil.copytree(aside / checkpoint.name, self._checkpoints / checkpoint.name)
        return [to.format(number) for to in names.values()]
