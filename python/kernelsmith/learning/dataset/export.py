"""`export()`: from run folders to a folder of rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..._errors import Error
from ..._files import replace
from .bar import Bar
from .card import card, contents, dropped_lines
from .columns import taken
from .folder import Folder, locked
from .journal import BATCH
from .plan import SPLITS, Plan, Row, plan
from .presets import columns_of
from .rows import row_of
from .settings import Settings
from .shards import require_pyarrow, shard_names, write_shard


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    folder: Path
    rows: dict[str, int]  # by split
    files: list[str]
    dropped: list[tuple[str, int]]  # the number of steps that each rule dropped, the largest first
    uncompared: int  # tasks that were compared with no reference of the benchmark


def export(runs: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], settings: Settings) -> Exported:
    """Writes the rows of the runs and their card. Files of an earlier call with the same runs and settings are kept.
    Raises Error."""
    if not runs:
        raise Error("no run is named", "invalid_argument", "RUNS")
    columns_of(settings)
    if settings.format != "jsonl":
        require_pyarrow()
    with Bar("runs read", len(runs)) as bar:
        made = plan(runs, settings, bar.add)
    about = card(made)
    digest = hashlib.sha256((about + contents(made)).encode()).hexdigest()
    with locked(Path(out)):
        try:
            return _write(made, about, Folder(Path(out), digest))
        except OSError as failed:
            raise Error(f"the data set cannot be written: {failed.strerror}", "io", str(out)) from None


def _write(made: Plan, about: str, folder: Folder) -> Exported:
    shards = list(_shards(made))
    with Bar("rows written", sum(len(shard.rows) for shard in shards)) as bar:
        for shard in shards:
            folder.add(shard.name, partial(_write_one, made, shard, bar.add))
    if made.settings.against:
        folder.add("dropped.jsonl", partial(replace, text=dropped_lines(made.contaminated)))
    folder.add("README.md", partial(replace, text=about))
    return Exported(folder.path, {split: len(made.of(split)) for split in SPLITS}, [shard.name for shard in shards],
                    made.tally.counts(), made.uncompared)


@dataclass(frozen=True, slots=True)
class _Shard:
    name: str
    rows: list[Row]
    first: int  # its first row's number in the split


def _shards(made: Plan) -> Iterator[_Shard]:
    size = made.settings.shard_rows
    for suffix in ("parquet", "jsonl") if made.settings.format == "both" else (made.settings.format,):
        for split in SPLITS:
            rows = made.of(split)
            for at, name in enumerate(shard_names(split, len(rows), size, suffix)):
                yield _Shard(name, rows[at * size:(at + 1) * size], at * size)


def _write_one(made: Plan, shard: _Shard, written: Callable[[int], None], path: Path) -> None:
    write_shard(path, _batches(made, shard, written), columns_of(made.settings)[0])


def _batches(made: Plan, shard: _Shard, written: Callable[[int], None]) -> Iterator[list[dict[str, Any]]]:
    """Rows in batches; each batch becomes a row group."""
    columns, shaped = columns_of(made.settings)
    for at in range(0, len(shard.rows), BATCH):
        group = shard.rows[at:at + BATCH]
        made.reader.fetch(step for row in group for step in row.steps)
        yield [taken(shaped(row_of(row.steps, made.settings, made.reader, row.split, shard.first + at + number)), columns)
               for number, row in enumerate(group)]
        written(len(group))
