"""A stage: a pure function from records to lists of records. Its results are written line by line, so that a killed
stage can continue."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from .._errors import Error
from ..learning.dataset.bar import Bar

Record = dict[str, Any]
# Makes a list of records from each record, in the records' order.
Work = Callable[[Iterator[Record]], Iterator[list[Record]]]


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage's file, and the digest of the settings that affect its records."""

    path: Path
    digest: str

    def run(self, what: str, inputs: Callable[[], Iterable[Record]], work: Work, whole: bool = False) -> None:
        """Does the missing work. The last line of an ended stage has the number of lines. `whole`: the work
        depends on earlier records, so it is repeated from the beginning, and lines that were written before
        are skipped."""
        done, ended = self._begin()
        if ended:
            return
        total = sum(1 for _ in inputs())
        with self.path.open("ab") as file, Bar(what, total) as bar:
            bar.add(done)
            made_all = islice(work(iter(inputs())), done, None) if whole else work(islice(iter(inputs()), done, None))
            for made in made_all:
                file.write(_line({"out": made}))
                file.flush()
                bar.add(1)
                done += 1
            file.write(_line({"end": done}))
            file.flush()
            os.fsync(file.fileno())

    def _begin(self) -> tuple[int, bool]:
        """The number of complete lines, and whether the stage has ended. Cuts off an incomplete line."""
        head = _line({"stage": self.path.name, "digest": self.digest})
        if not self.path.exists() or self.path.stat().st_size < len(head):
            self.path.write_bytes(head)
            return 0, False
        with self.path.open("r+b") as file:
            if file.readline() != head:
                raise Error("the folder holds a synthesis of other sources, or with other options or versions",
                            "invalid_argument", str(self.path), "name a new folder, or delete this one")
            done, end, last = 0, len(head), b""
            for line in file:
                if not line.endswith(b"\n"):
                    break
                done, end, last = done + 1, end + len(line), line
            file.truncate(end)
        ended = last.startswith(b'{"end"')
        return done - ended, ended

    def records(self) -> Iterator[Record]:
        """The records of a stage that has ended."""
        for line in self._lines():
            yield from line.get("out", ())

    def _lines(self) -> Iterator[Record]:
        with self.path.open("rb") as file:
            next(file, b"")
            for number, line in enumerate(file, 2):
                try:
                    yield dict(json.loads(line))
                except (ValueError, TypeError, RecursionError):
                    raise Error("this line is not a record", "corrupt", f"{self.path}:{number}",
                                "delete the file and those after it, and repeat the command") from None


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def digest_of(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def refused(record: Record, code: str, message: str = "") -> Record:
    """The record with the reason why it was refused, without the module's code and text."""
    kept: Record = {name: record[name] for name in ("id", "repository", "path", "name", "licence") if name in record}
    return {**kept, "refused": code, "message": message[:400]}
