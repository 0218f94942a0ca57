"""The output folder as the place of a search: whether it goes on there, and what was decided when it began."""

from __future__ import annotations

import json
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

    def open(self, fingerprint: str) -> dict[str, Any] | None:
        """The settings of the search that stands here where it is this one, which then goes on; else None, and what
        stands here is put aside under names with a number. Raises Error."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as failed:
            raise Error(f"the folder cannot be made: {failed.strerror}", "io", str(self.path)) from None
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            state = {}
        if state.get("fingerprint") == fingerprint and (self.run / "run.db").exists():
            settings: dict[str, Any] = state["settings"]
            return settings
        self._put_aside()
        return None

    def begin(self, fingerprint: str, settings: dict[str, Any]) -> None:
        write(self._state, json.dumps({"fingerprint": fingerprint, "settings": settings}, indent=2).encode())

    def _put_aside(self) -> None:
        if not self.run.exists() and not self.history.exists():
            return
        number = 1
        while (self.path / f"run-{number}").exists() or (self.path / f"history-{number}.jsonl").exists():
            number += 1
        if self.run.exists():
            self.run.rename(self.path / f"run-{number}")
        if self.history.exists():
            self.history.rename(self.path / f"history-{number}.jsonl")
