"""OUT/history.jsonl has a line for each ticket that took effect, with data that the run folder lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .programs import Population, Program


class History:
    """Appends lines as they come, and reads them when a search continues. One thread at a time may use it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def append(self, row: dict[str, Any]) -> None:
        with self._file.open("ab+") as file:
            if file.tell() and file.seek(-1, os.SEEK_END) and file.read(1) != b"\n":  # a kill cut the last line off
                file.write(b"\n")
            file.write(json.dumps(row, default=str).encode() + b"\n")

    def rows(self) -> Iterator[dict[str, Any]]:
        """The complete lines. A line that a kill cut off is skipped."""
        if not self._file.exists():
            return
        with self._file.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def restore(rows: Iterator[dict[str, Any]], population: Population) -> tuple[int, set[int]]:
    """Adds the lines to the population. Returns the last iteration and the lines' tickets."""
    last, seen = 0, set[int]()
    for row in rows:
        last = max(last, int(row["iteration"]))
        seen.add(int(row["ticket"]))
        if "program" in row:
            population.add(int(row["ticket"]), Program.from_dict(row["program"]), int(row["island"]), row["fitness"],
                           row["features"])
    return last, seen
