"""The output folder as the place of a search: whether it goes on there, and what was decided when it began."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .._writing import write


@dataclass
class Folder:
    """OUT, with run/ (the engine's own folder), task/, history.jsonl and search.json."""

    path: Path

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def task(self) -> Path:
        return self.path / "task"

    @property
    def history(self) -> Path:
        return self.path / "history.jsonl"

    @property
    def _state(self) -> Path:
        return self.path / "search.json"

    def open(self, fingerprints: dict[str, str], logger: logging.Logger) -> dict[str, Any] | None:
        """The settings of the search that stands here where it is this one, which then goes on; else None, and what
        stands here is put aside under names with a number, which is told with its reason. Raises Error."""
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
        kept = self._put_aside()
        if kept:
            why = "no search.json tells of the old one" if not before else f"changed: {', '.join(changed) or 'run/, which is gone'}"
            logger.warning("%s: a new search begins (%s); the old one is kept as %s", self.path, why, ", ".join(kept))
        return None

    def begin(self, fingerprints: dict[str, str], settings: dict[str, Any]) -> None:
        write(self._state, json.dumps({"fingerprints": fingerprints, "settings": settings}, indent=2).encode())

    def _put_aside(self) -> list[str]:
        """Returns the new names."""
        names = {one.name: one.with_name(f"{one.stem}-{{}}{one.suffix}").name
                 for one in (self.run, self.history, self.path / "best") if one.exists()}
        number = 1
        while any((self.path / to.format(number)).exists() for to in names.values()):
            number += 1
        for name, to in names.items():
            (self.path / name).rename(self.path / to.format(number))
        return [to.format(number) for to in names.values()]
