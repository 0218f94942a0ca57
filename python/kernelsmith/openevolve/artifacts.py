"""Reads artifacts of evaluations from a run folder, because the engine keeps none in memory."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path


class Artifacts:
    """Reads the journal (docs/formats.md), also while a search writes it. Any thread may use it."""

    def __init__(self, run: Path) -> None:
        self._file = run / "run.db"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def of(self, program: int) -> dict[str, str]:
        """The artifacts of a program's first evaluation, by name; empty if there is no journal."""
        with self._lock:
            if self._connection is None:
                if not self._file.exists():
                    return {}
                self._connection = sqlite3.connect(f"{self._file.absolute().as_uri()}?mode=ro", uri=True,
                                                   check_same_thread=False)
            rows = self._connection.execute(
                "SELECT name, text FROM artifacts WHERE program = ? AND attempt = 0 ORDER BY position, ordinal",
                (program,)).fetchall()
        return {name: bytes(text).decode("utf-8", "replace") for name, text in rows}

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
