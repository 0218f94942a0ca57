"""The progress of an export, on standard error if that is a terminal."""

from __future__ import annotations

import sys
import time

_REDRAW_S = 0.25
_WIDTH = 30


class Bar:
    """A line that is redrawn. Without a terminal nothing is drawn."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._live = sys.stderr.isatty()
        self._drawn = 0.0
        self._done = 0

    def __enter__(self) -> Bar:
        self.add(0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def add(self, done: int) -> None:
        """Adds to the number done."""
        self._done += done
        now = time.monotonic()
        if not self._live or now - self._drawn < _REDRAW_S:
            return
        self._drawn = now
        filled = _WIDTH * self._done // max(1, self._total)
        sys.stderr.write(f"\r\x1b[K[{'#' * filled}{'.' * (_WIDTH - filled)}] {self._what} {self._done}/{self._total}")
        sys.stderr.flush()
